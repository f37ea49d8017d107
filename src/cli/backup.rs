//! `dog backup`: copies a database, which may be in use.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use dog_store::{self, Location};

use super::{
    check::{bar, progress},
    location, print,
};

#[derive(Debug, Args)]
pub struct BackupArgs {
    /// The copy; the file must not exist.
    file: PathBuf,
    #[command(flatten)]
    database: location::DatabaseArgs,
}

impl BackupArgs {
    /// Makes the copy and checks it.
    ///
    /// # Errors
    /// If the file exists already, or the database cannot be copied.
    pub fn run(self) -> anyhow::Result<()> {
        let Location::Sqlite(database) = self.database.location()? else {
            bail!("this is for files only; for PostgreSQL use pg_dump or pg_basebackup");
        };
        let bar = bar("pages")?;
        let copied =
            dog_store::backup(&database, &self.file, progress(&bar)).with_context(|| {
                let (database, file) = (database.display(), self.file.display());
                format!("cannot back {database} up to {file}")
            })?;
        bar.finish_and_clear();
        print(&format!(
            "{} games, {} bytes in {}\n",
            copied.games,
            copied.bytes,
            self.file.display()
        ))
    }
}
