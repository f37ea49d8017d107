//! `dog healthcheck`: asks a running server whether it is alive, for images without curl.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs},
    time::Duration,
};

use anyhow::{Context, ensure};
use clap::Args;
use ureq::Agent;

use super::{Cli, serve};

/// How long the server may take to respond.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
pub struct HealthcheckArgs {
    /// Address of the server, HOST:PORT; by default that of the server of a container or, where
    /// there is none, what DOG_LISTEN says.
    #[arg(long, value_parser = serve::address)]
    listen: Option<String>,
}

impl HealthcheckArgs {
    /// Requests `/healthz`.
    ///
    /// # Errors
    /// If the server does not respond with 200.
    pub fn run(self) -> anyhow::Result<()> {
        let listen = self.listen.or_else(Cli::listen_of_server);
        let listen = listen.context("the address of the server is not known")?;
        let mut address = listen
            .to_socket_addrs()
            .with_context(|| format!("{listen} is not an address"))?
            .next()
            .with_context(|| format!("{listen} has no address"))?;
        // A server that listens on every address answers on the loopback one.
        match address.ip() {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED) => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        let config = Agent::config_builder()
            .proxy(None)
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .build();
        let asked = Agent::from(config)
            .get(format!("http://{address}/healthz"))
            .call();
        let response = asked.with_context(|| format!("no server answers on {address}"))?;
        ensure!(response.status() == 200, "the server is not healthy");
        Ok(())
    }
}
