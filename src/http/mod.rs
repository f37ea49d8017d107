//! What HTTP needs besides routes: parts of requests and answers, and the errors.

pub mod answer;
pub mod content;
pub mod etag;
pub mod idempotency;
mod invalid_shape;
pub mod json;
pub mod middleware;
pub mod negotiation;
pub mod network;
pub mod origin;
pub mod problem;
pub mod range;
pub mod request;
pub mod request_id;
pub mod secrets;
pub mod static_files;
pub mod token;
