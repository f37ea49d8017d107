//! Judges one move literally: whether it is legal, what it does, and if not, why (RULES §4 to §6).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

use crate::{
    Board, Card, Cards, Field, Generator, JackWithoutEffectWhen, Move, Rules, Seat, SevenPartner,
    SevenRest, ShortList,
    movement::{MoveBlocked, Walker},
    notation::{CardUse, NotationError, NotedField, Part},
    ring::{self, Fields, bit},
    seven,
};

/// What a card is played for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum MoveKind {
    LeaveKennel,
    Advance,
    Retreat,
    Swap,
    Seven,
    NoEffect,
    Fold,
}

/// What one piece did in a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayedPart {
    /// Whose piece it was.
    pub seat: Seat,
    /// Where it stood; `None` is the kennel.
    pub from: Option<Field>,
    pub to: Field,
    /// Steps it took: 0 for a swap and for leaving the kennel.
    pub steps: u8,
}

impl PlayedPart {
    /// Every field that the piece walks over in a move of this kind, its target last. Empty for a
    /// swap and for leaving the kennel.
    pub fn path(&self, rules: &Rules, kind: MoveKind) -> Vec<Field> {
        let ring = rules.ring();
        let in_goal = match (self.from, self.to) {
            (_, Field::Track(_)) => 0..0,
            (Some(Field::Goal(from)), Field::Goal(to)) => from + 1..to + 1,
            (_, Field::Goal(to)) => 0..to + 1,
        };
        let on_ring = self.steps.saturating_sub(in_goal.len() as u8);
        let on_ring = (1..=on_ring).filter_map(|steps| match (self.from?, kind) {
            (Field::Track(from), MoveKind::Retreat) => Some(ring.backward(from, steps)),
            (Field::Track(from), _) => Some(ring.forward(from, steps)),
            _ => None,
        });
        let in_goal = in_goal.map(Field::Goal);
        on_ring.map(Field::Track).chain(in_goal).collect()
    }
}

/// A piece sent to its kennel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Capture {
    /// Whose piece it was.
    pub seat: Seat,
    /// The track field where it stood, as text.
    #[serde(serialize_with = "as_text", deserialize_with = "from_text")]
    #[cfg_attr(feature = "utoipa", schema(value_type = String, pattern = "^[0-9]{1,2}$", examples("29")))]
    pub from: u8,
}

fn as_text<S: Serializer>(field: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    Field::Track(*field).serialize(serializer)
}

fn from_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    match Field::deserialize(deserializer)? {
        Field::Track(field) => Ok(field),
        Field::Goal(_) => Err(de::Error::custom("a piece in a goal cannot be captured")),
    }
}

/// What a legal move does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub kind: MoveKind,
    /// What moves, in order.
    pub parts: ShortList<PlayedPart>,
    /// The pieces sent to their kennels: by part, then by seat, then by field.
    pub captures: ShortList<Capture>,
    /// The board after the move.
    pub board: Board,
}

impl Outcome {
    /// The outcome of a fold, which changes nothing on the board.
    pub fn fold(board: &Board) -> Outcome {
        Outcome {
            kind: MoveKind::Fold,
            parts: ShortList::new(),
            captures: ShortList::new(),
            board: *board,
        }
    }
}

/// Adds the pieces that stand on these track fields.
#[inline]
pub(super) fn add_captures(
    captures: &mut ShortList<Capture>,
    rules: &Rules,
    board: &Board,
    fields: Fields,
) {
    if board.occupied() & fields == 0 {
        return;
    }
    for seat in rules.ring().seats() {
        for from in ring::fields(board.track(seat) & fields) {
            captures.push(Capture { seat, from });
        }
    }
}

