//! A handle on one game: its tokens, requests as each viewer, and helpers that play it.

use std::{fmt, time::Instant};

use rand::{RngExt, SeedableRng, rngs::ChaCha20Rng};
use serde_json::{Value, json};

use super::{Stream, TIMEOUT, TestRequest, TestResponse, TestServer};

/// Who requests a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestViewer {
    Seat(usize),
    Host,
    Spectator,
}

use TestViewer::{Host, Seat, Spectator};

/// As an `ETag` names them: `2`, `host`, `spectator`.
impl fmt::Display for TestViewer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seat(seat) => write!(f, "{seat}"),
            Host => f.write_str("host"),
            Spectator => f.write_str("spectator"),
        }
    }
}

/// A shuffle seed made of one byte.
pub fn seed(byte: u8) -> String {
    format!("{byte:02x}").repeat(32)
}

/// A list of cards in JSON as names, sorted.
pub fn cards_of(hand: &Value) -> Vec<String> {
    let cards = hand.as_array().expect("a hand is a list");
    let names = cards.iter().map(|card| card.as_str().expect("a card"));
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names
}

/// Reproducible random choices.
pub struct Dice(ChaCha20Rng);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(ChaCha20Rng::seed_from_u64(seed))
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0.random_range(0..n)
    }

    pub fn pick<'v>(&mut self, list: &'v Value) -> &'v Value {
        let list = list.as_array().expect("a list");
        &list[self.below(list.len())]
    }
}

/// A game on a server, with every token.
#[derive(Clone)]
pub struct TestGame<'a> {
    pub server: &'a TestServer,
    pub id: String,
    pub tokens: Vec<String>,
    pub host: String,
}

