//! `dog serve --check`: what a server with these settings will find.

use std::thread;

use anyhow::ensure;
use dog_store::Verdict::{self, Bad, Doubtful, Good};

use super::{print, serve::ServeArgs};
use crate::{limits::connections::connection_limit, server::Listeners};

impl ServeArgs {
    /// Prints a line for each thing that a start depends on, and starts nothing.
    ///
    /// # Errors
    /// If one of them is bad.
    pub fn inspect(&self) -> anyhow::Result<()> {
        let mut findings = self.database.location()?.inspect();
        findings.add_result("files of the operator", self.files.open());
        match Listeners::bind(self.listen.clone()) {
            Ok(_) => findings.add(Good, "address"),
            Err(error) => findings.add(Doubtful, format!("address: {error}; by this server?")),
        }
        let (verdict, proxy) = self.proxy();
        findings.add(verdict, proxy);
        let wanted = self.limits.max_connections;
        let workers = thread::available_parallelism().map_or(2, usize::from);
        match connection_limit(wanted, workers) {
            Ok(limit) if limit < wanted => findings.add(
                Doubtful,
                format!("open files: enough for {limit} connections; raise LimitNOFILE, ulimit -n"),
            ),
            limit => findings.add_result("open files", limit),
        }
        for (verdict, text) in &findings.0 {
            let verdict = format!("{verdict:?}").to_lowercase();
            print(&format!("{verdict:8}  {text}\n"))?;
        }
        let bad = findings.0.iter().filter(|(verdict, _)| *verdict == Bad);
        ensure!(
            bad.count() == 0,
            "what is bad must be put right before a start"
        );
        Ok(())
    }

    /// Whether clients are told apart.
    fn proxy(&self) -> (Verdict, &'static str) {
        let is_local = ["127.", "localhost:", "[::1]:"];
        let is_local = is_local.iter().any(|local| self.listen.starts_with(local));
        match (self.limits.trusted_proxy_header.is_some(), is_local) {
            (false, true) => (
                Doubtful,
                "proxy: behind one on this machine there are no limits by address without \
                 --trusted-proxy-header",
            ),
            (true, false) => (
                Doubtful,
                "proxy: who reaches --listen without it chooses the address in its header",
            ),
            _ => (Good, "proxy"),
        }
    }
}
