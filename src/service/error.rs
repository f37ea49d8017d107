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
    #[error("a bot plays {0} until the host hands it back")]
    BotPlays(Seat),
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
