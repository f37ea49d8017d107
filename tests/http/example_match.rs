//! `examples/match.py`: how good a bot is.

use std::process::Command;

use crate::support::{TestServer, available};

#[test]
fn it_plays_its_pairs_and_prints_the_result() {
    if !available(&["python3"]) {
        return;
    }
    let server = TestServer::start();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/match.py");
    let output = Command::new("python3")
        .args([script, "random", "2", &server.url()])
        .output()
        .expect("Python starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(stderr.ends_with("4 of 4 games\n"), "{stderr}");
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("bot.py ") && lines[1].starts_with("random "));
    assert!(
        lines.iter().all(|line| line.contains("), margin ")),
        "{stdout}"
    );
}
