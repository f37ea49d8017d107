//! The server is killed at random moments while clients play. Afterwards every promise is
//! checked: a write with a response is stored exactly once, a write without one is stored whole or
//! not at all, and a retry with a key gets the first response or is done once.

use std::{
    process::Command,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{
    Dice, Signal, TestGame, TestRequest, TestResponse, TestServer,
    TestViewer::{self, *},
    run,
};

/// Kills in every run of the tests.
const KILLS: u64 = 5;

/// Kills in the long run.
const MANY_KILLS: u64 = 100;

/// Clients that play at the same time, each in several games.
const CLIENTS: u64 = 4;

/// Games that a client plays in turns.
const TABLES: usize = 3;

/// Tries before the server is assumed to be down for good.
const TRIES: u32 = 1000;

/// The seed of all random choices.
const SEED: u64 = 20_260_918;

#[test]
fn no_confirmed_write_is_lost_or_doubled_by_kills() {
    play_through(KILLS);
}

#[test]
#[ignore = "takes minutes: cargo test --release --test http -- --ignored hundred_kills --nocapture"]
fn no_confirmed_write_is_lost_or_doubled_by_a_hundred_kills() {
    play_through(MANY_KILLS);
}

/// Counts of what happened in a run.
#[derive(Debug, Default)]
struct CrashCounts {
    games: AtomicU64,
    finished: AtomicU64,
    deleted: AtomicU64,
    /// Writes with a response at the first try.
    answered: AtomicU64,
    /// Tries without a response.
    cut_off: AtomicU64,
    /// Writes without a key and without a response that were stored.
    done_unanswered: AtomicU64,
    /// Writes with a key that got a response at a later try.
    retried: AtomicU64,
    /// Retries that got the first response again.
    repeated: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn play_through(kills: u64) {
    let server = TestServer::start();
    let bots = [(); 4].map(|()| json!({"kind": "bot", "level": "greedy", "name": "bot"}));
    for _ in 0..3 {
        TestGame::create(&server, &json!({"seats": bots}));
    }
    let (over, counts) = (AtomicBool::new(false), CrashCounts::default());
    let clients: Vec<CrashClient<'_>> = thread::scope(|scope| {
        let play = |number| CrashClient::new(&server, &counts, number).play(&over);
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| scope.spawn(move || play(number)))
            .collect();
        let mut dice = Dice::new(SEED);
        for _ in 0..kills {
            thread::sleep(Duration::from_millis(dice.below(400) as u64));
            if clients.iter().any(|client| client.is_finished()) {
                break; // A client has failed.
            }
            server.restart(Signal::Kill);
        }
        over.store(true, Ordering::Relaxed);
        let client = |client: thread::ScopedJoinHandle<'_, _>| client.join().expect("a client");
        clients.into_iter().map(client).collect()
    });
    server.restart(Signal::Kill);
    let mut listed = listed(&server);
    for mut client in clients {
        client.settle(&mut listed);
    }
    listed.retain(|name| name != "bot");
    assert!(listed.is_empty(), "no client created {listed:?}");
    server.restart(Signal::Kill);
    let (said, is_sound) = server.check();
    assert!(is_sound, "{said}");
    println!("{kills} kills: {counts:?}");
    let cut_off = counts.cut_off.load(Ordering::Relaxed);
    assert!(cut_off > 0, "no kill interrupted a write");
}

/// The name of the first seat of every public game.
fn listed(server: &TestServer) -> Vec<String> {
    let mut names = Vec::new();
    let mut path = "/v1/games?limit=100".to_owned();
    loop {
        let page = server.get(&path).send().expect(200);
        for game in page["games"].as_array().expect("games") {
            names.push(game["names"][0].as_str().expect("a name").to_owned());
        }
        match page["next"].as_str() {
            Some(next) => path = format!("/v1/games?limit=100&cursor={next}"),
            None => return names,
        }
    }
}

/// A write that can be sent again unchanged.
#[derive(Clone, Debug)]
struct SentWrite {
    method: &'static str,
    path: String,
    token: Option<String>,
    key: Option<String>,
    body: Value,
}

impl SentWrite {
    fn request<'a>(&self, server: &'a TestServer) -> TestRequest<'a> {
        let mut request = server.request(self.method, &self.path);
        if let Some(token) = &self.token {
            request = request.token(token);
        }
        if let Some(key) = &self.key {
            request = request.key(key);
        }
        match &self.body {
            Value::Null => request,
            body => request.json(body),
        }
    }
}

