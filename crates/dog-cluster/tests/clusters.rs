//! Real clusters. Without PostgreSQL these tests are skipped, with a message.

use std::{process::Command, thread};

use dog_cluster::{Cluster, ClusterOptions, TestDatabase, Tls};

/// Runs SQL as a client who knows only a URL.
fn ask(url: &str, sql: &str) -> Result<String, String> {
    let psql = Command::new("psql")
        .args(["-XqAt", url, "-c", sql])
        .output();
    let psql = psql.expect("psql");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    let result = if psql.status.success() {
        Ok(&psql.stdout)
    } else {
        Err(&psql.stderr)
    };
    result.map(|bytes| text(bytes)).map_err(|bytes| text(bytes))
}

#[test]
fn databases_belong_to_dog_who_needs_a_password() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let database = cluster.database();
    let sql = "CREATE TABLE t (); SELECT current_user, current_database()";
    let expected = format!("dog|{}", database.name());
    assert_eq!(ask(&database.url(), sql), Ok(expected.clone()));
    assert_eq!(ask(&database.socket_url(), &sql[19..]), Ok(expected));
    let wrong = database
        .url()
        .replace(cluster.password().expect("one"), "wrong");
    let refusal = ask(&wrong, "SELECT 1").expect_err("a refusal");
    assert!(
        refusal.contains("password authentication failed"),
        "{refusal}"
    );
    let count = "SELECT count(*) FROM pg_database WHERE datname = ";
    let count = format!("{count}'{}'", database.name());
    assert_eq!(cluster.psql("postgres", &count), "1");
    drop(database);
    assert_eq!(cluster.psql("postgres", &count), "0");
}

#[test]
fn copies_of_a_prepared_database_are_made_at_once() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let copy = || {
        cluster.prepared_database(|url| {
            let made = ask(url, "CREATE TABLE t AS SELECT 7 AS n");
            made.expect("a table");
        })
    };
    let copies: Vec<TestDatabase> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(copy)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a copy"))
            .collect()
    });
    for (number, copy) in copies.iter().enumerate() {
        let insert = format!("UPDATE t SET n = n + {number}");
        ask(&copy.url(), &insert).expect("its own table");
        assert_eq!(copy.psql("SELECT n FROM t"), (7 + number).to_string());
    }
}

#[test]
fn certificates_are_verified() {
    let options = ClusterOptions {
        tls: Tls::Required,
        ..ClusterOptions::default()
    };
    let Some(cluster) = Cluster::start(&options) else {
        return;
    };
    let url = cluster.url("postgres");
    let ca = cluster.ca_file().display().to_string();
    let verified = format!("{url}?sslmode=verify-full&sslrootcert={ca}");
    let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    assert_eq!(ask(&verified, sql), Ok("t".to_owned()));
    assert_eq!(
        ask(&verified.replace("127.0.0.1", "localhost"), sql),
        Ok("t".to_owned())
    );
    let plain = ask(&format!("{url}?sslmode=disable"), sql).expect_err("a refusal");
    assert!(plain.contains("no encryption"), "{plain}");
    // Not the authority.
    let wrong = verified.replace("ca.crt", "server.crt");
    let wrong = ask(&wrong, sql).expect_err("a refusal");
    assert!(wrong.contains("certificate verify failed"), "{wrong}");
}
