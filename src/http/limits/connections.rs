//! Connections: how many there are, what each may hold, and an end to those without a request.

use std::{
    cell::{Cell, RefCell},
    io,
    net::SocketAddr,
    pin::Pin,
    rc::{Rc, Weak},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use actix_web::{
    Error,
    body::{BodySize, BoxBody, EitherBody, MessageBody},
    dev::{RequestHead, ServiceRequest, ServiceResponse},
    middleware::Next,
    rt::{self, net::TcpStream, task::JoinHandle, time::sleep},
    web::Bytes,
};

use super::{
    address::{Address, AddressCounts},
    framing::BodyFraming,
    memory::{BodyMemory, Reservation},
};

/// Bytes of a response body that are handed to the dispatcher at once. A longer body is cut.
const PIECE: usize = 32 * 1024;

/// Bytes that a connection whose client does not read is taken to hold.
const STALLED: usize = 128 * 1024;

/// Refusals in a row that a connection gets at once.
const QUICK_REFUSALS: u32 = 10;

/// How long each further one takes.
const SLOW_REFUSAL: Duration = Duration::from_secs(1);

/// How long a connection beyond the limit may be without a request.
const OVER_LIMIT_QUIET: Duration = Duration::from_secs(1);

/// Bytes that the operating system may hold for a connection in each direction.
#[cfg(target_os = "linux")]
const SOCKET_BUFFER: usize = 128 * 1024;

/// Every connection of the process.
pub struct Connections {
    limit: usize,
    /// Connections of one address at most; none where all come from a proxy.
    limit_per_address: Option<usize>,
    open: AtomicUsize,
    by_address: Mutex<AddressCounts>,
    /// How long one may be without a request.
    quiet: Duration,
    /// How long what was sent may wait for its reader.
    reader_timeout: Duration,
    memory: Arc<BodyMemory>,
}

/// One connection, from its beginning to its end.
pub struct Connection {
    all: Arc<Connections>,
    /// Where the connection comes from; none for this machine.
    address: Option<Address>,
    /// Whether it is to be refused because there are too many.
    pub(super) over_limit: bool,
    /// Requests that are being answered.
    busy: Cell<usize>,
    /// When that was none for the last time.
    quiet_since: Cell<Instant>,
    /// What is left to read of the body of the last request.
    body: Cell<BodyFraming>,
    /// Whether a handler waits for more of it.
    body_wanted: Cell<bool>,
    /// Held while the client does not read what was sent.
    stalled: RefCell<Option<Reservation>>,
    /// Requests in a row that were refused because they come too often.
    refused: Cell<u32>,
    /// Whether it is to end.
    pub(super) ended: Cell<bool>,
    /// Who waits to read from the connection.
    reader: RefCell<Option<Waker>>,
    watch: Cell<Option<JoinHandle<()>>>,
}

/// What the dispatcher may read next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The head of the next request.
    Head,
    /// The body of the last request.
    Body(BodyFraming),
    /// Nothing: a request is being answered, or the client does not read.
    Nothing,
}

impl Connections {
    /// At most so many, and so many of one address. Each may be without a request for `quiet`, and
    /// what was sent may wait for its reader for `reader_timeout`.
    pub fn new(
        limit: usize,
        limit_per_address: Option<usize>,
        quiet: Duration,
        reader_timeout: Duration,
        memory: Arc<BodyMemory>,
    ) -> Connections {
        Connections {
            limit,
            limit_per_address,
            open: AtomicUsize::new(0),
            by_address: Mutex::default(),
            quiet,
            reader_timeout,
            memory,
        }
    }

    /// What happens when a client connects.
    pub fn enter(
        self: &Arc<Connections>,
        socket: &TcpStream,
        peer: Option<SocketAddr>,
    ) -> Rc<Connection> {
        configure(socket, self.reader_timeout);
        let address = peer.and_then(Address::of_peer);
        let over_limit = !self.admit(address);
        let quiet = if over_limit {
            OVER_LIMIT_QUIET
        } else {
            self.quiet
        };
        let connection = Rc::new(Connection {
            all: Arc::clone(self),
            address,
            over_limit,
            busy: Cell::new(0),
            quiet_since: Cell::new(Instant::now()),
            body: Cell::new(BodyFraming::NONE),
            body_wanted: Cell::new(false),
            stalled: RefCell::default(),
            refused: Cell::new(0),
            ended: Cell::new(false),
            reader: RefCell::default(),
            watch: Cell::new(None),
        });
        let watch = rt::spawn(watch(Rc::downgrade(&connection), quiet));
        connection.watch.set(Some(watch));
        connection
    }

