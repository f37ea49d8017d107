//! How to connect to a PostgreSQL server: the URL, and the password from where it is kept.

use std::{
    env, fmt, fs, mem,
    path::{Path, PathBuf},
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use percent_encoding::percent_decode_str;
use thiserror::Error;
use tokio::time::timeout;
use tokio_postgres::{
    Client, Config, Connection, Socket,
    config::{Host, TargetSessionAttrs},
    tls::MakeTlsConnect,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tls::{self, TlsError};
use crate::StoreError;

/// How long a host may take until a session begins. The next one is tried then.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the network may be silent before a connection counts as lost.
const SILENCE: Duration = Duration::from_secs(5);

/// The same for a connection that carries much data.
const BULK_TIMEOUT: Duration = Duration::from_secs(120);

/// How to connect. Its debug output and its errors do not contain the password.
#[derive(Clone)]
pub struct ConnectionSettings {
    /// One for each host.
    hosts: Vec<Config>,
    /// The one that has accepted the last connection, which is tried first.
    last: Arc<AtomicUsize>,
    tls: MakeRustlsConnect,
    name: String,
}

/// What opens a connection: it exchanges the messages of a [`Client`].
pub(super) type ConnectionDriver =
    Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Why settings are not valid.
#[derive(Debug, Error)]
pub enum SettingsError {
    #[error("the URL of a database begins with postgres://")]
    Scheme,
    #[error("the URL of the database is not valid: {0}")]
    Url(String),
    #[error("in the URL of the database, write ? @ / in a name or password as %3F %40 %2F")]
    NotEscaped,
    #[error("the URL of the database has no host")]
    NoHost,
    #[error("sslmode=verify-full needs sslrootcert, a file of certificates to trust")]
    NoRootCertificate,
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl ConnectionSettings {
    /// Whether a text is meant as a URL, not as the name of a file. It may be mistyped and contain
    /// a password.
    pub fn is_url(text: &str) -> bool {
        text.contains("://")
    }

    /// The database and the hosts, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same for a command that moves much data: the network may be silent while the server
    /// writes to its disk.
    pub(in super::super) fn with_bulk_timeout(&self) -> ConnectionSettings {
        let mut settings = self.clone();
        for host in &mut settings.hosts {
            host.tcp_user_timeout(BULK_TIMEOUT);
        }
        settings
    }

    /// Opens a connection to the first host that accepts one and can be written.
    ///
    /// # Errors
    /// There is none. The error is that of a host that was reached, if any was.
    pub(super) async fn connect(&self) -> Result<(Client, ConnectionDriver), StoreError> {
        let mut failure: Option<StoreError> = None;
        let first = self.last.load(Ordering::Relaxed);
        for index in (first..self.hosts.len()).chain(0..first) {
            let host = &self.hosts[index];
            let at_most = host.get_connect_timeout().unwrap_or(&CONNECT_TIMEOUT);
            let error = match timeout(*at_most, host.connect(self.tls.clone())).await {
                Ok(Ok(connected)) => {
                    self.last.store(index, Ordering::Relaxed);
                    return Ok(connected);
                }
                Ok(Err(error)) => StoreError::from(error),
                Err(_) => StoreError::unreachable("it does not answer"),
            };
            if matches!(failure, None | Some(StoreError::Unreachable(_))) {
                failure = Some(error);
            }
        }
        Err(failure.unwrap_or_else(|| StoreError::unreachable("no host is named")))
    }
}

impl FromStr for ConnectionSettings {
    type Err = SettingsError;

    /// Parses a URL such as `postgres://dog@db1,db2/dog?sslmode=verify-full&sslrootcert=ca.pem`.
    /// The password comes from the URL, or else from `PGPASSWORD` or the password file.
    fn from_str(url: &str) -> Result<ConnectionSettings, SettingsError> {
        let url = url
            .strip_prefix("postgres://")
            .or(url.strip_prefix("postgresql://"))
            .ok_or(SettingsError::Scheme)?;
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        if query.contains('@') || base.matches('@').count() > 1 {
            return Err(SettingsError::NotEscaped);
        }
        let (query, tls) = split_tls(query)?;
        let (user, address) = base.split_at(base.find('@').map_or(0, |at| at + 1));
        let (hosts, path) = address.split_at(address.find('/').unwrap_or(address.len()));
        let parse = |hosts: &str| -> Result<Config, SettingsError> {
            let url = format!("postgres://{user}{hosts}{path}?{query}");
            url.parse().map_err(url_error)
        };
        let config = parse(hosts)?;
        if config.get_hosts().is_empty() {
            return Err(SettingsError::NoHost);
        }
        let password = match config.get_password() {
            Some(_) => None,
            None => password(&config),
        };
        let hosts = hosts.split(',').map(|host| {
            let mut only = parse(host)?;
            if let Some(password) = &password {
                only.password(password);
            }
            if only.get_application_name().is_none() {
                only.application_name("dog-server");
            }
            only.target_session_attrs(TargetSessionAttrs::ReadWrite)
                .tcp_user_timeout(SILENCE)
                .keepalives_idle(SILENCE)
                .keepalives_interval(Duration::from_secs(1))
                .keepalives_retries(3);
            Ok(only)
        });
        let names = host_names(&config).join(",");
        Ok(ConnectionSettings {
            hosts: hosts.collect::<Result<_, SettingsError>>()?,
            name: format!("database {} at {names}", database(&config)),
            last: Arc::default(),
            tls,
        })
    }
}

impl fmt::Debug for ConnectionSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectionSettings({})", self.name)
    }
}

/// The names or addresses of the hosts, or the folders of their sockets.
fn host_names(config: &Config) -> Vec<String> {
    let names = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(folder) => folder.display().to_string(),
    });
    names.collect()
}

