//! Gauges whose values are read when `/metrics` is requested.

use std::{
    fs,
    sync::{Arc, atomic::AtomicU64},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use dog_store::{Store, StoreError};
use prometheus_client::{
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};
use tokio::sync::Mutex;

use super::register;
use crate::limits::memory::BodyMemory;

/// How long a count of the games is reused, because counting may wait for the disk.
const COUNT_TTL: Duration = Duration::from_secs(10);

/// A gauge that is shown once it has a value.
type OptionalGauge = Family<[(&'static str, &'static str); 0], Gauge>;

/// The gauges, with the sources of their values.
pub(super) struct OnDemandGauges {
    store: Store,
    memory: Arc<BodyMemory>,
    body_memory: Gauge,
    database: Gauge,
    database_used: Gauge,
    database_max: Gauge,
    database_log: Gauge,
    schema_version: Gauge,
    /// `None` for a file.
    standby: Option<Gauge>,
    disk_free: OptionalGauge,
    backup_age: OptionalGauge,
    games: Family<[(&'static str, &'static str); 1], Gauge>,
    games_due: Gauge,
    oldest_due: Gauge,
    reviews_waiting: Gauge,
    games_counted: Mutex<Option<Instant>>,
    process: ProcessGauges,
}

impl OnDemandGauges {
    /// Registers the gauges.
    pub(super) fn register(
        registry: &mut Registry,
        store: &Store,
        memory: &Arc<BodyMemory>,
    ) -> OnDemandGauges {
        let process = ProcessGauges::register(registry);
        let own = registry.sub_registry_with_prefix("dog");
        let limit = "Maximum of the memory reserved for large bodies";
        let limit: Gauge = register(own, "body_memory_limit_bytes", limit);
        limit.set(memory.limit as i64);
        let mut gauge = |name, help| register(own, name, help);
        OnDemandGauges {
            store: store.clone(),
            memory: Arc::clone(memory),
            body_memory: gauge("body_memory_bytes", "Memory reserved for large bodies"),
            database: gauge("database_bytes", "Size of the database, without its log"),
            database_used: gauge("database_used_bytes", "Size in use, which is limited"),
            database_max: gauge("database_max_bytes", "Limit of the size in use; 0 for none"),
            database_log: gauge("database_wal_bytes", "Size of the write-ahead log"),
            schema_version: gauge("database_schema_version", "Version of the schema"),
            standby: store.has_standby().map(|_| {
                let help = "Whether commits wait until a standby has them: 1 or 0";
                gauge("database_synchronous_standby", help)
            }),
            games_due: gauge("bot_games_due", "Games in which the server's action is due"),
            oldest_due: gauge("oldest_due_game_seconds", "Time a game has been due"),
            reviews_waiting: gauge("reviews_waiting", "Reviews that wait for their turn"),
            disk_free: register(own, "disk_free_bytes", "Free space of the database's disk"),
            backup_age: register(own, "backup_age_seconds", "Time since the last backup"),
            games: register(own, "games", "Games in the store, by phase"),
            games_counted: Mutex::default(),
            process,
        }
    }

    /// Reads all values. What cannot be read keeps its last value.
    pub(super) async fn refresh(&self) {
        self.body_memory.set(self.memory.used() as i64);
        let sizes = self.store.sizes();
        self.database.set(sizes.database as i64);
        self.database_log.set(sizes.log as i64);
        if let Some(bytes) = sizes.disk_free {
            self.disk_free.get_or_create(&[]).set(bytes as i64);
        }
        if let Some(age) = sizes.backup_age {
            self.backup_age.get_or_create(&[]).set(age.as_secs() as i64);
        }
        if let (Some(gauge), Some(has_standby)) = (&self.standby, self.store.has_standby()) {
            gauge.set(has_standby.into());
        }
        if let Err(error) = self.count().await {
            dog_store::warn_rarely!("cannot read the size of the database: {error}");
        }
        self.process.refresh();
    }

    /// Reads how full the database is, and counts the games unless that was done lately.
    async fn count(&self) -> Result<(), StoreError> {
        let usage = self.store.usage().await?;
        self.database_used.set(usage.used as i64);
        self.database_max.set(usage.max.unwrap_or(0) as i64);
        // Requests that come meanwhile wait for this count.
        let mut counted = self.games_counted.lock().await;
        if counted.is_some_and(|at| at.elapsed() < COUNT_TTL) {
            return Ok(());
        }
        let game_counts = self.store.game_counts().await?;
        for (phase, games) in game_counts.games {
            let phase = [("phase", phase.name())];
            self.games.get_or_create(&phase).set(games as i64);
        }
        self.games_due.set(game_counts.due as i64);
        self.oldest_due.set(game_counts.oldest_due as i64);
        self.reviews_waiting.set(game_counts.reviews_waiting as i64);
        self.schema_version.set(game_counts.schema_version.into());
        *counted = Some(Instant::now());
        Ok(())
    }
}

/// Metrics of the process, under the usual names; on Linux only, except its start time.
struct ProcessGauges {
    memory: Gauge,
    threads: Gauge,
    open_files: Gauge,
    max_files: Gauge,
}

impl ProcessGauges {
    fn register(registry: &mut Registry) -> ProcessGauges {
        let started = Gauge::<f64, AtomicU64>::default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        started.set(now.unwrap_or_default().as_secs_f64());
        let help = "When the server started, in seconds since 1970";
        registry.register("process_start_time_seconds", help, started);
        let mut gauge = |name, help| match cfg!(target_os = "linux") {
            true => register(registry, name, help),
            // Only Linux has /proc.
            false => Gauge::default(),
        };
        ProcessGauges {
            memory: gauge("process_resident_memory_bytes", "Resident memory"),
            threads: gauge("process_threads", "Threads of the process"),
            open_files: gauge("process_open_fds", "Open file descriptors"),
            max_files: gauge("process_max_fds", "Maximum number of open file descriptors"),
        }
    }

    fn refresh(&self) {
        self.memory.set(proc_number("status", "VmRSS:") * 1024);
        self.threads.set(proc_number("status", "Threads:"));
        let files = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        self.open_files.set(files as i64);
        self.max_files.set(proc_number("limits", "Max open files"));
    }
}

/// The number in a line of a file about this process; 0 if it cannot be read.
fn proc_number(file: &str, name: &str) -> i64 {
    fs::read_to_string(format!("/proc/self/{file}"))
        .ok()
        .and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        })
        .unwrap_or_default()
}
