//! Perft, a term of chess engines: the number of move sequences of a given length. A single wrong
//! move in a list changes the count, so equal counts are strong evidence of equal rules.
//!
//! One move is the pair of RULES §9: the card from the hand and the board it leads to. If no card
//! can be played, the one move is fold.

use std::collections::HashSet;

use super::{
    board::Board,
    card::{Card, Cards},
    moves::Generator,
    notation::Move,
    options::Rules,
    seat::{BySeat, Seat},
};

mod case;
#[cfg(any(test, feature = "testing"))]
mod testing;

pub use case::{CaseError, CaseErrorKind, OpenPosition, PerftCase, read};

/// The state of a count: all that a move changes.
#[derive(Clone, Copy)]
struct PerftState {
    board: Board,
    hands: BySeat<Cards>,
    /// The seat to move; none if a team has won or nobody holds cards.
    turn: Option<Seat>,
}

impl PerftState {
    fn new(position: &OpenPosition) -> PerftState {
        let &OpenPosition {
            board, hands, turn, ..
        } = position;
        let mut state = PerftState {
            board,
            hands,
            turn: None,
        };
        state.pass_to(&position.rules, turn);
        state
    }

    /// Passes the turn to this seat or, if it holds no cards, to the next seat that does (RULES
    /// §7.4).
    fn pass_to(&mut self, rules: &Rules, seat: Seat) {
        let mut in_turn = (0..rules.seats).map(|steps| seat.plus(steps, rules.seats));
        self.turn = match self.board.winner(rules) {
            Some(_) => None,
            None => in_turn.find(|&seat| !self.hands[seat].is_empty()),
        };
    }

    /// The state after a move of this seat: a card played that leads to this board, or a fold.
    fn after(&self, rules: &Rules, seat: Seat, card: Option<Card>, board: Board) -> PerftState {
        let mut after = PerftState { board, ..*self };
        match card {
            Some(card) => {
                after.hands[seat].remove(card);
            }
            None => after.hands[seat] = Cards::EMPTY,
        }
        after.pass_to(rules, seat.next(rules.seats));
        after
    }
}

/// The number of sequences of `depth` moves from a state.
fn count(rules: &Rules, generator: &mut Generator, state: &PerftState, depth: u32) -> u64 {
    let Some(seat) = state.turn.filter(|_| depth > 0) else {
        return u64::from(depth == 0);
    };
    let mut boards = Vec::new();
    let mut moves = 0;
    let mut below = 0;
    for card in state.hands[seat].ranks() {
        generator.boards_of_card(rules, &state.board, seat, card, &mut boards);
        moves += boards.len() as u64;
        // The moves of the last ply are counted, not made.
        if depth > 1 {
            for &board in &boards {
                let after = state.after(rules, seat, Some(card), board);
                below += count(rules, generator, &after, depth - 1);
            }
        }
    }
    match (moves, depth) {
        (0, _) => {
            let folded = state.after(rules, seat, None, state.board);
            count(rules, generator, &folded, depth - 1)
        }
        (moves, 1) => moves,
        _ => below,
    }
}

/// The number of sequences of `depth` moves from this position. Depth 0 counts 1, the empty
/// sequence. A sequence ends with a victory or with the round, and one that ends before `depth`
/// moves is not counted.
pub fn perft(position: &OpenPosition, depth: u32) -> u64 {
    let mut generator = Generator::new();
    count(
        &position.rules,
        &mut generator,
        &PerftState::new(position),
        depth,
    )
}

/// The count of [`perft`] below each first move, in the order of the list of moves. Each move is
/// named by the first way to make it that is listed. Empty at depth 0.
pub fn divide(position: &OpenPosition, depth: u32) -> Vec<(Move, u64)> {
    let state = PerftState::new(position);
    let (Some(seat), Some(below)) = (state.turn, depth.checked_sub(1)) else {
        return Vec::new();
    };
    let rules = &position.rules;
    let mut generator = Generator::new();
    let mut seen = HashSet::new();
    let legal = generator.legal_moves(rules, &state.board, seat, state.hands[seat]);
    legal
        .into_iter()
        .filter(|legal| seen.insert((legal.mv.card(), legal.outcome.board)))
        .map(|legal| {
            let after = state.after(rules, seat, legal.mv.card(), legal.outcome.board);
            (legal.mv, count(rules, &mut generator, &after, below))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(rest: &str) -> OpenPosition {
        let case: PerftCase = format!("rules dogspiel-it\n{rest}").parse().unwrap();
        case.position
    }

    fn counts<const N: usize>(position: &OpenPosition) -> [u64; N] {
        let mut depth = 0;
        [(); N].map(|()| {
            let count = perft(position, depth);
            depth += 1;
            count
        })
    }

    #[test]
    fn ace_out_and_king_out_are_two_and_a_joker_is_one() {
        let all_in = position("board - / - / - / -\nhands A K joker / 2 / - / -\nturn 0");
        // Then seat 1 folds, and the fresh piece walks: 2 ways with an ace, 1 with a king and 14
        // with a joker.
        assert_eq!(counts(&all_in), [1, 3, 3, (1 + 14) + (2 + 14) + (2 + 1)]);
        let equal = position("board - / - / - / -\nhands K K K / - / - / -\nturn 0");
        assert_eq!(counts(&equal), [1, 1, 1, 2, 0]);
    }

    #[test]
    fn a_round_ends_when_all_hands_are_empty() {
        let fold = position("board - / - / - / -\nhands 2 3 / - / - / A\nturn 0");
        assert_eq!(counts(&fold), [1, 1, 1, 0]);
        let nobody = position("board - / - / - / -\nhands - / - / - / -\nturn 2");
        assert_eq!(counts(&nobody), [1, 0, 0]);
        let skipped = position("board 5 / - / - / -\nhands 2 3 / - / - / -\nturn 2");
        assert_eq!(counts(&skipped), [1, 2, 2, 0]);
    }

    #[test]
    fn a_victory_ends_a_sequence() {
        let won =
            position("board g0 g1 g2 g3 / - / g1 g2 g3 31 / -\nhands 2 3 / 2 / 3 / 4\nturn 0");
        // The two brings the last piece to goal 0 or walks past it, the three past it only.
        assert_eq!(counts(&won), [1, 3, 2, 2, 2]);
        assert_eq!(
            perft(
                &position("board g0 g1 g2 g3 / - / g0 g1 g2 g3 / -\nhands 2 / 2 / 2 / 2\nturn 1"),
                1
            ),
            0
        );
    }
}
