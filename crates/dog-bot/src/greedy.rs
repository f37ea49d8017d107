//! What each choice is worth one ply ahead: the board it leads to and the cards it leaves.
//!
//! In the exchange (RULES §7.3) it is what each card is worth to the partner, and what it costs. A
//! team that exchanges so wins 58 games in 100 against one that gives at random, and where the
//! exchange is optional 56 against one that always declines.

use dog_rules::{
    Action, Board, Card, Cards, Exchange, Generator, LegalMove, Move, Outcome, Rules, Seat,
    SeatView, board::PIECES,
};

use super::evaluate::{leaves_kennel, value, worth_of_card, worth_of_hand};

/// The share of the partner's gain that counts, since its hand is not known (57 against
/// nothing of it, as in [`super::evaluate`]).
const PARTNER: f64 = 0.8;
/// What the partner's card is worth more than a plain one.
const RETURN: f64 = 1.0;
/// The chance that a partner who sees the need gives a card that leaves the kennel.
const HELP: f64 = 0.6;
/// What it costs to let the whole table know the need, in steps.
const ASKING: f64 = 5.0;

/// How many steps of lead make the odds e : 1, with nothing left to bring home.
///
/// These three were fitted to 10 000 games of greedy against itself under the five presets: the
/// steps that fitted best grew with the pieces that the team nearest to its victory still had to
/// bring home, 120 for one, 200 for two, 280 for three, 320 for four, and 350 for more. Checked
/// on other games, 84 to 86 of 100 teams given a chance of 0.85 won; with three teams, which the
/// fit left out, 71.
const STEPS: f64 = 60.0;
/// The same for each piece that is left.
const STEPS_A_PIECE: f64 = 65.0;
/// The same at most.
const STEPS_AT_MOST: f64 = 350.0;

/// Something that a seat may do when it is asked to move or to answer in the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Play a card, or fold.
    Play(Move),
    /// Lay this card down for the partner.
    Offer(Card),
    /// Decline the optional exchange.
    Decline,
    /// Say "help!" in the optional exchange.
    Ask,
}

impl Choice {
    /// The choice as what it asks of the game.
    pub const fn action(self, seat: Seat) -> Action {
        match self {
            Choice::Play(mv) => Action::Play { seat, mv },
            Choice::Offer(card) => Action::Offer { seat, card },
            Choice::Decline => Action::Decline { seat },
            Choice::Ask => Action::Ask { seat },
        }
    }
}

/// A choice and its worth.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    pub choice: Choice,
    /// What the move does; none in the exchange.
    pub outcome: Option<Outcome>,
    /// In steps: see [`value`] and [`worth_of_hand`].
    pub score: f64,
}

/// Every choice that the seat has, in the order in which the rules list them.
pub fn scored(view: &SeatView) -> Vec<Scored> {
    if view.exchanging {
        answers(view)
    } else {
        moves(view)
    }
}

/// Every move.
fn moves(view: &SeatView) -> Vec<Scored> {
    let legal = Generator::new().legal_moves(view.rules, &view.board, view.seat, view.hand);
    let score = |LegalMove { mv, outcome }| Scored {
        choice: Choice::Play(mv),
        outcome: Some(outcome),
        score: value(view.rules, &outcome.board, view.seat)
            + worth_of_hand(view.rules, &outcome.board, view.seat, kept(view.hand, &mv)),
    };
    legal.into_iter().map(score).collect()
}

/// The cards left after this move.
fn kept(mut hand: Cards, mv: &Move) -> Cards {
    match *mv {
        Move::Fold => Cards::EMPTY,
        Move::Play { card, .. } => {
            hand.remove(card);
            hand
        }
    }
}

