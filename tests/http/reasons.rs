//! What a problem document says to programs besides its code: reasons, places, and what may stand
//! in a body.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use crate::support::{
    TestGame, TestServer,
    TestViewer::{Host, Seat, Spectator},
};

/// The members of a problem document that programs read.
fn members(mut problem: Value) -> Value {
    let members = problem.as_object_mut().expect("an object");
    for name in ["type", "title", "status", "detail", "code"] {
        members.remove(name).expect(name);
    }
    problem
}

/// The reasons that `docs/errors.md` lists for this code.
fn documented(code: &str) -> BTreeSet<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/errors.md");
    let page = fs::read_to_string(page).expect("docs/errors.md");
    let row = |line: &str| {
        let (reason, _) = line
            .strip_prefix(&format!("| `{code}` | `"))?
            .split_once('`')?;
        Some(reason.to_owned())
    };
    page.lines().filter_map(row).collect()
}

/// Every reason for which a move is refused, with a position, a card and a move.
#[test]
fn a_refused_move_has_each_of_the_documented_reasons() {
    let server = TestServer::shared();
    let (it, house) = ("dogspiel-it", "hausregeln");
    let own = |track: &[u8]| json!([{"track": track}, {}, {}, {}]);
    let with = |track: &[u8], other: Value| json!([{"track": track}, other, {}, {}]);
    let goal = |track: &[u8], goal: &[u8]| json!([{"track": track, "goal": goal}, {}, {}, {}]);
    let fresh = json!({"track": [16], "fresh": true});
    let cases = [
        (
            it,
            own(&[17]),
            "Q",
            "hello",
            json!({"reason": "not_a_move"}),
        ),
        (
            it,
            own(&[17]),
            "Q",
            "K:out",
            json!({"reason": "not_in_hand", "card": "K"}),
        ),
        (
            it,
            own(&[17]),
            "Q",
            "fold",
            json!({"reason": "must_be_played"}),
        ),
        (
            it,
            with(&[10], fresh.clone()),
            "Q",
            "Q:10>22",
            json!({"reason": "blocked", "seat": 1, "place": "16"}),
        ),
        (
            it,
            goal(&[62], &[1]),
            "5",
            "5:62>g2",
            json!({"reason": "goal_occupied", "place": "goal:1"}),
        ),
        (
            house,
            goal(&[0], &[]),
            "4",
            "4:0>g3",
            json!({"reason": "not_over_start"}),
        ),
        (
            it,
            own(&[2]),
            "4",
            "4:2>g1",
            json!({"reason": "no_backward_entry"}),
        ),
        (
            it,
            json!([{"track": [0], "fresh": true}, {}, {}, {}]),
            "2",
            "2:0>g1",
            json!({"reason": "fresh_piece"}),
        ),
        (
            it,
            own(&[17]),
            "Q",
            "Q:70>82",
            json!({"reason": "no_such_place", "place": "70"}),
        ),
        (
            it,
            own(&[17]),
            "Q",
            "Q:18>30",
            json!({"reason": "no_such_piece", "place": "18"}),
        ),
        (
            it,
            goal(&[17], &[]),
            "2",
            "2:g0>g2",
            json!({"reason": "no_such_piece", "place": "goal:0"}),
        ),
        (
            it,
            own(&[20, 22]),
            "7",
            "7:20>23,22>26",
            json!({"reason": "captured_before", "place": "22", "part": 2}),
        ),
        (
            it,
            with(&[17], json!({"track": [30]})),
            "Q",
            "Q:30>42",
            json!({"reason": "not_the_piece", "seat": 1, "place": "30"}),
        ),
        (
            it,
            own(&[1, 2, 3, 4]),
            "K",
            "K:out",
            json!({"reason": "kennel_empty", "seat": 0}),
        ),
        (
            it,
            own(&[62]),
            "5",
            "5:62>p2",
            json!({"reason": "foreign_goal"}),
        ),
        (
            it,
            goal(&[], &[2]),
            "5",
            "5:g2>20",
            json!({"reason": "leaves_goal"}),
        ),
        (
            it,
            own(&[17]),
            "Q",
            "Q:17>30",
            json!({"reason": "wrong_steps", "card": "Q", "place": "17"}),
        ),
        (
            it,
            own(&[17]),
            "J",
            "J:17<>17",
            json!({"reason": "swap_with_itself"}),
        ),
        (
            it,
            own(&[17, 18]),
            "J",
            "J:17<>18",
            json!({"reason": "swap_own_pair"}),
        ),
        (
            it,
            with(&[17], fresh),
            "J",
            "J:17<>16",
            json!({"reason": "swap_protected", "seat": 1, "place": "16"}),
        ),
        (
            it,
            own(&[17]),
            "J",
            "J:none",
            json!({"reason": "no_effect_refused"}),
        ),
        (
            house,
            own(&[]),
            "J",
            "J:none",
            json!({"reason": "no_piece_on_ring", "seat": 0}),
        ),
        (
            house,
            with(&[17], json!({"track": [30]})),
            "J",
            "J:none",
            json!({"reason": "other_piece_on_ring", "seat": 1, "place": "30"}),
        ),
        (
            it,
            own(&[17]),
            "7",
            "7:17>17",
            json!({"reason": "part_steps", "place": "17", "part": 1}),
        ),
        (
            house,
            with(&[20], json!({"track": [22]})),
            "7",
            "7:20>22",
            json!({"reason": "landing_occupied", "place": "22", "part": 1}),
        ),
        (
            it,
            own(&[17]),
            "7",
            "7:17>20",
            json!({"reason": "total_steps"}),
        ),
        (
            it,
            own(&[17, 30]),
            "7",
            "7:17>20,30>36",
            json!({"reason": "total_steps", "part": 2}),
        ),
    ];
    let of_presets = cases.map(|(preset, board, card, id, expected)| {
        (json!({"preset": preset}), board, card, id, expected)
    });
    let home_but_one = json!([
        {"track": [60], "goal": [1, 2, 3]}, {}, {"track": [40, 50]}, {}
    ]);
    let of_options = [
        (
            json!({"capture_own": false}),
            own(&[20, 23]),
            "3",
            "3:20>23",
            json!({"reason": "own_piece", "place": "23"}),
        ),
        (
            json!({"seven_rest": "one_piece"}),
            home_but_one,
            "7",
            "7:60>g0,40>41,50>51",
            json!({"reason": "one_piece_only", "place": "41", "part": 3}),
        ),
        (
            json!({"preset": house, "jack_without_effect_when": "no_swap_possible"}),
            with(&[4], json!({"track": [20]})),
            "J",
            "J:none",
            json!({"reason": "swap_possible", "seat": 0}),
        ),
    ];
    let mut seen = BTreeSet::new();
    for (rules, board, card, id, expected) in of_presets.into_iter().chain(of_options) {
        let encoded = id.replace('>', "%3E").replace('<', "%3C");
        let body = json!({"rules": rules, "board": board, "seat": 0, "hand": [card]});
        let problem = server
            .post(&format!("/v1/analysis/legal-moves?move={encoded}"))
            .json(&body)
            .header("Accept", "image/svg+xml")
            .send()
            .refused("illegal_move");
        seen.insert(expected["reason"].as_str().expect("a reason").to_owned());
        assert_eq!(members(problem), expected, "{rules} {id}");
    }
    // No move id asks for this, but a card may have no move for it.
    let body = json!({"board": goal(&[], &[2]), "seat": 0, "hand": ["5"]});
    let list = server.post("/v1/analysis/legal-moves").json(&body);
    let reason = list.send().expect(200)["unplayable"][0]["reason"].take();
    assert_eq!(reason, "beyond_goal");
    seen.insert("beyond_goal".to_owned());
    assert_eq!(seen, documented("illegal_move"));
}

