//! `POST /v1/analysis/legal-moves` and `POST /v1/analysis/suggest-move`

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::{Dice, LEVELS, PRESETS, TestGame, TestResponse, TestServer, TestViewer::*};

const ROUTES: [&str; 2] = ["/v1/analysis/legal-moves", "/v1/analysis/suggest-move"];

/// A position in which seat 0 is to move.
fn position(preset: &str, board: Value, hand: Value) -> Value {
    json!({"rules": {"preset": preset}, "board": board, "seat": 0, "hand": hand})
}

fn legal_moves(server: &TestServer, position: &Value) -> Value {
    let response = server.post(ROUTES[0]).json(position).send();
    response.expect(200)["moves"].take()
}

fn ids(moves: &Value) -> BTreeSet<String> {
    let moves = moves.as_array().expect("moves");
    let id = |mv: &Value| mv["id"].as_str().expect("an id").to_owned();
    moves.iter().map(id).collect()
}

/// Asserts that exactly these moves are legal.
#[track_caller]
fn assert_moves(server: &TestServer, position: &Value, expected: &[&str]) -> Value {
    let moves = legal_moves(server, position);
    let expected: BTreeSet<String> = expected.iter().map(|&id| id.to_owned()).collect();
    assert_eq!(ids(&moves), expected, "{position}");
    moves
}

/// RULES §10, cases 1 to 6.
#[test]
fn the_sheets_cases_of_going_home() {
    let server = TestServer::shared();
    let check = |preset: &str, own: Value, card: &str, expected: &[&str]| {
        let position = position(preset, json!([own, {}, {}, {}]), json!([card]));
        assert_moves(&server, &position, expected);
    };
    let at = |field: u8| json!({"track": [field]});
    let fresh = || json!({"track": [0], "fresh": true});
    check("hausregeln", fresh(), "4", &["4:0>56", "4:0>4"]);
    check("hausregeln", at(56), "4", &["4:56>g0", "4:56>0", "4:56>52"]);
    check("hausregeln", at(56), "5", &["5:56>g1", "5:56>1"]);
    check("hausregeln", at(56), "6", &["6:56>g2", "6:56>2"]);
    check("hausregeln", at(56), "7", &["7:56>g3", "7:56>3"]);
    check("hausregeln", at(2), "4", &["4:2>g0", "4:2>58", "4:2>6"]);
    check("hausregeln", at(0), "4", &["4:0>56", "4:0>4"]);
    for preset in ["dogspiel-de", "dogspiel-it"] {
        check(preset, at(2), "4", &["4:2>62", "4:2>6"]);
        check(preset, at(62), "5", &["5:62>g2", "5:62>3"]);
        check(preset, fresh(), "A", &["A:0>1", "A:0>11"]);
        check(preset, at(0), "A", &["A:0>g0", "A:0>1", "A:0>11", "A:out"]);
    }
}

/// RULES §10, case 7.
#[test]
fn the_sheets_case_of_a_start_that_is_always_a_block() {
    let server = TestServer::shared();
    let landing = |preset: &str| {
        let board = json!([{"track": [0]}, {"track": [62]}, {}, {}]);
        json!({"rules": {"preset": preset}, "board": board, "seat": 1, "hand": ["2"]})
    };
    assert_moves(&server, &landing("familienlager"), &["fold"]);
    let moves = assert_moves(&server, &landing("dogspiel-de"), &["2:62>0"]);
    assert_eq!(moves[0]["captures"], json!([{"seat": 0, "from": "0"}]));
}

/// RULES §10, cases 8 to 12.
#[test]
fn the_sheets_cases_of_sevens() {
    let server = TestServer::shared();
    let last_piece = json!({"track": [60], "goal": [1, 2, 3]});
    let with_partner = json!([last_piece, {}, {"track": [20]}, {}]);
    let both = position("dogspiel-it", with_partner, json!(["7"]));
    let moves = assert_moves(&server, &both, &["7:60>3", "7:60>g0,20>22"]);
    let moves = moves.as_array().expect("moves").iter();
    let home = moves
        .into_iter()
        .find(|mv| mv["id"] != "7:60>3")
        .expect("the other");
    let parts = json!([
        {
            "seat": 0, "from": "60", "to": "goal:0", "steps": 5,
            "path": ["61", "62", "63", "0", "goal:0"],
        },
        {"seat": 2, "from": "20", "to": "22", "steps": 2, "path": ["21", "22"]},
    ]);
    assert_eq!(home["parts"], parts);
    let alone = position("dogspiel-it", json!([last_piece, {}, {}, {}]), json!(["7"]));
    assert_moves(&server, &alone, &["7:60>3"]);

    let eighth = json!([{"track": [57], "goal": [1, 2, 3]}, {}, {"goal": [0, 1, 2, 3]}, {}]);
    let winning = position("hausregeln", eighth, json!(["7"]));
    let moves = assert_moves(&server, &winning, &["7:57>g0", "7:57>4"]);
    let moves = moves.as_array().expect("moves").iter();
    let win = moves
        .into_iter()
        .find(|mv| mv["id"] == "7:57>g0")
        .expect("the win");
    assert_eq!(win["parts"][0]["steps"], 3);

    let in_the_way = json!([{"track": [5]}, {"track": [12]}, {"track": [8]}, {}]);
    for preset in PRESETS {
        let position = position(preset, in_the_way.clone(), json!(["7"]));
        if preset == "hausregeln" {
            assert_moves(&server, &position, &["fold"]);
        } else {
            let moves = assert_moves(&server, &position, &["7:5>12"]);
            let captures = moves[0]["captures"].as_array().expect("captures");
            assert_eq!(captures.len(), 2);
            for piece in [
                json!({"seat": 2, "from": "8"}),
                json!({"seat": 1, "from": "12"}),
            ] {
                assert!(captures.contains(&piece), "{piece}");
            }
        }
    }
}

