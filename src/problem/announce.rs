//! The header fields that announce a rate limit: draft-ietf-httpapi-ratelimit-headers, as of
//! September 2025.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::quota::{RateLimit, whole_seconds};

pub const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
pub const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Announces the limit, if there is one, in the headers of a response that have none yet.
pub fn announce(limit: Option<&RateLimit>, headers: &mut HeaderMap) {
    let Some(limit) = limit.filter(|_| !headers.contains_key(RATE_LIMIT)) else {
        return;
    };
    let (name, quota, remaining) = (limit.name, limit.quota, limit.remaining);
    let unit = limit.unit.map(|unit| format!(";qu=\"{unit}\""));
    let unit = unit.unwrap_or_default();
    let (window, wait) = (whole_seconds(limit.window), whole_seconds(limit.wait));
    let policy = format!("\"{name}\";q={quota}{unit};w={window}");
    let left = format!("\"{name}\";r={remaining};t={wait}");
    for (name, text) in [(RATE_LIMIT_POLICY, policy), (RATE_LIMIT, left)] {
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(name, value);
        }
    }
}
