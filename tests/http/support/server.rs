//! The real binary as a child process: a free port and a fresh database each.

use std::{
    collections::{BTreeMap, HashSet},
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader},
    ops::Deref,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    sync::{
        Arc, LazyLock, Mutex, PoisonError, Weak,
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use dog_cluster::PASSWORD;
use serde_json::Value;

use super::{
    Contract, ServerDatabase, TIMEOUT, TestRequest, TestResponse, database::dog, wait_until,
};

/// Free bytes that `/dev/shm` must have to hold the databases.
#[cfg(target_os = "linux")]
const MIN_FREE_BYTES: u64 = 2 << 30;

/// How long a response may take in any condition of the database. It is long because a machine may
/// be very busy.
const ANSWER_LIMIT: Duration = Duration::from_secs(90);

/// How a server is stopped.
#[derive(Clone, Copy, Debug)]
pub enum Signal {
    /// SIGKILL: no chance to finish anything.
    Kill,
    /// SIGTERM: a graceful shutdown.
    Term,
    /// SIGHUP: the terminal is gone.
    Hangup,
}

/// A running server. Dropping it stops the process and fails the test if the log shows a panic
/// or a secret.
pub struct TestServer {
    folder: Arc<ServerFolder>,
    environment: Vec<(&'static str, String)>,
    wrapper: &'static [&'static str],
    agent: ureq::Agent,
    process: Arc<Mutex<ServerProcess>>,
    secrets: Mutex<Vec<String>>,
}

/// A server with default settings that tests share. It stops, and its log is checked, when no test
/// uses it any more; the next test starts another one.
pub struct SharedServer(Arc<TestServer>);

impl Deref for SharedServer {
    type Target = TestServer;

    fn deref(&self) -> &TestServer {
        &self.0
    }
}

/// Where the folders of all servers are.
///
/// They are in memory if there is room: commits are faster there, and no test cuts the power,
/// only the process.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned();
    #[cfg(target_os = "linux")]
    {
        let memory = Path::new("/dev/shm");
        let room = rustix::fs::statvfs(memory).map_or(0, |is| is.f_bavail * is.f_frsize);
        let root = memory.join("dog-server-tests");
        if room >= MIN_FREE_BYTES && fs::create_dir_all(&root).is_ok() {
            remove_stale_folders(&root);
            return root;
        }
    }
    disk
});

