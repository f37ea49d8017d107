//! What was played in a round (RULES §7.4), in view of all. Hidden hands can be guessed from it.

use serde::{Deserialize, Serialize};

use crate::{Board, BySeat, Card, Cards, Move, Rules, Seat, judge};

/// One turn of a round, as all saw it (RULES §7.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastMove {
    pub seat: Seat,
    pub before: Board,
    /// The card that was played, a joker as a joker; none if the seat folded.
    pub card: Option<Card>,
    /// The cards that came to lie open: the one played or, by folding, the whole hand.
    pub revealed: Cards,
    pub after: Board,
}

/// The turns of a round so far, in a form short enough to store: the boards follow from the
/// moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RoundHistory {
    /// The board before the first of them.
    began: Board,
    turns: Vec<RoundMove>,
}

/// Who moved, how, and the cards that were laid open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RoundMove(Seat, Move, Cards);

impl RoundHistory {
    /// No turn yet, on this board.
    pub(super) fn new(began: Board) -> RoundHistory {
        RoundHistory {
            began,
            turns: Vec::new(),
        }
    }

    /// Adds a legal move of a seat with this hand.
    pub(super) fn push(&mut self, seat: Seat, mv: Move, hand: Cards) {
        self.turns
            .push(RoundMove(seat, mv, revealed_cards(&mv, hand)));
    }

    /// Each turn with its boards; none if the record is damaged, and a move cannot be played.
    pub(super) fn moves(&self, rules: &Rules) -> Option<Vec<PastMove>> {
        let mut board = self.began;
        if !board.fits(rules) {
            return None;
        }
        let play = |&RoundMove(seat, mv, hand): &RoundMove| {
            let sound = seat.number() < rules.seats && revealed_cards(&mv, hand) == hand;
            let outcome = judge::judge(rules, &board, sound.then_some(seat)?, hand, &mv).ok()?;
            let before = std::mem::replace(&mut board, outcome.board);
            Some(PastMove {
                seat,
                before,
                card: mv.card(),
                revealed: hand,
                after: board,
            })
        };
        self.turns.iter().map(play).collect()
    }
}

/// Whether all that was laid open in these turns lies on the discard pile.
pub(super) fn are_revealed(plays: &[PastMove], mut pile: Cards) -> bool {
    plays.iter().all(|play| {
        let there = pile.includes(play.revealed);
        if there {
            pile = pile.without(play.revealed);
        }
        there
    })
}

/// Whether after each of these turns came that of the next seat with cards, up to the one that is
/// to move now with so many cards in the hands.
pub(super) fn are_contiguous(
    plays: &[PastMove],
    seats: u8,
    mut cards: BySeat<u8>,
    mut next: Option<Seat>,
) -> bool {
    plays.iter().rev().all(|play| {
        let follows = play.seat.next_of(seats, |seat| cards[seat] > 0);
        let fits =
            (next.is_none() || next == follows) && (play.card.is_some() || cards[play.seat] == 0);
        next = Some(play.seat);
        cards[play.seat] = cards[play.seat].saturating_add(play.revealed.len());
        fits
    })
}

/// The cards of a hand that a move lays open.
fn revealed_cards(mv: &Move, hand: Cards) -> Cards {
    mv.card().map_or(hand, Cards::one)
}
