//! What the store keeps of a game's tokens: hashes, which are of no use to whoever reads them.

use std::fmt;

use dog_rules::{BySeat, seat::MAX_SEATS};
use rusqlite::{
    ToSql,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef},
};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Bytes of a hash.
const SIZE: usize = 32;

/// SHA-256 of a token. A token has 128 random bits or more, so there is nothing to guess and no
/// need for salt or for a slow hash. Comparing takes the same time whatever the hashes are.
#[derive(Clone, Copy, Eq)]
pub struct TokenHash(pub [u8; SIZE]);

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
    pub fn hold(&self, token: &TokenHash) -> bool {
        let seats = self.seats.iter().flatten();
        seats.fold(self.host == *token, |held, seat| held | (seat == token))
    }
}

/// As stored: the host's hash, one bit a seat that has a token, then those seats' hashes.
impl ToSql for Tokens {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let mut blob = Vec::with_capacity(SIZE + 1 + MAX_SEATS * SIZE);
        blob.extend(self.host.0);
        blob.push(0);
        for (number, hash) in self.seats.iter().enumerate() {
            if let Some(TokenHash(bytes)) = hash {
                blob[SIZE] |= 1 << number;
                blob.extend(bytes);
            }
        }
        Ok(blob.into())
    }
}

impl FromSql for Tokens {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Tokens> {
        let blob = value.as_blob()?;
        let invalid = || FromSqlError::InvalidBlobSize {
            expected_size: SIZE + 1,
            blob_size: blob.len(),
        };
        let (host, blob) = blob.split_first_chunk().ok_or_else(invalid)?;
        let (taken, blob) = blob.split_first().ok_or_else(invalid)?;
        let (hashes, []) = blob.as_chunks() else {
            return Err(invalid());
        };
        if usize::from(*taken) >> MAX_SEATS != 0 || taken.count_ones() as usize != hashes.len() {
            return Err(invalid());
        }
        let mut hashes = hashes.iter().copied().map(TokenHash);
        Ok(Tokens {
            host: TokenHash(*host),
            seats: BySeat::from_fn(|number| {
                let taken = taken >> number & 1 != 0;
                taken.then(|| hashes.next()).flatten()
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::types::Value;

    use super::*;

    fn stored(tokens: &Tokens) -> Vec<u8> {
        match tokens.to_sql() {
            Ok(ToSqlOutput::Owned(Value::Blob(blob))) => blob,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tokens_survive_storage() {
        for mask in 0..1 << MAX_SEATS {
            let hash = |number: usize| TokenHash::of(&number.to_string());
            let tokens = Tokens {
                host: TokenHash::of("host"),
                seats: BySeat::from_fn(|number| (mask >> number & 1 != 0).then(|| hash(number))),
            };
            let blob = stored(&tokens);
            let read = Tokens::column_result(ValueRef::Blob(&blob));
            assert_eq!(read.unwrap(), tokens);
            assert!(Tokens::column_result(ValueRef::Blob(&blob[1..])).is_err());
        }
    }

    #[test]
    fn hashes_do_not_show() {
        assert_eq!(format!("{:?}", TokenHash::of("secret")), "TokenHash(..)");
    }
}
