//! Clients that play at the same time and remember every answer, while servers are killed or lose
//! their database. Afterwards every promise is checked: a write with an answer is stored exactly
//! once, a write without one is stored whole or not at all, and a retry with a key gets the first
//! answer or is done once.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::{self, ScopedJoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{
    Dice, TIMEOUT, TestGame, TestRequest, TestResponse, TestServer,
    TestViewer::{self, *},
    verify,
};

/// Clients, each of which plays several games in turns.
const CLIENTS: u64 = 4;

/// Unfinished games of a client.
const TABLES: usize = 3;

/// The name of bots.
const BOT: &str = "bot";

/// How long a client waits when the store is unavailable.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Counts of what happened.
#[derive(Debug, Default)]
pub struct LedgerCounts {
    games: AtomicU64,
    finished: AtomicU64,
    deleted: AtomicU64,
    /// Writes that were done, by their answer.
    pub answered: AtomicU64,
    /// Those among them that were sent more than once.
    retried: AtomicU64,
    /// Retries that got the first answer again.
    repeated: AtomicU64,
    /// Writes without a key whose outcome is not known, and those that were found to be done.
    unanswered: AtomicU64,
    done_unanswered: AtomicU64,
    /// Connections that were lost before an answer.
    pub cut_off: AtomicU64,
    /// Answers of 503.
    pub unavailable: AtomicU64,
    /// The longest time that a request took, in milliseconds.
    slowest_ms: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

/// A game of four bots, which no client plays, with that many milliseconds between two actions.
pub fn bots(server: &TestServer, pace: u32) -> TestGame<'_> {
    let bot = json!({"kind": "bot", "level": "greedy", "name": BOT});
    let body = json!({"seats": [bot, bot, bot, bot], "bot_pace_ms": pace});
    TestGame::create(server, &body)
}

/// Times without an answered write of any client.
#[derive(Default)]
struct AnswerGaps {
    last: Option<Instant>,
    longest: Duration,
}

/// What clients of these servers, which have one database, were told.
pub struct Ledger<'a> {
    servers: &'a [TestServer],
    pub counts: LedgerCounts,
    gaps: Mutex<AnswerGaps>,
    over: AtomicBool,
    seed: u64,
}

