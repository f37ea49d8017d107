//! `POST /v1/games/{id}/swap`

use serde_json::{Value, json};

use crate::support::{CARDS, TestGame, TestServer, TestViewer::*};

/// Each seat's state in the exchange, as the spectator sees it.
fn states(game: &TestGame) -> Vec<String> {
    let view = game.view(Spectator);
    let seats = view["seats"].as_array().expect("seats");
    let state = |seat: &Value| seat["exchange"].as_str().expect("a state").to_owned();
    seats.iter().map(state).collect()
}

fn types(response: &Value) -> Vec<&str> {
    let events = response["events"].as_array().expect("events").iter();
    events
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

#[test]
fn partners_swap_once_both_have_laid_a_card() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let hands: Vec<_> = (0..4).map(|seat| game.hand(seat)).collect();
    let (given, taken) = (hands[0][0].clone(), hands[2][5].clone());

    let response = game.swap(0, &json!({"card": given}));
    assert_eq!(response["version"], 3);
    assert_eq!(response["game"], game.view(Seat(0)));
    let offered = json!({"type": "card_offered", "seat": 0, "card": given});
    assert_eq!(response["events"], json!([offered]));
    // Until then the card counts as part of the hand, and only its owner sees it.
    assert_eq!(game.hand(0), hands[0]);
    assert_eq!(game.view(Seat(0))["seats"][0]["gave"], given);
    assert_eq!(game.view(Seat(2))["seats"][0]["gave"], Value::Null);

    let response = game.swap(2, &json!({"card": taken}));
    assert_eq!(types(&response), ["card_offered", "cards_swapped"]);
    let both = json!([{"seat": 0, "card": given}, {"seat": 2, "card": taken}]);
    assert_eq!(response["events"][1]["given"], both);
    for (seat, gave, received) in [(0, &given, &taken), (2, &taken, &given)] {
        let mut expected = hands[seat].clone();
        let index = expected.iter().position(|card| card == gave);
        expected[index.expect("the card")] = received.clone();
        expected.sort();
        assert_eq!(game.hand(seat), expected);
        let entry = &game.view(Seat(seat))["seats"][seat];
        let swapped = ["gave", "received", "cards"].map(|name| &entry[name]);
        assert_eq!(json!(swapped), json!([gave, received, 6]));
    }
    for seat in [1, 3] {
        assert_eq!(game.hand(seat), hands[seat]);
    }
    game.offer(1);
    let last = game.offer(3);
    assert_eq!(types(&last)[1..], ["cards_swapped", "play_began"]);
    assert_eq!(last["events"][2]["turn"], 1);
}

#[test]
fn only_cards_of_the_hand_can_be_laid() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let before = game.snapshot();
    let lay = |card: &str| game.post_json(Seat(0), "/swap", &json!({"card": card}));
    let hand = game.hand(0);
    let absent = |card: &&&str| !hand.iter().any(|held| held == **card);
    for card in CARDS.iter().filter(absent) {
        lay(card).refused("card_not_in_hand");
    }
    for name in ["", "1", "11", "a", "Joker", "*", " K", "ace", "\u{0}", "Ⅻ"] {
        lay(name).refused("unknown_card");
    }
    // The error repeats the beginning of what was sent, and nothing that cannot be seen.
    let name = format!("\n\u{202e}\"{}", "é".repeat(5_000));
    let problem = lay(&name).refused("unknown_card");
    let detail = problem["detail"].as_str().expect("a detail");
    let quoted = format!(r#"there is no card "\n\u{{202e}}\"{}"…: "#, "é".repeat(17));
    assert!(detail.starts_with(&quoted), "{detail}");
    assert_eq!(game.snapshot(), before);
}

