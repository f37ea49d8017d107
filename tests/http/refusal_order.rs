//! The order of refusals (convention 6): of two faults in a request, the earlier one is reported.
//! Each route has a table of faults, which are tried alone and in pairs, in every state of a game.

use serde_json::{Value, json};

use crate::support::{
    Dice, Signal, TestGame, TestResponse, TestServer,
    TestViewer::{self, *},
    UNKNOWN_TOKEN,
};

/// A key that is strong enough for responses with tokens.
const KEY: &str = "5f2b8c1d9e7a40364bd1c2e8f90a7b53";

/// Where a fault is found, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CheckStage {
    /// 400, 413, 415
    Syntax,
    /// 404
    Existence,
    /// 401
    Token,
    /// 403
    Role,
    /// The first response again, or 422 for another body.
    Replay,
    /// 403, for a seat that a bot has taken over.
    Bot,
    /// 412
    Version,
    /// 409
    State,
    /// 422
    Content,
}

use CheckStage::*;

/// The stage that finds an error, and the problem code.
type ExpectedError = (CheckStage, &'static str);

/// The stage that finds a fault, the problem code, and what spoils the request.
type Fault = (CheckStage, &'static str, Spoil);

/// What spoils a request.
#[derive(Clone, Copy)]
enum Spoil {
    /// A member of the body, with its value in JSON.
    Member(&'static str, &'static str),
    /// Text after the body.
    Tail(&'static str),
    /// One more parameter.
    Query(&'static str),
    ContentType(&'static str),
    Key(&'static str),
    Guard(&'static str),
    /// Another token, or none.
    By(fn(&TestGame<'_>) -> Option<String>),
    Change(fn(&mut RequestParts, &TestGame<'_>)),
}

use Spoil::*;

/// Moves the game to another state; the error that the request then gets.
type Precondition = (fn(&mut TestGame<'_>), Option<ExpectedError>);

/// Stands for the first response, in place of a problem code.
const FIRST_RESPONSE: &str = "the first response";

/// A request in parts.
#[derive(Clone)]
struct RequestParts {
    method: &'static str,
    path: String,
    query: Vec<&'static str>,
    token: Option<String>,
    key: Option<&'static str>,
    guard: Option<&'static str>,
    accept: &'static str,
    content_type: &'static str,
    /// `null` if there is none.
    body: Value,
    /// What follows the JSON.
    tail: String,
}

impl RequestParts {
    fn new(method: &'static str, path: String, token: Option<&str>, body: Value) -> RequestParts {
        RequestParts {
            method,
            path,
            query: Vec::new(),
            token: token.map(str::to_owned),
            key: None,
            guard: None,
            accept: "*/*",
            content_type: "application/json",
            body,
            tail: String::new(),
        }
    }

    /// A request about a game.
    fn for_game(
        game: &TestGame<'_>,
        by: TestViewer,
        method: &'static str,
        rest: &str,
        body: Value,
    ) -> RequestParts {
        RequestParts::new(method, game.path(rest), game.token(by), body)
    }

    fn spoil(&mut self, how: Spoil, game: &TestGame<'_>) {
        match how {
            Member(name, json) => self.body[name] = serde_json::from_str(json).expect("JSON"),
            Tail(text) => self.tail.push_str(text),
            Query(parameter) => self.query.push(parameter),
            ContentType(content_type) => self.content_type = content_type,
            Key(key) => self.key = Some(key),
            Guard(guard) => self.guard = Some(guard),
            By(token) => self.token = token(game),
            Change(change) => change(self, game),
        }
    }

    /// The whole body; empty if there is none.
    fn text(&self) -> String {
        let json = match &self.body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        json + &self.tail
    }

    fn send(&self, server: &TestServer) -> TestResponse {
        let mut path = self.path.clone();
        if !self.query.is_empty() {
            path = path + "?" + &self.query.join("&");
        }
        let mut request = server.request(self.method, &path);
        request = request.header("Accept", self.accept);
        if let Some(token) = &self.token {
            request = request.token(token);
        }
        if let Some(key) = self.key {
            request = request.key(key);
        }
        if let Some(guard) = self.guard {
            request = request.if_match(guard);
        }
        let text = self.text();
        if !text.is_empty() {
            request = request.text(self.content_type, &text);
        }
        request.send()
    }
}

/// Sends the request with each fault and each pair of faults, in each of these states, one after
/// the other. If retries are among the faults, the valid request is sent first.
fn check(
    game: &mut TestGame<'_>,
    right: &RequestParts,
    faults: &[&[Fault]],
    states: &[Precondition],
) {
    let server = game.server;
    let mut faults = faults.concat();
    faults.sort_by_key(|fault| fault.0);
    let is_kept = faults.iter().any(|fault| fault.0 == Replay);
    let first = is_kept.then(|| {
        let mut used = right.clone();
        used.key = Some(KEY);
        let response = used.send(server);
        assert!(response.status < 300, "{}", response.text());
        response
    });
    for (next, state) in states {
        next(game);
        let before = views(game);
        for set in up_to_two(&faults) {
            let wrong = set.iter().map(|fault| (fault.0, fault.1)).chain(*state);
            let Some(told) = earliest(wrong.collect()) else {
                continue;
            };
            let mut parts = right.clone();
            for (.., how) in &set {
                parts.spoil(*how, game);
            }
            if told == FIRST_RESPONSE && parts.query != right.query {
                // The document leaves this case open.
                continue;
            }
            let response = parts.send(server);
            if told != FIRST_RESPONSE {
                response.refused(told);
            } else if parts.text() != right.text() {
                response.refused("idempotency_key_reused");
            } else {
                response.assert_repeats(first.as_ref().expect("a first response"));
            }
        }
        assert_eq!(views(game), before);
    }
}

/// No fault, each fault, and each pair. The earlier one is applied last, since it may spoil what
/// the later has written.
fn up_to_two(faults: &[Fault]) -> Vec<Vec<Fault>> {
    let mut sets = vec![vec![]];
    for (index, later) in faults.iter().enumerate() {
        sets.push(vec![*later]);
        sets.extend(faults[..index].iter().map(|earlier| vec![*later, *earlier]));
    }
    sets
}

/// The expected code for these errors; `None` if there are none, or if they exclude each other: no
/// order is promised within a stage, and an unknown token has no role.
fn earliest(mut wrong: Vec<ExpectedError>) -> Option<&'static str> {
    wrong.sort();
    let has = |step| wrong.iter().any(|told| told.0 == step);
    let is_apart = wrong.windows(2).all(|pair| pair[0].0 != pair[1].0);
    let told = wrong.first().filter(|_| is_apart);
    told.filter(|_| !(has(Token) && has(Role)))
        .map(|told| told.1)
}

/// The view of each viewer.
fn views(game: &TestGame<'_>) -> Vec<String> {
    let view = |viewer| game.get(viewer, "").send().text();
    game.viewers().into_iter().map(view).collect()
}

/// Faults of every write.
const SYNTAX: &[Fault] = &[
    (Syntax, "malformed_json", Tail("}")),
    (Syntax, "unsupported_media_type", ContentType("text/html")),
    (Syntax, "invalid_idempotency_key", Key("a b")),
    (Syntax, "bad_request", Guard("\"1")),
];

/// Faults of every write except an import.
const TOO_LARGE: &[Fault] = &[(Syntax, "body_too_large", LARGE)];
const LARGE: Spoil = Change(|parts, _| parts.tail += &" ".repeat(70_000));

/// Faults of every request about a game.
const NO_ACCESS: &[Fault] = &[
    (Existence, "game_not_found", ABSENT_GAME),
    (
        Token,
        "unauthorized",
        By(|_| Some(UNKNOWN_TOKEN.to_owned())),
    ),
];
const ABSENT_GAME: Spoil = Change(|parts, game| {
    let absent: String = game.id.chars().rev().collect();
    parts.path = parts.path.replace(&game.id, &absent);
});

/// Faults where a token is required.
const NO_TOKEN: &[Fault] = &[(Token, "unauthorized", By(|_| None))];

/// Faults of role: routes that the host, or a seat, may not use.
const BY_HOST: &[Fault] = &[(Role, "forbidden", By(|game| Some(game.host.clone())))];
const BY_A_SEAT: &[Fault] = &[(Role, "forbidden", By(|game| Some(game.tokens[3].clone())))];

/// A key that was used before, with the same body and with another one.
const RETRY: &[Fault] = &[
    (Replay, FIRST_RESPONSE, Key(KEY)),
    (Replay, "idempotency_key_reused", OTHER_BODY),
];
const OTHER_BODY: Spoil = Change(|parts, _| {
    parts.key = Some(KEY);
    parts.tail.push(' ');
});

const STALE: &[Fault] = &[
    (Version, "stale_version", Guard("\"0\"")),
    (Version, "stale_version", Member("version", "0")),
];

/// An unknown query parameter and an unknown field.
const UNKNOWN: &[Fault] = &[
    (Content, "invalid_request", Query("colour=red")),
    (Content, "invalid_request", Member("colour", "\"red\"")),
];
const UNKNOWN_QUERY: &[Fault] = &[UNKNOWN[0]];

const WEAK_KEY: &[Fault] = &[(Content, "weak_idempotency_key", Key("order-17"))];

const NO_SEAT: &[Fault] = &[(Existence, "seat_not_found", FIFTH_SEAT)];
const FIFTH_SEAT: Spoil =
    Change(|parts, _| parts.path = parts.path.replace("/seats/1", "/seats/4"));

const VALID: Precondition = (|_| {}, None);
const TURN_OVER: Precondition = (|_| {}, Some((State, "not_your_turn")));
const FINISHED: Precondition = (finish, Some((State, "game_over")));
const RENEWED: Precondition = (renew, Some((Token, "token_replaced")));
const REMOVED: Precondition = (|game| game.remove(), Some((Existence, "game_not_found")));

/// Plays on until the view satisfies the condition.
fn play_until(game: &TestGame<'_>, is_there: impl Fn(&Value) -> bool) {
    let mut dice = Dice::new(1);
    while !is_there(&game.view(Spectator)) {
        game.step(&mut dice);
    }
}

fn finish(game: &mut TestGame<'_>) {
    play_until(game, |view| view["phase"] == "finished");
}

/// Plays on to the next deal.
fn end_round(game: &mut TestGame<'_>) {
    play_until(game, |view| view["phase"] == "deal");
}

/// Every seat gets a new token.
fn renew(game: &mut TestGame<'_>) {
    for seat in 0..game.seats() {
        game.renew(Seat(seat), seat);
    }
}

fn hand_over(game: &TestGame<'_>, seat: usize, kind: &str) {
    game.put(Host, seat, &json!({"kind": kind})).expect(200);
}

#[test]
fn of_a_play() {
    let server = TestServer::shared();
    let mut game = TestGame::in_play(&server);
    let (seat, id) = game.first_move();
    assert_eq!(seat, 1);
    let right = RequestParts::for_game(&game, Seat(1), "POST", "/play", json!({"move": id}));
    let own: &[Fault] = &[
        (Content, "illegal_move", Member("move", "\"Q:1>2\"")),
        (Content, "illegal_move", Member("move", "\"?\"")),
        (Content, "invalid_request", Member("move", "17")),
    ];
    let faults = [
        SYNTAX, TOO_LARGE, NO_ACCESS, NO_TOKEN, BY_HOST, RETRY, STALE, UNKNOWN, own,
    ];
    let states: &[Precondition] = &[
        TURN_OVER,
        (|game| hand_over(game, 1, "bot"), Some((Bot, "forbidden"))),
        (
            |game| {
                hand_over(game, 1, "human");
                play_until(game, |view| view["turn"] == 1);
            },
            None,
        ),
        (end_round, Some((State, "wrong_phase"))),
        (|game| drop(game.deal()), Some((State, "wrong_phase"))),
        FINISHED,
        RENEWED,
        REMOVED,
    ];
    check(&mut game, &right, &faults, states);
}

#[test]
fn of_a_swap() {
    let server = TestServer::shared();
    let mut game = TestGame::dealt(&server);
    let body = json!({"card": game.hand(0)[0]});
    let right = RequestParts::for_game(&game, Seat(0), "POST", "/swap", body);
    let own: &[Fault] = &[
        (Content, "unknown_card", Member("card", "\"?\"")),
        (Content, "invalid_request", Member("card", "7")),
        (Content, "illegal_exchange", DECLINED),
    ];
    const DECLINED: Spoil = Change(|parts, _| parts.body = json!({"decline": true}));
    let faults = [
        SYNTAX, TOO_LARGE, NO_ACCESS, NO_TOKEN, BY_HOST, RETRY, STALE, UNKNOWN, own,
    ];
    let states: &[Precondition] = &[
        TURN_OVER,
        (|game| hand_over(game, 0, "bot"), Some((Bot, "forbidden"))),
        (
            |game| {
                hand_over(game, 0, "human");
                for seat in 1..4 {
                    game.swap(seat, &json!({"card": game.hand(seat)[0]}));
                }
            },
            Some((State, "wrong_phase")),
        ),
        (end_round, Some((State, "wrong_phase"))),
        (|game| drop(game.deal()), None),
        FINISHED,
        RENEWED,
        REMOVED,
    ];
    check(&mut game, &right, &faults, states);
}

#[test]
fn of_a_forfeit() {
    let server = TestServer::shared();
    let mut game = TestGame::dealt(&server);
    let body = json!({"forfeit": false});
    let right = RequestParts::for_game(&game, Seat(0), "POST", "/forfeit", body);
    let own: &[Fault] = &[(Content, "invalid_request", Member("forfeit", "7"))];
    let faults = [
        SYNTAX, TOO_LARGE, NO_ACCESS, NO_TOKEN, BY_HOST, RETRY, STALE, UNKNOWN, own,
    ];
    let states: &[Precondition] = &[
        // A bot has nothing to do.
        (|game| drop(game.offer(0)), None),
        (|game| hand_over(game, 0, "bot"), Some((Bot, "forbidden"))),
        (
            |game| {
                hand_over(game, 0, "human");
                end_round(game);
            },
            None,
        ),
        FINISHED,
        RENEWED,
        REMOVED,
    ];
    check(&mut game, &right, &faults, states);
}

#[test]
fn of_a_deal() {
    let server = TestServer::shared();
    // Each seat deals in its turn.
    let mut game = TestGame::with_preset(&server, "spielanleitung");
    let right = RequestParts::for_game(&game, Seat(0), "POST", "/deal", json!({}));
    let faults = [
        SYNTAX, TOO_LARGE, NO_ACCESS, NO_TOKEN, RETRY, STALE, UNKNOWN,
    ];
    let states: &[Precondition] = &[
        (VALID.0, Some((State, "wrong_phase"))),
        (
            |game| {
                game.exchange();
                hand_over(game, 0, "bot");
            },
            Some((Bot, "forbidden")),
        ),
        (
            |game| {
                hand_over(game, 0, "human");
                end_round(game);
            },
            Some((State, "not_your_turn")),
        ),
        (
            |game| play_until(game, |view| view["phase"] == "deal" && view["dealer"] == 0),
            None,
        ),
        FINISHED,
        RENEWED,
        REMOVED,
    ];
    check(&mut game, &right, &faults, states);
}

#[test]
fn of_a_seat_handed_over() {
    let server = TestServer::shared();
    let mut game = TestGame::fixed(&server);
    let body = json!({"kind": "human", "name": "Ada"});
    let right = RequestParts::for_game(&game, Host, "PUT", "/seats/1", body);
    let own: &[Fault] = &[
        (Content, "invalid_request", Member("level", "\"genius\"")),
        (Content, "invalid_request", Member("kind", "7")),
    ];
    let faults = [
        SYNTAX, TOO_LARGE, NO_ACCESS, NO_SEAT, NO_TOKEN, BY_A_SEAT, RETRY, STALE, UNKNOWN, own,
    ];
    check(&mut game, &right, &faults, &[VALID, FINISHED, REMOVED]);
}

#[test]
fn of_a_fresh_token() {
    let server = TestServer::shared();
    let mut game = TestGame::fixed(&server);
    let right = RequestParts::for_game(&game, Host, "POST", "/seats/1/token", json!({}));
    let faults = [
        SYNTAX, TOO_LARGE, NO_ACCESS, NO_SEAT, NO_TOKEN, BY_A_SEAT, RETRY, STALE, UNKNOWN, WEAK_KEY,
    ];
    let states: &[Precondition] = &[
        VALID,
        (|game| hand_over(game, 1, "bot"), Some((State, "no_human"))),
        (
            |game| {
                hand_over(game, 1, "human");
                game.renew(Host, 1);
                finish(game);
            },
            Some((State, "game_over")),
        ),
        REMOVED,
    ];
    check(&mut game, &right, &faults, states);
}

#[test]
fn of_a_ticket() {
    let server = TestServer::shared();
    let mut game = TestGame::fixed(&server);
    let right = RequestParts::for_game(&game, Seat(0), "POST", "/events/ticket", json!({}));
    let faults = [
        SYNTAX, TOO_LARGE, NO_ACCESS, NO_TOKEN, RETRY, STALE, UNKNOWN, WEAK_KEY,
    ];
    check(&mut game, &right, &faults, &[VALID, RENEWED, REMOVED]);
}

#[test]
fn of_a_removal() {
    let server = TestServer::shared();
    let mut game = TestGame::in_play(&server);
    let right = RequestParts::for_game(&game, Host, "DELETE", "", json!({}));
    let own: &[Fault] = &[
        UNKNOWN[0],
        (Content, "invalid_request", Member("version", "\"?\"")),
    ];
    let faults = [
        SYNTAX, TOO_LARGE, NO_ACCESS, NO_TOKEN, BY_A_SEAT, STALE, own,
    ];
    check(&mut game, &right, &faults, &[VALID, REMOVED]);
}

#[test]
fn of_a_creation_and_an_import() {
    let server = TestServer::start();
    let mut other = TestGame::fixed(&server);
    let right = RequestParts::new("POST", "/v1/games".to_owned(), None, json!({}));
    let own: &[Fault] = &[
        (Content, "invalid_request", Member("seats", "4")),
        (Content, "invalid_rules", Member("rules", "{\"seats\": 5}")),
        (Content, "invalid_seed", Member("shuffle_seed", "\"?\"")),
    ];
    let faults = [SYNTAX, TOO_LARGE, RETRY, UNKNOWN, WEAK_KEY, own];
    check(&mut other, &right, &faults, &[VALID]);

    let body = json!({"record": include_str!("../records/four.dog")});
    let right = RequestParts::new("POST", "/v1/games/import".to_owned(), None, body);
    let own: &[Fault] = &[
        (Syntax, "body_too_large", VERY_LARGE),
        (Content, "invalid_request", Member("listed", "7")),
        (Content, "invalid_record", Member("record", "\"?\"")),
    ];
    const VERY_LARGE: Spoil = Change(|parts, _| parts.tail += &" ".repeat(1_200_000));
    let faults = [SYNTAX, RETRY, UNKNOWN, WEAK_KEY, own];
    check(&mut other, &right, &faults, &[VALID]);
    let list = json!({"games": [{"listed": false}, {"listed": false}]});
    let right = RequestParts::new("POST", "/v1/games/batch".to_owned(), None, list);
    let own: &[Fault] = &[
        (Syntax, "body_too_large", VERY_LARGE),
        (Content, "invalid_request", Member("games", "[]")),
        (
            Content,
            "invalid_rules",
            Member("games", "[{}, {\"rules\": {\"seats\": 5}}]"),
        ),
    ];
    let faults = [SYNTAX, RETRY, UNKNOWN, WEAK_KEY, own];
    check(&mut other, &right, &faults, &[VALID]);
    let side = json!({"name": "Red", "kind": "open"});
    let body = json!({"turn_seconds": 60, "sides": [side, side]});
    let right = RequestParts::new("POST", "/v1/matches".to_owned(), None, body);
    let own: &[Fault] = &[
        (Content, "invalid_request", Member("pairs", "33")),
        (Content, "invalid_rules", Member("rules", "{\"seats\": 5}")),
    ];
    let faults = [SYNTAX, TOO_LARGE, RETRY, UNKNOWN, WEAK_KEY, own];
    check(&mut other, &right, &faults, &[VALID]);
    let list = server.get("/v1/games").send().expect(200);
    let games = list["games"].as_array().map(Vec::len);
    assert_eq!(
        games,
        Some(3 + 2),
        "the other, one creation, one import, one match"
    );
    let all = server.database().number("SELECT count(*) FROM games");
    assert_eq!(all, 3 + 2 + 2, "one batch");
}

/// Otherwise a lost response could never be repeated: a removed game has no tokens, and a
/// seat's first try has revoked the token that its retry carries. For these the key is
/// looked up first; it helps no other caller.
#[test]
fn a_retry_with_a_revoked_token_gets_its_response() {
    let server = TestServer::start();
    let game = TestGame::dealt(&server);
    let other = TestGame::dealt(&server);
    let path = "/seats/1/token";
    let token = RequestParts::for_game(&game, Seat(1), "POST", path, json!({}));
    let removal = RequestParts::for_game(&other, Host, "DELETE", "", Value::Null);
    for (game, right, alone, unknown) in [
        (&game, token, "token_replaced", "unauthorized"),
        (&other, removal, "game_not_found", "game_not_found"),
    ] {
        let with = |spoil: &dyn Fn(&mut RequestParts)| {
            let mut parts = right.clone();
            parts.key = Some(KEY);
            spoil(&mut parts);
            parts.send(&server)
        };
        let first = with(&|_| {});
        assert!(first.status < 300, "{}", first.text());
        for _ in 0..2 {
            with(&|_| {}).assert_repeats(&first);
            with(&|parts| parts.guard = Some("\"0\"")).assert_repeats(&first);
            with(&|parts| parts.body = json!({"version": 2})).refused("idempotency_key_reused");
            with(&|parts| parts.tail.push('}')).refused("malformed_json");
            with(&|parts| parts.key = None).refused(alone);
            with(&|parts| parts.key = Some("order-17")).refused(alone);
            with(&|parts| parts.token = None).refused(unknown);
            with(&|parts| parts.token = Some(UNKNOWN_TOKEN.to_owned())).refused(unknown);
            server.restart(Signal::Kill);
        }
        for seat in [0, 2, 3] {
            let by_another = with(&|parts| parts.token = Some(game.tokens[seat].clone()));
            by_another.refused_one_of(&["forbidden", "game_not_found"]);
        }
    }
    // Nor does it help elsewhere.
    let elsewhere = game.post(Seat(1), "/seats/2/token").key(KEY);
    elsewhere.send().refused("token_replaced");
}

/// Refusals of reads, in the same order.
#[test]
fn of_reads() {
    let server = TestServer::shared();
    for (rest, wrong) in [
        ("", Some("after_version=x")),
        ("/history", None),
        ("/events", Some("last_event_id=x")),
        ("/board.svg", Some("seat=0")),
    ] {
        let mut game = TestGame::dealt(&server);
        let right = RequestParts::for_game(&game, Seat(1), "GET", rest, Value::Null);
        let own = wrong.map(|parameter| (Content, "invalid_request", Query(parameter)));
        let faults = [NO_ACCESS, UNKNOWN_QUERY, own.as_slice()];
        check(&mut game, &right, &faults, &[VALID, RENEWED, REMOVED]);
    }
}

/// No seat has a piece on the track in the first turn, so that a list of the next parts of a seven
/// without another mistake gets `illegal_move`.
#[test]
fn of_reads_by_the_seat_to_move() {
    let server = TestServer::shared();
    let wrong_phase = Some((State, "wrong_phase"));
    let illegal = Some((Content, "illegal_move"));
    let no_card: &[Fault] = &[(Content, "unknown_card", Query("card=1"))];
    const NOT_BEGUN: Spoil = Change(|parts, _| parts.query = vec!["start=7:"]);
    let not_begun: &[Fault] = &[(Content, "invalid_request", NOT_BEGUN)];
    for (rest, query, in_the_exchange, in_play, own) in [
        ("/legal-moves", None, wrong_phase, None, no_card),
        ("/suggest-move", None, None, None, &[]),
        (
            "/legal-moves/seven",
            Some("begun=7:"),
            wrong_phase,
            illegal,
            not_begun,
        ),
    ] {
        let mut game = TestGame::fixed(&server);
        let mut right = RequestParts::for_game(&game, Seat(1), "GET", rest, Value::Null);
        right.query.extend(query);
        let faults = [NO_ACCESS, NO_TOKEN, BY_HOST, UNKNOWN_QUERY, own];
        let states: &[Precondition] = &[
            (VALID.0, wrong_phase),
            (|game| drop(game.deal()), in_the_exchange),
            (|game| drop(game.exchange()), in_play),
            (
                |game| play_until(game, |view| view["turn"] != 1),
                Some((State, "not_your_turn")),
            ),
            FINISHED,
            RENEWED,
            REMOVED,
        ];
        check(&mut game, &right, &faults, states);
    }
}

/// Reads that depend on the phase only with some parameters.
#[test]
fn of_a_preview_and_a_text_record() {
    let server = TestServer::shared();
    let mut game = TestGame::fixed(&server);
    let mut right = RequestParts::for_game(&game, Seat(1), "GET", "/board.svg", Value::Null);
    right.query.push("move=K:out");
    const NO_MOVE: Spoil = Change(|parts, _| parts.query = vec!["move=?"]);
    let own: &[Fault] = &[(Content, "illegal_move", NO_MOVE)];
    let states: &[Precondition] = &[
        (VALID.0, Some((State, "wrong_phase"))),
        (
            |game| {
                game.deal();
                game.exchange();
            },
            None,
        ),
        FINISHED,
        RENEWED,
        REMOVED,
    ];
    check(&mut game, &right, &[NO_ACCESS, own], states);

    let mut game = TestGame::fixed(&server);
    let mut right = RequestParts::for_game(&game, Seat(1), "GET", "/history", Value::Null);
    right.accept = "text/plain";
    let running = (VALID.0, Some((State, "game_not_over")));
    let states: &[Precondition] = &[running, RENEWED, REMOVED];
    check(&mut game, &right, &[NO_ACCESS, UNKNOWN_QUERY], states);
}

#[test]
fn of_a_stream_by_ticket() {
    let server = TestServer::shared();
    let mut game = TestGame::fixed(&server);
    let mut right = RequestParts::for_game(&game, Spectator, "GET", "/events", Value::Null);
    right.query.push("ticket=none");
    let states: &[Precondition] = &[(VALID.0, Some((Token, "unauthorized"))), REMOVED];
    check(&mut game, &right, &[NO_ACCESS, UNKNOWN_QUERY], states);
}
