//! Reviews of finished games: which are asked for, who works on them, and what was found so far.

use std::io::Read;

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use jiff::SignedDuration;

use crate::{GameId, StoreError};

/// How long a worker has a review for itself after it began or saved it.
pub const REVIEW_CLAIM: SignedDuration = SignedDuration::from_secs(30);

/// The largest size of what a review has found, in bytes; that of a long game has 100 kB.
const MAX_CONTENT: u64 = 4 << 20;

/// How many reviews may be asked for and not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewLimits {
    pub total: u32,
    /// By one address.
    pub per_creator: u32,
}

/// The answer to a request for a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewRequest {
    Added,
    /// There is one already, done or not.
    Exists,
    /// This address has asked for as many as it may.
    CreatorLimit,
    /// The queue is full.
    QueueFull,
    /// There is no such game, or it is not over.
    NoFinishedGame,
}

/// How far a review is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewStatus {
    /// No process works on it.
    Waiting,
    Running,
    Done,
}

impl ReviewStatus {
    /// The name in a row, which is also that in the API.
    pub const fn name(self) -> &'static str {
        match self {
            ReviewStatus::Waiting => "waiting",
            ReviewStatus::Running => "running",
            ReviewStatus::Done => "done",
        }
    }

    /// The status in a row whose worker has it for itself or not.
    pub(super) fn from_row(name: &str, is_claimed: bool) -> ReviewStatus {
        match name {
            "done" => ReviewStatus::Done,
            "running" if is_claimed => ReviewStatus::Running,
            _ => ReviewStatus::Waiting,
        }
    }

    /// How much longer a worker that saves this has the review for itself.
    pub(super) const fn claim(self) -> SignedDuration {
        match self {
            ReviewStatus::Running => REVIEW_CLAIM,
            ReviewStatus::Waiting | ReviewStatus::Done => SignedDuration::ZERO,
        }
    }
}

/// A review, as far as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReview {
    pub status: ReviewStatus,
    pub(super) packed: Vec<u8>,
}

impl StoredReview {
    /// What was found so far; empty at first. The store does not read it. It may be megabytes long.
    ///
    /// # Errors
    /// The row is damaged.
    pub fn content(&self) -> Result<String, StoreError> {
        unpack(&self.packed)
    }
}

/// A review that this process works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedReview {
    pub game: GameId,
    /// What was found so far.
    pub content: String,
    /// The number of the claim, by chance.
    pub(super) claim: i64,
}

/// The content as it is stored.
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

/// The content of a row.
///
/// # Errors
/// The row is damaged.
pub(super) fn unpack(packed: &[u8]) -> Result<String, StoreError> {
    let mut content = String::new();
    let mut decoder = DeflateDecoder::new(packed).take(MAX_CONTENT);
    match decoder.read_to_string(&mut content) {
        Ok(_) => Ok(content),
        Err(error) => Err(StoreError::Damaged(format!(
            "a review cannot be unpacked: {error}"
        ))),
    }
}
