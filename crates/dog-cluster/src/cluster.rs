//! A cluster: how it is made, configured and asked.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use crate::{
    TestDatabase, available,
    node::Node,
    programs::{Programs, run},
    supervisor::Supervisor,
};

/// The password of the role `dog`.
const PASSWORD: &str = "opened-by-nobody";

/// Whether connections by TCP are encrypted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tls {
    /// They cannot be.
    Off,
    /// Clients choose.
    Offered,
    /// Others are refused.
    Required,
}

/// What a cluster is like.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Commits survive a loss of power. The cluster is on a disk, and slower. Off by default.
    pub durable: bool,
    /// Connections by TCP need the password (SCRAM). On by default.
    pub password: bool,
    /// Off by default.
    pub tls: Tls,
    /// 200 by default.
    pub max_connections: u32,
    /// Names and values for `postgresql.conf`; none by default.
    pub settings: Vec<(&'static str, String)>,
}

impl Default for ClusterOptions {
    fn default() -> ClusterOptions {
        ClusterOptions {
            durable: false,
            password: true,
            tls: Tls::Off,
            max_connections: 200,
            settings: Vec::new(),
        }
    }
}

/// A PostgreSQL server with its data. Dropping it stops the server and removes the data.
///
/// It has a superuser `postgres`, who uses the Unix socket, and a role `dog`, who owns the databases.
#[derive(Debug)]
pub struct Cluster {
    pub(crate) node: Arc<Node>,
    pub(crate) options: ClusterOptions,
    settings: Mutex<BTreeMap<String, String>>,
    supervisor: Mutex<Supervisor>,
    template: OnceLock<String>,
}

impl Cluster {
    /// An empty cluster; `None`, with a message, on a machine without PostgreSQL ([`available`]).
    pub fn start(options: &ClusterOptions) -> Option<Cluster> {
        if !available() {
            return None;
        }
        let cluster = Cluster::build(options, |cluster| {
            let arguments = ["-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8"];
            let mut initdb = cluster.program("initdb");
            // pg_rewind needs the checksums.
            initdb
                .args(arguments)
                .args(["--locale=C", "--no-sync", "--data-checksums"]);
            cluster.run(&mut initdb);
            if options.tls != Tls::Off {
                cluster.make_certificates();
            }
        });
        cluster.psql(
            "postgres",
            &format!("CREATE ROLE dog LOGIN PASSWORD '{PASSWORD}'"),
        );
        Some(cluster)
    }