impl<'a> Ledger<'a> {
    pub fn new(servers: &'a [TestServer], seed: u64) -> Ledger<'a> {
        Ledger {
            servers,
            counts: LedgerCounts::default(),
            gaps: Mutex::default(),
            over: AtomicBool::new(false),
            seed,
        }
    }

    /// Has clients play while `happens` goes on.
    pub fn play_while(&self, happens: impl FnOnce()) -> Vec<LedgerClient<'_, 'a>> {
        thread::scope(|scope| {
            let play = |number| scope.spawn(move || LedgerClient::new(self, number).play());
            let clients: Vec<ScopedJoinHandle<'_, _>> = (0..CLIENTS).map(play).collect();
            happens();
            self.over.store(true, Relaxed);
            let clients = clients.into_iter();
            clients
                .map(|client| client.join().expect("a client"))
                .collect()
        })
    }

    /// Compares all that the clients were told with what is stored.
    pub fn compare(&self, clients: Vec<LedgerClient<'_, 'a>>) {
        let mut listed = self.listed();
        for client in clients {
            client.compare(&mut listed);
        }
        listed.retain(|name| name != BOT);
        assert!(listed.is_empty(), "no client created {listed:?}");
    }

    /// The name of the first seat of every public game.
    fn listed(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut path = "/v1/games?limit=100".to_owned();
        loop {
            let page = self.send(0, &self.servers[0].get(&path)).0.expect(200);
            for game in page["games"].as_array().expect("games") {
                names.push(game["names"][0].as_str().expect("a name").to_owned());
            }
            match page["next"].as_str() {
                Some(next) => path = format!("/v1/games?limit=100&cursor={next}"),
                None => return names,
            }
        }
    }

    /// The longest time without an answered write since this was last asked.
    #[allow(dead_code, reason = "the tests of failovers use it")]
    pub fn take_gap(&self) -> Duration {
        std::mem::take(&mut self.gaps.lock().expect("the gaps").longest)
    }

    /// Writes that were not answered at the first try.
    pub fn interrupted_writes(&self) -> u64 {
        self.counts.retried.load(Relaxed) + self.counts.unanswered.load(Relaxed)
    }

    fn count_answer(&self) {
        count(&self.counts.answered);
        let mut gaps = self.gaps.lock().expect("the gaps");
        let gap = gaps.last.replace(Instant::now()).map(|last| last.elapsed());
        gaps.longest = gaps.longest.max(gap.unwrap_or_default());
    }

    /// The answer of a server; `None` if the server was killed or the store is unavailable.
    fn try_send(&self, number: usize, request: &TestRequest<'a>) -> Option<TestResponse> {
        let server = &self.servers[number % self.servers.len()];
        let started = Instant::now();
        let answer = request.clone().at(server).try_send();
        let took = started.elapsed().as_millis() as u64;
        self.counts.slowest_ms.fetch_max(took, Relaxed);
        match answer {
            None => count(&self.counts.cut_off),
            Some(answer) if answer.status == 503 => {
                answer.refused("unavailable");
                count(&self.counts.unavailable);
                thread::sleep(RETRY_DELAY);
            }
            answer => return answer,
        }
        None
    }

    /// The answer to a request that may be repeated, and how often it was sent.
    pub fn send(&self, number: usize, request: &TestRequest<'a>) -> (TestResponse, usize) {
        let started = Instant::now();
        let answers = (0..).map(|tries| (self.try_send(number + tries, request), tries));
        let mut answers = answers.take_while(|_| started.elapsed() < TIMEOUT);
        let found = answers.find_map(|(answer, tries)| Some((answer?, tries + 1)));
        found.unwrap_or_else(|| panic!("{} is never answered", request.what()))
    }

    /// Sends a write, one with a key until it is answered; `None` if its outcome is not known.
    fn write(&self, number: usize, write: &TestRequest<'a>) -> Option<TestResponse> {
        let answer = if write.sent("Idempotency-Key").is_some() {
            let (answer, tries) = self.send(number, write);
            if tries > 1 {
                count(&self.counts.retried);
            }
            Some(answer)
        } else {
            self.try_send(number, write)
        };
        match answer {
            Some(_) => self.count_answer(),
            None => count(&self.counts.unanswered),
        }
        answer
    }
}

/// A client, which sends each request to a random server.
pub struct LedgerClient<'l, 'a> {
    ledger: &'l Ledger<'a>,
    dice: Dice,
    number: u64,
    games: Vec<LedgerGame<'l, 'a>>,
    /// Names of games whose creation was not answered.
    unconfirmed: Vec<String>,
}

impl<'l, 'a> LedgerClient<'l, 'a> {
    fn new(ledger: &'l Ledger<'a>, number: u64) -> LedgerClient<'l, 'a> {
        LedgerClient {
            ledger,
            dice: Dice::new(ledger.seed + number),
            number,
            games: Vec::new(),
            unconfirmed: Vec::new(),
        }
    }

    /// Plays until the test ends.
    fn play(mut self) -> LedgerClient<'l, 'a> {
        while !self.ledger.over.load(Relaxed) {
            let is_playing = |game: &&mut LedgerGame<'_, '_>| game.state == LedgerState::Playing;
            let mut playing: Vec<_> = self.games.iter_mut().filter(is_playing).collect();
            if playing.len() < TABLES {
                // One of three is always without keys.
                let keyed = playing.iter().any(|game| !game.keyed);
                self.create(keyed);
            } else {
                playing.swap_remove(self.dice.below(TABLES)).step();
            }
        }
        self
    }

    /// Creates a game, with a key or without.
    fn create(&mut self, keyed: bool) {
        let created = self.games.len() + self.unconfirmed.len();
        let name = format!("{}/{created}", self.number);
        let presets = ["dogspiel-it", "hausregeln", "familienlager"];
        let preset = presets[self.dice.below(presets.len())];
        // A bot that takes a seat must not act before the seat is handed back.
        let body = json!({"rules": {"preset": preset}, "seats": [{"name": name}, {}, {}, {}],
            "bot_pace_ms": 60_000});
        let mut write = self.ledger.servers[0].post("/v1/games").json(&body);
        if keyed {
            write = write.key(&key(&mut self.dice));
        }
        let number = self.dice.below(self.ledger.servers.len());
        let Some(answer) = self.ledger.write(number, &write) else {
            self.unconfirmed.push(name);
            return;
        };
        count(&self.ledger.counts.games);
        let created = answer.clone().expect(201);
        let dealer = created["game"]["dealer"].clone();
        let events = json!([{"type": "game_created", "dealer": dealer}]);
        let mut game = LedgerGame {
            ledger: self.ledger,
            dice: Dice::new(self.dice.below(usize::MAX) as u64),
            game: TestGame::from_created(&self.ledger.servers[0], &created),
            name,
            keyed,
            log: vec![(Spectator, events)],
            saved: Vec::new(),
            joined: [false; 4],
            state: LedgerState::Playing,
            unanswered: None,
            refused: Vec::new(),
        };
        game.keep(Spectator, write, answer);
        self.games.push(game);
    }

