//! What HTTP needs besides routes: parts of requests and answers.

pub mod answer;
pub mod content;
pub mod etag;
pub mod idempotency;
mod invalid_shape;
pub mod json;
pub mod middleware;
pub mod network;
pub mod range;
pub mod request;
pub mod secrets;
pub mod static_files;
