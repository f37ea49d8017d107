//! The hashes of a game's tokens. The tokens themselves are not stored.

use std::fmt;

use dog_rules::{BySeat, seat::MAX_SEATS};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Bytes of a hash.
const HASH_BYTES: usize = 32;

/// In place of the host's hash in a game without a host. No token is known with this hash.
const NO_HOST: [u8; HASH_BYTES] = [0; HASH_BYTES];

/// SHA-256 of a token. A token has at least 128 random bits, so neither a salt nor a slow hash is
/// needed. Comparison takes constant time.
#[derive(Clone, Copy, Eq, Serialize, Deserialize)]
pub struct TokenHash(#[serde(with = "hex")] pub [u8; HASH_BYTES]);

impl TokenHash {
    /// The hash of a token in the form in which a client sends it.
    pub fn new(token: &str) -> TokenHash {
        TokenHash(Sha256::digest(token).into())
    }
}

impl PartialEq for TokenHash {
    fn eq(&self, other: &TokenHash) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(..)")
    }
}

/// The tokens of one game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// The host's; `None` in a game without a host.
    pub host: Option<TokenHash>,
    /// One per seat; `None` for a bot and for a seat that the game does not have.
    pub seats: BySeat<Option<TokenHash>>,
}

impl Tokens {
    /// Whether this is one of the tokens. All are compared, so that the time does not depend on
    /// which one matches.
    pub fn contains(&self, token: &TokenHash) -> bool {
        let seats = self.seats.iter().flatten();
        let is_host = self.host == Some(*token);
        seats.fold(is_host, |found, seat| found | (seat == token))
    }

    /// The stored form: the host's hash or zeros, one byte with a bit for each seat that has a
    /// token, then the hashes of these seats.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HASH_BYTES + 1 + MAX_SEATS * HASH_BYTES);
        bytes.extend(self.host.map_or(NO_HOST, |hash| hash.0));
        bytes.push(0);
        for (number, hash) in self.seats.iter().enumerate() {
            if let Some(TokenHash(hash)) = hash {
                bytes[HASH_BYTES] |= 1 << number;
                bytes.extend(hash);
            }
        }
        bytes
    }

    /// The tokens in this stored form; `None` if it is no such form.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Tokens> {
        let (host, bytes) = bytes.split_first_chunk()?;
        let (taken, bytes) = bytes.split_first()?;
        let (hashes, []) = bytes.as_chunks() else {
            return None;
        };
        if usize::from(*taken) >> MAX_SEATS != 0 || taken.count_ones() as usize != hashes.len() {
            return None;
        }
        let mut hashes = hashes.iter().copied().map(TokenHash);
        Some(Tokens {
            host: (*host != NO_HOST).then_some(TokenHash(*host)),
            seats: BySeat::from_fn(|number| {
                let taken = taken >> number & 1 != 0;
                taken.then(|| hashes.next()).flatten()
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_hides_hashes() {
        assert_eq!(format!("{:?}", TokenHash::new("secret")), "TokenHash(..)");
    }

    #[test]
    fn tokens_survive_storage() {
        let hosts = [Some(TokenHash::new("host")), None];
        for (mask, host) in (0..1 << MAX_SEATS).flat_map(|mask| hosts.map(|host| (mask, host))) {
            let hash = |number: usize| TokenHash::new(&number.to_string());
            let tokens = Tokens {
                host,
                seats: BySeat::from_fn(|number| (mask >> number & 1 != 0).then(|| hash(number))),
            };
            let bytes = tokens.to_bytes();
            assert_eq!(Tokens::from_bytes(&bytes), Some(tokens));
            assert_eq!(Tokens::from_bytes(&bytes[1..]), None);
        }
    }
}
