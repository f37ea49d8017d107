//! A copy of a database while it is written.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use super::connect::{private_file, sidecar};

/// An unfinished copy under a temporary name. Dropping it deletes the file.
pub(super) struct PartialFile {
    /// Its temporary name.
    pub path: PathBuf,
    pub file: File,
}

impl PartialFile {
    pub fn create(to: &Path) -> io::Result<PartialFile> {
        let path = sidecar(to, ".partial");
        match private_file().create_new(true).open(&path) {
            Ok(file) => Ok(PartialFile { path, file }),
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

    /// Syncs the file and renames it to its final name. If that fails, there is no file of that
    /// name.
    pub fn finish(self, to: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        if fs::symlink_metadata(to).is_ok() {
            let exists = format!("{} exists now", to.display());
            return Err(io::Error::new(ErrorKind::AlreadyExists, exists));
        }
        fs::rename(&self.path, to)?;
        sync_folder(to).inspect_err(|_| {
            let _ = fs::remove_file(to);
        })
    }
}

/// Syncs the names in the folder of a file; on Unix only.
pub(super) fn sync_folder(of: &Path) -> io::Result<()> {
    let folder = of.parent().filter(|folder| *folder != Path::new(""));
    #[cfg(unix)]
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    Ok(())
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // The file no longer exists if it was renamed.
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let _ = fs::remove_file(sidecar(&self.path, suffix));
        }
    }
}