impl<'a> TestGame<'a> {
    /// Creates a game with this request body.
    #[track_caller]
    pub fn create(server: &'a TestServer, body: &Value) -> TestGame<'a> {
        let response = server.post("/v1/games").json(body).send().expect(201);
        TestGame::from_created(server, &response)
    }

    /// The game of a response to a creation.
    #[track_caller]
    pub fn from_created(server: &'a TestServer, created: &Value) -> TestGame<'a> {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        // A bot has no token.
        let token = |value: &Value| value.as_str().unwrap_or("none").to_owned();
        let tokens = created["seat_tokens"].as_array().expect("tokens");
        let game = TestGame {
            server,
            id: text(&created["id"]),
            tokens: tokens.iter().map(token).collect(),
            host: text(&created["host_token"]),
        };
        let tokens = game.tokens.iter().filter(|token| *token != "none");
        for token in tokens.chain([&game.host]) {
            server.forbid_in_log(token);
        }
        game
    }

    /// A game of the default preset with a fixed seed; seat 0 deals, seat 1 begins.
    #[track_caller]
    pub fn fixed(server: &'a TestServer) -> TestGame<'a> {
        TestGame::with_preset(server, "dogspiel-it")
    }

    #[track_caller]
    pub fn with_preset(server: &'a TestServer, preset: &str) -> TestGame<'a> {
        let rules = json!({"preset": preset});
        let body = json!({"rules": rules, "first_dealer": 0, "shuffle_seed": seed(1)});
        TestGame::create(server, &body)
    }

    /// A game of four bots of this level, with this pace.
    #[track_caller]
    pub fn with_bots(server: &'a TestServer, level: &str, pace: u32) -> TestGame<'a> {
        let bot = json!({"kind": "bot", "level": level});
        let body = json!({"seats": [bot, bot, bot, bot], "bot_pace_ms": pace});
        TestGame::create(server, &body)
    }

    /// A finished game of this many versions with a packed log.
    #[track_caller]
    pub fn long(server: &'a TestServer, versions: usize) -> TestGame<'a> {
        let record = include_str!("../../records/four.dog");
        let (head, steps) = record.split_once("\n\n").expect("a head");
        let actions = steps.lines().filter(|line| !line.is_empty()).count();
        // Creation is a version too.
        let more = "host reissues token 0\n".repeat(versions - actions - 1);
        let record = format!("{head}\n\n{more}{steps}");
        let import = server.post("/v1/games/import");
        let created = import.text("text/plain", &record).send();
        let game = TestGame::from_created(server, &created.expect(201));
        let pages = server.database().number(&format!(
            "SELECT count(*) FROM packed_log \
             WHERE game = (SELECT row_id FROM games WHERE id = '{}')",
            game.id
        ));
        assert_eq!(pages as usize, versions.div_ceil(128));
        game
    }

    /// The game of [`TestGame::fixed`], dealt.
    #[track_caller]
    pub fn dealt(server: &'a TestServer) -> TestGame<'a> {
        let game = TestGame::fixed(server);
        game.deal();
        game
    }

    /// The same with the exchange done: seat 1 is to move.
    #[track_caller]
    pub fn in_play(server: &'a TestServer) -> TestGame<'a> {
        let game = TestGame::dealt(server);
        game.exchange();
        game
    }

    /// A finished game, imported from a record; its seats have no tokens.
    #[track_caller]
    pub fn imported(server: &'a TestServer) -> TestGame<'a> {
        let record = include_str!("../../records/four.dog");
        let import = server.post("/v1/games/import").text("text/plain", record);
        TestGame::from_created(server, &import.send().expect(201))
    }

    /// Damages the log of this game in the database.
    #[track_caller]
    pub fn damage_log(&self) {
        // A log is packed when its game is closed, or soon after.
        for (table, column) in [("log", "events"), ("packed_log", "entries")] {
            self.server.database().sql(&format!(
                "UPDATE {table} SET {column} = substr({column}, 1, 8) \
                 WHERE game = (SELECT row_id FROM games WHERE id = '{}')",
                self.id
            ));
        }
    }

    /// The same game at another server.
    pub fn at<'b>(&self, server: &'b TestServer) -> TestGame<'b> {
        TestGame {
            server,
            id: self.id.clone(),
            tokens: self.tokens.clone(),
            host: self.host.clone(),
        }
    }

    pub fn seats(&self) -> usize {
        self.tokens.len()
    }

    /// Every seat, the host and the spectator.
    pub fn viewers(&self) -> Vec<TestViewer> {
        let seats = (0..self.seats()).map(Seat);
        seats.chain([Host, Spectator]).collect()
    }

    pub fn token(&self, viewer: TestViewer) -> Option<&str> {
        match viewer {
            Seat(seat) => Some(&self.tokens[seat]),
            Host => Some(&self.host),
            Spectator => None,
        }
    }

    /// `/v1/games/{id}` followed by `rest`.
    pub fn path(&self, rest: &str) -> String {
        format!("/v1/games/{}{rest}", self.id)
    }

    pub fn request(&self, method: &str, viewer: TestViewer, rest: &str) -> TestRequest<'a> {
        let request = self.server.request(method, &self.path(rest));
        match self.token(viewer) {
            Some(token) => request.token(token),
            None => request,
        }
    }

    pub fn get(&self, viewer: TestViewer, rest: &str) -> TestRequest<'a> {
        self.request("GET", viewer, rest)
    }

    pub fn post(&self, viewer: TestViewer, rest: &str) -> TestRequest<'a> {
        self.request("POST", viewer, rest)
    }

    #[track_caller]
    pub fn post_json(&self, viewer: TestViewer, rest: &str, body: &Value) -> TestResponse {
        self.post(viewer, rest).json(body).send()
    }

    /// Asks for a change of who plays a seat.
    #[track_caller]
    pub fn put(&self, viewer: TestViewer, seat: usize, body: &Value) -> TestResponse {
        let request = self.request("PUT", viewer, &format!("/seats/{seat}"));
        request.json(body).send()
    }

    /// Asks for a change of the settings.
    #[track_caller]
    pub fn patch(&self, viewer: TestViewer, body: &Value) -> TestResponse {
        self.request("PATCH", viewer, "").json(body).send()
    }

    /// Removes the game.
    #[track_caller]
    pub fn remove(&self) {
        self.request("DELETE", Host, "").send().expect(204);
    }

    /// Opens a stream, with a query or without.
    #[track_caller]
    pub fn events(&self, viewer: TestViewer, query: &str) -> Stream {
        Stream::open(self.get(viewer, &format!("/events{query}")))
    }

    /// Opens a stream of what came after a version.
    #[track_caller]
    pub fn events_after(&self, viewer: TestViewer, version: u64) -> Stream {
        let request = self.get(viewer, "/events");
        Stream::open(request.header("Last-Event-ID", &version.to_string()))
    }

    /// Opens a stream of lines, with a query or without.
    #[track_caller]
    pub fn lines(&self, viewer: TestViewer, query: &str) -> Stream {
        let request = self.get(viewer, &format!("/events{query}"));
        Stream::open(request.header("Accept", "application/x-ndjson"))
    }

    /// The entries of the history, as this viewer may see them.
    #[track_caller]
    pub fn entries(&self, viewer: TestViewer) -> Vec<Value> {
        let history = self.get(viewer, "/history").send().expect(200);
        history["entries"].as_array().expect("entries").clone()
    }

    /// Waits until the view of a spectator satisfies the condition. Returns that view.
    #[track_caller]
    pub fn wait_for(&self, holds: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let view = self.view(Spectator);
            if holds(&view) {
                return view;
            }
            assert!(started.elapsed() < TIMEOUT, "{view}");
            let wait = format!("?after_version={}", view["version"]);
            self.get(Spectator, &wait).send();
        }
    }

    /// The text record.
    #[track_caller]
    pub fn record(&self) -> String {
        let request = self.get(Spectator, "/history");
        let response = request.header("Accept", "text/plain").send();
        assert_eq!(response.status, 200, "{}", response.text());
        response.text()
    }

    /// Gets a new token for a seat. Returns the response.
    #[track_caller]
    pub fn renew(&mut self, by: TestViewer, seat: usize) -> Value {
        let path = format!("/seats/{seat}/token");
        let response = self.post(by, &path).send().expect(200);
        let token = response["token"].as_str().expect("a token").to_owned();
        self.server.forbid_in_log(&token);
        self.tokens[seat] = token;
        response
    }

    #[track_caller]
    pub fn view(&self, viewer: TestViewer) -> Value {
        self.get(viewer, "").send().expect(200)
    }

    /// The views of all viewers, byte for byte.
    #[track_caller]
    pub fn snapshot(&self) -> Vec<Vec<u8>> {
        let view = |viewer| {
            let response = self.get(viewer, "").send();
            assert_eq!(response.status, 200, "{}", response.text());
            response.body
        };
        self.viewers().into_iter().map(view).collect()
    }

    #[track_caller]
    pub fn hand(&self, seat: usize) -> Vec<String> {
        cards_of(&self.view(Seat(seat))["seats"][seat]["hand"])
    }

    /// The seat to move.
    #[track_caller]
    pub fn turn(&self) -> usize {
        let turn = self.view(Spectator)["turn"].as_u64();
        turn.expect("a seat is to move") as usize
    }

    /// The version, as a number.
    #[track_caller]
    pub fn version(&self) -> u64 {
        self.view(Spectator)["version"].as_u64().expect("a version")
    }

    #[track_caller]
    pub fn deal(&self) -> Value {
        self.post(Host, "/deal").send().expect(200)
    }

    #[track_caller]
    pub fn swap(&self, seat: usize, body: &Value) -> Value {
        self.post_json(Seat(seat), "/swap", body).expect(200)
    }

    /// A seat gives the first card of its hand.
    #[track_caller]
    pub fn offer(&self, seat: usize) -> Value {
        self.swap(seat, &json!({"card": self.hand(seat)[0]}))
    }

    #[track_caller]
    pub fn play(&self, seat: usize, id: &str) -> Value {
        self.try_play(Seat(seat), id).expect(200)
    }

    /// Asks to play this move.
    #[track_caller]
    pub fn try_play(&self, viewer: TestViewer, id: &str) -> TestResponse {
        self.post_json(viewer, "/play", &json!({"move": id}))
    }

    /// Sends the request of a suggestion unchanged.
    #[track_caller]
    pub fn as_suggested(&self, seat: usize, request: &Value) -> TestResponse {
        let text = |name: &str| request[name].as_str().expect("a text");
        self.server
            .request(text("method"), text("path"))
            .token(&self.tokens[seat])
            .json(&request["body"])
            .send()
    }

    /// Plays the best move by the advice of `greedy` with this seed.
    #[track_caller]
    pub fn play_suggested(&self, seat: usize, seed: usize) -> Value {
        let query = format!("/suggest-move?level=greedy&seed={seed}");
        let advice = self.get(Seat(seat), &query).send().expect(200);
        let best = &advice["suggestions"][0]["request"];
        self.as_suggested(seat, best).expect(200)
    }

    /// What a seat may do in the exchange; nothing if it is not to act.
    #[track_caller]
    pub fn exchange_choices(&self, seat: usize) -> Vec<String> {
        let view = self.view(Seat(seat));
        let choices = view["actions"][0]["choices"].as_array();
        let name = |name: &Value| name.as_str().expect("a name").to_owned();
        choices.into_iter().flatten().map(name).collect()
    }

    /// Every seat gives its first card, for which it asks where it must; returns the last response.
    #[track_caller]
    pub fn exchange(&self) -> Value {
        let mut last = json!({"game": {"phase": "exchange"}});
        while last["game"]["phase"] == "exchange" {
            for seat in 0..self.seats() {
                let choices = self.exchange_choices(seat);
                if choices.iter().any(|choice| choice == "card") {
                    last = self.offer(seat);
                } else if !choices.is_empty() {
                    last = self.swap(seat, &json!({"ask": true}));
                }
            }
        }
        last
    }

    /// Any answer that a seat may give in the exchange.
    #[track_caller]
    pub fn any_answer(&self, seat: usize, dice: &mut Dice) -> Value {
        let choices = self.exchange_choices(seat);
        match choices[dice.below(choices.len())].as_str() {
            "card" => {
                let hand = self.hand(seat);
                json!({"card": hand[dice.below(hand.len())]})
            }
            choice => json!({choice: true}),
        }
    }

    /// The legal moves of the seat to move, without boards.
    #[track_caller]
    pub fn legal_moves(&self, seat: usize) -> Value {
        let response = self.get(Seat(seat), "/legal-moves?board=false").send();
        response.expect(200)["moves"].take()
    }

    /// The id of the first legal move of the seat to move, and the seat.
    #[track_caller]
    pub fn first_move(&self) -> (usize, String) {
        let seat = self.turn();
        let id = self.legal_moves(seat)[0]["id"].take();
        (seat, id.as_str().expect("an id").to_owned())
    }

    /// Plays the first legal move.
    #[track_caller]
    pub fn play_on(&self) -> Value {
        let (seat, id) = self.first_move();
        self.play(seat, &id)
    }

    /// Does the next action, by advice where there is a choice; returns the view after it.
    #[track_caller]
    pub fn step(&self, dice: &mut Dice) -> Value {
        let view = self.view(Spectator);
        match view["phase"].as_str().expect("a phase") {
            "deal" => self.deal()["game"].take(),
            "exchange" => self.exchange()["game"].take(),
            "play" => {
                let seat = view["turn"].as_u64().expect("a turn") as usize;
                self.play_suggested(seat, dice.below(1000))["game"].take()
            }
            other => panic!("no action in phase {other}"),
        }
    }
}
