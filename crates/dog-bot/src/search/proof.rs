//! Proof that a choice wins or loses, where every hand is known: a search over all plays of all
//! seats to the end of the round, without the net.
//!
//! A win needs nobody else: the seat has an answer to whatever its partner and the opponents play. A
//! loss needs one team of opponents that plays right: it has an answer to whatever all others play.

use std::collections::HashMap;

use dog_rules::{Board, BySeat, Card, Cards, Generator, Phase, Playout, Seat, SeatView};
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};

use super::{Candidate, CandidateStats};
use crate::budget::{BudgetClock, CLOCK_EVERY};

/// The most boards of the proofs of a decision.
const MAX_BOARDS: u32 = 20_000;
/// The largest share of the budget that they may take.
const MAX_SHARE: f64 = 0.25;
/// With so few cards in all known hands, a choice alone is searched, too.
const FEW_CARDS: u8 = 12;

/// What a choice leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// If the seat plays right, its team wins, whatever all others play.
    Win,
    /// If a team of opponents plays right, it wins, whatever all others play.
    Loss,
}

impl Proof {
    /// The chance that the team wins.
    pub fn chance(self) -> f64 {
        match self {
            Proof::Win => 1.0,
            Proof::Loss => 0.0,
        }
    }
}

/// All hands, if the seat knows them.
fn known_hands(view: &SeatView) -> Option<BySeat<Cards>> {
    let mut hands = view.known;
    hands[view.seat] = view.hand;
    let mut seats = Seat::all(view.rules.seats);
    seats
        .all(|seat| hands[seat].len() == view.counts[seat])
        .then_some(hands)
}

/// Whether a choice is to be searched even if it is the only one.
pub(super) fn is_worth_a_search_alone(view: &SeatView) -> bool {
    let cards: u8 = Seat::all(view.rules.seats)
        .map(|seat| view.counts[seat])
        .sum();
    cards <= FEW_CARDS && known_hands(view).is_some()
}

/// Proves what it can of the candidates, in their order.
pub(super) fn prove(view: &SeatView, candidates: &mut [CandidateStats], clock: &BudgetClock) {
    for stats in candidates.iter_mut() {
        if let Candidate::Play(_, board) = stats.candidate
            && board.team_home(view.rules, view.seat)
        {
            stats.proof = Some(Proof::Win);
        }
    }
    let Some(hands) = known_hands(view).filter(|_| !view.exchanging) else {
        return;
    };
    // Nothing is drawn: there is no exchange, and the round is not left.
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let world = Playout::from_view(view, hands, &mut rng);
    let mut prover = Prover {
        generator: Generator::new(),
        found: HashMap::new(),
        left: MAX_BOARDS,
        clock,
    };
    for stats in candidates.iter_mut().filter(|stats| !stats.is_random) {
        // To list the plays of a seat takes time, too, also where nothing more is looked at.
        if prover.left == 0 || clock.used(0) > MAX_SHARE {
            break;
        }
        let mut game = world.clone();
        match stats.candidate {
            Candidate::Play(card, board) => game.play(card, &board),
            Candidate::Fold => game.fold(),
            Candidate::Answer(_) => continue,
        }
        stats.proof = prover.prove(&game, view.seat);
    }
}

struct Prover<'a> {
    generator: Generator,
    /// What was found for a team: whether it wins, by the board, the hands and the seat to move.
    /// Several orders of the same plays lead there.
    found: HashMap<(u8, Board, BySeat<Cards>, Seat), bool>,
    /// Boards that may still be looked at.
    left: u32,
    clock: &'a BudgetClock<'a>,
}

