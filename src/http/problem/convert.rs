//! Which problem each error of the domain is.

use std::time::Duration;

use dog_rules::{
    ActionRefusal, BoardError, Refusal, RulesError,
    judge::PlaceName,
    movement::MoveBlocked,
    notation::NotedField,
    options::RulesTextError,
    position::{PositionError, PositionProblem},
    shuffle::SeedError,
};
use dog_store::{DraftError, LimitReached, StoreError};

use super::{
    document::Problem,
    table::{Code, Reason},
};
use crate::access::AccessError;

/// `Retry-After` where more moves are needed first.
const NEXT_CHANGE: Duration = Duration::from_secs(60);

impl From<Code> for Problem {
    /// A problem with no further details.
    fn from(code: Code) -> Problem {
        Problem::new(code, code.meaning())
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        if matches!(error, StoreError::Quota | StoreError::Full) {
            Problem::new(Code::DatabaseFull, &error).caused_by(error)
        } else if error.is_temporary() {
            Problem::new(Code::Unavailable, "the store is unavailable at present").caused_by(error)
        } else {
            Problem::internal(error)
        }
    }
}

impl From<AccessError> for Problem {
    fn from(error: AccessError) -> Problem {
        use AccessError::*;
        let (code, reason) = match &error {
            SeatNotFound => (Code::SeatNotFound, None),
            NoToken | NoBearer => (Code::Unauthorized, Some(Reason::NoToken)),
            UnknownToken => (Code::Unauthorized, Some(Reason::UnknownToken)),
            TokenReplaced => (Code::TokenReplaced, None),
            HostOnly(_) => (Code::Forbidden, Some(Reason::HostOnly)),
            SeatOnly => (Code::Forbidden, Some(Reason::SeatOnly)),
            NotYourSeat => (Code::Forbidden, Some(Reason::AnotherSeat)),
            BotPlays(_) => (Code::Forbidden, Some(Reason::BotPlays)),
            StandInPlays(_) => (Code::Forbidden, Some(Reason::StandInPlays)),
            ReactionsOff => (Code::Forbidden, Some(Reason::ReactionsOff)),
            SeatJoined(_) => (Code::Forbidden, Some(Reason::SeatJoined)),
            InvitationNeeded => (Code::InvitationNeeded, None),
            WrongInvitation => (Code::WrongInvitation, None),
            SeatTaken(_) => (Code::SeatTaken, None),
            NoOpenSeat => (Code::NoOpenSeat, None),
            GameNotOver => (Code::GameNotOver, None),
            NoRematch => (Code::NoRematch, None),
            SeatIsBot(_) => (Code::NoHuman, None),
            StaleVersion(_) => (Code::StaleVersion, None),
        };
        let mut problem = Problem::new(code, &error);
        match error {
            BotPlays(seat) | StandInPlays(seat) | SeatJoined(seat) | SeatTaken(seat)
            | SeatIsBot(seat) => problem.details.seat = Some(seat),
            StaleVersion(version) => problem.details.version = Some(version),
            _ => {}
        }
        problem.details.reason = reason;
        problem
    }
}

impl From<DraftError> for Problem {
    fn from(error: DraftError) -> Problem {
        match error {
            DraftError::Refused(refusal) => refusal.into(),
            DraftError::LimitReached(limit) => limit.into(),
            DraftError::Store(error) => error.into(),
        }
    }
}

impl From<LimitReached> for Problem {
    fn from(limit: LimitReached) -> Problem {
        match limit {
            LimitReached::Play => Problem::new(Code::TooManyVersions, limit),
            LimitReached::Admin | LimitReached::Seat | LimitReached::Table => {
                Problem::new(Code::TooManyChanges, limit).retry_after(NEXT_CHANGE)
            }
        }
    }
}

