//! Conversions between values and columns.

use dog_rules::{BySeat, seat::MAX_SEATS};
use rusqlite::{
    ToSql,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef},
};

use crate::store::{Creator, GameId, TokenHash, Tokens, tokens::HASH_BYTES};

/// In place of the host's hash in a game without a host. No token is known with this hash.
const NO_HOST: [u8; HASH_BYTES] = [0; HASH_BYTES];

impl ToSql for GameId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.to_string().into())
    }
}

impl FromSql for GameId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<GameId> {
        value.as_str()?.parse().map_err(FromSqlError::other)
    }
}

impl ToSql for Creator {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for Creator {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Creator> {
        FromSql::column_result(value).map(Creator)
    }
}

/// The stored form: the host's hash or zeros, one byte with a bit for each seat that has a token, then the
/// hashes of these seats.
impl ToSql for Tokens {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let mut blob = Vec::with_capacity(HASH_BYTES + 1 + MAX_SEATS * HASH_BYTES);
        blob.extend(self.host.map_or(NO_HOST, |hash| hash.0));
        blob.push(0);
        for (number, hash) in self.seats.iter().enumerate() {
            if let Some(TokenHash(bytes)) = hash {
                blob[HASH_BYTES] |= 1 << number;
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
            expected_size: HASH_BYTES + 1,
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
        let hosts = [Some(TokenHash::of("host")), None];
        for (mask, host) in (0..1 << MAX_SEATS).flat_map(|mask| hosts.map(|host| (mask, host))) {
            let hash = |number: usize| TokenHash::of(&number.to_string());
            let tokens = Tokens {
                host,
                seats: BySeat::from_fn(|number| (mask >> number & 1 != 0).then(|| hash(number))),
            };
            let blob = stored(&tokens);
            let read = Tokens::column_result(ValueRef::Blob(&blob));
            assert_eq!(read.unwrap(), tokens);
            assert!(Tokens::column_result(ValueRef::Blob(&blob[1..])).is_err());
        }
    }
}
