//! Retries: a request that is repeated with the same `Idempotency-Key` gets the same response.
//!
//! The response is saved in the same commit as the change. It is saved without tokens: a retry
//! derives them again from the key, which is not stored.

use dog_rules::Seat;
use hmac::{Hmac, KeyInit, Mac};
use rand::{TryRng, rngs::SysRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Caller, ServiceError};
use crate::store::{SavedResponse, Scope};

/// A response as it is saved.
#[derive(Serialize, Deserialize)]
pub enum Response {
    /// Without tokens.
    Plain {
        status: u16,
        etag: Option<String>,
        /// JSON; empty for 204.
        body: String,
    },
    /// To the creation of a game.
    Created {
        id: String,
        seats: u8,
        /// The seats without a token.
        #[serde(default)]
        bots: Vec<Seat>,
        /// The open seats.
        #[serde(default)]
        open: Vec<Seat>,
        /// Whether they are open to those with an invitation.
        #[serde(default)]
        invited: bool,
        salt: [u8; 16],
        etag: String,
        /// The game's view, as JSON.
        game: String,
    },
    /// A seat's fresh token.
    FreshToken {
        seat: Seat,
        version: u64,
        salt: [u8; 16],
        /// Whether the host has made it. Earlier releases did not save that.
        #[serde(default)]
        by_host: bool,
    },
    /// The host's fresh token.
    FreshHostToken { salt: [u8; 16] },
    /// To a seat opened by the host: an action with a new invitation.
    Opened {
        seat: Seat,
        salt: [u8; 16],
        etag: String,
        /// The action, as JSON.
        action: String,
    },
    /// To somebody who took a seat: an action with a token.
    Joined {
        /// The game, if the request did not name it.
        #[serde(default)]
        id: Option<String>,
        seat: Seat,
        salt: [u8; 16],
        etag: String,
        /// The action, as JSON.
        action: String,
    },
    /// A ticket for a stream.
    Ticket { salt: [u8; 16], expires_at: String },
}

impl Response {
    /// Whether it is to the host about the token of a seat.
    pub(super) fn is_for_another(&self) -> bool {
        match self {
            Response::FreshToken { by_host, .. } => *by_host,
            Response::Opened { .. } => true,
            _ => false,
        }
    }
}

/// What identifies a retry of a request.
pub struct Retry {
    key: IdempotencyKey,
    scope: Scope,
    body_hash: [u8; 32],
}

impl Retry {
    /// The scope of a key is the caller's token, the method and the path. A retry has the same body,
    /// byte for byte.
    pub fn new(
        key: IdempotencyKey,
        caller: Caller,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> Retry {
        let caller = caller.token().map_or([0; 32], |hash| hash.0);
        let parts = [
            &caller[..],
            method.as_bytes(),
            path.as_bytes(),
            key.0.as_bytes(),
        ];
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Retry {
            key,
            scope: Scope(hash.finalize().into()),
            body_hash: Sha256::digest(body).into(),
        }
    }

    /// Where the response is saved.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The response in the form in which it is saved.
    pub fn save(&self, response: &Response) -> Result<(Scope, SavedResponse), ServiceError> {
        let saved = SavedResponse {
            body_hash: self.body_hash,
            response: serde_json::to_vec(response)
                .map_err(|_| ServiceError::Internal("cannot write a response to save it"))?,
        };
        Ok((self.scope, saved))
    }

    /// The response that was saved.
    ///
    /// # Errors
    /// `idempotency_key_reused`, if the key came with another body.
    pub fn saved_response(&self, saved: &SavedResponse) -> Result<Response, ServiceError> {
        if saved.body_hash != self.body_hash {
            return Err(ServiceError::IdempotencyKeyReused);
        }
        serde_json::from_slice(&saved.response)
            .map_err(|_| ServiceError::Internal("cannot read a saved response"))
    }
}

/// Derives a request's tokens: from the client's key, so that a retry gets the same ones, or from
/// random bytes if there is no key.
pub struct TokenDeriver {
    key: [u8; 32],
}

impl TokenDeriver {
    /// The deriver for a request. The salt is random and saved with the response.
    ///
    /// # Errors
    /// `weak_idempotency_key`, if the tokens could be guessed from the key.
    pub fn new(retry: Option<&Retry>, salt: &[u8; 16]) -> Result<TokenDeriver, ServiceError> {
        let Some(Retry { key, .. }) = retry else {
            return Ok(TokenDeriver {
                key: random_bytes(),
            });
        };
        if !key.is_strong() {
            return Err(ServiceError::WeakIdempotencyKey);
        }
        let mut mac = hmac(key.0.as_bytes());
        mac.update(b"dog-token-1");
        mac.update(salt);
        let key = mac.finalize().into_bytes().into();
        Ok(TokenDeriver { key })
    }

    /// The token with that name: 256 bits as hex digits.
    fn token(&self, name: &str) -> String {
        let mut mac = hmac(&self.key);
        mac.update(name.as_bytes());
        let bytes = mac.finalize().into_bytes();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// A seat's token.
    pub fn seat(&self, seat: Seat) -> String {
        self.token(&seat.to_string())
    }

    /// The host's token.
    pub fn host(&self) -> String {
        self.token("host")
    }

    /// The invitation to a seat, or to any that is open since the creation: 128 bits as hex digits,
    /// after what it opens.
    pub fn invitation(&self, seat: Option<Seat>) -> String {
        let (name, opens) = match seat {
            Some(seat) => (format!("invitation to {seat}"), seat.number().to_string()),
            None => ("invitation".to_owned(), "any".to_owned()),
        };
        format!("{opens}-{}", &self.token(&name)[..32])
    }

    /// A ticket for a stream.
    pub fn ticket(&self) -> String {
        self.token("ticket")
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

/// The client's key for one write; a retry has the same key.
#[derive(Clone)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// A key of 1 to 255 visible ASCII characters.
    pub fn new(key: &[u8]) -> Option<IdempotencyKey> {
        let visible = key.iter().all(u8::is_ascii_graphic);
        let key = String::from_utf8(key.to_owned()).ok()?;
        ((1..=255).contains(&key.len()) && visible).then_some(IdempotencyKey(key))
    }

    /// Whether the key can carry 128 random bits: it is long enough for the alphabet it uses, and has
    /// enough different characters.
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