impl From<ActionRefusal> for Problem {
    fn from(refusal: ActionRefusal) -> Problem {
        use ActionRefusal::*;
        let code = match &refusal {
            GameOver => Code::GameOver,
            SeatsOpen => Code::SeatsOpen,
            SeatTaken(_) => Code::SeatTaken,
            WrongPhase { .. } => Code::WrongPhase,
            NotYourTurn(_) | NotTheDealer(_) | AlreadyAnswered(_) | PairDone(_)
            | PartnerAsked(_) | PartnerAnswers(_) => Code::NotYourTurn,
            AlreadyAsked(_) | ExchangeMandatory | NotAsked | MustOffer | NoPass => {
                Code::IllegalExchange
            }
            NotInHand(_) => Code::CardNotInHand,
            IllegalMove(_) => Code::IllegalMove,
        };
        let mut problem = Problem::new(code, &refusal);
        match refusal {
            GameOver | SeatsOpen => problem,
            SeatTaken(seat) => problem.seat(seat),
            WrongPhase { phase, needed } => {
                problem.details.phase = Some(phase);
                problem.details.expected = Some(needed);
                problem
            }
            NotYourTurn(seat) => problem.because(Reason::AnotherSeatMoves).seat(seat),
            NotTheDealer(seat) => problem.because(Reason::AnotherSeatDeals).seat(seat),
            AlreadyAnswered(seat) => problem.because(Reason::AlreadyAnswered).seat(seat),
            PairDone(seat) => problem.because(Reason::ExchangeDone).seat(seat),
            AlreadyAsked(seat) => problem.because(Reason::AlreadyAsked).seat(seat),
            PartnerAsked(seat) => problem.because(Reason::PartnerAsked).seat(seat),
            PartnerAnswers(seat) => problem.because(Reason::PartnerAnswers).seat(seat),
            ExchangeMandatory => problem.because(Reason::ExchangeMandatory),
            NotAsked => problem.because(Reason::NotAsked),
            MustOffer => problem.because(Reason::MustOffer),
            NoPass => problem.because(Reason::NoPass),
            NotInHand(card) => problem.card(card),
            IllegalMove(refusal) => refusal.into(),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        use MoveBlocked::*;
        use Refusal::*;
        let problem = Problem::new(Code::IllegalMove, &refusal);
        match refusal {
            InPart { part, refusal } => {
                let mut problem = Problem::from(*refusal);
                problem.details.part = Some(part);
                problem
            }
            Notation(_) => problem.because(Reason::NotAMove),
            NotInHand(card) => problem.because(Reason::NotInHand).card(card),
            MustPlay => problem.because(Reason::MustBePlayed),
            Obstacle(Block { field, seat, .. }) => problem.about(Reason::Blocked, seat, field),
            Obstacle(GoalOccupied { field }) => {
                problem.because(Reason::GoalOccupied).place(goal(field))
            }
            Obstacle(BeyondGoal) => problem.because(Reason::BeyondGoal),
            // No move id asks for this.
            Obstacle(GoalOutOfReach) => problem.because(Reason::WrongSteps),
            Obstacle(FreshOnDoor) => problem.because(Reason::FreshPiece),
            Obstacle(NotOverStart) => problem.because(Reason::NotOverStart),
            Obstacle(NoBackwardEntry) => problem.because(Reason::NoBackwardEntry),
            OffTrack { field, .. } => problem.because(Reason::NoSuchPlace).place(field),
            NoPiece(name) => problem.because(Reason::NoSuchPiece).place(key(name)),
            CapturedBefore(name) => problem.because(Reason::CapturedBefore).place(key(name)),
            NotThePiece {
                place: name, owner, ..
            } => problem.about(Reason::NotThePiece, owner, key(name)),
            KennelEmpty(seat) => problem.because(Reason::KennelEmpty).seat(seat),
            ForeignGoal => problem.because(Reason::ForeignGoal),
            LeavesGoal => problem.because(Reason::LeavesGoal),
            WrongSteps { card, from, .. } => problem
                .because(Reason::WrongSteps)
                .card(card)
                .place(key(from)),
            SwapWithItself => problem.because(Reason::SwapWithItself),
            SwapOwnPair => problem.because(Reason::SwapOwnPair),
            SwapProtected { field, seat, .. } => problem.about(Reason::SwapProtected, seat, field),
            NoEffectNotPlayed => problem.because(Reason::NoEffectRefused),
            NobodyOnRing(seat) | NoEffectNobodyOnRing(seat) => {
                problem.because(Reason::NoPieceOnRing).seat(seat)
            }
            NoEffectSwapPossible(seat) => problem.because(Reason::SwapPossible).seat(seat),
            NoEffectOthersOnRing { seat, field } => {
                problem.about(Reason::OtherPieceOnRing, seat, field)
            }
            SevenPart { from, .. } => problem.because(Reason::PartSteps).place(key(from)),
            OwnPiece { field } => problem.because(Reason::OwnPiece).place(field),
            OnePieceOnly(name) => problem.because(Reason::OnePieceOnly).place(key(name)),
            SevenLanding { field } => problem.because(Reason::LandingOccupied).place(field),
            SevenSteps(_) | SevenNotCompleted(_) => problem.because(Reason::TotalSteps),
        }
    }
}

/// A goal field, as in the parts of a move.
fn goal(field: u8) -> String {
    format!("goal:{field}")
}

/// A place that a move id names, as in the parts of a move.
fn key(PlaceName(place): PlaceName) -> String {
    match place {
        NotedField::Track(field) => field.to_string(),
        NotedField::OwnGoal(field) | NotedField::PartnerGoal(field) => goal(field),
    }
}

impl From<BoardError> for Problem {
    fn from(error: BoardError) -> Problem {
        use BoardError::*;
        let problem = Problem::new(Code::InvalidBoard, &error);
        match error {
            Seats { .. } => problem.because(Reason::WrongSeats),
            Pieces { seat, .. } => problem.because(Reason::WrongPieces).seat(seat),
            OffTrack { seat, field, .. } => problem.about(Reason::NoSuchField, seat, field),
            OffGoal { seat, field } => problem.about(Reason::NoSuchField, seat, goal(field)),
            TwoOnTrack { field } => problem.because(Reason::FieldTwice).place(field),
            TwoInGoal { seat, field } => problem.about(Reason::FieldTwice, seat, goal(field)),
            NothingFresh { seat, start } => problem.about(Reason::NoFreshPiece, seat, start),
        }
    }
}

impl From<PositionError> for Problem {
    fn from(error: PositionError) -> Problem {
        let PositionError { character, problem } = error;
        let detail = format!("position, character {character}: {problem}");
        let problem = match problem {
            PositionProblem::Board(error) => error.into(),
            PositionProblem::Fresh { seat, start, .. } => {
                Problem::from(Code::InvalidBoard).about(Reason::NoFreshPiece, seat, start)
            }
            PositionProblem::Place(_) | PositionProblem::Missing => {
                Problem::from(Code::InvalidBoard).because(Reason::NotAPlace)
            }
        };
        problem.detail(detail).on_character(character)
    }
}

impl From<RulesTextError> for Problem {
    fn from(error: RulesTextError) -> Problem {
        match error {
            RulesTextError::Rules(error) => error.into(),
            error => Problem::new(Code::InvalidRules, format!("/rules: {error}"))
                .because(Reason::WrongValue)
                .at("/rules".to_owned(), None),
        }
    }
}

impl From<RulesError> for Problem {
    fn from(error: RulesError) -> Problem {
        use RulesError::*;
        let (member, allowed) = match error {
            Seats(_) => ("seats", Some(&["4", "6"][..])),
            FieldsPerSeat(_) => ("fields_per_seat", Some(&["15", "16"][..])),
            Jokers(_) => ("jokers", None),
            DealSizesLength("first") | DealSizeZero("first") => ("deal_sizes/first", None),
            DealSizesLength(_) | DealSizeZero(_) => ("deal_sizes/then", None),
            DealTooLarge { .. } => ("deal_sizes", None),
            OnePieceNeedsWhenHome => ("seven_rest", Some(&["any_pieces"][..])),
        };
        Problem::new(Code::InvalidRules, error)
            .because(Reason::WrongValue)
            .at(format!("/rules/{member}"), allowed)
    }
}

/// Errors that always have the same code.
macro_rules! always {
    ($($error:ty => $code:ident),+ $(,)?) => {
        $(impl From<$error> for Problem {
            fn from(error: $error) -> Problem {
                Problem::new(Code::$code, error)
            }
        })+
    };
}

always! {
    SeedError => InvalidSeed,
}