impl Prover<'_> {
    /// What a game leads to for this seat; none if that is open, or beyond the bounds.
    fn prove(&mut self, game: &Playout, seat: Seat) -> Option<Proof> {
        let seats = game.rules().seats;
        let own = seat.team(seats);
        if self.wins(game, own, &|other| other == seat)? {
            return Some(Proof::Win);
        }
        for team in (0..seats / 2).filter(|&team| team != own) {
            if self.wins(game, team, &|other| other.team(seats) == team)? {
                return Some(Proof::Loss);
            }
        }
        None
    }

    /// Whether the team wins in this round if these seats play right, whatever the others play; none
    /// beyond the bounds.
    fn wins(
        &mut self,
        game: &Playout,
        team: u8,
        plays_right: &dyn Fn(Seat) -> bool,
    ) -> Option<bool> {
        match game.phase() {
            Phase::Finished => return Some(game.winner() == Some(team)),
            Phase::Play => {}
            _ => return Some(false),
        }
        let position = (team, *game.board(), *game.hands(), game.turn());
        if let Some(&wins) = self.found.get(&position) {
            return Some(wins);
        }
        let one_is_enough = plays_right(game.turn());
        let mut wins = !one_is_enough;
        for (card, board) in self.plays(game)? {
            let mut next = game.clone();
            match card {
                Some(card) => next.play(card, &board),
                None => next.fold(),
            }
            if self.wins(&next, team, plays_right)? == one_is_enough {
                wins = one_is_enough;
                break;
            }
        }
        self.found.insert(position, wins);
        Some(wins)
    }

    /// What the seat to move may play; a fold has no card. None beyond the bounds.
    fn plays(&mut self, game: &Playout) -> Option<Vec<(Option<Card>, Board)>> {
        let (seat, mut boards, mut plays) = (game.turn(), Vec::new(), Vec::new());
        for card in game.hand(seat).ranks() {
            let generator = &mut self.generator;
            generator.boards_of_card(game.rules(), game.board(), seat, card, &mut boards);
            for board in &boards {
                self.left = self.left.checked_sub(1)?;
                if self.is_late() {
                    return None;
                }
                plays.push((Some(card), *board));
            }
        }
        if plays.is_empty() {
            plays.push((None, *game.board()));
        }
        // What ends the game is looked at first.
        plays.sort_by_key(|(_, board)| board.winner(game.rules()).is_none());
        Some(plays)
    }

    /// Whether the share of the budget is used up. Looks only now and then.
    fn is_late(&self) -> bool {
        self.clock.late_after(self.left)
            || self.left.is_multiple_of(CLOCK_EVERY) && self.clock.used(0) > MAX_SHARE
    }
}

#[cfg(test)]
mod tests {
    use dog_rules::Preset;

    use crate::{
        Level, Suggestion, player_model::PlayerModels, search::Budget, testing::*, tests::pieces,
    };

    /// Advice where all hands are known: those of the seats in turn order, seat 0 first.
    fn advice(position: &str, hands: [&str; 4]) -> Vec<Suggestion> {
        let rules = Preset::DogspielIt.rules();
        let mut view = view(&rules, &pieces(position), hands[0]);
        for (number, hand) in (0..).zip(hands) {
            let other = seat(number, &rules);
            view.counts[other] = cards(hand).len();
            if number > 0 {
                view.known[other] = cards(hand);
            }
        }
        let (budget, models) = (Some(Budget::Samples(60)), PlayerModels::default());
        crate::advise(
            nets(),
            Level::Fast,
            budget,
            &view,
            &models,
            &|| true,
            &mut rng(1),
        )
    }

    /// The chance and its error after a move.
    fn chance(advice: &[Suggestion], id: &str) -> (f64, Option<f64>) {
        let choice = crate::Choice::Play(id.parse().expect("a move"));
        let mut found = advice
            .iter()
            .filter(|suggestion| suggestion.choice == choice);
        let estimate = found.next().expect("a legal move").estimate;
        (estimate.win_probability, estimate.standard_error)
    }

    const HOME: &str = "g0 g1 g2 g3";

    /// The nine leaves 60 where it is; the four that stays then reaches the goal. Seat 1 cannot win
    /// before.
    #[test]
    fn a_forced_win_is_certain() {
        let position = format!("60 g1 g2 g3 / 40 g1 g2 g3 / {HOME} / {HOME}");
        let found = advice(&position, ["4 9 A", "2", "8", "2"]);
        let best = &found[0].estimate;
        assert_eq!(
            (best.win_probability, best.standard_error),
            (1.0, Some(0.0))
        );
        let certain = found
            .iter()
            .filter(|other| other.estimate.win_probability == 1.0);
        for other in certain.skip(1) {
            assert!(other.estimate.equal, "{other:?}");
        }
    }

    /// After the two, seat 1 wins with its three. After the swap its piece is far away.
    #[test]
    fn a_forced_loss_is_certain() {
        let position = format!("60 g1 g2 g3 / 14 g1 g2 g3 / {HOME} / {HOME}");
        let found = advice(&position, ["J 2", "3", "5", "9"]);
        assert_eq!(chance(&found, "2:60>62"), (0.0, Some(0.0)));
        let (swap, _) = chance(&found, "J:60<>14");
        assert!(swap > 0.1, "{swap}");
        // Seat 1 has no such card.
        let found = advice(&position, ["J 2", "4", "5", "9"]);
        assert!(chance(&found, "2:60>62").0 > 0.0);
    }

    /// The partner would have to play right, and need not.
    #[test]
    fn a_win_that_the_partner_may_miss_is_not_certain() {
        let position = format!("58 g1 g2 g3 / 40 g1 g2 g3 / {HOME} / {HOME}");
        let found = advice(&position, ["2", "2", "5 8", "2"]);
        let estimate = found[0].estimate;
        assert!(estimate.win_probability < 1.0 || estimate.standard_error > Some(0.0));
    }
}
