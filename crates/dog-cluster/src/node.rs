//! Where a cluster is and how its superuser talks to it.

use std::{
    env, fs,
    hash::{BuildHasher, Hasher, RandomState},
    net::TcpListener,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::programs::{Programs, psql};

/// Free bytes that `/dev/shm` must have to hold clusters.
const MIN_FREE_BYTES: u64 = 2 << 30;

/// How long to wait for what PostgreSQL does by itself. Only a failing test waits that long.
const LIMIT: Duration = Duration::from_secs(60);

const PREFIX: &str = "dog-cluster-";

/// The folder and port of a cluster.
#[derive(Debug)]
pub(crate) struct Node {
    pub programs: &'static Programs,
    pub folder: PathBuf,
    pub port: u16,
    /// Unique in this process.
    pub number: u32,
}

impl Node {
    /// A new folder, in memory if there is room and it may be lost with the power, and a port.
    pub fn create(programs: &'static Programs, durable: bool) -> Node {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let parent = parent(durable);
        remove_stale_folders(&parent);
        let folder = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&folder).expect("a folder for the cluster");
        if let Some((user, group)) = programs.user {
            chown(&folder, Some(user), Some(group)).expect("to give the folder away");
        }
        Node {
            programs,
            folder,
            port: free_port(),
            number,
        }
    }

    /// Runs SQL in a database as the superuser; see [`psql`].
    pub fn psql(&self, database: &str, sql: &str) -> Result<String, String> {
        psql(&format!("{} dbname={database}", self.parameters()), sql)
    }

    /// The same; panics if it fails.
    #[track_caller]
    pub fn must_psql(&self, database: &str, sql: &str) -> String {
        let result = self.psql(database, sql);
        result.unwrap_or_else(|error| self.fail(&format!("{sql}: {error}")))
    }

    /// How the superuser connects, as `libpq` takes it.
    pub fn parameters(&self) -> String {
        let Node { folder, port, .. } = self;
        format!("host={} port={port} user=postgres", folder.display())
    }

    /// All that PostgreSQL has logged.
    pub fn log(&self) -> String {
        let bytes = fs::read(self.folder.join("log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Panics with the end of the log.
    #[track_caller]
    pub fn fail(&self, what: &str) -> ! {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        let tail = lines[lines.len().saturating_sub(30)..].join("\n");
        panic!("{what}\n--- the end of PostgreSQL's log ---\n{tail}")
    }

    #[track_caller]
    pub fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) {
        let started = Instant::now();
        while !is_so() {
            if started.elapsed() > LIMIT {
                self.fail(&format!("it takes too long until {what}"));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn parent(durable: bool) -> PathBuf {
    if let Some(folder) = env::var_os("DOG_TEST_PG_FOLDER") {
        return folder.into();
    }
    let memory = Path::new("/dev/shm");
    let room = rustix::fs::statvfs(memory).map_or(0, |is| is.f_bavail * is.f_frsize);
    if room >= MIN_FREE_BYTES && !durable {
        memory.to_owned()
    } else {
        env::temp_dir()
    }
}

/// Removes the folders of processes that ended while they made them.
fn remove_stale_folders(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let rest = name.strip_prefix(PREFIX);
        let process = rest.and_then(|rest| rest.split('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A free port below those that the system gives to outgoing connections: one of these could take
/// it while the server is down, even one that tries to reach the server.
fn free_port() -> u16 {
    loop {
        let random = RandomState::new().build_hasher().finish();
        let port = 15_000 + (random % 17_000) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
