//! What earlier versions wrote is read by this one: a database and a record of each release, in
//! `tests/releases`.

use std::{env, fs, path::Path};

use serde_json::{Value, json};

use crate::support::{Signal, TestGame, TestServer, TestViewer::*};

const RELEASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/releases");

/// Nothing is removed, however long ago the release was.
const FOR_EVER: [(&str, &str); 2] = [("DOG_KEEP_FINISHED_DAYS", "0"), ("DOG_KEEP_IDLE_DAYS", "0")];

#[test]
fn databases_and_records_of_all_releases_are_read() {
    let folders = fs::read_dir(RELEASES).expect("the releases");
    let mut releases = 0;
    for folder in folders {
        let folder = folder.expect("a folder").path();
        check_release(&folder);
        releases += 1;
    }
    assert!(releases > 0);
}

/// Leaves out the members that later versions have added, such as options.
fn forget_added(now: &mut Value, before: &Value) {
    match (now, before) {
        (Value::Object(now), Value::Object(before)) => {
            now.retain(|name, _| before.contains_key(name));
        }
        (Value::Array(now), Value::Array(before)) => {
            let pairs = now.iter_mut().zip(before);
            pairs.for_each(|(now, before)| forget_added(now, before));
        }
        _ => {}
    }
}

/// The database of a release has a game in play, and a finished one with its review.
fn check_release(folder: &Path) {
    let name = folder.display();
    let server = TestServer::start_on(&FOR_EVER, &[], |database| {
        fs::copy(folder.join("dog.db"), database.file()).expect("a copy");
    });
    let games = fs::read_to_string(folder.join("games.json")).expect("the games");
    let games: Value = serde_json::from_str(&games).expect("JSON");
    let going_on = TestGame::from_created(&server, &games["going_on"]);
    for viewer in going_on.viewers() {
        let view = going_on.get(viewer, "").send().expect(200);
        let before = &games["views"][format!("{viewer:?}")];
        for (member, value) in before.as_object().expect("a view") {
            let mut now = view[member].clone();
            forget_added(&mut now, value);
            assert_eq!(&now, value, "{name}: {member}");
        }
    }
    going_on.play_on();
    let finished = TestGame::from_created(&server, &games["finished"]);
    let written = fs::read_to_string(folder.join("game.dog")).expect("a record");
    assert_eq!(finished.record(), written, "{name}");
    let review = finished.get(Spectator, "/review").send().expect(200);
    assert_eq!(review["status"], "done", "{name}");
    server.import(&written).expect(201);
    let (said, is_sound) = server.check();
    assert!(is_sound, "{name}: {said}");
    // A review of before is made anew.
    let is_old = review["decisions"][0]["random_loss"].is_null();
    let asked = finished.post(Spectator, "/review").send();
    assert_eq!(asked.status, if is_old { 202 } else { 200 }, "{name}");
}

/// A game with its tokens, as [`TestGame::from_created`] reads it.
fn tokens(game: &TestGame<'_>) -> Value {
    let seats = (0..game.seats()).map(|seat| game.token(Seat(seat)).unwrap_or_default());
    let seats: Vec<&str> = seats.collect();
    json!({"id": game.id, "host_token": game.token(Host), "seat_tokens": seats})
}

/// Writes the files of this version to the folder that `DOG_RELEASE` names.
#[test]
#[ignore = "writes what is kept of a release: DOG_RELEASE=tests/releases/X.Y.Z cargo test --test http \
            -- --ignored write_release"]
fn write_release() {
    let folder = env::var_os("DOG_RELEASE").unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
    let folder = Path::new(&folder);
    fs::create_dir_all(folder).expect("a folder");
    let server = TestServer::start();
    let (going_on, finished) = (TestGame::in_play(&server), TestGame::imported(&server));
    going_on.play_on();
    while finished.post(Host, "/review").send().json()["status"] != "done" {}
    // Members that depend on the time or on connections are left out.
    let members = "version phase round turn board seats rules discard_pile";
    let views = going_on.viewers().into_iter().map(|viewer| {
        let view = going_on.get(viewer, "").send().expect(200);
        let kept = members
            .split(' ')
            .map(|member| (member.to_owned(), view[member].clone()));
        (format!("{viewer:?}"), kept.collect::<Value>())
    });
    let games = json!({
        "going_on": tokens(&going_on), "finished": tokens(&finished),
        "views": views.collect::<Value>(),
    });
    let text = serde_json::to_string_pretty(&games).expect("JSON");
    fs::write(folder.join("games.json"), text + "\n").expect("a file");
    fs::write(folder.join("game.dog"), finished.record()).expect("a file");
    // A clean stop moves the write-ahead log into the file.
    server.restart(Signal::Term);
    fs::copy(server.database().file(), folder.join("dog.db")).expect("a copy");
}
