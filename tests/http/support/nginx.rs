//! nginx with the documented configuration.

use std::{
    fs::{self, File},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use super::programs::available;

/// How long it may take until it accepts connections.
const START_LIMIT: Duration = Duration::from_secs(180);

/// A running nginx.
pub struct Nginx {
    process: Child,
    pub folder: PathBuf,
    /// `http://127.0.0.1:PORT`
    pub url: String,
}

impl Nginx {
    /// nginx with `deploy/nginx.conf`, in which parts are replaced; `None` if nginx is missing. The
    /// folder must be new.
    pub fn start(folder: PathBuf, parts: &[(&str, &str)]) -> Option<Nginx> {
        if !available(&["nginx"]) {
            return None;
        }
        fs::create_dir(&folder).expect("a folder");
        let site = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/nginx.conf"));
        let site = parts
            .iter()
            .fold(site.to_owned(), |site, (documented, here)| {
                replace(&site, documented, here)
            });
        // Another program may bind the port before nginx does.
        (0..5).find_map(|_| Nginx::on_free_port(&site, folder.clone()))
    }

    fn on_free_port(site: &str, folder: PathBuf) -> Option<Nginx> {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let address = free.expect("a free port").to_string();
        let log = folder.join("access.log").display().to_string();
        let site = replace(site, "    listen 80;", &format!("    listen {address};"));
        let site = replace(&site, "    listen [::]:80;\n", "");
        let site = replace(&site, "/var/log/nginx/dog.log", &log);
        fs::write(folder.join("dog.conf"), site).expect("written");
        fs::write(folder.join("nginx.conf"), around(&folder)).expect("written");
        let mut process = Command::new("nginx")
            .args(["-e", "stderr", "-c"])
            .arg(folder.join("nginx.conf"))
            .stderr(File::create(folder.join("error.log")).expect("a log"))
            .spawn()
            .expect("nginx starts");
        let started = Instant::now();
        while TcpStream::connect(&address).is_err() {
            if process.try_wait().expect("nginx's state").is_some() {
                return None;
            }
            let waited = started.elapsed();
            assert!(waited < START_LIMIT, "nginx accepts no connections");
            thread::sleep(Duration::from_millis(20));
        }
        Some(Nginx {
            process,
            folder,
            url: format!("http://{address}"),
        })
    }
}

/// Replaces what must be there once.
fn replace(site: &str, documented: &str, here: &str) -> String {
    assert_eq!(site.matches(documented).count(), 1, "{documented}");
    site.replace(documented, here)
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // SIGTERM, or its workers would be left running.
        let kill = format!("kill -TERM {}", self.process.id());
        let _ = Command::new("sh").args(["-c", &kill]).status();
        let _ = self.process.wait();
        if thread::panicking() {
            let log = fs::read_to_string(self.folder.join("error.log"));
            eprintln!("--- nginx's log ---\n{}", log.unwrap_or_default());
        }
    }
}

/// The main configuration, like Debian's nginx.conf, for a folder of its own.
fn around(folder: &Path) -> String {
    let folder = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("    {name}_temp_path {folder}/{name};\n"))
        .concat();
    format!(
        "daemon off;\nworker_processes 1;\npid {folder}/nginx.pid;\n\
         events {{ worker_connections 512; }}\n\
         http {{\n{temporary}    default_type application/octet-stream;\n    gzip on;\n    \
         include {folder}/dog.conf;\n}}\n"
    )
}
