//! The real binary as child processes.

use std::{
    env,
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use dog_cluster::{Cluster, ClusterOptions, PASSWORD, TestDatabase};

use super::LIMIT;

/// Small nodes without limits for clients, because several share this machine.
const SETTINGS: [(&str, &str); 9] = [
    ("RUST_LOG", "info,dog::access=off"),
    ("DOG_ADDRESS_RATE", "0"),
    ("DOG_TOKEN_RATE", "0"),
    ("DOG_GAMES_PER_ADDRESS", "0"),
    ("DOG_KEPT_PER_ADDRESS", "0"),
    ("DOG_ADVICE_PER_ADDRESS", "0"),
    ("DOG_WORKERS", "2"),
    ("DOG_BOT_THREADS", "1"),
    ("DOG_ADVICE_THREADS", "2"),
];

/// The command `dog serve` on any free port, without settings of this process but with these.
pub fn serve(environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dog"));
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("DOG_") || text.starts_with("PG") || text == "RUST_LOG" {
            command.env_remove(name);
        }
    }
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .envs(SETTINGS)
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Why a node with these settings does not start: all that it logs, one line of which is an error.
/// It must exit by itself with code 1.
#[track_caller]
pub fn refusal(environment: &[(&str, &str)]) -> String {
    let mut child = serve(environment).spawn().expect("the dog binary");
    let (log, reader) = collect(child.stderr.take().expect("a piped stderr"));
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a status") {
            break status;
        }
        if started.elapsed() > LIMIT {
            let _ = child.kill();
            panic!("it neither ends nor refuses to serve: {}", lock(&log));
        }
        thread::sleep(Duration::from_millis(10));
    };
    reader.join().expect("its log");
    let log = lock(&log).clone();
    assert_eq!(status.code(), Some(1), "{log}");
    check_log(&log);
    let is_other = |line: &&str| !line.contains(" WARN ") && !line.contains(" INFO ");
    let errors: Vec<&str> = log.lines().filter(is_other).collect();
    assert_eq!(errors.len(), 1, "{log}");
    for words in [" ERROR ", "cannot open the database"] {
        assert!(errors[0].contains(words), "{log}");
    }
    log
}

/// A running server. Dropping it kills the process, and fails the test if the log shows a panic or
/// the password.
pub struct DogNode {
    child: Child,
    url: String,
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl DogNode {
    /// A node with these environment variables, which serves.
    #[track_caller]
    pub fn start(environment: &[(&str, &str)]) -> DogNode {
        let mut child = serve(environment).spawn().expect("the dog binary");
        let (log, reader) = collect(child.stderr.take().expect("a piped stderr"));
        let mut stdout = BufReader::new(child.stdout.take().expect("a piped stdout"));
        let mut line = String::new();
        // It ends with the process, if that does not serve.
        let _ = stdout.read_line(&mut line);
        let url = line.trim_end().strip_prefix("listening on ");
        let Some(url) = url.map(str::to_owned) else {
            let _ = child.kill();
            panic!("a node does not start: {}", lock(&log));
        };
        DogNode {
            child,
            url,
            log,
            reader: Some(reader),
        }
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> &str {
        &self.url
    }

    /// All that it has logged.
    pub fn log(&self) -> String {
        lock(&self.log).clone()
    }

    /// Kills the process with SIGKILL.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Whether the process runs.
    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_none())
    }
}

impl Drop for DogNode {
    fn drop(&mut self) {
        self.kill();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        let log = self.log();
        if thread::panicking() {
            eprintln!("--- the log of {} ---\n{log}", self.url);
        } else {
            check_log(&log);
        }
    }
}

#[track_caller]
fn check_log(log: &str) {
    assert!(!log.contains("panicked at"), "a node panicked:\n{log}");
    assert!(!log.contains(PASSWORD), "it shows the password:\n{log}");
}

/// Reads what a process writes, line by line.
fn collect(from: impl Read + Send + 'static) -> (Arc<Mutex<String>>, JoinHandle<()>) {
    let log = Arc::<Mutex<String>>::default();
    let to = Arc::clone(&log);
    let reader = thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            *lock(&to) += &(line + "\n");
        }
    });
    (log, reader)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Nodes with the same settings on one database, which ends after them. Each can be replaced while
/// others use them.
pub struct DogNodes {
    nodes: Vec<Mutex<DogNode>>,
    pub database: TestDatabase,
    url: String,
}

/// A cluster of its own; `None`, with a message, without PostgreSQL.
pub fn own_cluster() -> Option<Cluster> {
    Cluster::start(&ClusterOptions::default())
}

/// A database of its own; `None`, with a message, without PostgreSQL.
pub fn database() -> Option<TestDatabase> {
    Some(Cluster::shared()?.database())
}

/// This many nodes on such a database.
#[track_caller]
pub fn start(count: usize) -> Option<DogNodes> {
    let database = database()?;
    let url = database.url();
    Some(DogNodes::start(count, database, url))
}

impl DogNodes {
    /// This many nodes on a database, which has this URL. They start one after another.
    #[track_caller]
    pub fn start(count: usize, database: TestDatabase, url: String) -> DogNodes {
        let start = |_| Mutex::new(DogNode::start(&[("DOG_DATABASE", &url)]));
        DogNodes {
            nodes: (0..count).map(start).collect(),
            database,
            url,
        }
    }

    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The URL of a node; the numbers go round.
    pub fn url(&self, number: usize) -> String {
        self.node(number).url().to_owned()
    }

    /// A node, to which nobody else has access meanwhile.
    pub fn node(&self, number: usize) -> MutexGuard<'_, DogNode> {
        lock(&self.nodes[number % self.count()])
    }

    /// Kills a node, and starts another one in its place.
    pub fn replace(&self, number: usize) {
        self.node(number).kill();
        let fresh = DogNode::start(&[("DOG_DATABASE", &self.url)]);
        *self.node(number) = fresh;
    }
}
