//! Passwords and certificates of a database.

use std::{fs, os::unix::fs::PermissionsExt};

use dog_cluster::{Cluster, ClusterOptions};
use serde_json::json;

use crate::{
    node::{node, node_on, own_cluster, refusal, serve},
    support::{TestGame, wait_until},
};

/// No word of it occurs by chance.
const SECRET: &str = "Xylophon-7-Quitte-Zwirn";

#[test]
fn the_password_is_nowhere_to_be_read() {
    let Some(cluster) = own_cluster() else { return };
    let database = cluster.database();
    let name = database.name();
    let role = format!("CREATE ROLE keeper LOGIN PASSWORD '{SECRET}'");
    let owner = format!("ALTER DATABASE {name} OWNER TO keeper");
    cluster.psql("postgres", &format!("{role}; {owner}"));
    let at = format!("127.0.0.1:{}/{name}", cluster.port());
    let with_it = format!("postgres://keeper:{SECRET}@{at}");
    let without = format!("postgres://keeper@{at}");
    let file = cluster.folder().join("passwords").display().to_string();
    fs::write(&file, format!("127.0.0.1:*:*:keeper:{SECRET}\n")).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
    let ways: [&[(&'static str, &str)]; 3] = [
        &[("DOG_DATABASE", &with_it)],
        &[("DOG_DATABASE", &without), ("PGPASSWORD", SECRET)],
        &[("DOG_DATABASE", &without), ("PGPASSFILE", &file)],
    ];
    let hidden = |text: &str| assert!(!text.contains(SECRET), "{text}");
    for way in ways {
        // Even if everything is logged.
        let node = node(&[way, &[("RUST_LOG", "trace")]].concat());
        TestGame::create(&node, &json!({}));
        cluster.stop();
        for path in ["/readyz", "/v1/games"] {
            wait_until("the database is missed", || {
                let answer = node.get(path).send();
                hidden(&answer.text());
                answer.status == 503
            });
        }
        hidden(&node.get("/metrics").send().text());
        // Nodes that start now find nobody.
        hidden(&refusal(way));
        cluster.start_again();
        wait_until("the database is back", || {
            node.get("/v1/games").send().status == 200
        });
        hidden(&node.log());
        hidden(&help(way));
    }
    // Nor is it shown if the role has another password.
    cluster.psql("postgres", "ALTER ROLE keeper PASSWORD 'another'");
    for way in ways {
        let log = refusal(way);
        assert!(log.contains("password authentication failed"), "{log}");
        hidden(&log);
    }
    // Nor if the URL is not valid.
    for url in [
        with_it.replace("127.0.0.1:", "127.0.0.1:none"),
        format!("{with_it}?sslmode=maybe"),
        with_it.replace("keeper:", "keeper:not@escaped@"),
    ] {
        let log = serve(&[("DOG_DATABASE", &url)]).output();
        let log = log.expect("the dog binary");
        assert_eq!(log.status.code(), Some(1));
        hidden(&String::from_utf8_lossy(&log.stderr));
    }
}

fn help(environment: &[(&str, &str)]) -> String {
    let output = serve(environment).arg("--help").output();
    let output = output.expect("the dog binary");
    assert!(output.status.success());
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn certificates_are_verified_if_that_is_asked_for() {
    let options = ClusterOptions {
        tls: true,
        ..ClusterOptions::default()
    };
    let Some(cluster) = Cluster::start(&options) else {
        return;
    };
    let other = Cluster::start(&options).expect("another authority");
    let database = cluster.database();
    let url = |mode: &str, authority: &Cluster| {
        let file = authority.ca_file().display().to_string();
        format!("{}?sslmode={mode}&sslrootcert={file}", database.url())
    };
    let verified = url("verify-full", &cluster);
    for url in [&verified, &verified.replace("127.0.0.1", "localhost")] {
        let node = node_on(url);
        TestGame::create(&node, &json!({}));
        let sql = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                   WHERE usename = 'dog'";
        assert_eq!(cluster.psql("postgres", sql), "t");
    }
    drop(node_on(&url("require", &other)));
    for (url, reason) in [
        (url("verify-full", &other), "certificate"),
        (url("disable", &cluster), "no encryption"),
    ] {
        let log = refusal(&[("DOG_DATABASE", &url)]);
        assert!(log.contains(reason), "{log}");
    }
}
