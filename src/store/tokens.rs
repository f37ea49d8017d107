//! The hashes of a game's tokens. The tokens themselves are not stored.

use std::fmt;

use dog_rules::BySeat;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Bytes of a hash.
pub(super) const HASH_BYTES: usize = 32;

/// SHA-256 of a token. A token has at least 128 random bits, so neither a salt nor a slow hash is
/// needed. Comparison takes constant time.
#[derive(Clone, Copy, Eq)]
pub struct TokenHash(pub [u8; HASH_BYTES]);

impl TokenHash {
    /// The hash of a token in the form in which a client sends it.
    pub fn of(token: &str) -> TokenHash {
        TokenHash(Sha256::digest(token).into())
    }
}

/// As hex digits.
impl Serialize for TokenHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        serializer.serialize_str(&digits)
    }
}

impl<'de> Deserialize<'de> for TokenHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TokenHash, D::Error> {
        let digits = String::deserialize(deserializer)?;
        let byte = |index: usize| {
            let digits = digits.get(2 * index..2 * index + 2)?;
            u8::from_str_radix(digits, 16).ok()
        };
        let bytes: Option<Vec<u8>> = (0..HASH_BYTES).map(byte).collect();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes
            .filter(|_| digits.len() == 2 * HASH_BYTES)
            .map(TokenHash)
            .ok_or_else(|| de::Error::custom("not the hash of a token"))
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_hides_hashes() {
        assert_eq!(format!("{:?}", TokenHash::of("secret")), "TokenHash(..)");
    }
}
