//! `GET /v1/games/{id}/suggest-move`

use serde_json::{Value, json};

use crate::support::{Dice, Game, Server, UNKNOWN_TOKEN, Viewer::*};

fn advice(game: &Game, seat: usize, query: &str) -> Value {
    let path = format!("/suggest-move{query}");
    game.get(Seat(seat), &path).send().expect(200)
}

/// Advice without what differs from one time to another.
fn timeless(mut advice: Value) -> Value {
    advice["elapsed_ms"].take();
    advice
}

/// Suggestions are there, each is one thing to do, and the best come first.
fn check_suggestions(advice: &Value, what: &str) {
    let suggestions = advice["suggestions"].as_array().expect("suggestions");
    assert!(!suggestions.is_empty());
    let mut last = 1.0;
    for suggestion in suggestions {
        for name in ["move", "swap"] {
            assert_eq!(suggestion.get(name).is_some(), name == what, "{suggestion}");
        }
        let probability = suggestion["win_probability"].as_f64().expect("a number");
        assert!((0.0..=last).contains(&probability), "{advice}");
        last = probability;
    }
}

#[test]
fn moves_are_ranked_and_ready_to_be_posted() {
    let server = Server::start();
    for level in ["greedy", "random"] {
        let game = Game::in_play(&server);
        for _ in 0..60 {
            let view = game.view(Spectator);
            let Some(turn) = view["turn"].as_u64() else {
                game.step(&mut Dice::new(1));
                continue;
            };
            let turn = turn as usize;
            let advice = advice(&game, turn, &format!("?level={level}&seed=7"));
            assert_eq!(
                (&advice["seat"], &advice["level"]),
                (&json!(turn), &json!(level))
            );
            if level == "greedy" {
                check_suggestions(&advice, "move");
            }
            let moves = game.legal_moves(turn);
            let ids: Vec<&Value> = moves
                .as_array()
                .expect("moves")
                .iter()
                .map(|mv| &mv["id"])
                .collect();
            for suggestion in advice["suggestions"].as_array().expect("suggestions") {
                let id = &suggestion["move"]["id"];
                assert!(ids.contains(&id), "{id} is not listed");
                let request =
                    json!({"method": "POST", "path": game.path("/play"), "body": {"move": id}});
                assert_eq!(suggestion["request"], request);
            }
            let best = &advice["suggestions"][0];
            let played = game.as_suggested(turn, &best["request"]).expect(200);
            assert_eq!(played["game"]["board"], best["move"]["board"]);
        }
    }
}

#[test]
fn in_the_exchange_cards_to_give_are_ranked() {
    let server = Server::start();
    for preset in ["dogspiel-it", "hausregeln"] {
        let game = Game::of_preset(&server, preset);
        game.deal();
        for seat in [2, 0, 1, 3] {
            let view = game.view(Seat(seat));
            if view["actions"][0]["route"] != "swap" {
                continue;
            }
            let advice = advice(&game, seat, "?level=greedy&seed=1");
            check_suggestions(&advice, "swap");
            let hand = game.hand(seat);
            for suggestion in advice["suggestions"].as_array().expect("suggestions") {
                let swap = &suggestion["swap"];
                let request = json!({"method": "POST", "path": game.path("/swap"), "body": swap});
                assert_eq!(suggestion["request"], request);
                match swap["card"].as_str() {
                    Some(card) => assert!(hand.iter().any(|held| held == card), "{swap}"),
                    None => assert_eq!(preset, "hausregeln", "{swap}"),
                }
            }
            let best = &advice["suggestions"][0]["request"];
            let swapped = game.as_suggested(seat, best).expect(200);
            // One who asked must still answer, and is not told to ask again.
            if swapped["events"][0]["type"] == "help_asked" {
                let again = self::advice(&game, seat, "?level=greedy&seed=1");
                let best = &again["suggestions"][0]["request"];
                game.as_suggested(seat, best).expect(200);
            }
        }
        assert_eq!(game.view(Spectator)["phase"], "play");
    }
}

