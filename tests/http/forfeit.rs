//! `POST /v1/games/{id}/forfeit`

use serde_json::{Value, json};

use super::review::done;
use crate::support::{
    TestGame, TestResponse, TestServer, TestTable,
    TestViewer::{self, *},
    of_seats, verify,
};

fn send(game: &TestGame, by: TestViewer, body: Value) -> TestResponse {
    game.post_json(by, "/forfeit", &body)
}

fn offered(seat: usize, offered: bool) -> Value {
    json!({"type": "forfeit_offered", "seat": seat, "offered": offered})
}

/// What ends the game in which the other team has given up.
fn end(game: &TestGame, winner: usize) -> [Value; 2] {
    let seed = game.view(Spectator)["shuffle_seed"].take();
    let won = json!({"type": "game_won", "team": winner, "shuffle_seed": seed});
    [json!({"type": "team_forfeited", "team": 1 - winner}), won]
}

/// A game without what every change makes anew.
fn timeless(mut view: Value) -> Value {
    for name in ["version", "updated_at"] {
        view[name].take();
    }
    view
}

#[test]
fn a_team_gives_up_and_nobody_else_knows_before() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let before = game.viewers().into_iter().map(|viewer| game.view(viewer));
    let before: Vec<Value> = before.collect();
    let first = game.version() + 1;
    let streams = game.viewers().into_iter().map(|viewer| {
        let stream = game.events(viewer, "?include=game,moves");
        assert_eq!(stream.next().expect("the game").id, first - 1);
        (viewer, stream)
    });
    let streams: Vec<_> = streams.collect();
    let picture = || game.get(Spectator, "/board.svg").send().text();
    let drawn = picture();

    // The body may be empty.
    let changed = game.post(Seat(0), "/forfeit").send().expect(200);
    assert_eq!(changed["events"], json!([offered(0, true)]));
    assert_eq!(changed["version"], first);
    let gives_up = of_seats(&changed["game"], "gives_up");
    assert_eq!(gives_up, json!([true, null, false, null]));
    send(&game, Seat(0), json!({"forfeit": false})).expect(200);
    send(
        &game,
        Seat(2),
        json!({"forfeit": true, "version": first + 1}),
    )
    .expect(200);
    let told = [offered(0, true), offered(0, false), offered(2, true)];

    for (viewer, before) in game.viewers().into_iter().zip(&before) {
        let view = game.view(viewer);
        let own = matches!(viewer, Seat(0 | 2));
        let entries = game.entries(viewer);
        let (_, stream) = streams.iter().find(|(of, _)| *of == viewer).expect("one");
        let changes = stream.take(3);
        for (place, event) in told.iter().enumerate() {
            let seen = if own { json!([event]) } else { json!([]) };
            let version = first as usize + place;
            assert_eq!(entries[version - 1]["events"], seen, "{viewer}");
            assert_eq!(changes[place].data["events"], seen, "{viewer}");
            assert_eq!(changes[place].id, version as u64);
        }
        let streamed = &changes[2].data["game"];
        assert_eq!(
            timeless(streamed.clone()),
            timeless(view.clone()),
            "{viewer}"
        );
        // A request that waits for a version gets the game, and a stream that is resumed what it
        // has missed.
        let waited = game.get(viewer, &format!("?after_version={}", first + 1));
        assert_eq!(waited.send().expect(200), view);
        let resumed = game.events_after(viewer, first);
        let last = resumed.take(2).pop().expect("the last change");
        let seen = if own { json!([told[2]]) } else { json!([]) };
        assert_eq!(last.data["events"], seen);

        let (mut view, mut before) = (timeless(view), timeless(before.clone()));
        if own {
            let gives_up = of_seats(&view, "gives_up");
            assert_eq!(gives_up, json!([false, null, true, null]), "{viewer}");
            view["seats"][2]["gives_up"].take();
            before["seats"][2]["gives_up"].take();
        }
        assert_eq!(view, before, "{viewer}");
        let is_there = |seat: usize| view["seats"][seat].get("gives_up").is_some();
        let there: Vec<bool> = (0..4).map(is_there).collect();
        let of_team = |seat: usize| matches!(viewer, Seat(own) if own % 2 == seat % 2);
        assert_eq!(there, (0..4).map(of_team).collect::<Vec<_>>(), "{viewer}");
    }
    assert_eq!(picture(), drawn);
    let head = game
        .get(Spectator, "/history")
        .header("Accept", "text/plain");
    head.send().refused("game_not_over");

    let last = send(&game, Seat(0), json!({})).expect(200);
    let mut all = vec![offered(0, true)];
    all.extend(end(&game, 1));
    assert_eq!(last["events"], json!(all));
    assert_eq!(last["game"]["winner"], 1);
    assert_eq!(last["game"]["last_action"], offered(0, true));
    for (viewer, stream) in &streams {
        let change = stream.next().expect("the end").data;
        assert_eq!(change["events"], json!(all), "{viewer}");
        assert_eq!(change["phase"], "finished");
        assert!(stream.next().is_none());
        let view = game.view(*viewer);
        assert_eq!(view["last_action"], offered(0, true));
        assert_eq!(of_seats(&view, "gives_up"), json!([null, null, null, null]));
        // Nothing is hidden any longer.
        let entries = game.entries(*viewer);
        for (entry, event) in entries[first as usize - 1..].iter().zip(&told) {
            assert_eq!(entry["events"], json!([event]), "{viewer}");
        }
    }
    send(&game, Seat(0), json!({})).refused("game_over");
    let record = game.record();
    let lines = "\n0 gives up\n0 plays on\n2 gives up\n0 gives up\n";
    assert!(record.contains(lines), "{record}");
    assert!(verify(&record).0, "{record}");
    server.import(&record).expect(201);
    let next = game.post_json(Seat(1), "/rematch", &json!({})).expect(201);
    assert_eq!(next["game"]["phase"], "seating");
    let (report, sound) = server.check();
    assert!(sound, "{report}");
}

