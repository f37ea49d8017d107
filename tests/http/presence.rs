//! Who is present at a table: `…/presence`, and the messages of streams about it.

use std::thread;

use serde_json::{Value, json};

use crate::support::{Raw, TestGame, TestServer, TestTable, TestViewer::*};

fn present(game: &TestGame<'_>) -> Value {
    game.get(Spectator, "/presence").send().expect(200)["present"].clone()
}

/// A connection of this seat, which ends when it is dropped.
fn connect(game: &TestGame<'_>, seat: usize) -> Raw {
    let connection = Raw::get(game, Seat(seat), "/events");
    connection.wait_for_bytes();
    connection
}

/// Closes a connection, which the server notices at once: it sends nothing more.
#[track_caller]
fn close(connection: Raw) {
    let received = connection.close();
    assert!(
        !received.contains("\r\n:\n\n\r\n"),
        "a heartbeat: {received}"
    );
}

/// A table with people at seats 0 and 1, and a bot at seat 3.
fn table(server: &TestServer) -> TestTable<'_> {
    let (open, bot) = (json!({"kind": "open"}), json!({"kind": "bot"}));
    let mut table = TestTable::create(server, &json!({"seats": [open, open, open, bot]}));
    for seat in 0..2 {
        table.join(&json!({"invitation": table.invitations[seat]}));
    }
    table
}

#[test]
fn open_streams_make_seats_present() {
    let server = TestServer::shared();
    let table = table(&server);
    let game = &table.game;
    assert_eq!(present(game), json!([false, false, null, null]));
    let views = || [Seat(0), Host, Spectator].map(|viewer| game.view(viewer));
    let before = views();

    let watching = game.events(Spectator, "");
    watching.wait_for_presence(json!([false, false, null, null]));
    let host = game.events(Host, "");
    // The first message about it tells the viewer of itself.
    let anna = game.events(Seat(0), "");
    assert_eq!(anna.any().expect("the game").name, "game");
    let first = anna.any().expect("who is present");
    assert_eq!((first.name.as_str(), first.id), ("presence", 0));
    let alone = json!({"type": "presence", "present": [true, false, null, null]});
    assert_eq!(first.data, alone);
    // At once, and not only when it is in the store.
    assert_eq!(present(game), json!([true, false, null, null]));
    for stream in [&watching, &host] {
        stream.wait_for_presence(json!([true, false, null, null]));
    }
    let lines = game.lines(Seat(0), "?last_event_id=1");
    let beat = connect(game, 1);
    for stream in [&watching, &anna, &lines] {
        stream.wait_for_presence(json!([true, true, null, null]));
    }
    // It is not part of the game, and makes no version.
    assert_eq!(views(), before);
    let wrong = game.get(Spectator, "/presence?at=1").send();
    wrong.refused("invalid_request");
    let unknown = game.get(Spectator, "/presence").token("unknown");
    unknown.send().refused("unauthorized");

    // A second connection of the same seat changes nothing, nor does its end.
    drop(connect(game, 0));
    drop(beat);
    for stream in [&watching, &anna, &lines] {
        stream.wait_for_presence(json!([true, false, null, null]));
    }
}

/// A page that is loaded again is not gone in between.
#[test]
#[ignore = "waits ten seconds"]
fn a_seat_stays_present_for_a_moment() {
    let server = TestServer::shared();
    let table = table(&server);
    let game = &table.game;
    let watching = game.events(Spectator, "");
    watching.wait_for_presence(json!([false, false, null, null]));
    let anna = connect(game, 0);
    watching.wait_for_presence(json!([true, false, null, null]));
    close(anna);
    let anna = connect(game, 0);
    // Beat comes and goes, and the stream said nothing about Anna.
    drop(connect(game, 1));
    watching.wait_for_presence(json!([true, true, null, null]));
    let next = watching.notice().expect("who is present").data;
    assert_eq!(next["present"], json!([true, false, null, null]));
    close(anna);
    watching.wait_for_presence(json!([false, false, null, null]));
    assert_eq!(present(game), json!([false, false, null, null]));
}

#[test]
#[ignore = "waits ten seconds"]
fn a_long_poll_and_a_ticket_make_a_seat_present() {
    let server = TestServer::shared();
    let table = table(&server);
    let game = &table.game;
    let watching = game.events(Spectator, "");
    let ticket = game.post(Seat(1), "/events/ticket").send().expect(200);
    let ticket = ticket["ticket"].as_str().expect("a ticket");
    let beat = Raw::get(game, Spectator, &format!("/events?ticket={ticket}"));
    watching.wait_for_presence(json!([false, true, null, null]));
    thread::scope(|scope| {
        let wait = game.get(Seat(0), &format!("?after_version={}", game.version()));
        scope.spawn(|| wait.send());
        watching.wait_for_presence(json!([true, true, null, null]));
        // Ends the waiting.
        table.put(Seat(0), 0, &json!({"name": "Anna"})).expect(200);
    });
    close(beat);
    watching.wait_for_presence(json!([false, false, null, null]));
    // A long poll that its client gives up.
    let wait = format!("?after_version={}", game.version());
    let polling = Raw::get(game, Seat(0), &wait);
    watching.wait_for_presence(json!([true, false, null, null]));
    assert_eq!(polling.close(), "");
    watching.wait_for_presence(json!([false, false, null, null]));
}

/// Somebody who has lost the seat is not taken for the next person.
#[test]
fn the_person_who_lost_the_seat_is_not_present() {
    let server = TestServer::shared();
    let mut table = table(&server);
    let watching = table.game.events(Spectator, "");
    let beat = table.game.events(Seat(1), "");
    watching.wait_for_presence(json!([false, true, null, null]));
    let opened = table.put(Host, 1, &json!({"kind": "open"})).expect(200);
    watching.wait_for_presence(json!([false, null, null, null]));
    assert!(beat.rest().iter().all(|message| message.name != "change"));
    table.join(&json!({"invitation": opened["invitation"]}));
    watching.wait_for_presence(json!([false, false, null, null]));
    let _nina = connect(&table.game, 1);
    watching.wait_for_presence(json!([false, true, null, null]));
}

#[test]
fn a_game_of_bots_has_nobody_to_tell_of() {
    let server = TestServer::shared();
    let game = TestGame::with_bots(&server, "greedy", 0);
    let stream = game.events(Spectator, "");
    let mut messages = std::iter::from_fn(|| stream.any());
    assert!(messages.all(|message| message.data.get("present").is_none()));
    assert_eq!(present(&game), json!([null, null, null, null]));
}
