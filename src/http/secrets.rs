//! The secrets in an answer: tokens, invitations and tickets.
//!
//! They are derived from the client's `Idempotency-Key`, so that a retry gets the same ones
//! although neither they nor the key are stored. A body that is saved has a mark in place of each.

use std::fmt;

use dog_rules::{Seat, seat::MAX_SEATS};
use dog_store::TokenHash;
use hmac::{Hmac, KeyInit, Mac};
use rand::{TryRng, rngs::SysRng};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use sha2::Sha256;

use super::{idempotency::Retry, json::to_json};
use crate::problem::{Code, Problem};

/// How a mark begins in JSON. No text of a client has this character.
const MARK: &str = "\"\\u0000";

/// A secret in the body of an answer, which is written as a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secret {
    /// A seat's token.
    Seat(Seat),
    /// The host's token.
    Host,
    /// The invitation to a seat, or to any that is open since the creation.
    Invitation(Option<Seat>),
    /// A ticket for a stream.
    Ticket,
}

impl Secret {
    /// The secret with this name.
    fn named(name: &str) -> Option<Secret> {
        match name.split_once(' ').unwrap_or((name, "")) {
            ("host", "") => Some(Secret::Host),
            ("ticket", "") => Some(Secret::Ticket),
            ("seat", number) => seat_numbered(number).map(Secret::Seat),
            ("invitation", "any") => Some(Secret::Invitation(None)),
            ("invitation", number) => Some(Secret::Invitation(Some(seat_numbered(number)?))),
            _ => None,
        }
    }
}

fn seat_numbered(number: &str) -> Option<Seat> {
    Seat::new(number.parse().ok()?, MAX_SEATS as u8)
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::Seat(seat) => write!(f, "seat {}", seat.number()),
            Secret::Host => f.write_str("host"),
            Secret::Invitation(Some(seat)) => write!(f, "invitation {}", seat.number()),
            Secret::Invitation(None) => f.write_str("invitation any"),
            Secret::Ticket => f.write_str("ticket"),
        }
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("\0{self}"))
    }
}

/// The entry of a list with this index as JSON, whose marks say whose secrets they are.
///
/// # Errors
/// Never in practice: what the server answers can be serialized.
pub fn in_list(entry: &impl Serialize, index: usize) -> Result<Box<RawValue>, Problem> {
    let json = to_json(entry)?.replace(MARK, &format!("{MARK}{index}/"));
    RawValue::from_string(json).map_err(Problem::internal)
}

/// The JSON with the text of each secret in place of its mark, which may have the index of a game.
pub fn fill(json: &str, text: impl Fn(Option<usize>, Secret) -> String) -> String {
    let mut filled = String::with_capacity(json.len() + 256);
    let mut rest = json;
    while let Some((before, after)) = rest.split_once(MARK) {
        filled += before;
        filled.push('"');
        let (name, after) = after.split_once('"').unwrap_or((after, ""));
        let (index, name) = match name.split_once('/') {
            Some((index, name)) => (index.parse().ok(), name),
            None => (None, name),
        };
        filled += &Secret::named(name).map_or_else(String::new, |secret| text(index, secret));
        filled.push('"');
        rest = after;
    }
    filled + rest
}

/// The secrets of one answer.
pub struct Secrets {
    key: [u8; 32],
    /// Random, and saved with the answer.
    pub salt: [u8; 16],
}

impl Secrets {
    /// Fresh secrets: derived from the client's key, or random without one.
    ///
    /// # Errors
    /// `weak_idempotency_key`, if they could be guessed from the key.
    pub fn new(retry: Option<&Retry>) -> Result<Secrets, Problem> {
        Secrets::with_salt(retry, random_bytes())
    }

    /// The secrets that were derived with this salt.
    ///
    /// # Errors
    /// `weak_idempotency_key`, if they could be guessed from the key.
    pub fn with_salt(retry: Option<&Retry>, salt: [u8; 16]) -> Result<Secrets, Problem> {
        let Some(Retry { key, .. }) = retry else {
            let key = random_bytes();
            return Ok(Secrets { key, salt });
        };
        if !key.is_strong() {
            return Err(Code::WeakIdempotencyKey.into());
        }
        let mut mac = hmac(key.as_bytes());
        mac.update(b"dog-token-1");
        mac.update(&salt);
        let key = mac.finalize().into_bytes().into();
        Ok(Secrets { key, salt })
    }

    /// Those of the game with this index in a list.
    pub fn of_game(&self, index: usize) -> Secrets {
        let mut mac = hmac(&self.key);
        mac.update(format!("game {index}").as_bytes());
        Secrets {
            key: mac.finalize().into_bytes().into(),
            salt: self.salt,
        }
    }

    /// The text of a secret: 256 bits as hex digits; for an invitation what it opens and 128 bits.
    pub fn text(&self, secret: Secret) -> String {
        let mut mac = hmac(&self.key);
        mac.update(secret.to_string().as_bytes());
        let digits = hex::encode(mac.finalize().into_bytes());
        match secret {
            Secret::Invitation(Some(seat)) => format!("{}-{}", seat.number(), &digits[..32]),
            Secret::Invitation(None) => format!("any-{}", &digits[..32]),
            _ => digits,
        }
    }

    /// Its hash, which the store keeps.
    pub fn hash(&self, secret: Secret) -> TokenHash {
        TokenHash::new(&self.text(secret))
    }
}

fn hmac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of every length")
}

/// Random bytes from the operating system.
///
/// # Panics
/// If the operating system has no source of randomness.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SysRng
        .try_fill_bytes(&mut bytes)
        .expect("the operating system has randomness");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mark_is_filled() {
        let seat = Seat::new(2, 4);
        let all = [
            Secret::Seat(seat.unwrap()),
            Secret::Host,
            Secret::Invitation(seat),
            Secret::Invitation(None),
            Secret::Ticket,
        ];
        let json = serde_json::to_string(&(all, "\\u0000 \"Anna\"")).unwrap();
        let filled = fill(&json, |_, secret| format!("<{secret}>"));
        let expected = r#"[["<seat 2>","<host>","<invitation 2>","<invitation any>","<ticket>"],"#;
        assert_eq!(filled, expected.to_owned() + r#""\\u0000 \"Anna\""]"#);
    }

    #[test]
    fn a_retry_gets_the_same_secrets_and_nobody_else() {
        let secrets = [1, 1, 2].map(|salt| Secrets::with_salt(None, [salt; 16]).unwrap());
        // Without a key they are random.
        let [one, two, three] = secrets.map(|secrets| secrets.text(Secret::Host));
        assert!(one != two && two != three && one.len() == 64);
    }
}
