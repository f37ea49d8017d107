//! `POST /v1/games/{id}/swap`

use serde_json::{Value, json};

use crate::support::{
    CARDS, TestGame, TestResponse, TestServer,
    TestViewer::{self, *},
};

fn swap(game: &TestGame, viewer: TestViewer, body: &Value) -> TestResponse {
    game.post(viewer, "/swap").json(body).send()
}

/// Each seat's state in the exchange, as the spectator sees it.
fn states(game: &TestGame) -> Vec<String> {
    let view = game.view(Spectator);
    let seats = view["seats"].as_array().expect("seats");
    let state = |seat: &Value| seat["exchange"].as_str().expect("a state").to_owned();
    seats.iter().map(state).collect()
}

fn types(response: &Value) -> Vec<&str> {
    let events = response["events"].as_array().expect("events");
    events
        .iter()
        .map(|event| event["type"].as_str().expect("a type"))
        .collect()
}

/// A dealt game of `hausregeln` with this exchange.
fn dealt<'a>(server: &'a TestServer, exchange: &str) -> TestGame<'a> {
    let rules = json!({"preset": "hausregeln", "exchange": exchange});
    let game = TestGame::create(server, &json!({"rules": rules, "first_dealer": 0}));
    game.deal();
    game
}

fn dealt_optional(server: &TestServer) -> TestGame<'_> {
    dealt(server, "optional")
}

/// Checks that a body is refused with this code and reason, and changes nothing.
#[track_caller]
fn refused(game: &TestGame, seat: usize, body: &Value, code: &str, reason: &str) {
    let before = game.snapshot();
    let problem = swap(game, Seat(seat), body).refused(code);
    assert_eq!(problem["reason"], reason, "{body}");
    assert_eq!(game.snapshot(), before);
}

#[test]
fn partners_swap_once_both_have_laid_a_card() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let hands: Vec<_> = (0..4).map(|seat| game.hand(seat)).collect();
    let (given, taken) = (hands[0][0].clone(), hands[2][5].clone());

    let response = swap(&game, Seat(0), &json!({"card": given})).expect(200);
    assert_eq!(response["version"], 3);
    assert_eq!(response["game"], game.view(Seat(0)));
    let offered = json!({"type": "card_offered", "seat": 0, "card": given});
    assert_eq!(response["events"], json!([offered]));
    assert_eq!(states(&game), ["offered", "pending", "pending", "pending"]);
    // Until then the card counts as in the hand, and only its owner sees it.
    assert_eq!(game.hand(0), hands[0]);
    assert_eq!(game.view(Seat(0))["seats"][0]["gave"], given);
    assert_eq!(game.view(Seat(2))["seats"][0]["gave"], Value::Null);

    let response = swap(&game, Seat(2), &json!({"card": taken})).expect(200);
    assert_eq!(types(&response), ["card_offered", "cards_swapped"]);
    let both = json!([{"seat": 0, "card": given}, {"seat": 2, "card": taken}]);
    assert_eq!(response["events"][1]["given"], both);
    assert_eq!(states(&game), ["swapped", "pending", "swapped", "pending"]);
    for (seat, gave, received) in [(0, &given, &taken), (2, &taken, &given)] {
        let mut expected = hands[seat].clone();
        let index = expected
            .iter()
            .position(|card| card == gave)
            .expect("the card");
        expected[index] = received.clone();
        expected.sort();
        assert_eq!(game.hand(seat), expected);
        let entry = &game.view(Seat(seat))["seats"][seat];
        assert_eq!(
            (&entry["gave"], &entry["received"]),
            (&json!(gave), &json!(received))
        );
        assert_eq!(entry["cards"], 6);
    }
    for seat in [1, 3] {
        assert_eq!(game.hand(seat), hands[seat]);
    }
    assert_eq!(game.view(Spectator)["phase"], "exchange");
}

#[test]
fn play_begins_when_every_pair_is_done() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let last = game.exchange();
    assert_eq!(
        types(&last),
        ["card_offered", "cards_swapped", "play_began"]
    );
    assert_eq!(last["events"][2]["turn"], 1);
    let view = &last["game"];
    assert_eq!((&view["phase"], &view["turn"]), (&json!("play"), &json!(1)));
    assert_eq!(last["version"], 6);
    assert_eq!(states(&game), ["swapped"; 4]);
}

#[test]
fn others_see_an_offer_but_not_the_card() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    swap(&game, Seat(1), &json!({"card": game.hand(1)[0]})).expect(200);
    swap(&game, Seat(3), &json!({"card": game.hand(3)[0]})).expect(200);
    let response = swap(&game, Seat(0), &json!({"card": game.hand(0)[0]})).expect(200);
    assert_eq!(response["game"]["seats"][1]["exchange"], "swapped");
    for field in ["hand", "gave", "received"] {
        assert_eq!(response["game"]["seats"][1][field], Value::Null);
        assert_eq!(response["game"]["seats"][3][field], Value::Null);
    }
}

