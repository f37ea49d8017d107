//! Where the games are kept, as the option `--database` says.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use dog_store::{self, ConnectionSettings, Location};

/// The option that names the database.
#[derive(Debug, Args)]
pub struct DatabaseArgs {
    /// Database file, which a server creates if it does not exist; or the URL of a PostgreSQL
    /// database, postgres://USER@HOST/NAME. Servers may be using it.
    #[arg(
        long,
        env = "DOG_DATABASE",
        hide_env_values = true,
        global = true,
        default_value = "dog.db"
    )]
    database: PathBuf,
}

impl DatabaseArgs {
    /// The location of the database.
    ///
    /// # Errors
    /// As [`parse`].
    pub fn location(&self) -> anyhow::Result<Location> {
        parse(&self.database)
    }

    /// The file of the database.
    ///
    /// # Errors
    /// As [`parse`], or it is a PostgreSQL database, for which there are these programs.
    pub fn file(&self, instead: &str) -> anyhow::Result<PathBuf> {
        match self.location()? {
            Location::Sqlite(file) => Ok(file),
            _ => bail!("this is for files only; for PostgreSQL use {instead}"),
        }
    }
}

/// The location that a file name or a URL stands for. The URL may contain a password, so it is
/// in no message.
///
/// # Errors
/// If the name is that of a folder, or the URL is not valid.
pub fn parse(database: &Path) -> anyhow::Result<Location> {
    match database.to_str() {
        Some(url) if ConnectionSettings::is_url(url) => Ok(Location::Postgres(url.parse()?)),
        None if ConnectionSettings::is_url(&database.to_string_lossy()) => {
            bail!("the URL of the database is not UTF-8")
        }
        Some(words) if is_keywords(words) && !database.exists() => bail!(
            "--database takes the URL of a PostgreSQL database, postgres://USER@HOST/NAME, or the \
             name of a file; for a new file of this name write ./ before it"
        ),
        _ if database.is_dir() => bail!(
            "cannot open {}: it is a folder, not a file",
            database.display()
        ),
        _ => Ok(Location::Sqlite(database.to_owned())),
    }
}

/// Whether a text is meant as the keywords of a PostgreSQL connection, such as `host=… dbname=…`.
fn is_keywords(text: &str) -> bool {
    let first = text.split_once('=').map(|(keyword, _)| keyword.trim());
    first.is_some_and(|keyword| keyword.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
}
