//! Connections: how many there are, and an end to those over which nothing comes.
//!
//! The framework waits for the head of the first request for as long as it was told, and for a
//! later one for ever once its first byte is there; to a client that reads nothing it writes
//! until the operating system gives up. So each connection is watched here besides.

use std::{
    any::Any,
    cell::Cell,
    collections::{HashMap, hash_map::Entry},
    net::{Shutdown, TcpStream},
    pin::Pin,
    rc::{Rc, Weak},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use actix_web::{
    Error,
    body::{BodySize, BoxBody, EitherBody, MessageBody},
    dev::{Extensions, ServiceRequest, ServiceResponse},
    middleware::Next,
    rt::{self, net, task::JoinHandle, time::sleep},
    web::Bytes,
};

use super::address::Address;

/// Bytes of a body that need no watching: they are handed to the operating system as one.
const SHORT: u64 = 64 * 1024;

/// How long a connection that is one too many may be without a request.
const TOO_MANY_QUIET: Duration = Duration::from_secs(1);

/// Every connection of the process.
pub struct Connections {
    most: usize,
    /// Connections of one address at most; none where all come from a proxy.
    most_per_address: Option<usize>,
    open: AtomicUsize,
    by_address: Mutex<HashMap<Address, usize>>,
    /// How long one may be without a request.
    quiet: Duration,
    /// How long what was sent may wait for its reader.
    reader_timeout: Duration,
}

/// One connection, from its beginning to its end.
pub struct Connection {
    all: Arc<Connections>,
    /// Whose it is, where that is counted.
    address: Option<Address>,
    one_too_many: bool,
    /// Another handle of the connection, to end it with.
    socket: Option<TcpStream>,
    /// Requests that are being answered.
    busy: Cell<usize>,
    /// When that was none for the last time.
    quiet_since: Cell<Instant>,
    watch: Cell<Option<JoinHandle<()>>>,
}

impl Connections {
    /// At most so many, and so many of one address; each may be without a request for that long, and what was sent may wait
    /// that long for its reader.
    pub fn new(
        most: usize,
        most_per_address: Option<usize>,
        quiet: Duration,
        reader_timeout: Duration,
    ) -> Connections {
        Connections {
            most,
            most_per_address,
            open: AtomicUsize::new(0),
            by_address: Mutex::default(),
            quiet,
            reader_timeout,
        }
    }

    /// Connections that one of so many workers is to take at most: some more than there may be in
    /// all, so that those get to hear of it. Others wait until there is room.
    pub fn most_a_worker(&self, workers: usize) -> usize {
        (self.most + self.most / 4 + 16).div_ceil(workers.max(1))
    }

    /// What happens when a client connects.
    pub fn enter(self: &Arc<Connections>, stream: &dyn Any, data: &mut Extensions) {
        let Some(stream) = stream.downcast_ref::<net::TcpStream>() else {
            return;
        };
        set_reader_timeout(stream, self.reader_timeout);
        let peer = stream.peer_addr().ok();
        let address = peer
            .and_then(Address::of_peer)
            .filter(|_| self.most_per_address.is_some());
        let one_too_many = !self.admit(address);
        let quiet = if one_too_many {
            TOO_MANY_QUIET
        } else {
            self.quiet
        };
        let connection = Rc::new(Connection {
            all: Arc::clone(self),
            address,
            one_too_many,
            socket: second_handle(stream),
            busy: Cell::new(0),
            quiet_since: Cell::new(Instant::now()),
            watch: Cell::new(None),
        });
        let watch = rt::spawn(watch(Rc::downgrade(&connection), quiet));
        connection.watch.set(Some(watch));
        data.insert(connection);
    }

    /// Counts a connection; says whether it is within the limits.
    fn admit(&self, address: Option<Address>) -> bool {
        let open = self.open.fetch_add(1, Ordering::Relaxed);
        let Some(address) = address else {
            return open < self.most;
        };
        let mut by_address = self.by_address();
        let own = by_address.entry(address).or_default();
        *own += 1;
        open < self.most && self.most_per_address.is_none_or(|most| *own <= most)
    }

    /// A connection has ended.
    fn leave(&self, address: Option<Address>) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        let Some(address) = address else { return };
        let mut by_address = self.by_address();
        if let Entry::Occupied(mut own) = by_address.entry(address) {
            *own.get_mut() -= 1;
            if *own.get() == 0 {
                own.remove();
            }
        }
    }

    fn by_address(&self) -> MutexGuard<'_, HashMap<Address, usize>> {
        // Nothing panics while the lock is held.
        self.by_address
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Whether it is to be told that there are too many.
    pub fn is_one_too_many(&self) -> bool {
        self.one_too_many
    }

    /// How long there has been no request; none while there is one.
    fn quiet_for(&self) -> Option<Duration> {
        (self.busy.get() == 0).then(|| self.quiet_since.get().elapsed())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.leave(self.address);
        if let Some(watch) = self.watch.take() {
            watch.abort();
        }
    }
}