/// Asserts that a retry got the first response again.
#[track_caller]
fn assert_repeated(write: &SentWrite, first: &TestResponse, again: &TestResponse) {
    assert_eq!(again.status, first.status, "{write:?}");
    for name in ["etag", "location"] {
        assert_eq!(again.header(name), first.header(name), "{write:?}");
    }
    assert_eq!(again.body, first.body, "{write:?}");
}

/// A client that plays several games and remembers every response.
struct CrashClient<'a> {
    server: &'a TestServer,
    counts: &'a CrashCounts,
    dice: Dice,
    number: u64,
    tables: Vec<TrackedGame<'a>>,
    /// Creations with a key, and their responses.
    created: Vec<(SentWrite, TestResponse)>,
    /// Names of games whose creation got no response.
    unconfirmed: Vec<String>,
    names: u64,
}

/// A game, and everything that its client knows about it.
struct TrackedGame<'a> {
    game: TestGame<'a>,
    name: String,
    /// Whether its writes carry keys.
    keyed: bool,
    /// Each version's events, and the viewer that received them.
    log: Vec<(TestViewer, Value)>,
    /// Writes that can be retried, and their responses.
    saved: Vec<(TestViewer, SentWrite, TestResponse)>,
    /// Seats whose token the host cannot replace.
    joined: [bool; 4],
    state: TrackedState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrackedState {
    Playing,
    Finished,
    Deleted,
}

impl<'a> CrashClient<'a> {
    fn new(server: &'a TestServer, counts: &'a CrashCounts, number: u64) -> CrashClient<'a> {
        CrashClient {
            server,
            counts,
            dice: Dice::new(SEED + 1 + number),
            number,
            tables: Vec::new(),
            created: Vec::new(),
            unconfirmed: Vec::new(),
            names: 0,
        }
    }

    /// Plays until the test ends.
    fn play(mut self, over: &AtomicBool) -> CrashClient<'a> {
        while !over.load(Ordering::Relaxed) {
            let playing = |table: &&mut TrackedGame<'_>| table.state == TrackedState::Playing;
            let mut tables: Vec<_> = self.tables.iter_mut().filter(playing).collect();
            if tables.len() < TABLES {
                self.create();
                continue;
            }
            let table = tables.swap_remove(self.dice.below(TABLES));
            let mut hand = GameHandle {
                server: self.server,
                counts: self.counts,
                dice: &mut self.dice,
                table,
            };
            hand.step();
        }
        self
    }

    /// Creates a game, one of three without a key.
    fn create(&mut self) {
        let name = format!("{}/{}", self.number, self.names);
        self.names += 1;
        let keyed = self.dice.below(3) > 0;
        let preset = ["dogspiel-it", "hausregeln", "familienlager"][self.dice.below(3)];
        // A bot that takes a seat must not act before the seat is handed back.
        let write = SentWrite {
            method: "POST",
            path: "/v1/games".into(),
            token: None,
            key: keyed.then(|| key(&mut self.dice)),
            body: json!({"rules": {"preset": preset}, "seats": [{"name": name}, {}, {}, {}],
                "bot_pace_ms": 60_000}),
        };
        let Some(response) = send(self.server, self.counts, &write) else {
            self.unconfirmed.push(name);
            return;
        };
        let created = response.clone().expect(201);
        let game = TestGame::from_created(self.server, &created);
        let dealer = created["game"]["dealer"].clone();
        let events = json!([{"type": "game_created", "dealer": dealer}]);
        count(&self.counts.games);
        self.tables.push(TrackedGame {
            game,
            name,
            keyed,
            log: vec![(Spectator, events)],
            saved: Vec::new(),
            joined: [false; 4],
            state: TrackedState::Playing,
        });
        if keyed {
            self.created.push((write, response));
        }
    }

    /// Compares every response with the stored games, and removes this client's games from the
    /// list.
    fn settle(&mut self, listed: &mut Vec<String>) {
        let mut take = |name: &str| {
            let before = listed.len();
            listed.retain(|other| other != name);
            before - listed.len()
        };
        for name in &self.unconfirmed {
            assert!(take(name) <= 1, "{name} was created twice");
        }
        for table in &mut self.tables {
            let there = usize::from(table.state != TrackedState::Deleted);
            assert_eq!(take(&table.name), there, "{}", table.name);
            let mut hand = GameHandle {
                server: self.server,
                counts: self.counts,
                dice: &mut self.dice,
                table,
            };
            hand.inspect();
            for index in 0..hand.table.saved.len() {
                hand.repeat(index);
            }
        }
        for (write, response) in &self.created {
            let again = send(self.server, self.counts, write).expect("a response");
            assert_repeated(write, response, &again);
        }
    }
}

