//! A copy of a database while it is written.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use super::connect::{private_file, sidecar};

/// An unfinished copy under a temporary name. Dropping it deletes the file.
pub(super) struct PartialFile(PathBuf);

impl PartialFile {
    pub fn create(to: &Path) -> io::Result<PartialFile> {
        let path = sidecar(to, ".partial");
        match private_file().create_new(true).open(&path) {
            Ok(_) => Ok(PartialFile(path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(io::Error::new(
                ErrorKind::AlreadyExists,
                format!(
                    "{} exists: another copy is being made, or one was killed and the file can be removed",
                    path.display()
                ),
            )),
            Err(error) => Err(error),
        }
    }

    /// Its temporary name.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Syncs the file and renames it to its final name. If that fails, there is no file of that
    /// name.
    pub fn finish(self, to: &Path) -> io::Result<()> {
        File::open(&self.0)?.sync_all()?;
        if fs::symlink_metadata(to).is_ok() {
            let exists = format!("{} exists now", to.display());
            return Err(io::Error::new(ErrorKind::AlreadyExists, exists));
        }
        let folder = to.parent().filter(|folder| *folder != Path::new(""));
        #[cfg(unix)]
        let folder = File::open(folder.unwrap_or(Path::new(".")))?;
        fs::rename(&self.0, to)?;
        #[cfg(unix)]
        if let Err(error) = folder.sync_all() {
            let _ = fs::remove_file(to);
            return Err(error);
        }
        Ok(())
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // The file no longer exists if it was renamed.
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let _ = fs::remove_file(sidecar(&self.0, suffix));
        }
    }
}
