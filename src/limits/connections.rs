//! Connections: their number, their memory, and the end of idle ones.

use std::{
    cell::{Cell, RefCell},
    io,
    net::SocketAddr,
    pin::Pin,
    rc::{Rc, Weak},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use actix_web::{
    Error,
    body::{BodySize, BoxBody, EitherBody, MessageBody},
    dev::{RequestHead, ServiceRequest, ServiceResponse},
    http::StatusCode,
    middleware::Next,
    rt::{self, net::TcpStream, task::JoinHandle, time::sleep},
    web::Bytes,
};
use parking_lot::Mutex;

use super::{
    address::{Address, AddressCounts},
    framing::BodyFraming,
    memory::{BodyMemory, Reservation},
    rates::Limits,
};
use crate::problem::Problem;

/// Bytes of a response body that the dispatcher gets at once.
const SEND_CHUNK: usize = 32 * 1024;

/// The memory charged for a connection whose client does not read.
const STALLED_COST: usize = 128 * 1024;

/// Consecutive refusals that a connection gets without delay.
const UNDELAYED_REFUSALS: u32 = 10;

/// The delay of each further refusal.
const REFUSAL_DELAY: Duration = Duration::from_secs(1);

/// How long a connection beyond the limit may be idle.
const OVER_LIMIT_IDLE_TIMEOUT: Duration = Duration::from_secs(1);

/// Size of the operating system's buffer for a connection, in each direction.
#[cfg(target_os = "linux")]
const SOCKET_BUFFER: usize = 128 * 1024;

/// All connections of the process.
pub struct Connections {
    limit: usize,
    /// Maximum number of connections of one address; none if all come from a proxy.
    limit_per_address: Option<usize>,
    open: AtomicUsize,
    by_address: Mutex<AddressCounts>,
    /// How long a connection may be without a request.
    idle_timeout: Duration,
    /// How long sent data may wait for the client to read it.
    reader_timeout: Duration,
    memory: Arc<BodyMemory>,
    /// Whether pages of all origins may read responses.
    any_origin: bool,
}

/// A connection.
pub struct Connection {
    all: Arc<Connections>,
    /// The client's address; none for this machine.
    address: Option<Address>,
    /// Whether its requests are refused because there are too many connections.
    pub(super) over_limit: bool,
    /// Requests that are being answered.
    in_flight: Cell<usize>,
    /// When the last request ended.
    idle_since: Cell<Instant>,
    /// The unread rest of the last request's body.
    body: Cell<BodyFraming>,
    /// Whether a handler waits for more of the body.
    body_wanted: Cell<bool>,
    /// Held while the client does not read what was sent.
    stalled: RefCell<Option<Reservation>>,
    /// Consecutive requests that were refused because they came too often.
    refused: Cell<u32>,
    /// Whether the response waits for something to happen: see [`WaitingResponse`].
    ///
    /// [`WaitingResponse`]: super::streams::WaitingResponse
    pub(super) waits: Cell<bool>,
    /// Whether the connection is to end.
    pub(super) ended: Cell<bool>,
    /// The waker of the task that reads from the connection.
    reader: RefCell<Option<Waker>>,
    watch: Cell<Option<JoinHandle<()>>>,
}

/// What the dispatcher may read next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextRead {
    /// The head of the next request.
    Head,
    /// The body of the last request.
    Body(BodyFraming),
    /// Nothing: a request is being answered, or the client does not read.
    Nothing,
}

impl Connections {
    /// No connections yet. At most this many may be open.
    pub fn new(
        limit: usize,
        limits: &Limits,
        memory: Arc<BodyMemory>,
        any_origin: bool,
    ) -> Connections {
        Connections {
            limit,
            limit_per_address: limits.max_connections_per_address(),
            open: AtomicUsize::new(0),
            by_address: Mutex::default(),
            // The framework closes it first, unless a request's head has begun and not ended.
            idle_timeout: limits.keep_alive + Duration::from_secs(1),
            reader_timeout: limits.reader_timeout,
            memory,
            any_origin,
        }
    }

    /// Adds the connection of a client.
    pub fn enter(
        self: &Arc<Connections>,
        socket: &TcpStream,
        peer: Option<SocketAddr>,
    ) -> Rc<Connection> {
        configure(socket, self.reader_timeout);
        let address = peer.and_then(Address::from_peer);
        let over_limit = !self.admit(address);
        let idle_timeout = if over_limit {
            OVER_LIMIT_IDLE_TIMEOUT
        } else {
            self.idle_timeout
        };
        let connection = Rc::new(Connection {
            all: Arc::clone(self),
            address,
            over_limit,
            in_flight: Cell::new(0),
            idle_since: Cell::new(Instant::now()),
            body: Cell::new(BodyFraming::NONE),
            body_wanted: Cell::new(false),
            stalled: RefCell::default(),
            refused: Cell::new(0),
            waits: Cell::new(false),
            ended: Cell::new(false),
            reader: RefCell::default(),
            watch: Cell::new(None),
        });
        let watch = rt::spawn(watch(Rc::downgrade(&connection), idle_timeout));
        connection.watch.set(Some(watch));
        connection
    }