/// A random key.
fn key(dice: &mut Dice) -> String {
    (0..32).map(|_| format!("{:x}", dice.below(16))).collect()
}

/// Sends a write; with a key, until it gets a response.
fn send(server: &TestServer, counts: &CrashCounts, write: &SentWrite) -> Option<TestResponse> {
    let tries = if write.key.is_some() { TRIES } else { 1 };
    for attempt in 0..tries {
        let response = write.request(server).try_send();
        count(match (&response, attempt) {
            (None, _) => &counts.cut_off,
            (Some(_), 0) => &counts.answered,
            (Some(_), _) => &counts.retried,
        });
        if response.is_some() {
            return response;
        }
    }
    assert!(write.key.is_none(), "no response to {write:?}");
    None
}

/// One of a client's games, to act in.
struct GameHandle<'c, 'a> {
    server: &'a TestServer,
    counts: &'c CrashCounts,
    dice: &'c mut Dice,
    table: &'c mut TrackedGame<'a>,
}

impl GameHandle<'_, '_> {
    /// Does something random, usually the next action of the game.
    fn step(&mut self) {
        match self.dice.below(40) {
            0 => self.reissue_as_seat(),
            1 => {
                let seat = self.dice.below(4);
                self.reissue_as_host(seat);
            }
            2 => self.hand_over(),
            3 => self.inspect(),
            4 | 5 if !self.table.saved.is_empty() => {
                let index = self.dice.below(self.table.saved.len());
                self.repeat(index);
            }
            6 if self.dice.below(3) == 0 => self.delete(),
            _ => self.play(),
        }
    }

    /// Deals, swaps or plays.
    fn play(&mut self) {
        let view = self.read(Spectator, "").expect(200);
        let phase = view["phase"].as_str().expect("a phase");
        if phase == "finished" {
            self.table.state = TrackedState::Finished;
            count(&self.counts.finished);
            return;
        }
        if phase == "deal" {
            let dealer = view["dealer"].as_u64().expect("a dealer") as usize;
            let who = [Host, Seat(dealer)][self.dice.below(2)];
            self.act(who, "POST", "/deal", Value::Null);
            return;
        }
        // A seat that has not answered in the exchange, or the seat to move.
        let seat = (0..4).find(|&seat| match view["turn"].as_u64() {
            Some(turn) => turn == seat as u64,
            None => self.read(Seat(seat), "").expect(200)["actions"] != json!([]),
        });
        let seat = seat.expect("somebody is to act");
        let query = format!("/suggest-move?level=greedy&seed={}", self.dice.below(1000));
        let mut advice = self.read(Seat(seat), &query).expect(200);
        let body = advice["suggestions"][0]["request"]["body"].take();
        let route = if phase == "play" { "/play" } else { "/swap" };
        self.act(Seat(seat), "POST", route, body);
    }

    /// Hands a seat to a bot, which is too slow to act, and takes it back.
    fn hand_over(&mut self) {
        if self.read(Spectator, "").expect(200)["phase"] == "finished" {
            return;
        }
        let seat = self.dice.below(4);
        let path = format!("/seats/{seat}");
        let mut human = json!({"kind": "human", "name": self.table.name});
        let mut bot = json!({"kind": "bot", "level": "random", "name": self.table.name});
        // A person who joined comes back by itself, and keeps its name.
        let mut back = Host;
        if self.table.joined[seat] {
            (human, bot) = (json!({"kind": "human"}), json!({"kind": "bot"}));
            back = Seat(seat);
        }
        self.act(Host, "PUT", &path, bot);
        while !self.act(back, "PUT", &path, human.clone()) {}
    }

    /// Changes the game, with or without a key; returns whether the change is stored.
    fn act(&mut self, who: TestViewer, method: &'static str, rest: &str, body: Value) -> bool {
        let write = self.write(who, method, rest, body);
        if let Some(response) = send(self.server, self.counts, &write) {
            self.note(who, write, response, 200);
            return true;
        }
        // The response is lost, so the game has to be asked.
        let known = self.settle(who, &write);
        if let Some(events) = &known {
            let expected = &write.body["move"];
            let played = &events[0]["move"]["id"];
            let fold = expected == "fold" && events[0]["type"] == "hand_folded";
            assert!(fold || expected == played, "{write:?}: {events}");
        }
        known.is_some()
    }