/// Every card as the one to give and, where the exchange is optional, the other answers.
fn answers(view: &SeatView) -> Vec<Scored> {
    let values = ExchangeValues::of(view);
    let optional = view.rules.exchange == Exchange::Optional;
    // Where everybody gives, a partner sees the need on the board.
    let sees_need = !optional && view.board.track(view.seat) == 0;
    let asked = view.asked[view.seat];
    let mut answers: Vec<(Choice, f64)> = view
        .hand
        .ranks()
        .map(|card| (Choice::Offer(card), values.giving(card, asked || sees_need)))
        .collect();
    if optional {
        answers.push((Choice::Decline, values.keeping()));
        if !asked {
            let givings = view.hand.ranks().map(|card| values.giving(card, true));
            let best = givings.fold(values.keeping(), f64::max);
            answers.push((Choice::Ask, best - ASKING));
        }
    }
    let score = |(choice, score)| Scored {
        choice,
        outcome: None,
        score: values.board + score,
    };
    answers.into_iter().map(score).collect()
}

/// What the seat knows of the exchange.
struct ExchangeValues<'a> {
    view: &'a SeatView<'a>,
    /// The value of the board, which no exchange changes.
    board: f64,
    /// The chance that the partner has no way out of the kennel in its hand.
    partner_lacking: f64,
}

impl<'a> ExchangeValues<'a> {
    fn of(view: &'a SeatView<'a>) -> ExchangeValues<'a> {
        let partner = view.seat.partner(view.rules.seats);
        let mut partner_lacking = 1.0;
        if !view.asked[partner] {
            let share = unseen_exit_cards(view);
            // One of its cards is the one to be given.
            for _ in 1..view.counts[partner] {
                partner_lacking *= 1.0 - share;
            }
        }
        ExchangeValues {
            view,
            board: value(view.rules, &view.board, view.seat),
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
        let gain = worth_of_card(rules, board, partner, card, self.partner_lacking);
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
        worth_of_hand(self.view.rules, &self.view.board, self.view.seat, hand)
    }
}

/// The share of ways out of the kennel among the cards that the seat has not seen.
fn unseen_exit_cards(view: &SeatView) -> f64 {
    let deck = view.rules.deck();
    let (mut ways_out, mut all) = (0, 0);
    for card in Card::ALL {
        let seen = view.discards.count(card) + view.hand.count(card);
        let unseen = u16::from(deck.count(card).saturating_sub(seen));
        all += unseen;
        if leaves_kennel(card) {
            ways_out += unseen;
        }
    }
    f64::from(ways_out) / f64::from(all.max(1))
}

/// The chance that a team wins from this board with a score (see [`Scored`]), 0 to 1, in
/// ten-thousandths: exponentials differ between machines in digits far behind those. The higher
/// the score, the higher the chance; with a score of nothing every team has the same.
pub fn chance_to_win(rules: &Rules, board: &Board, score: f64) -> f64 {
    let steps = (STEPS + STEPS_A_PIECE * left(rules, board)).min(STEPS_AT_MOST);
    let other_teams = f64::from(rules.seats / 2 - 1);
    let chance = 1.0 / (1.0 + other_teams * (-score / steps).exp());
    (chance * 10_000.0).round() / 10_000.0
}

/// The pieces that the team nearest to its victory has to bring home.
fn left(rules: &Rules, board: &Board) -> f64 {
    let at_home = |seat: Seat| {
        let partner = seat.partner(rules.seats);
        board.goal(seat).count_ones() + board.goal(partner).count_ones()
    };
    let most = rules.ring().seats().map(at_home).max().unwrap_or(0);
    f64::from(2 * u32::from(PIECES) - most)
}

#[cfg(test)]
mod tests {
    use dog_rules::Preset;

    use super::*;
    use crate::evaluate::WON;

    #[test]
    fn chances_rise_with_the_score() {
        let rules = Preset::DogspielIt.rules();
        let chance = |score| chance_to_win(&rules, &Board::new(), score);
        assert_eq!(chance(-WON), 0.0);
        assert!(chance(-50.0) < chance(-10.0));
        assert_eq!(chance(0.0), 0.5);
        assert!(chance(10.0) < chance(50.0));
        assert_eq!(chance(WON), 1.0);
    }
}
