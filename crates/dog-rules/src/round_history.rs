//! The moves of a round (RULES §7.4), which everybody sees. Bots use them to guess hidden hands.

use serde::{Deserialize, Serialize};

use crate::{Board, BySeat, Card, Cards, Event, EventKind, Move, Rules, Seat, judge};

/// One move of a round, as everybody saw it (RULES §7.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastMove {
    pub seat: Seat,
    pub before: Board,
    /// The card that was played, a joker as a joker. None for a fold.
    pub card: Option<Card>,
    /// The cards that were laid open: the one played or, for a fold, the whole hand.
    pub revealed: Cards,
    pub after: Board,
}

impl PastMove {
    /// The move of an event, made on this board; none for other events.
    pub fn from_event(event: &Event, before: &Board) -> Option<PastMove> {
        let (seat, card, revealed, after) = match &event.what {
            EventKind::CardPlayed {
                seat, mv, board, ..
            } => (*seat, mv.card(), mv.card().into_iter().collect(), *board),
            EventKind::HandFolded { seat, cards } => (*seat, None, *cards, *before),
            _ => return None,
        };
        Some(PastMove {
            seat,
            before: *before,
            card,
            revealed,
            after,
        })
    }
}

/// The moves of a round so far, in a form short enough to store: the boards follow from the moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RoundHistory {
    /// The board before the first move.
    began: Board,
    turns: Vec<RoundMove>,
}

/// Who moved, how, and the cards that were laid open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RoundMove(Seat, Move, Cards);

impl RoundHistory {
    /// An empty history that begins on this board.
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

    /// Each move with its boards. None if the history is damaged and a move cannot be played.
    pub(super) fn moves(&self, rules: &Rules) -> Option<Vec<PastMove>> {
        let mut board = self.began;
        if !board.fits(rules) {
            return None;
        }
        let turns = self.turns.iter();
        let moves = turns.map(|&RoundMove(seat, mv, hand)| {
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
        });
        moves.collect()
    }
}

/// Whether all cards laid open in these moves are on the discard pile.
pub(super) fn are_revealed(plays: &[PastMove], mut pile: Cards) -> bool {
    plays.iter().all(|play| {
        let there = pile.includes(play.revealed);
        if there {
            pile = pile.without(play.revealed);
        }
        there
    })
}

/// Whether the moves follow each other: after each moves the next seat with cards, and after the
/// last the seat that is to move now. `cards` is what each seat holds now.
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
