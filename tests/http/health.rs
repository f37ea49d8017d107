//! The server measures its own health, for the alarms: nobody asks `/readyz` here.

use std::{
    fs,
    process::Command,
    time::{Duration, SystemTime},
};

use serde_json::json;

use crate::support::{Exposition, SmallDisk, TestGame, TestServer, TestViewer};

/// What is possible: to write, and only to read.
fn possible(metrics: &Exposition) -> [f64; 2] {
    ["dog_writes_possible", "dog_reads_only"].map(|name| metrics.value(name, &[]))
}

/// A write that fails makes the server look.
#[track_caller]
fn fails(game: &TestGame<'_>) {
    let (seat, id) = game.first_move();
    let play = game.post(TestViewer::Seat(seat), "/play");
    let refused = play.json(&json!({"move": id})).send();
    refused.refused_one_of(&["database_full", "unavailable"]);
}

#[test]
fn a_full_disk_is_measured() {
    let mut disk = None;
    let server = TestServer::start_on(&[], &[], |database| {
        disk = SmallDisk::mount(database.file().parent().expect("a folder"));
    });
    let Some(disk) = disk else { return };
    let game = TestGame::in_play(&server);
    let metrics = Exposition::wait_for(&server, |metrics| possible(metrics) == [1.0, 0.0]);
    let free = |metrics: &Exposition| metrics.value("dog_disk_free_bytes", &[]);
    assert!((20e6..34e6).contains(&free(&metrics)), "{}", metrics.text);
    disk.fill();
    fails(&game);
    let metrics = Exposition::wait_for(&server, |metrics| possible(metrics) == [0.0, 1.0]);
    assert_eq!(free(&metrics), 0.0);
    disk.make_room();
    Exposition::wait_for(&server, |metrics| possible(metrics) == [1.0, 0.0]);
    game.play_on();
}

#[test]
fn a_full_database_and_one_that_is_away_are_measured() {
    let full = TestServer::start_with(&[("DOG_MAX_DATABASE_BYTES", "1")]);
    Exposition::wait_for(&full, |metrics| possible(metrics) == [0.0, 1.0]);
    let server = TestServer::start();
    Exposition::wait_for(&server, |metrics| possible(metrics) == [1.0, 0.0]);
    let (game, file) = (TestGame::in_play(&server), server.database().file());
    fs::rename(file, file.with_extension("away")).expect("it is moved away");
    fails(&game);
    Exposition::wait_for(&server, |metrics| possible(metrics) == [0.0, 1.0]);
    fs::rename(file.with_extension("away"), file).expect("it is back");
    Exposition::wait_for(&server, |metrics| possible(metrics) == [1.0, 0.0]);
}

#[test]
fn the_age_of_a_backup_is_measured_once_there_is_one() {
    let server = TestServer::start();
    let age = || {
        let metrics = Exposition::scrape(&server);
        let is_known = metrics.families.contains_key("dog_backup_age_seconds");
        is_known.then(|| metrics.value("dog_backup_age_seconds", &[]))
    };
    assert_eq!(age(), None);
    let file = server.database().file();
    let mut backup = Command::new(env!("CARGO_BIN_EXE_dog"));
    backup.arg("backup").arg(file.with_extension("copy"));
    let status = backup.arg("--database").arg(file).status();
    assert!(status.expect("the dog binary").success());
    assert!(age().is_some_and(|age| age < 60.0));
    let mark = fs::OpenOptions::new()
        .write(true)
        .open(file.with_extension("db-backup"));
    let two_days_ago = SystemTime::now() - Duration::from_secs(2 * 86_400 + 1);
    mark.and_then(|mark| mark.set_modified(two_days_ago))
        .expect("it is older");
    assert!(age().is_some_and(|age| age > 2.0 * 86_400.0));
}