#[test]
fn every_card_to_give_can_be_given() {
    let server = Server::start();
    let game = Game::dealt(&server);
    let advice = advice(&game, 3, "");
    for suggestion in advice["suggestions"].as_array().expect("suggestions") {
        let other = Game::dealt(&server);
        let body = &suggestion["request"]["body"];
        other.post(Seat(3), "/swap").json(body).send().expect(200);
    }
}

#[test]
fn advice_changes_nothing() {
    let server = Server::start();
    let game = Game::in_play(&server);
    let before = game.snapshot();
    for seed in 0..5 {
        advice(&game, 1, &format!("?level=random&seed={seed}"));
        advice(&game, 1, &format!("?level=greedy&seed={seed}"));
    }
    assert_eq!(game.snapshot(), before);
}

#[test]
fn the_same_seed_gives_the_same_advice() {
    let server = Server::start();
    let game = Game::in_play(&server);
    for level in ["greedy", "random"] {
        for seed in ["0", "1", "4294967296", "9007199254740991"] {
            let query = format!("?level={level}&seed={seed}&samples=10");
            let first = timeless(advice(&game, 1, &query));
            assert_eq!(first["seed"].to_string(), seed);
            assert_eq!(timeless(advice(&game, 1, &query)), first);
        }
        // Without a seed it says which one was drawn.
        let drawn = timeless(advice(&game, 1, &format!("?level={level}")));
        let query = format!("?level={level}&seed={}", drawn["seed"]);
        assert_eq!(timeless(advice(&game, 1, &query)), drawn);
    }
}

#[test]
fn levels_and_limits_may_be_left_out() {
    let server = Server::start();
    let game = Game::in_play(&server);
    for query in [
        "",
        "?level=random",
        "?budget_ms=1",
        "?budget_ms=2000&level=greedy",
        "?samples=1",
    ] {
        let advice = advice(&game, 1, query);
        assert!(
            advice["elapsed_ms"]
                .as_f64()
                .is_some_and(|time| time >= 0.0),
            "{advice}"
        );
    }
}

#[test]
fn queries_that_make_no_sense_are_refused() {
    let server = Server::start();
    let game = Game::in_play(&server);
    let queries = [
        "level=genius",
        "level=",
        "level=Greedy",
        "budget_ms=0",
        "budget_ms=-1",
        "budget_ms=2001",
        "budget_ms=x",
        "budget_ms=1e3",
        "budget_ms=99999999999999999999",
        "samples=0",
        "samples=-1",
        "samples=100001",
        "seed=x",
        "seed=-1",
        "seed=1.5",
        "seed=99999999999999999999999",
        "colour=red",
        "level=greedy&level=random",
    ];
    for query in queries {
        let path = format!("/suggest-move?{query}");
        game.get(Seat(1), &path).send().refused("invalid_request");
    }
}

#[test]
fn only_a_seat_that_may_act_is_advised() {
    let server = Server::start();
    let (game, other) = (Game::fixed(&server), Game::in_play(&server));
    let ask = |viewer| game.get(viewer, "/suggest-move").send();
    for seat in 0..4 {
        ask(Seat(seat)).refused("wrong_phase");
    }
    game.deal();
    ask(Seat(0)).expect(200);
    game.swap(0, &json!({"card": game.hand(0)[0]}));
    ask(Seat(0)).refused("not_your_turn");
    ask(Host).refused("forbidden");
    ask(Spectator).refused("unauthorized");
    for seat in 1..4 {
        game.swap(seat, &json!({"card": game.hand(seat)[0]}));
    }
    ask(Seat(1)).expect(200);
    for seat in [0, 2, 3] {
        ask(Seat(seat)).refused("not_your_turn");
    }
    ask(Host).refused("forbidden");
    for token in [UNKNOWN_TOKEN, &other.tokens[1]] {
        let answer = server.get(&game.path("/suggest-move")).token(token).send();
        answer.refused("unauthorized");
    }
}