    /// Compares every answer with the stored games, and takes this client's games off the list.
    fn compare(self, listed: &mut Vec<String>) {
        let mut take = |name: &str| {
            let before = listed.len();
            listed.retain(|other| other != name);
            before - listed.len()
        };
        for name in &self.unconfirmed {
            assert!(take(name) <= 1, "{name} was created twice");
        }
        for mut game in self.games {
            let unanswered = game.unanswered.clone();
            if let Some(write) = &unanswered {
                game.settle(write);
            }
            let there = usize::from(game.state != LedgerState::Deleted);
            assert_eq!(take(&game.name), there, "{}", game.name);
            game.inspect();
            for index in 0..game.saved.len() {
                game.repeat(index);
            }
            if unanswered.is_some_and(|write| is_action(&write)) {
                game.state = LedgerState::Playing;
                game.play();
                assert_ne!(game.state, LedgerState::GivenUp, "{}", game.name);
            }
        }
    }
}

/// A random key.
fn key(dice: &mut Dice) -> String {
    (0..32).map(|_| format!("{:x}", dice.below(16))).collect()
}

/// Whether a write deals, swaps or plays.
fn is_action(write: &TestRequest<'_>) -> bool {
    ["/deal", "/swap", "/play"]
        .iter()
        .any(|route| write.path.ends_with(route))
}

/// A game, and everything that its client knows about it.
struct LedgerGame<'l, 'a> {
    ledger: &'l Ledger<'a>,
    dice: Dice,
    game: TestGame<'a>,
    name: String,
    /// Whether its writes carry keys.
    keyed: bool,
    /// Each version's events, and the viewer that received them.
    log: Vec<(TestViewer, Value)>,
    /// Writes that can be repeated, and their answers.
    saved: Vec<(TestViewer, TestRequest<'a>, TestResponse)>,
    /// Seats whose token the host cannot replace.
    joined: [bool; 4],
    state: LedgerState,
    /// The last write of a game that is given up.
    unanswered: Option<TestRequest<'a>>,
    /// Seats whose tokens were replaced by it, or before it.
    refused: Vec<TestViewer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LedgerState {
    Playing,
    Finished,
    Deleted,
    /// The last write has no key and was not answered: it may be done or not, even later.
    GivenUp,
}

impl<'a> LedgerGame<'_, 'a> {
    /// Does something random, usually the next action of the game.
    fn step(&mut self) {
        match self.dice.below(40) {
            0 => self.renew(false),
            1 => self.renew(true),
            2 => self.hand_over(),
            3 => self.inspect(),
            4 | 5 if !self.saved.is_empty() => {
                let index = self.dice.below(self.saved.len());
                self.repeat(index);
            }
            6 if self.dice.below(3) == 0 => self.delete(),
            _ => self.play(),
        }
    }

    /// Deals, swaps or plays, or does between two rounds what is possible only then.
    fn play(&mut self) {
        let view = self.read(Spectator, "").expect(200);
        let changed = if view["phase"] == "deal" {
            if self.dice.below(4) == 0 {
                return self.seat_another();
            }
            let dealer = view["dealer"].as_u64().expect("a dealer") as usize;
            let who = [Host, Seat(dealer)][self.dice.below(2)];
            self.change(who, self.game.post(who, "/deal"), 200)
        } else if view["phase"] == "finished" {
            None
        } else {
            let seat = view["to_act"][0].as_u64().expect("somebody is to act") as usize;
            let query = format!("/suggest-move?level=greedy&seed={}", self.dice.below(1000));
            let advice = self.read(Seat(seat), &query).expect(200);
            let body = &advice["suggestions"][0]["request"]["body"];
            let is_play = view["phase"] == "play";
            let route = if is_play { "/play" } else { "/swap" };
            let action = self.game.post(Seat(seat), route).json(body);
            self.change(Seat(seat), action, 200)
        };
        if changed.is_some_and(|changed| changed["game"]["phase"] == "finished") {
            self.state = LedgerState::Finished;
            count(&self.ledger.counts.finished);
        }
    }

    /// Hands a seat to a bot, which is too slow to act, and takes it back.
    fn hand_over(&mut self) {
        let seat = self.dice.below(4);
        let path = format!("/seats/{seat}");
        let mut human = json!({"kind": "human", "name": self.name});
        let mut bot = json!({"kind": "bot", "level": "random", "name": self.name});
        // A person who joined comes back by itself, and keeps its name.
        let mut back = Host;
        if self.joined[seat] {
            (human, bot) = (json!({"kind": "human"}), json!({"kind": "bot"}));
            back = Seat(seat);
        }
        let put = |who, body| self.game.request("PUT", who, &path).json(body);
        let (leave, come_back) = (put(Host, &bot), put(back, &human));
        if self.change(Host, leave, 200).is_some() {
            self.change(back, come_back, 200);
        }
    }

    /// Opens a seat, which another person takes. The first one keeps the name by which the game is
    /// found.
    fn seat_another(&mut self) {
        self.inspect();
        let seat = 1 + self.dice.below(3);
        let open = self.game.request("PUT", Host, &format!("/seats/{seat}"));
        let opened = self.change(Host, open.json(&json!({"kind": "open"})), 200);
        let Some(opened) = opened else { return };
        let body = json!({"invitation": opened["invitation"], "name": self.name});
        let join = self.game.post(Spectator, "/join").json(&body);
        if let Some(joined) = self.change(Spectator, join, 201) {
            assert_eq!(joined["seat"], seat);
            self.take_token(seat, &joined);
            self.joined[seat] = true;
            // The new person does not see what the old one saw.
            for (who, events) in &mut self.log {
                if *who == Seat(seat) {
                    *events = Value::Null;
                }
            }
        }
    }

    /// Replaces the token of a seat, by itself or by the host.
    fn renew(&mut self, is_by_host: bool) {
        let seat = self.dice.below(4);
        if is_by_host && self.joined[seat] {
            return;
        }
        let (who, kind) = match is_by_host {
            true => (Host, "token_reissued"),
            false => (Seat(seat), "token_renewed"),
        };
        let renew = self.game.post(who, &format!("/seats/{seat}/token"));
        let Some(renewed) = self.write(who, renew, 200) else {
            return;
        };
        // Whoever has renewed the own token joins by that, which is told once.
        if is_by_host || !std::mem::replace(&mut self.joined[seat], true) {
            let events = json!([{"type": kind, "seat": seat}]);
            self.log.push((Host, events));
        }
        assert_eq!(renewed["version"], self.log.len(), "{}", self.name);
        self.take_token(seat, &renewed);
    }

    fn take_token(&mut self, seat: usize, answer: &Value) {
        let token = answer["token"].as_str().expect("a token");
        self.game.server.forbid_in_log(token);
        self.game.tokens[seat] = token.to_owned();
    }

    fn delete(&mut self) {
        let delete = self.game.request("DELETE", Host, "");
        if self.write(Host, delete, 204).is_some() {
            self.state = LedgerState::Deleted;
            count(&self.ledger.counts.deleted);
            self.inspect();
        }
    }

    /// Makes a version. Returns the body of the answer; `None` if the game is given up.
    fn change(&mut self, who: TestViewer, write: TestRequest<'a>, status: u16) -> Option<Value> {
        let what = write.what();
        let changed = self.write(who, write, status)?;
        self.log.push((who, changed["events"].clone()));
        assert_eq!(changed["version"], self.log.len(), "{what}");
        Some(changed)
    }

    /// The same without a note of its version.
    fn write(&mut self, who: TestViewer, write: TestRequest<'a>, status: u16) -> Option<Value> {
        let write = match self.keyed {
            true => write.key(&key(&mut self.dice)),
            false => write,
        };
        let number = self.dice.below(self.ledger.servers.len());
        let Some(answer) = self.ledger.write(number, &write) else {
            self.state = LedgerState::GivenUp;
            self.unanswered = Some(write);
            return None;
        };
        let body = answer.clone().expect(status);
        self.keep(who, write, answer);
        Some(body)
    }

    fn keep(&mut self, who: TestViewer, write: TestRequest<'a>, answer: TestResponse) {
        if self.keyed {
            self.saved.push((who, write, answer));
        }
    }

    /// Repeats a write, which must get the first answer, byte for byte.
    fn repeat(&mut self, index: usize) {
        let (who, write, first) = self.saved[index].clone();
        // A seat repeats its own renewal with the old token.
        let itself = write.path.ends_with("/token") && who != Host;
        let token = |request: &TestRequest<'_>| request.sent("Authorization").map(str::to_owned);
        let known = token(&self.game.get(who, "")) == token(&write);
        let outlives = write.method == "DELETE" || write.path == "/v1/games";
        if !known && !itself || self.state == LedgerState::Deleted && !outlives {
            return;
        }
        self.ask(&write).assert_repeats(&first);
        count(&self.ledger.counts.repeated);
    }

    /// Finds out whether a write without an answer was done, and notes what it did.
    fn settle(&mut self, write: &TestRequest<'a>) {
        let what = write.what();
        let history = self.read(Host, "/history");
        if write.method == "DELETE" && history.status == 404 {
            self.state = LedgerState::Deleted;
            return;
        }
        let seats = (0..4).map(Seat);
        self.refused = seats
            .filter(|&seat| self.read(seat, "").status == 401)
            .collect();
        let is_of_seat = write.path.contains("/seats/") || write.path.ends_with("/join");
        assert!(self.refused.len() <= usize::from(is_of_seat), "{what}");
        let history = history.expect(200);
        let entries = history["entries"].as_array().expect("entries");
        let more = &entries[self.log.len()..];
        // Bots may play at a seat that was not handed back.
        assert!(more.len() <= 1 || write.method == "PUT", "{what}: {more:?}");
        let Some(events) = more.first().map(|entry| &entry["events"]) else {
            return;
        };
        count(&self.ledger.counts.done_unanswered);
        let kind = events[0]["type"].as_str().expect("a type");
        let kinds = match write.path.rsplit('/').next().expect("a route") {
            "deal" => "cards_dealt",
            "play" => "card_played hand_folded",
            "swap" => "card_offered exchange_declined exchange_passed help_asked",
            "token" => "token_reissued token_renewed",
            "join" => "seat_taken",
            _ => "seat_handed_over",
        };
        let is_consistent = kinds.split(' ').any(|possible| possible == kind);
        assert!(is_consistent, "{what}: {events}");
        if write.path.ends_with("/token") {
            assert_eq!(self.refused.len(), 1, "{what}: {events}");
        }
        if write.path.ends_with("/play") {
            let body = write.body.as_deref().expect("a body");
            let sent: Value = serde_json::from_slice(body).expect("JSON");
            let is_fold = kind == "hand_folded" && sent["move"] == "fold";
            let is_sent = is_fold || sent["move"] == events[0]["move"]["id"];
            assert!(is_sent, "{what}: {sent} {events}");
        }
        let noted = more.iter().map(|entry| (Host, entry["events"].clone()));
        self.log.extend(noted);
    }

    /// Compares all answers with the history.
    fn inspect(&mut self) {
        if self.state == LedgerState::Deleted {
            for who in [Spectator, Host] {
                self.read(who, "").refused("game_not_found");
            }
            return;
        }
        let mut viewers = self.game.viewers();
        viewers.retain(|viewer| !self.refused.contains(viewer));
        for viewer in viewers {
            let history = self.read(viewer, "/history").expect(200);
            let entries = history["entries"].as_array().expect("entries");
            let view = self.read(viewer, "").expect(200);
            assert_eq!(view["version"], self.log.len());
            assert_eq!(entries.len(), self.log.len());
            assert_eq!(view["updated_at"], entries[entries.len() - 1]["at"]);
            for (index, (who, events)) in self.log.iter().enumerate() {
                let entry = &entries[index];
                assert_eq!(entry["version"], index + 1);
                let there = &entry["events"];
                let is_seen = *who != viewer || is_consistent(events, there);
                assert!(is_seen, "received {events}, stored {there}");
            }
            if viewer == Spectator && view["phase"] == "finished" {
                let record = self.game.get(viewer, "/history");
                let record = self.ask(&record.header("Accept", "text/plain"));
                let (verified, said) = verify(&record.text());
                assert!(verified, "{said}");
            }
        }
    }

    fn read(&mut self, who: TestViewer, rest: &str) -> TestResponse {
        let request = self.game.get(who, rest);
        self.ask(&request)
    }

    /// Sends a request until it is answered.
    fn ask(&mut self, request: &TestRequest<'a>) -> TestResponse {
        let number = self.dice.below(self.ledger.servers.len());
        self.ledger.send(number, request).0
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
            let is_there = |(name, told): (&String, &Value)| {
                let there = there.get(name);
                there.is_some_and(|there| is_consistent(told, there))
            };
            told.len() == there.len() && told.iter().all(is_there)
        }
        _ => told == there,
    }
}
