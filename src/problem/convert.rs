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
        let problem = |code| Problem::new(code, &error);
        let refused = |reason| problem(Code::Forbidden).because(reason);
        match error {
            SeatNotFound => problem(Code::SeatNotFound),
            NoToken | NoBearer => problem(Code::Unauthorized).because(Reason::NoToken),
            UnknownToken => problem(Code::Unauthorized).because(Reason::UnknownToken),
            TokenReplaced => problem(Code::TokenReplaced),
            HostOnly(_) => refused(Reason::HostOnly),
            OperatorOnly(_) => refused(Reason::OperatorOnly),
            MatchRunning => problem(Code::MatchRunning),
            SeatOnly => refused(Reason::SeatOnly),
            NotYourSeat => refused(Reason::AnotherSeat),
            BotPlays(seat) => refused(Reason::BotPlays).seat(seat),
            StandInPlays(seat) => refused(Reason::StandInPlays).seat(seat),
            ReactionsOff => refused(Reason::ReactionsOff),
            SeatJoined(seat) => refused(Reason::SeatJoined).seat(seat),
            InvitationNeeded => problem(Code::InvitationNeeded),
            WrongInvitation => problem(Code::WrongInvitation),
            SeatTaken(seat) => problem(Code::SeatTaken).seat(seat),
            NoOpenSeat => problem(Code::NoOpenSeat),
            GameNotOver => problem(Code::GameNotOver),
            NoRematch => problem(Code::NoRematch),
            SeatIsBot(seat) => problem(Code::NoHuman).seat(seat),
            StaleVersion(version) => {
                let mut problem = problem(Code::StaleVersion);
                problem.details.version = Some(version);
                problem
            }
        }
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
        let text = refusal.to_string();
        let problem = |code| Problem::new(code, &text);
        let turn = |reason, seat| problem(Code::NotYourTurn).because(reason).seat(seat);
        let exchange = |reason| problem(Code::IllegalExchange).because(reason);
        match refusal {
            GameOver => problem(Code::GameOver),
            NotDealt(phase) | ThreeTeams(phase) => problem(Code::WrongPhase).in_phase(phase),
            SeatsOpen => problem(Code::SeatsOpen),
            SeatTaken(seat) => problem(Code::SeatTaken).seat(seat),
            WrongPhase { phase, needed } => {
                let mut problem = problem(Code::WrongPhase).in_phase(phase);
                problem.details.expected = Some(needed);
                problem
            }
            NotYourTurn(seat) => turn(Reason::AnotherSeatMoves, seat),
            NotTheDealer(seat) => turn(Reason::AnotherSeatDeals, seat),
            AlreadyAnswered(seat) => turn(Reason::AlreadyAnswered, seat),
            PairDone(seat) => turn(Reason::ExchangeDone, seat),
            PartnerAsked(seat) => turn(Reason::PartnerAsked, seat),
            PartnerAnswers(seat) => turn(Reason::PartnerAnswers, seat),
            AlreadyAsked(seat) => exchange(Reason::AlreadyAsked).seat(seat),
            ExchangeMandatory => exchange(Reason::ExchangeMandatory),
            NotAsked => exchange(Reason::NotAsked),
            MustOffer => exchange(Reason::MustOffer),
            NoPass => exchange(Reason::NoPass),
            NotInHand(card) => problem(Code::CardNotInHand).card(card),
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
        let mut problem = problem.detail(detail);
        problem.details.character = Some(character);
        problem
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

impl From<SeedError> for Problem {
    fn from(error: SeedError) -> Problem {
        Problem::new(Code::InvalidSeed, error)
    }
}
