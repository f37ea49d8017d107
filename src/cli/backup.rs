//! `dog backup`: copies a database, which may be in use; and `dog restore`: puts a copy in its place.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use dog_store::{self, BackupReport};

use super::{check::with_bar, location, print};

#[derive(Debug, Args)]
pub struct BackupArgs {
    /// The copy; the file must not exist. With --keep its folder; its name has the time.
    file: PathBuf,
    /// Keep this many copies in the folder: once the new one is checked, remove the oldest ones.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    keep: Option<u16>,
    #[command(flatten)]
    database: location::DatabaseArgs,
}

impl BackupArgs {
    /// Makes the copy and checks it.
    ///
    /// # Errors
    /// If the file exists already, or the database cannot be copied.
    pub fn run(self) -> anyhow::Result<()> {
        let database = self.database.file("pg_dump or pg_basebackup")?;
        let name = database.file_name().unwrap_or_default();
        let file = match self.keep {
            Some(_) => dog_store::dated(&self.file.join(name)),
            None => self.file,
        };
        let backup =
            |progress: &mut dyn FnMut(u64, u64)| dog_store::backup(&database, &file, progress);
        let copied = with_bar("pages", backup)?.with_context(|| {
            let (database, file) = (database.display(), file.display());
            format!("cannot back {database} up to {file}")
        })?;
        report(copied, &file)?;
        match self.keep {
            Some(keep) => remove_oldest(&file, keep.into()).context("cannot remove old copies"),
            None => Ok(()),
        }
    }
}

fn report(copied: BackupReport, file: &Path) -> anyhow::Result<()> {
    let (games, bytes, file) = (copied.games, copied.bytes, file.display());
    print(&format!("{games} games, {bytes} bytes in {file}\n"))
}

/// Removes the oldest dated copies of a database, so that this many are left with the newest one,
/// which is never removed.
fn remove_oldest(newest: &Path, keep: usize) -> anyhow::Result<()> {
    let form = |path: &Path| {
        let (name, time) = path.to_str()?.rsplit_once('-')?;
        let time = time.replace(|c: char| c.is_ascii_digit(), "0");
        Some((name.to_owned(), time))
    };
    let own = form(newest).context("its name is not UTF-8")?;
    let folder = newest.parent().context("it has no folder")?;
    let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut older: Vec<PathBuf> = files.collect::<anyhow::Result<_>>()?;
    older.retain(|path| path != newest && form(path).as_ref() == Some(&own));
    older.sort();
    let surplus = (older.len() + 1).saturating_sub(keep);
    Ok(older.iter().take(surplus).try_for_each(fs::remove_file)?)
}

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The copy, which stays as it is.
    copy: PathBuf,
    #[command(flatten)]
    database: location::DatabaseArgs,
}

impl RestoreArgs {
    /// Checks the copy and puts it in the place of the database.
    ///
    /// # Errors
    /// If a server has the database open, or the copy is no sound database of this program.
    pub fn run(self) -> anyhow::Result<()> {
        let database = self.database.file("pg_dump and pg_restore")?;
        let copy = self.copy.display();
        let restored = with_bar("pages", |progress| {
            dog_store::restore(&self.copy, &database, progress)
        })?;
        let restored = restored
            .with_context(|| format!("cannot restore {} from {copy}", database.display()))?;
        report(restored, &database)
    }
}
