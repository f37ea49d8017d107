//! `POST /v1/analysis/legal-moves` and `POST /v1/analysis/suggest-move`

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::{
    CARDS, Dice, LEVELS, PRESETS, TestGame, TestResponse, TestServer, TestViewer::*, columns, with,
};

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

/// A move of each kind: `RULES | POSITION | CARD | ID | KIND | PARTS | CAPTURES`. A part is
/// `SEAT: FROM` with the places of its path, or with `> TO` if it walks no steps.
const MOVES: &str = "\
dogspiel-it | -               | K     | K:out       | leave_kennel | 0: kennel > 0         |
dogspiel-it | -               | joker | joker=A:out | leave_kennel | 0: kennel > 0         |
dogspiel-it | 17 / - / - / -  | 5     | 5:17>22     | advance      | 0: 17 18 19 20 21 22  |
dogspiel-it | 17 / 19 / - / - | 2     | 2:17>19     | advance      | 0: 17 18 19           | 1 19
dogspiel-it | 17 / - / - / -  | 4     | 4:17>13     | retreat      | 0: 17 16 15 14 13     |
hausregeln  | 1 / - / - / -   | 4     | 4:1>g1      | retreat      | 0: 1 0 59 goal:0 goal:1 |
dogspiel-it | 17 / 33 / - / - | J     | J:17<>33    | swap         | 0: 17 > 33, 1: 33 > 17 |
hausregeln  | 17 / - / - / -  | J     | J:none      | no_effect    |                       |
dogspiel-it | -               | 2     | fold        | fold         |                       |
dogspiel-it | g0 g1 g2 g3 / - / g0 40 / - | 2 | 2:p0>p2 | advance  | 2: goal:0 goal:1 goal:2 |
dogspiel-it | g0 g1 g2 g3 / - / g0 40 / - | K | K:out | leave_kennel | 2: kennel > 32      |
dogspiel-it | 60 g1 g2 g3 / - / 20 / - | 7 | 7:60>g0,20>22 | seven | \
    0: 60 61 62 63 0 goal:0, 2: 20 21 22 |
hausregeln  | 57 g1 g2 g3 / - / g0 g1 g2 g3 / - | 7 | 7:57>g0 | seven | 0: 57 58 59 goal:0 |";

fn number(text: &str) -> u8 {
    text.parse().expect("a number")
}

/// A part of a move in this form.
fn part(text: &str) -> Value {
    let (seat, places) = text.split_once(": ").expect("a seat");
    let seat = number(seat);
    if let Some((from, to)) = places.split_once(" > ") {
        return json!({"seat": seat, "from": from, "to": to, "steps": 0, "path": []});
    }
    let mut path: Vec<&str> = places.split(' ').collect();
    let from = path.remove(0);
    json!({"seat": seat, "from": from, "to": path.last(), "steps": path.len(), "path": path})
}

#[test]
fn every_kind_of_move_shows_its_parts() {
    let server = TestServer::shared();
    for line in MOVES.lines() {
        let [preset, position, card, id, kind, parts, captures] = columns(line);
        let body = json!({
            "rules": {"preset": preset}, "position": position, "seat": 0, "hand": [card],
        });
        let mut moves = legal_moves(&server, &body);
        let mut moves = moves.as_array_mut().expect("moves").iter_mut();
        let mv = moves.find(|mv| mv["id"] == id).expect(line);
        assert!(mv["board"].take().is_array(), "{line}");
        let parts = parts.split(", ").filter(|text| !text.is_empty()).map(part);
        let captures = captures.split_once(' ').into_iter();
        let captures = captures.map(|(seat, from)| json!({"seat": number(seat), "from": from}));
        let expected = json!({
            "id": id,
            "card": (id != "fold").then_some(card),
            "as": id.strip_prefix("joker=").and_then(|rest| rest.split(':').next()),
            "kind": kind,
            "seat": 0,
            "parts": parts.collect::<Vec<_>>(),
            "captures": captures.collect::<Vec<_>>(),
            "board": null,
        });
        assert_eq!(*mv, expected, "{line}");
    }
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
        {"track": [17, 5], "goal": [2]}, {"track": [16], "fresh": true}, {}, {"goal": [3, 1, 0, 2]},
    ]);
    let hand = json!(["7", "joker", "A", "A", "J"]);
    let moves = legal_moves(&server, &position("dogspiel-it", full, hand.clone()));
    let without_rules = json!({"board": short, "seat": 0, "hand": hand});
    assert_eq!(legal_moves(&server, &without_rules), moves);
    // A returned board can be sent again.
    legal_moves(
        &server,
        &position("dogspiel-it", moves[0]["board"].clone(), hand),
    );
}

