//! How the database file is opened, by its one writer and by any number of readers, and whether it
//! is still there.

use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags};

use super::{migrations, read_only_if_unopenable};
use crate::store::StoreError;

/// How long to wait for another process to let go of a lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait before looking again.
const BUSY_RETRY_DELAY: Duration = Duration::from_millis(1);

/// Prepared statements kept ready on a connection; more than there are.
const STATEMENT_CACHE_CAPACITY: usize = 32;

/// Bytes the write-ahead log may keep once all of it is in the database.
const LOG_SIZE_LIMIT: i64 = 128 << 20;

/// Connections that are opened at the start: for a request and for a background thread.
const INITIAL_READERS: usize = 2;

/// Connections kept for later reads; more are opened when more threads read at once.
const MAX_IDLE_READERS: usize = 32;

/// Opens the file to write, creates it if it is not there, and brings it to the last of these
/// schema versions.
///
/// # Errors
/// Says why the file cannot be used. One that is not ours has not been changed.
pub(super) fn writer(path: &Path, migrations: &[&str]) -> Result<Connection, StoreError> {
    check_not_lost(path)?;
    create_file(path).map_err(|error| match error.kind() {
        ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly,
        _ => StoreError::Create(Arc::new(error)),
    })?;
    let mut connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    migrations::identify(&connection).map_err(read_only_if_unopenable)?;
    if connection.is_readonly("main")? {
        return Err(StoreError::ReadOnly);
    }
    let journal = enable_wal(&connection)?;
    if journal != "wal" {
        return Err(StoreError::NoWriteAheadLog(journal));
    }
    connection.pragma_update(None, "journal_size_limit", LOG_SIZE_LIMIT)?;
    // A commit returns when the log is on the disk; a thread of its own carries it over.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // What a savepoint would need to be undone.
    connection.pragma_update(None, "temp_store", "memory")?;
    migrations::migrate(&mut connection, migrations)?;
    Ok(connection)
}

/// Has the file keep a write-ahead log; the journal that it has then. While another process does the
/// same, SQLite says at once that the database is busy, without asking [`busy_handler`].
fn enable_wal(connection: &Connection) -> Result<String, StoreError> {
    let started = Instant::now();
    loop {
        let journal =
            connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0));
        match journal.map_err(StoreError::from) {
            Err(StoreError::Busy) if started.elapsed() < BUSY_TIMEOUT => {
                thread::sleep(BUSY_RETRY_DELAY);
            }
            journal => return journal,
        }
    }
}

/// Creates the file, for its owner's eyes only, unless it is there. A file that is there is not
/// touched: closing it would drop the locks this process holds on it.
fn create_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop),
    }
}

/// Opens a file that is there, for reading only.
pub(super) fn reader(path: &Path) -> Result<Connection, StoreError> {
    // SQLite would take an empty file for a new database.
    if is_empty(path) {
        return Err(StoreError::Gone);
    }
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Opens a file that is there and has been brought up to date, to carry its log over.
pub(super) fn checkpointer(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "synchronous", "full")?;
    Ok(connection)
}

fn open(path: &Path, access: OpenFlags) -> Result<Connection, StoreError> {
    // A connection is used by one thread at a time, which is all that SQLite asks for here.
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(busy_handler()))?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// What a connection does while another process has the lock that it needs: it looks again every
/// millisecond, which is about as long as a commit takes. SQLite's own way to wait gets slower and
/// slower, so that a process with little to write may starve beside one with much.
fn busy_handler() -> impl FnMut(i32) -> bool + Send + 'static {
    let mut since = Instant::now();
    move |tries| {
        if tries == 0 {
            since = Instant::now();
        }
        thread::sleep(BUSY_RETRY_DELAY);
        since.elapsed() < BUSY_TIMEOUT
    }
}

/// As long as it lives, its connection sees one state of the database. (A transaction of rusqlite's
/// has its two statements compiled each time.)
#[derive(Debug)]
pub(super) struct ReadTransaction<'c>(&'c Connection);

impl ReadTransaction<'_> {
    /// The state is that of the first read.
    pub(super) fn begin(connection: &Connection) -> Result<ReadTransaction<'_>, StoreError> {
        connection.prepare_cached("BEGIN")?.execute([])?;
        Ok(ReadTransaction(connection))
    }
}

impl Drop for ReadTransaction<'_> {
    fn drop(&mut self) {
        let end = || self.0.prepare_cached("ROLLBACK")?.execute([]);
        // SQLite has ended it already if the disk failed.
        if !self.0.is_autocommit()
            && let Err(error) = end()
        {
            log::warn!("a read transaction cannot be ended: {error}");
        }
    }
}

