//! Reviews of finished games: which ones were asked for, who works on them, and what was found.

use std::io::{self, Write};

use jiff::SignedDuration;
use serde::Serialize;

use crate::{
    GameId, StoreError,
    deflate::{deflate, inflate},
};

/// How long a worker has a review to itself after it has claimed or saved it.
pub const REVIEW_CLAIM: SignedDuration = SignedDuration::from_secs(30);

/// The largest size of what a review has found, in bytes. A long game takes 100 kB.
const MAX_CONTENT: u64 = 4 << 20;

/// The condition of an open review, in SQL. The index has its first half. The first 8 bytes of
/// `creator` are the network's.
pub(super) const OPEN: &str = "status <> 'done' AND status IN ('waiting', 'running')";

/// How many reviews may be open, that is waiting or running, at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewLimits {
    pub total: u32,
    /// Of those that one address has asked for.
    pub per_creator: u32,
    /// Of those that the addresses of one network have asked for.
    pub per_network: u32,
}

/// The answer to a request for a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewRequest {
    Added,
    /// There is one already that waits or runs.
    Exists,
    /// This address or its network has asked for as many as it may.
    CreatorLimit,
    /// The queue is full, and this address has one in it.
    QueueFull,
    /// There is no such game, or it is not over.
    NoFinishedGame,
}

dog_rules::named! {
    /// The status of a review, by its name in the database and in the API.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum ReviewStatus {
        /// No process works on it.
        Waiting = "waiting",
        Running = "running",
        Done = "done",
        /// The game or what was found so far is damaged.
        Failed = "failed",
        /// The queue was full: it was the last one of the network with the most, and made room.
        Displaced = "displaced",
    }
}

impl ReviewStatus {
    /// Whether it has failed, and may be asked for again.
    pub const fn has_failed(self) -> bool {
        matches!(self, ReviewStatus::Failed | ReviewStatus::Displaced)
    }

    /// Whether it is done or has failed.
    pub const fn has_ended(self) -> bool {
        self.has_failed() || matches!(self, ReviewStatus::Done)
    }

    /// The status by the name in the database. A running review that is no longer claimed waits.
    pub(super) fn from_row(name: &str, is_claimed: bool) -> ReviewStatus {
        let status = ReviewStatus::by_name(name).unwrap_or(ReviewStatus::Waiting);
        match status {
            ReviewStatus::Running if !is_claimed => ReviewStatus::Waiting,
            status => status,
        }
    }

    /// How long a worker that saves this status still has the review to itself.
    pub(super) const fn claim(self) -> SignedDuration {
        match self {
            ReviewStatus::Running => REVIEW_CLAIM,
            _ => SignedDuration::ZERO,
        }
    }
}

/// A review, done or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReview {
    pub status: ReviewStatus,
    pub(super) packed: Vec<u8>,
}

impl StoredReview {
    /// What was found so far; empty at first. The store does not interpret it. It may be megabytes
    /// long.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn content(&self) -> Result<String, StoreError> {
        let damaged =
            |error: io::Error| StoreError::Damaged(format!("a review cannot be unpacked: {error}"));
        let content = inflate(&self.packed, MAX_CONTENT).map_err(damaged)?;
        String::from_utf8(content).map_err(|error| damaged(io::Error::other(error)))
    }
}

/// A review that this process works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedReview {
    pub game: GameId,
    /// A random number that identifies the claim.
    pub(super) claim: i64,
}

/// The content in its stored form.
///
/// # Errors
/// It is too large.
pub(super) fn pack(content: &str) -> Result<Vec<u8>, StoreError> {
    if content.len() as u64 > MAX_CONTENT {
        return Err(StoreError::Misuse("a review is too large"));
    }
    deflate(|packer| packer.write_all(content.as_bytes()))
        .map_err(|_| StoreError::Misuse("a review cannot be packed"))
}
