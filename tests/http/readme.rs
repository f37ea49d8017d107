//! The whole game by curl in `README.md`, run as it is printed there.

use std::{fs, process::Command};

use serde_json::Value;

use crate::support::{TestServer, available};

/// The block of the README that plays a game. Its other blocks are for `sh`.
fn block() -> &'static str {
    let readme = include_str!("../../README.md");
    let mut blocks = readme.split("\n```bash\n").skip(1);
    let block = blocks.next().and_then(|rest| rest.split_once("```\n"));
    assert!(blocks.next().is_none(), "a second block is not tested");
    block.expect("a block for bash").0
}

#[test]
fn the_curl_block_plays_a_whole_game() {
    if !available(&["bash", "curl", "jq"]) {
        return;
    }
    let documented = "http://127.0.0.1:8080";
    assert_eq!(block().matches(documented).count(), 1, "{documented}");
    let server = TestServer::start();
    let folder = server.database().with_file_name("readme");
    fs::create_dir(&folder).expect("a new folder");
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c"])
        .arg(block().replace(documented, &server.url()))
        .current_dir(&folder)
        .output()
        .expect("bash starts");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert_eq!(stderr, "");

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
