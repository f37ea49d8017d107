//! What systemd is told, if the unit is of `Type=notify`.

use std::{io, time::Duration};

use crate::runtime::BackgroundThread;

/// How often systemd is told that the start goes on.
const INTERVAL: Duration = Duration::from_secs(10);

/// Sends an assignment such as `READY=1` to the socket that systemd has named, on Linux only. See
/// sd_notify(3).
pub fn notify(assignment: &str) {
    #[cfg(target_os = "linux")]
    if let Some(name) = std::env::var_os("NOTIFY_SOCKET") {
        use std::os::{linux::net::SocketAddrExt, unix::ffi::OsStrExt, unix::net};
        let address = match name.as_bytes() {
            [b'@', name @ ..] => net::SocketAddr::from_abstract_name(name),
            _ => net::SocketAddr::from_pathname(&name),
        };
        let send = |to| net::UnixDatagram::unbound()?.send_to_addr(assignment.as_bytes(), &to);
        if let Err(error) = address.and_then(send) {
            log::warn!("cannot tell systemd {assignment}: {error}");
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = assignment;
}

/// Asks systemd for more time until the thread is dropped, so that it does not end a server that
/// checks or migrates a large database, or waits for its predecessor.
///
/// # Errors
/// The operating system starts no more threads.
pub fn extend_start() -> io::Result<BackgroundThread> {
    BackgroundThread::start("systemd", |waiter| {
        loop {
            notify("EXTEND_TIMEOUT_USEC=30000000");
            if waiter.stops_within(INTERVAL) {
                return;
            }
        }
    })
}