/// RULES §10, cases 13 and 14.
#[test]
fn the_sheets_cases_of_a_block_at_the_door() {
    let server = TestServer::shared();
    let board = |before: u8| json!([{"track": [0, before], "fresh": true}, {}, {}, {}]);
    let house = position("hausregeln", board(59), json!(["A"]));
    assert_moves(&server, &house, &["A:59>g0", "A:0>1", "A:0>11"]);
    let german = position("dogspiel-de", board(63), json!(["A"]));
    assert_moves(&server, &german, &["A:0>1", "A:0>11"]);
}

/// The shape of a move in JSON.
#[test]
fn every_kind_of_move_shows_its_parts() {
    let server = TestServer::shared();
    let the_move = |preset: &str, board: Value, card: &str, id: &str| -> Value {
        let moves = legal_moves(&server, &position(preset, board, json!([card])));
        let mut moves = moves.as_array().expect("moves").iter();
        let found = moves.find(|mv| mv["id"] == id);
        found
            .unwrap_or_else(|| panic!("{id} is not listed"))
            .clone()
    };
    let check = |mv: Value, kind: &str, rank: Option<&str>, parts: Value| {
        assert_eq!(mv["kind"], kind, "{mv}");
        assert_eq!(mv["as"], json!(rank), "{mv}");
        assert_eq!(mv["parts"], parts, "{mv}");
    };
    let part = |seat: u8, from: &str, to: &str, path: &[&str]| {
        let steps = path.len();
        json!({"seat": seat, "from": from, "to": to, "steps": steps, "path": path})
    };
    let mv = the_move("dogspiel-it", json!([{}, {}, {}, {}]), "K", "K:out");
    check(
        mv,
        "leave_kennel",
        None,
        json!([part(0, "kennel", "0", &[])]),
    );
    let mv = the_move(
        "dogspiel-it",
        json!([{}, {}, {}, {}]),
        "joker",
        "joker=A:out",
    );
    assert_eq!(mv["card"], "joker");
    check(
        mv,
        "leave_kennel",
        Some("A"),
        json!([part(0, "kennel", "0", &[])]),
    );
    let mv = the_move(
        "dogspiel-it",
        json!([{"track": [17]}, {}, {}, {}]),
        "Q",
        "Q:17>29",
    );
    let path = [
        "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29",
    ];
    check(mv, "advance", None, json!([part(0, "17", "29", &path)]));
    let mv = the_move(
        "dogspiel-it",
        json!([{"track": [17]}, {}, {}, {}]),
        "4",
        "4:17>13",
    );
    check(
        mv,
        "retreat",
        None,
        json!([part(0, "17", "13", &["16", "15", "14", "13"])]),
    );
    let mv = the_move(
        "hausregeln",
        json!([{"track": [1]}, {}, {}, {}]),
        "4",
        "4:1>g1",
    );
    check(
        mv,
        "retreat",
        None,
        json!([part(0, "1", "goal:1", &["0", "59", "goal:0", "goal:1"])]),
    );
    let board = json!([{"track": [17]}, {"track": [33]}, {}, {}]);
    let mv = the_move("dogspiel-it", board, "J", "J:17<>33");
    assert_eq!(mv["captures"], json!([]));
    check(
        mv,
        "swap",
        None,
        json!([part(0, "17", "33", &[]), part(1, "33", "17", &[])]),
    );
    let mv = the_move(
        "hausregeln",
        json!([{"track": [17]}, {}, {}, {}]),
        "J",
        "J:none",
    );
    check(mv, "no_effect", None, json!([]));
    let home = json!({"goal": [0, 1, 2, 3]});
    let board = json!([home, {}, {"goal": [0], "track": [40]}, {}]);
    let mv = the_move("dogspiel-it", board.clone(), "2", "2:p0>p2");
    assert_eq!(mv["seat"], 0);
    check(
        mv,
        "advance",
        None,
        json!([part(2, "goal:0", "goal:2", &["goal:1", "goal:2"])]),
    );
    let mv = the_move("dogspiel-it", board, "K", "K:out");
    check(
        mv,
        "leave_kennel",
        None,
        json!([part(2, "kennel", "32", &[])]),
    );
    let mv = the_move("dogspiel-it", json!([{}, {}, {}, {}]), "2", "fold");
    assert_eq!(mv["card"], Value::Null);
    check(mv, "fold", None, json!([]));
}