/// Why a move is refused, in the words of the rules.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("this is not a move: {0}")]
    Notation(#[from] NotationError),
    #[error("there is no {0} in the hand")]
    NotInHand(Card),
    #[error("a card in the hand can be played, so one must be played")]
    MustPlay,
    #[error("{0}")]
    Obstacle(#[from] MoveBlocked),
    #[error("{0} has no piece on the ring")]
    NobodyOnRing(Seat),
    #[error("there is no track field {field}, the last one is {last}")]
    OffTrack { field: u8, last: u8 },
    #[error("no piece stands on {0}")]
    NoPiece(PlaceName),
    #[error("the piece on {place} is {owner}'s, this move takes {mover}'s pieces")]
    NotThePiece {
        place: PlaceName,
        owner: Seat,
        mover: Seat,
    },
    #[error("{0}'s kennel is empty")]
    KennelEmpty(Seat),
    #[error("a piece may enter only its own goal")]
    ForeignGoal,
    #[error("no piece leaves the goal or moves backward in it")]
    LeavesGoal,
    #[error("the {card} does not carry a piece from {from} to {to}")]
    WrongSteps {
        card: Card,
        from: PlaceName,
        to: PlaceName,
    },
    #[error("the two pieces of a swap must stand on different fields")]
    SwapWithItself,
    #[error("by these rules a jack swaps with another seat's piece, not with one's own")]
    SwapOwnPair,
    #[error(
        "the piece on field {field} cannot be swapped: it is {seat}'s {}",
        if *.fresh { "fresh piece" } else { "piece on its start" }
    )]
    SwapProtected { field: u8, seat: Seat, fresh: bool },
    #[error("by these rules no piece ends on one of its own seat's, as on field {field}")]
    OwnPiece { field: u8 },
    #[error("by these rules a jack is not played without effect")]
    NoEffectNotPlayed,
    #[error("a jack is played without effect only with a piece of {0}'s on the ring")]
    NoEffectNobodyOnRing(Seat),
    #[error(
        "a jack is played without effect only while no other seat's piece is on the ring, and \
         {seat}'s stands on field {field}"
    )]
    NoEffectOthersOnRing { seat: Seat, field: u8 },
    #[error("a jack is played without effect only while {0} cannot swap any piece")]
    NoEffectSwapPossible(Seat),
    #[error("a part of a seven takes 1 to 7 steps forward: {from} to {to} is not")]
    SevenPart { from: PlaceName, to: PlaceName },
    #[error("a part of a seven may not end on field {field}: it must be free")]
    SevenLanding { field: u8 },
    #[error("the parts of a seven must add up to 7 steps, not {0}")]
    SevenSteps(u8),
    #[error(
        "the pieces that have had no part cannot take the {0} steps that are left of the seven"
    )]
    SevenNotCompleted(u8),
    #[error(
        "by these rules one of the partner's pieces takes the rest of the seven, the one on {0}"
    )]
    OnePieceOnly(PlaceName),
    #[error("the piece on {0} was captured by an earlier part of the seven")]
    CapturedBefore(PlaceName),
    /// One part of a seven, counted from 1, is refused.
    #[error("{refusal}")]
    InPart { part: usize, refusal: Box<Refusal> },
}

/// A place, as the texts of refusals name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceName(pub NotedField);

impl fmt::Display for PlaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            NotedField::Track(field) => write!(f, "field {field}"),
            NotedField::OwnGoal(field) => write!(f, "goal {field}"),
            NotedField::PartnerGoal(field) => write!(f, "the partner's goal {field}"),
        }
    }
}

/// Judges one move of a seat that holds this hand.
///
/// # Errors
/// The rule that the move breaks.
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
            Ok(Outcome::fold(board))
        }
        Move::Play { card, rank, action } => {
            if !hand.contains(card) {
                return Err(Refusal::NotInHand(card));
            }
            outcome(rules, board, seat, rank, &action)
        }
    }
}

/// What playing a card as this rank for this use does, whatever the hand holds.
///
/// # Errors
/// The rule that the move breaks.
pub fn outcome(
    rules: &Rules,
    board: &Board,
    seat: Seat,
    rank: Card,
    action: &CardUse,
) -> Result<Outcome, Refusal> {
    let judge = MoveJudge::new(rules, board, seat);
    match action {
        CardUse::Out => judge.out(),
        CardUse::Walk(part) => judge.walk(rank, *part),
        CardUse::Swap(own, other) => judge.swap(*own, *other),
        CardUse::NoEffect => judge.no_effect(),
        CardUse::Seven(parts) => judge.seven(parts),
    }
}

/// What the first parts of a seven do, and how many steps are then left.
///
/// # Errors
/// The rule that a part breaks.
pub(super) fn first_parts(
    rules: &Rules,
    board: &Board,
    seat: Seat,
    parts: &[Part],
) -> Result<(Outcome, u8), Refusal> {
    let mut judge = MoveJudge::new(rules, board, seat);
    let left = judge.seven_parts(parts)?;
    Ok((judge.done(MoveKind::Seven), left))
}

/// A move being carried out: the board so far, and what has happened.
struct MoveJudge<'a> {
    rules: &'a Rules,
    seat: Seat,
    board: Board,
    parts: ShortList<PlayedPart>,
    captures: ShortList<Capture>,
}

