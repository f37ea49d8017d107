//! Many games, and many questions, in one request.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::{
    limits::{HERE, behind_a_proxy, from},
    support::{TestGame, TestServer, TestViewer::*, with},
};

const KEY: &str = "5f2b8c1d9e7a40364bd1c2e8f90a7b53";

fn games(answer: &Value) -> &Vec<Value> {
    answer["games"].as_array().expect("games")
}

#[test]
fn sixteen_games_are_made_at_once() {
    let server = TestServer::start();
    let open = json!({"kind": "open"});
    let bodies: Vec<Value> = (0..16)
        .map(|number| match number % 3 {
            0 => json!({"data": {"table": number}}),
            1 => json!({"seats": [open, open, {}, {"kind": "bot"}], "data": {"table": number}}),
            _ => json!({"rules": {"preset": "hausregeln", "seats": 6}, "data": {"table": number}}),
        })
        .collect();
    let body = json!({ "games": bodies });
    let create = || server.post("/v1/games/batch").key(KEY).json(&body).send();
    let answer = create();
    let created = answer.clone().expect(201);
    assert_eq!(games(&created).len(), 16);
    let mut secrets = HashSet::new();
    for (number, created) in games(&created).iter().enumerate() {
        assert!(created.get("game").is_none());
        let game = TestGame::from_created(&server, created);
        assert!(secrets.insert(game.host.clone()));
        for (seat, token) in game
            .tokens
            .iter()
            .enumerate()
            .filter(|(_, token)| *token != "none")
        {
            assert!(secrets.insert(token.clone()));
            assert_eq!(game.view(Seat(seat))["seats"][seat]["hand"], json!([]));
        }
        let view = game.view(Host);
        assert_eq!(view["data"]["table"], number);
        assert_eq!(view["shuffle_commitment"], created["shuffle_commitment"]);
        if number % 3 == 1 {
            let joined = json!({"invitation": created["invitations"][1]});
            let joined = server
                .post(&game.path("/join"))
                .json(&joined)
                .send()
                .expect(201);
            assert_eq!(joined["seat"], 1);
        } else {
            game.post(Host, "/deal").send().expect(200);
        }
    }
    // A retry gets the same, after a restart, too.
    create().assert_repeats(&answer);
    server.restart(crate::support::Signal::Kill);
    create().assert_repeats(&answer);
    let all = server.database().number("SELECT count(*) FROM games");
    assert_eq!(all, 16);
    let other = json!({"games": [{}]});
    let other = server.post("/v1/games/batch").key(KEY).json(&other).send();
    other.refused("idempotency_key_reused");
}

#[test]
fn all_games_or_none() {
    let server = TestServer::start();
    let create = |games: Value| {
        server
            .post("/v1/games/batch")
            .json(&json!({"games": games}))
            .send()
    };
    let first = |problem: Value| problem["errors"][0]["pointer"].clone();
    for (wrong, code, pointer) in [
        (
            json!({"seats": [{}, {}]}),
            "invalid_request",
            "/games/1/seats",
        ),
        (
            json!({"seats": [{"kind": "cat"}]}),
            "invalid_request",
            "/games/1/seats/0/kind",
        ),
        (
            json!({"rules": {"preset": "x"}}),
            "invalid_rules",
            "/games/1/rules/preset",
        ),
        (json!({"shuffle_seed": "x"}), "invalid_seed", "/games/1"),
        (json!({"data": 1}), "invalid_request", "/games/1/data"),
        (json!(1), "invalid_request", "/games/1"),
    ] {
        let problem = create(json!([{}, wrong, {}])).refused(code);
        assert_eq!(first(problem), pointer, "{wrong}");
    }
    create(json!([])).refused("invalid_request");
    create(json!(vec![json!({}); 17])).refused("invalid_request");
    create(json!({})).refused("invalid_request");
    server
        .post("/v1/games/batch")
        .send()
        .refused("invalid_request");
    let weak = server
        .post("/v1/games/batch")
        .key("order-17")
        .json(&json!({"games": [{}]}));
    weak.send().refused("weak_idempotency_key");
    let long = json!({"games": [{"seats": [{"name": "x".repeat(530_000)}]}]});
    server
        .post("/v1/games/batch")
        .json(&long)
        .send()
        .refused("body_too_large");
    assert_eq!(server.database().number("SELECT count(*) FROM games"), 0);
    // Longer than the body of one creation may be.
    let padded = format!("{{\"games\":[{{}}{},{{}}]}}", " ".repeat(400_000));
    let created = server
        .post("/v1/games/batch")
        .text("application/json", &padded)
        .send();
    assert_eq!(games(&created.expect(201)).len(), 2);
}