#[test]
fn boards_can_be_left_out() {
    let server = TestServer::shared();
    let board = json!([{"track": [57]}, {}, {}, {}]);
    let position = position("hausregeln", board, json!(["7", "joker"]));
    let list = |query: &str| {
        let request = server.post(&format!("{}{query}", ROUTES[0]));
        request.json(&position).send()
    };
    let mut full = list("").expect(200);
    assert_eq!(full.get("version"), None);
    assert_eq!(full["seat"], 0);
    assert_eq!(list("?board=true").expect(200), full);
    for mv in full["moves"].as_array_mut().expect("moves") {
        mv.as_object_mut().expect("a move").remove("board");
    }
    assert_eq!(list("?board=false").expect(200), full);
    list("?board=maybe").refused("invalid_request");
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

/// Bodies that both routes refuse: the code, and what differs from a position that is accepted.
const IMPOSSIBLE: &str = r#"
invalid_board {"board": [{"track": [64]}, {}, {}, {}]}
invalid_board {"board": [{"goal": [4]}, {}, {}, {}]}
invalid_board {"board": [{"track": [5, 5]}, {}, {}, {}]}
invalid_board {"board": [{"goal": [2, 2]}, {}, {}, {}]}
invalid_board {"board": [{"track": [5]}, {"track": [5]}, {}, {}]}
invalid_board {"board": [{"track": [1, 2, 3, 4, 5]}, {}, {}, {}]}
invalid_board {"board": [{"track": [1, 2, 3], "goal": [0, 1]}, {}, {}, {}]}
invalid_board {"board": [{"track": [1], "kennel": 4}, {}, {}, {}]}
invalid_board {"board": [{"track": [1], "kennel": 2}, {}, {}, {}]}
invalid_board {"board": [{"fresh": true}, {}, {}, {}]}
invalid_board {"board": [{"track": [1], "fresh": true}, {}, {}, {}]}
invalid_board {"board": [{"goal": [0], "fresh": true}, {}, {}, {}]}
invalid_board {"board": [{"track": [16], "fresh": true}, {}, {}, {}]}
invalid_board {"board": [{}, {}, {}]}
invalid_board {"board": [{}, {}, {}, {}, {}]}
invalid_board {"board": []}
invalid_board {"rules": {"seats": 6}}
invalid_rules {"rules": {"preset": "tock"}}
invalid_hand {"hand": []}
invalid_hand {"hand": ["A", "A", "A", "A", "A", "A", "A", "A", "A"]}
invalid_hand {"hand": ["joker", "joker", "joker", "joker", "joker", "joker", "joker"]}
invalid_hand {"hand": ["K", "K", "K", "K", "K", "K", "K", "K", "K", "2"]}
unknown_card {"hand": ["1"]}
unknown_card {"hand": ["a"]}
unknown_card {"hand": [""]}
unknown_card {"hand": ["10 "]}
finished_position {"board": [{"goal": [0, 1, 2, 3]}, {}, {"goal": [0, 1, 2, 3]}, {}]}
finished_position {"board": [{}, {"goal": [0, 1, 2, 3]}, {}, {"goal": [0, 1, 2, 3]}]}
invalid_request {"seat": 4}
invalid_request {"seat": -1}
invalid_request {"seat": "0"}
invalid_request {"seat": null}
invalid_request {"seat": 0.5}
invalid_request {"seat": 256}
invalid_request {"hand": null}
invalid_request {"hand": "2"}
invalid_request {"hand": [2]}
invalid_request {"colour": "red"}
invalid_request {"board": null}
invalid_request {"board": {}}
invalid_request {"board": [{"track": [-1]}, {}, {}, {}]}
invalid_request {"board": [{"track": [1.5]}, {}, {}, {}]}
invalid_request {"board": [{"track": ["1"]}, {}, {}, {}]}
invalid_request {"board": [{"track": 1}, {}, {}, {}]}
invalid_request {"board": [{"tracks": [1]}, {}, {}, {}]}
invalid_request {"board": [{"fresh": 1}, {}, {}, {}]}
invalid_request {"board": [{"kennel": "4"}, {}, {}, {}]}"#;

#[test]
fn impossible_positions_are_refused() {
    let server = TestServer::shared();
    let possible = json!({"board": [{}, {}, {}, {}], "seat": 0, "hand": ["2"]});
    let refused = |body: &Value, code: &str| {
        for route in ROUTES {
            server.post(route).json(body).send().refused(code);
        }
    };
    for line in IMPOSSIBLE.lines().skip(1) {
        let (code, differs) = line.split_once(' ').expect("a code");
        let differs: Value = serde_json::from_str(differs).expect(differs);
        refused(&with(possible.clone(), &differs), code);
    }
    for name in ["board", "seat", "hand"] {
        let mut body = possible.clone();
        body.as_object_mut().expect("an object").remove(name);
        refused(&body, "invalid_request");
    }
    let hand = |card: &str, count: usize| {
        let hand = vec![card; count];
        json!({"position": "-", "seat": 0, "hand": hand})
    };
    refused(&hand("7", 200), "invalid_hand");
    // As many as the deck holds are accepted.
    legal_moves(&server, &hand("A", 8));
    legal_moves(&server, &hand("joker", 6));
}

/// Four hands of one size need that many cards of the deck.
#[test]
fn advice_wants_hands_for_which_the_deck_is_large_enough() {
    let server = TestServer::shared();
    let ranks = &CARDS[..13];
    let hand: Vec<&&str> = ranks.iter().cycle().take(80).collect();
    for phase in ["play", "exchange"] {
        let ask = |cards: usize| {
            let body = json!({
                "position": "5 / 20 / 40 / 55", "seat": 0, "phase": phase, "samples": 10,
                "hand": hand[..cards],
            });
            advise(&server, &body)
        };
        ask(27).expect(200);
        for cards in [28, 37, 80] {
            ask(cards).refused("invalid_hand");
        }
    }
}

/// A position of seat 0, all of whose pieces are home: it moves those of seat 2.
#[test]
fn risk_is_of_the_piece_that_was_moved() {
    let server = TestServer::shared();
    let risk = |position: &str, hand: [&str; 2], known: Value| {
        let body = json!({
            "position": position, "seat": 0, "hand": hand, "known": known, "samples": 40, "seed": 1,
        });
        let advice = advise(&server, &body).expect(200);
        let suggestions = advice["suggestions"].as_array().expect("suggestions");
        let wanted = suggestions
            .iter()
            .find(|one| one["move"]["id"] == "2:10>12");
        wanted.expect("the move")["effect"]["risk"].clone()
    };
    // Seat 1 captures the piece on 40, and the moved one walks on.
    let known = json!({"counts": [2, 1, 1, 1], "hands": {"1": ["5"], "2": ["6"], "3": ["2"]}});
    let walks_on = risk("g0 g1 g2 g3 / 35 / 10 40 / -", ["2", "3"], known);
    assert_eq!(walks_on, 0.0);
    // Seat 2 leaves its kennel, and then seat 3 captures the moved piece.
    let known = json!({"counts": [2, 0, 1, 1], "hands": {"2": ["K"], "3": ["3"]}});
    let captured = risk("g0 g1 g2 g3 / 16f / 10 / 9", ["2", "4"], known);
    assert_eq!(captured, 1.0);
}

pub fn advise(server: &TestServer, body: &Value) -> TestResponse {
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
        assert_eq!(json!([advice["seat"], advice["level"]]), json!([0, level]));
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
    let mut suggestions = suggestions.iter_mut();
    let found = suggestions.find(|suggestion| leads_to(&suggestion["move"]));
    found.expect("such a move")["effect"].take()
}

/// `RULES | POSITION | CARD | ID | EFFECT`: what differs from the effect of a move without any.
/// Walks, forward and back; captures; exits, onto a free field, another's piece and one's own;
/// into the goal, within it and backward into it; with the partner's pieces; no steps; steps of a
/// seven that lapse.
const EFFECTS: &str = "\
dogspiel-it | 20 / - / - / -    | Q | Q:20>32 | steps=12
dogspiel-it | 20 / - / - / -    | 4 | 4:20>16 | steps=4
dogspiel-it | 20 / 23 / - / -   | 3 | 3:20>23 | steps=3 captured/others=1
dogspiel-it | 20 / - / 23 / -   | 3 | 3:20>23 | steps=3 captured/partner=1
dogspiel-it | 20 23 / - / - / - | 3 | 3:20>23 | steps=3 captured/own=1
dogspiel-it | -                 | K | K:out   | leaves_kennel=true
dogspiel-it | -                 | joker | joker=A:out | leaves_kennel=true
dogspiel-it | - / 0 / - / -     | K | K:out   | leaves_kennel=true captured/others=1
dogspiel-it | 0 / - / - / -     | A | A:out   | leaves_kennel=true captured/own=1
dogspiel-it | 57 / - / - / -    | 9 | 9:57>g1 | steps=9 pieces_home=1
dogspiel-it | g0 / - / - / -    | 2 | 2:g0>g2 | steps=2
hausregeln  | 1 / - / - / -     | 4 | 4:1>g1  | steps=4 pieces_home=1
dogspiel-it | g0 g1 g2 g3 / - / 31 / - | 2 | 2:31>p0 | steps=2 pieces_home=1
dogspiel-it | g0 g1 g2 g3 / - / 32 / - | K | K:out | leaves_kennel=true captured/partner=1
dogspiel-it | 17 / 33 / - / -   | J | J:17<>33 |
hausregeln  | 17 / - / - / -    | J | J:none  |
dogspiel-it | -                 | 2 | fold    |
hausregeln  | 57 g1 g2 g3 / - / g0 g1 g2 g3 / - | 7 | 7:57>g0 | steps=3 pieces_home=1";

/// The effect of a move with these differences from one without any. The greedy level looks at no
/// next turn, so it shows no risk.
fn expected_effect(differs: &str) -> Value {
    let mut expected = json!({
        "captured": {"own": 0, "partner": 0, "others": 0},
        "pieces_home": 0, "leaves_kennel": false, "steps": 0, "risk": null,
    });
    for (name, value) in differs.split(' ').filter_map(|text| text.split_once('=')) {
        let member = expected.pointer_mut(&format!("/{name}"));
        *member.expect(name) = serde_json::from_str(value).expect(value);
    }
    expected
}

#[test]
fn suggestions_show_the_effect_of_a_move() {
    let server = TestServer::shared();
    for line in EFFECTS.lines() {
        let [preset, position, card, id, differs] = columns(line);
        let body = json!({
            "rules": {"preset": preset}, "position": position, "seat": 0, "hand": [card],
        });
        let found = effect(&server, &body, |mv| mv["id"] == id);
        assert_eq!(found, expected_effect(differs), "{line}");
    }
    // In a seven, one piece goes home, the other captures on its way and where it ends.
    let body = json!({"position": "20 60 / 21 / 22 / -", "seat": 0, "hand": ["7"]});
    let end = json!({"track": [22], "goal": [0], "kennel": 2, "fresh": false});
    let found = effect(&server, &body, |mv| mv["board"][0] == end);
    let expected = "steps=7 pieces_home=1 captured/partner=1 captured/others=1";
    assert_eq!(found, expected_effect(expected));
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

/// What advice refuses in such a question: the code, and a member with its value. `samples` is set
/// already where `budget_ms` is 5.
const WRONG_QUESTIONS: &str = r#"
invalid_knowledge /known/counts [3, 3, 4]
invalid_knowledge /known/counts [3, 3, 4, 0, 0]
invalid_knowledge /known/counts []
invalid_knowledge /known/counts [2, 3, 4, 0]
invalid_knowledge /known/counts [3, 101, 4, 0]
invalid_knowledge /known/counts [3, 3, 0, 0]
invalid_knowledge /known/counts [3, 3, 4, 1]
invalid_knowledge /known/asked [4]
invalid_knowledge /known/hands {"4": ["A"]}
invalid_knowledge /known/hands {"x": ["A"]}
invalid_knowledge /known/hands {"01": ["A"]}
invalid_knowledge /known/hands {"+1": ["A"]}
invalid_knowledge /known/hands {"2": ["A", "A", "A", "A", "A"]}
invalid_knowledge /known/hands {"0": ["A"]}
invalid_knowledge /known/hands {"1": ["joker", "joker", "joker"], "2": ["joker", "joker"]}
invalid_knowledge /known/gone {"A": 9}
invalid_knowledge /known/gone {"A": 8}
invalid_knowledge /known/gone {"joker": 6}
invalid_knowledge /known/gone {"K": 8}
invalid_knowledge /known/folded [4]
invalid_knowledge /known/folded [0]
invalid_knowledge /known/folded [1]
invalid_knowledge /known/round 0
invalid_request /level "genius"
invalid_request /level 1
invalid_request /budget_ms 0
invalid_request /budget_ms 2001
invalid_request /seed 9007199254740992
invalid_request /budget_ms -5
invalid_request /budget_ms "5"
invalid_request /samples 0
invalid_request /samples 10001
invalid_request /budget_ms 5
invalid_request /seed -1
invalid_request /seed 1.5
invalid_request /known []
invalid_request /known {"counts": 3}
invalid_request /known {"counts": [3, -1, 4, 0]}
invalid_request /known {"counts": [3, 3, 4, 0], "colour": "red"}
invalid_request /known {"counts": [3, 3, 4, 0], "gone": ["A"]}
invalid_request /known {"counts": [3, 3, 4, 0], "hands": [["A"]]}
invalid_request /known {"counts": [3, 3, 4, 0], "round": -1}
invalid_request /known {"counts": [3, 3, 4, 0], "beginner": 4}
invalid_request /colour "red"
unknown_card /known/gone {"Z": 1}
unknown_card /known/hands {"2": ["Z"]}"#;

#[test]
fn contradictory_knowledge_and_wrong_shapes_are_refused() {
    let server = TestServer::shared();
    for line in WRONG_QUESTIONS.lines().skip(1) {
        let [code, pointer, value] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let (parent, name) = pointer.rsplit_once('/').expect(line);
        let mut body = well_known();
        body.pointer_mut(parent).expect(line)[name] = serde_json::from_str(value).expect(line);
        let mut answer = advise(&server, &body);
        answer.what = line.to_owned();
        answer.refused(code);
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

/// In the first exchange of a game, an analysis of what a seat sees gives the advice of the game.
#[test]
fn advice_on_the_exchange_is_that_of_a_game() {
    let server = TestServer::shared();
    let mut dice = Dice::new(8);
    let mut kinds = BTreeSet::new();
    for preset in PRESETS {
        for _ in 0..2 {
            let game = TestGame::with_preset(&server, preset);
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

/// States of an exchange, and how many answers are ranked there.
const EXCHANGES: &str = "\
dogspiel-it | pending pending offered pending | 2
dogspiel-it |                                 | 2
hausregeln  | pending pending pending pending | 2
hausregeln  | pending kept asked declined     | 3
hausregeln  | asked swapped offered swapped   | 2
dogspiel-it | offered pending pending pending | refused
dogspiel-it | pending offered pending offered | refused
dogspiel-it | pending asked pending pending   | refused
hausregeln  | asked pending pending pending   | refused
hausregeln  | kept pending kept pending       | refused
hausregeln  | pending pending pending         | refused";

#[test]
fn what_a_seat_may_answer_is_ranked_and_an_impossible_exchange_is_refused() {
    let server = TestServer::shared();
    let body = |preset: &str, states: Value| {
        json!({
            "rules": {"preset": preset}, "position": "-", "seat": 0, "hand": ["K", "2"],
            "phase": "exchange", "exchange": states, "level": "greedy",
        })
    };
    for line in EXCHANGES.lines() {
        let [preset, states, expected] = columns(line);
        let states: Vec<&str> = states.split_whitespace().collect();
        let states = (!states.is_empty()).then_some(states);
        let advice = advise(&server, &body(preset, json!(states)));
        if expected == "refused" {
            let refused = advice.refused("invalid_knowledge");
            assert_eq!(refused["errors"][0]["pointer"], "/exchange", "{line}");
            continue;
        }
        let advice = advice.expect(200);
        let suggestions = advice["suggestions"].as_array().expect("suggestions");
        assert_eq!(suggestions.len().to_string(), expected, "{line}");
        assert!(suggestions.iter().all(|one| one["kind"] == "swap"));
        assert_eq!(suggestions[0]["request"]["path"], "/v1/games/{id}/swap");
    }
    advise(&server, &body("hausregeln", json!([]))).refused("invalid_knowledge");
    let unknown = json!(["pending", "sleeping", "pending", "pending"]);
    advise(&server, &body("hausregeln", unknown)).refused("invalid_request");
    let mut play = body(
        "hausregeln",
        json!(["pending", "pending", "pending", "pending"]),
    );
    play["phase"] = json!("play");
    let exchange = body("hausregeln", Value::Null);
    let picture = server.post(ROUTES[1]).header("Accept", "image/svg+xml");
    for response in [advise(&server, &play), picture.json(&exchange).send()] {
        let refused = response.refused("invalid_request");
        assert_eq!(refused["reason"], "wrong_combination");
    }
    let moves = json!({"position": "-", "seat": 0, "hand": ["K"], "phase": "play"});
    let moves = server.post(ROUTES[0]).json(&moves);
    moves.send().refused("invalid_request");
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
