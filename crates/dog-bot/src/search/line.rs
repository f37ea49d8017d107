//! The plays that followed most often in the playouts of a candidate.

use std::collections::HashMap;

use dog_rules::{Board, Card, Generator, Move, Rules, Seat};
use serde::{Deserialize, Serialize};

/// The number of plays that are kept of each playout.
const LENGTH: usize = 3;
/// The number of playouts of a candidate whose plays are kept, about 2 MB in all.
pub(super) const MAX_PLAYOUTS: usize = 10_000;

/// A play that often follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct LinePlay {
    pub seat: Seat,
    /// The id of the move.
    // Of several moves to the same board, the first that the rules list.
    #[serde(rename = "move")]
    pub mv: Move,
}

/// A play in a playout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PlayoutPlay {
    seat: Seat,
    /// None for a fold.
    card: Option<Card>,
    after: Board,
}

#[cfg(test)]
impl PlayoutPlay {
    pub(super) fn is(&self, seat: Seat, card: Option<Card>, after: &Board) -> bool {
        (self.seat, self.card, &self.after) == (seat, card, after)
    }
}

/// The first plays of a playout. If the round ends earlier, the last ones are `None`.
pub(super) type FirstPlays = [Option<PlayoutPlay>; LENGTH];

/// Keeps a play, if it is one of the first.
#[inline]
pub(super) fn keep(plays: &mut FirstPlays, seat: Seat, card: Option<Card>, after: &Board) {
    if let Some(free) = plays.iter_mut().find(|play| play.is_none()) {
        let after = *after;
        *free = Some(PlayoutPlay { seat, card, after });
    }
}

/// The most frequent first play; of the playouts that began with it, the most frequent second one,
/// and so on. `board` is the one before these plays.
pub(super) fn most_frequent(
    rules: &Rules,
    mut board: Board,
    playouts: &[FirstPlays],
) -> Vec<LinePlay> {
    let mut generator = Generator::new();
    let mut followed: Vec<&FirstPlays> = playouts.iter().collect();
    let mut line = Vec::new();
    for place in 0..LENGTH {
        let Some(PlayoutPlay { seat, card, after }) = most_frequent_at(&followed, place) else {
            break;
        };
        let mv = match card {
            None => Some(Move::Fold),
            Some(card) => generator.move_to(rules, &board, seat, card, &after),
        };
        let Some(mv) = mv else {
            break;
        };
        line.push(LinePlay { seat, mv });
        let play = PlayoutPlay { seat, card, after };
        followed.retain(|plays| plays[place] == Some(play));
        board = after;
    }
    line
}

/// The most frequent play at this place; of equally frequent ones, the first that occurred.
fn most_frequent_at(playouts: &[&FirstPlays], place: usize) -> Option<PlayoutPlay> {
    let mut counts: HashMap<PlayoutPlay, usize> = HashMap::new();
    let plays = || playouts.iter().filter_map(|plays| plays[place]);
    for play in plays() {
        *counts.entry(play).or_default() += 1;
    }
    let most = counts.values().max()?;
    plays().find(|play| counts[play] == *most)
}
