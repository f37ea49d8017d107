//! `POST /v1/games`

use std::collections::HashSet;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    rules::published,
    support::{PRESETS, TestGame, TestServer, TestViewer::*, seed},
};

#[test]
fn an_empty_body_creates_the_default_game() {
    let server = TestServer::shared();
    let in_kennel = json!({"track": [], "goal": [], "kennel": 4, "fresh": false});
    let of_game = json!({
        "version": 1, "phase": "deal", "round": 1, "rules": published("dogspiel-it"),
        "turn": null, "winner": null, "stock": 110, "shuffle_seed": null,
        "shuffle_seed_given": false, "board": vec![in_kennel; 4],
    });
    let of_seat = json!({
        "kind": "human", "cards": 0, "folded": false, "hand": null, "exchange": null,
    });
    let assert_members = |found: &Value, expected: &Value| {
        for (name, value) in expected.as_object().expect("members") {
            assert_eq!(found[name], *value, "{name}");
        }
    };
    let without_body = server.post("/v1/games").send();
    let empty = server.post("/v1/games").text("application/json", "").send();
    for response in [without_body, empty, server.create(&json!({}))] {
        let location = response.header("location").unwrap_or_default().to_owned();
        let created = response.expect(201);
        let id = created["id"].as_str().expect("an id");
        assert_eq!(location, format!("/v1/games/{id}"));
        let game = &created["game"];
        assert_eq!(game["id"], id);
        assert_members(game, &of_game);
        assert!(game["dealer"].as_u64().expect("a dealer") < 4);
        let seats = game["seats"].as_array().expect("seats");
        assert_eq!(seats.len(), 4);
        for (number, seat) in seats.iter().enumerate() {
            assert_eq!(seat["seat"], number);
            assert_eq!(seat["team"], number % 2);
            assert_members(seat, &of_seat);
        }
        assert_eq!(server.get(&location).send().expect(200)["version"], 1);
    }
}

#[test]
fn games_have_ids_tokens_and_commitments_of_their_own() {
    let server = TestServer::shared();
    let mut seen = HashSet::new();
    for _ in 0..20 {
        let created = server.create(&json!({})).expect(201);
        let game = TestGame::from_created(&server, &created);
        assert_eq!(game.seats(), 4);
        let commitment = created["game"]["shuffle_commitment"].as_str();
        let commitment = commitment.expect("a commitment").to_owned();
        assert_eq!(commitment.len(), 64);
        for token in game.tokens.iter().chain([&game.host]) {
            // 128 bits take 22 characters of base64.
            assert!(token.len() >= 22, "{token}");
            assert!(token.bytes().all(|byte| byte.is_ascii_graphic()), "{token}");
        }
        for text in [commitment, game.id, game.host]
            .into_iter()
            .chain(game.tokens)
        {
            assert!(seen.insert(text.clone()), "{text} came twice");
        }
    }
}

#[test]
fn every_preset_is_played_by_its_published_options() {
    let server = TestServer::shared();
    for preset in PRESETS {
        for seats in [4, 6] {
            let body = json!({"rules": {"preset": preset, "seats": seats}});
            let created = server.create(&body).expect(201);
            let game = TestGame::from_created(&server, &created);
            assert_eq!(game.seats(), seats);
            let mut expected = published(preset);
            expected["seats"] = json!(seats);
            assert_eq!(created["game"]["rules"], expected);
            let entries = created["game"]["seats"].as_array().expect("seats");
            let teams: Vec<_> = entries.iter().map(|seat| seat["team"].clone()).collect();
            let wanted: Vec<_> = (0..seats).map(|seat| json!(seat % (seats / 2))).collect();
            assert_eq!(teams, wanted);
        }
    }
}

#[test]
fn any_option_can_be_overridden() {
    let server = TestServer::shared();
    let overrides = json!({
        "seats": 6, "fields_per_seat": 15, "jokers": 0,
        "deal_sizes": {"first": [1, 17], "then": [2]},
        "dealer": "rotates", "reshuffle": "before_deal", "exchange": "optional",
        "start_block": "always", "start_swap_protection": "always",
        "goal_entry": "before_start", "backward_into_goal": true, "fresh_into_goal": true,
        "capture_own": false,
        "seven_landing": "must_be_free", "seven_surplus": "lapses_on_win",
        "seven_partner": "always", "seven_rest": "any_pieces", "jack_own_pair": true,
        "jack_without_effect": true, "jack_without_effect_when": "no_swap_possible",
    });
    let mut rules = overrides.clone();
    rules["preset"] = json!("dogspiel-it");
    let created = server.create(&json!({"rules": rules})).expect(201);
    assert_eq!(created["game"]["rules"], rules);
    assert_eq!(created["game"]["stock"], 104);
    // Overrides that are valid alone, one at a time.
    for (option, value) in overrides.as_object().expect("an object") {
        if option != "backward_into_goal" {
            let rules = json!({"preset": "familienlager", option: value});
            let created = server.create(&json!({"rules": rules})).expect(201);
            let mut expected = published("familienlager");
            expected[option] = value.clone();
            assert_eq!(created["game"]["rules"], expected);
        }
    }
    // Without a preset, those of the default one.
    let created = server.create(&json!({"rules": {"jokers": 2}})).expect(201);
    let mut expected = published("dogspiel-it");
    expected["jokers"] = json!(2);
    assert_eq!(created["game"]["rules"], expected);
}

