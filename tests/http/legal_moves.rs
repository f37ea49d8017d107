//! `GET /v1/games/{id}/legal-moves`

use std::{collections::HashSet, process::Command};

use serde_json::{Value, json};

use crate::support::{
    CARDS, TestGame, TestServer, TestViewer::*, UNKNOWN_TOKEN, available, raw, run, seed,
};

#[test]
fn moves_are_complete_and_ready_to_be_posted() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let (seat, hand) = (game.turn(), game.hand(game.turn()));
    let response = game.get(Seat(seat), "/legal-moves").send().expect(200);
    assert_eq!(
        (&response["version"], &response["seat"]),
        (&json!(6), &json!(seat))
    );
    let moves = response["moves"].as_array().expect("moves");
    let mut ids = HashSet::new();
    for mv in moves {
        assert!(
            ids.insert(mv["id"].as_str().expect("an id")),
            "{mv} came twice"
        );
        assert_eq!(mv["seat"], seat);
        assert!(
            hand.iter().any(|card| mv["card"] == *card) || mv["kind"] == "fold",
            "{mv}"
        );
        assert_eq!(mv["as"].is_null(), mv["card"] != "joker", "{mv}");
        let board = mv["board"].as_array().expect("a board");
        assert_eq!(board.len(), 4);
        for entry in board {
            let on = |name: &str| entry[name].as_array().expect("fields").len() as u64;
            let kennel = entry["kennel"].as_u64().expect("a number");
            assert_eq!(on("track") + on("goal") + kennel, 4, "{mv}");
        }
    }
    // Every one of them, each in a game of its own.
    for mv in moves {
        let game = TestGame::in_play(&server);
        let played = game.play(seat, mv["id"].as_str().expect("an id"));
        assert_eq!(played["game"]["board"], mv["board"]);
        if mv["kind"] != "fold" {
            let event = json!({"type": "card_played", "seat": seat, "move": mv});
            assert_eq!(played["events"][0], event);
        }
    }
}

#[test]
fn the_order_is_stable_and_boards_can_be_left_out() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let list = |query: &str| {
        let path = format!("/legal-moves{query}");
        game.get(Seat(1), &path).send().expect(200)
    };
    let mut full = list("");
    assert_eq!(list("?board=true"), full);
    assert_eq!(list(""), full);
    for mv in full["moves"].as_array_mut().expect("moves") {
        mv.as_object_mut().expect("a move").remove("board");
    }
    assert_eq!(list("?board=false"), full);
}

#[test]
fn the_moves_of_one_card_are_those_of_the_list() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let list = |query: &str| {
        let path = format!("/legal-moves{query}");
        game.get(Seat(1), &path).send().expect(200)
    };
    let all = list("");
    let mut listed = 0;
    for card in CARDS {
        let of_card = list(&format!("?card={card}"));
        let moves = all["moves"].as_array().expect("moves").iter();
        let expected: Vec<&Value> = moves.filter(|mv| mv["card"] == card).collect();
        assert_eq!(of_card["moves"], json!(expected), "{card}");
        assert_eq!(
            (&of_card["version"], &of_card["seat"]),
            (&json!(6), &json!(1))
        );
        listed += expected.len();
    }
    assert_eq!(Some(listed), all["moves"].as_array().map(Vec::len));
    let playable = all["moves"][0]["card"].as_str().expect("a card");
    let without = list(&format!("?card={playable}&board=false"));
    assert_eq!(without["moves"][0].get("board"), None);
    let unknown = game.get(Seat(1), "/legal-moves?card=1").send();
    let problem = unknown.refused("unknown_card");
    let errors = json!([{"pointer": "/card", "allowed": CARDS}]);
    assert_eq!(problem["errors"], errors);
    let detail = format!("there is no card \"1\": the cards are {}", CARDS.join(" "));
    assert_eq!(problem["detail"], detail);
    // A fold is no move of a card.
    let game = game_to_fold(&server);
    let card = &game.hand(1)[0];
    let list = game
        .get(Seat(1), &format!("/legal-moves?card={card}"))
        .send();
    assert_eq!(list.expect(200)["moves"], json!([]));
}

#[test]
fn each_card_without_a_move_has_a_reason() {
    let server = TestServer::shared();
    let game = game_to_fold(&server);
    let list = |query: &str| {
        let path = format!("/legal-moves?board=false{query}");
        game.get(Seat(1), &path).send().expect(200)["unplayable"].take()
    };
    let mut hand = game.hand(1);
    hand.dedup();
    let because = |card: &String| json!({"card": card, "reason": "no_piece_on_ring", "seat": 1});
    let expected: Vec<Value> = hand.iter().map(because).collect();
    assert_eq!(list(""), json!(expected));
    assert_eq!(list(&format!("&card={}", hand[0])), json!([expected[0]]));
    assert_eq!(list("&card=joker"), json!([]));
}

