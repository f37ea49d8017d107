//! `dog serve --check`: what a server with these settings will find.

use std::thread;

use anyhow::bail;
use dog_store::{Finding, Verdict};

use super::{print, serve::ServeArgs};
use crate::{limits::connections::connection_limit, server::Listeners};

impl ServeArgs {
    /// Prints a line for each thing that a start depends on, and starts nothing.
    ///
    /// # Errors
    /// If one of them is bad.
    pub fn inspect(&self) -> anyhow::Result<()> {
        let location = self.database.location()?;
        let mut findings = location.inspect();
        findings.push(self.files());
        findings.push(match Listeners::bind(self.listen.clone()) {
            Ok(_) => Finding::good(format!("address: {} is free", self.listen)),
            Err(error) => Finding::doubtful(format!(
                "address: {error}; that is right if this server runs already"
            )),
        });
        findings.push(self.proxy());
        let wanted = self.limits.max_connections;
        let workers = thread::available_parallelism().map_or(2, usize::from);
        findings.push(match connection_limit(wanted, workers) {
            Ok(limit) if limit < wanted => Finding::doubtful(format!(
                "open files: enough for {limit} connections of --max-connections {wanted}; raise \
                 LimitNOFILE, or ulimit -n"
            )),
            Ok(limit) => Finding::good(format!("open files: enough for {limit} connections")),
            Err(error) => Finding::bad(format!("open files: {error}")),
        });
        let mut bad = 0;
        for finding in findings {
            print(&format!("{finding}\n"))?;
            bad += usize::from(finding.0 == Verdict::Bad);
        }
        match bad {
            0 => Ok(()),
            1 => bail!("1 thing is bad"),
            _ => bail!("{bad} things are bad"),
        }
    }

    /// The files of the operator.
    fn files(&self) -> Finding {
        match self.files.open() {
            Ok((_, _, files)) => Finding::good(format!("files: {} of the operator", files.len())),
            Err(error) => Finding::bad(format!("files: {error:#}")),
        }
    }

    /// Whether clients are told apart.
    fn proxy(&self) -> Finding {
        let is_local = ["127.", "localhost:", "[::1]:"];
        let is_local = is_local.iter().any(|local| self.listen.starts_with(local));
        match (&self.limits.trusted_proxy_header, is_local) {
            (None, true) => Finding::doubtful(
                "proxy: no --trusted-proxy-header is set; behind a proxy on this machine there \
                 would be no limits by address",
            ),
            (Some(name), false) => Finding::doubtful(format!(
                "proxy: {name} is trusted, and --listen is open to others; a client that reaches \
                 {} without the proxy can choose its address",
                self.listen
            )),
            (None, false) => Finding::good("proxy: none; clients are known by their connections"),
            (Some(name), true) => Finding::good(format!("proxy: clients are known by {name}")),
        }
    }
}
