//! Servers that share a database.

use std::process::{Command, Stdio};

use dog_cluster::{Cluster, ClusterOptions, PASSWORD, TestDatabase};

use crate::support::{Signal, TestGame, TestServer, dog};

/// Small nodes, because several share this machine.
const SMALL: [(&str, &str); 3] = [
    ("DOG_WORKERS", "2"),
    ("DOG_BOT_THREADS", "1"),
    ("DOG_ADVICE_THREADS", "2"),
];

/// A node with these environment variables, which serves.
#[track_caller]
pub fn node(environment: &[(&'static str, &str)]) -> TestServer {
    TestServer::start_with(&[&SMALL, environment].concat())
}

/// A node on the database with this URL.
#[track_caller]
pub fn node_on(url: &str) -> TestServer {
    node(&[("DOG_DATABASE", url)])
}

/// The command `dog serve` on any free port, without settings of this process but with these. It
/// ends after three minutes.
pub fn serve(environment: &[(&str, &str)]) -> Command {
    let mut serve = dog("".as_ref(), &["timeout", "180"]);
    serve
        .args(["serve", "--listen", "127.0.0.1:0"])
        .envs(environment.iter().copied())
        .stdin(Stdio::null());
    serve
}

/// Why a node with these settings does not start: all that it logs, one line of which is an error.
/// It must exit by itself with code 1.
#[track_caller]
pub fn refusal(environment: &[(&str, &str)]) -> String {
    let output = serve(environment).output().expect("the dog binary");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(!log.contains("panicked at"), "it panicked:\n{log}");
    assert!(!log.contains(PASSWORD), "it shows the password:\n{log}");
    let is_other = |line: &&str| !line.contains(" WARN ") && !line.contains(" INFO ");
    let errors: Vec<&str> = log.lines().filter(is_other).collect();
    assert_eq!(errors.len(), 1, "{log}");
    for words in [" ERROR ", "cannot open the database"] {
        assert!(errors[0].contains(words), "{log}");
    }
    log
}

/// A cluster of its own; `None`, with a message, without PostgreSQL.
pub fn own_cluster() -> Option<Cluster> {
    Cluster::start(&ClusterOptions::default())
}

/// A database of its own; `None`, with a message, without PostgreSQL.
pub fn database() -> Option<TestDatabase> {
    Some(Cluster::shared()?.database())
}

/// Nodes with the same settings on one database, which ends after them.
pub struct DogNodes {
    pub servers: Vec<TestServer>,
    pub database: TestDatabase,
}

/// This many nodes on such a database.
#[track_caller]
pub fn start(count: usize) -> Option<DogNodes> {
    let database = database()?;
    let url = database.url();
    Some(DogNodes::start(count, database, &url))
}

impl DogNodes {
    /// This many nodes on a database, which has this URL. They start one after another.
    #[track_caller]
    pub fn start(count: usize, database: TestDatabase, url: &str) -> DogNodes {
        DogNodes {
            servers: (0..count).map(|_| node_on(url)).collect(),
            database,
        }
    }

    /// A node; the numbers go round.
    pub fn at(&self, number: usize) -> &TestServer {
        &self.servers[number % self.servers.len()]
    }

    pub fn kill(&self, number: usize) {
        self.at(number).stop(Signal::Kill);
    }

    /// The same game at a node.
    pub fn game<'a>(&'a self, game: &TestGame<'_>, number: usize) -> TestGame<'a> {
        game.at(self.at(number))
    }
}
