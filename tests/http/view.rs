//! `GET /v1/games/{id}`

use serde_json::{Value, json};

use crate::support::{
    Dice, PRESETS, TestGame, TestServer,
    TestViewer::{self, *},
    UNKNOWN_TOKEN, cards_of,
};

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
    // Only these viewers have an action, the host that of seat 0.
    let check = |route: &str, acting: &[TestViewer]| {
        for viewer in game.viewers() {
            let seat = match viewer {
                Seat(seat) => seat as u64,
                Host | Spectator => 0,
            };
            let acts = acting.contains(&viewer).then(|| (route.to_owned(), seat));
            assert_eq!(actions(viewer), Vec::from_iter(acts), "{viewer}");
        }
    };
    check("deal", &[Seat(0), Host]);
    game.deal();
    check("swap", &[Seat(0), Seat(1), Seat(2), Seat(3)]);
    game.offer(0);
    check("swap", &[Seat(1), Seat(2), Seat(3)]);
    game.exchange();
    check("play", &[Seat(1)]);
}

#[test]
fn to_act_lists_the_seats_that_have_an_action() {
    let server = TestServer::shared();
    let mut dice = Dice::new(48);
    for preset in PRESETS {
        let game = TestGame::with_preset(&server, preset);
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
        let body = json!({"seats": seats(kind), "first_dealer": 1, "bot_pace_ms": 60_000});
        let game = TestGame::create(&server, &body);
        game.view(Spectator)["to_act"].take()
    };
    assert_eq!(to_act("human"), json!([1]));
    assert_eq!(to_act("open"), json!([]));
}

#[test]
fn a_view_is_cached_by_its_viewer_only() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    for viewer in game.viewers() {
        let first = game.get(viewer, "").send();
        let etag = format!("\"1-{viewer}\"");
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
        let request = game.get(Seat(2), "").header("If-None-Match", tag);
        request.send().status
    };
    let same = [
        "\"1-2\"",
        "\"1\"",
        "\"1-2-gzip\"",
        "W/\"1-2\"",
        "\"0-2\", \"1-2\"",
        "*",
    ];
    assert_eq!(same.map(status), [304; 6]);
    let other = ["\"1-1\"", "\"2-2\"", "\"x,1-2,y\"", "\"1-2-zip\""];
    assert_eq!(other.map(status), [200; 4]);
    let malformed = ["1-2", "1", "\"1-2", ""];
    assert_eq!(malformed.map(status), [400; 4]);
    game.deal();
    assert_eq!(["\"1-2\"", "\"2-2\""].map(status), [200, 304]);
}

#[test]
fn only_tokens_of_the_game_are_accepted() {
    let server = TestServer::shared();
    let (game, other) = (TestGame::fixed(&server), TestGame::fixed(&server));
    let get = |credentials: &str| {
        let request = game.get(Spectator, "");
        request.header("Authorization", credentials).send()
    };
    for token in [UNKNOWN_TOKEN, &other.host, &other.tokens[0], "", "x"] {
        get(&format!("Bearer {token}")).refused("unauthorized");
    }
    let twice = format!("Bearer {} {}", game.host, game.host);
    get(&twice).refused("unauthorized");
    // The name of a scheme may be written in any case (RFC 9110).
    let lower = get(&format!("bearer {}", game.tokens[3]));
    assert_eq!(lower.header("etag"), Some("\"1-3\""));
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
    let in_order = before[1] <= after[1] && after[0] <= after[1];
    assert!(in_order, "{before:?} {after:?}");
}

#[test]
fn everyone_sees_the_last_action_without_its_secret() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    assert_eq!(game.view(Spectator)["last_action"]["type"], "game_created");
    game.deal();
    assert_eq!(game.view(Spectator)["last_action"]["type"], "cards_dealt");
    let card = game.hand(3)[0].clone();
    game.offer(3);
    for viewer in game.viewers() {
        let last = game.view(viewer)["last_action"].take();
        let told = ["type", "seat", "card"].map(|name| &last[name]);
        let card = (viewer == Seat(3)).then_some(&card);
        assert_eq!(json!(told), json!(["card_offered", 3, card]), "{viewer}");
    }
}