/// Where a body or a query is wrong, and what may stand there.
#[test]
fn a_mistake_is_named_by_its_place() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let levels = json!(["random", "greedy", "fast", "strong"]);
    let at = |reason: &str, pointer: &str, allowed: Value| {
        let error = json!({"pointer": pointer, "allowed": allowed});
        json!({"reason": reason, "errors": [error]})
    };
    let none = Value::Null;
    let create = |body: Value| server.post("/v1/games").json(&body).send();
    let seat = |seat: Value| create(json!({"seats": [{}, seat, {}, {}]}));
    let cases = [
        (
            create(json!({"colour": 1})),
            "invalid_request",
            at(
                "unknown_member",
                "/colour",
                json!([
                    "rules",
                    "seats",
                    "first_dealer",
                    "shuffle_seed",
                    "listed",
                    "reactions",
                    "bot_pace_ms",
                    "turn_seconds",
                    "join",
                    "start",
                    "bots_after_seconds",
                ]),
            ),
        ),
        (
            create(json!([])),
            "invalid_request",
            at("wrong_value", "", none.clone()),
        ),
        (
            create(json!({"listed": "yes"})),
            "invalid_request",
            at("wrong_value", "/listed", none.clone()),
        ),
        (
            create(json!({"first_dealer": 300})),
            "invalid_request",
            at("wrong_value", "/first_dealer", none.clone()),
        ),
        (
            create(json!({"first_dealer": 4})),
            "invalid_request",
            at("wrong_value", "/first_dealer", none.clone()),
        ),
        (
            create(json!({"seats": {}})),
            "invalid_request",
            at("wrong_value", "/seats", none.clone()),
        ),
        (
            create(json!({"seats": [{}]})),
            "invalid_request",
            at("wrong_value", "/seats", none.clone()),
        ),
        (
            create(json!({"seats": [0]})),
            "invalid_request",
            at("wrong_value", "/seats/0", none.clone()),
        ),
        (
            seat(json!({"kind": "cat"})),
            "invalid_request",
            at(
                "wrong_value",
                "/seats/1/kind",
                json!(["human", "bot", "open"]),
            ),
        ),
        (
            seat(json!({"kind": 1})),
            "invalid_request",
            at(
                "wrong_value",
                "/seats/1/kind",
                json!(["human", "bot", "open"]),
            ),
        ),
        (
            seat(json!({"level": "wise"})),
            "invalid_request",
            at("wrong_value", "/seats/1/level", levels.clone()),
        ),
        (
            seat(json!({"name": ""})),
            "invalid_request",
            at("wrong_value", "/seats/1/name", none.clone()),
        ),
        (
            create(json!({"rules": {"preset": "swiss"}})),
            "invalid_rules",
            at(
                "wrong_value",
                "/rules/preset",
                json!([
                    "familienlager",
                    "dogspiel-de",
                    "dogspiel-it",
                    "spielanleitung",
                    "hausregeln"
                ]),
            ),
        ),
        (
            create(json!({"rules": {"seats": 5}})),
            "invalid_rules",
            at("wrong_value", "/rules/seats", json!(["4", "6"])),
        ),
        (
            create(json!({"rules": {"deal_sizes": {"first": [6]}}})),
            "invalid_rules",
            at("missing", "/rules/deal_sizes/then", none.clone()),
        ),
        (
            game.post(Seat(0), "/swap")
                .json(&json!({"card": "1"}))
                .send(),
            "unknown_card",
            json!({"errors": [{"pointer": "/card", "allowed": [
                "A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "joker"
            ]}]}),
        ),
        (
            game.post(Seat(0), "/swap")
                .json(&json!({"ask": true, "decline": true}))
                .send(),
            "invalid_request",
            json!({"reason": "wrong_combination"}),
        ),
        (
            server.get("/v1/games?phase=lunch").send(),
            "invalid_request",
            at(
                "wrong_value",
                "/phase",
                json!(["seating", "deal", "exchange", "play", "finished"]),
            ),
        ),
        (
            server.get("/v1/games?limit=many").send(),
            "invalid_request",
            at("wrong_value", "/limit", none.clone()),
        ),
        (
            server.get("/v1/games?limit=101").send(),
            "invalid_request",
            at("wrong_value", "/limit", none.clone()),
        ),
        (
            server.get("/v1/games?limit=1&limit=2").send(),
            "invalid_request",
            at("duplicate", "/limit", none.clone()),
        ),
        (
            server.get("/v1/games?colour=1").send(),
            "invalid_request",
            at(
                "unknown_member",
                "/colour",
                json!(["phase", "open", "cursor", "limit"]),
            ),
        ),
        (
            server.get("/v1/games?open=yes").send(),
            "invalid_request",
            at("wrong_value", "/open", none.clone()),
        ),
        (
            server.get("/v1/rules?a=1").send(),
            "invalid_request",
            at("unknown_member", "/a", json!([])),
        ),
        (
            game.get(Seat(0), "/suggest-move?level=wise").send(),
            "invalid_request",
            at("wrong_value", "/level", levels),
        ),
    ];
    for (response, code, expected) in cases {
        let what = response.what.clone();
        assert_eq!(members(response.refused(code)), expected, "{what}");
    }
    let twice = server
        .post("/v1/games")
        .text("application/json", "{\"listed\": true, \"listed\": true}");
    let twice = members(twice.send().refused("invalid_request"));
    assert_eq!(twice, at("duplicate", "/listed", none.clone()));
    let key = "k".repeat(40_000);
    let long = create(json!({&key: 1})).refused("invalid_request");
    assert!(long.to_string().len() < 1_000, "a long name is cut off");
    let missing = game.post(Seat(0), "/play").json(&json!({}));
    let missing = members(missing.send().refused("wrong_phase"));
    assert_eq!(missing, json!({"phase": "exchange", "expected": "play"}));
}

