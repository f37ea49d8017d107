//! The server that is measured, and a client of it.

#![allow(dead_code, reason = "not every bench uses all of it")]

use std::{
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

/// A server process with its own database.
pub struct BenchServer {
    pub process: Child,
    pub address: String,
    folder: PathBuf,
}

impl BenchServer {
    /// Starts a server with these options. `prepare` may fill its database file first.
    pub fn start(name: &str, options: &[&str], prepare: impl FnOnce(&Path)) -> BenchServer {
        let folder = folder(name);
        let file = folder.join("dog.db");
        prepare(&file);
        BenchServer::spawn(folder, file.as_os_str(), options)
    }

    /// Starts a server on PostgreSQL.
    pub fn start_on(name: &str, url: &str) -> BenchServer {
        BenchServer::spawn(folder(name), url.as_ref(), &[])
    }

    fn spawn(folder: PathBuf, database: &OsStr, options: &[&str]) -> BenchServer {
        let mut process = Command::new(env!("CARGO_BIN_EXE_dog"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .env("DOG_DATABASE", database)
            .args(options)
            .env("RUST_LOG", "warn")
            .env("MALLOC_ARENA_MAX", "4")
            .env("MALLOC_MMAP_THRESHOLD_", "131072")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("its output"))
            .read_line(&mut line)
            .expect("its address");
        let address = line
            .trim()
            .rsplit("//")
            .next()
            .expect("an address")
            .to_owned();
        BenchServer {
            process,
            address,
            folder,
        }
    }
}

/// A new folder for a server's files.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("dog-bench-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// One kept-alive connection.
pub struct BenchClient {
    stream: BufReader<TcpStream>,
}

impl BenchClient {
    pub fn new(address: &str) -> BenchClient {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        BenchClient {
            stream: BufReader::new(stream),
        }
    }

    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<Value>,
    ) -> Value {
        let request = request(method, path, token, body);
        let (status, body) = self.exchange(request.as_bytes());
        assert!((200..300).contains(&status), "{method} {path}: {status}");
        serde_json::from_slice(&body).expect("JSON")
    }

    /// Sends a request and reads the response: its status and body.
    pub fn exchange(&mut self, request: &[u8]) -> (u16, Vec<u8>) {
        self.stream.get_mut().write_all(request).expect("sent");
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a status line");
        let status = line
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .expect("a status");
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line).expect("a header");
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).expect("a body");
        (status, body)
    }
}

pub fn request(method: &str, path: &str, token: Option<&str>, body: Option<Value>) -> String {
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: bench\r\n");
    if let Some(token) = token {
        request += &format!("Authorization: Bearer {token}\r\n");
    }
    if !body.is_empty() {
        request += "Content-Type: application/json\r\n";
    }
    request + &format!("Content-Length: {}\r\n\r\n{body}", body.len())
}
