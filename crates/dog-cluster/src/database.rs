//! Databases of tests.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use crate::{Cluster, cluster::url, node::Node};

/// A database of its own for a test, owned by the role `dog`; dropped when this is dropped.
#[derive(Debug)]
pub struct TestDatabase {
    pub(crate) node: Arc<Node>,
    pub(crate) name: String,
    pub(crate) password: Option<&'static str>,
}

impl TestDatabase {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// By TCP as `dog`, with its password if the cluster asks for it.
    pub fn url(&self) -> String {
        url(&[&self.node], self.password, &self.name)
    }

    /// By TCP as `dog`, on whichever of these nodes is the primary.
    pub fn url_on(&self, nodes: &[&Cluster]) -> String {
        let nodes: Vec<&Node> = nodes.iter().map(|cluster| &*cluster.node).collect();
        let url = url(&nodes, self.password, &self.name);
        format!("{url}?target_session_attrs=read-write")
    }

    /// By the Unix socket as `dog`, which asks for no password.
    pub fn socket_url(&self) -> String {
        let host = self.node.folder.display().to_string().replace('/', "%2F");
        format!("postgres://dog@{host}:{}/{}", self.node.port, self.name)
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
        let sql = format!(
            "SET synchronous_commit = local; DROP DATABASE {} WITH (FORCE)",
            self.name
        );
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
        // Two thirds of the time of the other strategy, and no log of every page.
        let strategy = if self.programs.major < 15 {
            ""
        } else {
            "STRATEGY file_copy"
        };
        let sql = format!("CREATE DATABASE {name} OWNER dog TEMPLATE {template} {strategy}");
        self.must_psql("postgres", &sql);
        name
    }
}