#[test]
fn a_mandatory_exchange_is_neither_declined_nor_asked_for() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let before = game.snapshot();
    for body in [
        json!({"decline": true}),
        json!({"ask": true}),
        json!({"pass": true}),
    ] {
        swap(&game, Seat(0), &body).refused("illegal_exchange");
    }
    assert_eq!(game.snapshot(), before);
}

#[test]
fn only_cards_of_the_hand_can_be_laid() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let before = game.snapshot();
    let hand = game.hand(0);
    for card in CARDS
        .iter()
        .filter(|card| !hand.iter().any(|held| held == *card))
    {
        swap(&game, Seat(0), &json!({"card": card})).refused("card_not_in_hand");
    }
    for name in [
        "", "1", "11", "a", "k", "Joker", "JOKER", "*", " K", "K ", "ace", "\u{0}", "Ⅻ",
    ] {
        swap(&game, Seat(0), &json!({"card": name})).refused("unknown_card");
    }
    // The error repeats the beginning of what was sent, and nothing that cannot be seen.
    let name = format!("\n\u{202e}\"{}", "é".repeat(5_000));
    let problem = swap(&game, Seat(0), &json!({"card": name})).refused("unknown_card");
    let detail = problem["detail"].as_str().expect("a detail");
    let quoted = format!(r#"there is no card "\n\u{{202e}}\"{}"…: "#, "é".repeat(17));
    assert!(detail.starts_with(&quoted), "{detail}");
    assert_eq!(game.snapshot(), before);
}

#[test]
fn other_bodies_are_refused() {
    let server = TestServer::shared();
    let game = dealt_optional(&server);
    let before = game.snapshot();
    let card = game.hand(0)[0].clone();
    let bodies = [
        json!({}),
        json!({"card": null}),
        json!({"card": 7}),
        json!({"card": [card]}),
        json!({"cards": card}),
        json!({"card": card, "decline": true}),
        json!({"card": card, "ask": true}),
        json!({"decline": true, "ask": true}),
        json!({"ask": true, "pass": true}),
        json!({"pass": false}),
        json!({"decline": false}),
        json!({"ask": false}),
        json!({"decline": 1}),
        json!({"ask": "true"}),
        json!({"card": card, "colour": "red"}),
    ];
    for body in bodies {
        swap(&game, Seat(0), &body).refused("invalid_request");
    }
    game.post(Seat(0), "/swap")
        .send()
        .refused("invalid_request");
    assert_eq!(game.snapshot(), before);
}

#[test]
fn an_offer_is_final() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let hand = game.hand(0);
    swap(&game, Seat(0), &json!({"card": hand[0]})).expect(200);
    let before = game.snapshot();
    for body in [
        json!({"card": hand[0]}),
        json!({"card": hand[1]}),
        json!({"decline": true}),
        json!({"card": "?"}),
    ] {
        swap(&game, Seat(0), &body).refused("not_your_turn");
    }
    assert_eq!(game.snapshot(), before);
}

#[test]
fn where_it_is_optional_a_seat_may_ask_once_and_must_still_answer() {
    let server = TestServer::shared();
    let game = dealt_optional(&server);
    let response = swap(&game, Seat(2), &json!({"ask": true})).expect(200);
    assert_eq!(
        response["events"],
        json!([{"type": "help_asked", "seat": 2}])
    );
    assert_eq!(states(&game), ["pending", "pending", "asked", "pending"]);
    let action = &response["game"]["actions"][0];
    assert_eq!(
        (&action["route"], &action["choices"]),
        (&json!("swap"), &json!(["card", "decline"]))
    );
    let choices = |seat: usize| game.view(Seat(seat))["actions"][0]["choices"].take();
    assert_eq!(choices(0), json!(["card", "ask", "decline"]));
    swap(&game, Seat(2), &json!({"ask": true})).refused("illegal_exchange");
    swap(&game, Seat(0), &json!({"ask": true})).expect(200);
    swap(&game, Seat(0), &json!({"card": game.hand(0)[0]})).expect(200);
    assert_eq!(states(&game), ["offered", "pending", "asked", "pending"]);
    swap(&game, Seat(0), &json!({"ask": true})).refused("not_your_turn");
    swap(&game, Seat(2), &json!({"card": game.hand(2)[0]})).expect(200);
    assert_eq!(states(&game), ["swapped", "pending", "swapped", "pending"]);
}

#[test]
fn one_that_declines_ends_its_pairs_exchange() {
    let server = TestServer::shared();
    let game = dealt_optional(&server);
    let hands: Vec<_> = (0..4).map(|seat| game.hand(seat)).collect();
    // Before and after the partner's answer.
    let response = swap(&game, Seat(0), &json!({"decline": true})).expect(200);
    assert_eq!(
        response["events"],
        json!([{"type": "exchange_declined", "seat": 0}])
    );
    assert_eq!(states(&game), ["declined", "pending", "kept", "pending"]);
    for body in [
        json!({"card": hands[2][0]}),
        json!({"decline": true}),
        json!({"ask": true}),
    ] {
        swap(&game, Seat(2), &body).refused("not_your_turn");
    }
    swap(&game, Seat(1), &json!({"card": hands[1][0]})).expect(200);
    let last = swap(&game, Seat(3), &json!({"decline": true})).expect(200);
    assert_eq!(types(&last), ["exchange_declined", "play_began"]);
    assert_eq!(states(&game), ["declined", "kept", "kept", "declined"]);
    for (seat, hand) in hands.iter().enumerate() {
        assert_eq!(game.hand(seat), *hand);
        assert_eq!(
            game.view(Seat(seat))["seats"][seat]["received"],
            Value::Null
        );
    }
    assert_eq!(game.turn(), 1);
}