/// Ends a connection that has been without a request for too long. What has been sent still
/// arrives.
async fn watch(connection: Weak<Connection>, quiet: Duration) {
    let mut nap = quiet;
    loop {
        sleep(nap).await;
        let Some(connection) = connection.upgrade() else {
            return;
        };
        let left = match connection.quiet_for() {
            None => quiet,
            Some(time) => quiet.saturating_sub(time),
        };
        if left.is_zero() {
            if let Some(socket) = &connection.socket {
                log::debug!("a connection without a request is ended");
                let _ = socket.shutdown(Shutdown::Both);
            }
            return;
        }
        nap = left;
    }
}

/// A request that is being answered over a connection.
struct Busy(Rc<Connection>);

impl Busy {
    fn new(connection: &Rc<Connection>) -> Busy {
        connection.busy.set(connection.busy.get() + 1);
        Busy(Rc::clone(connection))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.set(self.0.busy.get() - 1);
        self.0.quiet_since.set(Instant::now());
    }
}

/// A body that is on its way.
pub struct Sending {
    body: BoxBody,
    _busy: Busy,
}

impl MessageBody for Sending {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.body).poll_next(context)
    }
}

/// Notes that a request is being answered, until the last of the answer is handed over.
///
/// # Errors
/// Those of the service itself.
pub async fn attend<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, Sending>>, Error> {
    let busy = request.conn_data::<Rc<Connection>>().map(Busy::new);
    let response = next.call(request).await?;
    let short = match response.response().body().size() {
        BodySize::None => true,
        BodySize::Sized(length) => length <= SHORT,
        BodySize::Stream => false,
    };
    match busy {
        Some(busy) if !short => Ok(response.map_body(|_, body| {
            let body = body.boxed();
            EitherBody::right(Sending { body, _busy: busy })
        })),
        _ => Ok(response.map_into_left_body()),
    }
}

/// Another handle of the connection; without one it is not watched.
#[cfg(unix)]
fn second_handle(stream: &net::TcpStream) -> Option<TcpStream> {
    use std::os::fd::AsFd;
    match stream.as_fd().try_clone_to_owned() {
        Ok(handle) => Some(TcpStream::from(handle)),
        Err(error) => {
            log::warn!("a connection is not watched: {error}");
            None
        }
    }
}

#[cfg(not(unix))]
fn second_handle(_: &net::TcpStream) -> Option<TcpStream> {
    None
}

/// Asks for as many open files as the process may have: a connection takes two.
pub fn allow_many() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let raised = Rlimit {
            current: limit.maximum,
            ..limit
        };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            log::warn!("connections are as few as the system's limit of open files: {error}");
        }
    }
}

/// Has the operating system end the connection if what was sent is not taken for that long, be
/// it that the client is gone or that it does not read.
#[cfg(target_os = "linux")]
fn set_reader_timeout(stream: &net::TcpStream, timeout: Duration) {
    let millis = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
    if let Err(error) = rustix::net::sockopt::set_tcp_user_timeout(stream, millis) {
        log::debug!("a connection waits for its reader as long as the system does: {error}");
    }
}

#[cfg(not(target_os = "linux"))]
fn set_reader_timeout(_: &net::TcpStream, _: Duration) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_takes_no_more_than_its_share() {
        let second = Duration::from_secs(1);
        let all = Connections::new(10, Some(3), second, second);
        let [one, other] = ["192.0.2.1:1", "192.0.2.2:1"].map(|peer| {
            let peer = peer.parse().expect("an address");
            Address::of_peer(peer)
        });
        for _ in 0..3 {
            assert!(all.admit(one));
        }
        assert!(!all.admit(one), "one too many");
        assert!(all.admit(other), "another's share");
        assert!(all.admit(None), "this machine has none");
        // One that was refused leaves no more room than it took.
        all.leave(one);
        assert!(!all.admit(one));
        all.leave(one);
        all.leave(one);
        assert!(all.admit(one));
        for address in [one, one, one, other, None] {
            all.leave(address);
        }
        assert_eq!(all.open.load(Ordering::Relaxed), 0);
        assert!(all.by_address().is_empty());
    }

    #[test]
    fn all_together_take_no_more_than_there_is() {
        let second = Duration::from_secs(1);
        let all = Connections::new(2, None, second, second);
        assert!(all.admit(None) && all.admit(None) && !all.admit(None));
    }
}