#[test]
fn a_batch_costs_its_games() {
    let server = behind_a_proxy(&[("DOG_GAMES_PER_ADDRESS", "20")]);
    let create = |number: usize| {
        let body = json!({"games": vec![json!({}); number]});
        from(server.post("/v1/games/batch").json(&body), HERE).send()
    };
    let created = create(16);
    let left = created.header("ratelimit").expect("a limit").to_owned();
    assert!(left.starts_with("\"games\";r=4;"), "{left}");
    created.expect(201);
    let refused = create(6);
    assert!(refused.header("ratelimit").is_some());
    refused.refused("too_many_requests");
    create(3).expect(201);
    assert_eq!(server.database().number("SELECT count(*) FROM games"), 19);
    let single = from(server.post("/v1/games").json(&json!({})), HERE).send();
    single.refused("too_many_requests");
}

/// A position that a level answers at once.
fn question(more: &Value) -> Value {
    let board = json!([{"track": [57]}, {}, {}, {}]);
    with(
        json!({"board": board, "seat": 0, "hand": ["7", "joker"], "level": "greedy"}),
        more,
    )
}

#[test]
fn sixteen_questions_are_answered_in_order() {
    let server = TestServer::start();
    let same = json!({"level": "fast", "samples": 20, "seed": 5});
    let questions = [
        question(&json!({})),
        question(&same),
        question(&json!({"hand": ["unicorn"]})),
        question(&json!({"seat": 9})),
        json!(1),
        question(&json!({"level": "fast", "budget_ms": 10})),
        question(&json!({"level": "strong"})),
        question(&json!({"level": "strong", "budget_ms": 101})),
        question(&json!({"level": "fast", "samples": 20})),
        question(&json!({"known": {"counts": [3, 2, 2, 2]}})),
    ];
    let ask = |query: &str, questions: &[Value]| {
        let path = format!("/v1/analysis/suggest-moves{query}");
        server
            .post(&path)
            .json(&json!({"questions": questions}))
            .send()
    };
    // Some are not as the document wants them, so it is not compared.
    let body = json!({ "questions": questions });
    let request = server.post("/v1/analysis/suggest-moves").json(&body);
    let answers: Value = request.run().body_mut().read_json().expect("JSON");
    let answers = &answers["answers"];
    let codes = [
        "",
        "",
        "unknown_card",
        "invalid_request",
        "invalid_request",
        "",
        "invalid_request",
        "invalid_request",
        "invalid_request",
        "invalid_knowledge",
    ];
    for (number, code) in codes.into_iter().enumerate() {
        let answer = &answers[number];
        if code.is_empty() {
            assert_eq!(answer["status"], 200, "{number}");
            assert!(answer.get("problem").is_none() && answer["advice"]["suggestions"].is_array());
        } else {
            assert!(answer.get("advice").is_none(), "{number}");
            assert_eq!(answer["problem"]["code"], code, "{number}");
            assert_eq!(answer["problem"]["status"], answer["status"], "{number}");
        }
    }
    // As if it had been asked alone.
    let alone = server
        .post("/v1/analysis/suggest-move")
        .json(&questions[1])
        .send()
        .expect(200);
    assert_eq!(answers[1]["advice"]["suggestions"], alone["suggestions"]);
    let short = ask("?limit=1&board=false", &questions[..1]).expect(200);
    let suggestions = short["answers"][0]["advice"]["suggestions"].clone();
    assert_eq!(suggestions.as_array().map(Vec::len), Some(1));
    assert!(suggestions[0]["move"].get("board").is_none());
    for wrong in [vec![], vec![question(&json!({})); 17]] {
        ask("", &wrong).refused("invalid_request");
    }
    ask("?bottom=1", &questions[..1]).refused("invalid_request");
    ask("?limit=0", &questions[..1]).refused("invalid_request");
}

#[test]
fn what_is_not_reached_in_ten_seconds_is_unavailable() {
    let server = TestServer::start();
    // Each takes as long as a search may, five seconds.
    let hand = json!(["7", "joker", "J", "A", "4", "Q"]);
    let long = json!({"hand": hand, "level": "strong", "samples": 10_000, "seed": 1});
    let body = json!({"questions": vec![question(&long); 4]});
    let answers = server.post("/v1/analysis/suggest-moves").json(&body).send();
    let answers = answers.expect(200)["answers"].clone();
    assert_eq!(answers[0]["status"], 200);
    assert_eq!(answers[3]["status"], 503);
    assert_eq!(answers[3]["problem"]["code"], "unavailable");
}

#[test]
fn questions_cost_as_many_requests_for_advice() {
    let server = behind_a_proxy(&[("DOG_ADVICE_PER_ADDRESS", "2")]);
    let ask = |number: usize| {
        let body = json!({"questions": vec![question(&json!({})); number]});
        from(server.post("/v1/analysis/suggest-moves").json(&body), HERE).send()
    };
    let first = ask(16);
    let left = first.header("ratelimit").expect("a limit").to_owned();
    assert!(left.starts_with("\"advice\";r=4;"), "{left}");
    first.expect(200);
    ask(16).refused("too_many_requests");
    ask(2).expect(200);
}