/// Connections for reading, opened when needed and kept for the next reader. No reader waits for
/// another one, nor for the writer.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    identity: FileIdentity,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    /// Opens the first connections, so that reads go on if the file is moved away.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn open(path: PathBuf, identity: FileIdentity) -> Result<Readers, StoreError> {
        let first = (0..INITIAL_READERS).map(|_| reader(&path));
        let idle = Mutex::new(first.collect::<Result<_, _>>()?);
        Ok(Readers {
            path,
            identity,
            idle,
        })
    }

    /// Does some reading on a connection of its own.
    pub(super) fn with<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = self.idle().pop();
        let connection = match idle {
            Some(idle) => idle,
            None => {
                let connection = reader(&self.path)?;
                // Of another file it would read another state than its neighbours.
                self.identity.check()?;
                connection
            }
        };
        let result = read(&connection);
        // One that is stuck in a transaction would see the past for ever.
        if connection.is_autocommit() {
            let mut idle = self.idle();
            if idle.len() < MAX_IDLE_READERS {
                idle.push(connection);
            }
        }
        result
    }

    /// The database file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        // Nothing panics while the lock is held, and a list of connections is never half changed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file that SQLite keeps beside the database: its name with `-wal` or `-shm` after it.
pub(super) fn sidecar(database: &Path, suffix: &str) -> PathBuf {
    // SQLite follows links before it adds anything.
    let mut name = fs::canonicalize(database)
        .unwrap_or_else(|_| database.to_owned())
        .into_os_string();
    name.push(suffix);
    name.into()
}

/// Whether there is no database under this name, or an empty file.
pub(super) fn is_empty(database: &Path) -> bool {
    match fs::metadata(database) {
        Ok(found) => found.len() == 0,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Makes sure that a database which is not there was not lost: SQLite takes an empty file for a
/// new database, and throws a log that lies beside it away.
///
/// # Errors
/// There is a log, and nothing that it belongs to.
pub(super) fn check_not_lost(database: &Path) -> Result<(), StoreError> {
    let log = sidecar(database, "-wal");
    if is_empty(database) && log.exists() {
        return Err(StoreError::Lost(log));
    }
    Ok(())
}

/// Which files somebody has opened: the database and its write-ahead log, which is there as long
/// as anybody has the database open.
#[derive(Clone, Debug)]
pub(super) struct FileIdentity {
    database: PathBuf,
    log: PathBuf,
    files: Option<[u64; 4]>,
}

impl FileIdentity {
    /// The files that are there now.
    ///
    /// # Errors
    /// They are not.
    pub(super) fn of(database: &Path) -> Result<FileIdentity, StoreError> {
        let log = sidecar(database, "-wal");
        let files = file_numbers(database, &log).ok_or(StoreError::Gone)?;
        Ok(FileIdentity {
            database: database.to_owned(),
            log,
            files,
        })
    }

    /// Makes sure that the files are where they were: SQLite goes on with files that were removed
    /// or replaced, and what is written to those is lost.
    ///
    /// # Errors
    /// They are gone, or others are in their place.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match file_numbers(&self.database, &self.log) {
            Some(files) if files == self.files => Ok(()),
            _ => Err(StoreError::Gone),
        }
    }
}

/// What tells the two files from others, if they are there and the database is not empty.
#[cfg(unix)]
fn file_numbers(database: &Path, log: &Path) -> Option<Option<[u64; 4]>> {
    use std::os::unix::fs::MetadataExt;
    let (database, log) = (fs::metadata(database).ok()?, fs::metadata(log).ok()?);
    let node = [database.dev(), database.ino(), log.dev(), log.ino()];
    (database.len() > 0).then_some(Some(node))
}

/// Elsewhere open files can be neither removed nor replaced.
#[cfg(not(unix))]
fn file_numbers(database: &Path, _: &Path) -> Option<Option<[u64; 4]>> {
    (!is_empty(database)).then_some(None)
}

/// Has SQLite refuse to let the file grow beyond that. One that is larger stays as large as it is.
///
/// # Errors
/// The database cannot be read.
pub(super) fn limit_size(connection: &Connection, max: Option<u64>) -> Result<(), StoreError> {
    let Some(max) = max else { return Ok(()) };
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages = (max / page.unsigned_abs()).clamp(1, u32::MAX.into());
    // It answers with the limit that is in force.
    Ok(connection.pragma_update_and_check(None, "max_page_count", pages as i64, |_| Ok(()))?)
}
