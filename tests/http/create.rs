//! `POST /v1/games`

use std::collections::HashSet;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::rules::published;
use crate::support::{PRESETS, TestGame, TestResponse, TestServer, TestViewer::*, cards_of, seed};

fn create(server: &TestServer, wishes: &Value) -> TestResponse {
    server.post("/v1/games").json(wishes).send()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn an_empty_body_creates_the_default_game() {
    let server = TestServer::shared();
    let without_body = server.post("/v1/games").send();
    let empty = server.post("/v1/games").text("application/json", "").send();
    for response in [without_body, empty, create(&server, &json!({}))] {
        let location = response.header("location").unwrap_or_default().to_owned();
        let created = response.expect(201);
        let id = created["id"].as_str().expect("an id");
        assert_eq!(location, format!("/v1/games/{id}"));
        let game = &created["game"];
        assert_eq!(game["id"], id);
        assert_eq!(game["version"], 1);
        assert_eq!(game["phase"], "deal");
        assert_eq!(game["round"], 1);
        assert_eq!(game["rules"], published("dogspiel-it"));
        assert_eq!(game["turn"], Value::Null);
        assert_eq!(game["winner"], Value::Null);
        assert_eq!(game["stock"], 110);
        assert_eq!(game["shuffle_seed"], Value::Null);
        assert_eq!(game["shuffle_seed_given"], false);
        let in_kennel = json!({"track": [], "goal": [], "kennel": 4, "fresh": false});
        assert_eq!(
            game["board"],
            json!([in_kennel, in_kennel, in_kennel, in_kennel])
        );
        assert!(game["dealer"].as_u64().expect("a dealer") < 4);
        let seats = game["seats"].as_array().expect("seats");
        assert_eq!(seats.len(), 4);
        for (number, seat) in seats.iter().enumerate() {
            assert_eq!(seat["seat"], number);
            assert_eq!(seat["team"], number % 2);
            assert_eq!(seat["kind"], "human");
            assert_eq!(seat["cards"], 0);
            assert_eq!(seat["folded"], false);
            assert_eq!(seat["hand"], Value::Null);
            assert_eq!(seat["exchange"], Value::Null);
        }
        assert_eq!(server.get(&location).send().expect(200)["version"], 1);
    }
}

#[test]
fn games_have_ids_tokens_and_commitments_of_their_own() {
    let server = TestServer::shared();
    let mut seen = HashSet::new();
    for _ in 0..20 {
        let created = create(&server, &json!({})).expect(201);
        let game = TestGame::of(&server, &created);
        assert_eq!(game.seats(), 4);
        let commitment = created["game"]["shuffle_commitment"].as_str();
        let commitment = commitment.expect("a commitment").to_owned();
        assert_eq!(commitment.len(), 64);
        for token in game.tokens.iter().chain([&game.host]) {
            // 128 bits take 22 characters of base64.
            assert!(token.len() >= 22, "{token}");
            assert!(token.bytes().all(|byte| byte.is_ascii_graphic()), "{token}");
        }
        let texts = [commitment, game.id.clone(), game.host.clone()];
        for text in texts.into_iter().chain(game.tokens) {
            assert!(seen.insert(text.clone()), "{text} came twice");
        }
    }
}

#[test]
fn every_preset_is_played_by_its_published_options() {
    let server = TestServer::shared();
    for preset in PRESETS {
        for seats in [4, 6] {
            let wishes = json!({"rules": {"preset": preset, "seats": seats}});
            let created = create(&server, &wishes).expect(201);
            let game = TestGame::of(&server, &created);
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
        "seats": 6,
        "fields_per_seat": 15,
        "jokers": 0,
        "deal_sizes": {"first": [1, 17], "then": [2]},
        "dealer": "rotates",
        "reshuffle": "before_deal",
        "exchange": "optional",
        "start_block": "always",
        "start_swap_protection": "always",
        "goal_entry": "before_start",
        "backward_into_goal": true,
        "capture_own": false,
        "seven_landing": "must_be_free",
        "seven_surplus": "lapses_on_win",
        "seven_partner": "always",
        "seven_rest": "any_pieces",
        "jack_own_pair": true,
        "jack_without_effect": true,
        "jack_without_effect_when": "no_swap_possible",
    });
    let mut rules = overrides.clone();
    rules["preset"] = json!("dogspiel-it");
    let created = create(&server, &json!({"rules": rules})).expect(201);
    assert_eq!(created["game"]["rules"], rules);
    assert_eq!(created["game"]["stock"], 104);
    // Overrides that are valid alone, one at a time.
    for (option, value) in overrides.as_object().expect("an object") {
        if option != "backward_into_goal" {
            let mut rules = json!({"preset": "familienlager"});
            rules[option] = value.clone();
            let created = create(&server, &json!({"rules": rules})).expect(201);
            let mut expected = published("familienlager");
            expected[option] = value.clone();
            assert_eq!(created["game"]["rules"], expected);
        }
    }
}

#[test]
fn without_a_preset_the_default_one_is_overridden() {
    let server = TestServer::shared();
    let created = create(&server, &json!({"rules": {"jokers": 2}})).expect(201);
    let mut expected = published("dogspiel-it");
    expected["jokers"] = json!(2);
    assert_eq!(created["game"]["rules"], expected);
}

#[test]
fn impossible_rules_are_refused() {
    let server = TestServer::shared();
    let cases = [
        json!({"preset": "tock"}),
        json!({"preset": "Hausregeln"}),
        json!({"preset": "hausregeln", "seats": 5}),
        json!({"preset": "hausregeln", "seats": 2}),
        json!({"preset": "hausregeln", "fields_per_seat": 17}),
        json!({"preset": "hausregeln", "jokers": 13}),
        json!({"preset": "hausregeln", "exchange": "sometimes"}),
        json!({"seven_rest": "one_piece", "seven_partner": "always"}),
        json!({"preset": "dogspiel-it", "deal_sizes": {"first": [], "then": [2]}}),
        json!({"preset": "dogspiel-it", "deal_sizes": {"first": [2], "then": []}}),
        json!({"preset": "dogspiel-it", "deal_sizes": {"first": [0], "then": [2]}}),
        json!({"preset": "dogspiel-it", "deal_sizes": {"first": [2], "then": [28]}}),
        json!({"preset": "dogspiel-it", "seats": 6, "deal_sizes": {"first": [19], "then": [2]}}),
        json!({"preset": "dogspiel-it", "jokers": 0, "deal_sizes": {"first": [27], "then": [2]}}),
    ];
    for rules in cases {
        create(&server, &json!({"rules": rules})).refused("invalid_rules");
    }
    let largest = json!({"preset": "dogspiel-it", "deal_sizes": {"first": [27], "then": [2]}});
    create(&server, &json!({"rules": largest})).expect(201);
}

#[test]
fn rules_of_the_wrong_shape_are_refused() {
    let server = TestServer::shared();
    let cases = [
        json!(5),
        json!("hausregeln"),
        json!([]),
        json!({"preset": 4}),
        json!({"preset": "dogspiel-it", "seats": "4"}),
        json!({"preset": "dogspiel-it", "seats": 4.5}),
        json!({"preset": "dogspiel-it", "seats": -4}),
        json!({"preset": "dogspiel-it", "seats": 1e300}),
        json!({"preset": "dogspiel-it", "jokers": -1}),
        json!({"preset": "dogspiel-it", "jokers": 256}),
        json!({"preset": "dogspiel-it", "dealer": "random"}),
        json!({"preset": "dogspiel-it", "exchange": true}),
        json!({"preset": "dogspiel-it", "start_block": "never"}),
        json!({"preset": "dogspiel-it", "goal_entry": "anywhere"}),
        json!({"preset": "dogspiel-it", "seven_landing": "free"}),
        json!({"preset": "dogspiel-it", "seven_surplus": "lapses"}),
        json!({"preset": "dogspiel-it", "seven_partner": "never"}),
        json!({"preset": "dogspiel-it", "jack_own_pair": "yes"}),
        json!({"preset": "dogspiel-it", "jack_without_effect": 1}),
        json!({"preset": "dogspiel-it", "deal_sizes": [6, 5]}),
        json!({"preset": "dogspiel-it", "deal_sizes": {"first": [6]}}),
        json!({"preset": "dogspiel-it", "deal_sizes": {"first": [6], "then": [300]}}),
        json!({"preset": "dogspiel-it", "deal_sizes": {"first": [6], "then": [2], "last": [1]}}),
        json!({"preset": "dogspiel-it", "colour": "red"}),
    ];
    for rules in cases {
        let response = create(&server, &json!({"rules": rules}));
        response.refused_one_of(&["invalid_rules", "invalid_request"]);
    }
}

#[test]
fn requests_of_the_wrong_shape_are_refused() {
    let server = TestServer::start();
    let human = json!({"kind": "human"});
    let cases = [
        json!([]),
        json!("game"),
        json!(7),
        json!({"seed": 1}),
        json!({"rules": {}, "colour": "red"}),
        json!({"seats": 4}),
        json!({"seats": []}),
        json!({"seats": [human, human, human]}),
        json!({"seats": [human, human, human, human, human]}),
        json!({"rules": {"preset": "dogspiel-it", "seats": 6}, "seats": [human, human, human, human]}),
        json!({"seats": [human, human, human, {"kind": "robot"}]}),
        json!({"seats": [human, human, human, {"kind": "human", "colour": "red"}]}),
        json!({"seats": [human, human, human, {"kind": "human", "name": 5}]}),
        json!({"seats": [human, human, human, {"kind": "human", "name": "x".repeat(2000)}]}),
        json!({"seats": [human, human, human, "human"]}),
        json!({"first_dealer": 4}),
        json!({"first_dealer": -1}),
        json!({"first_dealer": 256}),
        json!({"first_dealer": 0.5}),
        json!({"first_dealer": "0"}),
        json!({"shuffle_seed": 5}),
        json!({"shuffle_seed": vec![1; 32]}),
        json!({"listed": "yes"}),
        json!({"listed": 0}),
    ];
    for wishes in cases {
        create(&server, &wishes).refused("invalid_request");
    }
    assert_eq!(
        server.get("/v1/games").send().expect(200)["games"],
        json!([])
    );
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
        create(&server, &json!({"shuffle_seed": seed})).refused("invalid_seed");
    }
}

