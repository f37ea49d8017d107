//! What a client can make the server keep: the bounds of a game and of the database.

use rusqlite::{Connection, OptionalExtension};
use serde_json::json;

use crate::support::{Answer, Game, PATIENCE, Server, Viewer::*};

fn database(server: &Server) -> Connection {
    let database = Connection::open(server.database()).expect("the database");
    database.busy_timeout(PATIENCE).expect("a timeout");
    database
}

/// How often this can be done before it is refused.
#[track_caller]
fn until_refused(change: impl Fn() -> Answer) -> usize {
    for made in 0..200 {
        let answer = change();
        if answer.status != 200 {
            answer.refused("too_many_changes");
            return made;
        }
    }
    panic!("200 changes and no end");
}

#[test]
fn changes_at_the_table_have_an_allowance_and_never_refuse_play() {
    let server = Server::start();
    let mut game = Game::in_play(&server);
    let version = game.version();
    assert_eq!(version, 6, "the creation, a deal and four cards swapped");
    let host = game.clone();
    let hand_over = || host.request("PUT", Host, "/seats/3");
    let rename = || {
        let named = json!({"kind": "human", "name": "Anna"});
        hand_over().json(&named).send()
    };
    let by_host = || host.post(Host, "/seats/3/token").send();
    // Names, tokens from the host and a seat's own draw on the same allowance.
    for _ in 0..30 {
        rename().expect(200);
        by_host().expect(200);
        let fresh = game.post(Seat(2), "/seats/2/token").send().expect(200);
        game.tokens[2] = fresh["token"].as_str().expect("a token").to_owned();
    }
    assert_eq!(game.version(), version + 60);
    assert_eq!(until_refused(rename), 11);
    by_host().refused("too_many_changes");
    let own = game.post(Seat(2), "/seats/2/token").send();
    assert_eq!(own.header("retry-after"), Some("60"));
    own.refused("too_many_changes");
    // Other refusals come before it and after it, as ever.
    let stale = json!({"kind": "human", "version": 1});
    hand_over().json(&stale).send().refused("stale_version");
    let wrong = json!({"kind": 7});
    hand_over().json(&wrong).send().refused("too_many_changes");
    // Play goes on, and brings room for more.
    for allowed in [false, true] {
        let (seat, id) = game.first_move();
        game.play(seat, &id);
        if allowed {
            rename().expect(200);
        }
        rename().refused("too_many_changes");
    }
}

#[test]
fn a_game_with_as_many_versions_as_there_may_be_is_left_alone() {
    let server = Server::start();
    let humans = json!({"first_dealer": 0, "turn_seconds": 1});
    let game = Game::create(&server, &humans);
    game.deal();
    game.exchange();
    let sql = database(&server);
    let set = "UPDATE games SET version = 49999, snapshot = json_set(snapshot, '$.version', 49999) \
               WHERE id = ?1";
    assert_eq!(sql.execute(set, [&game.id]).expect("an update"), 1);
    let (seat, id) = game.first_move();
    assert_eq!(game.play(seat, &id)["version"], 50_000);
    // A clock runs, and nobody enforces it.
    let due = "SELECT due_at FROM games WHERE id = ?1 AND due_at IS NOT NULL";
    let due = sql.query_row(due, [&game.id], |row| row.get::<_, i64>(0));
    assert_eq!(due.optional().expect("a look"), None);
    let (seat, id) = game.first_move();
    assert_eq!(game.view(Seat(seat))["actions"], json!([]));
    let play = |body| game.post(Seat(seat), "/play").json(&body).send();
    play(json!({"move": id})).refused("too_many_versions");
    play(json!({"move": "nonsense"})).refused("too_many_versions");
    play(json!({"move": id, "version": 7})).refused("stale_version");
    let other = (seat + 1) % 4;
    let play = game.post(Seat(other), "/play").json(&json!({"move": id}));
    play.send().refused("not_your_turn");
    // The table can still be changed; a bot has nothing to do either.
    let bot = json!({"kind": "bot", "level": "random"});
    let seat = format!("/seats/{seat}");
    let changed = game.request("PUT", Host, &seat).json(&bot).send();
    assert_eq!(changed.expect(200)["version"], 50_001);
    // Bots of another game play it to its end in the meantime.
    let bots = [(); 4].map(|()| json!({"kind": "bot", "level": "random"}));
    let bots = Game::create(&server, &json!({"seats": bots, "bot_pace_ms": 0}));
    let stream = bots.get(Spectator, "/events").header("Last-Event-ID", "0");
    crate::support::Stream::open(stream).rest();
    assert_eq!(game.version(), 50_001);
    let log = server.log();
    assert!(!log.contains(&game.id), "{log}");
    game.request("DELETE", Host, "").send().expect(204);
}
