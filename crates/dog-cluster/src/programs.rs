//! The programs of PostgreSQL, and the user that runs them.

use std::{
    cmp::Reverse,
    env, fs,
    io::{self, Write},
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

/// What a person can do where the programs are missing.
const MISSING: &str = "this machine lacks the server programs of PostgreSQL 15 or newer: install \
    them (Debian: postgresql), or set DOG_TEST_PG_BIN to their folder";

const NEEDED: [&str; 6] = [
    "initdb",
    "pg_basebackup",
    "pg_dump",
    "pg_rewind",
    "postgres",
    "psql",
];

/// Whether this machine has PostgreSQL. If not, says so on standard error, past the test runner
/// that captures it, once; where the environment variable `CI` is set, it panics.
pub fn available() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let found = Programs::find().is_some();
        if !found {
            assert!(env::var_os("CI").is_none(), "{MISSING}");
            let _ = writeln!(io::stderr(), "!!! SKIPPED: {MISSING} !!!");
        }
        found
    })
}

/// Where the programs are, and as whom they run.
#[derive(Debug)]
pub(crate) struct Programs {
    pub folder: PathBuf,
    /// User and group, if this process is root: PostgreSQL refuses to run as root.
    pub user: Option<(u32, u32)>,
}

impl Programs {
    pub fn find() -> Option<&'static Programs> {
        static PROGRAMS: OnceLock<Option<Programs>> = OnceLock::new();
        PROGRAMS.get_or_init(Programs::search).as_ref()
    }

    fn search() -> Option<Programs> {
        if !Path::new("/proc/self/stat").exists() {
            return None;
        }
        let folder = folders()
            .into_iter()
            .find(|folder| NEEDED.iter().all(|name| folder.join(name).is_file()))?;
        let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
        Some(Programs {
            user: is_root.then(other_user),
            folder,
        })
    }

    /// A program of PostgreSQL.
    pub fn command(&self, program: &str, folder: &Path) -> Command {
        self.run_as_user(self.folder.join(program), folder)
    }

    /// Any program as the user of PostgreSQL, in a folder of theirs, without this process's
    /// settings of PostgreSQL.
    pub fn run_as_user(&self, program: impl AsRef<Path>, folder: &Path) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(folder);
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        command.env("LC_ALL", "C").env("PGCONNECT_TIMEOUT", "5");
        if let Some((user, group)) = self.user {
            // Not ours, which they cannot read.
            command.env("HOME", folder);
            command.uid(user).gid(group);
        }
        command
    }
}

/// Where the programs may be, best first.
fn folders() -> Vec<PathBuf> {
    if let Some(folder) = env::var_os("DOG_TEST_PG_BIN") {
        return vec![folder.into()];
    }
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut versions: Vec<PathBuf> = versions.flatten().map(|entry| entry.path()).collect();
    versions.sort_by_key(|path| {
        let number = path
            .file_name()
            .and_then(|name| name.to_str()?.parse::<u32>().ok());
        Reverse(number)
    });
    let debian = versions.into_iter().map(|version| version.join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    debian.chain(env::split_paths(&path)).collect()
}

/// User and group of `postgres`, else of `nobody`.
fn other_user() -> (u32, u32) {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    user(&users, "postgres")
        .or_else(|| user(&users, "nobody"))
        .unwrap_or((65_534, 65_534))
}

/// User and group of this name, in the form of `/etc/passwd`.
fn user(users: &str, name: &str) -> Option<(u32, u32)> {
    let mut fields = users
        .lines()
        .map(|line| line.split(':'))
        .find_map(|mut fields| (fields.next()? == name).then_some(fields))?;
    Some((fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Runs SQL through `psql`, connected by a URL or by parameters of `libpq`: rows as lines, with
/// columns separated by `|`, or the errors. It ends at the first error; each statement is a
/// transaction of its own.
///
/// # Panics
///
/// If PostgreSQL is not [`available`].
pub fn psql(connection: &str, sql: &str) -> Result<String, String> {
    let programs = Programs::find().expect(MISSING);
    let mut psql = programs.command("psql", Path::new("/"));
    psql.args(["-XqAt", "-v", "ON_ERROR_STOP=1", "-d", connection]);
    run_with(&mut psql, sql)
}

/// Runs a command to its end: its output, or what it says about why it failed.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    run_with(command, "")
}

fn run_with(command: &mut Command, input: &str) -> Result<String, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut stdin = child.stdin.take().expect("a piped stdin");
    // If it has ended already, it says why.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(trimmed(&output.stdout))
    } else {
        Err(trimmed(&output.stderr))
    }
}

fn trimmed(output: &[u8]) -> String {
    String::from_utf8_lossy(output).trim_end().to_owned()
}
