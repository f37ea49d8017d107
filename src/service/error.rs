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
    #[error("{0}")]
    Unauthorized(&'static str),
    #[error("{0}")]
    Forbidden(&'static str),
    /// A seat that a bot plays is not its holder's to act for.
    #[error("a bot plays {0} until the host hands it back")]
    BotPlays(Seat),
    /// A seat that a bot plays gets no token: its holder could see a hand that nobody is to see.
    #[error("a bot plays {0}: hand it to a human first")]
    NoHuman(Seat),
    #[error("the game is at version {0}")]
    StaleVersion(u64),
    #[error("the key came before with another body")]
    IdempotencyKeyReused,
    #[error("the key could be guessed, and so could the tokens")]
    WeakIdempotencyKey,
    /// The game refuses the action, takes no more of its kind, or the store failed.
    #[error(transparent)]
    Act(#[from] DraftError),
    /// Others were quicker each time.
    #[error("others change this game all the time")]
    Contended,
    /// A mistake of this program.
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
