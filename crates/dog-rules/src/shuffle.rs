//! Shuffling, so that anyone can recompute it (RULES §8).
//!
//! The exact bytes, version [`VERSION`]:
//!
//! * The seed is 32 bytes; its commitment is SHA-256 of them.
//! * Stream *k* is the ChaCha20 keystream (20 rounds, Bernstein's original layout): the seed is
//!   the key, the 64-bit block counter starts at 0, the 64-bit nonce is *k*, low word first. It is
//!   read as little-endian 32-bit words, one after another.
//! * A draw below *n* takes the next word *x*; if *x* ≥ 2³² − (2³² mod *n*) it is thrown away and
//!   the next one taken; the result is *x* mod *n*.
//! * Shuffle *k* sorts the cards A, 2, … K, joker, then for *i* from the last index down to 1
//!   exchanges card *i* with card *j*, where *j* is a draw below *i* + 1 from stream *k*. Cards
//!   are dealt from index 0.
//! * A random first dealer is one draw below the number of seats from stream 2⁶⁴ − 1.

use std::fmt;

use rand::{Rng, SeedableRng, rngs::ChaCha20Rng};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use thiserror::Error;

use crate::{Card, Cards, Seat};

/// The name of this way to shuffle. A change of any byte would be a new version.
pub const VERSION: &str = "dog-shuffle-1";

/// The stream that a random first dealer is drawn from.
const DEALER_STREAM: u64 = u64::MAX;

/// A game's shuffle seed: a secret until the game is over, so it does not show in debug output.
#[derive(Clone, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// A seed from these bytes, which the caller drew at random or was given.
    pub const fn new(bytes: [u8; 32]) -> Seed {
        Seed(bytes)
    }

    /// The seed written as 64 hex digits.
    ///
    /// # Errors
    /// If the text is anything else.
    pub fn from_hex(text: &str) -> Result<Seed, SeedError> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| SeedError)?;
        Ok(Seed(bytes))
    }

    /// The seed as 64 lower-case hex digits.
    pub fn hex(&self) -> String {
        hex::encode(self.0)
    }

    /// SHA-256 of the seed as 64 lower-case hex digits, published at creation.
    pub fn commitment(&self) -> String {
        hex::encode(Sha256::digest(self.0))
    }

    /// Shuffle number `number` of these cards, the first to be dealt first.
    pub fn shuffle(&self, number: u64, cards: Cards) -> Vec<Card> {
        let mut draws = self.stream(number);
        let mut pile: Vec<Card> = cards.sorted().collect();
        for last in (1..pile.len()).rev() {
            pile.swap(last, draws.below(last as u32 + 1) as usize);
        }
        pile
    }

    /// A random first dealer.
    pub fn first_dealer(&self, seats: u8) -> Seat {
        let number = self.stream(DEALER_STREAM).below(seats.into()) as u8;
        Seat::new(number, seats).expect("a draw below the number of seats")
    }

    fn stream(&self, number: u64) -> DrawStream {
        let mut words = ChaCha20Rng::from_seed(self.0);
        words.set_stream(number);
        DrawStream(words)
    }
}

impl PartialEq for Seed {
    fn eq(&self, other: &Seed) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(secret)")
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.hex())
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Seed, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Seed::from_hex(&text).map_err(de::Error::custom)
    }
}

/// A text that is not a seed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a shuffle seed is 64 hex digits")]
pub struct SeedError;

/// Numbers drawn without bias from one stream.
struct DrawStream(ChaCha20Rng);

impl DrawStream {
    fn below(&mut self, n: u32) -> u32 {
        let rest = (u32::MAX % n + 1) % n; // 2³² mod n
        loop {
            let word = self.0.next_u32();
            if word <= u32::MAX - rest {
                return word % n;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_streams_are_the_published_chacha20() {
        // The first words of the keystream of the all-zero key and nonce: 76 b8 e0 ad a0 f1 3d 90.
        let mut draws = Seed::new([0; 32]).stream(0);
        assert_eq!(draws.0.next_u32(), 0xade0_b876);
        assert_eq!(draws.0.next_u32(), 0x903d_f1a0);
    }

    #[test]
    fn draws_are_below_their_bound_and_reach_all_of_it() {
        let mut draws = Seed::new([1; 32]).stream(3);
        for n in 1..=116 {
            let mut seen = vec![false; n as usize];
            for _ in 0..n * 40 {
                seen[draws.below(n) as usize] = true;
            }
            assert!(seen.into_iter().all(|seen| seen), "below {n}");
        }
    }

    #[test]
    fn seeds_are_hex_and_keep_their_secret() {
        let text = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";
        let seed = Seed::from_hex(text).unwrap();
        assert_eq!(seed.hex(), text.to_lowercase());
        assert_eq!(format!("{seed:?}"), "Seed(secret)");
        for bad in [
            "",
            "00",
            &text[1..],
            &format!("{text}0"),
            &text.replace('f', "g"),
        ] {
            assert_eq!(Seed::from_hex(bad), Err(SeedError), "{bad}");
        }
        assert!(Seed::from_hex(&"é".repeat(32)).is_err());
    }
}
