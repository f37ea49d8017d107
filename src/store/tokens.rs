//! What the store keeps of a game's tokens: hashes, which are of no use to whoever reads them.

use std::fmt;

use dog_rules::BySeat;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Bytes of a hash.
pub(super) const HASH_BYTES: usize = 32;

/// SHA-256 of a token. A token has 128 random bits or more, so there is nothing to guess and no
/// need for salt or for a slow hash. Comparing takes the same time whatever the hashes are.
#[derive(Clone, Copy, Eq)]
pub struct TokenHash(pub [u8; HASH_BYTES]);

impl TokenHash {
    /// The hash of a token as the client sends it.
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
    /// Each seat's; none where a bot plays or the table has no such seat.
    pub seats: BySeat<Option<TokenHash>>,
}

impl Tokens {
    /// Whether this is one of them. Every one is compared, whichever fits.
    pub fn contains(&self, token: &TokenHash) -> bool {
        let seats = self.seats.iter().flatten();
        seats.fold(self.host == *token, |held, seat| held | (seat == token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_do_not_show() {
        assert_eq!(format!("{:?}", TokenHash::of("secret")), "TokenHash(..)");
    }
}
