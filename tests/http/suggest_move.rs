//! `GET /v1/games/{id}/suggest-move`

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Dice, LEVELS, TestGame, TestResponse, TestServer, TestViewer::*};

fn advice(game: &TestGame, seat: usize, query: &str) -> Value {
    let path = format!("/suggest-move{query}");
    game.get(Seat(seat), &path).send().expect(200)
}

/// The raw advice without its duration.
fn timeless(game: &TestGame, seat: usize, query: &str) -> String {
    let path = format!("/suggest-move{query}");
    let response = game.get(Seat(seat), &path).send();
    assert_eq!(response.status, 200, "{}", response.text());
    let text = response.text();
    let (advice, _) = text.split_once(",\"elapsed_ms\":").expect("the last field");
    advice.to_owned()
}

/// Checks that there are suggestions, each with one action and its confidence, the best
/// first.
fn check_suggestions(advice: &Value, what: &str) {
    let suggestions = advice["suggestions"].as_array().expect("suggestions");
    assert!(!suggestions.is_empty());
    let thinks = !advice["budget"].is_null();
    let number = |value: &Value| value.as_f64().expect("a number");
    let best = number(&suggestions[0]["win_probability"]);
    let mut last = best;
    let (mut counted, mut samples) = (BTreeSet::new(), 0);
    for suggestion in suggestions {
        for (name, of) in [("move", "move"), ("effect", "move"), ("swap", "swap")] {
            assert_eq!(suggestion.get(name).is_some(), of == what, "{suggestion}");
        }
        let probability = number(&suggestion["win_probability"]);
        assert!((0.0..=1.0).contains(&probability), "{advice}");
        let own = suggestion["samples"].as_u64().expect("a number");
        assert!(probability <= last, "{advice}");
        last = probability;
        let difference = number(&suggestion["difference"]);
        let expected = best - probability;
        assert!((difference - expected).abs() < 1e-9, "{advice}");
        let of_difference = suggestion["standard_error_of_difference"].as_f64();
        assert!(of_difference.is_none() || own > 1, "{suggestion}");
        let same = |name: &str| suggestion["move"][name] == suggestions[0]["move"][name];
        let is_same = what == "move" && same("card") && same("board");
        let is_won = probability == 1.0 && suggestion["standard_error"] == 0.0;
        let is_near = |error: f64| difference < 0.01_f64.max(2.0 * error);
        let equal = is_same || is_won || of_difference.is_some_and(is_near);
        let equal = equal && *suggestion != suggestions[0];
        assert_eq!(suggestion["equal"], equal, "{suggestion}");
        assert!(own == 0 || thinks, "{suggestion}");
        let error = &suggestion["standard_error"];
        let is_proved = error == 0.0 && [0.0, 1.0].contains(&probability);
        let are_played_out = own > 1 && suggestions[0]["samples"].as_u64() > Some(1);
        assert_eq!(
            error.is_number(),
            are_played_out || is_proved,
            "{suggestion}"
        );
        let risk = &suggestion["effect"]["risk"];
        assert_eq!(risk.is_number(), own > 0 && what == "move", "{suggestion}");
        check_reasons(suggestion, what);
        check_claims(suggestion, suggestions);
        // Moves with the same card and the same board are one suggestion.
        let (mv, swap) = (&suggestion["move"], &suggestion["swap"]);
        if counted.insert(format!("{} {} {swap}", mv["card"], mv["board"])) {
            samples += own;
        }
    }
    assert_eq!(advice["samples"], samples, "{advice}");
    for player in advice["players"].as_array().expect("players") {
        let policies = player["policies"].as_array().expect("policies");
        let permille = policies.iter().map(|policy| policy["permille"].as_u64());
        assert_eq!(permille.sum::<Option<u64>>(), Some(1_000), "{player}");
    }
}

/// What the reasons claim of other moves of a card agrees with the numbers of these.
fn check_claims(suggestion: &Value, all: &[Value]) {
    let board = &suggestion["move"]["board"];
    for reason in suggestion["reasons"].as_array().expect("reasons") {
        let claims = match reason["code"].as_str() {
            Some("keeps_card") => true,
            Some("only_use") => false,
            _ => continue,
        };
        for other in all {
            let is_of_card = other["move"]["card"] == reason["card"];
            if is_of_card && (claims || other["move"]["board"] != *board) {
                let may_be_equal = claims && *other != all[0];
                let is_worse = other["equal"] == false && *other != all[0];
                assert!(may_be_equal || is_worse, "{suggestion} {other}");
                let [own, chance] = [suggestion, other].map(|one| one["win_probability"].as_f64());
                assert!(chance <= own, "{suggestion} {other}");
            }
        }
    }
}