#[test]
fn kennel_and_fresh_may_be_left_out_and_rules_too() {
    let server = TestServer::shared();
    let full = json!([
        {"track": [5, 17], "goal": [2], "kennel": 1, "fresh": false},
        {"track": [16], "goal": [], "kennel": 3, "fresh": true},
        {"track": [], "goal": [], "kennel": 4, "fresh": false},
        {"track": [], "goal": [0, 1, 2, 3], "kennel": 0, "fresh": false},
    ]);
    let short = json!([
        {"track": [17, 5], "goal": [2]},
        {"track": [16], "fresh": true},
        {},
        {"goal": [3, 1, 0, 2]},
    ]);
    let hand = json!(["7", "joker", "A", "A", "J"]);
    let moves = legal_moves(
        &server,
        &position("dogspiel-it", full.clone(), hand.clone()),
    );
    let without_rules = json!({"board": short, "seat": 0, "hand": hand});
    assert_eq!(legal_moves(&server, &without_rules), moves);
    // A returned board can be sent again.
    let again = position("dogspiel-it", moves[0]["board"].clone(), hand);
    legal_moves(&server, &again);
}

#[test]
fn boards_can_be_left_out() {
    let server = TestServer::shared();
    let position = position(
        "hausregeln",
        json!([{"track": [57]}, {}, {}, {}]),
        json!(["7", "joker"]),
    );
    let list = |query: &str| {
        let path = format!("{}{query}", ROUTES[0]);
        server.post(&path).json(&position).send().expect(200)
    };
    let mut full = list("");
    assert_eq!(full.get("version"), None);
    assert_eq!(full["seat"], 0);
    assert_eq!(list("?board=true"), full);
    for mv in full["moves"].as_array_mut().expect("moves") {
        mv.as_object_mut().expect("a move").remove("board");
    }
    assert_eq!(list("?board=false"), full);
    let path = format!("{}?board=maybe", ROUTES[0]);
    server
        .post(&path)
        .json(&position)
        .send()
        .refused("invalid_request");
}

#[test]
fn a_game_and_the_analysis_of_its_position_agree() {
    let server = TestServer::shared();
    for preset in PRESETS {
        let game = TestGame::of_preset(&server, preset);
        game.deal();
        game.exchange();
        for _ in 0..8 {
            let seat = game.turn();
            let view = game.view(Seat(seat));
            let position = json!({
                "rules": view["rules"], "board": view["board"],
                "seat": seat, "hand": view["seats"][seat]["hand"],
            });
            let listed = game.get(Seat(seat), "/legal-moves").send().expect(200);
            assert_eq!(legal_moves(&server, &position), listed["moves"]);
            game.play(seat, listed["moves"][0]["id"].as_str().expect("an id"));
        }
    }
}

#[test]
fn a_seven_with_very_many_outcomes_is_listed_whole() {
    let server = TestServer::shared();
    // All pieces are so far apart, and so far from the goals, that nothing is in their way.
    let board = json!([{"track": [1, 9, 17, 25]}, {}, {"track": [33, 41, 49, 57]}, {}]);
    let rules = json!({"preset": "dogspiel-it", "seven_partner": "always"});
    let position = json!({"rules": rules, "board": board, "seat": 0, "hand": ["joker", "7"]});
    let path = format!("{}?board=false", ROUTES[0]);
    let response = server.post(&path).json(&position).send().expect(200);
    let moves = response["moves"].as_array().expect("moves");
    let sevens = moves.iter().filter(|mv| mv["card"] == "7").count();
    let jokers = moves.iter().filter(|mv| mv["as"] == "7").count();
    // Seven steps over eight pieces: 14 choose 7 boards.
    assert_eq!((sevens, jokers), (3432, 3432));
}

