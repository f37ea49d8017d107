//! The server: binds, serves until it is stopped, and finishes running requests.

use std::{
    env,
    future::{poll_fn, ready},
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs},
    process,
    rc::Rc,
    sync::Arc,
    task::Poll,
    thread,
    time::Duration,
};

use actix_cors::Cors as CorsMiddleware;
use actix_http::HttpService;
use actix_service::{IntoServiceFactory, ServiceFactoryExt, map_config};
use actix_web::{
    App as ActixApp, Error,
    dev::{AppConfig, fn_service},
    http::header::{self, HeaderName},
    middleware::from_fn,
    rt::{self, net::TcpStream},
    web::Data,
};
use dog_bot::net::nets::Nets;
use dog_store::{RetentionPolicy, Store, StoreError};
use listenfd::ListenFd;
use thiserror::Error;
use tokio::time::{sleep, timeout};
use utoipa_swagger_ui::Config;

use crate::{
    api::{
        route::{configure, not_found},
        routes::routes,
        site::page::come_back,
    },
    app::App,
    bots::BotWorkers,
    headers::origin::Cors,
    http::{middleware::log_and_measure, network::HomeNetwork, static_files::StaticFiles},
    limits::{
        LimitState, Limits,
        connections::{self, Connections},
        gates::Gates,
        guard_preflight,
        io::ConnectionIo,
        memory::{BodyMemory, reserve},
        streams::StreamsByAddress,
    },
    live::{FeedTask, Hub, PresenceTask, PresenceTracker},
    metrics::Metrics,
    player_models::ModelCache,
    pool::{PoolConfig, WorkerPool},
    problem::announce::{RATE_LIMIT, RATE_LIMIT_POLICY},
    quick_joins::QuickJoins,
    quota::CreatorQuotas,
    readiness::{self, Readiness},
    retention, reviews,
    runtime::BackgroundThread,
    systemd::notify,
    view::{cache::ViewCache, notice::Notice},
    watched_file::{self, FileWatch, WatchedFile},
};

/// Seconds that running requests get to end when the server stops.
const SHUTDOWN_SECONDS: u64 = 10;

/// Maximum number of searches for advice that have paused at a time.
const MAX_PAUSED: usize = 62;

/// Maximum number of jobs in the queue of a pool.
const QUEUE_CAPACITY: usize = 1024;

/// How long a job may wait in the queue of a pool.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(10);

/// The nice value of the pools for advice and histories: moves go first.
const LOW_PRIORITY_NICE: i32 = 5;

/// The time between the last connection that is accepted and the stop, in which its first request
/// comes.
const PAUSE: Duration = Duration::from_millis(100);

/// How often another port is tried if port 0 is asked for and the one for the first address is not
/// free for another.
const PORT_TRIES: u32 = 16;

/// How long a connection that the server closes may still receive what the client is sending.
const LINGER_TIMEOUT: Duration = Duration::from_secs(2);

/// The configuration of a server.
pub struct ServerConfig {
    pub cors: Cors,
    /// Threads that answer requests; none means one per core.
    pub workers: Option<usize>,
    /// Threads that play for bots; none means one per core.
    pub bot_threads: Option<usize>,
    /// Threads for advice and analysis; none means one per core, and at least two.
    pub advice_threads: Option<usize>,
    /// The playouts of a review, in percent of the default.
    pub review_percent: u32,
    pub limits: Limits,
    /// Who may create games.
    pub gates: Gates,
    /// What the operator has to say.
    pub notice: Arc<WatchedFile<Notice>>,
    /// The files that these are read from.
    pub watched: Vec<FileWatch>,
    /// How long games are kept.
    pub retention: RetentionPolicy,
    /// The time between two searches for expired data.
    pub sweep_interval: Duration,
    /// Whether the page for players is served at `/`.
    pub has_page: bool,
    /// How long the server goes on to answer after a signal to stop, while it says that it is not
    /// ready.
    pub drain: Duration,
}

/// The sockets of a server. Clients can connect; they are answered once it runs.
pub struct Listeners {
    listen: String,
    sockets: Vec<TcpListener>,
}