/// Takes what [`Config`] does not know out of the parameters of a URL: `sslmode=verify-full` and
/// `sslrootcert`.
fn split_tls(query: &str) -> Result<(String, MakeRustlsConnect), SettingsError> {
    let (mut verifies, mut roots, mut rest) = (false, None, Vec::new());
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        if parameter == "sslmode=verify-full" {
            verifies = true;
            rest.push("sslmode=require");
        } else if let Some(path) = parameter.strip_prefix("sslrootcert=") {
            let path = percent_decode_str(path).decode_utf8_lossy();
            roots = Some(PathBuf::from(path.into_owned()));
        } else {
            rest.push(parameter);
        }
    }
    let tls = match roots {
        Some(roots) if verifies => tls::verifying(&roots)?,
        None if verifies => return Err(SettingsError::NoRootCertificate),
        _ => tls::unverified(),
    };
    Ok((rest.join("&"), tls))
}

/// The message of an error without a part of the URL, which may hold the password.
fn url_error(error: tokio_postgres::Error) -> SettingsError {
    use std::error::Error as _;
    let cause = error.source().map(ToString::to_string);
    // Only these name a parameter by its name.
    let named =
        cause.filter(|text| text.contains("invalid value for") || text.contains("unknown option"));
    SettingsError::Url(named.unwrap_or_else(|| "it cannot be parsed".to_owned()))
}

/// The name of the database, which is that of the user by default.
fn database(config: &Config) -> &str {
    let name = config.get_dbname().or_else(|| config.get_user());
    name.unwrap_or("the default database")
}

/// The password of the environment or of the password file.
fn password(config: &Config) -> Option<String> {
    let password = env::var("PGPASSWORD").ok();
    password
        .filter(|password| !password.is_empty())
        .or_else(|| {
            let file = match env::var_os("PGPASSFILE") {
                Some(file) => PathBuf::from(file),
                None => PathBuf::from(env::var_os("HOME")?).join(".pgpass"),
            };
            find_password(&read_password_file(&file)?, config)
        })
}

/// The text of a password file. As with other clients of PostgreSQL, one that other users of the
/// machine can read is not used.
fn read_password_file(file: &Path) -> Option<String> {
    let metadata = fs::metadata(file).ok()?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0 {
        log::warn!(
            "the password file {} is not used, because others can read it: chmod 0600",
            file.display()
        );
        return None;
    }
    metadata.is_file().then(|| fs::read_to_string(file).ok())?
}

