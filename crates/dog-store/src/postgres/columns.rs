//! Conversions between values and columns.

use std::sync::Arc;

use jiff::SignedDuration;
use tokio_postgres::Row as PgRow;

use super::connection::SqlParam;
use crate::{
    StoreError,
    row::{Cell, Row},
};

/// The row of a statement that always has one.
pub(super) fn one(rows: Vec<PgRow>) -> Result<PgRow, StoreError> {
    let first = rows.into_iter().next();
    first.ok_or(StoreError::Misuse("a statement returned no row"))
}

/// What `read` makes of the first row, if there is one.
pub(super) fn first<T>(
    rows: &[PgRow],
    read: impl FnOnce(Row<'_>) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    rows.first().map(|row| read(Row::Postgres(row))).transpose()
}

/// What `read` makes of the rows.
pub(super) fn all<T>(
    rows: &[PgRow],
    mut read: impl FnMut(Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    rows.iter().map(|row| read(Row::Postgres(row))).collect()
}

/// Values as parameters.
pub(super) fn owned(cells: &[Cell<'_>]) -> Vec<SqlParam> {
    let owned = cells.iter().map(|&cell| match cell {
        Cell::Null => Arc::new(None::<i64>) as SqlParam,
        Cell::Int(value) => Arc::new(value),
        Cell::Bool(value) => Arc::new(value),
        Cell::Text(text) => Arc::new(text.to_owned()),
        Cell::Bytes(bytes) => Arc::new(bytes.to_vec()),
    });
    owned.collect()
}

/// A duration as a parameter.
pub(super) fn micros(duration: SignedDuration) -> i64 {
    duration.as_micros() as i64
}