impl Listeners {
    /// The sockets that the process which has started this one has opened for it, as systemd does;
    /// none if there are none. Must be called before there are other threads, because it removes
    /// variables from the environment. Clients that connect while no server runs wait in the queue
    /// of such a socket.
    ///
    /// # Errors
    /// If one of them is no TCP socket.
    pub fn passed() -> Result<Option<Listeners>, ServeError> {
        // Those for another process may be inherited, too. The crate lets the id be missing.
        if env::var("LISTEN_PID").ok() != Some(process::id().to_string()) {
            return Ok(None);
        }
        let mut passed = ListenFd::from_env();
        let sockets = (0..passed.len()).filter_map(|at| passed.take_tcp_listener(at).transpose());
        let sockets: Vec<_> = sockets
            .collect::<Result<_, _>>()
            .map_err(ServeError::Passed)?;
        Ok((!sockets.is_empty()).then(|| Listeners {
            listen: "the passed socket".to_owned(),
            sockets,
        }))
    }

    /// Listens on every address that this `HOST:PORT` stands for; port 0 chooses a free port.
    ///
    /// # Errors
    /// If it cannot listen on one of them, unless the machine has no addresses of its family.
    pub fn bind(listen: String) -> Result<Listeners, ServeError> {
        match sockets(&listen) {
            Ok(sockets) => Ok(Listeners { listen, sockets }),
            Err(error) => Err(ServeError::Bind(listen, error)),
        }
    }
}

