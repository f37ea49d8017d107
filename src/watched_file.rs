//! Files of the operator that are read again when they change: keys, blocked addresses, a notice.

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, RwLock},
    time::{Duration, SystemTime},
};

use anyhow::{Context, bail};

use crate::runtime::BackgroundThread;

/// How often the files are looked at.
const INTERVAL: Duration = Duration::from_secs(5);

/// The largest file in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The content of a file, which others see when it changes. Without a file it is the default.
#[derive(Debug, Default)]
pub struct WatchedFile<T> {
    current: RwLock<Arc<T>>,
}

/// Takes the text of a file.
type Publish = Box<dyn Fn(&str) -> anyhow::Result<()> + Send>;

/// A file, and how its content gets to those who use it.
pub struct FileWatch {
    path: PathBuf,
    /// The time and the size of what was read last, good or not.
    seen: Option<(SystemTime, u64)>,
    publish: Publish,
}

impl<T: Default + Send + Sync + 'static> WatchedFile<T> {
    /// Reads the file, if there is one, and adds it to those that are watched.
    ///
    /// # Errors
    /// If it cannot be read, or is faulty.
    pub fn open(
        path: Option<PathBuf>,
        parse: fn(&str) -> anyhow::Result<T>,
        watched: &mut Vec<FileWatch>,
    ) -> anyhow::Result<Arc<WatchedFile<T>>> {
        let file = Arc::new(WatchedFile {
            current: RwLock::default(),
        });
        if let Some(path) = path {
            let own = Arc::clone(&file);
            let mut watch = FileWatch {
                path,
                seen: None,
                publish: Box::new(move |text| {
                    let content = Arc::new(parse(text)?);
                    *own.current.write().expect("nobody panics with it") = content;
                    Ok(())
                }),
            };
            watch.read()?;
            watched.push(watch);
        }
        Ok(file)
    }

    /// The content that was read last and is not faulty.
    pub fn get(&self) -> Arc<T> {
        Arc::clone(&self.current.read().expect("nobody panics with it"))
    }
}

impl FileWatch {
    /// Reads the file, if it is not the one that was read last.
    fn read(&mut self) -> anyhow::Result<()> {
        let name = self.path.display();
        let about = fs::metadata(&self.path).with_context(|| format!("cannot read {name}"))?;
        let stamp = (about.modified()?, about.len());
        if self.seen.replace(stamp) == Some(stamp) {
            return Ok(());
        }
        if about.len() > MAX_BYTES {
            bail!("{name} has more than {MAX_BYTES} bytes");
        }
        let text = fs::read_to_string(&self.path);
        let text = text.with_context(|| format!("cannot read {name}"))?;
        (self.publish)(&text).with_context(|| format!("{name} is faulty"))
    }
}

/// Starts the thread that looks at the files. It warns about a faulty one once, and the last good
/// content stays.
///
/// # Errors
/// The operating system starts no more threads.
pub fn start(mut watched: Vec<FileWatch>) -> std::io::Result<BackgroundThread> {
    BackgroundThread::start("files", move |waiter| {
        let mut warned = vec![String::new(); watched.len()];
        while !watched.is_empty() && !waiter.stops_within(INTERVAL) {
            for (watch, warned) in watched.iter_mut().zip(&mut warned) {
                let was_seen = watch.seen;
                match watch.read() {
                    Err(error) => {
                        let warning = format!("{error:#}; what was read before stays in force");
                        if *warned != warning {
                            log::warn!("{warning}");
                            *warned = warning;
                        }
                    }
                    Ok(()) if watch.seen != was_seen => {
                        log::info!("read {} again", watch.path.display());
                        warned.clear();
                    }
                    Ok(()) => {}
                }
            }
        }
    })
}
