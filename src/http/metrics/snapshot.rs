//! What nobody counts while it happens: it is looked up when somebody asks for the metrics.

use std::{
    fs,
    sync::{Arc, atomic::AtomicU64},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use prometheus_client::{
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};
use tokio::sync::Mutex;

use super::Label;
use crate::{
    http::limits::memory::BodyMemory,
    store::{Store, StoreError},
};

/// How long a count of the games is good enough: it may take the disk some time.
const COUNT_LIFE: Duration = Duration::from_secs(10);

/// Gauges, and where their values are.
pub(super) struct Snapshot {
    store: Store,
    memory: Arc<BodyMemory>,
    body_memory: Gauge,
    database: Gauge,
    database_used: Gauge,
    database_max: Gauge,
    database_log: Gauge,
    schema_version: Gauge,
    games: Family<Label, Gauge>,
    games_due: Gauge,
    games_counted: Mutex<Option<Instant>>,
    process: Process,
}

impl Snapshot {
    /// Registers the gauges.
    pub(super) fn register(
        registry: &mut Registry,
        store: &Store,
        memory: &Arc<BodyMemory>,
    ) -> Snapshot {
        let process = Process::register(registry);
        let own = registry.sub_registry_with_prefix("dog");
        let mut gauge = |name: &str, help: &str| {
            let gauge = Gauge::default();
            own.register(name, help, gauge.clone());
            gauge
        };
        gauge(
            "body_memory_limit_bytes",
            "The most that may be reserved for large bodies",
        )
        .set(memory.limit() as i64);
        let snapshot = Snapshot {
            store: store.clone(),
            memory: Arc::clone(memory),
            body_memory: gauge(
                "body_memory_bytes",
                "Memory reserved for large bodies of requests and responses",
            ),
            database: gauge(
                "database_bytes",
                "Size of the database file, without its write-ahead log",
            ),
            database_used: gauge(
                "database_used_bytes",
                "Bytes of the database that hold something, which its limit is about",
            ),
            database_max: gauge(
                "database_max_bytes",
                "Bytes that the database may hold; 0 for any number",
            ),
            database_log: gauge(
                "database_wal_bytes",
                "Size of the database's write-ahead log",
            ),
            schema_version: gauge(
                "database_schema_version",
                "The version of the database's schema",
            ),
            games: Family::default(),
            games_due: gauge(
                "bot_games_due",
                "Games in which the server is to act by now",
            ),
            games_counted: Mutex::default(),
            process,
        };
        let help = "Games in the store, by phase";
        own.register("games", help, snapshot.games.clone());
        snapshot
    }

    /// Looks everything up. What cannot be read stays as it was.
    pub(super) async fn refresh(&self) {
        self.body_memory.set(self.memory.used() as i64);
        let sizes = self.store.sizes();
        self.database.set(sizes.database as i64);
        self.database_log.set(sizes.log as i64);
        if let Err(error) = self.count().await {
            log::warn!("the size of the database is unknown: {error}");
        }
        self.process.refresh();
    }

    /// Sees how full the database is, and counts the games, unless they were counted lately.
    async fn count(&self) -> Result<(), StoreError> {
        let usage = self.store.usage().await?;
        self.database_used.set(usage.used as i64);
        self.database_max.set(usage.max.unwrap_or(0) as i64);
        // Whoever comes meanwhile waits for this count.
        let mut counted = self.games_counted.lock().await;
        if counted.is_some_and(|at| at.elapsed() < COUNT_LIFE) {
            return Ok(());
        }
        let game_counts = self.store.game_counts().await?;
        for (phase, games) in game_counts.games {
            let phase = [("phase", phase.name())];
            self.games.get_or_create(&phase).set(games as i64);
        }
        self.games_due.set(game_counts.due as i64);
        self.schema_version.set(game_counts.schema_version.into());
        *counted = Some(Instant::now());
        Ok(())
    }
}

/// The process as Linux sees it, under the names that every program uses.
struct Process {
    memory: Gauge,
    threads: Gauge,
    open_files: Gauge,
    max_files: Gauge,
}

impl Process {
    fn register(registry: &mut Registry) -> Process {
        let started = Gauge::<f64, AtomicU64>::default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        started.set(now.unwrap_or_default().as_secs_f64());
        let help = "When the server started, in seconds since 1970";
        registry.register("process_start_time_seconds", help, started);
        let mut gauge = |name: &str, help: &str| {
            let gauge = Gauge::default();
            // Other systems do not tell.
            if cfg!(target_os = "linux") {
                registry.register(name, help, gauge.clone());
            }
            gauge
        };
        Process {
            memory: gauge(
                "process_resident_memory_bytes",
                "Memory that the process holds",
            ),
            threads: gauge("process_threads", "Threads of the process"),
            open_files: gauge("process_open_fds", "Open file descriptors"),
            max_files: gauge("process_max_fds", "File descriptors that may be open"),
        }
    }

    fn refresh(&self) {
        let number = |file: &str, name: &str| -> Option<i64> {
            let text = fs::read_to_string(file).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        let status = |name: &str| number("/proc/self/status", name).unwrap_or_default();
        self.memory.set(status("VmRSS:") * 1024);
        self.threads.set(status("Threads:"));
        let files = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        self.open_files.set(files as i64);
        let max_files = number("/proc/self/limits", "Max open files");
        self.max_files.set(max_files.unwrap_or_default());
    }
}
