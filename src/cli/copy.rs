//! `dog copy`: moves a database into another one.

use std::{
    io::{Write, stdout},
    path::PathBuf,
};

use anyhow::Context;
use clap::Args;
use dog_store;

use super::{check::with_bar, location};

#[derive(Debug, Args)]
pub struct CopyArgs {
    /// The database to move, a file or the URL of a PostgreSQL database; servers may be reading it.
    #[arg(long, env = "DOG_COPY_FROM", hide_env_values = true)]
    from: PathBuf,
    /// The copy: a file that does not exist, or the URL of an empty PostgreSQL database.
    #[arg(long, env = "DOG_COPY_TO", hide_env_values = true)]
    to: PathBuf,
}

impl CopyArgs {
    /// Makes the copy, compares it, and marks the original as moved.
    ///
    /// # Errors
    /// If the target is not empty, or the database cannot be copied.
    pub fn run(self) -> anyhow::Result<()> {
        let (from, to) = (location::parse(&self.from)?, location::parse(&self.to)?);
        let (source, target) = (from.name(), to.name());
        let title = "rows copied and compared";
        let copied = with_bar(title, |progress| dog_store::copy(&from, &to, progress))?
            .with_context(|| format!("cannot copy the {source} to the {target}"))?;
        let done = format!(
            "{} games, {} rows, SHA-256 {} in the {target}; the {source} takes no more writes",
            copied.games, copied.rows, copied.digest
        );
        // Without the message the copy is complete all the same.
        if let Err(error) = writeln!(stdout(), "{done}") {
            log::warn!("cannot print this to the output ({error}): {done}");
        }
        Ok(())
    }
}