    /// The cluster that the tests of this process share; the same as a default one otherwise.
    pub fn shared() -> Option<&'static Cluster> {
        static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| Cluster::start(&ClusterOptions::default()));
        shared.as_ref()
    }

    /// A running cluster on data that a function makes. If another process takes the port meanwhile,
    /// all is done again.
    pub(crate) fn build(options: &ClusterOptions, make_data: impl Fn(&Cluster)) -> Cluster {
        let programs = Programs::find().expect("it is available");
        loop {
            let node = Node::create(programs, options.durable);
            let cluster = Cluster {
                supervisor: Mutex::new(Supervisor::spawn(programs, &node.folder)),
                settings: Mutex::new(settings(&node, options)),
                node: Arc::new(node),
                options: options.clone(),
                template: OnceLock::new(),
            };
            make_data(&cluster);
            cluster.write_configuration();
            if cluster.order("start") {
                return cluster;
            }
            if !cluster.log().contains("Address already in use") {
                cluster.node.fail("PostgreSQL does not start");
            }
        }
    }

    /// A fresh, empty database.
    #[track_caller]
    pub fn database(&self) -> TestDatabase {
        self.database_from(None)
    }

    /// A fresh copy of a database that the first caller prepares, given its URL. Whatever uses the
    /// URL must be closed when the function returns.
    #[track_caller]
    pub fn prepared_database(&self, prepare: impl FnOnce(&str)) -> TestDatabase {
        let template = self.template.get_or_init(|| {
            let name = self.node.create_database(None);
            prepare(&self.url(&name));
            let close = format!(
                "ALTER DATABASE {name} ALLOW_CONNECTIONS false;
                 SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
            );
            self.psql("postgres", &close);
            name
        });
        self.database_from(Some(template))
    }

    #[track_caller]
    fn database_from(&self, template: Option<&str>) -> TestDatabase {
        TestDatabase {
            name: self.node.create_database(template),
            node: Arc::clone(&self.node),
            password: self.password(),
        }
    }

    /// The URL of a database by TCP as `dog`, with its password if the cluster asks for it.
    pub fn url(&self, database: &str) -> String {
        url(&[&self.node], self.password(), database)
    }

    /// The password of `dog`, if the cluster asks for it.
    pub fn password(&self) -> Option<&'static str> {
        self.options.password.then_some(PASSWORD)
    }

    /// Where everything of the cluster is; the Unix socket, too.
    pub fn folder(&self) -> &Path {
        &self.node.folder
    }

    /// The TCP port, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.node.port
    }

    /// The certificate of the authority that signed the server's, for `sslrootcert`. The server's is
    /// for `localhost` and 127.0.0.1.
    pub fn ca_file(&self) -> PathBuf {
        self.node.folder.join("tls/ca.crt")
    }

    /// Runs SQL in a database as the superuser; see [`psql`](crate::psql).
    #[track_caller]
    pub fn psql(&self, database: &str, sql: &str) -> String {
        self.node.must_psql(database, sql)
    }

    /// The same; the errors if it fails.
    pub fn try_psql(&self, database: &str, sql: &str) -> Result<String, String> {
        self.node.psql(database, sql)
    }

    /// All that PostgreSQL has logged.
    pub fn log(&self) -> String {
        self.node.log()
    }

    /// Changes a setting of `postgresql.conf`, now if it runs and the setting allows that, else with
    /// the next start.
    #[track_caller]
    pub fn configure(&self, name: &str, value: &str) {
        self.set(name, value);
        self.write_configuration();
        if self.order("is_ready") {
            let loaded = || self.psql("postgres", "SELECT pg_conf_load_time()");
            let before = loaded();
            self.psql("postgres", "SELECT pg_reload_conf()");
            self.node
                .wait_until("the settings are read", || loaded() != before);
        }
    }

    pub(crate) fn set(&self, name: &str, value: &str) {
        let mut settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        settings.insert(name.to_owned(), value.to_owned());
    }

    pub(crate) fn write_configuration(&self) {
        let settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        for (name, value) in &*settings {
            let value = value.replace('\'', "''");
            let _ = writeln!(text, "{name} = '{value}'");
        }
        // Outside of the data, because pg_rewind copies all that is there.
        self.write("postgresql.conf", &text);
        let host = if self.options.tls == Tls::Required {
            "hostssl"
        } else {
            "host"
        };
        let method = if self.options.password {
            "scram-sha-256"
        } else {
            "trust"
        };
        let access = format!(
            "local all all trust\n\
             local replication all trust\n\
             {host} all all 127.0.0.1/32 {method}\n"
        );
        self.write("pg_hba.conf", &access);
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.node.folder.join(name), text).expect("to write into the folder");
    }

    pub(crate) fn program(&self, name: &str) -> Command {
        self.node.programs.command(name, &self.node.folder)
    }

    /// Any program, as the user of PostgreSQL.
    pub(crate) fn tool(&self, name: &str) -> Command {
        self.node.programs.run_as_user(name, &self.node.folder)
    }

    #[track_caller]
    pub(crate) fn run(&self, command: &mut Command) {
        if let Err(error) = run(command) {
            self.node.fail(&format!("{command:?}: {error}"));
        }
    }

    /// Has the supervisor do something.
    pub(crate) fn order(&self, order: &str) -> bool {
        let mut supervisor = self
            .supervisor
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        supervisor.order(order)
    }

    fn make_certificates(&self) {
        fs::write(
            self.node.folder.join("openssl.cnf"),
            include_str!("openssl.cnf"),
        )
        .expect("to write into the folder");
        self.run(self.tool("mkdir").arg("tls"));
        let request = "req -x509 -config openssl.cnf -days 2 -nodes -newkey ec \
                       -pkeyopt ec_paramgen_curve:prime256v1";
        for rest in [
            "-extensions authority -subj /CN=authority -keyout tls/ca.key -out tls/ca.crt",
            "-extensions server -subj /CN=localhost -keyout tls/server.key -out tls/server.crt \
             -CA tls/ca.crt -CAkey tls/ca.key",
        ] {
            let arguments = request.split_whitespace().chain(rest.split_whitespace());
            self.run(self.tool("openssl").args(arguments));
        }
    }
}

/// The settings of a new cluster.
fn settings(node: &Node, options: &ClusterOptions) -> BTreeMap<String, String> {
    let on = |on| if on { "on" } else { "off" }.to_owned();
    let path = |name: &str| node.folder.join(name).display().to_string();
    let given = options.settings.iter();
    let given = given.map(|(name, value)| (*name, value.clone()));
    let base = [
        ("listen_addresses", "127.0.0.1".to_owned()),
        ("port", node.port.to_string()),
        ("unix_socket_directories", path("")),
        ("hba_file", path("pg_hba.conf")),
        ("max_connections", options.max_connections.to_string()),
        ("fsync", on(options.durable)),
        ("max_wal_size", "512MB".to_owned()),
        // A standby finds its primary soon after it is there.
        ("wal_retrieve_retry_interval", "100ms".to_owned()),
        // For pg_rewind.
        ("wal_keep_size", "256MB".to_owned()),
        ("ssl", on(options.tls != Tls::Off)),
        ("ssl_cert_file", path("tls/server.crt")),
        ("ssl_key_file", path("tls/server.key")),
    ];
    let all = base.into_iter().chain(given);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The URL of a database on any of some nodes.
pub(crate) fn url(nodes: &[&Node], password: Option<&str>, database: &str) -> String {
    let password = password
        .map(|password| format!(":{password}"))
        .unwrap_or_default();
    let hosts = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port));
    let hosts = hosts.collect::<Vec<_>>().join(",");
    format!("postgres://dog{password}@{hosts}/{database}")
}
