//! Standbys, and the ways in which nodes fail and come back.

use std::fs;

use crate::Cluster;

impl Cluster {
    /// A streaming standby of a running primary, with the same options. The primary's commits wait
    /// for it from now on.
    pub fn standby_of(primary: &Cluster) -> Cluster {
        let standby = Cluster::build(&primary.options, |standby| {
            let source = primary.node.parameters();
            let mut backup = standby.program("pg_basebackup");
            backup
                .args(["-D", "data", "-c", "fast", "-d", &source])
                .args(standby.no_sync());
            standby.run(&mut backup);
            if primary.options.tls {
                let certificates = primary.node.folder.join("tls");
                standby.run(standby.tool("cp").arg("-r").arg(certificates).arg("."));
            }
            standby.follow(primary);
        });
        primary.wait_for_standby(&standby);
        standby
    }

    /// Kills the server and all its processes with SIGKILL, at once. The kernel closes its
    /// connections.
    pub fn kill(&self) {
        self.must("die");
    }

    /// Shuts the server down; sessions are ended (fast mode).
    pub fn stop(&self) {
        self.must("stop");
    }

    /// Starts the server again after [`stop`](Cluster::stop) or [`kill`](Cluster::kill), at the
    /// same port, and returns when it accepts connections.
    pub fn start_again(&self) {
        self.must("start");
    }

    /// Has all processes of the server stand still (SIGSTOP), as if the machine hung. Connections
    /// stay open, and nothing answers.
    pub fn freeze(&self) {
        self.must("freeze");
    }

    /// The reverse of [`freeze`](Cluster::freeze).
    pub fn thaw(&self) {
        self.must("thaw");
    }

    /// Makes a standby a primary whose commits wait for nobody. Its old primary must be dead.
    pub fn promote(&self) {
        self.psql("postgres", "SELECT pg_promote()");
        self.node
            .wait_until("it is promoted", || !self.is_in_recovery());
    }

    /// Makes an old primary a synchronous standby of the node that was promoted in its place. What
    /// only the old primary has is lost. It is killed first if it runs.
    pub fn rewind_from(&self, primary: &Cluster) {
        self.must("die");
        // Before PostgreSQL 16, pg_rewind takes the timeline from the last checkpoint.
        primary.psql("postgres", "CHECKPOINT");
        // pg_rewind needs a clean shutdown. It could do this itself, but without our settings,
        // which keep the write-ahead log that it needs.
        let _ = fs::remove_file(self.node.folder.join("data/postmaster.pid"));
        let configuration = self.node.folder.join("postgresql.conf");
        let configuration = format!("config_file={}", configuration.display());
        let recover = ["--single", "-D", "data", "-c", &configuration, "template1"];
        self.run(self.program("postgres").args(recover));
        let source = format!("{} dbname=postgres", primary.node.parameters());
        let rewind = ["-D", "data", "--source-server", &source];
        self.run(self.program("pg_rewind").args(rewind).args(self.no_sync()));
        self.follow(primary);
        self.start_again();
        primary.wait_for_standby(self);
    }

    /// Whether this is a standby.
    pub fn is_in_recovery(&self) -> bool {
        self.psql("postgres", "SELECT pg_is_in_recovery()") == "t"
    }

    /// Waits until the server answers queries.
    pub fn wait_until_ready(&self) {
        self.node.wait_until("it is ready", || {
            self.try_psql("postgres", "SELECT").is_ok()
        });
    }

    /// Waits until this primary has a synchronous standby.
    pub fn wait_until_synchronous(&self) {
        let sql = "SELECT count(*) > 0 FROM pg_stat_replication WHERE sync_state = 'sync'";
        self.node.wait_until("a standby is synchronous", || {
            self.psql("postgres", sql) == "t"
        });
    }

    #[track_caller]
    fn must(&self, order: &str) {
        if !self.order(order) {
            self.node.fail(&format!("the order to {order} failed"));
        }
    }

    fn no_sync(&self) -> Option<&str> {
        (!self.options.durable).then_some("--no-sync")
    }

    fn application_name(&self) -> String {
        format!("node_{}", self.node.number)
    }

    /// Makes this a standby at the next start.
    fn follow(&self, primary: &Cluster) {
        let (source, name) = (primary.node.parameters(), self.application_name());
        self.set(
            "primary_conninfo",
            &format!("{source} application_name={name}"),
        );
        self.set("synchronous_standby_names", "");
        self.run(self.tool("touch").arg("data/standby.signal"));
    }

    fn wait_for_standby(&self, standby: &Cluster) {
        self.configure("synchronous_standby_names", &standby.application_name());
        self.wait_until_synchronous();
    }
}