/// The password of the first line `host:port:database:user:password` that matches. A field may be
/// `*`, and `\` makes a colon or a backslash part of a field. Sockets are those of `localhost`.
fn find_password(lines: &str, config: &Config) -> Option<String> {
    let (names, ports) = (host_names(config), config.get_ports());
    let mut lines = lines.lines().filter(|line| !line.starts_with('#'));
    lines.find_map(|line| {
        let fields = password_fields(line).try_into().ok()?;
        let [host, port, name, user, password]: [String; 5] = fields;
        let is_for_host = names.iter().enumerate().any(|(index, known)| {
            let is_socket = known.starts_with('/');
            let known = if is_socket { "localhost" } else { known };
            let known_port = ports.get(index).or(ports.first()).unwrap_or(&5432);
            field_matches(&host, known) && field_matches(&port, &known_port.to_string())
        });
        let is_for = is_for_host
            && field_matches(&name, database(config))
            && field_matches(&user, config.get_user().unwrap_or_default());
        is_for.then_some(password)
    })
}

fn field_matches(field: &str, value: &str) -> bool {
    field == "*" || field == value
}

fn password_fields(line: &str) -> Vec<String> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => field.extend(characters.next()),
            ':' => fields.push(mem::take(&mut field)),
            other => field.push(other),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(url: &str) -> Config {
        url.parse().unwrap()
    }

    #[test]
    fn a_url_names_hosts_in_order() {
        let settings: ConnectionSettings =
            "postgres://dog@one,two:5433/games?sslmode=require&connect_timeout=7"
                .parse()
                .unwrap();
        assert_eq!(settings.name(), "database games at one,two");
        let host = |host: &Config| {
            let (names, ports) = (host.get_hosts(), host.get_ports());
            let (wait, mode) = (host.get_connect_timeout(), host.get_ssl_mode());
            format!("{names:?} {ports:?} {wait:?} {mode:?}")
        };
        let hosts: Vec<String> = settings.hosts.iter().map(host).collect();
        let [one, two] = [("one", 5432), ("two", 5433)]
            .map(|(name, port)| format!("[Tcp({name:?})] [{port}] Some(7s) Require"));
        assert_eq!(hosts, [one, two]);
    }

    #[test]
    fn errors_do_not_show_the_password() {
        for (url, says) in [
            ("postgres:://dog:secret@host/dog", "postgres://"),
            ("postgres://dog:secret@host:none/dog", "port"),
            ("postgres://dog:secret@host/dog?none=1", "none"),
            ("postgres://dog:secret@host/dog?sslmode=allow", "sslmode"),
            (
                "postgres://dog:secret@host/dog?sslmode=verify-full",
                "sslrootcert",
            ),
            (
                "postgres://dog:secret@host/dog?sslmode=verify-full&sslrootcert=/none",
                "/none",
            ),
            ("postgres://dog:secret?secret=secret@host/dog", "%3F"),
            ("postgres://dog:secret@/dog", "host"),
            ("postgres://dog:secret@[host/dog", "host"),
        ] {
            let error = url.parse::<ConnectionSettings>().unwrap_err().to_string();
            assert!(
                error.contains(says) && !error.contains("secret"),
                "{url}: {error}"
            );
        }
        let settings: ConnectionSettings = "postgres://dog:secret@host/dog".parse().unwrap();
        assert!(!format!("{settings:?}{}", settings.name()).contains("secret"));
    }

    #[test]
    fn a_password_is_found_by_host_port_database_and_user() {
        let lines = "# postgres:5432:games:dog:no\n\
                     host:5432:games:other:no\n\
                     host:5433:games:dog:no\n\
                     host:*:games:dog:a\\:b\\\\c\n\
                     *:*:*:*:last";
        let find = |url: &str| find_password(lines, &config(url));
        assert_eq!(find("postgres://dog@host/games").as_deref(), Some("a:b\\c"));
        assert_eq!(
            find("postgres://dog@first,host/games").as_deref(),
            Some("a:b\\c")
        );
        assert_eq!(find("postgres://dog@host/others").as_deref(), Some("last"));
        assert_eq!(
            find_password("host:5432:games:dog", &config("postgres://dog@host/games")),
            None
        );
    }
}
