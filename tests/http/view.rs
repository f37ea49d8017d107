//! `GET /v1/games/{id}`

use serde_json::{Value, json};

use crate::support::{Dice, TestGame, TestServer, TestViewer::*, UNKNOWN_TOKEN, cards_of};

#[test]
fn everyone_sees_the_table_and_only_their_own_hand() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let spectator = game.view(Spectator);
    for viewer in game.viewers() {
        let view = game.view(viewer);
        for (name, value) in spectator.as_object().expect("an object") {
            if !["actions", "seats", "last_action"].contains(&name.as_str()) {
                assert_eq!(&view[name], value, "{viewer}: {name}");
            }
        }
        for number in 0..game.seats() {
            let (seat, public) = (&view["seats"][number], &spectator["seats"][number]);
            for name in [
                "seat", "team", "name", "kind", "cards", "folded", "exchange",
            ] {
                assert_eq!(seat[name], public[name], "{viewer}: {name}");
            }
            let own = viewer == Seat(number);
            for name in ["hand", "gave", "received"] {
                assert_eq!(seat[name].is_null(), !own, "{viewer}: {name} of {number}");
                assert!(public[name].is_null());
            }
            if own {
                assert_eq!(cards_of(&seat["hand"]).len(), 6);
            }
        }
    }
}

#[test]
fn the_host_sees_what_the_spectator_sees() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    game.swap(0, &json!({"card": game.hand(0)[0]}));
    let (mut host, mut spectator) = (game.view(Host), game.view(Spectator));
    host["actions"].take();
    spectator["actions"].take();
    assert_eq!(host, spectator);
}

#[test]
fn actions_are_what_this_viewer_may_do_now() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let actions = |viewer| -> Vec<(String, u64)> {
        let view = game.view(viewer);
        let actions = view["actions"].as_array().expect("actions");
        let action = |action: &Value| {
            let route = action["route"].as_str().expect("a route").to_owned();
            assert_eq!(action["path"], game.path(&format!("/{route}")));
            let choices = action.get("choices");
            let only_card = json!(["card"]);
            assert_eq!(choices, (route == "swap").then_some(&only_card), "{route}");
            (route, action["seat"].as_u64().expect("a seat"))
        };
        actions.iter().map(action).collect()
    };
    let one = |route: &str, seat| vec![(route.to_owned(), seat)];
    assert_eq!(actions(Seat(0)), one("deal", 0));
    assert_eq!(actions(Host), one("deal", 0));
    for idle in [Seat(1), Seat(2), Seat(3), Spectator] {
        assert_eq!(actions(idle), []);
    }
    game.deal();
    for seat in 0..4 {
        assert_eq!(actions(Seat(seat)), one("swap", seat as u64));
    }
    for idle in [Host, Spectator] {
        assert_eq!(actions(idle), []);
    }
    game.swap(0, &json!({"card": game.hand(0)[0]}));
    assert_eq!(actions(Seat(0)), []);
    for seat in 1..4 {
        game.swap(seat, &json!({"card": game.hand(seat)[0]}));
    }
    assert_eq!(actions(Seat(1)), one("play", 1));
    for idle in [Seat(0), Seat(2), Seat(3), Host, Spectator] {
        assert_eq!(actions(idle), []);
    }
}

#[test]
fn to_act_lists_the_seats_that_have_an_action() {
    let server = TestServer::shared();
    let mut dice = Dice::new(48);
    for preset in [
        "dogspiel-it",
        "dogspiel-de",
        "familienlager",
        "spielanleitung",
        "hausregeln",
    ] {
        let game = TestGame::of_preset(&server, preset);
        for _ in 0..60 {
            let table = game.view(Spectator);
            let acts = |seat: &usize| game.view(Seat(*seat))["actions"] != json!([]);
            let acting: Vec<usize> = (0..game.seats()).filter(acts).collect();
            assert_eq!(table["to_act"], json!(acting), "{table}");
            if table["phase"] == "exchange" {
                let seat = dice.pick(&table["to_act"]).as_u64().expect("a seat") as usize;
                game.swap(seat, &game.any_answer(seat, &mut dice));
            } else {
                game.step(&mut dice);
            }
        }
    }
}

#[test]
fn bots_are_to_act_too_and_nobody_in_the_seating() {
    let server = TestServer::shared();
    let seats = |kind| json!([{"kind": kind}, {"kind": "bot"}, {"kind": "bot"}, {"kind": "bot"}]);
    let to_act = |kind| {
        let wishes = json!({"seats": seats(kind), "first_dealer": 1, "bot_pace_ms": 60_000});
        let game = TestGame::create(&server, &wishes);
        game.view(Spectator)["to_act"].take()
    };
    assert_eq!(to_act("human"), json!([1]));
    assert_eq!(to_act("open"), json!([]));
}

