//! Opening the database file, for the writer and for readers, and checking that it was not moved.

use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    time::Duration,
};

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};

use super::{error::read_only_if_unopenable, migrations, moved};
use crate::{StoreError, schema::Schema};

/// How long to wait for a lock of another program, such as `dog copy` or an SQLite shell.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Prepared statements cached per connection; more than there are.
const STATEMENT_CACHE_CAPACITY: usize = 32;

/// The size in bytes to which SQLite truncates the write-ahead log when it is reset.
pub(super) const LOG_SIZE_LIMIT: u64 = 16 << 20;

/// Read connections opened at start: one for requests and one for a background thread.
const INITIAL_READERS: usize = 2;

/// Idle read connections kept open; more are opened while more threads read at once.
const MAX_IDLE_READERS: usize = 32;

/// The flag with which links are not followed.
#[cfg(target_os = "linux")]
const NO_LINKS: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;

/// Opens the file for writing. Creates it if it does not exist, and migrates it to the last version
/// of this schema.
///
/// # Errors
/// The file cannot be used. A file of another program is left unchanged.
pub(super) fn writer(path: &Path, schema: &Schema) -> Result<Connection, StoreError> {
    check_not_lost(path)?;
    create_file(path).map_err(|error| match error.kind() {
        ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly,
        _ => StoreError::create(error),
    })?;
    let mut connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    migrations::identify(&connection).map_err(read_only_if_unopenable)?;
    moved::check(&connection)?;
    if connection.is_readonly("main")? {
        return Err(StoreError::ReadOnly);
    }
    let journal: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if journal != "wal" {
        return Err(StoreError::NoWriteAheadLog(journal));
    }
    connection.pragma_update(None, "journal_size_limit", LOG_SIZE_LIMIT as i64)?;
    // A commit returns when the log is on disk. The checkpoint thread does the checkpoints.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // The journals of savepoints are kept in memory.
    connection.pragma_update(None, "temp_store", "memory")?;
    migrations::migrate(&mut connection, schema)?;
    Ok(connection)
}

/// How to open a file for writing that is readable by its owner only, if it is created. Links are
/// not followed: root works in a folder of another user.
pub(super) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, NO_LINKS);
    options
}

/// Creates the file, readable by its owner only, unless it exists. An existing file is not opened,
/// because closing it would release the locks that this process holds on it.
fn create_file(path: &Path) -> io::Result<()> {
    match private_file().create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop),
    }
}

/// Checks that this user may read and write the files. None may be open yet, because closing one
/// releases the locks that this process holds on it.
///
/// # Errors
/// [`StoreError::Forbidden`].
pub(super) fn check_permissions(database: &Path) -> Result<(), StoreError> {
    for file in [
        database.to_owned(),
        sidecar(database, "-wal"),
        sidecar(database, "-shm"),
    ] {
        let opened = OpenOptions::new().read(true).append(true).open(&file);
        if opened.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
            return Err(StoreError::Forbidden(file));
        }
    }
    Ok(())
}

/// Opens an existing file for reading only.
pub(super) fn reader(path: &Path) -> Result<Connection, StoreError> {
    // SQLite would take an empty file for a new database.
    if is_empty(path) {
        return Err(StoreError::Gone);
    }
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Opens an existing, migrated file for checkpoints, or any existing one as the source or the target
/// of a copy.
pub(super) fn open_existing(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "synchronous", "full")?;
    Ok(connection)
}

fn open(path: &Path, access: OpenFlags) -> Result<Connection, StoreError> {
    // SQLite needs no mutex, because a connection is used by one thread at a time.
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Calls `work` with a connection that waits for a lock for `at_most`.
///
/// # Errors
/// Never in practice: a timeout can be set.
pub(super) fn with_short_waits<T>(
    connection: &Connection,
    at_most: Duration,
    work: impl FnOnce(&Connection) -> T,
) -> Result<T, StoreError> {
    connection.busy_timeout(at_most)?;
    let result = work(connection);
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(result)
}

/// A read transaction: its connection sees one state of the database until it is dropped. It uses
/// cached statements; rusqlite's own transaction type compiles its statements each time.
#[derive(Debug)]
pub(super) struct ReadTransaction<'c>(&'c Connection);

