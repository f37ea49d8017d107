//! The exchange (RULES §7.3): what each card is worth to the partner, and what it costs.

use super::{Choice, evaluate, greedy::Scored, hand};
use crate::rules::{
    card::{Card, Cards},
    options::Exchange,
    view::SeatView,
};

/// The chance that a partner who was asked, or who sees nothing of this seat's on the ring, gives a card that
/// leaves the kennel.
const HELP: f64 = 0.6;
/// What it costs to let the whole table know that one cannot play, in steps.
const ASKING: f64 = 1.0;

/// Every card as the one to give and, where the exchange is optional, the other answers.
pub fn scored(view: &SeatView) -> Vec<Scored> {
    let table = Table::of(view);
    let asked = view.asked[view.seat];
    let mut answers: Vec<(Choice, f64)> = view
        .hand
        .kinds()
        .map(|card| (Choice::Give(card), table.giving(card, asked)))
        .collect();
    if view.rules.exchange == Exchange::Optional {
        answers.push((Choice::Decline, table.keeping()));
        if !asked {
            let givings = view.hand.kinds().map(|card| table.giving(card, true));
            let best = givings.fold(table.keeping(), f64::max);
            answers.push((Choice::Ask, best - ASKING));
        }
    }
    let score = |(choice, score)| Scored {
        choice,
        board: None,
        score: table.board + score,
    };
    answers.into_iter().map(score).collect()
}

/// What the seat knows of the exchange.
struct Table<'a> {
    view: &'a SeatView<'a>,
    /// The value of the board, which no exchange changes.
    board: f64,
    /// The chance that the partner has no way out of the kennel in its hand.
    partner_without: f64,
}

impl<'a> Table<'a> {
    fn of(view: &'a SeatView<'a>) -> Table<'a> {
        let partner = view.seat.partner(view.rules.seats);
        let mut partner_without = 1.0;
        if !view.asked[partner] {
            let share = ways_out_unseen(view);
            for _ in 1..view.counts[partner] {
                partner_without *= 1.0 - share;
            }
        }
        Table {
            view,
            board: evaluate::value(view.rules, &view.board, view.seat),
            partner_without,
        }
    }

    /// The worth of the hand as it is.
    fn keeping(&self) -> f64 {
        self.worth(self.view.hand)
    }

    /// The worth of giving this card: to the partner, and to oneself with what comes in return.
    fn giving(&self, card: Card, asked: bool) -> f64 {
        let SeatView {
            rules,
            board,
            seat,
            hand,
            ..
        } = *self.view;
        let mut kept = hand;
        kept.remove(card);
        let partner = seat.partner(rules.seats);
        self.with_one_more(kept, asked)
            + hand::worth_to(rules, &board, partner, card, self.partner_without)
    }

    /// The hand with the partner's card: a plain one, or perhaps one that helps.
    fn with_one_more(&self, kept: Cards, asked: bool) -> f64 {
        let with = |card| {
            let mut hand = kept;
            hand.add(card);
            self.worth(hand)
        };
        let plain = with(Card::Nine);
        let seen_stuck = self.view.board.track(self.view.seat) == 0;
        if asked || seen_stuck {
            plain + HELP * (with(Card::King) - plain)
        } else {
            plain
        }
    }

    fn worth(&self, hand: Cards) -> f64 {
        hand::worth(self.view.rules, &self.view.board, self.view.seat, hand)
    }
}

/// The share of ways out of the kennel among the cards that the seat has not seen.
fn ways_out_unseen(view: &SeatView) -> f64 {
    let deck = view.rules.deck();
    let (mut ways_out, mut all) = (0, 0);
    for card in Card::ALL {
        let seen = view.gone.count(card) + view.hand.count(card);
        let unseen = u16::from(deck.count(card).saturating_sub(seen));
        all += unseen;
        if hand::leaves_kennel(card) {
            ways_out += unseen;
        }
    }
    f64::from(ways_out) / f64::from(all.max(1))
}