    /// Counts a connection; says whether it is within the limits.
    fn admit(&self, address: Option<Address>) -> bool {
        let open = self.open.fetch_add(1, Ordering::Relaxed);
        let (Some(address), Some(limit)) = (address, self.limit_per_address) else {
            return open < self.limit;
        };
        let own = self.by_address().add(address, 1);
        open < self.limit && own <= limit
    }

    /// A connection has ended.
    fn leave(&self, address: Option<Address>) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        if let (Some(address), Some(_)) = (address, self.limit_per_address) {
            self.by_address().take(address, 1);
        }
    }

    fn by_address(&self) -> MutexGuard<'_, AddressCounts> {
        // Nothing panics while the lock is held.
        self.by_address
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// A request was refused because they come too often, or was not; says how long the refusal is
    /// to wait. A refusal costs the server almost as much as an answer, so a client that does not
    /// care gets them slowly.
    pub fn refusal_delay(&self, refused: bool) -> Duration {
        let refusals = if refused { self.refused.get() + 1 } else { 0 };
        self.refused.set(refusals.min(QUICK_REFUSALS + 1));
        if refusals > QUICK_REFUSALS {
            SLOW_REFUSAL
        } else {
            Duration::ZERO
        }
    }

    /// How long there has been no request; zero while there is one.
    fn quiet_for(&self) -> Duration {
        match self.busy.get() {
            0 => self.quiet_since.get().elapsed(),
            _ => Duration::ZERO,
        }
    }

    /// What the dispatcher may read now.
    pub(super) fn wanted(&self) -> Wanted {
        if self.stalled.borrow().is_some() {
            return Wanted::Nothing;
        }
        let idle = self.busy.get() == 0;
        match self.body.get() {
            BodyFraming::NONE if idle => Wanted::Head,
            BodyFraming::NONE => Wanted::Nothing,
            body if idle || self.body_wanted.get() => Wanted::Body(body),
            _ => Wanted::Nothing,
        }
    }

    /// A handler waits for more of the request's body.
    pub fn want_body(&self) {
        self.body_wanted.set(true);
        self.wake();
    }

    /// So much is left of the last request's body.
    pub(super) fn set_body(&self, body: BodyFraming) {
        self.body.set(body);
        self.body_wanted.set(false);
    }

    /// Keeps the waker of whoever waits to read.
    pub(super) fn wake_later(&self, waker: &Waker) {
        let mut reader = self.reader.borrow_mut();
        if !reader.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *reader = Some(waker.clone());
        }
    }

    fn wake(&self) {
        let waker = self.reader.borrow_mut().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The client does not read what was sent, or does so again. An error ends the connection:
    /// clients that do not read hold too much memory.
    pub(super) fn set_stalled(&self, stalled: bool) -> io::Result<()> {
        if stalled == self.stalled.borrow().is_some() {
            return Ok(());
        }
        if stalled {
            let reservation = self.all.memory.reserve(self.address, STALLED);
            let reservation = reservation
                .ok_or_else(|| io::Error::other("too many clients do not read what was sent"))?;
            self.stalled.replace(Some(reservation));
        } else {
            self.stalled.take();
            self.wake();
        }
        Ok(())
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
        let left = quiet.saturating_sub(connection.quiet_for());
        if left.is_zero() {
            log::debug!("a connection without a request is ended");
            connection.ended.set(true);
            connection.wake();
            return;
        }
        nap = left;
    }
}

/// A request that is being answered over a connection.
struct Busy(Rc<Connection>);

impl Busy {
    fn new(connection: &Rc<Connection>, head: &RequestHead) -> Busy {
        connection.busy.set(connection.busy.get() + 1);
        connection.set_body(BodyFraming::of(head));
        Busy(Rc::clone(connection))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.set(self.0.busy.get() - 1);
        self.0.quiet_since.set(Instant::now());
        self.0.wake();
    }
}

