//! The headers that have a token: `Authorization`, and `Dog-Token` for clients behind a login that
//! needs `Authorization` for itself.

use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use dog_store::TokenHash;

use crate::access::{Caller, NO_BEARER};

pub const DOG_KEY: HeaderName = HeaderName::from_static("dog-key");
pub const DOG_TOKEN: HeaderName = HeaderName::from_static("dog-token");

/// The headers that may have a token. A request has each of them once at most.
pub const TOKEN_HEADERS: [HeaderName; 2] = [DOG_TOKEN, header::AUTHORIZATION];

/// The schemes of logins in front of the server.
const LOGIN_SCHEMES: [&str; 3] = ["Basic", "Negotiate", "Digest"];

/// The caller with these headers. `Dog-Token` goes first; an empty one says that there is no token.
pub fn caller(headers: &HeaderMap) -> Caller {
    Caller::new(match headers.get(DOG_TOKEN) {
        Some(token) => (!token.is_empty()).then(|| hash(token.as_bytes())),
        None => headers.get(header::AUTHORIZATION).and_then(authorized),
    })
}

/// The token in `Authorization`, unless that is for a login.
fn authorized(value: &HeaderValue) -> Option<TokenHash> {
    let mut parts = value.as_bytes().splitn(2, |&byte| byte == b' ');
    let scheme = parts.next().unwrap_or_default();
    let is = |name: &str| scheme.eq_ignore_ascii_case(name.as_bytes());
    match parts.next() {
        _ if LOGIN_SCHEMES.into_iter().any(is) => None,
        Some(token) if is("Bearer") => Some(hash(token)),
        _ => Some(NO_BEARER),
    }
}

fn hash(token: &[u8]) -> TokenHash {
    TokenHash::new(&String::from_utf8_lossy(token))
}

/// Hides the tokens from every log: a sensitive value is not printed.
pub fn hide_tokens(headers: &mut HeaderMap) {
    for name in TOKEN_HEADERS.iter().chain([&DOG_KEY]) {
        if let Some(value) = headers.get_mut(name) {
            value.set_sensitive(true);
        }
    }
}

/// Names `Dog-Token` in the `Vary` of an answer that depends on a token. If one `was_sent`, every
/// answer names it, by which a client knows that the server has read it.
pub fn vary_by_token(was_sent: bool, headers: &mut HeaderMap) {
    let mut vary = headers.get_all(header::VARY);
    let depends = |value: &HeaderValue| value.to_str().is_ok_and(|v| v.contains("Authorization"));
    if was_sent || vary.any(depends) {
        headers.append(header::VARY, HeaderValue::from_static("Dog-Token"));
    }
}