#[test]
fn impossible_rules_are_refused() {
    let server = TestServer::shared();
    for rules in [
        json!({"preset": "Hausregeln"}),
        json!({"preset": "hausregeln", "seats": 2}),
        json!({"preset": "hausregeln", "exchange": "sometimes"}),
        json!({"seven_rest": "one_piece", "seven_partner": "always"}),
        json!({"preset": "dogspiel-it", "deal_sizes": {"first": [], "then": [2]}}),
        json!({"preset": "dogspiel-it", "deal_sizes": {"first": [2], "then": [28]}}),
        json!({"preset": "dogspiel-it", "seats": 6, "deal_sizes": {"first": [19], "then": [2]}}),
    ] {
        let refused = server.create(&json!({"rules": rules}));
        refused.refused("invalid_rules");
    }
    let largest = json!({"preset": "dogspiel-it", "deal_sizes": {"first": [27], "then": [2]}});
    server.create(&json!({"rules": largest})).expect(201);
}

/// Bodies that describe no game.
const WRONG_BODIES: &str = r#"
"game"
{"rules": {}, "colour": "red"}
{"rules": {"preset": "dogspiel-it", "seats": 6}, "seats": [{}, {}, {}, {}]}
{"seats": [{}, {}, {}, {}, {}]}
{"seats": [{}, {}, {}, {"colour": "red"}]}
{"seats": [{}, {}, {}, {"name": 5}]}
{"seats": [{}, {}, {}, "human"]}
{"first_dealer": -1}
{"first_dealer": "0"}
{"shuffle_seed": 5}
{"shuffle_seed": [1, 1]}
{"listed": 0}"#;

/// Values that are not rules.
const WRONG_RULES: &str = r#"
5
"hausregeln"
[]
{"preset": 4}
{"colour": "red"}
{"seats": "4"}
{"jokers": 256}
{"exchange": true}
{"goal_entry": "anywhere"}
{"jack_own_pair": "yes"}
{"jack_without_effect": 1}
{"deal_sizes": [6, 5]}
{"deal_sizes": {"first": [6], "then": [300]}}
{"deal_sizes": {"first": [6], "then": [2], "last": [1]}}"#;

#[test]
fn requests_of_the_wrong_shape_are_refused() {
    let server = TestServer::start();
    let ask = |body: &str| {
        let request = server.post("/v1/games");
        request.text("application/json", body).send()
    };
    for body in WRONG_BODIES.lines().skip(1) {
        ask(body).refused("invalid_request");
    }
    for rules in WRONG_RULES.lines().skip(1) {
        let response = ask(&format!("{{\"rules\": {rules}}}"));
        response.refused_one_of(&["invalid_rules", "invalid_request"]);
    }
    let list = server.get("/v1/games").send().expect(200);
    assert_eq!(list["games"], json!([]));
}

#[test]
fn a_shuffle_seed_is_64_hex_digits() {
    let server = TestServer::shared();
    let seeds = [
        String::new(),
        seed(1)[1..].to_owned(),
        seed(1) + "0",
        seed(1).replace('0', "g"),
        format!("0x{}", &seed(1)[2..]),
        format!(" {} ", seed(1)),
        " ".repeat(64),
        "é".repeat(32),
    ];
    for seed in seeds {
        let refused = server.create(&json!({"shuffle_seed": seed}));
        refused.refused("invalid_seed");
    }
}

#[test]
fn names_are_shown_as_given() {
    let server = TestServer::shared();
    let names = ["Ada", "Søren Kierkegaard", "李白", "<b>&\"quoted\"</b>"];
    let seats = names.map(|name| json!({"kind": "human", "name": name}));
    let game = TestGame::create(&server, &json!({"seats": seats}));
    for viewer in game.viewers() {
        let view = game.view(viewer);
        let shown = view["seats"].as_array().expect("seats").iter();
        assert_eq!(shown.map(|seat| &seat["name"]).collect::<Vec<_>>(), names);
    }
}

#[test]
fn the_first_dealer_is_the_one_named_or_any_seat() {
    let server = TestServer::shared();
    let dealer = |body: Value| {
        let mut created = server.create(&body).expect(201);
        created["game"]["dealer"].take()
    };
    for seat in 0..4 {
        assert_eq!(dealer(json!({"first_dealer": seat})), seat);
    }
    let mut dealers = HashSet::new();
    for _ in 0..200 {
        dealers.insert(dealer(json!({"listed": false})).to_string());
        if dealers.len() == 4 {
            return;
        }
    }
    panic!("200 games were dealt by {dealers:?} only");
}

#[test]
fn a_given_shuffle_seed_fixes_the_cards_and_is_shown() {
    let server = TestServer::shared();
    let commitment = hex::encode(Sha256::digest([0xab; 32]));
    let deal = |seed: &str| {
        let created = server.create(&json!({"shuffle_seed": seed})).expect(201);
        assert_eq!(created["game"]["shuffle_commitment"], commitment);
        let game = TestGame::from_created(&server, &created);
        for viewer in game.viewers() {
            let view = game.view(viewer);
            assert_eq!(view["shuffle_seed_given"], true);
            assert_eq!(view["shuffle_seed"], Value::Null);
        }
        game.deal();
        let hands = [0, 1, 2, 3].map(|seat| game.hand(seat));
        (created["game"]["dealer"].clone(), hands)
    };
    let (lower, upper) = ("ab".repeat(32), "AB".repeat(32));
    let first = deal(&lower);
    assert_eq!(deal(&lower), first);
    assert_eq!(deal(&upper), first);
}

#[test]
fn unlisted_games_exist_but_are_not_listed() {
    let server = TestServer::start();
    let hidden = TestGame::create(&server, &json!({"listed": false}));
    let shown = TestGame::create(&server, &json!({"listed": true}));
    let list = server.get("/v1/games").send().expect(200);
    let games = list["games"].as_array().expect("games");
    assert_eq!(games.len(), 1);
    assert_eq!(games[0]["id"], shown.id.as_str());
    assert_eq!(hidden.view(Spectator)["id"], hidden.id.as_str());
}