    /// The events of a write without a response, if it was stored.
    fn settle(&mut self, who: TestViewer, write: &SentWrite) -> Option<Value> {
        let before = self.table.log.len() as u64;
        let history = self.read(who, "/history").expect(200);
        let version = history["version"].as_u64().expect("a version");
        let entries = history["entries"].as_array().expect("entries");
        assert_eq!(entries.len() as u64, version, "one entry a version");
        if version == before {
            return None;
        }
        assert_eq!(version, before + 1, "{write:?}");
        count(&self.counts.done_unanswered);
        let events = entries[before as usize]["events"].clone();
        let kind = events[0]["type"].as_str().expect("a type");
        let route = write.path.rsplit('/').next().expect("a route");
        let swaps = "card_offered exchange_declined exchange_passed help_asked";
        let is_consistent = match route {
            "deal" => kind == "cards_dealt",
            "play" => kind == "card_played" || kind == "hand_folded",
            "swap" => swaps.split(' ').any(|swap| swap == kind),
            "token" => kind == "token_reissued",
            "join" => kind == "seat_taken",
            _ => kind == "seat_handed_over",
        };
        assert!(is_consistent, "{write:?}: {events}");
        self.table.log.push((who, events.clone()));
        Some(events)
    }

    /// Renews a seat's token. Without a key its response may be lost, and with it the seat, so this
    /// happens between two rounds, when somebody else can take over at once.
    fn reissue_as_seat(&mut self) {
        let phase = self.read(Spectator, "").expect(200)["phase"].take();
        if phase == "finished" || !self.table.keyed && phase != "deal" {
            return;
        }
        let seat = self.dice.below(4);
        let write = self.reissue(Seat(seat), seat);
        let response = send(self.server, self.counts, &write);
        let stored = response.is_some() || self.read(Seat(seat), "").status == 401;
        if stored && !std::mem::replace(&mut self.table.joined[seat], true) {
            let events = json!([{"type": "token_renewed", "seat": seat}]);
            self.table.log.push((Spectator, events));
        }
        match response {
            Some(response) => self.take_token(Seat(seat), seat, write, response),
            None if stored => {
                count(&self.counts.done_unanswered);
                self.reseat(seat);
            }
            None => {}
        }
    }

    /// Opens a seat, and takes it, until the response with the token arrives.
    fn reseat(&mut self, seat: usize) {
        loop {
            let path = format!("/seats/{seat}");
            let open = self.write(Host, "PUT", &path, json!({"kind": "open"}));
            let Some(opened) = send(self.server, self.counts, &open) else {
                self.settle(Host, &open);
                continue;
            };
            let invitation = self.note(Host, open, opened, 200)["invitation"].take();
            let body = json!({"invitation": invitation, "name": self.table.name});
            let join = self.write(Spectator, "POST", "/join", body);
            let Some(joined) = send(self.server, self.counts, &join) else {
                self.settle(Spectator, &join);
                continue;
            };
            let joined = self.note(Spectator, join, joined, 201);
            assert_eq!(joined["seat"], seat);
            let token = joined["token"].as_str().expect("a token");
            self.server.forbid_in_log(token);
            self.table.game.tokens[seat] = token.to_owned();
            break;
        }
        // The new person does not see what the old one saw.
        let history = self.read(Spectator, "/history").expect(200);
        for (index, (who, events)) in self.table.log.iter_mut().enumerate() {
            if *who == Seat(seat) {
                (*who, *events) = (Spectator, history["entries"][index]["events"].clone());
            }
        }
    }

    /// Remembers a change with a response. Returns its body.
    fn note(
        &mut self,
        who: TestViewer,
        write: SentWrite,
        response: TestResponse,
        status: u16,
    ) -> Value {
        let changed = response.clone().expect(status);
        let version = self.table.log.len() as u64 + 1;
        assert_eq!(changed["version"], version, "{write:?}");
        self.table.log.push((who, changed["events"].clone()));
        self.keep(who, write, response);
        changed
    }

    /// Retries until the response with the token arrives.
    fn reissue_as_host(&mut self, seat: usize) {
        loop {
            let phase = self.read(Spectator, "").expect(200)["phase"].take();
            if phase == "finished" || self.table.joined[seat] {
                return;
            }
            let write = self.reissue(Host, seat);
            if let Some(response) = send(self.server, self.counts, &write) {
                let events = json!([{"type": "token_reissued", "seat": seat}]);
                self.table.log.push((Host, events));
                self.take_token(Host, seat, write, response);
                return;
            }
            if self.settle(Host, &write).is_some() {
                let old = self.read(Seat(seat), "");
                assert_eq!(old.status, 401, "{}", old.text());
            }
        }
    }

    fn reissue(&mut self, who: TestViewer, seat: usize) -> SentWrite {
        self.write(who, "POST", &format!("/seats/{seat}/token"), Value::Null)
    }