/// Every refusal that both routes share.
#[test]
fn impossible_positions_are_refused() {
    let server = TestServer::shared();
    let empty = || json!([{}, {}, {}, {}]);
    let with = |own: Value| json!([own, {}, {}, {}]);
    let home = || json!({"goal": [0, 1, 2, 3]});
    let cards = |card: &str, count: usize| json!(vec![card; count]);
    let hand = || json!(["2"]);
    let boards = [
        with(json!({"track": [64]})),
        with(json!({"goal": [4]})),
        with(json!({"track": [5, 5]})),
        with(json!({"goal": [2, 2]})),
        with(json!({"track": [1, 2, 3, 4, 5]})),
        with(json!({"track": [1, 2, 3], "goal": [0, 1]})),
        with(json!({"track": [1], "kennel": 4})),
        with(json!({"track": [1], "kennel": 2})),
        with(json!({"fresh": true})),
        with(json!({"track": [1], "fresh": true})),
        with(json!({"goal": [0], "fresh": true})),
        json!([{"track": [5]}, {"track": [5]}, {}, {}]),
        json!([{"track": [16], "fresh": true}, {}, {}, {}]),
        json!([{}, {}, {}]),
        json!([{}, {}, {}, {}, {}]),
        json!([]),
    ];
    let hands = [
        json!([]),
        cards("A", 9),
        cards("joker", 7),
        cards("7", 200),
        json!(["K", "K", "K", "K", "K", "K", "K", "K", "K", "2"]),
    ];
    let refused = |position: Value, codes: &[&str]| {
        for route in ROUTES {
            let response: TestResponse = server.post(route).json(&position).send();
            response.refused_one_of(codes);
        }
    };
    for board in boards {
        refused(position("dogspiel-it", board, hand()), &["invalid_board"]);
    }
    for hand in hands {
        refused(position("dogspiel-it", empty(), hand), &["invalid_hand"]);
    }
    for card in ["1", "a", "Joker", "", "10 ", "♠"] {
        refused(
            position("dogspiel-it", empty(), json!([card])),
            &["unknown_card"],
        );
    }
    for finished in [
        json!([home(), {}, home(), {}]),
        json!([{}, home(), {}, home()]),
    ] {
        refused(
            position("dogspiel-it", finished, hand()),
            &["finished_position"],
        );
    }
    refused(position("tock", empty(), hand()), &["invalid_rules"]);
    let six = json!({"rules": {"seats": 6}, "board": empty(), "seat": 0, "hand": ["2"]});
    refused(six, &["invalid_board"]);
    for seat in [
        json!(4),
        json!(-1),
        json!("0"),
        json!(null),
        json!(0.5),
        json!(256),
    ] {
        let body = json!({"board": empty(), "seat": seat, "hand": ["2"]});
        refused(body, &["invalid_request"]);
    }
    let shapes = [
        json!({}),
        json!([]),
        json!({"board": empty(), "seat": 0}),
        json!({"board": empty(), "hand": ["2"]}),
        json!({"seat": 0, "hand": ["2"]}),
        json!({"board": empty(), "seat": 0, "hand": "2"}),
        json!({"board": empty(), "seat": 0, "hand": [2]}),
        json!({"board": {}, "seat": 0, "hand": ["2"]}),
        json!({"board": empty(), "seat": 0, "hand": ["2"], "colour": "red"}),
        json!({"board": with(json!({"track": [-1]})), "seat": 0, "hand": ["2"]}),
        json!({"board": with(json!({"track": [1.5]})), "seat": 0, "hand": ["2"]}),
        json!({"board": with(json!({"track": ["1"]})), "seat": 0, "hand": ["2"]}),
        json!({"board": with(json!({"tracks": [1]})), "seat": 0, "hand": ["2"]}),
        json!({"board": with(json!({"track": 1})), "seat": 0, "hand": ["2"]}),
        json!({"board": with(json!({"fresh": 1})), "seat": 0, "hand": ["2"]}),
        json!({"board": with(json!({"kennel": "4"})), "seat": 0, "hand": ["2"]}),
    ];
    for body in shapes {
        refused(body, &["invalid_request"]);
    }
    // As many as the deck holds are accepted.
    legal_moves(&server, &position("dogspiel-it", empty(), cards("A", 8)));
    legal_moves(&server, &position("hausregeln", empty(), cards("joker", 8)));
}

fn advise(server: &TestServer, body: &Value) -> TestResponse {
    server.post(ROUTES[1]).json(body).send()
}

/// A position with every optional field.
fn well_known() -> Value {
    json!({
        "rules": {"preset": "dogspiel-it"},
        "board": [{"track": [0, 40], "fresh": true}, {"track": [20]}, {"goal": [1]}, {}],
        "seat": 0,
        "hand": ["7", "joker", "K"],
        "known": {
            "counts": [3, 3, 4, 0],
            "hands": {"2": ["A"]},
            "gone": {"A": 2, "joker": 1},
            "folded": [3],
            "round": 2,
            "beginner": 3,
        },
        "level": "greedy",
        "samples": 10,
        "seed": 1,
    })
}