/// What depends on the game: who may act, in which phase, at which version.
#[test]
fn other_refusals_have_reasons_too() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let hand = game.hand(0);
    let card = json!({"card": hand[0]});
    let other = TestGame::fixed(&server);
    let foreign = server.get(&game.path("")).token(&other.tokens[0]).send();
    let cases = [
        (
            game.post(Spectator, "/deal").send(),
            "unauthorized",
            json!({"reason": "no_token"}),
        ),
        (foreign, "unauthorized", json!({"reason": "unknown_token"})),
        (
            server.get(&game.path("/events?ticket=none")).send(),
            "unauthorized",
            json!({"reason": "invalid_ticket"}),
        ),
        (
            game.post(Host, "/swap").json(&card).send(),
            "forbidden",
            json!({"reason": "seat_only"}),
        ),
        (
            game.request("DELETE", Seat(0), "").send(),
            "forbidden",
            json!({"reason": "host_only"}),
        ),
        (
            game.post(Seat(0), "/seats/1/token").send(),
            "forbidden",
            json!({"reason": "another_seat"}),
        ),
        (
            game.post(Seat(0), "/swap")
                .json(&json!({"decline": true}))
                .send(),
            "illegal_exchange",
            json!({"reason": "exchange_mandatory"}),
        ),
        (
            game.post(Seat(0), "/deal").send(),
            "wrong_phase",
            json!({"phase": "exchange", "expected": "deal"}),
        ),
        (
            game.post(Seat(0), "/swap")
                .json(&json!({"card": hand[0], "version": 1}))
                .send(),
            "stale_version",
            json!({"version": game.version()}),
        ),
    ];
    for (response, code, expected) in cases {
        let what = response.what.clone();
        assert_eq!(members(response.refused(code)), expected, "{what}");
    }
    game.swap(0, &card);
    let again = game.post(Seat(0), "/swap").json(&card).send();
    let again = members(again.refused("not_your_turn"));
    assert_eq!(again, json!({"reason": "already_answered", "seat": 0}));

    let game = TestGame::in_play(&server);
    let turn = game.turn();
    let early = game
        .post(Seat((turn + 1) % 4), "/play")
        .json(&json!({"move": "fold"}));
    let early = members(early.send().refused("not_your_turn"));
    assert_eq!(early, json!({"reason": "another_seat_moves", "seat": turn}));
    game.request("PUT", Host, "/seats/1")
        .json(&json!({"kind": "bot"}))
        .send()
        .expect(200);
    let bot = game.post(Seat(1), "/play").json(&json!({"move": "fold"}));
    let bot = members(bot.send().refused("forbidden"));
    assert_eq!(bot, json!({"reason": "bot_plays", "seat": 1}));

    let board = |board: Value| {
        let name = if board.is_string() {
            "position"
        } else {
            "board"
        };
        let body = json!({name: board, "seat": 0, "hand": ["A"]});
        let response = server.post("/v1/analysis/legal-moves").json(&body).send();
        members(response.refused("invalid_board"))
    };
    let reasons = [
        (json!([{}]), json!({"reason": "wrong_seats"})),
        (
            json!([{"track": [1, 2, 3, 4, 5]}, {}, {}, {}]),
            json!({"reason": "wrong_pieces", "seat": 0}),
        ),
        (
            json!([{}, {"track": [64]}, {}, {}]),
            json!({"reason": "no_such_field", "seat": 1, "place": "64"}),
        ),
        (
            json!([{"track": [5]}, {"track": [5]}, {}, {}]),
            json!({"reason": "field_twice", "place": "5"}),
        ),
        (
            json!([{"track": [5], "fresh": true}, {}, {}, {}]),
            json!({"reason": "no_fresh_piece", "seat": 0, "place": "0"}),
        ),
        (
            json!("- / 17 18z / - / -"),
            json!({"reason": "not_a_place", "character": 8}),
        ),
        (
            json!("- / - 17 / - / -"),
            json!({"reason": "not_a_place", "character": 5}),
        ),
        (
            json!("17 / - / 9 17 / -"),
            json!({"reason": "field_twice", "place": "17", "character": 12}),
        ),
        (
            json!("17f / - / - / -"),
            json!({"reason": "no_fresh_piece", "seat": 0, "place": "0", "character": 1}),
        ),
        (
            json!("17 / -"),
            json!({"reason": "wrong_seats", "character": 7}),
        ),
    ];
    let mut seen = BTreeSet::new();
    for (seats, expected) in reasons {
        seen.insert(expected["reason"].as_str().expect("a reason").to_owned());
        assert_eq!(board(seats), expected);
    }
    assert_eq!(seen, documented("invalid_board"));
    let text = server
        .post("/v1/games/import")
        .text("text/plain", "[Dog \"1\"]\nhello");
    let record = members(text.send().refused("invalid_record"));
    assert_eq!(record, json!({"line": 2}));
}

