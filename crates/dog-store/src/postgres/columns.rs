//! Conversions between values and columns.

use jiff::SignedDuration;
use tokio_postgres::Row;

use crate::{Creator, GameId, StoreError, Tokens};

/// The row of a statement that always has one.
pub(super) fn one(rows: Vec<Row>) -> Result<Row, StoreError> {
    let first = rows.into_iter().next();
    first.ok_or(StoreError::Misuse("a statement returned no row"))
}

pub(super) fn game_id(row: &Row, column: usize) -> Result<GameId, StoreError> {
    parse_id(row.try_get(column)?)
}

pub(super) fn parse_id(text: &str) -> Result<GameId, StoreError> {
    text.parse()
        .map_err(|_| StoreError::Damaged("a game has an invalid id".into()))
}

pub(super) fn tokens(row: &Row, column: usize) -> Result<Tokens, StoreError> {
    let tokens = Tokens::from_bytes(row.try_get(column)?);
    tokens.ok_or_else(|| StoreError::Damaged("a game has invalid tokens".into()))
}

pub(super) fn creator(row: &Row, column: usize) -> Result<Option<Creator>, StoreError> {
    let bytes: Option<&[u8]> = row.try_get(column)?;
    let array = bytes.map(|bytes| bytes.try_into().map(Creator)).transpose();
    array.map_err(|_| StoreError::Damaged("a game has an invalid creator".into()))
}

/// A column of exactly `LENGTH` bytes.
pub(super) fn bytes<const LENGTH: usize>(
    row: &Row,
    column: usize,
) -> Result<[u8; LENGTH], StoreError> {
    let bytes: &[u8] = row.try_get(column)?;
    let array = bytes.try_into();
    array.map_err(|_| StoreError::Damaged("a hash has the wrong length".into()))
}

pub(super) fn small(column: i64) -> Result<u32, StoreError> {
    u32::try_from(column).map_err(|_| StoreError::Damaged("a number is out of range".into()))
}

/// A duration as a parameter.
pub(super) fn micros(duration: SignedDuration) -> i64 {
    duration.as_micros() as i64
}
