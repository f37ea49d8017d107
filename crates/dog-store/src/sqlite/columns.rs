//! Conversions between values and columns.

use rusqlite::{
    ToSql,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef},
};

use crate::{Creator, GameId, Tokens};

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

impl ToSql for Tokens {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.to_bytes().into())
    }
}

impl FromSql for Tokens {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Tokens> {
        let tokens = Tokens::from_bytes(value.as_blob()?);
        tokens.ok_or_else(|| FromSqlError::Other("not the tokens of a game".into()))
    }
}
