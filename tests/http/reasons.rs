//! What a problem document says to programs besides its code: reasons, places, and what is allowed
//! in a body.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use crate::support::{
    CARDS, LEVELS, PRESETS, TestGame, TestResponse, TestServer,
    TestViewer::{self, Host, Seat},
    columns,
};

/// The members of a refusal that programs read.
#[track_caller]
fn members(response: TestResponse, code: &str) -> Value {
    let mut problem = response.refused(code);
    let members = problem.as_object_mut().expect("an object");
    for name in ["type", "title", "status", "detail", "code"] {
        members.remove(name).expect(name);
    }
    problem
}

/// The object with these members, as JSON writes them.
fn object(members: &str) -> Value {
    serde_json::from_str(&format!("{{{members}}}")).expect("members")
}

/// The rows of a table.
fn rows(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter(|line| !line.is_empty())
}

/// The reasons that `docs/errors.md` lists for this code.
fn documented(code: &str) -> BTreeSet<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/errors.md");
    let page = fs::read_to_string(page).expect("docs/errors.md");
    let row = |line: &str| {
        let row = line.strip_prefix(&format!("| `{code}` | `"))?;
        Some(row.split_once('`')?.0.to_owned())
    };
    page.lines().filter_map(row).collect()
}

/// Options, a position, the card of seat 0, a move, why it is refused, and the other members.
const REFUSED_MOVES: &str = r#"
                  | 17 / - / - / -   | Q | hello          | not_a_move        |
                  | 17 / - / - / -   | Q | K:out          | not_in_hand       | "card": "K"
                  | 17 / - / - / -   | Q | fold           | must_be_played    |
                  | 10 / 16f / - / - | Q | Q:10>22 | blocked | "seat": 1, "place": "16"
                  | 62 g1 / - / - / - | 5 | 5:62>g2        | goal_occupied     | "place": "goal:1"
preset=hausregeln | 0 / - / - / -    | 4 | 4:0>g3         | not_over_start    |
                  | 2 / - / - / -    | 4 | 4:2>g1         | no_backward_entry |
                  | 0f / - / - / -   | 2 | 2:0>g1         | fresh_piece       |
                  | 17 / - / - / -   | Q | Q:70>82        | no_such_place     | "place": "70"
                  | 17 / - / - / -   | Q | Q:18>30        | no_such_piece     | "place": "18"
                  | 17 / - / - / -   | 2 | 2:g0>g2        | no_such_piece     | "place": "goal:0"
                  | 20,22/-/-/-     | 7 | 7:20>23,22>26 | captured_before | "place": "22", "part": 2
                  | 17 / 30 / - / -  | Q | Q:30>42 | not_the_piece | "seat": 1, "place": "30"
                  | 1 2 3 4 / - / - / - | K | K:out          | kennel_empty      | "seat": 0
                  | 62 / - / - / -   | 5 | 5:62>p2        | foreign_goal      |
                  | g2 / - / - / -   | 5 | 5:g2>20        | leaves_goal       |
                  | 17 / - / - / -   | Q | Q:17>30 | wrong_steps | "card": "Q", "place": "17"
                  | 17 / - / - / -   | J | J:17<>17       | swap_with_itself  |
                  | 17 18 / - / - / - | J | J:17<>18       | swap_own_pair     |
                  | 17 / 16f / - / - | J | J:17<>16 | swap_protected | "seat": 1, "place": "16"
                  | 17 / - / - / -   | J | J:none         | no_effect_refused |
preset=hausregeln | - / - / - / -    | J | J:none         | no_piece_on_ring  | "seat": 0
preset=hausregeln | 17 / 30 / - / -  | J | J:none | other_piece_on_ring | "seat": 1, "place": "30"
                  | 17 / - / - / -   | 7 | 7:17>17 | part_steps | "place": "17", "part": 1
preset=hausregeln | 20 / 22 / - / -  | 7 | 7:20>22 | landing_occupied | "place": "22", "part": 1
                  | 17 / - / - / -   | 7 | 7:17>20        | total_steps       |
                  | 17 30 / - / - / - | 7 | 7:17>20,30>36  | total_steps       | "part": 2
capture_own=false | 20 23 / - / - / - | 3 | 3:20>23        | own_piece         | "place": "23"
"#;

/// The same by other options.
const REFUSED_BY_OPTIONS: [&str; 2] = [
    "seven_rest=one_piece | 60 g1 g2 g3 / - / 40 50 / - | 7 | 7:60>g0,40>41,50>51 \
     | one_piece_only | \"place\": \"41\", \"part\": 3",
    "preset=hausregeln jack_without_effect_when=no_swap_possible | 4 / 20 / - / - | J | J:none \
     | swap_possible | \"seat\": 0",
];

