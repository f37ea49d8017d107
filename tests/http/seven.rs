//! `GET /v1/games/{id}/legal-moves/seven` and `POST /v1/analysis/legal-moves/seven`

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    Dice, PRESETS, TestGame, TestResponse, TestServer,
    TestViewer::{self, *},
    with,
};

const ROUTE: &str = "/v1/analysis/legal-moves/seven";

fn position(preset: &str, board: Value, hand: Value, begun: &str) -> Value {
    json!({
        "rules": {"preset": preset}, "board": board, "seat": 0, "hand": hand, "begun": begun,
    })
}

fn ask(game: &TestGame, viewer: TestViewer, begun: &str) -> TestResponse {
    let begun = begun.replace('>', "%3E").replace('=', "%3D");
    let path = format!("/legal-moves/seven?begun={begun}");
    game.get(viewer, &path).send()
}

/// Follows the next parts of this begun seven in every way, and checks what they say. Returns the
/// boards they lead to, with the first complete id of each. None if there are too many ways.
fn follow(begun: &str, ask: impl Fn(&str) -> Value) -> Option<Vec<(Value, String)>> {
    let (mut boards, mut waiting) = (Vec::<(Value, String)>::new(), vec![begun.to_owned()]);
    let mut seen = BTreeSet::new();
    while let Some(begun) = waiting.pop() {
        if seen.len() > 400 {
            return None;
        }
        let seven = ask(&begun);
        for part in seven["next"].as_array().expect("next parts") {
            let id = part["id"].as_str().expect("an id").to_owned();
            assert!(id.starts_with(&begun) && seen.insert(id.clone()), "{id}");
            assert_eq!(part["complete"], part["left"] == 0, "{part}");
            if part["complete"] == false {
                waiting.push(id);
            } else if boards.iter().all(|(board, _)| *board != part["board"]) {
                boards.push((part["board"].clone(), id));
            }
        }
    }
    Some(boards)
}

/// Plays games until a seven or a joker of the seat to move can be played as a seven in a few ways.
fn at_a_seven(game: &TestGame, dice: &mut Dice) -> Option<(usize, &'static str, Vec<Value>)> {
    loop {
        let view = game.view(Spectator);
        if view["phase"] == "finished" {
            return None;
        }
        if let Some(turn) = view["turn"].as_u64() {
            let seat = turn as usize;
            let listed = game.get(Seat(seat), "/legal-moves").send().expect(200);
            let listed = listed["moves"].as_array().expect("moves");
            for (prefix, rank) in [("7:", Value::Null), ("joker=7:", json!("7"))] {
                let of_card = |mv: &&Value| mv["kind"] == "seven" && mv["as"] == rank;
                let sevens: Vec<Value> = listed.iter().filter(of_card).cloned().collect();
                if sevens.len() > 3 && sevens.len() < 60 {
                    return Some((seat, prefix, sevens));
                }
            }
        }
        game.step(dice);
    }
}

#[test]
fn part_by_part_leads_to_the_boards_of_the_list_and_can_be_played() {
    let server = TestServer::shared();
    let mut dice = Dice::new(5);
    let mut played = 0;
    for preset in PRESETS {
        let game = TestGame::with_preset(&server, preset);
        for _ in 0..3 {
            let Some((seat, begun, listed)) = at_a_seven(&game, &mut dice) else {
                break;
            };
            let view = game.view(Seat(seat));
            let analysed = |begun: &str| {
                let body = json!({
                    "rules": view["rules"], "board": view["board"], "seat": seat,
                    "hand": view["seats"][seat]["hand"], "begun": begun,
                });
                server.post(ROUTE).json(&body).send().expect(200)
            };
            let first = ask(&game, Seat(seat), begun).expect(200);
            assert_eq!(first, analysed(begun), "the same in an analysis");
            assert_eq!(first["board"], view["board"]);
            assert_eq!(first["left"], 7);
            let next = |begun: &str| ask(&game, Seat(seat), begun).expect(200);
            let Some(boards) = follow(begun, next) else {
                game.step(&mut dice);
                continue;
            };
            let reached = boards.iter().map(|(board, _)| board.to_string());
            let listed = listed.iter().map(|mv| mv["board"].to_string());
            let (reached, listed) = (BTreeSet::from_iter(reached), BTreeSet::from_iter(listed));
            assert_eq!(reached, listed, "{preset}");
            let (board, id) = &boards[dice.below(boards.len())];
            let after = game.play(seat, id);
            assert_eq!(after["game"]["board"], *board, "{id}");
            assert_eq!(after["events"][0]["move"]["id"], *id);
            played += 1;
        }
    }
    assert!(played >= 5, "{played}");
}

