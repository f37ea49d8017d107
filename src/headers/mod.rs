//! Headers of requests that are read in several places.

pub mod negotiation;
pub mod origin;
pub mod token;

use actix_web::http::header::HeaderName;

pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
