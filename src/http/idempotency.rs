//! Retries: a request that is repeated with the same `Idempotency-Key` gets the same answer.
//!
//! The answer is saved in the same commit as the change.

use dog_store::{SavedResponse, Scope};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use crate::{
    access::Caller,
    problem::{Code, Problem},
};

/// What identifies a retry of a request.
pub struct Retry {
    pub key: IdempotencyKey,
    /// Where the answer is saved.
    pub scope: Scope,
    body_hash: [u8; 32],
}

impl Retry {
    /// A key counts within the caller's token, the method and the path. The body of a retry has the
    /// same SHA-256: it is the same, byte for byte.
    pub fn new(
        key: IdempotencyKey,
        caller: Caller,
        method: &str,
        path: &str,
        body_hash: [u8; 32],
    ) -> Retry {
        let caller = caller.token().map_or([0; 32], |hash| hash.0);
        let parts = [
            &caller[..],
            method.as_bytes(),
            path.as_bytes(),
            key.as_bytes(),
        ];
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Retry {
            key,
            scope: Scope(hash.finalize().into()),
            body_hash,
        }
    }

    /// The answer in the form in which it is saved.
    ///
    /// # Errors
    /// Never in practice: answers can be serialized.
    pub fn save(&self, answer: &impl Serialize) -> Result<(Scope, SavedResponse), Problem> {
        let saved = SavedResponse {
            body_hash: self.body_hash,
            response: serde_json::to_vec(answer).map_err(Problem::internal)?,
        };
        Ok((self.scope, saved))
    }

    /// The answer that was saved.
    ///
    /// # Errors
    /// `idempotency_key_reused`, if the key came with another body.
    pub fn saved_answer<T: DeserializeOwned>(&self, saved: &SavedResponse) -> Result<T, Problem> {
        if saved.body_hash != self.body_hash {
            return Err(Code::IdempotencyKeyReused.into());
        }
        serde_json::from_slice(&saved.response).map_err(Problem::internal)
    }
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

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Whether the key can carry 128 random bits: it is long enough for the alphabet it uses, and
    /// has enough different characters.
    pub fn is_strong(&self) -> bool {
        let digits: Vec<u8> = self.0.bytes().filter(u8::is_ascii_alphanumeric).collect();
        let bits_per_digit = if digits.iter().all(u8::is_ascii_digit) {
            3.32
        } else if digits.iter().all(u8::is_ascii_hexdigit) {
            4.0
        } else {
            5.9
        };
        let mut different = digits.clone();
        different.sort_unstable();
        different.dedup();
        digits.len() as f64 * bits_per_digit >= 128.0 && different.len() >= 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_strong(key: &str) -> bool {
        IdempotencyKey(key.to_owned()).is_strong()
    }

    #[test]
    fn strong_keys_can_carry_128_bits() {
        assert!(is_strong("5f2b8c1d9e7a40364bd1c2e8f90a7b53"));
        assert!(is_strong("5f2b8c1d-9e7a-4036-abd1-c2e8f90a7b53"));
        assert!(is_strong("Zk3vQ9xT1bN7cR5wY8mLpA"));
        assert!(!is_strong("order-17"));
        assert!(!is_strong("5f2b8c1d9e7a40364bd1c2e8f90a7b5"));
        assert!(!is_strong(
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        ));
        assert!(!is_strong("12345678901234567890123456789012345678"));
        assert!(is_strong("123456789012345678901234567890123456789"));
    }
}