#[test]
fn names_are_shown_as_given() {
    let server = TestServer::shared();
    let names = ["Ada", "Søren Kierkegaard", "李白", "<b>&\"quoted\"</b>"];
    let seats: Vec<_> = names
        .iter()
        .map(|name| json!({"kind": "human", "name": name}))
        .collect();
    let created = create(&server, &json!({"seats": seats})).expect(201);
    let game = TestGame::of(&server, &created);
    for viewer in game.viewers() {
        let view = game.view(viewer);
        let shown = view["seats"].as_array().expect("seats");
        let shown: Vec<_> = shown.iter().map(|seat| seat["name"].clone()).collect();
        assert_eq!(shown, names);
    }
}

#[test]
fn the_first_dealer_can_be_named() {
    let server = TestServer::shared();
    for dealer in 0..4 {
        let created = create(&server, &json!({"first_dealer": dealer})).expect(201);
        assert_eq!(created["game"]["dealer"], dealer);
    }
}

#[test]
fn a_random_first_dealer_is_any_seat() {
    let server = TestServer::shared();
    let mut dealers = HashSet::new();
    for _ in 0..200 {
        let created = create(&server, &json!({"listed": false})).expect(201);
        dealers.insert(created["game"]["dealer"].to_string());
        if dealers.len() == 4 {
            return;
        }
    }
    panic!("200 games were dealt by {dealers:?} only");
}

#[test]
fn a_given_shuffle_seed_fixes_the_cards_and_is_shown() {
    let server = TestServer::shared();
    let (lower, upper) = ("ab".repeat(32), "AB".repeat(32));
    let deal = |seed: &str| {
        let created = create(&server, &json!({"shuffle_seed": seed})).expect(201);
        let commitment = hex(&Sha256::digest([0xab; 32]));
        assert_eq!(created["game"]["shuffle_commitment"], commitment);
        assert_eq!(created["game"]["shuffle_seed_given"], true);
        let game = TestGame::of(&server, &created);
        for viewer in game.viewers() {
            let view = game.view(viewer);
            assert_eq!(view["shuffle_seed_given"], true);
            assert_eq!(view["shuffle_seed"], Value::Null);
        }
        game.deal();
        let hand = |seat: usize| cards_of(&game.view(Seat(seat))["seats"][seat]["hand"]);
        (
            created["game"]["dealer"].clone(),
            (0..4).map(hand).collect::<Vec<_>>(),
        )
    };
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

#[test]
fn a_token_is_neither_needed_nor_refused() {
    let server = TestServer::shared();
    let other = TestGame::fixed(&server);
    let response = server.post("/v1/games").token(&other.host).send();
    response.expect(201);
}
