//! `examples/bot.py`: an outside program that takes a seat by its token.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Output, Stdio},
    thread,
};

use serde_json::json;

use crate::support::{
    Exposition, PRESETS, TestGame, TestServer, TestViewer::*, UNKNOWN_TOKEN, available,
};

/// Plays a seat with the program; `None` if Python is missing.
fn play(game: &TestGame<'_>, token: &str) -> Option<Output> {
    play_at(&game.server.url(), game, token)
}

fn play_at(url: &str, game: &TestGame<'_>, token: &str) -> Option<Output> {
    if !available(&["python3"]) {
        return None;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/bot.py");
    let output = Command::new("python3")
        .args([script, &game.id, token, url])
        .output();
    Some(output.expect("Python starts"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn four_of_them_play_a_game_to_the_end() {
    four_play(&["hausregeln"]);
}

#[test]
#[ignore = "takes half a minute"]
fn four_of_them_play_by_every_preset() {
    four_play(&PRESETS);
}

fn four_play(presets: &[&str]) {
    let server = TestServer::start();
    for preset in presets {
        play_whole_game(&TestGame::with_preset(&server, preset), &server.url());
    }
    let metrics = Exposition::scrape(&server);
    let mut writes = 0.0;
    let mut refused = 0.0;
    for (name, labels) in metrics.series() {
        if name == "dog_http_requests_total" && labels["method"] == "POST" {
            let labels: Vec<(&str, &str)> = labels.iter().map(|(k, v)| (&**k, &**v)).collect();
            let count = metrics.value(&name, &labels);
            writes += count;
            let is_refused = |&(label, value): &(&str, &str)| label == "status" && value >= "400";
            refused += if labels.iter().any(is_refused) {
                count
            } else {
                0.0
            };
        }
    }
    // Two who act at the same moment may be refused now and then, but rarely.
    assert!(refused < writes / 100.0, "{refused} of {writes} writes");
}

/// Plays all seats of a game on the server at this URL.
fn play_whole_game(game: &TestGame<'_>, url: &str) {
    let outputs: Vec<Option<Output>> = thread::scope(|scope| {
        let play = |token: &String| {
            let token = token.clone();
            scope.spawn(move || play_at(url, game, &token))
        };
        let seats: Vec<_> = game.tokens.iter().map(play).collect();
        let join = |seat: thread::ScopedJoinHandle<'_, _>| seat.join().expect("it runs");
        seats.into_iter().map(join).collect()
    });
    let view = game.view(Spectator);
    for output in outputs.into_iter().flatten() {
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{stdout}\n{stderr}");
        assert_eq!(stdout, format!("team {} has won\n", view["winner"]));
        assert_eq!(view["phase"], "finished");
    }
}

#[test]
fn they_skip_what_a_later_server_adds() {
    if !available(&["python3"]) {
        return;
    }
    let server = TestServer::shared();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/later.py");
    let proxy = Command::new("python3")
        .args([script, &server.url()])
        .stdout(Stdio::piped())
        .spawn();
    let mut proxy = proxy.expect("Python starts");
    let mut url = String::new();
    let lines = proxy.stdout.take().expect("its output");
    BufReader::new(lines).read_line(&mut url).expect("a URL");
    play_whole_game(&TestGame::with_preset(&server, "hausregeln"), url.trim());
    proxy.kill().and_then(|()| proxy.wait()).expect("it ends");
}

#[test]
fn it_plays_with_the_servers_bots() {
    let server = TestServer::shared();
    let bot = json!({"kind": "bot", "level": "greedy"});
    let rules = json!({"preset": "hausregeln"});
    let seats = json!([bot, {"kind": "human"}, bot, bot]);
    let body = json!({"rules": rules, "seats": seats, "bot_pace_ms": 0});
    let game = TestGame::create(&server, &body);
    if let Some(output) = play(&game, &game.tokens[1]) {
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(game.view(Spectator)["phase"], "finished");
    }
}

#[test]
fn it_says_why_it_cannot_play() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    if let Some(output) = play(&game, UNKNOWN_TOKEN) {
        assert!(!output.status.success());
        assert!(
            text(&output.stderr).contains("401"),
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
fn it_is_short_and_needs_nothing_else() {
    let script = include_str!("../../examples/bot.py");
    assert!(script.lines().count() <= 120);
    let imports = script.lines().filter(|line| line.starts_with("import "));
    let standard = [
        "json",
        "random",
        "sys",
        "time",
        "urllib.error",
        "urllib.request",
    ];
    assert!(imports.map(|line| &line[7..]).eq(standard));
}
