//! Which problem each error of the domain is.

use dog_rules::{
    ActionRefusal, BoardError, Card, ParseCardError, Refusal, RulesError, Seat, judge::PlaceName,
    movement::MoveBlocked, notation::NotedField, shuffle::SeedError,
};

use super::{Code, NEXT_CHANGE, Problem, Reason};
use crate::{
    access::AccessError,
    store::{DraftError, LimitReached, StoreError},
};

impl From<Code> for Problem {
    /// A problem with no further details.
    fn from(code: Code) -> Problem {
        Problem::new(code, code.meaning())
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        if matches!(error, StoreError::Quota | StoreError::Full) {
            Problem {
                cause: Some(error.to_string()),
                ..Problem::new(Code::DatabaseFull, error)
            }
        } else if error.is_temporary() {
            Problem {
                cause: Some(error.to_string()),
                ..Problem::new(Code::Unavailable, "the store is unavailable at present")
            }
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
            AnotherSeat => (Code::Forbidden, Some(Reason::AnotherSeat)),
            BotPlays(_) => (Code::Forbidden, Some(Reason::BotPlays)),
            StandInPlays(_) => (Code::Forbidden, Some(Reason::StandInPlays)),
            SeatJoined(_) => (Code::Forbidden, Some(Reason::SeatJoined)),
            InvitationNeeded => (Code::InvitationNeeded, None),
            WrongInvitation => (Code::WrongInvitation, None),
            SeatTaken(_) => (Code::SeatTaken, None),
            NoOpenSeat => (Code::NoOpenSeat, None),
            GameNotOver => (Code::GameNotOver, None),
            NoRematch => (Code::NoRematch, None),
            NoHuman(_) => (Code::NoHuman, None),
            StaleVersion(_) => (Code::StaleVersion, None),
        };
        let mut problem = Problem::new(code, &error);
        match error {
            BotPlays(seat) | StandInPlays(seat) | SeatJoined(seat) | SeatTaken(seat)
            | NoHuman(seat) => problem.details.seat = Some(seat),
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
        let new = |code| Problem::new(code, &refusal);
        let about = |code, reason, seat| {
            Problem::new(code, &refusal)
                .because(reason)
                .about_seat(seat)
        };
        match refusal {
            GameOver => new(Code::GameOver),
            SeatsOpen => new(Code::SeatsOpen),
            SeatTaken(seat) => new(Code::SeatTaken).about_seat(seat),
            WrongPhase { phase, needed } => {
                let mut problem = new(Code::WrongPhase);
                problem.details.phase = Some(phase);
                problem.details.expected = Some(needed);
                problem
            }
            NotYourTurn(seat) => about(Code::NotYourTurn, Reason::AnotherSeatMoves, seat),
            NotTheDealer(seat) => about(Code::NotYourTurn, Reason::AnotherSeatDeals, seat),
            AlreadyAnswered(seat) => about(Code::NotYourTurn, Reason::AlreadyAnswered, seat),
            PairDone(seat) => about(Code::NotYourTurn, Reason::ExchangeDone, seat),
            AlreadyAsked(seat) => about(Code::IllegalExchange, Reason::AlreadyAsked, seat),
            ExchangeMandatory => new(Code::IllegalExchange).because(Reason::ExchangeMandatory),
            NotInHand(card) => new(Code::CardNotInHand).card(card),
            IllegalMove(refusal) => refusal.into(),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        use MoveBlocked::*;
        use Refusal::*;
        let because = |reason| Problem::new(Code::IllegalMove, &refusal).because(reason);
        let track = |field: u8| field.to_string();
        let goal = |field: u8| format!("goal:{field}");
        let place = |PlaceName(place)| match place {
            NotedField::Track(field) => track(field),
            NotedField::OwnGoal(field) | NotedField::PartnerGoal(field) => goal(field),
        };
        match refusal {
            InPart { part, refusal } => {
                let mut problem = Problem::from(*refusal);
                problem.details.part = Some(part);
                problem
            }
            Notation(_) => because(Reason::NotAMove),
            NotInHand(card) => because(Reason::NotInHand).card(card),
            MustPlay => because(Reason::MustBePlayed),
            Obstacle(Block { field, seat, .. }) => because(Reason::Blocked)
                .about_seat(seat)
                .about_place(track(field)),
            Obstacle(GoalOccupied { field }) => {
                because(Reason::GoalOccupied).about_place(goal(field))
            }
            Obstacle(BeyondGoal) => because(Reason::BeyondGoal),
            // No move id asks for this.
            Obstacle(GoalOutOfReach) => because(Reason::WrongSteps),
            Obstacle(FreshOnDoor) => because(Reason::FreshPiece),
            Obstacle(NotOverStart) => because(Reason::NotOverStart),
            Obstacle(NoBackwardEntry) => because(Reason::NoBackwardEntry),
            OffTrack { field, .. } => because(Reason::NoSuchPlace).about_place(track(field)),
            NoPiece(name) => because(Reason::NoSuchPiece).about_place(place(name)),
            CapturedBefore(name) => because(Reason::CapturedBefore).about_place(place(name)),
            NotThePiece {
                place: name, owner, ..
            } => because(Reason::NotThePiece)
                .about_seat(owner)
                .about_place(place(name)),
            KennelEmpty(seat) => because(Reason::KennelEmpty).about_seat(seat),
            ForeignGoal => because(Reason::ForeignGoal),
            LeavesGoal => because(Reason::LeavesGoal),
            WrongSteps { card, from, .. } => because(Reason::WrongSteps)
                .card(card)
                .about_place(place(from)),
            SwapWithItself => because(Reason::SwapWithItself),
            SwapOwnPair => because(Reason::SwapOwnPair),
            SwapProtected { field, seat, .. } => because(Reason::SwapProtected)
                .about_seat(seat)
                .about_place(track(field)),
            NoEffectNotPlayed => because(Reason::NoEffectRefused),
            NobodyOnRing(seat) | NoEffectNobodyOnRing(seat) => {
                because(Reason::NoPieceOnRing).about_seat(seat)
            }
            NoEffectOthersOnRing { seat, field } => because(Reason::OtherPieceOnRing)
                .about_seat(seat)
                .about_place(track(field)),
            SevenPart { from, .. } => because(Reason::PartSteps).about_place(place(from)),
            SevenLanding { field } => because(Reason::LandingOccupied).about_place(track(field)),
            SevenSteps(_) | SevenNotCompleted(_) => because(Reason::TotalSteps),
        }
    }
}

impl From<BoardError> for Problem {
    fn from(error: BoardError) -> Problem {
        use BoardError::*;
        let because = |reason| Problem::new(Code::InvalidBoard, &error).because(reason);
        match error {
            Seats { .. } => because(Reason::WrongSeats),
            Pieces { seat, .. } => because(Reason::WrongPieces).about_seat(seat),
            OffTrack { seat, field, .. } => because(Reason::NoSuchField)
                .about_seat(seat)
                .about_place(field.to_string()),
            OffGoal { seat, field } => because(Reason::NoSuchField)
                .about_seat(seat)
                .about_place(format!("goal:{field}")),
            TwoOnTrack { field } => because(Reason::FieldTwice).about_place(field.to_string()),
            TwoInGoal { seat, field } => because(Reason::FieldTwice)
                .about_seat(seat)
                .about_place(format!("goal:{field}")),
            NothingFresh { seat, start } => because(Reason::NoFreshPiece)
                .about_seat(seat)
                .about_place(start.to_string()),
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
            BackwardNeedsDoorBeforeStart => ("backward_into_goal", Some(&["false"][..])),
        };
        Problem::new(Code::InvalidRules, error)
            .because(Reason::WrongValue)
            .at(format!("/rules/{member}"), allowed)
    }
}

impl Problem {
    fn about_seat(mut self, seat: Seat) -> Problem {
        self.details.seat = Some(seat);
        self
    }

    fn about_place(mut self, place: String) -> Problem {
        self.details.place = Some(place);
        self
    }

    pub fn card(mut self, card: Card) -> Problem {
        self.details.card = Some(card);
        self
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
    ParseCardError => UnknownCard,
}