#[test]
fn who_may_give_up_and_when() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let early = send(&game, Seat(0), json!({})).refused("wrong_phase");
    assert_eq!(early["phase"], "deal");
    assert!(game.view(Seat(0))["seats"][0].get("gives_up").is_none());
    game.deal();
    send(&game, Spectator, json!({})).refused("unauthorized");
    let host = send(&game, Host, json!({})).refused("forbidden");
    assert_eq!(host["reason"], "seat_only");
    send(&game, Seat(0), json!({"forfeit": 1})).refused("invalid_request");
    send(&game, Seat(0), json!({"forfeit": true, "version": 1})).refused("stale_version");
    // A retry is no second change.
    let request = || game.post(Seat(0), "/forfeit").key("give-up-1");
    let first = request().send();
    request().send().assert_repeats(&first);
    assert_eq!(first.json()["version"], game.version());
    // A bot has the seat now, and agrees with the partner.
    let bot = json!({"kind": "bot"});
    game.put(Seat(0), 0, &bot).expect(200);
    let bot_plays = send(&game, Seat(0), json!({})).refused("forbidden");
    assert_eq!(bot_plays["reason"], "bot_plays");
    let last = send(&game, Seat(2), json!({})).expect(200);
    assert_eq!(last["game"]["winner"], 1);

    let six = json!({"rules": {"preset": "dogspiel-it", "seats": 6}});
    let game = TestGame::create(&server, &six);
    game.deal();
    let three = send(&game, Seat(0), json!({})).refused("wrong_phase");
    assert_eq!(three["phase"], "exchange");
    assert!(game.view(Seat(0))["seats"][0].get("gives_up").is_none());
}

/// A partner who leaves, and a stand-in, and another person.
#[test]
fn whoever_leaves_agrees_and_whoever_comes_does_not() {
    let server = TestServer::shared();
    let mut table = TestTable::full(&server, &json!({"bot_pace_ms": 60_000}));
    table.game.deal();
    send(&table.game, Seat(1), json!({})).expect(200);
    let invitation = table.open(1);
    table.join(&json!({"invitation": invitation}));
    let view = table.game.view(Seat(1));
    assert_eq!(view["seats"][1]["gives_up"], false);
    // A bot stands in for the new person, who may give up all the same.
    assert_eq!(view["seats"][1]["stand_in"], true);
    send(&table.game, Seat(1), json!({})).expect(200);
    let left = table.put(Seat(3), 3, &json!({"kind": "bot"})).expect(200);
    assert_eq!(left["events"][0]["type"], "seat_handed_over");
    assert_eq!(
        left["events"].as_array().expect("events")[1..],
        end(&table.game, 0)
    );
    let last = &table.game.view(Host)["last_action"];
    assert_eq!(last["type"], "seat_handed_over");
}

/// The time of the turn goes on.
#[test]
fn giving_up_gives_nobody_more_time() {
    let server = TestServer::shared();
    let game = TestGame::create(&server, &json!({"turn_seconds": 600}));
    game.deal();
    let deadline = game.view(Host)["deadline"].clone();
    assert!(deadline.is_string());
    send(&game, Seat(1), json!({})).expect(200);
    assert_eq!(game.view(Host)["deadline"], deadline);
    send(&game, Seat(3), json!({})).expect(200);
    assert_eq!(game.view(Host)["deadline"], Value::Null);
}

#[test]
fn a_review_of_a_game_that_was_given_up() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    for seat in [1, 3] {
        send(&game, Seat(seat), json!({})).expect(200);
    }
    game.post(Spectator, "/review").send().expect(202);
    let review = done(&game, Spectator);
    assert_eq!(review["rounds"][0]["rest"], Value::Null);
    assert_eq!(review["rounds"][0]["end"], json!([1.0, 0.0]));
    assert!(review["teams"][0]["rest"].is_number());
    game.get(Spectator, "/review.svg").send().text();
}
