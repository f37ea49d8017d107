//! Old games are removed, and nothing else is.

use serde_json::json;

use crate::support::{
    Exposition, ServerDatabase, Signal, TestGame, TestServer, TestViewer::*, wait_until,
};

/// Moves all times of a game, or of all games, this many days back.
fn age(server: &TestServer, id: &str, days: i64) {
    let back = days * 24 * 60 * 60 * 1_000_000;
    let older = format!("updated_at = updated_at - {back}");
    server.database().change_game(id, &older);
}

fn count(server: &TestServer, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    server.database().number(&sql)
}

fn is_gone(game: &TestGame<'_>) -> bool {
    game.get(Spectator, "").send().status == 404
}

/// An `Idempotency-Key`.
const KEY: &str = "5f2b8c1d9e7a40364bd1c2e8f90a7b53";

const EVERY_SECOND: (&str, &str) = ("DOG_SWEEP_SECONDS", "1");

#[test]
fn games_are_removed_when_their_time_is_up() {
    let server = TestServer::start_with(&[
        ("DOG_KEEP_FINISHED_DAYS", "10"),
        ("DOG_KEEP_IDLE_DAYS", "20"),
        EVERY_SECOND,
    ]);
    let idle = [9, 19, 21].map(|days| (TestGame::dealt(&server), days));
    let finished = [9, 11, 30].map(|days| (TestGame::imported(&server), days));
    let stream = idle[2].0.events(Seat(0), "");
    stream.take(1);
    for (game, days) in idle.iter().chain(&finished) {
        age(&server, &game.id, *days);
    }
    let old = [&idle[2].0, &finished[1].0, &finished[2].0];
    for game in old {
        wait_until("an old game goes", || is_gone(game));
    }
    assert!(stream.next().is_none(), "its streams end");
    // In a later pass the same game is young.
    let marker = TestGame::fixed(&server);
    age(&server, &marker.id, 21);
    wait_until("a later pass", || is_gone(&marker));
    for game in [&idle[0].0, &idle[1].0, &finished[0].0] {
        assert!(!is_gone(game));
    }
    assert_eq!(count(&server, "games"), 3);
    let orphans = "log WHERE game NOT IN (SELECT row_id FROM games)";
    assert_eq!(count(&server, orphans), 0, "their logs go with them");
    // A game that was idle for long can still be played.
    idle[1].0.exchange();
}

#[test]
fn many_old_games_are_removed_soon_after_a_start() {
    let server = TestServer::start_with(&[EVERY_SECOND]);
    let young = TestGame::fixed(&server);
    let games = [(); 45].map(|()| TestGame::fixed(&server));
    for game in &games {
        age(&server, &game.id, 91);
    }
    server.restart(Signal::Term);
    for game in &games {
        wait_until("an old game goes", || is_gone(game));
    }
    assert!(!is_gone(&young));
}

#[test]
fn a_clock_that_jumps_removes_nothing_for_a_while() {
    let server = TestServer::start_with(&[EVERY_SECOND]);
    let games = [(); 20].map(|()| TestGame::fixed(&server));
    let behind = || {
        let (name, metrics) = ("dog_retention_behind_seconds", Exposition::scrape(&server));
        assert!(metrics.families.contains_key(name));
        metrics.value(name, &[])
    };
    let seen_at = || server.database().number("SELECT seen_at FROM retention");
    let passes = |number| {
        for _ in 0..number {
            let before = seen_at();
            wait_until("another pass", || seen_at() != before);
        }
    };
    passes(2);
    assert_eq!(behind(), 0.0);
    server.stop(Signal::Term);
    // As if the clock were 100 days ahead.
    let back = 100 * 24 * 60 * 60 * 1_000_000_i64;
    let database = server.database();
    database.sql(&format!(
        "UPDATE games SET updated_at = updated_at - {back}, created_at = created_at - {back}"
    ));
    database.sql(&format!("UPDATE retention SET seen_at = seen_at - {back}"));
    server.restart(Signal::Kill);
    passes(3);
    assert!(behind() > 99.0 * 24.0 * 60.0 * 60.0, "the alarm");
    assert!(games.iter().all(|game| !is_gone(game)));
    // The clock was right.
    database.sql(&format!("UPDATE retention SET seen_at = seen_at + {back}"));
    for game in &games {
        wait_until("an old game goes", || is_gone(game));
    }
    assert_eq!(behind(), 0.0);
}

#[test]
fn nothing_is_removed_if_games_are_kept_for_ever() {
    let forever = [
        ("DOG_KEEP_FINISHED_DAYS", "0"),
        ("DOG_KEEP_IDLE_DAYS", "0"),
        EVERY_SECOND,
    ];
    let server = TestServer::start_with(&forever);
    let game = TestGame::fixed(&server);
    age(&server, &game.id, 10_000);
    // A removed response shows that a pass was made.
    let ticket = game.post(Seat(0), "/events/ticket").key(KEY);
    ticket.json(&json!({})).send().expect(200);
    server
        .database()
        .sql("UPDATE idempotency SET created_at = 0");
    wait_until("a pass", || count(&server, "idempotency") == 0);
    assert!(!is_gone(&game));
}

#[test]
fn expired_responses_and_tickets_are_removed_without_writes() {
    let server = TestServer::start_with(&[EVERY_SECOND]);
    let game = TestGame::fixed(&server);
    for number in 0..450 {
        let ticket = game.post(Seat(0), "/events/ticket");
        let key = format!("{number:032x}{}", "0123456789abcdef");
        ticket.key(&key).json(&json!({})).send().expect(200);
    }
    let database = server.database();
    database.sql("UPDATE idempotency SET created_at = 0");
    let ticket = || game.post(Seat(1), "/events/ticket").key(KEY).send();
    let first = ticket().expect(200);
    wait_until("all but the last go", || count(&server, "idempotency") == 1);
    if let ServerDatabase::Postgres(_) = database {
        database.sql("UPDATE tickets SET expires_at = 0");
        wait_until("the tickets go", || count(&server, "tickets") == 0);
    }
    assert_eq!(ticket().expect(200), first, "a recent response stays");
}
