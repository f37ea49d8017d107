//! Reviews of finished games: which ones were asked for, who works on them, and what was found.

use std::io::Read;

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use jiff::SignedDuration;

use crate::{GameId, StoreError};

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

/// The status of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewStatus {
    /// No process works on it.
    Waiting,
    Running,
    Done,
    /// The game or what was found so far is damaged.
    Failed,
    /// The queue was full: it was the last one of the network with the most, and made room.
    Displaced,
}

impl ReviewStatus {
    /// The name in the database and in the API.
    pub const fn name(self) -> &'static str {
        match self {
            ReviewStatus::Waiting => "waiting",
            ReviewStatus::Running => "running",
            ReviewStatus::Done => "done",
            ReviewStatus::Failed => "failed",
            ReviewStatus::Displaced => "displaced",
        }
    }

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
        match name {
            "done" => ReviewStatus::Done,
            "failed" => ReviewStatus::Failed,
            "displaced" => ReviewStatus::Displaced,
            "running" if is_claimed => ReviewStatus::Running,
            _ => ReviewStatus::Waiting,
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
        let mut content = String::new();
        let mut decoder = DeflateDecoder::new(&*self.packed).take(MAX_CONTENT);
        match decoder.read_to_string(&mut content) {
            Ok(_) => Ok(content),
            Err(error) => Err(StoreError::Damaged(format!(
                "a review cannot be unpacked: {error}"
            ))),
        }
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
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    let written = std::io::Write::write_all(&mut encoder, content.as_bytes());
    let packed = written.and_then(|()| encoder.finish());
    packed.map_err(|_| StoreError::Misuse("a review cannot be packed"))
}