    /// Counts a connection, and returns whether it is within the limits.
    fn admit(&self, address: Option<Address>) -> bool {
        let open = self.open.fetch_add(1, Ordering::Relaxed);
        let (Some(address), Some(limit)) = (address, self.limit_per_address) else {
            return open < self.limit;
        };
        let own = self.by_address.lock().add(address, 1);
        open < self.limit && own <= limit
    }

    /// Counts the end of a connection.
    fn leave(&self, address: Option<Address>) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        if let (Some(address), Some(_)) = (address, self.limit_per_address) {
            self.by_address.lock().subtract(address, 1);
        }
    }
}

impl Connection {
    /// Counts whether a request was refused because it came too soon, and returns how long to delay
    /// the refusal. A refusal costs the server almost as much as a response, so a client that
    /// ignores refusals gets them slowly.
    pub fn refusal_delay(&self, refused: bool) -> Duration {
        let refusals = if refused { self.refused.get() + 1 } else { 0 };
        self.refused.set(refusals.min(UNDELAYED_REFUSALS + 1));
        if refusals > UNDELAYED_REFUSALS {
            REFUSAL_DELAY
        } else {
            Duration::ZERO
        }
    }

    /// How long there has been no request; zero during a request.
    fn idle_for(&self) -> Duration {
        if self.in_flight.get() == 0 {
            self.idle_since.get().elapsed()
        } else {
            Duration::ZERO
        }
    }

    /// What the dispatcher may read now.
    pub(super) fn next_read(&self) -> NextRead {
        if self.stalled.borrow().is_some() {
            return NextRead::Nothing;
        }
        let idle = self.in_flight.get() == 0;
        match self.body.get() {
            BodyFraming::NONE if idle => NextRead::Head,
            BodyFraming::NONE => NextRead::Nothing,
            body if idle || self.body_wanted.get() => NextRead::Body(body),
            _ => NextRead::Nothing,
        }
    }

    /// Notes that a handler waits for more of the request's body.
    pub fn want_body(&self) {
        self.body_wanted.set(true);
        self.wake();
    }

    /// Sets what is left of the last request's body.
    pub(super) fn set_body(&self, body: BodyFraming) {
        self.body.set(body);
        self.body_wanted.set(false);
    }

