//! A file that a server reads again.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

/// A file of a test, removed with it.
pub struct OperatorFile(PathBuf);

impl OperatorFile {
    pub fn new(name: &str, content: &str) -> OperatorFile {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("dog-{name}-{}-{number}", std::process::id());
        let file = OperatorFile(std::env::temp_dir().join(name));
        file.write(content);
        file
    }

    pub fn write(&self, content: &str) {
        fs::write(&self.0, content).expect("a file");
    }

    pub fn path(&self) -> &str {
        self.0.to_str().expect("a path")
    }
}

impl Drop for OperatorFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
