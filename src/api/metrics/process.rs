//! The process as the operating system sees it, under the names that every program uses. What the
//! system does not tell, such as anything but Linux, is left out.

use std::{
    fmt, fs,
    time::{SystemTime, UNIX_EPOCH},
};

use prometheus_client::{collector::Collector, encoding::DescriptorEncoder};

use super::sources::Showing;

/// Looks at the process when asked.
#[derive(Debug)]
pub(super) struct Process {
    /// Seconds since 1970.
    started: f64,
}

impl Process {
    /// The process starts now.
    pub(super) fn new() -> Process {
        let started = SystemTime::now().duration_since(UNIX_EPOCH);
        Process {
            started: started.unwrap_or_default().as_secs_f64(),
        }
    }
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let mut showing = Showing(&mut encoder);
        showing.gauge(
            "process_start_time_seconds",
            "When the server started, in seconds since 1970",
            self.started,
        )?;
        if let Some(memory) = status("VmRSS:") {
            showing.gauge(
                "process_resident_memory_bytes",
                "Memory that the process holds",
                memory * 1024.0,
            )?;
        }
        if let Some(threads) = status("Threads:") {
            showing.gauge("process_threads", "Threads of the process", threads)?;
        }
        if let Ok(open) = fs::read_dir("/proc/self/fd") {
            let open = open.count() as f64;
            showing.gauge("process_open_fds", "Open file descriptors", open)?;
        }
        if let Some(most) = most_files() {
            let help = "File descriptors that may be open";
            showing.gauge("process_max_fds", help, most)?;
        }
        Ok(())
    }
}

/// A number that Linux tells of the process.
fn status(name: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// How many files the process may open.
fn most_files() -> Option<f64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
