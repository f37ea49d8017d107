//! Ids of games, and the keyed hash that stands for a creator's address. With the hash the server
//! can count the games of an address without storing the address.

use std::{fmt, str::FromStr};

use rand::{TryRng, rngs::SysRng};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// Crockford's base 32: no `i`, `l`, `o` or `u`, and sorted as the values are.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Digits in an id: 26 × 5 = 130 bits, so the first digit is at most 7.
const ID_LENGTH: usize = 26;

/// A game's id: 128 random bits, written as 26 lower-case digits of Crockford's base 32.
///
/// Each id has exactly one spelling; capitals and look-alike letters are rejected.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameId(u128);

impl GameId {
    /// A random id from the operating system's random number generator.
    ///
    /// # Panics
    /// If the random number generator fails.
    pub fn random() -> GameId {
        let mut bytes = [0; 16];
        SysRng
            .try_fill_bytes(&mut bytes)
            .expect("the operating system provides random bytes");
        GameId(u128::from_le_bytes(bytes))
    }

    /// The digits, the most significant first.
    fn digits(self) -> [u8; ID_LENGTH] {
        let mut rest = self.0;
        let mut digits = [0; ID_LENGTH];
        for digit in digits.iter_mut().rev() {
            *digit = DIGITS[(rest % 32) as usize];
            rest /= 32;
        }
        digits
    }
}

/// The error for a text that is not a game id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a game id has 26 digits of Crockford's base 32, in lower case")]
pub struct GameIdError;

impl FromStr for GameId {
    type Err = GameIdError;

    fn from_str(text: &str) -> Result<GameId, GameIdError> {
        if text.len() != ID_LENGTH || text.as_bytes()[0] > b'7' {
            return Err(GameIdError);
        }
        let mut value = 0;
        for byte in text.bytes() {
            let digit = DIGITS.iter().position(|&digit| digit == byte);
            value = value << 5 | digit.ok_or(GameIdError)? as u128;
        }
        Ok(GameId(value))
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.digits();
        f.pad(str::from_utf8(&digits).expect("the digits are ASCII"))
    }
}

impl fmt::Debug for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GameId({self})")
    }
}

/// The size of a hash and of the key, in bytes.
const HASH_BYTES: usize = 16;

/// A keyed hash of the address that created or imported a game. It is deleted when the log of the
/// finished game is packed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Creator(pub [u8; HASH_BYTES]);

impl fmt::Debug for Creator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Creator(..)")
    }
}

/// As the operator sees it: 32 hex digits.
impl fmt::Display for Creator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl FromStr for Creator {
    type Err = hex::FromHexError;

    fn from_str(text: &str) -> Result<Creator, hex::FromHexError> {
        let mut hash = [0; HASH_BYTES];
        hex::decode_to_slice(text, &mut hash)?;
        Ok(Creator(hash))
    }
}

impl Creator {
    /// The hash of who asks for a review: half of it is that of the network. Networks that the
    /// first half tells apart are counted apart, too.
    pub fn in_network(self, network: Creator) -> Creator {
        let (mut hash, half) = (network.0, HASH_BYTES / 2);
        hash[half..].copy_from_slice(&self.0[..half]);
        Creator(hash)
    }
}

/// The key of a database's [`Creator`] hashes. Hashes of two databases cannot be compared.
pub(super) struct CreatorKey(pub [u8; HASH_BYTES]);

impl CreatorKey {
    /// The hash of an address.
    pub fn hash(&self, address: &[u8]) -> Creator {
        let hash: [u8; 32] = Sha256::new()
            .chain_update(self.0)
            .chain_update(address)
            .finalize()
            .into();
        Creator(std::array::from_fn(|index| hash[index]))
    }
}

impl fmt::Debug for CreatorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CreatorKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_spelling() {
        for id in [GameId(0), GameId(31), GameId(u128::MAX), GameId::random()] {
            let text = id.to_string();
            assert_eq!(text.len(), ID_LENGTH);
            assert_eq!(text.parse(), Ok(id));
        }
        assert_eq!(GameId(32).to_string(), "00000000000000000000000010");
        assert_eq!(GameId(u128::MAX).to_string(), "7zzzzzzzzzzzzzzzzzzzzzzzzz");
        assert_ne!(GameId::random(), GameId::random());
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in [
            "",
            "0",
            "0000000000000000000000000",
            "000000000000000000000000000",
            "8zzzzzzzzzzzzzzzzzzzzzzzzz",
            "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "0000000000000000000000000o",
            "0000000000000000000000000-",
            " 000000000000000000000000 ",
            "0000000000000000000000000é",
            "é000000000000000000000000",
        ] {
            assert_eq!(text.parse::<GameId>(), Err(GameIdError), "{text:?}");
        }
    }
}
