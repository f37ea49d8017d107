//! Judging one move literally: is it legal, what does it do, and if not, why (RULES §4 to §6).

use serde::{Deserialize, Serialize};

use super::{
    board::{Board, Field},
    card::{Card, Cards},
    movement::{self, Obstacle, Walk},
    moves::Generator,
    notation::{Action, Move, Part, Place},
    options::{Rules, SevenLanding, SevenPartner, SevenSurplus},
    refusal::{PlaceName, Refusal},
    ring::{self, Fields, bit},
    seat::Seat,
};

/// What kind of move a card was played for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    LeaveKennel,
    Advance,
    Retreat,
    Swap,
    Seven,
    NoEffect,
    Fold,
}

/// What one piece did in a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayedPart {
    /// Whose piece it was.
    pub seat: Seat,
    /// Where it stood; `None` is the kennel.
    pub from: Option<Field>,
    pub to: Field,
    /// Steps it took: 0 for a swap and for leaving the kennel.
    pub steps: u8,
}

/// A piece sent to its kennel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    pub seat: Seat,
    /// The track field where it stood.
    pub from: u8,
}

/// What a legal move does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub kind: Kind,
    pub parts: Vec<PlayedPart>,
    pub captures: Vec<Capture>,
    /// The board after the move.
    pub board: Board,
}

/// The seat whose pieces `seat` moves: its own, or its partner's once all its own are in the
/// goal (RULES §4, whose pieces).
#[inline]
pub fn mover(rules: &Rules, board: &Board, seat: Seat) -> Seat {
    if board.home(seat) {
        seat.partner(rules.seats)
    } else {
        seat
    }
}

/// The seats whose pieces a part of a seven may move (RULES §5).
#[inline]
fn seven_movers(rules: &Rules, board: &Board, seat: Seat) -> (Seat, Option<Seat>) {
    match rules.seven_partner {
        SevenPartner::WhenHome => (mover(rules, board, seat), None),
        SevenPartner::Always => (seat, Some(seat.partner(rules.seats))),
    }
}

/// Judges one move of a seat that holds this hand.
///
/// # Errors
/// Says by which rule the move is illegal.
pub fn judge(
    rules: &Rules,
    board: &Board,
    seat: Seat,
    hand: Cards,
    mv: &Move,
) -> Result<Outcome, Refusal> {
    match *mv {
        Move::Fold => {
            if Generator::new().can_play(rules, board, seat, hand) {
                return Err(Refusal::MustPlay);
            }
            Ok(Judge::new(rules, board, seat).done(Kind::Fold))
        }
        Move::Play { card, rank, action } => {
            if !hand.contains(card) {
                return Err(Refusal::NotInHand(card));
            }
            outcome(rules, board, seat, rank, &action)
        }
    }
}

/// What playing a card as this rank for this action does, whatever the hand holds.
///
/// # Errors
/// Says by which rule the move is illegal.
pub fn outcome(
    rules: &Rules,
    board: &Board,
    seat: Seat,
    rank: Card,
    action: &Action,
) -> Result<Outcome, Refusal> {
    let judge = Judge::new(rules, board, seat);
    match action {
        Action::Out => judge.out(),
        Action::Walk(part) => judge.walk(rank, *part),
        Action::Swap(own, other) => judge.swap(*own, *other),
        Action::NoEffect => judge.no_effect(),
        Action::Seven(parts) => judge.seven(parts.as_slice()),
    }
}

/// A move being carried out: the board as it is by now, and what has happened so far.
struct Judge<'a> {
    rules: &'a Rules,
    seat: Seat,
    board: Board,
    parts: Vec<PlayedPart>,
    captures: Vec<Capture>,
}

