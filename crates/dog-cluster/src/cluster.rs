//! A cluster: how it is made, configured and asked.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;

use crate::{
    PASSWORD, TestDatabase, available,
    database::url,
    node::Node,
    programs::{Programs, run},
    supervisor::Supervisor,
};

/// What a cluster is like. By default it is fast and has no certificates.
#[derive(Clone, Debug, Default)]
pub struct ClusterOptions {
    /// Commits survive a loss of power: the cluster is on a disk, with `fsync`.
    pub durable: bool,
    /// Connections by TCP must be encrypted.
    pub tls: bool,
    /// Names and values for `postgresql.conf`, in addition to those of every cluster or instead.
    pub settings: Vec<(&'static str, String)>,
}

/// A PostgreSQL server with its data. Dropping it stops the server and removes the data.
///
/// It has a superuser `postgres`, who uses the Unix socket, and a role `dog`, who owns the
/// databases and has the password [`PASSWORD`](crate::PASSWORD).
#[derive(Debug)]
pub struct Cluster {
    pub(crate) node: Arc<Node>,
    pub(crate) options: ClusterOptions,
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
            let mut initdb = cluster.program("initdb");
            initdb.args(["-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8"]);
            // pg_rewind needs the checksums.
            initdb.args(["--locale=C", "--no-sync", "--data-checksums"]);
            cluster.run(&mut initdb);
            if options.tls {
                cluster.make_certificates();
            }
        });
        let role = format!("CREATE ROLE dog LOGIN PASSWORD '{PASSWORD}'");
        cluster.psql("postgres", &role);
        Some(cluster)
    }

    /// The cluster that the tests of this process share; the same as a default one otherwise.
    pub fn shared() -> Option<&'static Cluster> {
        static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| Cluster::start(&ClusterOptions::default()));
        shared.as_ref()
    }

    /// A running cluster on data that a function makes. If another process takes the port
    /// meanwhile, all is done again.
    pub(crate) fn build(options: &ClusterOptions, make_data: impl Fn(&Cluster)) -> Cluster {
        let programs = Programs::find().expect("it is available");
        loop {
            let node = Node::create(programs, options.durable);
            let cluster = Cluster {
                supervisor: Mutex::new(Supervisor::spawn(programs, &node.folder)),
                node: Arc::new(node),
                options: options.clone(),
                template: OnceLock::new(),
            };
            cluster.write_configuration();
            make_data(&cluster);
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
        }
    }

    /// The URL of a database by TCP as `dog`.
    pub fn url(&self, database: &str) -> String {
        url(&[&self.node], database)
    }

    /// Where everything of the cluster is; the Unix socket, too.
    pub fn folder(&self) -> &Path {
        &self.node.folder
    }

    /// The TCP port, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.node.port
    }

    /// The certificate of the authority that signed the server's, for `sslrootcert`. The server's
    /// is for `localhost` and 127.0.0.1.
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

    /// Changes a setting of `postgresql.conf`, now if it runs and the setting allows that, else
    /// with the next start.
    #[track_caller]
    pub fn configure(&self, name: &str, value: &str) {
        self.set(name, value);
        if self.order("is_ready") {
            let load_time = "SELECT pg_conf_load_time()";
            let before = self.psql("postgres", load_time);
            self.psql("postgres", "SELECT pg_reload_conf()");
            self.node.wait_until("settings are read", || {
                self.psql("postgres", load_time) != before
            });
        }
    }

    /// Changes a setting; the last one of a name counts.
    pub(crate) fn set(&self, name: &str, value: &str) {
        let file = self.node.folder.join("postgresql.conf");
        let line = format!("{name} = '{}'\n", value.replace('\'', "''"));
        let added = File::options().append(true).open(file);
        let added = added.and_then(|mut file| file.write_all(line.as_bytes()));
        added.expect("to write into the folder");
    }

    /// The configuration is outside of the data, because pg_rewind copies all that is there.
    fn write_configuration(&self) {
        let Node { folder, port, .. } = &*self.node;
        let folder = folder.display();
        let ClusterOptions { durable, tls, .. } = self.options;
        let host = if tls { "hostssl" } else { "host" };
        // A killed server leaves shared memory: mmap has it in the folder. A standby looks for its
        // primary often. pg_rewind needs some of the write-ahead log.
        let settings = format!(
            "listen_addresses = '127.0.0.1'
             port = {port}
             unix_socket_directories = '{folder}'
             hba_file = '{folder}/pg_hba.conf'
             ssl = {tls}
             ssl_cert_file = '{folder}/tls/server.crt'
             ssl_key_file = '{folder}/tls/server.key'
             fsync = {durable}
             dynamic_shared_memory_type = mmap
             max_connections = 500
             max_wal_size = 512MB
             wal_keep_size = 256MB
             wal_retrieve_retry_interval = 100ms\n"
        );
        let access = format!(
            "local all all trust
             local replication all trust
             {host} all all 127.0.0.1/32 scram-sha-256\n"
        );
        self.write("postgresql.conf", &settings);
        self.write("pg_hba.conf", &access);
        for (name, value) in &self.options.settings {
            self.set(name, value);
        }
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
        self.supervisor.lock().order(order)
    }

    fn make_certificates(&self) {
        self.write("openssl.cnf", include_str!("openssl.cnf"));
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