#[test]
fn six_seats_swap_across_the_table() {
    let server = TestServer::shared();
    let rules = json!({"preset": "dogspiel-it", "seats": 6});
    let game = TestGame::create(&server, &json!({"rules": rules, "first_dealer": 0}));
    game.deal();
    let card = |seat: usize| game.hand(seat)[0].clone();
    let (given, taken) = (card(1), card(4));
    game.swap(1, &json!({"card": given}));
    let response = game.swap(4, &json!({"card": taken}));
    let both = json!([{"seat": 1, "card": given}, {"seat": 4, "card": taken}]);
    assert_eq!(response["events"][1]["given"], both);
    for seat in [0, 3, 2, 5] {
        game.swap(seat, &json!({"card": card(seat)}));
    }
    assert_eq!(game.turn(), 1);
}

fn choices(game: &TestGame, seat: usize) -> Vec<String> {
    game.exchange_choices(seat)
}

#[test]
fn on_request_a_seat_asks_and_its_partner_helps() {
    let server = TestServer::shared();
    let game = dealt(&server, "on_request");
    let (given, thanks) = (game.hand(2)[0].clone(), game.hand(0)[0].clone());
    for seat in 0..4 {
        assert_eq!(choices(&game, seat), ["ask", "pass"]);
    }
    for body in [json!({"card": given}), json!({"decline": true})] {
        refused(&game, 2, &body, "illegal_exchange", "not_asked");
    }
    let asked = game.swap(0, &json!({"ask": true}));
    assert_eq!(asked["events"], json!([{"type": "help_asked", "seat": 0}]));
    assert_eq!(asked["game"]["actions"], json!([]));
    assert_eq!(choices(&game, 2), ["card", "decline"]);
    for choice in ["ask", "pass"] {
        let body = json!({choice: true});
        refused(&game, 2, &body, "not_your_turn", "partner_asked");
        refused(&game, 0, &body, "not_your_turn", "partner_answers");
    }
    game.swap(2, &json!({"card": given}));
    assert_eq!(states(&game), ["asked", "pending", "offered", "pending"]);
    let view = game.view(Seat(0));
    assert_eq!(view["last_action"]["card"], Value::Null);
    assert_eq!(view["actions"][0]["choices"], json!(["card"]));
    refused(
        &game,
        0,
        &json!({"pass": true}),
        "illegal_exchange",
        "must_offer",
    );
    refused(
        &game,
        2,
        &json!({"decline": true}),
        "not_your_turn",
        "already_answered",
    );
    let swapped = game.swap(0, &json!({"card": thanks}));
    assert_eq!(types(&swapped), ["card_offered", "cards_swapped"]);
    assert_eq!(states(&game), ["swapped", "pending", "swapped", "pending"]);
    assert_eq!(game.view(Seat(0))["seats"][0]["received"], given);
    refused(
        &game,
        0,
        &json!({"ask": true}),
        "not_your_turn",
        "exchange_done",
    );
}

#[test]
fn on_request_a_team_that_passes_keeps_its_cards() {
    let server = TestServer::shared();
    let game = dealt(&server, "on_request");
    let passed = game.swap(1, &json!({"pass": true}));
    assert_eq!(
        passed["events"],
        json!([{"type": "exchange_passed", "seat": 1}])
    );
    assert_eq!(states(&game), ["pending", "passed", "pending", "pending"]);
    refused(
        &game,
        1,
        &json!({"ask": true}),
        "not_your_turn",
        "already_answered",
    );
    // Its partner may ask all the same.
    game.swap(3, &json!({"ask": true}));
    assert_eq!(states(&game), ["pending", "pending", "pending", "asked"]);
    game.swap(1, &json!({"decline": true}));
    assert_eq!(states(&game), ["pending", "declined", "pending", "kept"]);
    game.swap(0, &json!({"pass": true}));
    let last = game.swap(2, &json!({"pass": true}));
    assert_eq!(types(&last), ["exchange_passed", "play_began"]);
    assert_eq!(states(&game), ["kept", "declined", "kept", "kept"]);
}

#[test]
fn no_seat_passes_where_the_exchange_is_not_on_request() {
    let server = TestServer::shared();
    for exchange in ["mandatory", "optional"] {
        let game = dealt(&server, exchange);
        refused(
            &game,
            0,
            &json!({"pass": true}),
            "illegal_exchange",
            "no_pass",
        );
    }
}