#[test]
fn advice_ranks_the_legal_moves_of_a_position() {
    let server = TestServer::shared();
    let mut body = well_known();
    for level in LEVELS {
        body["level"] = json!(level);
        let advice = advise(&server, &body).expect(200);
        assert_eq!(advice.get("version"), None);
        assert_eq!(
            (&advice["seat"], &advice["level"]),
            (&json!(0), &json!(level))
        );
        let position = json!({
            "rules": body["rules"], "board": body["board"], "seat": 0, "hand": body["hand"],
        });
        let mut legal = ids(&legal_moves(&server, &position));
        let mut last = BTreeMap::new();
        for suggestion in advice["suggestions"].as_array().expect("suggestions") {
            let id = suggestion["move"]["id"].as_str().expect("an id");
            assert!(legal.remove(id), "{id} is not legal, or comes twice");
            assert_eq!(suggestion["request"]["body"], json!({"move": id}));
            let probability = suggestion["win_probability"].as_f64().expect("a number");
            let samples = suggestion["samples"].as_u64();
            if let Some(last) = last.insert(samples, probability) {
                assert!(level == "random" || probability <= last);
            }
        }
        assert!(legal.is_empty(), "{legal:?} are not ranked");
        let mut again = advise(&server, &body).expect(200);
        again["elapsed_ms"] = advice["elapsed_ms"].clone();
        assert_eq!(again, advice);
    }
}

/// The effect of a move by the greedy level; the move is selected by its result.
#[track_caller]
fn effect(server: &TestServer, position: &Value, leads_to: impl Fn(&Value) -> bool) -> Value {
    let mut body = position.clone();
    body["level"] = json!("greedy");
    let mut advice = advise(server, &body).expect(200);
    let suggestions = advice["suggestions"].as_array_mut().expect("suggestions");
    let found = suggestions
        .iter_mut()
        .find(|suggestion| leads_to(&suggestion["move"]));
    let mut effect = found.expect("such a move")["effect"].take();
    assert_eq!(
        effect["risk"].take(),
        Value::Null,
        "greedy looks at no next turn"
    );
    effect
}

#[test]
fn suggestions_show_the_effect_of_a_move() {
    let server = TestServer::shared();
    let none = || {
        json!({
            "captured": {"own": 0, "partner": 0, "others": 0},
            "pieces_home": 0, "leaves_kennel": false, "steps": 0, "risk": null,
        })
    };
    // The differences from a move without effect.
    let check = |preset: &str, board: Value, card: &str, id: &str, differs: Value| {
        let position = position(preset, board, json!([card]));
        let mut expected = none();
        for (name, value) in differs.as_object().expect("fields") {
            let field = expected.pointer_mut(name).expect("a field");
            *field = value.clone();
        }
        let found = effect(&server, &position, |mv| mv["id"] == id);
        assert_eq!(found, expected, "{id}");
    };
    let it = "dogspiel-it";
    let at = |fields: Value| json!({"track": fields});
    let home = || json!({"goal": [0, 1, 2, 3]});

    // A walk, forward and back.
    check(
        it,
        json!([at(json!([20])), {}, {}, {}]),
        "Q",
        "Q:20>32",
        json!({"/steps": 12}),
    );
    check(
        it,
        json!([at(json!([20])), {}, {}, {}]),
        "4",
        "4:20>16",
        json!({"/steps": 4}),
    );
    // Captures: another team's piece, the partner's, one's own.
    let onto =
        |own: Value, next: Value, partner: Value| json!([at(own), at(next), at(partner), {}]);
    let board = onto(json!([20]), json!([23]), json!([]));
    check(
        it,
        board,
        "3",
        "3:20>23",
        json!({"/steps": 3, "/captured/others": 1}),
    );
    let board = onto(json!([20]), json!([]), json!([23]));
    check(
        it,
        board,
        "3",
        "3:20>23",
        json!({"/steps": 3, "/captured/partner": 1}),
    );
    let board = onto(json!([20, 23]), json!([]), json!([]));
    check(
        it,
        board,
        "3",
        "3:20>23",
        json!({"/steps": 3, "/captured/own": 1}),
    );
    // Leaving the kennel, onto a free field, another's piece and one's own.
    let out = || json!({"/leaves_kennel": true});
    check(it, json!([{}, {}, {}, {}]), "K", "K:out", out());
    check(it, json!([{}, {}, {}, {}]), "joker", "joker=A:out", out());
    let captures = json!({"/leaves_kennel": true, "/captured/others": 1});
    check(
        it,
        json!([{}, at(json!([0])), {}, {}]),
        "K",
        "K:out",
        captures,
    );
    let captures = json!({"/leaves_kennel": true, "/captured/own": 1});
    check(
        it,
        json!([at(json!([0])), {}, {}, {}]),
        "A",
        "A:out",
        captures,
    );
    // Into the goal, within it, and backward into it.
    let homeward = json!({"/steps": 9, "/pieces_home": 1});
    check(
        it,
        json!([at(json!([57])), {}, {}, {}]),
        "9",
        "9:57>g1",
        homeward,
    );
    let within = json!([{"goal": [0]}, {}, {}, {}]);
    check(it, within, "2", "2:g0>g2", json!({"/steps": 2}));
    let back = json!({"/steps": 4, "/pieces_home": 1});
    check(
        "hausregeln",
        json!([at(json!([1])), {}, {}, {}]),
        "4",
        "4:1>g1",
        back,
    );
    // With the partner's pieces, once all of one's own are home.
    let board = json!([home(), {}, {"track": [31]}, {}]);
    check(
        it,
        board,
        "2",
        "2:31>p0",
        json!({"/steps": 2, "/pieces_home": 1}),
    );
    let board = json!([home(), {}, {"track": [32]}, {}]);
    let captures = json!({"/leaves_kennel": true, "/captured/partner": 1});
    check(it, board, "K", "K:out", captures);
    // Moves that walk no steps.
    let board = json!([at(json!([17])), at(json!([33])), {}, {}]);
    check(it, board, "J", "J:17<>33", json!({}));
    check(
        "hausregeln",
        json!([at(json!([17])), {}, {}, {}]),
        "J",
        "J:none",
        json!({}),
    );
    check(it, json!([{}, {}, {}, {}]), "2", "fold", json!({}));
}

