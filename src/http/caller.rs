//! Who calls, and by which key a retry of a write is known.

use std::{
    convert::Infallible,
    future::{Ready, ready},
};

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderMap, HeaderName},
};
use dog_rules::{Seat, Viewer};

use super::{
    problem::{Code, Problem},
    wire::game::Role,
};
use crate::store::{Record, TokenHash, Tokens};

pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Who calls: the hash of the token presented, if one is.
#[derive(Clone, Copy, Debug)]
pub struct Caller(Option<TokenHash>);

impl Caller {
    /// Whoever sends these headers.
    pub fn of(headers: &HeaderMap) -> Caller {
        Caller(headers.get(header::AUTHORIZATION).map(|value| {
            match value.as_bytes().split_at_checked(7) {
                Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"Bearer ") => {
                    TokenHash::of(&String::from_utf8_lossy(token))
                }
                // Another scheme holds no token of ours, and no token has this hash.
                _ => TokenHash([0; 32]),
            }
        }))
    }

    /// What the caller is in this game.
    ///
    /// # Errors
    /// `unauthorized`, if a token was presented that is none of this game's.
    pub fn role(self, record: &Record) -> Result<Role, Problem> {
        let Some(presented) = self.0 else {
            return Ok(Role::Spectator);
        };
        // Every hash is compared, each in constant time, whichever fits.
        let mut role = (record.tokens.host == presented).then_some(Role::Host);
        for seat in record.game.rules().ring().seats() {
            if record.tokens.seats[seat] == Some(presented) {
                role = Some(Role::Seat(seat));
            }
        }
        role.ok_or_else(|| Problem::new(Code::Unauthorized, "the token is none of this game's"))
    }

    /// The hash of the token presented, if one is.
    pub fn token(self) -> Option<TokenHash> {
        self.0
    }

    /// Whoever presented the token of that hash.
    pub fn with_token(token: TokenHash) -> Caller {
        Caller(Some(token))
    }

    /// Refuses a caller that is no longer what it was, by these tokens.
    pub fn still(self, role: Role, tokens: &Tokens) -> Result<(), Problem> {
        let token = match role {
            Role::Spectator => return Ok(()),
            Role::Host => Some(tokens.host),
            Role::Seat(seat) => tokens.seats[seat],
        };
        if token == self.0 {
            return Ok(());
        }
        Err(Problem::new(Code::Unauthorized, "the token was replaced"))
    }

    /// What the caller is in this game, for routes that are not for everyone.
    ///
    /// # Errors
    /// `unauthorized`, without a token of this game's.
    pub fn known_role(self, record: &Record) -> Result<Role, Problem> {
        match self.role(record)? {
            Role::Spectator => Err(Problem::new(
                Code::Unauthorized,
                "this needs a token of this game's",
            )),
            role => Ok(role),
        }
    }

    /// The seat that calls, for routes that are for seats only.
    ///
    /// # Errors
    /// `unauthorized` without a token, `forbidden` for the host.
    pub fn seat(self, record: &Record) -> Result<Seat, Problem> {
        match self.known_role(record)?.viewer() {
            Viewer::Seat(seat) => Ok(seat),
            Viewer::Spectator => Err(Problem::new(
                Code::Forbidden,
                "this is for seats, the host has no cards",
            )),
        }
    }
}

impl FromRequest for Caller {
    type Error = Infallible;
    type Future = Ready<Result<Caller, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Caller::of(request.headers())))
    }
}

/// The client's name for one write, by which a retry is known.
#[derive(Clone)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    pub(super) fn of(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Problem> {
        let Some(value) = headers.get(IDEMPOTENCY_KEY) else {
            return Ok(None);
        };
        let visible = |byte: &u8| byte.is_ascii_graphic();
        let key = value.as_bytes();
        if !(1..=255).contains(&key.len()) || !key.iter().all(visible) {
            return Err(Code::InvalidIdempotencyKey.into());
        }
        Ok(Some(IdempotencyKey(
            String::from_utf8_lossy(key).into_owned(),
        )))
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Whether the key can carry 128 random bits: enough digits for the alphabet it is written
    /// in, and not the same few over and over.
    pub fn is_strong(&self) -> bool {
        let digits: Vec<u8> = self.0.bytes().filter(u8::is_ascii_alphanumeric).collect();
        let bits_a_digit = if digits.iter().all(u8::is_ascii_digit) {
            3.32
        } else if digits.iter().all(u8::is_ascii_hexdigit) {
            4.0
        } else {
            5.9
        };
        let mut different = digits.clone();
        different.sort_unstable();
        different.dedup();
        digits.len() as f64 * bits_a_digit >= 128.0 && different.len() >= 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strong_keys_can_carry_128_bits() {
        let strong = |key: &str| IdempotencyKey(key.to_owned()).is_strong();
        assert!(strong("5f2b8c1d9e7a40364bd1c2e8f90a7b53"));
        assert!(strong("5f2b8c1d-9e7a-4036-abd1-c2e8f90a7b53"));
        assert!(strong("Zk3vQ9xT1bN7cR5wY8mLpA"));
        assert!(!strong("order-17"));
        assert!(!strong("5f2b8c1d9e7a40364bd1c2e8f90a7b5"));
        assert!(!strong("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
        assert!(!strong("12345678901234567890123456789012345678"));
        assert!(strong("123456789012345678901234567890123456789"));
    }
}
