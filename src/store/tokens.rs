//! The hashes of a game's tokens. The tokens themselves are not stored.

use std::fmt;

use dog_rules::BySeat;
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
    /// The host's.
    pub host: TokenHash,
    /// One per seat; `None` for a bot and for a seat that the game does not have.
    pub seats: BySeat<Option<TokenHash>>,
}

impl Tokens {
    /// Whether this is one of the tokens. All are compared, so that the time does not depend on
    /// which one matches.
    pub fn contains(&self, token: &TokenHash) -> bool {
        let seats = self.seats.iter().flatten();
        seats.fold(self.host == *token, |found, seat| found | (seat == token))
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