#[test]
fn a_reason_has_the_members_of_a_refusal() {
    let server = TestServer::shared();
    let mut body = json!({
        "board": [{"track": [14], "goal": [0, 2]}, {"track": [16], "fresh": true}, {}, {}],
        "seat": 0, "hand": ["J", "5", "2", "A", "2"],
    });
    let list = |body: &Value| {
        let request = server.post("/v1/analysis/legal-moves?board=false");
        request.json(body).send().expect(200)
    };
    let blocked = |card: &str| json!({"card": card, "reason": "blocked", "seat": 1, "place": "16"});
    let jack = json!({"card": "J", "reason": "swap_protected", "seat": 1, "place": "16"});
    let unplayable = json!([blocked("2"), blocked("5"), jack]);
    assert_eq!(list(&body)["unplayable"], unplayable);
    body["board"][0] = json!({"goal": [0, 2]});
    let unplayable = json!([
        {"card": "2", "reason": "goal_occupied", "place": "goal:2"},
        {"card": "5", "reason": "beyond_goal"},
        {"card": "J", "reason": "no_piece_on_ring", "seat": 0},
    ]);
    assert_eq!(list(&body)["unplayable"], unplayable);
    body["hand"] = json!(["A", "joker"]);
    assert_eq!(list(&body)["unplayable"], json!([]));
}

#[test]
fn only_the_seat_to_move_gets_them() {
    let server = TestServer::shared();
    let (game, other) = (TestGame::fixed(&server), TestGame::in_play(&server));
    let list = |viewer| game.get(viewer, "/legal-moves").send();
    let by_role = |code: &str| {
        for seat in 0..4 {
            list(Seat(seat)).refused(code);
        }
        list(Host).refused("forbidden");
        list(Spectator).refused("unauthorized");
    };
    by_role("wrong_phase");
    game.deal();
    by_role("wrong_phase");
    game.exchange();
    list(Seat(1)).expect(200);
    for seat in [0, 2, 3] {
        list(Seat(seat)).refused("not_your_turn");
    }
    for token in [UNKNOWN_TOKEN, &other.tokens[1]] {
        let response = server.get(&game.path("/legal-moves")).token(token).send();
        response.refused("unauthorized");
    }
    list(Host).refused("forbidden");
    list(Spectator).refused("unauthorized");
    for query in ["?board=maybe", "?board=", "?board=0", "?boards=false"] {
        let response = game.get(Seat(1), &format!("/legal-moves{query}")).send();
        response.refused("invalid_request");
    }
}

/// A game in which the first seat to move can play nothing.
fn game_to_fold(server: &TestServer) -> TestGame<'_> {
    for byte in 0..=255 {
        let game = TestGame::create(
            server,
            &json!({"first_dealer": 0, "shuffle_seed": seed(byte)}),
        );
        game.deal();
        game.exchange();
        if game.legal_moves(1)[0]["kind"] == "fold" {
            return game;
        }
    }
    panic!("somebody can always play");
}

#[test]
fn a_seat_without_a_playable_card_is_offered_a_fold() {
    let server = TestServer::shared();
    let game = game_to_fold(&server);
    let board = game.view(Spectator)["board"].take();
    let fold = json!({
        "id": "fold", "card": null, "as": null, "kind": "fold", "seat": 1,
        "parts": [], "captures": [], "board": board,
    });
    let list = game.get(Seat(1), "/legal-moves").send().expect(200);
    assert_eq!(list["moves"], json!([fold]));
    let hand = game.view(Seat(1))["seats"][1]["hand"].take();
    for card in CARDS {
        let body = json!({"move": format!("{card}:out")});
        game.post(Seat(1), "/play")
            .json(&body)
            .send()
            .refused("illegal_move");
    }
    let played = game.play(1, "fold");
    let folded = json!({"type": "hand_folded", "seat": 1, "cards": hand});
    assert_eq!(played["events"][0], folded);
    let seat = &played["game"]["seats"][1];
    assert_eq!((&seat["folded"], &seat["cards"]), (&json!(true), &json!(0)));
    let discarded = played["game"]["discards"].as_object().expect("cards");
    let discarded: u64 = discarded.values().filter_map(Value::as_u64).sum();
    assert_eq!(discarded, 6);
    assert_eq!(game.view(Spectator)["last_action"], folded);
}

#[test]
fn answers_are_compressed_on_request() {
    if !available(&["gzip"]) {
        return;
    }
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let path = game.path("/legal-moves");
    let (address, token) = (server.address(), &game.tokens[1]);
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Accept-Encoding: gzip\r\nConnection: close\r\n\r\n"
    );
    let response = raw(&server, request.as_bytes());
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-encoding"), Some("gzip"));
    assert!(
        response
            .list("vary")
            .contains(&"accept-encoding".to_owned())
    );
    let unpacked = run(Command::new("gzip").arg("-dc"), &response.unchunked());
    let plain = server.get(&path).token(token).send();
    assert_eq!(plain.header("content-encoding"), None);
    assert_eq!(unpacked.stdout, plain.body);
}