impl<'a> Judge<'a> {
    fn new(rules: &'a Rules, board: &Board, seat: Seat) -> Judge<'a> {
        Judge {
            rules,
            seat,
            board: *board,
            parts: Vec::new(),
            captures: Vec::new(),
        }
    }

    fn done(self, kind: Kind) -> Outcome {
        let Judge {
            parts,
            captures,
            board,
            ..
        } = self;
        Outcome {
            kind,
            parts,
            captures,
            board,
        }
    }

    fn mover(&self) -> Seat {
        mover(self.rules, &self.board, self.seat)
    }

    /// RULES §4, leaving the kennel.
    fn out(mut self) -> Result<Outcome, Refusal> {
        let mover = self.mover();
        if self.board.kennel(mover) == 0 {
            return Err(Refusal::KennelEmpty(mover));
        }
        let start = self.rules.ring().start(mover);
        let blocks = self.board.blocks(self.rules);
        if blocks & bit(start) != 0 {
            let fresh = self.board.fresh(mover);
            return Err(Obstacle::Block {
                field: start,
                seat: mover,
                fresh,
            }
            .into());
        }
        self.capture(bit(start));
        self.board.put_fresh(self.rules, mover);
        let to = Field::Track(start);
        self.parts.push(PlayedPart {
            seat: mover,
            from: None,
            to,
            steps: 0,
        });
        Ok(self.done(Kind::LeaveKennel))
    }

    /// RULES §4: forward, backward 4, and landing.
    fn walk(mut self, card: Card, part: Part) -> Result<Outcome, Refusal> {
        let (owner, from, to) = self.piece(part)?;
        let mover = self.mover();
        if owner != mover {
            let place = PlaceName(part.from);
            return Err(Refusal::NotThePiece {
                place,
                owner,
                mover,
            });
        }
        let blocks = self.board.blocks(self.rules);
        let forward = steps_forward(self.rules, owner, from, to)
            .filter(|steps| card.forward().contains(steps));
        let (kind, steps, walk) = match (forward, from, to) {
            (Some(steps), ..) => {
                let walk = walk_forward(self.rules, &self.board, blocks, owner, from, to, steps)?;
                (Kind::Advance, steps, walk)
            }
            (None, Field::Track(from), Field::Track(to))
                if card == Card::Four && self.rules.ring().distance(to, from) == 4 =>
            {
                let walk = movement::back_along_ring(self.rules, &self.board, blocks, from)?;
                (Kind::Retreat, 4, walk)
            }
            (None, Field::Track(from), Field::Goal(_))
                if card == Card::Four && within_four_past_start(self.rules, owner, from) =>
            {
                let walk = movement::back_into_goal(self.rules, &self.board, blocks, owner, from)?;
                (Kind::Retreat, 4, walk)
            }
            _ => return Err(wrong_steps(card, part)),
        };
        if walk.to != to {
            return Err(wrong_steps(card, part));
        }
        if let Field::Track(field) = to {
            self.capture(bit(field));
        }
        self.board.relocate(self.rules, owner, from, to);
        self.parts.push(PlayedPart {
            seat: owner,
            from: Some(from),
            to,
            steps,
        });
        Ok(self.done(kind))
    }

    /// RULES §6, the swap.
    fn swap(mut self, own: u8, other: u8) -> Result<Outcome, Refusal> {
        let mover = self.mover();
        let owner = self.on_track(own)?;
        let stranger = self.on_track(other)?;
        if owner != mover {
            let place = PlaceName(Place::Track(own));
            return Err(Refusal::NotThePiece {
                place,
                owner,
                mover,
            });
        }
        if own == other {
            return Err(Refusal::SwapWithItself);
        }
        if stranger == mover && !self.rules.jack_own_pair {
            return Err(Refusal::SwapOwnPair);
        }
        let protected = self.board.unswappable(self.rules);
        for (field, seat) in [(own, owner), (other, stranger)] {
            if protected & bit(field) != 0 {
                let fresh = self.board.fresh(seat);
                return Err(Refusal::SwapProtected { field, seat, fresh });
            }
        }
        let (own, other) = (Field::Track(own), Field::Track(other));
        swap(self.rules, &mut self.board, (owner, own), (stranger, other));
        self.parts.push(PlayedPart {
            seat: owner,
            from: Some(own),
            to: other,
            steps: 0,
        });
        self.parts.push(PlayedPart {
            seat: stranger,
            from: Some(other),
            to: own,
            steps: 0,
        });
        Ok(self.done(Kind::Swap))
    }

    /// RULES §6, `jack_without_effect`.
    fn no_effect(self) -> Result<Outcome, Refusal> {
        if !self.rules.jack_without_effect {
            return Err(Refusal::NoEffectNotPlayed);
        }
        let mover = self.mover();
        if self.board.track(mover) == 0 {
            return Err(Refusal::NoEffectNobodyOnRing(mover));
        }
        let strangers = self.board.occupied() & !self.board.track(mover);
        if let Some(field) = ring::fields(strangers).next() {
            let seat = self.on_track(field)?;
            return Err(Refusal::NoEffectStranger { seat, field });
        }
        Ok(self.done(Kind::NoEffect))
    }

    /// RULES §5: the parts in order, each judged and carried out literally.
    fn seven(mut self, parts: &[Part]) -> Result<Outcome, Refusal> {
        let mut left = 7;
        for (index, part) in parts.iter().enumerate() {
            let (owner, from, to) = self.piece(*part)?;
            let (mover, also) = seven_movers(self.rules, &self.board, self.seat);
            if owner != mover && Some(owner) != also {
                let place = PlaceName(part.from);
                return Err(Refusal::NotThePiece {
                    place,
                    owner,
                    mover,
                });
            }
            let steps = steps_forward(self.rules, owner, from, to)
                .filter(|steps| (1..=7).contains(steps))
                .ok_or(Refusal::SevenPart {
                    from: PlaceName(part.from),
                    to: PlaceName(part.to),
                })?;
            if steps > left {
                return Err(Refusal::SevenSteps(7 - left + steps));
            }
            left -= steps;
            let stepped = seven_part(self.rules, &self.board, owner, from, to, steps)
                .map_err(|refusal| refusal.in_part(index + 1))?;
            self.capture(stepped);
            self.board.relocate(self.rules, owner, from, to);
            self.parts.push(PlayedPart {
                seat: owner,
                from: Some(from),
                to,
                steps,
            });
        }
        let lapses = self.rules.seven_surplus == SevenSurplus::LapsesOnWin
            && self.board.team_home(self.rules, self.seat);
        if left > 0 && !lapses {
            return Err(Refusal::SevenSteps(7 - left));
        }
        Ok(self.done(Kind::Seven))
    }

    /// The piece a part names, whose it is, and where the part takes it.
    fn piece(&self, part: Part) -> Result<(Seat, Field, Field), Refusal> {
        let partner = self.seat.partner(self.rules.seats);
        let field = |place: Place, owner: Seat| match place {
            Place::Track(field) => self.track_field(field).map(Field::Track),
            Place::OwnGoal(field) if owner == self.seat => Ok(Field::Goal(field)),
            Place::PartnerGoal(field) if owner == partner => Ok(Field::Goal(field)),
            Place::OwnGoal(_) | Place::PartnerGoal(_) => Err(Refusal::ForeignGoal),
        };
        let owner = match part.from {
            Place::Track(field) => self.on_track(field)?,
            Place::OwnGoal(_) => self.seat,
            Place::PartnerGoal(_) => partner,
        };
        let (from, to) = (field(part.from, owner)?, field(part.to, owner)?);
        match (from, to) {
            (Field::Goal(field), _) if self.board.goal(owner) >> field & 1 == 0 => {
                Err(Refusal::NoPiece(PlaceName(part.from)))
            }
            (Field::Goal(_), Field::Track(_)) => Err(Refusal::LeavesGoal),
            (Field::Goal(from), Field::Goal(to)) if to <= from => Err(Refusal::LeavesGoal),
            _ => Ok((owner, from, to)),
        }
    }

    fn track_field(&self, field: u8) -> Result<u8, Refusal> {
        let last = self.rules.ring().length() - 1;
        if field <= last {
            Ok(field)
        } else {
            Err(Refusal::OffTrack { field, last })
        }
    }

    /// Whose piece stands on this track field.
    fn on_track(&self, field: u8) -> Result<Seat, Refusal> {
        self.board
            .owner(self.rules, self.track_field(field)?)
            .ok_or(Refusal::NoPiece(PlaceName(Place::Track(field))))
    }

    fn capture(&mut self, captured: Fields) {
        for seat in self.rules.ring().seats() {
            let captures = ring::fields(self.board.track(seat) & captured);
            self.captures
                .extend(captures.map(|from| Capture { seat, from }));
        }
        self.board.capture(captured);
    }
}

/// Whether four steps back from this field reach the seat's own start or begin on it.
fn within_four_past_start(rules: &Rules, owner: Seat, from: u8) -> bool {
    rules.ring().distance(rules.ring().start(owner), from) <= 4
}

fn wrong_steps(card: Card, part: Part) -> Refusal {
    Refusal::WrongSteps {
        card,
        from: PlaceName(part.from),
        to: PlaceName(part.to),
    }
}

/// How many steps forward lead from one field to another, if any do.
fn steps_forward(rules: &Rules, owner: Seat, from: Field, to: Field) -> Option<u8> {
    let ring = rules.ring();
    match (from, to) {
        (Field::Track(from), Field::Track(to)) => Some(ring.distance(from, to)),
        (Field::Track(from), Field::Goal(to)) => {
            Some(ring.distance(from, ring.door(owner)) + to + 1)
        }
        (Field::Goal(from), Field::Goal(to)) => to.checked_sub(from),
        (Field::Goal(_), Field::Track(_)) => None,
    }
}

/// Walks forward the way that ends in, or outside, the goal as `to` does.
#[inline]
fn walk_forward(
    rules: &Rules,
    board: &Board,
    blocks: Fields,
    owner: Seat,
    from: Field,
    to: Field,
    steps: u8,
) -> Result<Walk, Obstacle> {
    match (from, to) {
        (Field::Goal(from), _) => movement::inside_goal(board, owner, from, steps),
        (Field::Track(from), Field::Track(_)) => {
            movement::along_ring(rules, board, blocks, from, steps)
        }
        (Field::Track(from), Field::Goal(_)) => {
            movement::into_goal(rules, board, blocks, owner, from, steps)
        }
    }
}

/// The ring fields that a part of a seven steps on, all of which it captures.
fn seven_part(
    rules: &Rules,
    board: &Board,
    owner: Seat,
    from: Field,
    to: Field,
    steps: u8,
) -> Result<Fields, Refusal> {
    let walk = walk_forward(rules, board, board.blocks(rules), owner, from, to, steps)?;
    if let Field::Track(field) = to
        && rules.seven_landing == SevenLanding::MustBeFree
        && board.occupied() & bit(field) != 0
    {
        return Err(Refusal::SevenLanding { part: 1, field });
    }
    Ok(walk.stepped)
}

/// Swaps two pieces. Neither is fresh: a fresh piece is always protected.
pub(super) fn swap(rules: &Rules, board: &mut Board, own: (Seat, Field), other: (Seat, Field)) {
    board.lift(rules, own.0, own.1);
    board.lift(rules, other.0, other.1);
    board.put(own.0, other.1);
    board.put(other.0, own.1);
}
