//! A disk that is soon full.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A small file system in memory over a folder, removed when dropped.
pub struct SmallDisk(pub PathBuf);

impl SmallDisk {
    /// `None`, with a message, if this user may not mount it.
    pub fn mount(over: &Path) -> Option<SmallDisk> {
        let mount = ["-t", "tmpfs", "-o", "size=32m,mode=777", "tmpfs"];
        let mounted = Command::new("mount").args(mount).arg(over).output();
        if !mounted.is_ok_and(|output| output.status.success()) {
            eprintln!("!!! SKIPPED: only root can mount a small file system !!!");
            return None;
        }
        Some(SmallDisk(over.to_owned()))
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Leaves no free block.
    pub fn fill(&self) {
        let full = fs::write(self.filler(), vec![0; 64 << 20]);
        full.expect_err("there is no room for that");
    }

    pub fn make_room(&self) {
        fs::remove_file(self.filler()).expect("the filler");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, because files may be open.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
