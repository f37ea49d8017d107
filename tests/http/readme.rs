//! The whole game by curl in `README.md`, the flows in `docs/tables.md`, the questions in
//! `docs/adviser.md` and the requests in `docs/services.md`, run as they are printed there.

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use crate::support::{TestServer, available};

/// The blocks for bash.
fn blocks(text: &'static str) -> Vec<&'static str> {
    let blocks = text.split("\n```bash\n").skip(1);
    let end = |rest: &'static str| rest.split_once("```\n").expect("the end of a block").0;
    blocks.map(end).collect()
}

/// Runs a script in this new folder, with the server's address in place of the documented one.
/// Returns what it prints.
fn run(script: &str, server: &TestServer, folder: &Path) -> String {
    let documented = "http://127.0.0.1:8080";
    assert_eq!(script.matches(documented).count(), 1, "{documented}");
    fs::create_dir(folder).expect("a new folder");
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c"])
        .arg(script.replace(documented, &server.url()))
        .current_dir(folder)
        .output()
        .expect("bash starts");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert_eq!(stderr, "");
    stdout.into_owned()
}

#[test]
#[ignore = "takes 20 seconds"]
fn the_curl_block_plays_a_whole_game() {
    if !available(&["bash", "curl", "jq"]) {
        return;
    }
    let blocks = blocks(include_str!("../../README.md"));
    let [block] = blocks[..] else {
        panic!("a second block is not tested");
    };
    let server = TestServer::start();
    let folder = server.folder().join("readme");
    let stdout = run(block, &server, &folder);

    // Every action prints a line: the version, the type of the event, and the move if one is
    // played.
    let (actions, end) = stdout.trim_end().rsplit_once('\n').expect("many lines");
    let mut plays = 0;
    for (line, version) in actions.lines().zip(2..) {
        let action: Value = serde_json::from_str(line).unwrap_or_default();
        assert_eq!(action[0], version, "{line}");
        assert!(action[1].is_string(), "{line}");
        assert_eq!(action[1] == "card_played", action[2].is_string(), "{line}");
        plays += usize::from(action[2].is_string());
    }
    assert!(plays > 10, "{stdout}");

    let created = fs::read(folder.join("game.json")).expect("the created game");
    let created: Value = serde_json::from_slice(&created).expect("JSON");
    let id = created["id"].as_str().expect("an id");
    let view = server.get(&format!("/v1/games/{id}")).send().expect(200);
    assert_eq!(view["rules"]["preset"], "hausregeln");
    assert_eq!(view["version"], actions.lines().count() + 1);
    let end: Value = serde_json::from_str(end).expect("JSON");
    assert_eq!(end["phase"], "finished");
    assert_eq!(end["winner"], view["winner"]);
    assert!(end["winner"].is_u64(), "{end}");
}

#[test]
#[ignore = "waits 15 seconds"]
fn the_flows_of_tables_print_what_they_say() {
    print_what_they_say("tables", include_str!("../../docs/tables.md"), 1 + 9);
}

#[test]
fn the_questions_to_the_adviser_print_what_they_say() {
    print_what_they_say("adviser", include_str!("../../docs/adviser.md"), 1 + 4);
}

#[test]
fn the_requests_of_services_print_what_they_say() {
    print_what_they_say("services", include_str!("../../docs/services.md"), 1 + 3);
}

#[test]
fn the_matches_print_what_they_say() {
    print_what_they_say("matches", include_str!("../../docs/matches.md"), 1 + 5);
}

#[test]
fn the_puzzles_print_what_they_say() {
    print_what_they_say("puzzles", include_str!("../../docs/puzzles.md"), 1 + 1);
}

/// Runs the blocks of a guide one after another. Each prints the lines that it says.
fn print_what_they_say(guide: &str, text: &'static str, expected: usize) {
    if !available(&["bash", "curl", "jq"]) {
        return;
    }
    let blocks = blocks(text);
    // A NUL ends what a block prints.
    let script: String = blocks
        .iter()
        .map(|block| format!("{block}printf '\\0'\n"))
        .collect();
    // A match of one pair instead of 32.
    let script = format!("PAIRS=1\n{script}");
    let server = TestServer::start();
    let stdout = run(&script, &server, &server.folder().join(guide));
    let outputs: Vec<&str> = stdout.split_terminator('\0').collect();
    assert_eq!(outputs.len(), expected, "the functions, then the others");
    for (block, output) in blocks.iter().zip(outputs) {
        let documented = block.lines().filter_map(|line| line.strip_prefix("#> "));
        let documented: Vec<&str> = documented.collect();
        assert_eq!(output.lines().collect::<Vec<_>>(), documented, "{block}");
    }
}
