//! The server: binds, serves until it is told to stop, and stops without losing a request.

use std::{
    future::ready,
    io,
    net::{SocketAddr, TcpListener, ToSocketAddrs},
    rc::Rc,
    sync::Arc,
    thread,
    time::Duration,
};

use actix_cors::Cors as CorsMiddleware;
use actix_http::HttpService;
use actix_service::{IntoServiceFactory, ServiceFactoryExt, map_config};
use actix_web::{
    App as ActixApp, Error,
    dev::{AppConfig, ServerHandle, fn_service},
    http::header::{self, HeaderName},
    middleware::{Compress, from_fn},
    rt::{self, net::TcpStream},
    web::Data,
};
use dog_bot::net::nets::{Nets, NetsError};
#[cfg(unix)]
use futures_util::future::select;
use thiserror::Error;
use utoipa_swagger_ui::Config;

use super::{
    limits::{
        LimitState, Limits,
        connections::{self, Connections},
        io::ConnectionIo,
        memory::{BodyMemory, reserve},
    },
    metrics::Metrics,
    middleware::observe,
    openapi,
    pool::{PoolConfig, WorkerPool},
    routes::{self, App, CompressedFiles, Readiness},
    stream::hub::{FeedTask, Hub},
    views::ViewCache,
};
use crate::{
    background::bots::BotWorkers,
    background::retention::RetentionThread,
    store::{RetentionPolicy, Store, StoreError},
};

/// Seconds that running requests get to end when the server stops.
const SHUTDOWN_SECONDS: u64 = 10;

/// Requests that may wait for a thread of a pool.
const QUEUE: usize = 1024;

/// How long they may wait.
const PATIENCE: Duration = Duration::from_secs(10);

/// By how much advisers and readers of long logs give way to those who play, as `nice` counts it.
const LATER: i32 = 5;

/// How long a client that is told to go may still send what it was sending.
const LINGER: Duration = Duration::from_secs(2);

/// Where the server listens, and who may call it from a browser.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// `HOST:PORT`; port 0 takes a free one.
    pub listen: String,
    pub cors: Cors,
    /// Threads that answer requests; as many as there are cores if nothing is said.
    pub workers: Option<usize>,
    /// Threads that play for bots; as many as there are cores if nothing is said.
    pub bot_threads: Option<usize>,
    /// Threads that advise and analyse; as many as there are cores if nothing is said.
    pub advice_threads: Option<usize>,
    pub limits: Limits,
    /// How long games are kept.
    pub keep: RetentionPolicy,
    /// How often those are looked for that are to be removed.
    pub sweep_every: Duration,
}

/// Whose pages may call the API.
#[derive(Clone, Debug)]
pub enum Cors {
    /// Everyone's: tokens are never cookies, so a foreign page has nothing to abuse.
    Any,
    /// Those of these origins.
    Only(Vec<String>),
}

