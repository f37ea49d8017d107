//! Who created a game: a keyed hash, with which requests about the games of one address can be
//! counted together without keeping the address.

use std::fmt;

use rusqlite::{
    Connection, ToSql,
    types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef},
};
use sha2::{Digest, Sha256};

use super::StoreError;

/// Bytes of a hash, and of the key.
const SIZE: usize = 16;

/// A keyed hash of the address that created or imported a game. It is kept until the game is over
/// and its log is packed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Creator(pub [u8; SIZE]);

impl fmt::Debug for Creator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Creator(..)")
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

/// What the hashes of one database are made with, so that those of two cannot be compared.
pub(super) struct CreatorKey([u8; SIZE]);

impl CreatorKey {
    /// The key of a database.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(connection: &Connection) -> Result<CreatorKey, StoreError> {
        let sql = "SELECT key FROM creator_key";
        Ok(connection.query_row(sql, [], |row| row.get(0).map(CreatorKey))?)
    }

    /// The hash of an address.
    pub fn hash(&self, address: &[u8]) -> Creator {
        let hash: [u8; 32] = Sha256::new()
            .chain_update(self.0)
            .chain_update(address)
            .finalize()
            .into();
        Creator(std::array::from_fn(|place| hash[place]))
    }
}

impl fmt::Debug for CreatorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CreatorKey(..)")
    }
}