impl ReadTransaction<'_> {
    /// Begins a transaction. Its state is that of the first read.
    pub(super) fn begin(connection: &Connection) -> Result<ReadTransaction<'_>, StoreError> {
        connection.prepare_cached("BEGIN")?.execute([])?;
        Ok(ReadTransaction(connection))
    }
}

impl Drop for ReadTransaction<'_> {
    fn drop(&mut self) {
        let end = || self.0.prepare_cached("ROLLBACK")?.execute([]);
        // After an I/O error SQLite has ended it already.
        if !self.0.is_autocommit()
            && let Err(error) = end()
        {
            log::warn!("a read transaction cannot be ended: {error}");
        }
    }
}

/// A pool of read connections, which opens more when all are in use. Readers wait neither for each
/// other nor for the writer.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    identity: FileIdentity,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    /// Opens the first connections. With them, reads go on even if the file is moved.
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

    /// Calls `read` with a connection that no other thread uses.
    pub(super) fn with<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = self.idle.lock().pop();
        let connection = match idle {
            Some(idle) => idle,
            None => {
                let connection = reader(&self.path)?;
                // The path may lead to another file by now.
                self.identity.check()?;
                connection
            }
        };
        let result = read(&connection);
        // A connection that is stuck in a transaction would keep seeing an old state.
        if connection.is_autocommit() {
            let mut idle = self.idle.lock();
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
}

/// The path of a file that SQLite keeps next to the database: its name with the suffix `-wal` or
/// `-shm`.
pub(super) fn sidecar(database: &Path, suffix: &str) -> PathBuf {
    // SQLite resolves symbolic links before it adds the suffix.
    let mut name = fs::canonicalize(database)
        .unwrap_or_else(|_| database.to_owned())
        .into_os_string();
    name.push(suffix);
    name.into()
}

/// The size of a file in bytes; 0 if it is missing.
pub(super) fn length(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |file| file.len())
}

/// Whether the file is missing or empty.
pub(super) fn is_empty(database: &Path) -> bool {
    match fs::metadata(database) {
        Ok(found) => found.len() == 0,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Checks that a missing or empty database has no write-ahead log. SQLite would take it for a new
/// database and delete the log.
///
/// # Errors
/// There is a log without its database.
pub(super) fn check_not_lost(database: &Path) -> Result<(), StoreError> {
    let log = sidecar(database, "-wal");
    if is_empty(database) && log.exists() {
        return Err(StoreError::Lost(log));
    }
    Ok(())
}

/// The device and inode numbers of the database and of its write-ahead log, which exists while the
/// database is open.
#[derive(Clone, Debug)]
pub(super) struct FileIdentity {
    database: PathBuf,
    log: PathBuf,
    files: Option<[u64; 4]>,
}

impl FileIdentity {
    /// The identity of the current files.
    ///
    /// # Errors
    /// A file is missing, or the database is empty.
    pub(super) fn new(database: &Path) -> Result<FileIdentity, StoreError> {
        let log = sidecar(database, "-wal");
        let files = file_numbers(database, &log).ok_or(StoreError::Gone)?;
        Ok(FileIdentity {
            database: database.to_owned(),
            log,
            files,
        })
    }

    /// Checks that the paths still lead to the same files. SQLite does not notice when its files
    /// are removed or replaced, and writes to them would be lost.
    ///
    /// # Errors
    /// [`StoreError::Gone`].
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match file_numbers(&self.database, &self.log) {
            Some(files) if files == self.files => Ok(()),
            _ => Err(StoreError::Gone),
        }
    }
}

/// The device and inode numbers of the two files; `None` if one is missing or the database is
/// empty.
#[cfg(unix)]
fn file_numbers(database: &Path, log: &Path) -> Option<Option<[u64; 4]>> {
    use std::os::unix::fs::MetadataExt;
    let (database, log) = (fs::metadata(database).ok()?, fs::metadata(log).ok()?);
    let node = [database.dev(), database.ino(), log.dev(), log.ino()];
    (database.len() > 0).then_some(Some(node))
}

/// On other systems open files can be neither removed nor replaced.
#[cfg(not(unix))]
fn file_numbers(database: &Path, _: &Path) -> Option<Option<[u64; 4]>> {
    (!is_empty(database)).then_some(None)
}