#[test]
fn the_answer_has_every_member() {
    let server = TestServer::shared();
    let board = json!([{"track": [17, 30]}, {}, {"track": [34]}, {}]);
    let ask = |begun: &str| {
        let body = position("dogspiel-it", board.clone(), json!(["7"]), begun);
        server.post(ROUTE).json(&body).send().expect(200)
    };
    let seat = |track: Value, kennel: u8| {
        let mut seat = json!({"track": track, "goal": [], "fresh": false});
        seat["kennel"] = json!(kennel);
        seat
    };
    let none = seat(json!([]), 4);
    let expected = json!({
        "begun": "7:17>20",
        "left": 4,
        "board": [seat(json!([20, 30]), 2), none, seat(json!([34]), 3), none],
        "next": [{
            "id": "7:17>20,30>34",
            "part": {
                "seat": 0, "from": "30", "to": "34", "steps": 4,
                "path": ["31", "32", "33", "34"],
            },
            "left": 0,
            "captures": [{"seat": 2, "from": "34"}],
            "board": [seat(json!([20, 34]), 2), none, none, none],
            "complete": true,
            "lapsed": 0,
        }],
    });
    assert_eq!(ask("7:17>20"), expected);
    let complete = ask("7:17>20,30>34");
    assert_eq!(json!([complete["left"], complete["next"]]), json!([0, []]));
    // The example in the OpenAPI document is this answer.
    let document = server.get("/openapi.json").send().expect(200);
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["BegunSeven"]["example"], expected);
    let example = &schemas["SevenAnalysis"]["example"];
    let answer = server.post(ROUTE).json(example).send().expect(200);
    assert_eq!(answer["begun"], "7:17>20");
}

#[test]
fn steps_that_lapse_are_told() {
    let server = TestServer::shared();
    let board = json!([{"track": [57], "goal": [1, 2, 3]}, {}, {"goal": [0, 1, 2, 3]}, {}]);
    let body = position("hausregeln", board, json!(["joker"]), "joker=7:");
    let seven = server.post(ROUTE).json(&body).send().expect(200);
    for (part, id, lapsed) in [(0, "joker=7:57>g0", 4), (1, "joker=7:57>4", 0)] {
        let part = &seven["next"][part];
        let told = ["id", "left", "complete", "lapsed"].map(|name| &part[name]);
        assert_eq!(json!(told), json!([id, 0, true, lapsed]));
    }
}

#[test]
fn what_play_would_refuse_is_refused_with_its_reason() {
    let server = TestServer::shared();
    let board = json!([{"track": [17]}, {"track": [40]}, {}, {}]);
    for (hand, begun, reason, place) in [
        ("7", "7:17>20", "total_steps", None),
        ("7", "7:18>20", "no_such_piece", Some("18")),
        ("7", "joker=7:", "not_in_hand", None),
        ("7", "7:17>24,", "not_a_move", None),
        ("7", "fold", "not_a_move", None),
        ("K", "K:out", "not_a_move", None),
    ] {
        let body = position("dogspiel-it", board.clone(), json!([hand]), begun);
        let response = server.post(ROUTE).json(&body).send();
        let problem = response.refused("illegal_move");
        assert_eq!(problem["reason"], reason, "{begun}");
        assert_eq!(problem["place"], json!(place), "{begun}");
        assert_eq!(problem["part"].is_u64(), place.is_some(), "{begun}");
    }
    for (spoiled, code) in [
        (json!({"begun": 7}), "invalid_request"),
        (json!({"begun": null}), "invalid_request"),
        (json!({"hand": []}), "invalid_hand"),
        (json!({"hand": ["1"]}), "unknown_card"),
        (json!({"colour": "red"}), "invalid_request"),
    ] {
        let body = position("dogspiel-it", board.clone(), json!(["7"]), "7:");
        let body = with(body, &spoiled);
        server.post(ROUTE).json(&body).send().refused(code);
    }
}

/// A preview is judged by the board alone.
#[test]
fn a_begun_seven_is_drawn_for_everybody() {
    let server = TestServer::shared();
    let game = TestGame::with_preset(&server, "dogspiel-it");
    let mut dice = Dice::new(6);
    let (seat, _, _) = at_a_seven(&game, &mut dice).expect("a seven");
    let draw = |viewer, begun: &str| {
        let begun = begun.replace('>', "%3E").replace('=', "%3D");
        game.get(viewer, &format!("/board.svg?move={begun}")).send()
    };
    let plain = game.get(Spectator, "/board.svg").send().text();
    for begun in ["7:", "joker=7:"] {
        for viewer in game.viewers() {
            let picture = draw(viewer, begun);
            assert_eq!(picture.status, 200, "{begun}");
            assert_ne!(picture.text(), plain);
        }
    }
    let view = game.view(Seat(seat));
    let body = json!({
        "rules": view["rules"], "board": view["board"], "seat": seat, "hand": ["7"], "begun": "7:",
    });
    let seven = server.post(ROUTE).json(&body).send().expect(200);
    for part in seven["next"].as_array().expect("next parts") {
        let id = part["id"].as_str().expect("an id");
        let picture = draw(Spectator, id);
        assert_eq!(picture.status, 200, "{id}");
        let to = part["part"]["to"].as_str().expect("a place");
        let owner = &part["part"]["seat"];
        // A goal is that of its seat.
        let of_seat = if to.contains(':') {
            format!("{owner}:")
        } else {
            String::new()
        };
        let piece = format!("data-seat=\"{owner}\" data-place=\"{of_seat}{to}\"");
        assert!(picture.text().contains(&piece), "{id}");
    }
    let problem = draw(Spectator, "7:0>9").refused("illegal_move");
    assert_eq!(problem["part"], 1);
}