/// Removes the folders of test processes that were killed.
#[cfg(target_os = "linux")]
fn remove_stale_folders(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.split('-').next().unwrap_or_default();
        if !Path::new("/proc").join(process).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A database and a folder for it and the logs; removed when dropped.
struct ServerFolder {
    path: PathBuf,
    database: ServerDatabase,
}

impl ServerFolder {
    fn with(database: impl FnOnce(&Path) -> ServerDatabase) -> ServerFolder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = ROOT.join(format!("{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for the database");
        let database = database(&path);
        ServerFolder { path, database }
    }
}

struct ServerProcess {
    child: Child,
    url: String,
}

impl TestServer {
    /// A server for tests that use only their own games, and leave its process and its
    /// database alone.
    pub fn shared() -> SharedServer {
        static SERVER: Mutex<Weak<TestServer>> = Mutex::new(Weak::new());
        let mut server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
        SharedServer(server.upgrade().unwrap_or_else(|| {
            let started = Arc::new(TestServer::start());
            *server = Arc::downgrade(&started);
            started
        }))
    }

    /// A server of the test's own, on an empty database.
    pub fn start() -> TestServer {
        TestServer::start_with(&[])
    }

    /// The same with these environment variables.
    pub fn start_with(environment: &[(&'static str, &str)]) -> TestServer {
        TestServer::start_on(environment, &[], |_| {})
    }

    /// The same on all addresses of this machine.
    pub fn on_all_addresses(environment: &[(&'static str, &str)]) -> TestServer {
        let server = TestServer::start_with(environment);
        server.restart_at("0.0.0.0:0", Signal::Term);
        server
    }

    /// The same with a database that `prepare` creates. The command `wrapper`, unless empty, runs
    /// the server, which is appended to it.
    pub fn start_on(
        environment: &[(&'static str, &str)],
        wrapper: &'static [&'static str],
        prepare: impl FnOnce(&ServerDatabase),
    ) -> TestServer {
        let folder = ServerFolder::with(ServerDatabase::new);
        prepare(&folder.database);
        let environment = environment
            .iter()
            .map(|&(name, value)| (name, value.to_owned()))
            .collect();
        TestServer::on(Arc::new(folder), environment, wrapper)
    }

    /// Another server on a changed copy of the current database.
    pub fn on_copy(other: &TestServer, change: impl FnOnce(&ServerDatabase)) -> TestServer {
        let folder = ServerFolder::with(|path| other.database().copy(path));
        change(&folder.database);
        TestServer::on(Arc::new(folder), other.environment.clone(), &[])
    }

    /// Another server on the database to which `dog copy` moves that of this one.
    #[allow(dead_code, reason = "only some tests move databases")]
    pub fn on_moved(
        other: &TestServer,
        target: impl FnOnce(&Path) -> ServerDatabase,
    ) -> TestServer {
        let folder = ServerFolder::with(target);
        let copied = other.database().copy_to(&folder.database).output();
        let copied = copied.expect("the dog binary");
        let said = String::from_utf8_lossy(&[copied.stdout, copied.stderr].concat()).into_owned();
        assert!(copied.status.success(), "{said}");
        assert!(!said.contains(PASSWORD), "{said}");
        TestServer::on(Arc::new(folder), other.environment.clone(), &[])
    }

    /// Another node on the same PostgreSQL database. A file has one process, so with a file it is
    /// the same server.
    pub fn beside(other: &TestServer) -> TestServer {
        let folder = Arc::clone(&other.folder);
        if let ServerDatabase::Postgres(_) = folder.database {
            return TestServer::on(folder, other.environment.clone(), other.wrapper);
        }
        TestServer {
            folder,
            environment: other.environment.clone(),
            wrapper: other.wrapper,
            agent: other.agent.clone(),
            process: Arc::clone(&other.process),
            secrets: Mutex::default(),
        }
    }

    fn on(
        folder: Arc<ServerFolder>,
        environment: Vec<(&'static str, String)>,
        wrapper: &'static [&'static str],
    ) -> TestServer {
        let process = ServerProcess::spawn_at("127.0.0.1:0", &folder, &environment, wrapper);
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            // Until the response begins: a stream lasts as long as its game.
            .timeout_connect(Some(TIMEOUT))
            .timeout_recv_response(Some(ANSWER_LIMIT))
            .build()
            .new_agent();
        let server = TestServer {
            folder,
            environment,
            wrapper,
            agent,
            process: Arc::new(Mutex::new(process)),
            secrets: Mutex::default(),
        };
        server.forbid_in_log(PASSWORD);
        Contract::load(&server);
        server
    }

    /// The server's URL: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        self.process.lock().expect("the process").url.clone()
    }

    /// `127.0.0.1:PORT`
    pub fn address(&self) -> String {
        self.url().replace("http://", "")
    }

    pub fn database(&self) -> &ServerDatabase {
        &self.folder.database
    }

    /// The folder of the logs, where a test can put its own files.
    pub fn folder(&self) -> &Path {
        &self.folder.path
    }

    /// What `dog check` says, which replays every game from its log, and whether it finds no defect.
    pub fn check(&self) -> (String, bool) {
        let check = dog(&self.database().location(), &[]).arg("check").output();
        let check = check.expect("the dog binary");
        let said = [check.stdout, check.stderr].concat();
        let said = String::from_utf8(said).expect("a text");
        (said, check.status.success())
    }

    pub fn agent(&self) -> &ureq::Agent {
        &self.agent
    }

    pub fn request(&self, method: &str, path: &str) -> TestRequest<'_> {
        TestRequest::new(self, method, path)
    }

    pub fn get(&self, path: &str) -> TestRequest<'_> {
        self.request("GET", path)
    }

    pub fn post(&self, path: &str) -> TestRequest<'_> {
        self.request("POST", path)
    }

    /// Polls until the server is ready, or is not: a result is cached for a while.
    #[track_caller]
    pub fn wait_until_ready(&self, ready: bool) {
        wait_until("its readiness changes", || {
            let response = self.get("/readyz").send();
            let is_ready = response.status == 200;
            if !ready && !is_ready {
                response.refused("unavailable");
            }
            is_ready == ready
        });
    }

    /// The process id.
    pub fn process_id(&self) -> u32 {
        self.process.lock().expect("the process").child.id()
    }

    /// Stops the process.
    pub fn stop(&self, signal: Signal) -> ExitStatus {
        self.process.lock().expect("the process").stop(signal)
    }

    /// Sends the process a signal, and does not wait.
    #[allow(dead_code, reason = "the tests of operation use it")]
    pub fn signal(&self, signal: Signal) {
        self.process.lock().expect("the process").signal(signal);
    }

    /// Stops the process and starts another one on the same database.
    pub fn restart(&self, signal: Signal) {
        self.restart_at("127.0.0.1:0", signal);
    }

    /// The same on the same port.
    #[allow(dead_code, reason = "the tests of the page use it")]
    pub fn restart_in_place(&self, signal: Signal) {
        self.restart_at(&self.address(), signal);
    }

    /// Starts another process on the same database before this one has ended.
    #[allow(dead_code, reason = "the tests of the file use it")]
    pub fn start_successor(&self) {
        let (folder, environment) = (&self.folder, &self.environment);
        let next = ServerProcess::spawn_at("127.0.0.1:0", folder, environment, self.wrapper);
        *self.process.lock().expect("the process") = next;
    }

    /// The same on this address.
    fn restart_at(&self, address: &str, signal: Signal) {
        let mut process = self.process.lock().expect("the process");
        process.stop(signal);
        *process = ServerProcess::spawn_at(address, &self.folder, &self.environment, self.wrapper);
    }

    /// Kills the process. Until another one serves, clients find none.
    #[allow(dead_code, reason = "the tests of several nodes use it")]
    pub fn replace(&self) {
        self.stop(Signal::Kill);
        self.start_successor();
    }

    /// Whether the process runs.
    #[allow(dead_code, reason = "the tests of several nodes use it")]
    pub fn is_alive(&self) -> bool {
        let mut process = self.process.lock().expect("the process");
        process
            .child
            .try_wait()
            .is_ok_and(|status| status.is_none())
    }

    /// Registers a text that the log must never show.
    pub fn forbid_in_log(&self, secret: &str) {
        let mut secrets = self.secrets.lock().expect("the secrets");
        secrets.push(secret.to_owned());
    }

    #[track_caller]
    pub fn create(&self, body: &Value) -> TestResponse {
        self.post("/v1/games").json(body).send()
    }

    #[track_caller]
    pub fn import(&self, record: &str) -> TestResponse {
        let import = self.post("/v1/games/import");
        import.text("text/plain", record).send()
    }

    /// Everything written to the standard streams so far, by every process on this database.
    pub fn log(&self) -> String {
        ["stdout", "stderr"]
            .map(|name| fs::read(self.folder.path.join(name)).unwrap_or_default())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .join("\n")
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(Ok(process)) = Arc::get_mut(&mut self.process).map(Mutex::get_mut) {
            let _ = process.child.kill();
            let _ = process.child.wait();
        }
        let log = self.log();
        if thread::panicking() {
            eprintln!("--- the server's log ---\n{log}");
            return;
        }
        assert!(!log.contains("panicked at"), "the server panicked:\n{log}");
        let secrets = self.secrets.get_mut().expect("the secrets");
        assert!(!tells(&log, secrets), "the log shows a secret:\n{log}");
    }
}

/// Whether a text contains one of these secrets, of which there may be thousands.
fn tells(text: &str, secrets: &[String]) -> bool {
    let mut by_length: BTreeMap<usize, HashSet<&[u8]>> = BTreeMap::new();
    for secret in secrets {
        let of_length = by_length.entry(secret.len()).or_default();
        of_length.insert(secret.as_bytes());
    }
    by_length.into_iter().any(|(length, secrets)| {
        let mut windows = text.as_bytes().windows(length);
        windows.any(|window| secrets.contains(window))
    })
}

#[test]
fn a_secret_in_a_log_is_found() {
    let secrets = ["abc", "0123456789"].map(str::to_owned);
    let told = |text: &str| tells(text, &secrets);
    assert!(told("token 0123456789!") && told("a\nabc"));
    assert!(!told("") && !told("ab c 012345678 9"));
}

impl Drop for ServerFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl ServerProcess {
    fn spawn_at(
        address: &str,
        folder: &ServerFolder,
        environment: &[(&'static str, String)],
        wrapper: &[&str],
    ) -> ServerProcess {
        let log = |name| {
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(folder.path.join(name))
                .expect("a log file")
        };
        let mut child = dog(&folder.database.location(), wrapper)
            .args(["serve", "--listen", address])
            .env("DOG_REVIEW_PERCENT", "1")
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log("stderr"))
            .spawn()
            .expect("the dog binary starts");
        let stdout = child.stdout.take().expect("a piped stdout");
        let first = first_line(stdout, log("stdout"));
        // The line may be JSON.
        let url = first.split_once("listening on ").map(|(_, url)| url);
        let Some(url) = url.map(|url| url.trim_end().trim_end_matches("\"}")) else {
            let _ = child.kill();
            let stderr = fs::read_to_string(folder.path.join("stderr")).unwrap_or_default();
            panic!("the server's first line is {first:?}, its stderr:\n{stderr}");
        };
        ServerProcess {
            child,
            // Nothing can be sent to the address that means all of them.
            url: url.replace("0.0.0.0", "127.0.0.1"),
        }
    }

    fn signal(&mut self, signal: Signal) {
        let name = match signal {
            // It may have ended already.
            Signal::Kill => return self.child.kill().expect("to kill the server"),
            Signal::Term => "TERM",
            Signal::Hangup => "HUP",
        };
        let kill = format!("kill -{name} {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &kill]).status();
        assert!(sent.expect("a shell").success(), "{kill}");
    }

    fn stop(&mut self, signal: Signal) -> ExitStatus {
        self.signal(signal);
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("the server's status") {
                return status;
            }
            if start.elapsed() > TIMEOUT {
                let _ = self.child.kill();
                panic!("the server did not stop on {signal:?}");
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The first line, or nothing if none comes in time; the rest is written to the log.
fn first_line(stdout: ChildStdout, mut log: File) -> String {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        let mut line = String::new();
        let _ = reader.read_line(&mut line);
        let _ = sender.send(line);
        let _ = io::copy(&mut reader, &mut log);
    });
    receiver.recv_timeout(TIMEOUT).unwrap_or_default()
}
