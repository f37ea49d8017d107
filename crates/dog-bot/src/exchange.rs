//! The exchange (RULES §7.3): what each card is worth to the partner, and what it costs. A team
//! that exchanges so wins 58 games in 100 against one that gives at random, and where the exchange
//! is optional 56 against one that always declines.

use dog_rules::{
    card::{Card, Cards},
    options::Exchange,
    view::SeatView,
};

use super::{Choice, evaluate, greedy::Scored, hand};

/// The share of the partner's gain that counts, since its hand is not known (57 against
/// nothing of it, as in [`super::evaluate`]).
const PARTNER: f64 = 0.8;
/// What the partner's card is worth more than a plain one.
const RETURN: f64 = 1.0;
/// The chance that a partner who sees the need gives a card that leaves the kennel.
const HELP: f64 = 0.6;
/// What it costs to let the whole table know the need, in steps.
const ASKING: f64 = 5.0;

/// Every card as the one to give and, where the exchange is optional, the other answers.
pub fn scored(view: &SeatView) -> Vec<Scored> {
    let table = Table::of(view);
    let optional = view.rules.exchange == Exchange::Optional;
    // Where everybody gives, a partner sees the need on the board.
    let sees_need = !optional && view.board.track(view.seat) == 0;
    let asked = view.asked[view.seat];
    let mut answers: Vec<(Choice, f64)> = view
        .hand
        .kinds()
        .map(|card| (Choice::Give(card), table.giving(card, asked || sees_need)))
        .collect();
    if optional {
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
    partner_lacking: f64,
}

impl<'a> Table<'a> {
    fn of(view: &'a SeatView<'a>) -> Table<'a> {
        let partner = view.seat.partner(view.rules.seats);
        let mut partner_lacking = 1.0;
        if !view.asked[partner] {
            let share = ways_out_unseen(view);
            // One of its cards is the one to be given.
            for _ in 1..view.counts[partner] {
                partner_lacking *= 1.0 - share;
            }
        }
        Table {
            view,
            board: evaluate::value(view.rules, &view.board, view.seat),
            partner_lacking,
        }
    }

    /// The worth of the hand as it is.
    fn keeping(&self) -> f64 {
        self.worth(self.view.hand)
    }

    /// The worth of giving this card: to the partner, and to oneself with what comes in return.
    fn giving(&self, card: Card, asked: bool) -> f64 {
        let SeatView {
            rules, board, seat, ..
        } = self.view;
        let mut kept = self.view.hand;
        kept.remove(card);
        let partner = seat.partner(rules.seats);
        let gain = hand::worth_to(rules, board, partner, card, self.partner_lacking);
        PARTNER * gain + self.with_return(kept, asked)
    }

    /// The worth of these cards and the partner's: a plain one, or perhaps one that helps.
    fn with_return(&self, kept: Cards, asked: bool) -> f64 {
        let with = |card| {
            let mut hand = kept;
            hand.add(card);
            self.worth(hand) + RETURN
        };
        let help = if asked { HELP } else { 0.0 };
        help * with(Card::King) + (1.0 - help) * with(Card::Nine)
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
