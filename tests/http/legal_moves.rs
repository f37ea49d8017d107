//! `GET /v1/games/{id}/legal-moves`

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::support::{CARDS, TestGame, TestServer, TestViewer::*, seed};

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
        let id = mv["id"].as_str().expect("an id");
        assert!(ids.insert(id), "{id} came twice");
        assert_eq!(mv["seat"], seat);
        let is_held = hand.iter().any(|card| mv["card"] == *card);
        assert!(is_held || mv["kind"] == "fold", "{mv}");
        // Each is played in a game of its own.
        let game = TestGame::in_play(&server);
        let played = game.play(seat, id);
        assert_eq!(played["game"]["board"], mv["board"]);
        if mv["kind"] != "fold" {
            let event = json!({"type": "card_played", "seat": seat, "move": mv});
            assert_eq!(played["events"][0], event);
        }
    }
}

/// The moves of seat 1.
fn list(game: &TestGame<'_>, query: &str) -> Value {
    let path = format!("/legal-moves{query}");
    game.get(Seat(1), &path).send().expect(200)
}

#[test]
fn the_order_is_stable_and_boards_can_be_left_out() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let mut full = list(&game, "");
    assert_eq!(list(&game, "?board=true"), full);
    assert_eq!(list(&game, ""), full);
    for mv in full["moves"].as_array_mut().expect("moves") {
        mv.as_object_mut().expect("a move").remove("board");
    }
    assert_eq!(list(&game, "?board=false"), full);
    for query in ["?board=maybe", "?board=", "?board=0", "?boards=false"] {
        let response = game.get(Seat(1), &format!("/legal-moves{query}")).send();
        response.refused("invalid_request");
    }
}

#[test]
fn the_moves_of_one_card_are_those_of_the_list() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let all = list(&game, "");
    let moves = all["moves"].as_array().expect("moves");
    let mut listed = 0;
    for card in CARDS {
        let of_card = list(&game, &format!("?card={card}"));
        let expected: Vec<&Value> = moves.iter().filter(|mv| mv["card"] == card).collect();
        assert_eq!(of_card["moves"], json!(expected), "{card}");
        assert_eq!(
            (&of_card["version"], &of_card["seat"]),
            (&json!(6), &json!(1))
        );
        listed += expected.len();
    }
    assert_eq!(listed, moves.len());
    let playable = moves[0]["card"].as_str().expect("a card");
    let without = list(&game, &format!("?card={playable}&board=false"));
    assert_eq!(without["moves"][0].get("board"), None);
    let unknown = game.get(Seat(1), "/legal-moves?card=1").send();
    let problem = unknown.refused("unknown_card");
    let errors = json!([{"pointer": "/card", "allowed": CARDS}]);
    assert_eq!(problem["errors"], errors);
    let detail = format!("there is no card \"1\": the cards are {}", CARDS.join(" "));
    assert_eq!(problem["detail"], detail);
    // A fold is not a move of a card.
    let game = game_to_fold(&server);
    let of_card = list(&game, &format!("?card={}", game.hand(1)[0]));
    assert_eq!(of_card["moves"], json!([]));
}

#[test]
fn each_card_without_a_move_has_a_reason() {
    let server = TestServer::shared();
    let game = game_to_fold(&server);
    let unplayable =
        |query: &str| list(&game, &format!("?board=false{query}"))["unplayable"].take();
    let mut hand = game.hand(1);
    hand.dedup();
    let because = |card: &String| json!({"card": card, "reason": "no_piece_on_ring", "seat": 1});
    let expected: Vec<Value> = hand.iter().map(because).collect();
    assert_eq!(unplayable(""), json!(expected));
    let of_first = unplayable(&format!("&card={}", hand[0]));
    assert_eq!(of_first, json!([expected[0]]));
    assert_eq!(unplayable("&card=joker"), json!([]));
}

#[test]
fn a_reason_has_the_members_of_a_refusal() {
    let server = TestServer::shared();
    let unplayable = |own: &str, hand: Value| {
        let position = format!("{own} / 16f / - / -");
        let body = json!({"position": position, "seat": 0, "hand": hand});
        let request = server.post("/v1/analysis/legal-moves?board=false");
        request.json(&body).send().expect(200)["unplayable"].take()
    };
    let blocked = |card: &str| json!({"card": card, "reason": "blocked", "seat": 1, "place": "16"});
    let jack = json!({"card": "J", "reason": "swap_protected", "seat": 1, "place": "16"});
    let expected = json!([blocked("2"), blocked("5"), jack]);
    let hand = json!(["J", "5", "2", "A", "2"]);
    assert_eq!(unplayable("14 g0 g2", hand.clone()), expected);
    let expected = json!([
        {"card": "2", "reason": "goal_occupied", "place": "goal:2"},
        {"card": "5", "reason": "beyond_goal"},
        {"card": "J", "reason": "no_piece_on_ring", "seat": 0},
    ]);
    assert_eq!(unplayable("g0 g2", hand), expected);
    assert_eq!(unplayable("g0 g2", json!(["A", "joker"])), json!([]));
}

/// A game in which the first seat to move can play nothing.
fn game_to_fold(server: &TestServer) -> TestGame<'_> {
    for byte in 0..=255 {
        let body = json!({"first_dealer": 0, "shuffle_seed": seed(byte)});
        let game = TestGame::create(server, &body);
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
    let fold = json!({
        "id": "fold", "card": null, "as": null, "kind": "fold", "seat": 1,
        "parts": [], "captures": [], "board": game.view(Spectator)["board"],
    });
    assert_eq!(list(&game, "")["moves"], json!([fold]));
    let hand = game.view(Seat(1))["seats"][1]["hand"].take();
    for card in CARDS {
        let refused = game.try_play(Seat(1), &format!("{card}:out"));
        refused.refused("illegal_move");
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