#[test]
fn the_effect_of_a_seven_is_all_that_its_parts_do() {
    let server = TestServer::shared();
    let expected = |captured: Value, pieces_home: u8, steps: u8| {
        json!({
            "captured": captured, "pieces_home": pieces_home, "leaves_kennel": false,
            "steps": steps, "risk": null,
        })
    };
    // One piece goes home, the other captures on its way and where it ends.
    let board = json!([{"track": [20, 60]}, {"track": [21]}, {"track": [22]}, {}]);
    let found = effect(
        &server,
        &position("dogspiel-it", board, json!(["7"])),
        |mv| mv["board"][0] == json!({"track": [22], "goal": [0], "kennel": 2, "fresh": false}),
    );
    let captured = json!({"own": 0, "partner": 1, "others": 1});
    assert_eq!(found, expected(captured, 1, 7));
    // Steps that lapse are not walked.
    let board = json!([{"track": [57], "goal": [1, 2, 3]}, {}, {"goal": [0, 1, 2, 3]}, {}]);
    let won = position("hausregeln", board, json!(["7"]));
    let found = effect(&server, &won, |mv| mv["id"] == "7:57>g0");
    let captured = json!({"own": 0, "partner": 0, "others": 0});
    assert_eq!(found, expected(captured, 1, 3));
}

/// Seat 1 holds only a two and must play it: it captures the piece on field 23.
#[test]
fn levels_that_look_ahead_show_the_risk_of_a_move() {
    let server = TestServer::shared();
    let mut body = json!({
        "board": [{"track": [20, 40]}, {"track": [21]}, {}, {}],
        "seat": 0,
        "hand": ["3", "9"],
        "known": {"counts": [2, 1, 0, 0], "hands": {"1": ["2"]}, "folded": [2, 3]},
        "samples": 40,
        "seed": 1,
    });
    for level in LEVELS {
        body["level"] = json!(level);
        let advice = advise(&server, &body).expect(200);
        let suggestions = advice["suggestions"].as_array().expect("suggestions");
        let risk = |id: &str| {
            let mut of_move = suggestions.iter().filter(|found| found["move"]["id"] == id);
            of_move.next().expect("such a move")["effect"]["risk"].clone()
        };
        if ["random", "greedy"].contains(&level) {
            assert_eq!(risk("3:20>23"), Value::Null);
        } else {
            assert_eq!(risk("3:20>23").as_f64(), Some(1.0));
            assert_eq!(risk("3:40>43").as_f64(), Some(0.0));
        }
    }
}

#[test]
fn knowledge_is_optional() {
    let server = TestServer::shared();
    let mut body = well_known();
    for known in [json!({"counts": [3, 3, 4, 0]}), json!({})] {
        body["known"] = known;
        advise(&server, &body).expect(200);
    }
    body.as_object_mut().expect("an object").remove("known");
    for name in ["level", "samples", "seed"] {
        body.as_object_mut().expect("an object").remove(name);
        advise(&server, &body).expect(200);
    }
}

