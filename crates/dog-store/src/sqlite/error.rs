//! Errors of SQLite as errors of the store.

use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::StoreError;

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        let extended = error.sqlite_extended_error_code();
        // The only triggers are those of the mark.
        if extended == Some(rusqlite::ffi::SQLITE_CONSTRAINT_TRIGGER) {
            return StoreError::Moved;
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => StoreError::NotADatabase,
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged(error.to_string()),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::ReadOnly,
            Some(ErrorCode::DiskFull) => StoreError::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::OutOfMemory,
            ) => StoreError::Io(Arc::new(error)),
            _ => StoreError::Failed(Arc::new(error)),
        }
    }
}

/// Translates an error of the first query of an existing database. SQLite reports "cannot open" if
/// it may not create the log in a read-only directory.
pub(super) fn read_only_if_unopenable(error: StoreError) -> StoreError {
    let cause = match &error {
        StoreError::Io(cause) => cause.downcast_ref::<rusqlite::Error>(),
        _ => None,
    };
    match cause.and_then(rusqlite::Error::sqlite_error_code) {
        Some(ErrorCode::CannotOpen) => StoreError::ReadOnly,
        _ => error,
    }
}
