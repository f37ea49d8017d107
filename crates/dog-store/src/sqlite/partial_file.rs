//! A copy of a database while it is written.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

/// An unfinished copy under a temporary name. Dropping it deletes the file.
pub(super) struct PartialFile(PathBuf);

impl PartialFile {
    pub fn create(to: &Path) -> io::Result<PartialFile> {
        let mut name = OsString::from(to);
        name.push(".partial");
        let path = PathBuf::from(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
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
        let _ = fs::remove_file(&self.0);
        for suffix in ["-journal", "-wal", "-shm"] {
            let mut name = OsString::from(&self.0);
            name.push(suffix);
            let _ = fs::remove_file(name);
        }
    }
}
