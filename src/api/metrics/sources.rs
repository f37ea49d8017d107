//! What others count by themselves, read when somebody asks.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet},
    metrics::{MetricType, TypedMetric, counter::ConstCounter, gauge::ConstGauge},
};

use crate::{
    api::limits::memory::ResponseMemory,
    croupier,
    store::{Census, Distribution, Store, Usage, now},
};

/// How long a count of the games is good enough: it may take the disk some time.
const CENSUS_LIFE: Duration = Duration::from_secs(10);

/// Those who count.
#[derive(Debug)]
pub struct Sources {
    store: Store,
    croupier: Arc<croupier::Meter>,
    memory: Arc<ResponseMemory>,
    census: Mutex<Option<(Instant, Census)>>,
}

impl Sources {
    pub fn new(
        store: &Store,
        croupier: Arc<croupier::Meter>,
        memory: Arc<ResponseMemory>,
    ) -> Sources {
        Sources {
            store: store.clone(),
            croupier,
            memory,
            census: Mutex::default(),
        }
    }

    /// The last count of the games, or a new one; none if the store cannot be read.
    fn census(&self) -> Option<Census> {
        // A count that panicked has left nothing behind. Whoever comes meanwhile waits for this one.
        let mut last = self.census.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, census)) = &*last
            && at.elapsed() < CENSUS_LIFE
        {
            return Some(census.clone());
        }
        match self.store.census(now()) {
            Ok(census) => {
                *last = Some((Instant::now(), census.clone()));
                Some(census)
            }
            Err(error) => {
                log::warn!("the games cannot be counted: {error}");
                None
            }
        }
    }

    fn games(&self, showing: &mut Showing<'_, '_>) -> Result<(), fmt::Error> {
        let Some(census) = self.census() else {
            return Ok(());
        };
        let games = census.games.map(|(phase, games)| (phase.name(), games));
        showing.gauges("games", "Games in the store, by phase", "phase", &games)?;
        showing.gauge(
            "bot_games_due",
            "Games in which the server is to act by now",
            census.due as f64,
        )?;
        showing.gauge(
            "database_schema_version",
            "The version of the database's schema",
            f64::from(census.schema_version),
        )
    }

    fn store(&self, showing: &mut Showing<'_, '_>) -> Result<(), fmt::Error> {
        let meter = self.store.meter();
        let help = "Writes that wait for their turn";
        showing.gauge("store_writes_waiting", help, meter.waiting() as f64)?;
        let (seconds, writes) = (meter.commit_seconds(), meter.commit_writes());
        let help = "Commits to the database";
        showing.counter("store_commits", help, writes.count)?;
        let help = "Time that a commit took, from its first statement to the disk";
        showing.histogram("store_commit_seconds", help, &seconds)?;
        let help = "Writes that were committed together";
        showing.histogram("store_commit_writes", help, &writes)?;
        let sizes = self.store.sizes();
        let help = "Size of the database file, without its write-ahead log";
        showing.gauge("database_bytes", help, sizes.database as f64)?;
        match self.store.usage() {
            Ok(Usage { used, max }) => {
                let help = "Bytes of the database that hold something, which its limit is about";
                showing.gauge("database_used_bytes", help, used as f64)?;
                let help = "Bytes that the database may hold; 0 for any number";
                showing.gauge("database_max_bytes", help, max.unwrap_or(0) as f64)?;
            }
            Err(error) => log::warn!("the database cannot be measured: {error}"),
        }
        let help = "Size of the database's write-ahead log";
        showing.gauge("database_wal_bytes", help, sizes.log as f64)
    }

    fn bots(&self, showing: &mut Showing<'_, '_>) -> Result<(), fmt::Error> {
        let work = self.croupier.work();
        let decisions = work.map(|work| (work.level.name(), work.decisions));
        let help = "Decisions made for bots, and for people whose time was up";
        showing.counters("bot_decisions", help, "level", &decisions)?;
        let seconds = work.map(|work| (work.level.name(), work.time.as_secs_f64()));
        let help = "Time that was thought for these decisions";
        showing.counters("bot_seconds", help, "level", &seconds)?;
        showing.counter(
            "bot_stale",
            "Decisions that came to nothing, since the game had gone on meanwhile",
            self.croupier.stale(),
        )
    }
}

impl Sources {
    fn memory(&self, showing: &mut Showing<'_, '_>) -> Result<(), fmt::Error> {
        let (used, limit) = (self.memory.used() as f64, self.memory.limit() as f64);
        let help = "Memory reserved for responses that wait for their readers";
        showing.gauge("response_memory_bytes", help, used)?;
        let help = "The most that may be reserved for such responses";
        showing.gauge("response_memory_limit_bytes", help, limit)
    }
}

impl Collector for Sources {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let mut showing = Showing(&mut encoder);
        self.store(&mut showing)?;
        self.memory(&mut showing)?;
        self.games(&mut showing)?;
        self.bots(&mut showing)
    }
}

/// Writes numbers down that are at hand.
pub(super) struct Showing<'a, 'e>(pub &'a mut DescriptorEncoder<'e>);

impl Showing<'_, '_> {
    pub(super) fn gauge(&mut self, name: &str, help: &str, value: f64) -> Result<(), fmt::Error> {
        self.one(name, help, &ConstGauge::new(value))
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> Result<(), fmt::Error> {
        self.one(name, help, &ConstCounter::new(value))
    }

    /// A gauge for each value of a label.
    fn gauges(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: &[(&str, u64)],
    ) -> Result<(), fmt::Error> {
        let values = values
            .iter()
            .map(|&(of, value)| (of, ConstGauge::new(value as f64)));
        self.each(name, help, label, values)
    }

    /// A counter for each value of a label.
    fn counters<N: Copy>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: &[(&str, N)],
    ) -> Result<(), fmt::Error>
    where
        ConstCounter<N>: EncodeMetric,
    {
        let values = values
            .iter()
            .map(|&(of, value)| (of, ConstCounter::new(value)));
        self.each(name, help, label, values)
    }

    fn histogram(
        &mut self,
        name: &str,
        help: &str,
        distribution: &Distribution,
    ) -> Result<(), fmt::Error> {
        let Distribution {
            buckets,
            count,
            sum,
        } = distribution;
        let below: u64 = buckets.iter().map(|&(_, count)| count).sum();
        let mut buckets = buckets.clone();
        buckets.push((f64::INFINITY, count.saturating_sub(below)));
        let mut encoder = self.describe(name, help, MetricType::Histogram)?;
        encoder.encode_histogram::<NoLabelSet>(*sum, *count, &buckets, None)
    }

    /// Says what comes, with the full stop that the registry gives to all others.
    fn describe<'s>(
        &'s mut self,
        name: &'s str,
        help: &str,
        kind: MetricType,
    ) -> Result<MetricEncoder<'s>, fmt::Error> {
        self.0
            .encode_descriptor(name, &format!("{help}."), None, kind)
    }

    fn one<M: EncodeMetric + TypedMetric>(
        &mut self,
        name: &str,
        help: &str,
        metric: &M,
    ) -> Result<(), fmt::Error> {
        metric.encode(self.describe(name, help, M::TYPE)?)
    }

    fn each<'l, M: EncodeMetric + TypedMetric>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        metrics: impl Iterator<Item = (&'l str, M)>,
    ) -> Result<(), fmt::Error> {
        let mut encoder = self.describe(name, help, M::TYPE)?;
        for (of, metric) in metrics {
            metric.encode(encoder.encode_family(&[(label, of)])?)?;
        }
        Ok(())
    }
}