    /// Stores the waker of the task that reads.
    pub(super) fn set_reader(&self, waker: &Waker) {
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

    /// What to send in place of these bytes, if they are an answer of the dispatcher to what it
    /// cannot read as a request: it has no body and no headers for pages.
    pub(super) fn describe_refusal(&self, bytes: &[u8]) -> Option<String> {
        if self.in_flight.get() > 0 || !bytes.starts_with(b"HTTP/1.1 4") {
            return None;
        }
        let (line, rest) = str::from_utf8(bytes).ok()?.split_once("\r\n")?;
        let rest = rest.strip_prefix("content-length: 0\r\n")?;
        let status = StatusCode::from_bytes(bytes.get(9..12)?).ok()?;
        let body = serde_json::to_string(&Problem::from_status(status).details).ok()?;
        let length = body.len();
        let origin = match self.all.any_origin {
            true => "access-control-allow-origin: *\r\n",
            false => "",
        };
        let kind = "content-type: application/problem+json\r\nx-content-type-options: nosniff";
        Some(format!(
            "{line}\r\n{kind}\r\n{origin}content-length: {length}\r\n{rest}{body}"
        ))
    }

    /// Notes whether the client has stopped reading.
    ///
    /// # Errors
    /// If such clients hold too much memory already; the error ends the connection.
    pub(super) fn set_stalled(&self, stalled: bool) -> io::Result<()> {
        if stalled == self.stalled.borrow().is_some() {
            return Ok(());
        }
        if stalled {
            let reservation = self.all.memory.reserve(self.address, STALLED_COST);
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

/// Ends a connection that has been idle for too long. Data that was sent still arrives.
async fn watch(connection: Weak<Connection>, idle_timeout: Duration) {
    let mut delay = idle_timeout;
    loop {
        sleep(delay).await;
        let Some(connection) = connection.upgrade() else {
            return;
        };
        let left = idle_timeout.saturating_sub(connection.idle_for());
        if left.is_zero() {
            log::debug!("an idle connection is closed");
            connection.ended.set(true);
            connection.wake();
            return;
        }
        delay = left;
    }
}

/// A request that is being answered over a connection.
struct InFlight(Rc<Connection>);

impl InFlight {
    fn new(connection: &Rc<Connection>, head: &RequestHead) -> InFlight {
        connection.in_flight.set(connection.in_flight.get() + 1);
        connection.set_body(BodyFraming::from_head(head));
        InFlight(Rc::clone(connection))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.set(self.0.in_flight.get() - 1);
        self.0.idle_since.set(Instant::now());
        self.0.wake();
    }
}

/// A response body that is sent in chunks.
pub struct ChunkedBody {
    body: BoxBody,
    /// The rest of the last part of the body.
    rest: Bytes,
    _in_flight: InFlight,
    _reservation: Option<Reservation>,
}

impl MessageBody for ChunkedBody {
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
        let length = self.rest.len().min(SEND_CHUNK);
        Poll::Ready(Some(Ok(self.rest.split_to(length))))
    }
}

/// Counts a request as in flight until the last part of its response is sent.
pub async fn track<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, ChunkedBody>>, Error> {
    let connection = request.conn_data::<Rc<Connection>>();
    let in_flight = connection.map(|connection| InFlight::new(connection, request.head()));
    let mut response = next.call(request).await?;
    let short = match response.response().body().size() {
        BodySize::None => true,
        BodySize::Sized(length) => length <= SEND_CHUNK as u64,
        BodySize::Stream => false,
    };
    let reservation = response.response_mut().extensions_mut().remove();
    match in_flight {
        Some(in_flight) if !short => Ok(response.map_body(|_, body| {
            EitherBody::right(ChunkedBody {
                body: body.boxed(),
                rest: Bytes::new(),
                _in_flight: in_flight,
                _reservation: reservation,
            })
        })),
        _ => Ok(response.map_into_left_body()),
    }
}

/// The number of connections that may be open at a time: `wanted`, or fewer if the limit of open
/// files is lower. Each connection takes one file. The limit is raised as far as possible.
#[cfg(target_os = "linux")]
pub fn connection_limit(wanted: usize, workers: usize) -> io::Result<usize> {
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
    // Connections that are refused take files too.
    let room = room - room / 5;
    if room == 0 {
        let what = format!("the limit of {files} open files is too low for a server");
        return Err(io::Error::other(what));
    }
    if room < wanted {
        log::warn!("at most {room} connections, because the limit of open files is {files}");
    }
    Ok(wanted.min(room))
}

/// Files that the server opens while it runs, besides connections: for readers of the database.
#[cfg(target_os = "linux")]
const OWN_FILES: usize = 24;

#[cfg(not(target_os = "linux"))]
pub fn connection_limit(wanted: usize, _: usize) -> io::Result<usize> {
    Ok(wanted)
}

/// Maximum number of connections of one worker. In total it is a quarter above the limit, so that
/// the clients beyond the limit get a refusal. Further ones wait until there is room.
pub fn per_worker(limit: usize, workers: usize) -> usize {
    (limit + limit / 4).div_ceil(workers.max(1)).max(1)
}

/// Sets the socket options of a connection: small responses are sent at once, and buffers are
/// bounded. If the client acknowledges nothing for `reader_timeout`, the connection ends.
#[cfg(target_os = "linux")]
fn configure(socket: &TcpStream, reader_timeout: Duration) {
    use rustix::net::sockopt;
    let millis = u32::try_from(reader_timeout.as_millis()).unwrap_or(u32::MAX);
    let configured = sockopt::set_tcp_user_timeout(socket, millis)
        .and_then(|()| sockopt::set_socket_send_buffer_size(socket, SOCKET_BUFFER))
        .and_then(|()| sockopt::set_socket_recv_buffer_size(socket, SOCKET_BUFFER))
        .and_then(|()| sockopt::set_tcp_nodelay(socket, true));
    if let Err(error) = configured {
        log::debug!("cannot set the options of a socket: {error}");
    }
}

#[cfg(not(target_os = "linux"))]
fn configure(socket: &TcpStream, _: Duration) {
    if let Err(error) = socket.set_nodelay(true) {
        log::debug!("cannot set the options of a socket: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(limit: usize, limit_per_address: usize) -> Connections {
        let limits = Limits {
            address_rate: 0,
            token_rate: 0,
            games_per_address: 0,
            stored_bytes_per_address: 0,
            advice_per_address: 0,
            trusted_proxy_header: None,
            body_memory: 0,
            max_connections: limit,
            connections_per_address: limit_per_address,
            streams_per_address: 0,
            client_timeout: Duration::ZERO,
            keep_alive: Duration::ZERO,
            reader_timeout: Duration::ZERO,
            log_client_address: false,
        };
        Connections::new(limit, &limits, Arc::new(BodyMemory::new(0)), true)
    }

    #[test]
    fn one_address_takes_no_more_than_its_share() {
        let all = connections(10, 3);
        let [one, other] = ["192.0.2.1:1", "192.0.2.2:1"].map(|peer| {
            let peer = peer.parse().expect("an address");
            Address::from_peer(peer)
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
        assert!(all.by_address.lock().is_empty());
    }

    #[test]
    fn all_together_take_no_more_than_there_is() {
        let all = connections(2, 0);
        assert!(all.admit(None) && all.admit(None) && !all.admit(None));
    }
}
