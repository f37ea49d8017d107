//! Positions as text: in every game, in the bodies of analyses, and as a picture by address.

use serde_json::{Value, json};

use crate::{
    board_picture::picture,
    support::{Dice, PRESETS, TestGame, TestServer, TestViewer::*},
};

const ROUTES: [&str; 3] = [
    "/v1/analysis/legal-moves",
    "/v1/analysis/legal-moves/seven",
    "/v1/analysis/suggest-move",
];

/// Boards, each with its preset and its text as the server writes it.
fn same_boards() -> [(&'static str, Value, &'static str); 3] {
    [
        (
            "dogspiel-it",
            json!([{"track": [0, 9], "goal": [2], "fresh": true}, {"track": [17]}, {},
                {"track": [60]}]),
            "0f 9 g2 / 17 / - / 60",
        ),
        (
            "hausregeln",
            json!([{"track": [0]}, {}, {"track": [59, 3], "goal": [1, 0]}, {}]),
            "0 / - / 3 59 g0 g1 / -",
        ),
        (
            "familienlager",
            json!([{"track": [57]}, {}, {}, {}]),
            "57 / - / - / -",
        ),
    ]
}

/// A body for each of the routes: seat 0 has a seven.
fn body(route: &str, preset: &str, name: &str, board: &Value) -> Value {
    let mut body = json!({"rules": {"preset": preset}, name: board, "seat": 0, "hand": ["7"]});
    if route.ends_with("seven") {
        body["begun"] = json!("7:");
    }
    if route.ends_with("suggest-move") {
        (body["samples"], body["seed"]) = (json!(20), json!(1));
    }
    body
}

#[test]
fn a_text_is_the_same_as_a_board() {
    let server = TestServer::shared();
    for route in ROUTES {
        let ask = |preset: &str, name: &str, board: &Value| {
            let body = body(route, preset, name, board);
            let mut answer = server.post(route).json(&body).send().expect(200);
            answer["elapsed_ms"] = Value::Null;
            answer
        };
        for (preset, board, text) in same_boards() {
            let expected = ask(preset, "board", &board);
            assert_eq!(ask(preset, "position", &json!(text)), expected, "{text}");
            let packed = text.replace(" / ", "/").replace(' ', ",");
            let same = ask(preset, "position", &json!(packed));
            assert_eq!(same, expected, "{packed}");
        }
    }
}

#[test]
fn a_body_has_a_board_or_a_text() {
    let server = TestServer::shared();
    for route in ROUTES {
        let mut request = body(route, "hausregeln", "position", &json!("57/-/-/-"));
        request["board"] = json!([{"track": [57]}, {}, {}, {}]);
        let ask = |request: &Value| server.post(route).json(request).send();
        let refused = ask(&request).refused("invalid_request");
        assert_eq!(refused["reason"], "wrong_combination");
        // As if it were absent.
        request["board"].take();
        ask(&request).expect(200);
        request["position"].take();
        let refused = ask(&request).refused("invalid_request");
        assert_eq!(refused["reason"], "missing");
    }
}

/// Whole games: what a game shows can be sent back, and leads to the same legal moves.
#[test]
fn every_game_has_its_position() {
    let server = TestServer::shared();
    let mut dice = Dice::new(5);
    for preset in PRESETS {
        let game = TestGame::with_preset(&server, preset);
        assert_eq!(game.view(Spectator)["position"], "- / - / - / -");
        let mut seen = 0;
        for _ in 0..70 {
            let view = game.view(Spectator);
            if view["phase"] == "play" {
                let seat = game.turn();
                let listed = game.get(Seat(seat), "/legal-moves").send().expect(200);
                let body = json!({
                    "rules": view["rules"], "position": view["position"], "seat": seat,
                    "hand": game.hand(seat),
                });
                let analysed = server.post(ROUTES[0]).json(&body).send().expect(200);
                assert_eq!(analysed["moves"], listed["moves"], "{body}");
                seen += u32::from(view["position"] != "- / - / - / -");
            }
            game.step(&mut dice);
        }
        assert!(seen > 10, "{preset}: {seen}");
    }
}

#[test]
fn a_position_is_a_picture_by_address() {
    let server = TestServer::shared();
    let get = |query: &str| server.get(&format!("/v1/analysis/board.svg?{query}"));
    let ask = |query: &str| get(query).send();
    let drawn = ask("rules=hausregeln&position=0f,9,g2/17/-/46");
    assert_eq!(drawn.header("content-type"), Some("image/svg+xml"));
    let etag = drawn.header("etag").expect("an ETag").to_owned();
    let svg = picture(drawn);
    for place in ["\"0\"", "\"9\"", "\"17\"", "\"46\""] {
        assert!(svg.contains(&format!("data-place={place}")), "{place}");
    }
    let again = get("rules=hausregeln&position=0f+9+g2/17/-/46");
    let again = again.header("If-None-Match", &etag).send();
    assert_eq!(again.status, 304);
    // By the default rules, a board of 64 fields.
    picture(ask("position=63/-/-/-"));
    ask("rules=hausregeln&position=63/-/-/-").refused("invalid_board");
    let six = "rules=hausregeln+seats=6&position=0/-/-/-/-/89";
    picture(ask(&format!("{six}&bottom=5&theme=dark")));
    for (query, code) in [
        ("", "invalid_request"),
        ("position=-&bottom=4", "invalid_request"),
        ("position=-&theme=grey", "invalid_request"),
        ("position=-&move=fold", "invalid_request"),
        ("position=-&rules=tock", "invalid_rules"),
        ("position=-&rules=hausregeln+seats=5", "invalid_rules"),
        ("position=-&rules=hausregeln+seat=6", "invalid_rules"),
        ("position=+5/-/-/-,", "invalid_board"),
    ] {
        ask(query).refused(code);
    }
    let long = format!("position=-&rules=hausregeln{}", "+seats=4".repeat(200));
    ask(&long).refused("invalid_rules");
}
