//! Errors of PostgreSQL as errors of the store.

use std::{error::Error as StdError, fmt, sync::Arc};

use tokio_postgres::{
    Error,
    error::{Severity, SqlState},
};

use super::moved;
use crate::StoreError;

/// The text of an error, without the details in which PostgreSQL may quote values.
#[derive(Debug)]
struct ErrorReport(String);

impl fmt::Display for ErrorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for ErrorReport {}

impl ErrorReport {
    fn new(error: &Error) -> ErrorReport {
        if let Some(cause) = error.as_db_error() {
            return ErrorReport(format!("{} ({})", cause.message(), cause.code().code()));
        }
        let cause = error.source().map(|cause| format!(": {cause}"));
        ErrorReport(format!("{error}{}", cause.unwrap_or_default()))
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> StoreError {
        let cause = Arc::new(ErrorReport::new(&error));
        let Some(code) = error.code() else {
            if let Some(read_only) = read_only(&error) {
                return read_only;
            }
            return if is_about_a_value(&error) {
                StoreError::Failed(cause)
            } else {
                StoreError::Unreachable(cause)
            };
        };
        let (class, rest) = code.code().split_at_checked(2).unwrap_or_default();
        match class {
            _ if code.code() == moved::SQL_STATE => StoreError::Moved,
            _ if *code == SqlState::DISK_FULL => StoreError::Full,
            "57" if *code == SqlState::QUERY_CANCELED => StoreError::Busy,
            // Connections, limits of the server, shutdowns and failovers.
            "08" | "53" | "57" | "58" => StoreError::Unreachable(cause),
            // Roles, passwords and rights.
            "28" | "3D" => StoreError::Denied(cause),
            "42" if rest == "501" => StoreError::Denied(cause),
            "25" if rest == "006" => StoreError::ReadOnly,
            // Deadlocks and locks that took too long.
            "40" | "55" => StoreError::Busy,
            "XX" => StoreError::Damaged(cause.to_string()),
            _ => StoreError::Failed(cause),
        }
    }
}

/// The error of a host that is reached but only answers queries.
fn read_only(error: &Error) -> Option<StoreError> {
    let cause = error.source()?.downcast_ref::<std::io::Error>()?;
    let is_read_only = cause.to_string().contains("does not allow writes");
    is_read_only.then_some(StoreError::ReadOnly)
}

/// Whether the error is about a value and not about the connection.
fn is_about_a_value(error: &Error) -> bool {
    let text = error.to_string();
    text.contains("serializing") || text.contains("column") || text.contains("parameters")
}

/// Whether the connection ended, so that it is not known whether the statement was carried out.
pub(super) fn is_outcome_unknown(error: &Error) -> bool {
    match error.as_db_error() {
        Some(cause) => cause.parsed_severity() != Some(Severity::Error),
        None => !is_about_a_value(error),
    }
}
