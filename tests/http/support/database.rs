//! The database of a server, and SQL on it behind the server's back.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Command,
};

use rusqlite::{Connection, types::ValueRef};

use super::TIMEOUT;

/// The database of a server.
pub enum ServerDatabase {
    /// An SQLite file.
    File(PathBuf),
}

impl ServerDatabase {
    /// A new one, which a server creates in this folder.
    pub fn new(folder: &Path) -> ServerDatabase {
        ServerDatabase::File(folder.join("dog.db"))
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
        }
    }

    /// Where it is, for `DOG_DATABASE`.
    pub fn location(&self) -> OsString {
        match self {
            ServerDatabase::File(path) => path.into(),
        }
    }

    /// The file.
    pub fn file(&self) -> &Path {
        match self {
            ServerDatabase::File(path) => path,
        }
    }

    /// Runs a statement that every store understands. Returns the rows, with the columns separated
    /// by `|`.
    #[track_caller]
    pub fn sql(&self, sql: &str) -> Vec<String> {
        match self {
            ServerDatabase::File(path) => query(path, sql).expect(sql),
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

    /// Changes columns of a game, such as `version = 7`, and lets servers know: they cache games.
    #[track_caller]
    pub fn change_game(&self, id: &str, columns: &str) {
        let change = format!("UPDATE games SET {columns} WHERE id = '{id}' RETURNING id");
        assert_eq!(self.sql(&change), [id], "{change}");
        let tell = "INSERT INTO changes (game, version) SELECT id, version FROM games";
        self.sql(&format!("{tell} WHERE id = '{id}'"));
    }
}

/// The program `dog` on the database at this location, without settings of this process. The
/// command `wrapper`, unless empty, runs it.
pub fn dog(location: &OsStr, wrapper: &[&str]) -> Command {
    let program = env!("CARGO_BIN_EXE_dog");
    let mut command = match wrapper {
        [] => Command::new(program),
        [wrapper, arguments @ ..] => {
            let mut command = Command::new(wrapper);
            command.args(arguments).arg(program);
            command
        }
    };
    let others = ["RUST_LOG", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES"];
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("DOG_") || others.contains(&&*text) {
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