    fn take_token(
        &mut self,
        who: TestViewer,
        seat: usize,
        write: SentWrite,
        response: TestResponse,
    ) {
        let fresh = response.clone().expect(200);
        assert_eq!(fresh["version"], self.table.log.len() as u64, "{write:?}");
        let token = fresh["token"].as_str().expect("a token");
        self.server.forbid_in_log(token);
        self.table.game.tokens[seat] = token.to_owned();
        // A seat retries its own renewal with the old token.
        self.keep(who, write, response);
    }

    fn delete(&mut self) {
        let write = self.write(Host, "DELETE", "", Value::Null);
        let gone = match send(self.server, self.counts, &write) {
            Some(response) => {
                assert_eq!(response.status, 204, "{}", response.text());
                self.keep(Host, write, response);
                true
            }
            None => self.read(Spectator, "").status == 404,
        };
        if gone {
            self.table.state = TrackedState::Deleted;
            count(&self.counts.deleted);
            self.inspect();
        }
    }

    fn write(
        &mut self,
        who: TestViewer,
        method: &'static str,
        rest: &str,
        body: Value,
    ) -> SentWrite {
        SentWrite {
            method,
            path: self.table.game.path(rest),
            token: self.table.game.token(who).map(str::to_owned),
            key: self.table.keyed.then(|| key(self.dice)),
            body,
        }
    }

    fn keep(&mut self, who: TestViewer, write: SentWrite, response: TestResponse) {
        if write.key.is_some() {
            self.table.saved.push((who, write, response));
        }
    }

    /// Retries a write, which must get the first response, byte for byte.
    fn repeat(&mut self, index: usize) {
        let (who, write, response) = &self.table.saved[index];
        let itself = write.path.ends_with("/token") && *who != Host;
        let known = self.table.game.token(*who) == write.token.as_deref();
        let deletion = write.method == "DELETE";
        if self.table.state == TrackedState::Deleted && !deletion || !known && !itself {
            return;
        }
        let again = send(self.server, self.counts, write);
        let again = again.expect("a response, since the write has a key");
        assert_repeated(write, response, &again);
        count(&self.counts.repeated);
    }

    /// Compares all responses with the history.
    fn inspect(&mut self) {
        if self.table.state == TrackedState::Deleted {
            for who in [Spectator, Host] {
                self.read(who, "").refused("game_not_found");
            }
            return;
        }
        for viewer in self.table.game.viewers() {
            let history = self.read(viewer, "/history").expect(200);
            let entries = history["entries"].as_array().expect("entries");
            let view = self.read(viewer, "").expect(200);
            assert_eq!(view["version"], self.table.log.len() as u64);
            assert_eq!(entries.len(), self.table.log.len());
            assert_eq!(view["updated_at"], entries[entries.len() - 1]["at"]);
            for (index, (who, events)) in self.table.log.iter().enumerate() {
                let entry = &entries[index];
                assert_eq!(entry["version"], index as u64 + 1);
                let there = &entry["events"];
                let is_seen = *who != viewer || is_consistent(events, there);
                assert!(is_seen, "received {events}, stored {there}");
            }
            if viewer == Spectator && view["phase"] == "finished" {
                let mut verify = Command::new(env!("CARGO_BIN_EXE_dog"));
                let ask = self.table.game.get(viewer, "/history");
                let ask = ask.header("Accept", "text/plain");
                let record = (0..TRIES).find_map(|_| ask.try_send());
                let record = record.expect("a response in the end");
                let verified = run(verify.args(["verify", "-"]), &record.body);
                assert!(verified.status.success(), "{verified:?}");
            }
        }
    }

    /// Retries until there is a response.
    fn read(&self, who: TestViewer, rest: &str) -> TestResponse {
        let ask = |_| self.table.game.get(who, rest).try_send();
        (0..TRIES).find_map(ask).expect("a response in the end")
    }
}

/// Whether events agree with what was sent before, apart from cards that were hidden then.
fn is_consistent(told: &Value, there: &Value) -> bool {
    match (told, there) {
        (Value::Null, _) => true,
        (Value::Array(told), Value::Array(there)) => {
            let mut pairs = told.iter().zip(there);
            told.len() == there.len() && pairs.all(|(told, there)| is_consistent(told, there))
        }
        (Value::Object(told), Value::Object(there)) => {
            told.len() == there.len()
                && told.iter().all(|(name, told)| {
                    there
                        .get(name)
                        .is_some_and(|there| is_consistent(told, there))
                })
        }
        _ => told == there,
    }
}