/// Every reason agrees with what the suggestion says of its effect, and the line is one of plays.
fn check_reasons(suggestion: &Value, what: &str) {
    let reasons = suggestion["reasons"].as_array().expect("reasons");
    assert!((1..=4).contains(&reasons.len()), "{suggestion}");
    let effect = &suggestion["effect"];
    for reason in reasons {
        let text = reason["text"].as_str().expect("a text");
        assert!(text.ends_with('.'), "{text}");
        let holds = match reason["code"].as_str().expect("a code") {
            "no_better" | "only_move" => reasons.len() == 1,
            "wins" => suggestion["win_probability"] == 1.0,
            "wins_next" => reason["probability"].as_f64() >= Some(0.8) && what == "move",
            "leaves_kennel" => effect["leaves_kennel"] == true,
            "brings_home" => effect["pieces_home"].as_u64() > Some(0),
            "captures" => effect["captured"]["others"].as_u64() > Some(0),
            "captures_partner" => effect["captured"]["partner"].as_u64() > Some(0),
            "captures_own" => effect["captured"]["own"].as_u64() > Some(0),
            "exposes" => {
                effect["risk"].as_f64() >= Some(0.15) && reason["probability"] == effect["risk"]
            }
            "keeps_card" => {
                reason["card"].is_string() && reason["card"] != suggestion["move"]["card"]
            }
            "gives_exit" | "gives_fitting_card" => {
                what == "swap" && reason["card"] == suggestion["swap"]["card"]
            }
            _ => what == "move",
        };
        assert!(holds, "{reason}: {suggestion}");
        let against = [
            "exposes",
            "captures_partner",
            "captures_own",
            "unblocks",
            "harms_partner",
        ];
        let is_against = against.iter().any(|code| reason["code"] == *code);
        let expected = is_against.then(|| json!(true));
        assert_eq!(reason.get("against"), expected.as_ref(), "{reason}");
    }
    let line = suggestion["line"].as_array().expect("a line");
    assert!(line.is_empty() || what == "move" && suggestion["samples"].as_u64() > Some(0));
    let mut seats = line.iter().map(|play| play["seat"].as_u64());
    assert!(line.len() <= 3 && seats.all(|seat| seat.is_some()));
}

#[test]
fn moves_are_ranked_and_ready_to_be_posted() {
    let server = TestServer::shared();
    for (level, turns) in LEVELS.into_iter().zip([60, 60, 20, 20]) {
        let game = TestGame::in_play(&server);
        for _ in 0..turns {
            let view = game.view(Spectator);
            let Some(turn) = view["turn"].as_u64() else {
                game.step(&mut Dice::new(1));
                continue;
            };
            let turn = turn as usize;
            let query = format!("?level={level}&samples=6&seed=7");
            let advice = advice(&game, turn, &query);
            assert_eq!(
                json!([advice["seat"], advice["level"]]),
                json!([turn, level])
            );
            check_suggestions(&advice, "move");
            let mut ranked = Vec::new();
            for suggestion in advice["suggestions"].as_array().expect("suggestions") {
                let (id, path) = (&suggestion["move"]["id"], game.path("/play"));
                let request = json!({"method": "POST", "path": path, "body": {"move": id}});
                assert_eq!(suggestion["request"], request);
                ranked.push(id.to_string());
            }
            // Every legal move exactly once.
            let moves = game.legal_moves(turn);
            let moves = moves.as_array().expect("moves").iter();
            let mut expected: Vec<String> = moves.map(|mv| mv["id"].to_string()).collect();
            ranked.sort();
            expected.sort();
            assert_eq!(ranked, expected);
            let best = &advice["suggestions"][0];
            let played = game.as_suggested(turn, &best["request"]).expect(200);
            assert_eq!(played["game"]["board"], best["move"]["board"]);
        }
    }
}