/// Why the server cannot be started, or stopped.
#[derive(Debug, Error)]
pub enum ServeError {
    #[error("cannot listen on {0}: {1}")]
    Bind(String, #[source] io::Error),
    #[error("connections cannot be taken: {0}")]
    Connections(#[source] io::Error),
    #[error("cannot start a thread: {0}")]
    Thread(#[source] io::Error),
    #[error("the OpenAPI document cannot be written: {0}")]
    OpenApi(#[from] serde_json::Error),
    #[error(transparent)]
    Nets(#[from] NetsError),
    #[error("the server failed: {0}")]
    Run(#[source] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A server that is bound and can be run.
pub struct Server {
    server: actix_web::dev::Server,
    addresses: Vec<SocketAddr>,
    bots: BotWorkers,
    retention: RetentionThread,
    watching: FeedTask,
}

impl Server {
    /// Binds to the address; from then on connections are taken, and answered once
    /// [`Server::run`] is awaited.
    ///
    /// # Errors
    /// If the address is taken or no address.
    pub fn bind(settings: ServerConfig, store: Store) -> Result<Server, ServeError> {
        let cores = thread::available_parallelism().map_or(2, usize::from);
        let mut metrics = Metrics::new();
        let pool = |name, threads, niceness| {
            let make = PoolConfig {
                name,
                threads,
                length: QUEUE,
                patience: PATIENCE,
                niceness,
            };
            WorkerPool::start(make, metrics.pool(name)).map_err(ServeError::Thread)
        };
        // Of two threads, one is always left to other clients.
        let threads = cores.max(2);
        let move_pool = Arc::new(pool("moves", threads, 0)?);
        let history_pool = Arc::new(pool("history", threads, LATER)?);
        let advice_threads = settings.advice_threads.unwrap_or(threads);
        let advice_pool = pool("advice", advice_threads, LATER)?;
        // Else the page would ask a foreign host to validate the document.
        let docs = Config::new(["/openapi.json"])
            .try_it_out_enabled(true)
            .validator_url("none");
        let nets = Arc::new(Nets::built_in()?);
        let bots = BotWorkers::start(&store, &nets, settings.bot_threads.unwrap_or(cores))
            .map_err(ServeError::Thread)?;
        let retention = RetentionThread::start(&store, settings.keep, settings.sweep_every)
            .map_err(ServeError::Thread)?;
        let (hub, watching) = Hub::start(&store, &history_pool);
        let memory = Arc::new(BodyMemory::new(settings.limits.body_memory));
        metrics.observe(&store, &bots, &memory);
        let counted = Data::new(LimitState::new(settings.limits.clone(), store.clone()));
        let app = Data::new(App {
            store,
            hub,
            move_pool,
            history_pool,
            advice_pool,
            nets,
            views: ViewCache::default(),
            memory: Arc::clone(&memory),
            metrics,
            readiness: Readiness::default(),
            openapi: openapi::json()?.into(),
            compressed: CompressedFiles::default(),
            docs: Arc::new(docs),
        });
        let ServerConfig {
            listen,
            cors,
            workers,
            limits,
            ..
        } = settings;
        let workers = workers.unwrap_or(cores);
        let max_connections =
            connections::allow(limits.max_connections, workers).map_err(ServeError::Connections)?;
        let bodies = Data::from(Arc::clone(&memory));
        let connections = Arc::new(Connections::new(
            max_connections,
            limits.most_per_address(),
            // The framework ends it first, unless a head has begun and does not go on.
            limits.keep_alive + Duration::from_secs(1),
            limits.reader_timeout,
            memory,
        ));
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
                    .app_data(counted.clone())
                    .app_data(bodies.clone())
                    .configure(routes::configure)
                    .default_service(routes::not_found())
                    .wrap(from_fn(reserve))
                    .wrap(Compress::default())
                    .wrap(cors_middleware(&cors))
                    .wrap(from_fn(observe))
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
                .client_disconnect_timeout(LINGER)
                .on_connect_ext(|io: &ConnectionIo, data| {
                    data.insert(Rc::clone(io.connection()));
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
        for listener in listeners(&listen)? {
            addresses.extend(listener.local_addr());
            server = server
                .listen("dog", listener, service.clone())
                .map_err(|error| ServeError::Bind(listen.clone(), error))?;
        }
        Ok(Server {
            server: server.run(),
            addresses,
            bots,
            retention,
            watching,
        })
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Something to stop it with.
    pub fn handle(&self) -> ServerHandle {
        self.server.handle()
    }

    /// Serves until SIGTERM, SIGINT or its handle stops it; running requests are finished.
    ///
    /// # Errors
    /// If the server fails.
    pub async fn run(self) -> Result<(), ServeError> {
        let (watching, handle) = (self.watching, self.server.handle());
        let stopping = rt::spawn(async move {
            stop_signal().await?;
            // Streams end, or the server would wait for them.
            watching.close();
            handle.stop(true).await;
            Ok::<(), io::Error>(())
        });
        let served = self.server.await;
        stopping.abort();
        drop(self.bots);
        drop(self.retention);
        served.map_err(ServeError::Run)
    }
}

/// Listens on every address that this `HOST:PORT` stands for.
fn listeners(listen: &str) -> Result<Vec<TcpListener>, ServeError> {
    let failed = |error| ServeError::Bind(listen.to_owned(), error);
    let (mut listeners, mut last) = (Vec::new(), io::ErrorKind::AddrNotAvailable.into());
    for address in listen.to_socket_addrs().map_err(failed)? {
        match TcpListener::bind(address) {
            Ok(listener) => listeners.push(listener),
            Err(error) => last = error,
        }
    }
    if listeners.is_empty() {
        return Err(failed(last));
    }
    Ok(listeners)
}

/// Waits for SIGTERM or SIGINT.
#[cfg(unix)]
async fn stop_signal() -> io::Result<()> {
    use rt::signal::unix::{SignalKind, signal};
    let mut term = signal(SignalKind::terminate())?;
    let mut int = signal(SignalKind::interrupt())?;
    let (term, int) = (std::pin::pin!(term.recv()), std::pin::pin!(int.recv()));
    select(term, int).await;
    Ok(())
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
async fn stop_signal() -> io::Result<()> {
    rt::signal::ctrl_c().await
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
    let own = |name: &'static str| HeaderName::from_static(name);
    base.allowed_methods(["GET", "HEAD", "POST", "PUT", "DELETE"])
        .allowed_headers([
            header::ACCEPT,
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::IF_MATCH,
            header::IF_NONE_MATCH,
            own("idempotency-key"),
            own("last-event-id"),
            own("x-request-id"),
        ])
        .expose_headers([
            header::ETAG,
            header::LOCATION,
            header::RETRY_AFTER,
            own("x-request-id"),
        ])
        .max_age(3600)
}