/// A response body that is being sent, in pieces.
pub struct Sending {
    body: BoxBody,
    /// What is left of the last part of the body.
    rest: Bytes,
    _busy: Busy,
    _reservation: Option<Reservation>,
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
        if self.rest.is_empty() {
            match Pin::new(&mut self.body).poll_next(context) {
                Poll::Ready(Some(Ok(part))) => self.rest = part,
                other => return other,
            }
        }
        let length = self.rest.len().min(PIECE);
        Poll::Ready(Some(Ok(self.rest.split_to(length))))
    }
}

/// Notes that a request is being answered, until the last of the answer is handed over.
pub async fn track<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, Sending>>, Error> {
    let connection = request.conn_data::<Rc<Connection>>();
    let busy = connection.map(|connection| Busy::new(connection, request.head()));
    let mut response = next.call(request).await?;
    let short = match response.response().body().size() {
        BodySize::None => true,
        BodySize::Sized(length) => length <= PIECE as u64,
        BodySize::Stream => false,
    };
    let reservation = response.response_mut().extensions_mut().remove();
    match busy {
        Some(busy) if !short => Ok(response.map_body(|_, body| {
            EitherBody::right(Sending {
                body: body.boxed(),
                rest: Bytes::new(),
                _busy: busy,
                _reservation: reservation,
            })
        })),
        _ => Ok(response.map_into_left_body()),
    }
}

/// How many connections there may be at a time: as many as wanted, or as the limit of open files
/// has room for, which is raised as far as it may be. Each takes one.
#[cfg(target_os = "linux")]
pub fn allow(wanted: usize, workers: usize) -> io::Result<usize> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, raised).unwrap_or_else(|error| {
        log::warn!("cannot raise the limit of open files: {error}");
    });
    let Some(files) = getrlimit(Resource::Nofile).current else {
        return Ok(wanted);
    };
    let open = std::fs::read_dir("/proc/self/fd").map_or(64, Iterator::count);
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    let room = files.saturating_sub(open + OWN_FILES + workers);
    // Those that are told that they are too many take files, too.
    let room = room - room / 5;
    if room == 0 {
        let what = format!("the limit of {files} open files is too low for a server");
        return Err(io::Error::other(what));
    }
    if room < wanted {
        log::warn!("at most {room} connections, because {files} files may be open");
    }
    Ok(wanted.min(room))
}

/// Files that the server opens while it runs, beside connections: by readers of the database.
#[cfg(target_os = "linux")]
const OWN_FILES: usize = 24;

#[cfg(not(target_os = "linux"))]
pub fn allow(wanted: usize, _: usize) -> io::Result<usize> {
    Ok(wanted)
}

/// Connections that one of so many workers takes at most: a quarter more than there may be in all,
/// so that those get to hear of it. Others wait until there is room.
pub fn per_worker(limit: usize, workers: usize) -> usize {
    (limit + limit / 4).div_ceil(workers.max(1)).max(1)
}

/// Sets what the operating system does for a connection. Small answers are sent at once, and
/// buffers have a bound. What the client does not take for that long, be it gone or not reading,
/// ends the connection.
#[cfg(target_os = "linux")]
fn configure(socket: &TcpStream, reader_timeout: Duration) {
    use rustix::net::sockopt;
    let millis = u32::try_from(reader_timeout.as_millis()).unwrap_or(u32::MAX);
    let configured = sockopt::set_tcp_user_timeout(socket, millis)
        .and_then(|()| sockopt::set_socket_send_buffer_size(socket, SOCKET_BUFFER))
        .and_then(|()| sockopt::set_socket_recv_buffer_size(socket, SOCKET_BUFFER))
        .and_then(|()| sockopt::set_tcp_nodelay(socket, true));
    if let Err(error) = configured {
        log::debug!("a connection is not configured: {error}");
    }
}

#[cfg(not(target_os = "linux"))]
fn configure(socket: &TcpStream, _: Duration) {
    if let Err(error) = socket.set_nodelay(true) {
        log::debug!("a connection is not configured: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_takes_no_more_than_its_share() {
        let second = Duration::from_secs(1);
        let all = Connections::new(10, Some(3), second, second, Arc::new(BodyMemory::new(0)));
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
        let all = Connections::new(2, None, second, second, Arc::new(BodyMemory::new(0)));
        assert!(all.admit(None) && all.admit(None) && !all.admit(None));
    }
}
