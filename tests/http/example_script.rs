//! `examples/play.sh`: a client of bash, curl and jq.

use std::{
    process::{Command, Output},
    thread,
};

use crate::support::{TestServer, available};

/// Runs the script; `None` if a program that it needs is missing.
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

/// What the script prints of a whole game.
fn whole_game(url: &str, options: &[&str]) -> Option<String> {
    let output = play(url, options)?;
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{options:?}: {stdout}\n{stderr}");
    let last = stdout.lines().last().unwrap_or_default();
    assert!(last.contains("has won"), "{options:?}: {stdout}\n{stderr}");
    Some(stdout)
}

/// For each preset a seed of a short game.
const GAMES: [(&str, &str); 5] = [
    ("familienlager", "22"),
    ("dogspiel-de", "7"),
    ("dogspiel-it", "22"),
    ("spielanleitung", "7"),
    ("hausregeln", "15"),
];

#[test]
#[ignore = "takes half a minute"]
fn it_plays_a_whole_game_under_each_preset() {
    let server = TestServer::start();
    let url = server.url();
    thread::scope(|scope| {
        for &(preset, seed) in &GAMES {
            let options = ["--rules", preset, "--seed", seed];
            let url = &url;
            scope.spawn(move || {
                if preset == "dogspiel-de" {
                    let quiet = whole_game(url, &[&options[..], &["--quiet"]].concat());
                    assert!(quiet.is_none_or(|shown| shown.lines().count() == 1));
                } else if let Some(shown) = whole_game(url, &options) {
                    for word in ["ring", "goal", "kennel", "round 1:", "lays down", "plays"] {
                        assert!(shown.contains(word), "no {word}:\n{shown}");
                    }
                }
            });
        }
    });
    let finished = server.get("/v1/games?phase=finished").send().expect(200);
    let finished = finished["games"].as_array().map_or(0, Vec::len);
    assert!([0, GAMES.len()].contains(&finished), "{finished} games");
}

#[test]
fn it_prints_the_problem_and_fails() {
    let server = TestServer::shared();
    if let Some(output) = play(&server.url(), &["--rules", "tock"]) {
        let stderr = text(&output.stderr);
        assert!(!output.status.success());
        assert!(stderr.contains("invalid_rules"), "{stderr}");
    }
    if let Some(output) = play("http://127.0.0.1:1", &[]) {
        assert!(!output.status.success());
    }
    if let Some(output) = play(&server.url(), &["--nonsense"]) {
        assert_eq!(output.status.code(), Some(2));
    }
}