/// Every reason for which a move is refused, with a position, a card and a move.
#[test]
fn a_refused_move_has_each_of_the_documented_reasons() {
    let server = TestServer::shared();
    let mut seen = BTreeSet::new();
    for row in rows(REFUSED_MOVES).chain(REFUSED_BY_OPTIONS) {
        let [options, position, card, id, reason, more] = columns(row);
        let mut rules = json!({});
        for (name, value) in options
            .split(' ')
            .filter_map(|option| option.split_once('='))
        {
            rules[name] = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
        }
        let encoded = id.replace('>', "%3E").replace('<', "%3C");
        let path = format!("/v1/analysis/legal-moves?move={encoded}");
        let body = json!({"rules": rules, "position": position, "seat": 0, "hand": [card]});
        let picture = server.post(&path).json(&body);
        let refused = picture.header("Accept", "image/svg+xml").send();
        let mut expected = object(more);
        expected["reason"] = json!(reason);
        assert_eq!(members(refused, "illegal_move"), expected, "{row}");
        seen.insert(reason.to_owned());
    }
    // No move id asks for this, but a card may have no move for it.
    let body = json!({"position": "g2 / - / - / -", "seat": 0, "hand": ["5"]});
    let list = server.post("/v1/analysis/legal-moves").json(&body);
    let reason = list.send().expect(200)["unplayable"][0]["reason"].take();
    assert_eq!(reason, "beyond_goal");
    seen.insert("beyond_goal".to_owned());
    assert_eq!(seen, documented("illegal_move"));
}

/// The body of a creation or the path of a read, what is wrong, where, and what is allowed there.
const MISTAKES: &str = r#"
[]                                         | wrong_value |
{"listed": "yes"}                          | wrong_value | /listed
{"first_dealer": 300}                      | wrong_value | /first_dealer
{"first_dealer": 4}                        | wrong_value | /first_dealer
{"seats": {}}                              | wrong_value | /seats
{"seats": [{}]}                            | wrong_value | /seats
{"seats": [0]}                             | wrong_value | /seats/0
{"seats": [{}, {"kind": "cat"}, {}, {}]}   | wrong_value | /seats/1/kind | human bot open
{"seats": [{}, {"kind": 1}, {}, {}]}       | wrong_value | /seats/1/kind | human bot open
{"seats": [{}, {"level": "x"}, {}, {}]}   | wrong_value | /seats/1/level | random greedy fast strong
{"seats": [{}, {"name": ""}, {}, {}]}      | wrong_value | /seats/1/name
{"listed": true, "listed": true}           | duplicate | /listed
/v1/games?phase=lunch          | wrong_value | /phase | seating deal exchange play finished
/v1/games?limit=many           | wrong_value | /limit
/v1/games?limit=101            | wrong_value | /limit
/v1/games?limit=1&limit=2      | duplicate | /limit
/v1/games?colour=1             | unknown_member | /colour | phase open all creator cursor limit
/v1/games?open=yes             | wrong_value | /open
/v1/rules?a=1                  | unknown_member | /a |
"#;

