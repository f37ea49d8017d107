//! Why a request is refused, apart from its content.

use dog_rules::Seat;
use thiserror::Error;

use crate::store::{DraftError, LimitReached, StoreError};

/// Why a request is refused, apart from its content.
#[derive(Debug, Error)]
pub enum ServiceError {
    #[error("no game has this id")]
    GameNotFound,
    #[error("the game has no such seat")]
    SeatNotFound,
    #[error("this needs a token of this game")]
    NoToken,
    #[error("send the token as `Authorization: Bearer TOKEN`")]
    NoBearer,
    #[error("the token does not belong to this game")]
    UnknownToken,
    #[error("the token was replaced")]
    TokenReplaced,
    #[error("only the host may {0}")]
    HostOnly(&'static str),
    #[error("only seats may do this; the host has no cards")]
    SeatOnly,
    #[error("only the seat itself and the host may reissue its token")]
    AnotherSeat,
    /// While a bot plays a seat, the holder of its token cannot act.
    #[error("a bot plays {0} until its person is back")]
    BotPlays(Seat),
    /// A person who took over a seat in the middle of a round does not have its hand.
    #[error("a bot plays {0} until the next deal, because this hand was dealt to somebody else")]
    StandInPlays(Seat),
    /// The host has no power over the token and the name of a person who joined.
    #[error("only the person at {0} may do this")]
    SeatJoined(Seat),
    #[error("an invitation is needed to join this game")]
    InvitationNeeded,
    #[error("this is no invitation to this seat, or it is no longer valid")]
    WrongInvitation,
    #[error("{0} is taken")]
    SeatTaken(Seat),
    #[error("no seat is open that this request can take")]
    NoOpenSeat,
    #[error("the game is not over")]
    GameNotOver,
    #[error("nobody has asked for a rematch of this game")]
    NoRematch,
    /// A seat of a bot gets no token, because its holder could see the bot's hand.
    #[error("a bot plays {0}: hand it to a human first")]
    NoHuman(Seat),
    #[error("the game is at version {0}")]
    StaleVersion(u64),
    #[error("the key was used before with another body")]
    IdempotencyKeyReused,
    #[error("the key could be guessed, and with it the tokens")]
    WeakIdempotencyKey,
    /// The game refuses the action, a limit of the game is reached, or the store failed.
    #[error(transparent)]
    Act(#[from] DraftError),
    /// Other writes came first each time.
    #[error("other writes to this game came first too often")]
    Contended,
    /// A bug in this program.
    #[error("{0}")]
    Internal(&'static str),
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> ServiceError {
        ServiceError::Act(error.into())
    }
}

impl From<LimitReached> for ServiceError {
    fn from(error: LimitReached) -> ServiceError {
        ServiceError::Act(error.into())
    }
}

impl From<dog_rules::ActionRefusal> for ServiceError {
    fn from(error: dog_rules::ActionRefusal) -> ServiceError {
        ServiceError::Act(error.into())
    }
}