#[test]
fn contradictory_knowledge_is_refused() {
    let server = TestServer::shared();
    let cases = [
        ("counts", json!([3, 3, 4])),
        ("counts", json!([3, 3, 4, 0, 0])),
        ("counts", json!([])),
        ("counts", json!([2, 3, 4, 0])),
        ("counts", json!([3, 101, 4, 0])),
        ("counts", json!([3, 3, 0, 0])),
        ("counts", json!([3, 3, 4, 1])),
        ("asked", json!([4])),
        ("hands", json!({"4": ["A"]})),
        ("hands", json!({"x": ["A"]})),
        ("hands", json!({"2": ["A", "A", "A", "A", "A"]})),
        ("hands", json!({"0": ["A"]})),
        (
            "hands",
            json!({"1": ["joker", "joker", "joker"], "2": ["joker", "joker"]}),
        ),
        ("gone", json!({"A": 9})),
        ("gone", json!({"A": 8})),
        ("gone", json!({"joker": 6})),
        ("gone", json!({"K": 8})),
        ("folded", json!([4])),
        ("folded", json!([0])),
        ("folded", json!([1])),
        ("round", json!(0)),
    ];
    for (name, value) in cases {
        let mut body = well_known();
        body["known"][name] = value;
        advise(&server, &body).refused("invalid_knowledge");
    }
}

#[test]
fn advice_of_the_wrong_shape_is_refused() {
    let server = TestServer::shared();
    let cases = [
        ("level", json!("genius")),
        ("level", json!(1)),
        ("budget_ms", json!(0)),
        ("budget_ms", json!(2001)),
        ("seed", json!(1_u64 << 53)),
        ("budget_ms", json!(-5)),
        ("budget_ms", json!("5")),
        ("samples", json!(0)),
        ("samples", json!(10_001)),
        // `samples` is set already.
        ("budget_ms", json!(5)),
        ("seed", json!(-1)),
        ("seed", json!(1.5)),
        ("known", json!([])),
        ("known", json!({"counts": 3})),
        ("known", json!({"counts": [3, -1, 4, 0]})),
        ("known", json!({"counts": [3, 3, 4, 0], "colour": "red"})),
        ("known", json!({"counts": [3, 3, 4, 0], "gone": ["A"]})),
        ("known", json!({"counts": [3, 3, 4, 0], "hands": [["A"]]})),
        ("known", json!({"counts": [3, 3, 4, 0], "round": -1})),
        ("known", json!({"counts": [3, 3, 4, 0], "beginner": 4})),
        ("colour", json!("red")),
    ];
    for (name, value) in cases {
        let mut body = well_known();
        body[name] = value;
        advise(&server, &body).refused("invalid_request");
    }
    for (name, value) in [("gone", json!({"Z": 1})), ("hands", json!({"2": ["Z"]}))] {
        let mut body = well_known();
        body["known"][name] = value;
        advise(&server, &body).refused("unknown_card");
    }
}

/// Advice without what differs between a game and an analysis.
pub fn bare(mut advice: Value) -> Value {
    for name in ["version", "elapsed_ms"] {
        advice.as_object_mut().expect("an object").remove(name);
    }
    for suggestion in advice["suggestions"].as_array_mut().expect("suggestions") {
        suggestion["request"]["path"] = Value::Null;
    }
    advice
}

/// In the first exchange of a game, an analysis of what a seat sees gives the same advice as the game.
#[test]
fn advice_on_the_exchange_is_that_of_a_game() {
    let server = TestServer::shared();
    let mut dice = Dice::new(8);
    let mut kinds = BTreeSet::new();
    for preset in PRESETS {
        for _ in 0..2 {
            let game = TestGame::of_preset(&server, preset);
            game.deal();
            let mut asked = Vec::new();
            loop {
                let view = game.view(Spectator);
                if view["phase"] != "exchange" {
                    break;
                }
                let seat = dice.pick(&view["to_act"]).as_u64().expect("a seat") as usize;
                let states = view["seats"].as_array().expect("seats").iter();
                let states: Vec<&Value> = states.map(|seat| &seat["exchange"]).collect();
                for level in ["greedy", "fast"] {
                    let same = "samples=40&seed=3";
                    let path = format!("/suggest-move?level={level}&{same}");
                    let in_game = game.get(Seat(seat), &path).send().expect(200);
                    let body = json!({
                        "rules": view["rules"],
                        "position": view["position"],
                        "seat": seat,
                        "hand": game.hand(seat),
                        "phase": "exchange",
                        "exchange": states,
                        "known": {"beginner": view["beginner"], "asked": asked},
                        "level": level,
                        "samples": 40,
                        "seed": 3,
                    });
                    let analysed = advise(&server, &body).expect(200);
                    assert_eq!(bare(analysed), bare(in_game), "{body}");
                }
                let answer = game.any_answer(seat, &mut dice);
                kinds.extend(answer.as_object().expect("an answer").keys().cloned());
                game.swap(seat, &answer);
                if answer["ask"] == true {
                    asked.push(seat);
                }
            }
        }
    }
    assert_eq!(
        kinds,
        ["ask", "card", "decline", "pass"].map(str::to_owned).into()
    );
}