/// No detail has the words of a parser, whatever is wrong with a body or a query.
#[test]
fn details_are_for_people() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let values = [
        "",
        "{",
        "[",
        "1",
        "\"a\"",
        "[]",
        "[{}]",
        "{\"version\": -1}",
        "{\"version\": \"1\"}",
        "{\"move\": 1}",
        "{\"move\": null}",
        "{\"card\": []}",
        "{\"ask\": 1}",
        "{\"kind\": {}}",
        "{\"kind\": \"human\", \"level\": 7}",
        "{\"rules\": 1}",
        "{\"rules\": {\"jokers\": \"six\"}}",
        "{\"rules\": {\"dealer\": \"both\"}}",
        "{\"rules\": {\"deal_sizes\": [6]}}",
        "{\"board\": [{\"track\": [-1]}]}",
        "{\"board\": {}, \"seat\": 0, \"hand\": []}",
        "{\"board\": [{\"track\": [1.5]}], \"seat\": 0}",
        "{\"known\": {\"counts\": [999]}}",
        "{\"board\": [{}], \"seat\": 0, \"hand\": [], \"known\": {\"hands\": [1]}}",
        "{\"record\": 1}",
        "{\"listed\": true}",
        "{\"a\": 1}",
        "{]",
        "{\"a\"}",
        "nul",
        "\u{1}",
    ];
    let words = [
        "expected",
        "invalid type",
        "invalid value",
        "variant",
        "EOF",
        "parsing",
        "deserialize",
        "unknown field",
        "missing field",
        "duplicate field",
        "struct",
        "sequence",
        "u8",
        "u32",
        "u64",
        "map,",
    ];
    let check = |problem: &Value| {
        let detail = problem["detail"].as_str().expect("a detail");
        let found = words.into_iter().find(|word| detail.contains(word));
        assert_eq!(found, None, "{detail}");
    };
    let mut refused = 0;
    for path in [
        "/v1/games",
        "/v1/games/import",
        "/v1/analysis/legal-moves",
        "/v1/analysis/legal-moves/seven",
        "/v1/analysis/suggest-move",
        &game.path("/deal"),
        &game.path("/swap"),
        &game.path("/play"),
        &game.path("/seats/0/token"),
        &game.path("/events/ticket"),
    ] {
        for value in values {
            let request = server.post(path).token(&game.host);
            let response = request.text("application/json", value).send();
            if response.status >= 400 {
                refused += 1;
                check(&response.json());
            }
        }
    }
    assert!(refused > 200, "{refused}");
    for query in [
        "?limit=a",
        "?limit=-1",
        "?limit=99999999999",
        "?phase=",
        "?phase=x",
        "?x",
        "?x=%ff",
        "?%",
        "?limit=1&limit=1",
        "?cursor=x",
        "?limit",
        "?=",
    ] {
        let response = server.get(&format!("/v1/games{query}")).send();
        check(&response.refused("invalid_request"));
    }
    for query in [
        "?seed=x",
        "?budget_ms=0",
        "?samples=1&budget_ms=1",
        "?level=x",
        "?samples=-1",
    ] {
        let turn = Seat(game.turn());
        let response = game.get(turn, &format!("/suggest-move{query}")).send();
        check(&response.refused("invalid_request"));
    }
}
