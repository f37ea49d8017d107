//! A seven chosen part by part (RULES §5): what its first parts do, and which parts may come next.

use std::{fmt, ops::ControlFlow, str::FromStr};

use crate::{
    Board, Card, Cards, Move, Outcome, Refusal, Rules, Seat, ShortList,
    judge::{self, Capture, PlayedPart, add_captures},
    movement::{PieceMove, Walker},
    notation::{CardUse, NotationError, Parts},
    seven::{self, PieceSet},
};

/// The length of the longest text of a begun seven.
pub const MAX_LENGTH: usize = 63;

/// A seven of which some parts are chosen: none, some or all of them. Its text is the beginning of
/// a move id, such as `7:` or `joker=7:17>20`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BegunSeven {
    /// The card from the hand: a seven or a joker.
    card: Card,
    parts: Parts,
}

/// What the parts of a begun seven do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SevenSoFar {
    /// The parts, their captures and the board after them.
    pub outcome: Outcome,
    /// The steps to be taken: 0 if the seven is complete.
    pub left: u8,
}

/// A part that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextPart {
    /// The begun seven with this part.
    pub begun: BegunSeven,
    pub part: PlayedPart,
    /// The pieces that this part sends to their kennels.
    pub captures: ShortList<Capture>,
    /// The board after this part.
    pub board: Board,
    /// The steps to be taken after this part: 0 if the seven is then complete.
    pub left: u8,
    /// The steps that lapse, because this part wins the game (RULES §5, `lapses_on_win`).
    pub lapsed: u8,
}

impl BegunSeven {
    /// What the parts do, each judged and carried out literally, as [`judge::judge`] does.
    ///
    /// # Errors
    /// The card is not in the hand, a part breaks a rule, or the pieces that have had no part
    /// cannot complete the seven.
    pub fn judge(
        &self,
        rules: &Rules,
        board: &Board,
        seat: Seat,
        hand: Cards,
    ) -> Result<SevenSoFar, Refusal> {
        if !hand.contains(self.card) {
            return Err(Refusal::NotInHand(self.card));
        }
        let (outcome, steps) = judge::first_parts(rules, board, seat, &self.parts)?;
        let (left, _) = left_and_lapsed(rules, &outcome.board, seat, steps);
        let moved = pieces_moved(&outcome.parts);
        if left > 0 && !seven::can_complete(rules, &outcome.board, seat, left, &moved) {
            return Err(Refusal::SevenNotCompleted(left));
        }
        Ok(SevenSoFar { outcome, left })
    }

    /// Every part that may come next: one of a piece that has had none, after which such pieces can
    /// complete the seven. They are in order by seat, by field and by steps. Of a seven that was
    /// judged, the list is empty exactly if it is complete.
    pub fn next_parts(&self, rules: &Rules, seat: Seat, so_far: &SevenSoFar) -> Vec<NextPart> {
        let mut next = Vec::new();
        let SevenSoFar { outcome, left } = so_far;
        let before = &outcome.board;
        let moved = pieces_moved(&outcome.parts);
        let team = [seat, seat.partner(rules.seats)];
        for &owner in seven::movers(rules, before, &team) {
            let walker = Walker::new(rules, before, owner);
            for from in moved.others(before, owner) {
                for steps in 1..=*left {
                    let _ = walker.forward(from, steps, |walk| {
                        let step = PieceMove::new(seat, owner, from, walk.to, steps);
                        next.extend(self.with(rules, before, seat, &moved, &step, *left));
                        ControlFlow::Continue(())
                    });
                }
            }
        }
        next
    }

    /// The begun seven with one part more, if the seven can then be completed.
    fn with(
        &self,
        rules: &Rules,
        before: &Board,
        seat: Seat,
        moved: &PieceSet,
        step: &PieceMove,
        left: u8,
    ) -> Option<NextPart> {
        if !seven::may_end(&Walker::new(rules, before, step.owner), step.to) {
            return None;
        }
        let mut begun = *self;
        begun.parts.push(step.part);
        let (owner, from, to) = (step.owner, step.from, step.to);
        let stepped = step.stepped(rules);
        let mut captures = ShortList::new();
        add_captures(&mut captures, rules, before, stepped);
        let mut board = *before;
        board.capture(stepped);
        board.relocate(rules, owner, from, to);
        let (left, lapsed) = left_and_lapsed(rules, &board, seat, left - step.steps);
        if left > 0 {
            let mut moved = *moved;
            moved.insert(owner, to);
            if !seven::can_complete(rules, &board, seat, left, &moved) {
                return None;
            }
        }
        Some(NextPart {
            begun,
            part: PlayedPart {
                seat: owner,
                from: Some(from),
                to,
                steps: step.steps,
            },
            captures,
            board,
            left,
            lapsed,
        })
    }
}

/// Of the steps that no part has taken, those to be taken and those that lapse by a win.
fn left_and_lapsed(rules: &Rules, board: &Board, seat: Seat, steps: u8) -> (u8, u8) {
    if steps < seven::STEPS && seven::lapses(rules, board, seat) {
        (0, steps)
    } else {
        (steps, 0)
    }
}

/// The pieces that these parts moved, where they stand now. Those that were captured since are of
/// no account: another piece that stands there now has come by a part, too.
fn pieces_moved(parts: &[PlayedPart]) -> PieceSet {
    let mut moved = PieceSet::default();
    for part in parts {
        if let Some(from) = part.from {
            moved.remove(part.seat, from);
        }
        moved.insert(part.seat, part.to);
    }
    moved
}

impl From<BegunSeven> for Move {
    /// The begun seven as a move, which may be incomplete.
    fn from(begun: BegunSeven) -> Move {
        Move::Play {
            card: begun.card,
            rank: Card::Seven,
            action: CardUse::Seven(begun.parts),
        }
    }
}

impl fmt::Display for BegunSeven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Move::from(*self).fmt(f)
    }
}

impl FromStr for BegunSeven {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<BegunSeven, NotationError> {
        let (card, parts) = match text {
            "7:" => (Card::Seven, Parts::new()),
            "joker=7:" => (Card::Joker, Parts::new()),
            _ => match text.parse()? {
                Move::Play {
                    card,
                    action: CardUse::Seven(parts),
                    ..
                } => (card, parts),
                _ => return Err(NotationError::NotBegunSeven),
            },
        };
        Ok(BegunSeven { card, parts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_round_trip() {
        for text in [
            "7:",
            "joker=7:",
            "7:17>20",
            "joker=7:17>20,62>g1",
            "7:255>255,255>255,255>255,255>255,255>255,255>255,255>255",
        ] {
            let begun: BegunSeven = text.parse().unwrap();
            assert_eq!(begun.to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "", "7", ":", "fold", "Q:17>29", "joker:", "joker=8:", "7:17>20,", "7:,", " 7:",
        ] {
            assert!(text.parse::<BegunSeven>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn no_begun_seven_is_longer() {
        let longest = format!("joker=7:{}", ["255>255"; 7].join(","));
        assert!(longest.parse::<BegunSeven>().is_ok());
        assert_eq!(longest.len(), MAX_LENGTH);
        assert!(format!("{longest},1>2").parse::<BegunSeven>().is_err());
    }
}
