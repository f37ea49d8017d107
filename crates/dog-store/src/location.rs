//! Where a store is.

use std::path::PathBuf;

use super::ConnectionSettings;

/// Where the games are kept.
#[derive(Clone, Debug)]
pub enum Location {
    /// In an SQLite file.
    File(PathBuf),
    /// In a PostgreSQL database.
    Shared(ConnectionSettings),
}

impl Location {
    /// Its name for messages, without a password.
    pub fn name(&self) -> String {
        match self {
            Location::File(file) => format!("database {}", file.display()),
            Location::Shared(settings) => settings.name().to_owned(),
        }
    }
}
