//! Whole games of random legal moves, with the counts checked at every version.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Dice, TestGame, TestServer, TestViewer::*, seed};

/// Versions after which a game is abandoned.
const ENDLESS: u64 = 30_000;

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// Checks that no card or piece is lost, and that the seat to move holds cards.
fn check_books(view: &Value) {
    let seats = view["seats"].as_array().expect("seats");
    let held: u64 = seats.iter().map(|seat| number(&seat["cards"])).sum();
    let discards = view["discards"].as_object().expect("cards");
    let discarded: u64 = discards.values().map(number).sum();
    let all = held + discarded + number(&view["stock"]);
    assert_eq!(all, 104 + number(&view["rules"]["jokers"]), "{view}");
    for entry in view["board"].as_array().expect("a board") {
        let on = |name: &str| entry[name].as_array().expect("fields").len() as u64;
        let all = on("track") + on("goal") + number(&entry["kennel"]);
        assert_eq!(all, 4, "{view}");
    }
    match view["turn"].as_u64() {
        Some(turn) => assert_ne!(seats[turn as usize]["cards"], 0, "{view}"),
        None => assert_ne!(view["phase"], "play", "{view}"),
    }
}

/// Every seat gives any answer that it may, until play begins.
fn exchange(game: &TestGame, dice: &mut Dice) -> Value {
    loop {
        for seat in 0..game.seats() {
            if game.exchange_choices(seat).is_empty() {
                continue;
            }
            let body = game.any_answer(seat, dice);
            let view = game.swap(seat, &body)["game"].take();
            if view["phase"] != "exchange" {
                return view;
            }
        }
    }
}

/// Plays a game to the end.
fn play_out(rules: Value, byte: u8) {
    let server = TestServer::start();
    let body = json!({"rules": rules, "shuffle_seed": seed(byte), "first_dealer": 0});
    let game = TestGame::create(&server, &body);
    let mut dice = Dice::new(byte.into());
    let mut view = game.view(Spectator);
    let mut version = number(&view["version"]);
    while view["phase"] != "finished" {
        view = match view["phase"].as_str().expect("a phase") {
            "deal" => {
                let dealer = number(&view["dealer"]) as usize;
                let response = game.post(Seat(dealer), "/deal").send();
                response.expect(200)["game"].take()
            }
            "exchange" => exchange(&game, &mut dice),
            _ => {
                let seat = number(&view["turn"]) as usize;
                let moves = game.legal_moves(seat);
                let id = dice.pick(&moves)["id"].as_str().expect("an id");
                game.play(seat, id)["game"].take()
            }
        };
        check_books(&view);
        let now = number(&view["version"]);
        assert!(now > version && now < ENDLESS, "{now} after {version}");
        version = now;
    }
    check_end(&game, &view, byte);
}

fn check_end(game: &TestGame, view: &Value, byte: u8) {
    let (seats, winner) = (game.seats(), number(&view["winner"]) as usize);
    for seat in [winner, winner + seats / 2] {
        let home = json!({"track": [], "goal": [0, 1, 2, 3], "kennel": 0, "fresh": false});
        assert_eq!(view["board"][seat], home);
        assert_eq!(view["seats"][seat]["team"], winner);
    }
    let commitment = hex::encode(Sha256::digest([byte; 32]));
    for viewer in game.viewers() {
        let view = game.view(viewer);
        assert_eq!(view["phase"], "finished");
        assert_eq!(view["shuffle_seed"], seed(byte));
        assert_eq!(view["shuffle_commitment"], commitment);
        assert_eq!(view["turn"], Value::Null);
        assert_eq!(view["actions"], json!([]));
    }
    let list = game.server.get("/v1/games?phase=finished").send();
    assert_eq!(list.expect(200)["games"][0]["winner"], winner);
}

macro_rules! whole_games {
    ($($(#[$ignore:meta])? $name:ident: $seed:literal, $rules:tt;)*) => {
        $(
            #[test]
            $(#[$ignore])?
            fn $name() {
                play_out(json!($rules), $seed);
            }
        )*
    };
}

whole_games! {
    familienlager: 1, {"preset": "familienlager"};
    #[ignore = "some games like it are played"]
    dogspiel_de: 2, {"preset": "dogspiel-de"};
    #[ignore = "some games like it are played"]
    dogspiel_it: 3, {"preset": "dogspiel-it"};
    #[ignore = "some games like it are played"]
    spielanleitung: 4, {"preset": "spielanleitung"};
    hausregeln: 5, {"preset": "hausregeln"};
    six_seats: 6, {"preset": "dogspiel-it", "seats": 6};
    #[ignore = "some games like it are played"]
    six_seats_with_every_variant: 7, {
        "preset": "hausregeln", "seats": 6, "seven_partner": "always", "goal_entry": "on_start",
        "backward_into_goal": false, "jack_own_pair": true, "start_block": "always"
    };
}
