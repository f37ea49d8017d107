//! The one `chromedriver` of a test binary, and the HTTP client that talks to it.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Condvar, Mutex, PoisonError, Weak},
    thread,
};

use actix_web::web::Bytes;
use async_trait::async_trait;
use thirtyfour::{
    error::{WebDriverError, WebDriverResult},
    session::http::{Body, HttpClient},
};
use ureq::http::{Request, Response};

use super::http::TIMEOUT;

/// How many browsers run at once.
const SESSIONS: usize = 2;

/// A running `chromedriver`. It ends, with every browser that it started, when the last test that
/// uses it ends, and also when the test process is killed.
pub struct Driver {
    pub url: String,
    /// Profiles and other temporary files of the browsers.
    pub folder: PathBuf,
    shell: Child,
    /// The shell ends the driver when this is closed.
    stdin: Option<ChildStdin>,
}

impl Driver {
    /// The driver that all tests share.
    pub fn shared() -> Arc<Driver> {
        static DRIVER: Mutex<Weak<Driver>> = Mutex::new(Weak::new());
        let mut driver = DRIVER.lock().unwrap_or_else(PoisonError::into_inner);
        driver.upgrade().unwrap_or_else(|| {
            let started = Arc::new(Driver::start());
            *driver = Arc::downgrade(&started);
            started
        })
    }

    fn start() -> Driver {
        let folder = std::env::temp_dir().join(format!("dog-browser-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for profiles");
        let mut shell = Command::new("sh")
            .args(["-c", "chromedriver --port=0 & read -r _; kill -9 -$$"])
            .env("TMPDIR", &folder)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let mut stdout = BufReader::new(shell.stdout.take().expect("a piped stdout"));
        let port = loop {
            let mut line = String::new();
            let length = stdout.read_line(&mut line).expect("chromedriver's output");
            assert!(length > 0, "chromedriver does not start");
            if let Some((_, port)) = line.split_once("started successfully on port ") {
                break port.trim_end().trim_end_matches('.').to_owned();
            }
        };
        thread::spawn(move || stdout.read_to_end(&mut Vec::new()));
        Driver {
            url: format!("http://127.0.0.1:{port}"),
            folder,
            stdin: shell.stdin.take(),
            shell,
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.shell.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Places among the browsers that may run at once.
pub struct Places(usize);

static TAKEN: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

impl Places {
    /// Waits for this many places at once. A test with more browsers than places runs alone.
    pub fn wait(count: usize) -> Places {
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |taken: &mut usize| *taken > 0 && *taken + count > SESSIONS;
        let mut taken = FREED
            .wait_while(taken, is_full)
            .unwrap_or_else(PoisonError::into_inner);
        *taken += count;
        Places(count)
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) -= self.0;
        FREED.notify_all();
    }
}

/// Sends the commands of WebDriver.
pub struct Client(ureq::Agent);

impl Client {
    pub fn new() -> Client {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(TIMEOUT))
            .build();
        Client(config.new_agent())
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send(&self, request: Request<Body<'_>>) -> WebDriverResult<Response<Bytes>> {
        let (head, body) = request.into_parts();
        let body = match body {
            Body::Empty => Vec::new(),
            Body::Json(value) => value.to_string().into_bytes(),
        };
        let failed = |error: ureq::Error| WebDriverError::RequestFailed(error.to_string());
        let response = self
            .0
            .run(Request::from_parts(head, body))
            .map_err(failed)?;
        let (head, mut body) = response.into_parts();
        let body = body.with_config().limit(256 << 20).read_to_vec();
        Ok(Response::from_parts(head, body.map_err(failed)?.into()))
    }

    async fn new(&self) -> Arc<dyn HttpClient> {
        Arc::new(Client::new())
    }
}