impl<'a> MoveJudge<'a> {
    fn new(rules: &'a Rules, board: &Board, seat: Seat) -> MoveJudge<'a> {
        MoveJudge {
            rules,
            seat,
            board: *board,
            parts: ShortList::new(),
            captures: ShortList::new(),
        }
    }

    fn done(self, kind: MoveKind) -> Outcome {
        Outcome {
            kind,
            parts: self.parts,
            captures: self.captures,
            board: self.board,
        }
    }

    fn mover(&self) -> Seat {
        self.board.mover(self.rules, self.seat)
    }

    /// RULES §4, leaving the kennel.
    fn out(mut self) -> Result<Outcome, Refusal> {
        let seat = self.mover();
        if self.board.kennel(seat) == 0 {
            return Err(Refusal::KennelEmpty(seat));
        }
        let field = self.rules.ring().start(seat);
        if self.board.blocks(self.rules) & bit(field) != 0 {
            let fresh = self.board.fresh(seat);
            return Err(MoveBlocked::Block { field, seat, fresh }.into());
        }
        self.check_landing(seat, Field::Track(field))?;
        self.capture(bit(field));
        self.board.put_fresh(self.rules, seat);
        self.moved(seat, None, Field::Track(field), 0);
        Ok(self.done(MoveKind::LeaveKennel))
    }

    /// RULES §4: forward, backward 4, and landing.
    fn walk(mut self, card: Card, part: Part) -> Result<Outcome, Refusal> {
        let (owner, from, to) = self.piece(part)?;
        self.check_mover(part.from, owner, self.mover())?;
        let ring = self.rules.ring();
        let walker = Walker::new(self.rules, &self.board, owner);
        let forward = steps_forward(self.rules, owner, from, to)
            .filter(|steps| card.forward().contains(steps));
        let wrong_steps = Refusal::WrongSteps {
            card,
            from: PlaceName(part.from),
            to: PlaceName(part.to),
        };
        let (kind, steps, walk) = match (forward, from, to) {
            (Some(steps), ..) => (MoveKind::Advance, steps, walker.towards(from, to, steps)?),
            (None, Field::Track(from), Field::Track(to))
                if card == Card::Four && ring.distance(to, from) == 4 =>
            {
                (MoveKind::Retreat, 4, walker.back_along_ring(from)?)
            }
            // Four steps back reach the seat's own start or begin on it.
            (None, Field::Track(from), Field::Goal(_))
                if card == Card::Four && ring.distance(ring.start(owner), from) <= 4 =>
            {
                (MoveKind::Retreat, 4, walker.back_into_goal(from)?)
            }
            _ => return Err(wrong_steps),
        };
        if walk.to != to {
            return Err(wrong_steps);
        }
        self.check_landing(owner, to)?;
        if let Field::Track(field) = to {
            self.capture(bit(field));
        }
        self.board.relocate(self.rules, owner, from, to);
        self.moved(owner, Some(from), to, steps);
        Ok(self.done(kind))
    }

    /// RULES §6, the swap.
    fn swap(mut self, own: u8, other: u8) -> Result<Outcome, Refusal> {
        let mover = self.mover();
        let owner = self.on_track(own)?;
        let other_owner = self.on_track(other)?;
        self.check_mover(NotedField::Track(own), owner, mover)?;
        if own == other {
            return Err(Refusal::SwapWithItself);
        }
        if other_owner == mover && !self.rules.jack_own_pair {
            return Err(Refusal::SwapOwnPair);
        }
        let protected = self.board.swap_protected(self.rules);
        for (field, seat) in [(own, owner), (other, other_owner)] {
            if protected & bit(field) != 0 {
                let fresh = self.board.fresh(seat);
                return Err(Refusal::SwapProtected { field, seat, fresh });
            }
        }
        self.board
            .swap(self.rules, (owner, own), (other_owner, other));
        let (own, other) = (Field::Track(own), Field::Track(other));
        self.moved(owner, Some(own), other, 0);
        self.moved(other_owner, Some(other), own, 0);
        Ok(self.done(MoveKind::Swap))
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
        if self.board.jack_without_effect(self.rules, mover) {
            return Ok(self.done(MoveKind::NoEffect));
        }
        if self.rules.jack_without_effect_when == JackWithoutEffectWhen::NoSwapPossible {
            return Err(Refusal::NoEffectSwapPossible(mover));
        }
        let others = self.board.occupied() & !self.board.track(mover);
        let field = others.trailing_zeros() as u8;
        let seat = self.on_track(field)?;
        Err(Refusal::NoEffectOthersOnRing { seat, field })
    }

    /// RULES §5: the parts in order, each judged and carried out literally.
    fn seven(mut self, parts: &[Part]) -> Result<Outcome, Refusal> {
        let left = self.seven_parts(parts)?;
        if left > 0 && !seven::lapses(self.rules, &self.board, self.seat) {
            return Err(Refusal::SevenSteps(seven::STEPS - left));
        }
        Ok(self.done(MoveKind::Seven))
    }

    /// Carries out parts of a seven, and returns the number of steps left.
    fn seven_parts(&mut self, parts: &[Part]) -> Result<u8, Refusal> {
        let mut left = seven::STEPS;
        for (index, part) in parts.iter().enumerate() {
            let steps = self.seven_part(*part, left).map_err(|refusal| {
                let (part, refusal) = (index + 1, Box::new(refusal));
                Refusal::InPart { part, refusal }
            })?;
            left -= steps;
        }
        Ok(left)
    }

    /// Carries out one part of a seven with this many steps left, and returns its steps.
    fn seven_part(&mut self, part: Part, left: u8) -> Result<u8, Refusal> {
        let partner = self.seat.partner(self.rules.seats);
        let (owner, from, to) = self
            .piece(part)
            .map_err(|refusal| match (refusal, part.from) {
                (Refusal::NoPiece(place), NotedField::Track(field))
                    if self.captures.iter().any(|capture| capture.from == field) =>
                {
                    Refusal::CapturedBefore(place)
                }
                (refusal, _) => refusal,
            })?;
        match self.rules.seven_partner {
            SevenPartner::WhenHome => self.check_mover(part.from, owner, self.mover())?,
            SevenPartner::Always if owner == partner => {}
            SevenPartner::Always => self.check_mover(part.from, owner, self.seat)?,
        }
        self.check_one_piece(from)?;
        let steps = steps_forward(self.rules, owner, from, to)
            .filter(|steps| (1..=7).contains(steps))
            .ok_or(Refusal::SevenPart {
                from: PlaceName(part.from),
                to: PlaceName(part.to),
            })?;
        if steps > left {
            return Err(Refusal::SevenSteps(seven::STEPS - left + steps));
        }
        let walk = Walker::new(self.rules, &self.board, owner).towards(from, to, steps)?;
        if let Field::Track(field) = to
            && !seven::meets_must_be_free(self.rules, &self.board, to)
        {
            return Err(Refusal::SevenLanding { field });
        }
        self.check_landing(owner, to)?;
        self.capture(walk.stepped);
        self.board.relocate(self.rules, owner, from, to);
        self.moved(owner, Some(from), to, steps);
        Ok(steps)
    }

    /// RULES §11, `seven_rest`: one piece of the partner's takes all steps that a seven has left
    /// when it brings the seat's last piece home.
    fn check_one_piece(&self, from: Field) -> Result<(), Refusal> {
        let Some((first, last)) = self.parts.first().zip(self.parts.last()) else {
            return Ok(());
        };
        let rest_has_begun = first.seat == self.seat && last.seat != self.seat;
        if self.rules.seven_rest == SevenRest::AnyPieces || !rest_has_begun || last.to == from {
            return Ok(());
        }
        let place = NotedField::new(last.to, false);
        Err(Refusal::OnePieceOnly(PlaceName(place)))
    }

    /// RULES §11, `capture_own`.
    fn check_landing(&self, owner: Seat, to: Field) -> Result<(), Refusal> {
        match to {
            Field::Track(field) if !Walker::new(self.rules, &self.board, owner).may_land(to) => {
                Err(Refusal::OwnPiece { field })
            }
            _ => Ok(()),
        }
    }

    /// Refuses a piece that is not the mover's, and names it by where it stands.
    fn check_mover(&self, place: NotedField, owner: Seat, mover: Seat) -> Result<(), Refusal> {
        if owner == mover {
            return Ok(());
        }
        let place = PlaceName(place);
        Err(Refusal::NotThePiece {
            place,
            owner,
            mover,
        })
    }

    /// Records what a piece did.
    fn moved(&mut self, seat: Seat, from: Option<Field>, to: Field, steps: u8) {
        self.parts.push(PlayedPart {
            seat,
            from,
            to,
            steps,
        });
    }

    /// The field of this name, for a piece of this owner.
    fn field_of(&self, owner: Seat, place: NotedField) -> Result<Field, Refusal> {
        let partner = self.seat.partner(self.rules.seats);
        match place {
            NotedField::Track(field) => self.track_field(field).map(Field::Track),
            NotedField::OwnGoal(field) if owner == self.seat => Ok(Field::Goal(field)),
            NotedField::PartnerGoal(field) if owner == partner => Ok(Field::Goal(field)),
            NotedField::OwnGoal(_) | NotedField::PartnerGoal(_) => Err(Refusal::ForeignGoal),
        }
    }

    /// The piece a part names, whose it is, and where the part takes it.
    fn piece(&self, part: Part) -> Result<(Seat, Field, Field), Refusal> {
        let partner = self.seat.partner(self.rules.seats);
        let owner = match part.from {
            NotedField::Track(field) => self.on_track(field)?,
            NotedField::OwnGoal(_) => self.seat,
            NotedField::PartnerGoal(_) => partner,
        };
        let (from, to) = (
            self.field_of(owner, part.from)?,
            self.field_of(owner, part.to)?,
        );
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
            .ok_or(Refusal::NoPiece(PlaceName(NotedField::Track(field))))
    }

    fn capture(&mut self, captured: Fields) {
        add_captures(&mut self.captures, self.rules, &self.board, captured);
        self.board.capture(captured);
    }
}

/// The number of steps forward from one field to another, if they lead there.
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
