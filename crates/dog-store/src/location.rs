//! Where a store is.

use std::path::PathBuf;

use crate::{
    CheckReport, ConnectionSettings, Findings, Store, StoreConfig, StoreError, postgres, sqlite,
};

/// Where the games are kept.
#[derive(Clone, Debug)]
pub enum Location {
    /// In an SQLite file.
    Sqlite(PathBuf),
    /// In a PostgreSQL database.
    Postgres(ConnectionSettings),
}

impl Location {
    /// Its name for messages, without a password.
    pub fn name(&self) -> String {
        match self {
            Location::Sqlite(file) => format!("database {}", file.display()),
            Location::Postgres(settings) => settings.name().to_owned(),
        }
    }

    /// Opens the store.
    ///
    /// # Errors
    /// As [`Store::open`] and [`Store::connect`].
    pub fn open(self, config: StoreConfig) -> Result<Store, StoreError> {
        match self {
            Location::Sqlite(file) => Store::open(file, config),
            Location::Postgres(settings) => Store::connect(settings, config),
        }
    }

    /// What a server will find here, without starting one. Nothing is changed.
    pub fn inspect(&self) -> Findings {
        match self {
            Location::Sqlite(file) => sqlite::inspect(file),
            Location::Postgres(settings) => postgres::inspect(settings),
        }
    }

    /// The full check of a store, which may be in use: a replay of each game from its log, SQLite's
    /// `integrity_check` of a file, and a search for rows without a game. Nothing is changed.
    /// `progress` gets the number of games checked and of all games.
    ///
    /// # Errors
    /// It cannot be read, or is not one of this program and schema version.
    pub fn check(&self, progress: impl FnMut(u64, u64)) -> Result<CheckReport, StoreError> {
        match self {
            Location::Sqlite(file) => sqlite::check(file, progress),
            Location::Postgres(settings) => postgres::check(settings, progress),
        }
    }
}