/// Where a body or a query is wrong, and what is allowed there.
#[test]
fn a_mistake_is_named_by_its_place() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let at = |reason: &str, pointer: &str, allowed: Value| {
        let error = json!({"pointer": pointer, "allowed": allowed});
        json!({"reason": reason, "errors": [error]})
    };
    let create = |body: &str| {
        let create = server.post("/v1/games");
        create.text("application/json", body).send()
    };
    for row in rows(MISTAKES) {
        let row: Vec<&str> = row.split('|').map(str::trim).collect();
        let response = match row[0].starts_with('/') {
            true => server.get(row[0]).send(),
            false => create(row[0]),
        };
        let allowed: Option<Vec<&str>> = row.get(3).map(|words| words.split_whitespace().collect());
        let expected = at(row[1], row[2], json!(allowed));
        assert_eq!(members(response, "invalid_request"), expected, "{row:?}");
    }
    let creation = "rules seats first_dealer shuffle_seed listed reactions bot_pace_ms \
        turn_seconds join start bots_after_seconds data";
    let creation = json!(creation.split(' ').collect::<Vec<_>>());
    let unknown = members(create(r#"{"colour": 1}"#), "invalid_request");
    assert_eq!(unknown, at("unknown_member", "/colour", creation));
    let rules = |rules: &str| {
        let refused = create(&format!("{{\"rules\": {rules}}}"));
        members(refused, "invalid_rules")
    };
    let preset = at("wrong_value", "/rules/preset", json!(PRESETS));
    assert_eq!(rules(r#"{"preset": "swiss"}"#), preset);
    let seats = at("wrong_value", "/rules/seats", json!(["4", "6"]));
    assert_eq!(rules(r#"{"seats": 5}"#), seats);
    let sizes = at("missing", "/rules/deal_sizes/then", Value::Null);
    assert_eq!(rules(r#"{"deal_sizes": {"first": [6]}}"#), sizes);
    let wise = game.get(Seat(0), "/suggest-move?level=wise").send();
    let expected = at("wrong_value", "/level", json!(LEVELS));
    assert_eq!(members(wise, "invalid_request"), expected);
    let swap = |body: Value| game.post_json(Seat(0), "/swap", &body);
    let card = members(swap(json!({"card": "1"})), "unknown_card");
    let cards = json!([{"pointer": "/card", "allowed": CARDS}]);
    assert_eq!(card, json!({"errors": cards}));
    let both = swap(json!({"ask": true, "decline": true}));
    let both = members(both, "invalid_request");
    assert_eq!(both, json!({"reason": "wrong_combination"}));
    let key = "k".repeat(40_000);
    let long = server.create(&json!({&key: 1})).refused("invalid_request");
    assert!(long.to_string().len() < 1_000, "a long name is cut off");
    let missing = game.post_json(Seat(0), "/play", &json!({}));
    let missing = members(missing, "wrong_phase");
    assert_eq!(missing, json!({"phase": "exchange", "expected": "play"}));
}

/// Who asks, for what, and how it is refused.
const OTHER_REFUSALS: &str = r#"
spectator | POST /deal                      | unauthorized     | "reason": "no_token"
spectator | GET /events?ticket=none         | unauthorized     | "reason": "invalid_ticket"
host      | POST /swap {"card": "CARD"}     | forbidden        | "reason": "seat_only"
0         | DELETE                          | forbidden        | "reason": "host_only"
0         | POST /seats/1/token             | forbidden        | "reason": "another_seat"
0         | POST /swap {"decline": true}    | illegal_exchange | "reason": "exchange_mandatory"
0         | POST /deal                      | wrong_phase  | "phase": "exchange", "expected": "deal"
0 | POST /swap {"card": "CARD", "version": 1} | stale_version | "version": 2
"#;

/// Impossible boards and positions.
const IMPOSSIBLE_BOARDS: &str = r#"
[{}]                                     | "reason": "wrong_seats"
[{"track": [1, 2, 3, 4, 5]}, {}, {}, {}] | "reason": "wrong_pieces", "seat": 0
[{}, {"track": [64]}, {}, {}]            | "reason": "no_such_field", "seat": 1, "place": "64"
[{"track": [5]}, {"track": [5]}, {}, {}] | "reason": "field_twice", "place": "5"
[{"track": [5], "fresh": true}, {}, {}, {}] | "reason": "no_fresh_piece", "seat": 0, "place": "0"
- / 17 18z / - / -  | "reason": "not_a_place", "character": 8
- / - 17 / - / -    | "reason": "not_a_place", "character": 5
17 / - / 9 17 / -   | "reason": "field_twice", "place": "17", "character": 12
17f / - / - / -     | "reason": "no_fresh_piece", "seat": 0, "place": "0", "character": 1
17 / -              | "reason": "wrong_seats", "character": 7
"#;

/// What depends on the game: who may act, in which phase, at which version.
#[test]
fn other_refusals_have_reasons_too() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let hand = game.hand(0);
    for row in rows(OTHER_REFUSALS) {
        let [by, request, code, more] = columns(row);
        let is_named = |viewer: &TestViewer| viewer.to_string() == by;
        let viewer = game.viewers().into_iter().find(is_named);
        let mut words = request.splitn(3, ' ');
        let method = words.next().expect("a method");
        let path = words.next().unwrap_or_default();
        let mut request = game.request(method, viewer.expect("a viewer"), path);
        if let Some(body) = words.next() {
            request = request.text("application/json", &body.replace("CARD", &hand[0]));
        }
        let told = members(request.send(), code);
        assert_eq!(told, object(more), "{row}");
    }
    let other = TestGame::fixed(&server);
    let foreign = server.get(&game.path("")).token(&other.tokens[0]).send();
    let foreign = members(foreign, "unauthorized");
    assert_eq!(foreign, json!({"reason": "unknown_token"}));
    let card = json!({"card": hand[0]});
    game.swap(0, &card);
    let again = game.post_json(Seat(0), "/swap", &card);
    let again = members(again, "not_your_turn");
    assert_eq!(again, json!({"reason": "already_answered", "seat": 0}));

    let game = TestGame::in_play(&server);
    let turn = game.turn();
    let early = game.try_play(Seat((turn + 1) % 4), "fold");
    let early = members(early, "not_your_turn");
    assert_eq!(early, json!({"reason": "another_seat_moves", "seat": turn}));
    game.put(Host, 1, &json!({"kind": "bot"})).expect(200);
    let bot = members(game.try_play(Seat(1), "fold"), "forbidden");
    assert_eq!(bot, json!({"reason": "bot_plays", "seat": 1}));

    let mut seen = BTreeSet::new();
    for row in rows(IMPOSSIBLE_BOARDS) {
        let [board, reason] = columns(row);
        let mut body = json!({"seat": 0, "hand": ["A"]});
        match serde_json::from_str::<Value>(board) {
            Ok(board) => body["board"] = board,
            Err(_) => body["position"] = json!(board),
        }
        let response = server.post("/v1/analysis/legal-moves").json(&body).send();
        let expected = object(reason);
        assert_eq!(members(response, "invalid_board"), expected, "{row}");
        seen.insert(expected["reason"].as_str().expect("a reason").to_owned());
    }
    assert_eq!(seen, documented("invalid_board"));
    let record = server.import("[Dog \"1\"]\nhello");
    assert_eq!(members(record, "invalid_record"), json!({"line": 2}));
}

/// Bodies that are wrong, one a line, for most routes.
const WRONG_BODIES: &str = r#"
{
[
1
"a"
[]
[{}]
{"version": -1}
{"version": "1"}
{"move": 1}
{"move": null}
{"card": []}
{"ask": 1}
{"kind": {}}
{"kind": "human", "level": 7}
{"rules": 1}
{"rules": {"jokers": "six"}}
{"rules": {"dealer": "both"}}
{"rules": {"deal_sizes": [6]}}
{"board": [{"track": [-1]}]}
{"board": {}, "seat": 0, "hand": []}
{"board": [{"track": [1.5]}], "seat": 0}
{"known": {"counts": [999]}}
{"board": [{}], "seat": 0, "hand": [], "known": {"hands": [1]}}
{"record": 1}
{"listed": true}
{"a": 1}
{]
{"a"}
nul
"#;

/// Words of parsers.
const PARSER_WORDS: &str = "expected|invalid type|invalid value|variant|EOF|parsing|deserialize|\
    unknown field|missing field|duplicate field|struct|sequence|u8|u32|u64|map,";

/// Wrong queries, for a list of games and for advice.
const WRONG_QUERIES: &str = "limit=a limit=-1 limit=99999999999 phase= phase=x x x=%ff % \
    limit=1&limit=1 cursor=x limit =";
const WRONG_ADVICE_QUERIES: &str = "seed=x budget_ms=0 samples=1&budget_ms=1 level=x samples=-1";

#[test]
fn no_detail_has_the_words_of_a_parser() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let check = |problem: &Value| {
        let detail = problem["detail"].as_str().expect("a detail");
        let found = PARSER_WORDS.split('|').find(|word| detail.contains(word));
        assert_eq!(found, None, "{detail}");
    };
    let mut refused = 0;
    let of_game = "/deal /swap /play /forfeit /seats/0/token /events/ticket";
    let of_server = "/v1/games /v1/games/import /v1/analysis/legal-moves \
        /v1/analysis/legal-moves/seven /v1/analysis/suggest-move";
    let of_game = of_game.split(' ').map(|rest| game.path(rest));
    for path in of_server.split(' ').map(str::to_owned).chain(of_game) {
        // The first line is empty.
        for value in WRONG_BODIES.lines().chain(["\u{1}"]) {
            let request = server.post(&path).token(&game.host);
            let response = request.text("application/json", value).send();
            if response.status >= 400 {
                refused += 1;
                check(&response.json());
            }
        }
    }
    assert!(refused > 200, "{refused}");
    for query in WRONG_QUERIES.split(' ') {
        let response = server.get(&format!("/v1/games?{query}")).send();
        check(&response.refused("invalid_request"));
    }
    let turn = Seat(game.turn());
    for query in WRONG_ADVICE_QUERIES.split(' ') {
        let response = game.get(turn, &format!("/suggest-move?{query}")).send();
        check(&response.refused("invalid_request"));
    }
}
