//! `dog serve --check` of a database of PostgreSQL.

use crate::support::{TestServer, dog};

#[test]
fn a_database_is_looked_at_before_a_start() {
    let server = TestServer::start();
    let mut check = dog(&server.database().location(), &[]);
    let output = check.args(["serve", "--check"]).output().expect("an end");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    for line in [
        "good      schema",
        "good      clock",
        "doubtful  standby: none",
    ] {
        assert!(
            said.lines().any(|said| said.starts_with(line)),
            "{line}: {said}"
        );
    }
    let mut nowhere = dog("postgres://nobody@127.0.0.1:1/none".as_ref(), &[]);
    let output = nowhere.args(["serve", "--check"]).output().expect("an end");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        !output.status.success() && said.contains("bad       database: "),
        "{said}"
    );
}