#[test]
fn an_impossible_exchange_is_refused() {
    let server = TestServer::shared();
    let body = |preset: &str, states: Value| {
        json!({
            "rules": {"preset": preset}, "position": "-", "seat": 0, "hand": ["K", "2"],
            "phase": "exchange", "exchange": states, "level": "greedy",
        })
    };
    let ask = |preset: &str, states: Value| advise(&server, &body(preset, states));
    // What is ranked is what the seat may do.
    for (preset, states, expected) in [
        (
            "dogspiel-it",
            json!(["pending", "pending", "offered", "pending"]),
            2,
        ),
        ("dogspiel-it", json!(null), 2),
        (
            "hausregeln",
            json!(["pending", "pending", "pending", "pending"]),
            2,
        ),
        (
            "hausregeln",
            json!(["pending", "kept", "asked", "declined"]),
            3,
        ),
        (
            "hausregeln",
            json!(["asked", "swapped", "offered", "swapped"]),
            2,
        ),
    ] {
        let advice = ask(preset, states).expect(200);
        let suggestions = advice["suggestions"].as_array().expect("suggestions");
        assert_eq!(suggestions.len(), expected, "{advice}");
        assert!(suggestions.iter().all(|one| one["kind"] == "swap"));
        assert_eq!(suggestions[0]["request"]["path"], "/v1/games/{id}/swap");
    }
    for (preset, states) in [
        (
            "dogspiel-it",
            json!(["offered", "pending", "pending", "pending"]),
        ),
        (
            "dogspiel-it",
            json!(["pending", "offered", "pending", "offered"]),
        ),
        (
            "dogspiel-it",
            json!(["pending", "asked", "pending", "pending"]),
        ),
        (
            "hausregeln",
            json!(["asked", "pending", "pending", "pending"]),
        ),
        ("hausregeln", json!(["kept", "pending", "kept", "pending"])),
        ("hausregeln", json!(["pending", "pending", "pending"])),
        ("hausregeln", json!([])),
    ] {
        let refused = ask(preset, states.clone()).refused("invalid_knowledge");
        assert_eq!(refused["errors"][0]["pointer"], "/exchange", "{states}");
    }
    ask(
        "hausregeln",
        json!(["pending", "sleeping", "pending", "pending"]),
    )
    .refused("invalid_request");
    let mut play = body(
        "hausregeln",
        json!(["pending", "pending", "pending", "pending"]),
    );
    play["phase"] = json!("play");
    assert_eq!(
        advise(&server, &play).refused("invalid_request")["reason"],
        "wrong_combination"
    );
    let picture = server
        .post(ROUTES[1])
        .header("Accept", "image/svg+xml")
        .json(&body("hausregeln", Value::Null));
    assert_eq!(
        picture.send().refused("invalid_request")["reason"],
        "wrong_combination"
    );
    let moves = json!({"position": "-", "seat": 0, "hand": ["K"], "phase": "play"});
    server
        .post(ROUTES[0])
        .json(&moves)
        .send()
        .refused("invalid_request");
}

/// Without `counts`, the seats that had their turn hold one card less.
#[test]
fn counts_follow_from_the_beginner() {
    let server = TestServer::shared();
    let ask = |known: Value| {
        let body = json!({
            "position": "17 / 20 / 40 / 60", "seat": 2, "hand": ["9", "7", "4"], "known": known,
            "level": "fast", "samples": 40, "seed": 3,
        });
        bare(advise(&server, &body).expect(200))
    };
    let same = |short: Value, counts: Value| {
        let mut whole = short.clone();
        whole["counts"] = counts;
        assert_eq!(ask(short), ask(whole));
    };
    same(json!({}), json!([3, 3, 3, 3]));
    same(json!({"beginner": 2}), json!([3, 3, 3, 3]));
    same(json!({"beginner": 0}), json!([2, 2, 3, 3]));
    same(json!({"beginner": 3}), json!([2, 2, 3, 2]));
    same(json!({"folded": [1]}), json!([3, 0, 3, 3]));
    same(
        json!({"folded": [1, 0], "beginner": 3}),
        json!([0, 0, 3, 2]),
    );
}
