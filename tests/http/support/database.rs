//! The database of a server, and SQL on it behind the server's back.
//!
//! The tests of `tests/http_postgres` are those of `tests/http`, with databases of a cluster that
//! they share.

use std::{
    ffi::{OsStr, OsString},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
};

use dog_cluster::{Cluster, TestDatabase};
use rusqlite::{Connection, types::ValueRef};

use super::{TIMEOUT, programs::available};

/// The setting with which a server sees what a test changes in its file.
pub const UNCACHED: (&str, &str) = ("DOG_GAMES_IN_MEMORY", "0");

/// The database of a server.
pub enum ServerDatabase {
    /// An SQLite file.
    File(PathBuf),
    /// A database of a PostgreSQL server.
    Postgres(TestDatabase),
}

impl ServerDatabase {
    /// A new one, without games. A file is created in this folder by its server.
    pub fn new(folder: &Path) -> ServerDatabase {
        static BROWSER: LazyLock<bool> = LazyLock::new(|| available(&["chromium", "chromedriver"]));
        let database = match env!("CARGO_CRATE_NAME") {
            "http_postgres" => Cluster::shared()
                .map(|cluster| ServerDatabase::Postgres(cluster.prepared_database(migrate))),
            "browser" | "browser_games" if !*BROWSER => None,
            _ => Some(ServerDatabase::File(folder.join("dog.db"))),
        };
        // It has been said that all tests are skipped.
        database.unwrap_or_else(|| std::process::exit(0))
    }

    /// A copy of it, while it is served.
    pub fn copy(&self, folder: &Path) -> ServerDatabase {
        match self {
            ServerDatabase::File(path) => {
                let copy = folder.join("dog.db");
                let sql = format!("VACUUM INTO '{}'", copy.display());
                connect(path).execute_batch(&sql).expect("a copy");
                ServerDatabase::File(copy)
            }
            ServerDatabase::Postgres(database) => ServerDatabase::Postgres(database.copy()),
        }
    }

    /// Where it is, for `DOG_DATABASE`.
    pub fn location(&self) -> OsString {
        match self {
            ServerDatabase::File(path) => path.into(),
            ServerDatabase::Postgres(database) => database.url().into(),
        }
    }

    /// `dog copy` to another database, with the URLs in the environment.
    #[allow(dead_code, reason = "only some tests move databases")]
    pub fn copy_to(&self, to: &ServerDatabase) -> Command {
        let mut copy = dog(&self.location(), &[]);
        copy.arg("copy")
            .env("DOG_COPY_FROM", self.location())
            .env("DOG_COPY_TO", to.location());
        copy
    }

    /// `dog serve` on it, on a free port.
    #[allow(dead_code, reason = "only some tests move databases")]
    pub fn serve(&self) -> Command {
        let mut serve = dog(&self.location(), &[]);
        serve.args(["serve", "--listen", "127.0.0.1:0"]);
        serve
    }

    /// The file of an SQLite database.
    #[track_caller]
    pub fn file(&self) -> &Path {
        match self {
            ServerDatabase::File(path) => path,
            ServerDatabase::Postgres(_) => panic!("there is no file"),
        }
    }

    /// Runs a statement that every store understands. Returns the rows, with the columns separated
    /// by `|`.
    #[track_caller]
    pub fn sql(&self, sql: &str) -> Vec<String> {
        match self {
            ServerDatabase::File(path) => query(path, sql).expect(sql),
            ServerDatabase::Postgres(database) => {
                database.psql(sql).lines().map(str::to_owned).collect()
            }
        }
    }

    /// The number that a statement returns.
    #[track_caller]
    pub fn number(&self, sql: &str) -> i64 {
        let rows = self.sql(sql);
        let [row] = &rows[..] else {
            panic!("{sql}: {rows:?}");
        };
        row.parse().expect("a number")
    }

    /// Changes columns of a game, such as `version = 7`, and lets nodes know. The server of a file
    /// caches its games unless it is [`UNCACHED`].
    #[track_caller]
    pub fn change_game(&self, id: &str, columns: &str) {
        let change = format!("UPDATE games SET {columns} WHERE id = '{id}' RETURNING id");
        let changed = match self {
            ServerDatabase::File(_) => self.sql(&change),
            ServerDatabase::Postgres(_) => {
                // A node reads a game again whose row has another time.
                let touch =
                    format!("UPDATE games SET updated_at = updated_at + 1 WHERE id = '{id}'");
                let tell = format!(
                    "INSERT INTO changes (game, version) \
                     SELECT id, version FROM games WHERE id = '{id}'"
                );
                self.sql(&format!("BEGIN; {change}; {touch}; {tell}; COMMIT"))
            }
        };
        assert_eq!(changed, [id], "{change}");
    }
}

/// Has a server create the tables in an empty database.
fn migrate(url: &str) {
    let mut server = dog(url.as_ref(), &[])
        .args(["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the dog binary starts");
    let stdout = server.stdout.take().expect("a piped stdout");
    let read = BufReader::new(stdout).read_line(&mut String::new());
    server.kill().expect("to kill the server");
    let said = server.wait_with_output().expect("its end").stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(read.is_ok_and(|length| length > 0), "{said}");
}

/// The program `dog` on the database at this location, without settings of this process. The
/// command `wrapper`, unless empty, runs it.
pub fn dog(location: &OsStr, wrapper: &[&str]) -> Command {
    let program = env!("CARGO_BIN_EXE_dog");
    let words = [wrapper, &[program]].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    let others = ["RUST_LOG", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES"];
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("DOG_") || text.starts_with("PG") || others.contains(&&*text) {
            command.env_remove(name);
        }
    }
    command.env("DOG_DATABASE", location);
    command
}

fn connect(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("the database");
    connection.busy_timeout(TIMEOUT).expect("a timeout");
    connection
}

fn query(path: &Path, sql: &str) -> rusqlite::Result<Vec<String>> {
    let connection = connect(path);
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        let columns: Result<Vec<String>, _> =
            (0..columns).map(|at| row.get_ref(at).map(text)).collect();
        columns.map(|columns| columns.join("|"))
    })?;
    rows.collect()
}

/// A value as `psql` shows it.
fn text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        other => panic!("{:?} is not shown", other.data_type()),
    }
}