/// Why the server cannot start or has stopped.
#[derive(Debug, Error)]
pub enum ServeError {
    #[error("cannot listen on {0}: {1}")]
    Bind(String, #[source] io::Error),
    #[error("cannot use the passed socket: {0}")]
    Passed(#[source] io::Error),
    #[error("cannot accept connections: {0}")]
    Connections(#[source] io::Error),
    #[error("cannot start a thread: {0}")]
    Thread(#[source] io::Error),
    #[error("the server failed: {0}")]
    Run(#[source] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A server that is bound and can be run.
pub struct Server {
    server: actix_web::dev::Server,
    addresses: Vec<SocketAddr>,
    network: HomeNetwork,
    bots: BotWorkers,
    threads: [BackgroundThread; 4],
    feed_task: FeedTask,
    presence_task: PresenceTask,
    readiness: Arc<Readiness>,
    signals: StopSignals,
    drain: Duration,
}

impl Server {
    /// Makes the server with its threads. It answers once [`Server::run`] is awaited.
    ///
    /// # Errors
    /// If the server cannot start its threads.
    pub fn new(
        config: ServerConfig,
        listeners: Listeners,
        store: Store,
    ) -> Result<Server, ServeError> {
        let network = HomeNetwork::new(&listeners.sockets);
        let cores = thread::available_parallelism().map_or(2, usize::from);
        let mut metrics = Metrics::new();
        // At least two: one client never occupies all threads.
        let threads = cores.max(2);
        let move_pool = Arc::new(start_pool(&metrics, "moves", threads, 0, 0)?);
        let history_pool = start_pool(&metrics, "history", threads, LOW_PRIORITY_NICE, 0)?;
        let history_pool = Arc::new(history_pool);
        let advice_threads = config.advice_threads.unwrap_or(threads);
        let nice = LOW_PRIORITY_NICE;
        let advice_pool = start_pool(&metrics, "advice", advice_threads, nice, MAX_PAUSED)?;
        let docs = Config::new(["/openapi.json"]);
        let nets = Arc::new(Nets::built_in());
        let models = Arc::new(ModelCache::new(&store, &nets));
        let creators = Arc::new(CreatorQuotas::new(config.limits.stored_bytes_per_address));
        let bots = BotWorkers::start(
            &store,
            &nets,
            &models,
            Arc::clone(&creators),
            config.bot_threads.unwrap_or(cores),
        )
        .map_err(ServeError::Thread)?;
        let retention = retention::start(&store, config.retention, config.sweep_interval)
            .map_err(ServeError::Thread)?;
        let reviews =
            reviews::start(&store, &nets, config.review_percent).map_err(ServeError::Thread)?;
        let files = watched_file::start(config.watched).map_err(ServeError::Thread)?;
        let views = Arc::new(ViewCache::default());
        let (hub, feed_task) = Hub::start(&store, &move_pool, &history_pool, &views);
        let (presence, presence_task) = PresenceTracker::start(&store);
        let memory = Arc::new(BodyMemory::new(config.limits.body_memory));
        let readiness = Arc::new(Readiness::default());
        let health = readiness::watch(&readiness, &store).map_err(ServeError::Thread)?;
        metrics.register_sources(&store, &memory, |own| {
            bots.metrics().register(own);
            readiness.register(own);
        });
        let streams = Data::new(StreamsByAddress::new(config.limits.streams_per_address));
        let limit_state = Data::new(LimitState::new(
            config.limits.clone(),
            config.cors.clone(),
            config.gates.clone(),
            store.clone(),
            creators,
        ));
        let requests = Data::from(Arc::clone(&metrics.requests));
        let app = Data::new(App {
            store,
            hub,
            presence,
            quick_joins: QuickJoins::default(),
            files: StaticFiles::new(&move_pool),
            move_pool,
            history_pool,
            advice_pool,
            nets,
            models,
            views,
            memory: Arc::clone(&memory),
            metrics,
            readiness: Arc::clone(&readiness),
            docs: Arc::new(docs),
            network: network.clone(),
            gates: config.gates,
            notice: config.notice,
            has_page: config.has_page,
        });
        let ServerConfig {
            cors,
            workers,
            limits,
            drain,
            ..
        } = config;
        let workers = workers.unwrap_or(cores);
        let max_connections = connections::connection_limit(limits.max_connections, workers)
            .map_err(ServeError::Connections)?;
        let bodies = Data::from(Arc::clone(&memory));
        let any_origin = matches!(cors, Cors::Any);
        let connections = Connections::new(max_connections, &limits, memory, any_origin);
        let connections = Arc::new(connections);
        let mut server = actix_web::dev::Server::build()
            .disable_signals()
            .workers(workers)
            .max_concurrent_connections(connections::per_worker(max_connections, workers))
            .shutdown_timeout(SHUTDOWN_SECONDS);
        let stopping = server.graceful_shutdown_signal();
        let service = move || {
            let service = IntoServiceFactory::into_factory(
                ActixApp::new()
                    .app_data(app.clone())
                    .app_data(requests.clone())
                    .app_data(limit_state.clone())
                    .app_data(streams.clone())
                    .app_data(bodies.clone())
                    .configure(|config| configure(routes(), config))
                    .default_service(not_found())
                    .wrap(from_fn(reserve))
                    .wrap(cors_middleware(&cors))
                    .wrap(from_fn(guard_preflight))
                    .wrap(from_fn(log_and_measure))
                    .wrap(from_fn(come_back))
                    .wrap(from_fn(connections::track)),
            )
            .map_err(|error: Error| error.error_response());
            let stopping = stopping.clone();
            let http = HttpService::build()
                .graceful_shutdown_signal(move || {
                    let stopping = stopping.clone();
                    async move { stopping.notified().await }
                })
                .keep_alive(limits.keep_alive)
                .client_request_timeout(limits.client_timeout)
                .client_disconnect_timeout(LINGER_TIMEOUT)
                .on_connect_ext(|io: &ConnectionIo, data| {
                    data.insert(Rc::clone(&io.connection));
                })
                .h1(map_config(service, |()| AppConfig::default()));
            let connections = Arc::clone(&connections);
            fn_service(move |socket: TcpStream| {
                let peer = socket.peer_addr().ok();
                let connection = connections.enter(&socket, peer);
                ready(Ok((ConnectionIo::new(socket, connection), peer)))
            })
            .and_then(http)
        };
        let mut addresses = Vec::new();
        for socket in listeners.sockets {
            addresses.extend(socket.local_addr());
            server = server
                .listen("dog", socket, service.clone())
                .map_err(|error| ServeError::Bind(listeners.listen.clone(), error))?;
        }
        Ok(Server {
            server: server.run(),
            addresses,
            network,
            bots,
            threads: [retention, reviews, files, health],
            feed_task,
            presence_task,
            readiness,
            signals: StopSignals::listen().map_err(ServeError::Run)?,
            drain,
        })
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Where other devices in the same network reach it, if it listens on all addresses; the most
    /// likely address first.
    pub fn network_addresses(&self) -> Vec<SocketAddr> {
        self.network.addresses()
    }

    /// Serves until SIGTERM, SIGINT or SIGHUP stops it. Running requests are finished.
    ///
    /// # Errors
    /// If the server fails.
    pub async fn run(self) -> Result<(), ServeError> {
        let (feed_task, handle) = (self.feed_task, self.server.handle());
        let (readiness, mut signals, drain) = (self.readiness, self.signals, self.drain);
        let stopping = rt::spawn(async move {
            signals.next().await;
            readiness.drain();
            notify("STOPPING=1");
            if drain > Duration::ZERO {
                log::info!("stopping in {} s, or at the next signal", drain.as_secs());
                let _ = timeout(drain, signals.next()).await;
            }
            // Without this, the server would wait for the streams.
            feed_task.close();
            // Workers drop the connections that they have not begun when they are told to stop.
            handle.pause().await;
            sleep(PAUSE).await;
            handle.stop(true).await;
        });
        notify("READY=1");
        let served = self.server.await;
        stopping.abort();
        drop(self.bots);
        drop(self.threads);
        drop(self.presence_task);
        served.map_err(ServeError::Run)
    }
}

fn start_pool(
    metrics: &Metrics,
    name: &'static str,
    threads: usize,
    nice: i32,
    max_paused: usize,
) -> Result<WorkerPool, ServeError> {
    let config = PoolConfig {
        name,
        threads,
        max_paused,
        queue_capacity: QUEUE_CAPACITY,
        queue_timeout: QUEUE_TIMEOUT,
        nice,
    };
    WorkerPool::start(config, metrics.pool(name)).map_err(ServeError::Thread)
}

/// Listens on every address that this `HOST:PORT` stands for, but those of a family that the
/// machine does not have. With port 0, the port that is free for the first is that of all.
fn sockets(listen: &str) -> io::Result<Vec<TcpListener>> {
    let mut addresses: Vec<SocketAddr> = listen.to_socket_addrs()?.collect();
    addresses.sort();
    addresses.dedup();
    let picks_port = addresses.iter().all(|address| address.port() == 0);
    let mut tries = if picks_port { PORT_TRIES } else { 1 };
    loop {
        match bind_all(&addresses) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && tries > 1 => tries -= 1,
            sockets => return sockets,
        }
    }
}

fn bind_all(addresses: &[SocketAddr]) -> io::Result<Vec<TcpListener>> {
    let mut sockets: Vec<TcpListener> = Vec::new();
    let mut last = io::ErrorKind::AddrNotAvailable.into();
    for address in addresses {
        let mut address = *address;
        if let (0, Some(first)) = (address.port(), sockets.first()) {
            address.set_port(first.local_addr()?.port());
        }
        match TcpListener::bind(address) {
            Ok(socket) => sockets.push(socket),
            Err(error) if has_family(address) => return Err(error),
            Err(error) => last = error,
        }
    }
    if sockets.is_empty() {
        return Err(last);
    }
    Ok(sockets)
}

/// Whether the machine has addresses of this family.
fn has_family(address: SocketAddr) -> bool {
    let loopback: IpAddr = match address {
        SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    TcpListener::bind((loopback, 0)).is_ok()
}

/// The signals that stop the server.
struct StopSignals {
    #[cfg(unix)]
    signals: Vec<rt::signal::unix::Signal>,
}

#[cfg(unix)]
impl StopSignals {
    /// SIGTERM, SIGINT and, unless it is ignored as under `nohup`, SIGHUP.
    fn listen() -> io::Result<StopSignals> {
        use rt::signal::unix::{SignalKind, signal};
        let mut signals = vec![
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        ];
        if !ignores_hangup() {
            signals.push(signal(SignalKind::hangup())?);
        }
        Ok(StopSignals { signals })
    }

    async fn next(&mut self) {
        poll_fn(|context| {
            let mut signals = self.signals.iter_mut();
            match signals.any(|signal| signal.poll_recv(context).is_ready()) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
}

/// Whether the process was started with SIGHUP ignored. Without Linux' `/proc` that is not known,
/// and the signal keeps its effect.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGHUP is signal 1.
    ignored.is_none_or(|mask| mask & 1 == 1)
}

#[cfg(not(unix))]
impl StopSignals {
    fn listen() -> io::Result<StopSignals> {
        Ok(StopSignals {})
    }

    /// Waits for Ctrl-C.
    async fn next(&mut self) {
        let _ = rt::signal::ctrl_c().await;
    }
}

fn cors_middleware(cors: &Cors) -> CorsMiddleware {
    let base = match cors {
        Cors::Any => CorsMiddleware::default().allow_any_origin().send_wildcard(),
        Cors::Only(origins) => origins
            .iter()
            .fold(CorsMiddleware::default(), |cors, origin| {
                cors.allowed_origin(origin)
            }),
    };
    base.allowed_methods(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
        // Among them those that tracing adds, such as `traceparent`. None gives a page more rights.
        .allow_any_header()
        .expose_headers([
            header::DATE,
            header::ETAG,
            header::LOCATION,
            header::RETRY_AFTER,
            RATE_LIMIT,
            RATE_LIMIT_POLICY,
            HeaderName::from_static("x-request-id"),
        ])
        .max_age(3600)
}

#[cfg(test)]
mod tests {
    use super::sockets;

    #[test]
    fn all_addresses_of_a_name_have_the_same_free_port() {
        let sockets = sockets("localhost:0").unwrap();
        let ports = sockets
            .iter()
            .map(|socket| socket.local_addr().unwrap().port());
        let mut ports: Vec<u16> = ports.collect();
        ports.dedup();
        assert_eq!(ports.len(), 1);
        assert_ne!(ports[0], 0);
    }
}