#[test]
fn an_answer_is_one_choice() {
    let server = TestServer::shared();
    let game = dealt(&server, "optional");
    let before = game.snapshot();
    let card = &game.hand(0)[0];
    for body in [
        json!({}),
        json!({"card": card, "decline": true}),
        json!({"card": card, "ask": true}),
        json!({"decline": true, "ask": true}),
        json!({"ask": true, "pass": true}),
        json!({"decline": false}),
        json!({"ask": false}),
        json!({"pass": false}),
    ] {
        let response = game.post_json(Seat(0), "/swap", &body);
        response.refused("invalid_request");
    }
    let empty = game.post(Seat(0), "/swap").send();
    empty.refused("invalid_request");
    assert_eq!(game.snapshot(), before);
}

/// What a seat does in the exchange: it gives a card, or has another of the choices.
fn act(game: &TestGame, what: &str) -> Value {
    let (seat, choice) = what.split_once(' ').expect("a seat and a choice");
    let seat = seat.parse().expect("a seat");
    match choice {
        "card" => game.offer(seat),
        choice => game.swap(seat, &json!({choice: true})),
    }
}

/// The reasons of `not_your_turn`; the others are of `illegal_exchange`.
const NOT_NOW: [&str; 4] = [
    "exchange_done",
    "partner_asked",
    "partner_answers",
    "already_answered",
];

#[test]
fn each_refusal_has_its_reason_and_changes_nothing() {
    let server = TestServer::shared();
    for (exchange, acts, seat, choice, reason) in [
        ("mandatory", "", 0, "ask", "exchange_mandatory"),
        ("mandatory", "", 0, "pass", "no_pass"),
        ("optional", "2 ask", 2, "ask", "already_asked"),
        ("optional", "0 decline", 2, "card", "exchange_done"),
        ("on_request", "", 2, "card", "not_asked"),
        ("on_request", "0 ask", 2, "pass", "partner_asked"),
        ("on_request", "0 ask", 0, "ask", "partner_answers"),
        ("on_request", "0 ask,2 card", 0, "pass", "must_offer"),
        ("on_request", "0 pass", 0, "ask", "already_answered"),
    ] {
        let game = dealt(&server, exchange);
        for part in acts.split_terminator(',') {
            act(&game, part);
        }
        let before = game.snapshot();
        let body = match choice {
            "card" => json!({"card": game.hand(seat)[0]}),
            choice => json!({choice: true}),
        };
        let code = match NOT_NOW.contains(&reason) {
            true => "not_your_turn",
            false => "illegal_exchange",
        };
        let response = game.post_json(Seat(seat), "/swap", &body);
        assert_eq!(response.refused(code)["reason"], reason);
        assert_eq!(game.snapshot(), before);
    }
}

#[test]
fn everyone_sees_the_state_of_each_seat() {
    let server = TestServer::shared();
    let game = dealt(&server, "on_request");
    for seat in 0..4 {
        assert_eq!(game.exchange_choices(seat), ["ask", "pass"]);
    }
    // Seat 2 helps seat 0. Seat 1 passes, and then declines what its partner asks for.
    for (what, event, expected) in [
        ("0 ask", "help_asked", "asked pending pending pending"),
        ("2 card", "card_offered", "asked pending offered pending"),
        ("0 card", "card_offered", "swapped pending swapped pending"),
        (
            "1 pass",
            "exchange_passed",
            "swapped passed swapped pending",
        ),
        ("3 ask", "help_asked", "swapped pending swapped asked"),
        (
            "1 decline",
            "exchange_declined",
            "swapped declined swapped kept",
        ),
    ] {
        let response = act(&game, what);
        assert_eq!(types(&response)[0], event, "{what}");
        assert_eq!(states(&game).join(" "), expected, "{what}");
        match what {
            "0 ask" => assert_eq!(game.exchange_choices(2), ["card", "decline"]),
            "2 card" => assert_eq!(game.exchange_choices(0), ["card"]),
            _ => {}
        }
    }
    assert_eq!(game.view(Spectator)["phase"], "play");
}
