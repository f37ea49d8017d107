//! Databases of tests.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use crate::{Cluster, node::Node, programs::run};

/// The password of the role `dog`, which connections by TCP need.
pub const PASSWORD: &str = "opened-by-nobody";

/// A database of its own for a test, owned by the role `dog`; dropped when this is dropped.
#[derive(Debug)]
pub struct TestDatabase {
    pub(crate) node: Arc<Node>,
    pub(crate) name: String,
}

impl TestDatabase {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// By TCP as `dog`.
    pub fn url(&self) -> String {
        url(&[&self.node], &self.name)
    }

    /// By TCP as `dog`, on whichever of these nodes is the primary.
    pub fn url_on(&self, nodes: &[&Cluster]) -> String {
        let nodes: Vec<&Node> = nodes.iter().map(|cluster| &*cluster.node).collect();
        let url = url(&nodes, &self.name);
        format!("{url}?target_session_attrs=read-write")
    }

    /// By the Unix socket as `dog`, which asks for no password.
    pub fn socket_url(&self) -> String {
        let host = self.node.folder.display().to_string().replace('/', "%2F");
        format!("postgres://dog@{host}:{}/{}", self.node.port, self.name)
    }

    /// A copy as it is now, although it may be in use.
    #[track_caller]
    pub fn copy(&self) -> TestDatabase {
        let node = Arc::clone(&self.node);
        let name = node.create_database(None);
        let copy = TestDatabase { node, name };
        let from = format!("{} dbname={}", self.node.parameters(), self.name);
        let mut dump = self.node.programs.command("pg_dump", &self.node.folder);
        let dumped = run(dump.args(["-d", &from]));
        let dumped = dumped.unwrap_or_else(|error| self.node.fail(&format!("pg_dump: {error}")));
        copy.psql(&dumped);
        copy
    }

    /// Runs SQL as the superuser; see [`Cluster::psql`].
    #[track_caller]
    pub fn psql(&self, sql: &str) -> String {
        self.node.must_psql(&self.name, sql)
    }
}

impl Drop for TestDatabase {
    /// The cluster may be gone before, or wait for a standby, which does not matter.
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        let sql = format!("SET synchronous_commit = local; {drop}");
        let _ = self.node.psql("postgres", &sql);
    }
}

impl Node {
    /// Creates a database, and returns its name.
    #[track_caller]
    pub(crate) fn create_database(&self, template: Option<&str>) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("dog_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let template = template.unwrap_or("template1");
        // Two thirds of the time of the other strategy, and not every page is logged.
        let strategy = "STRATEGY file_copy";
        let sql = format!("CREATE DATABASE {name} OWNER dog TEMPLATE {template} {strategy}");
        self.must_psql("postgres", &sql);
        name
    }
}

/// The URL of a database on some nodes.
pub(crate) fn url(nodes: &[&Node], database: &str) -> String {
    let hosts = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port));
    let hosts = hosts.collect::<Vec<_>>().join(",");
    format!("postgres://dog:{PASSWORD}@{hosts}/{database}")
}