#[test]
fn in_the_exchange_every_answer_is_ranked() {
    let server = TestServer::shared();
    let exchanges = ["mandatory", "optional", "on_request"];
    let tables = exchanges.map(|exchange| LEVELS.map(|level| (exchange, level)));
    for (exchange, level) in tables.into_iter().flatten() {
        let query = format!("?level={level}&samples=6&seed=1");
        let rules = json!({"preset": "hausregeln", "exchange": exchange});
        let game = TestGame::create(&server, &json!({"rules": rules, "first_dealer": 0}));
        game.deal();
        while game.view(Spectator)["phase"] == "exchange" {
            for seat in [2, 0, 1, 3] {
                let choices = game.exchange_choices(seat);
                if choices.is_empty() {
                    continue;
                }
                let advice = advice(&game, seat, &query);
                check_suggestions(&advice, "swap");
                let mut ranked = BTreeSet::new();
                for suggestion in advice["suggestions"].as_array().expect("suggestions") {
                    let swap = &suggestion["swap"];
                    let path = game.path("/swap");
                    let request = json!({"method": "POST", "path": path, "body": swap});
                    assert_eq!(suggestion["request"], request);
                    assert!(ranked.insert(swap.to_string()), "{swap} comes twice");
                }
                let answers = choices.iter().flat_map(|choice| match choice.as_str() {
                    "card" => game
                        .hand(seat)
                        .iter()
                        .map(|card| json!({"card": card}))
                        .collect(),
                    choice => vec![json!({choice: true})],
                });
                let expected: BTreeSet<_> = answers.map(|answer| answer.to_string()).collect();
                assert_eq!(ranked, expected);
                let best = &advice["suggestions"][0]["request"];
                game.as_suggested(seat, best).expect(200);
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_advice() {
    let server = TestServer::shared();
    for game in [TestGame::dealt(&server), TestGame::in_play(&server)] {
        let before = game.snapshot();
        for level in LEVELS {
            for seed in ["0", "1", "4294967296", "9007199254740991"] {
                let query = format!("?level={level}&seed={seed}&samples=40");
                let first = timeless(&game, 1, &query);
                assert!(first.contains(&format!("\"seed\":{seed},")), "{first}");
                assert_eq!(timeless(&game, 1, &query), first);
            }
            // Without a seed the response names the drawn one, which fits in a double.
            let drawn = timeless(&game, 1, &format!("?level={level}&samples=10"));
            let (_, rest) = drawn.split_once("\"seed\":").expect("a seed");
            let seed = rest.split(',').next().unwrap_or_default();
            let number: u64 = seed.parse().expect("a number");
            assert!(number < 1 << 53, "{number}");
            let query = format!("?level={level}&samples=10&seed={seed}");
            assert_eq!(timeless(&game, 1, &query), drawn);
        }
        assert_eq!(game.snapshot(), before, "advice changes nothing");
    }
}

#[test]
fn the_response_shows_the_time_budget() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let thinks_for = |query: &str, level: &str, budget: Value| {
        let advice = advice(&game, 1, query);
        check_suggestions(&advice, "move");
        assert_eq!(advice["level"], level);
        assert_eq!(advice["budget"], budget);
        advice["samples"].as_u64().expect("a number")
    };
    thinks_for("", "strong", json!({"budget_ms": 200}));
    thinks_for("?budget_ms=1", "strong", json!({"budget_ms": 1}));
    thinks_for("?level=fast&budget_ms=20", "fast", json!({"budget_ms": 20}));
    for samples in [1, 7, 40] {
        let query = format!("?level=fast&samples={samples}");
        let played = thinks_for(&query, "fast", json!({"samples": samples}));
        assert_eq!(played, samples);
    }
    for level in ["random", "greedy"] {
        for query in ["", "&samples=7", "&budget_ms=7"] {
            let query = format!("?level={level}{query}");
            assert_eq!(thinks_for(&query, level, Value::Null), 0);
        }
    }
    let own = advice(&game, 1, "?level=fast");
    let time = own["budget"]["budget_ms"].as_u64().expect("a time");
    assert!(time <= 5, "{own}");
    assert!(own["elapsed_ms"].as_f64() >= Some(0.0), "{own}");
}

/// Queries that are wrong, whatever the level.
const WRONG_QUERIES: &str = "level=genius level= level=Greedy budget_ms=-1 budget_ms=x \
    budget_ms=1e3 budget_ms=99999999999999999999 samples=-1 seed=x seed=-1 seed=1.5 \
    seed=99999999999999999999999 seed=9007199254740992 colour=red level=greedy&level=random";

#[test]
fn invalid_queries_are_refused() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let refused = |query: &str| {
        let path = format!("/suggest-move?{query}");
        game.get(Seat(1), &path).send().refused("invalid_request")
    };
    for query in WRONG_QUERIES.split(' ') {
        refused(query);
    }
    // The largest seed that is read exactly where numbers are doubles.
    let largest = advice(&game, 1, "?level=greedy&seed=9007199254740991");
    assert_eq!(largest["seed"], (1_u64 << 53) - 1);
    for level in LEVELS {
        for (query, why) in [
            ("budget_ms=0", "must be a whole number from 1 to 2000"),
            ("budget_ms=2001", "is too large: it must be a whole"),
            ("samples=0", "must be a whole number from 1 to 10000"),
            ("samples=10001", "from 1 to 10000"),
            ("budget_ms=5&samples=5", "budget_ms or samples, not both"),
        ] {
            let problem = refused(&format!("level={level}&{query}"));
            let detail = problem["detail"].as_str().unwrap_or_default();
            assert!(detail.contains(why), "{detail}");
        }
    }
}

#[test]
fn a_seat_that_has_answered_in_the_exchange_gets_no_advice() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    game.offer(0);
    let asked = game.get(Seat(0), "/suggest-move").send();
    asked.refused("not_your_turn");
}

/// What is in the log of earlier rounds tells how the others play.
#[test]
fn it_depends_on_how_the_others_have_played() {
    let server = TestServer::start();
    let game = TestGame::fixed(&server);
    let mut dice = Dice::new(1);
    let mut view = game.view(Spectator);
    while view["round"].as_u64() < Some(9) || view["phase"] != "play" {
        assert_ne!(view["phase"], "finished");
        game.step(&mut dice);
        view = game.view(Spectator);
    }
    let seat = game.turn();
    let advice = |server: &TestServer, query: &str| {
        let path = game.path(&format!("/suggest-move?seed=1&level={query}"));
        let token = game.token(Seat(seat)).expect("a token");
        let response = server.get(&path).token(token).send().expect(200);
        response["suggestions"].to_string()
    };
    let copy = TestServer::on_copy(&server, |_| {});
    let without_past = TestServer::on_copy(&server, |database| {
        database.sql("DELETE FROM log");
    });
    for (query, uses_past) in [("greedy", false), ("fast&samples=40", true)] {
        let known = advice(&server, query);
        assert_eq!(advice(&copy, query), known);
        assert_eq!(advice(&without_past, query) != known, uses_past, "{query}");
    }
}

/// A list may be cut, and its moves may lack their boards; what is left is the same.
#[test]
fn lists_of_suggestions_can_be_short() {
    let server = TestServer::shared();
    let (game, mut dice) = (TestGame::in_play(&server), Dice::new(2));
    let few = |moves: Value| moves.as_array().map_or(0, Vec::len) < 5;
    while game.view(Spectator)["phase"] != "play" || few(game.legal_moves(game.turn())) {
        game.step(&mut dice);
    }
    let (seat, same) = (game.turn(), "level=fast&samples=60&seed=4");
    let view = game.view(Spectator);
    let position = json!({
        "rules": view["rules"], "position": view["position"], "seat": seat,
        "hand": game.hand(seat), "level": "fast", "samples": 60, "seed": 4,
    });
    let in_game = |query: &str| {
        let path = format!("/suggest-move?{same}{query}");
        game.get(Seat(seat), &path).send()
    };
    let in_analysis = |query: &str| {
        let query = query.trim_start_matches('&');
        let path = format!("/v1/analysis/suggest-move?{query}");
        server.post(&path).json(&position).send()
    };
    let asks: [&dyn Fn(&str) -> TestResponse; 2] = [&in_game, &in_analysis];
    for ask in asks {
        let whole = ask("").expect(200);
        let all = whole["suggestions"].as_array().expect("suggestions");
        assert!(all.len() > 3);
        let short = ask("&limit=3").expect(200);
        assert_eq!(short["suggestions"], json!(all[..3]));
        assert_eq!(short["samples"], whole["samples"]);
        let bare = ask("&board=false").expect(200);
        let mut expected = all.clone();
        for suggestion in &mut expected {
            let mv = suggestion["move"].as_object_mut().expect("a move");
            mv.remove("board").expect("a board");
        }
        assert_eq!(bare["suggestions"], json!(expected));
        let long = ask("&board=true&limit=100").expect(200);
        assert_eq!(long["suggestions"], json!(all));
        for wrong in ["&limit=0", "&limit=101", "&limit=x", "&board=1"] {
            ask(wrong).refused("invalid_request");
        }
    }
    let picture = server
        .post("/v1/analysis/suggest-move?limit=2")
        .header("Accept", "image/svg+xml")
        .json(&position);
    let refused = picture.send().refused("invalid_request");
    assert_eq!(refused["reason"], "wrong_combination");
}
