//! `examples/play.sh`: a client of curl and jq.

use std::process::{Command, Output};

use crate::support::{PRESETS, Server, available};

/// Runs the script; nothing if this machine lacks what it needs.
fn play(url: &str, options: &[&str]) -> Option<Output> {
    if !available(&["bash", "curl", "jq"]) {
        return None;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/play.sh");
    let output = Command::new("bash")
        .arg(script)
        .args(options)
        .arg(url)
        .output();
    Some(output.expect("bash starts"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn it_plays_a_whole_game_under_each_preset() {
    let server = Server::start();
    std::thread::scope(|scope| {
        for preset in PRESETS {
            let url = server.url();
            scope.spawn(move || {
                let Some(output) = play(&url, &["--rules", preset, "--seed", "6", "--quiet"])
                else {
                    return;
                };
                let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
                assert!(output.status.success(), "{preset}: {stdout}\n{stderr}");
                assert!(stdout.contains("has won"), "{preset}: {stdout}\n{stderr}");
            });
        }
    });
    if available(&["bash", "curl", "jq"]) {
        let finished = server.get("/v1/games?phase=finished").send().expect(200);
        assert_eq!(
            finished["games"].as_array().map(Vec::len),
            Some(PRESETS.len())
        );
    }
}

#[test]
fn it_shows_the_board_as_it_goes() {
    let server = Server::start();
    if let Some(output) = play(&server.url(), &["--seed", "6"]) {
        let stdout = text(&output.stdout);
        assert!(
            output.status.success(),
            "{stdout}\n{}",
            text(&output.stderr)
        );
        for word in ["ring", "goal", "kennel", "round 1"] {
            assert!(stdout.contains(word), "no {word}:\n{stdout}");
        }
    }
}

#[test]
fn it_prints_the_problem_and_fails() {
    let server = Server::start();
    if let Some(output) = play(&server.url(), &["--rules", "tock"]) {
        assert!(!output.status.success());
        assert!(
            text(&output.stderr).contains("invalid_rules"),
            "{}",
            text(&output.stderr)
        );
    }
    if let Some(output) = play("http://127.0.0.1:1", &[]) {
        assert!(!output.status.success());
    }
    if let Some(output) = play(&server.url(), &["--nonsense"]) {
        assert_eq!(output.status.code(), Some(2));
    }
}
