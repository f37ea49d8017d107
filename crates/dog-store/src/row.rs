//! Rows of either database, and the values in them.

use std::fmt;

use jiff::Timestamp;

use super::{
    error::StoreError,
    id::{Creator, GameId},
    tokens::Tokens,
};

/// What is in a column, unless it is NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Int,
    /// An integer in SQLite.
    Bool,
    Text,
    Bytes,
}

/// A value of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell<'a> {
    Null,
    Int(i64),
    Bool(bool),
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// Without the value, which may be secret.
impl fmt::Debug for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").finish_non_exhaustive()
    }
}

/// A row of either database.
#[derive(Clone, Copy)]
pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl<'r> Row<'r> {
    /// The value of a column.
    ///
    /// # Errors
    /// It is not of this kind.
    pub fn cell(self, column: usize, kind: ColumnKind) -> Result<Cell<'r>, StoreError> {
        use rusqlite::types::ValueRef::{Blob, Integer, Null, Text};
        let row = match self {
            Row::Sqlite(row) => {
                let cell = match (row.get_ref(column)?, kind) {
                    (Null, _) => Some(Cell::Null),
                    (Integer(value), ColumnKind::Int) => Some(Cell::Int(value)),
                    (Integer(value @ (0 | 1)), ColumnKind::Bool) => Some(Cell::Bool(value == 1)),
                    (Text(text), ColumnKind::Text) => str::from_utf8(text).ok().map(Cell::Text),
                    (Blob(bytes), ColumnKind::Bytes) => Some(Cell::Bytes(bytes)),
                    _ => None,
                };
                let wrong = "a value is not of the kind of its column";
                return cell.ok_or_else(|| StoreError::Damaged(wrong.into()));
            }
            Row::Postgres(row) => row,
        };
        let cell = match kind {
            ColumnKind::Int => row.try_get::<_, Option<_>>(column)?.map(Cell::Int),
            ColumnKind::Bool => row.try_get::<_, Option<_>>(column)?.map(Cell::Bool),
            ColumnKind::Text => row.try_get::<_, Option<_>>(column)?.map(Cell::Text),
            ColumnKind::Bytes => row.try_get::<_, Option<_>>(column)?.map(Cell::Bytes),
        };
        Ok(cell.unwrap_or(Cell::Null))
    }

    /// The value of a column.
    ///
    /// # Errors
    /// It is not of this type.
    pub fn get<T: FromCell<'r>>(self, column: usize) -> Result<T, StoreError> {
        let value = T::from_cell(self.cell(column, T::KIND)?);
        value.ok_or_else(|| StoreError::Damaged(format!("a row has {}", T::INVALID)))
    }

    /// The text in a column, if it is not NULL, without a check of its encoding.
    ///
    /// # Errors
    /// It is no text.
    pub fn text(self, column: usize) -> Result<Option<&'r [u8]>, StoreError> {
        let text = match self {
            Row::Sqlite(row) => row.get_ref(column)?.as_bytes_or_null(),
            Row::Postgres(row) => {
                return Ok(row.try_get::<_, Option<&str>>(column)?.map(str::as_bytes));
            }
        };
        Ok(text.map_err(rusqlite::Error::from)?)
    }
}

/// A type of values that are read from rows.
pub(crate) trait FromCell<'r>: Sized {
    const KIND: ColumnKind;
    /// What is said of a row with another value.
    const INVALID: &'static str;

    fn from_cell(cell: Cell<'r>) -> Option<Self>;
}

impl<'r, T: FromCell<'r>> FromCell<'r> for Option<T> {
    const KIND: ColumnKind = T::KIND;
    const INVALID: &'static str = T::INVALID;

    fn from_cell(cell: Cell<'r>) -> Option<Option<T>> {
        match cell {
            Cell::Null => Some(None),
            cell => T::from_cell(cell).map(Some),
        }
    }
}

impl<'r, const LENGTH: usize> FromCell<'r> for [u8; LENGTH] {
    const KIND: ColumnKind = ColumnKind::Bytes;
    const INVALID: &'static str = "a hash of the wrong length";

    fn from_cell(cell: Cell<'r>) -> Option<[u8; LENGTH]> {
        <&[u8]>::from_cell(cell)?.try_into().ok()
    }
}

/// Reads types from cells of one kind each.
macro_rules! from_cells {
    ($($type:ty = $kind:ident($value:ident) => $read:expr, or $invalid:literal;)+) => {
        $(
            impl<'r> FromCell<'r> for $type {
                const KIND: ColumnKind = ColumnKind::$kind;
                const INVALID: &'static str = $invalid;

                fn from_cell(cell: Cell<'r>) -> Option<$type> {
                    match cell {
                        Cell::$kind($value) => $read,
                        _ => None,
                    }
                }
            }
        )+
    };
}

from_cells! {
    bool = Bool(value) => Some(value), or "an invalid truth value";
    i64 = Int(value) => Some(value), or "an invalid number";
    u32 = Int(value) => value.try_into().ok(), or "a number that is out of range";
    u64 = Int(value) => value.try_into().ok(), or "a negative version";
    Timestamp = Int(value) => Timestamp::from_microsecond(value).ok(), or "a time that is out of range";
    &'r str = Text(text) => Some(text), or "an invalid text";
    String = Text(text) => Some(text.to_owned()), or "an invalid text";
    GameId = Text(text) => text.parse().ok(), or "an invalid id";
    &'r [u8] = Bytes(bytes) => Some(bytes), or "invalid bytes";
    Vec<u8> = Bytes(bytes) => Some(bytes.to_vec()), or "invalid bytes";
    Creator = Bytes(bytes) => bytes.try_into().ok().map(Creator), or "an invalid creator";
    Tokens = Bytes(bytes) => Tokens::from_bytes(bytes), or "invalid tokens";
}