#[test]
fn the_etag_names_version_and_viewer() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    for version in 1..=2 {
        for viewer in game.viewers() {
            let response = game.get(viewer, "").send();
            assert_eq!(
                response.header("etag"),
                Some(&*format!("\"{version}-{viewer}\""))
            );
            assert_eq!(response.expect(200)["version"], version);
        }
        if version == 1 {
            game.deal();
        }
    }
}

#[test]
fn a_view_is_cached_by_its_viewer_only() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    for viewer in game.viewers() {
        let first = game.get(viewer, "").send();
        let etag = first.header("etag").expect("an ETag").to_owned();
        let unchanged = game.get(viewer, "").header("If-None-Match", &etag).send();
        assert_eq!((first.status, unchanged.status), (200, 304));
        assert!(unchanged.body.is_empty());
        for response in [first, unchanged] {
            assert_eq!(response.header("etag"), Some(etag.as_str()));
            let vary = response.list("vary");
            for name in ["authorization", "accept"] {
                assert!(vary.iter().any(|entry| entry == name), "Vary: {vary:?}");
            }
            let mut cache = response.list("cache-control");
            cache.sort();
            assert_eq!(cache, ["no-cache", "private"]);
        }
    }
}

#[test]
fn if_none_match_takes_lists_and_weak_tags() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let status = |tag: &str| {
        game.get(Seat(2), "")
            .header("If-None-Match", tag)
            .send()
            .status
    };
    for same in [
        "\"1-2\"",
        "W/\"1-2\"",
        "\"0-2\", \"1-2\"",
        "\"x\",\"1-2\"",
        "*",
    ] {
        assert_eq!(status(same), 304, "{same}");
    }
    for other in [
        "\"1-1\"",
        "\"1-host\"",
        "\"1-spectator\"",
        "\"2-2\"",
        "\"1\"",
        "1-2x",
        "1-2",
        "\"1-2",
        "\"x,1-2,y\"",
        "\"1-2\" \"x\"",
        ",",
        "",
        "\"\"",
    ] {
        assert_eq!(status(other), 200, "{other}");
    }
    game.deal();
    assert_eq!(status("\"1-2\""), 200);
    assert_eq!(status("\"2-2\""), 304);
}

#[test]
fn tokens_of_other_games_are_refused() {
    let server = TestServer::shared();
    let (game, other) = (TestGame::fixed(&server), TestGame::fixed(&server));
    let path = game.path("");
    for token in [UNKNOWN_TOKEN, &other.host, &other.tokens[0], "", "x"] {
        server
            .get(&path)
            .token(token)
            .send()
            .refused("unauthorized");
    }
    let credentials = [
        "Bearer",
        "Basic dXNlcjpwYXNz",
        game.host.as_str(),
        &format!("Token {}", game.host),
        &format!("Bearer {} {}", game.host, game.host),
    ];
    for value in credentials {
        let response = server.get(&path).header("Authorization", value).send();
        response.refused("unauthorized");
    }
    // The name of a scheme may be written in any case (RFC 9110).
    let lower = format!("bearer {}", game.tokens[3]);
    let response = server.get(&path).header("Authorization", &lower).send();
    assert_eq!(response.header("etag"), Some("\"1-3\""));
}

#[test]
fn timestamps_are_utc_and_in_order() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let times = || {
        let view = game.view(Spectator);
        ["created_at", "updated_at"].map(|name| view[name].as_str().expect("a time").to_owned())
    };
    let before = times();
    for time in &before {
        assert!(time.ends_with('Z'), "{time}");
    }
    game.deal();
    let after = times();
    assert_eq!(before[0], after[0]);
    assert!(
        before[1] <= after[1] && after[0] <= after[1],
        "{before:?} {after:?}"
    );
}

#[test]
fn an_unknown_parameter_is_refused() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    game.get(Spectator, "?colour=red")
        .send()
        .refused("invalid_request");
}

#[test]
fn everyone_sees_the_last_action_without_its_secret() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    assert_eq!(game.view(Spectator)["last_action"]["type"], "game_created");
    game.deal();
    assert_eq!(game.view(Spectator)["last_action"]["type"], "cards_dealt");
    let card = game.hand(3)[0].clone();
    game.swap(3, &json!({"card": card}));
    for viewer in game.viewers() {
        let last = game.view(viewer)["last_action"].take();
        assert_eq!(
            (&last["type"], &last["seat"]),
            (&json!("card_offered"), &json!(3))
        );
        let shown = if viewer == Seat(3) {
            json!(card)
        } else {
            Value::Null
        };
        assert_eq!(last["card"], shown, "{viewer}");
    }
}
