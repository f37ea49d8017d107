//! No response depends on a hidden card: every response is byte for byte the same if the cards
//! that its viewer cannot see are different.
//!
//! A game is paused at many moments. For each viewer two servers are started on copies of its
//! database, one with the hidden cards permuted, and both get the same requests.

use std::thread;

use serde_json::{Value, json};

use crate::support::{
    CARDS, Dice, GameSecrets, LEVELS, PRESETS, Stream, TestGame, TestServer, TestTable,
    TestViewer::{self, *},
    UNKNOWN_TOKEN,
};

/// Moves that may be legal or not, besides those of every card.
const MOVES: &str = "fold J:none joker=K:out 4:17>13 Q:17>29 7:17>20,0>4 ?";

/// Playouts of an adviser: a few are enough to use every hidden card.
const SAMPLES: usize = 6;

/// Headers that always differ: made of the clock, random, as long as the digits of a
/// duration, or a set whose order differs from process to process.
const NOT_COMPARED: [&str; 4] = [
    "date",
    "x-request-id",
    "content-length",
    "access-control-expose-headers",
];

/// A request without its token.
pub struct Probe {
    method: &'static str,
    path: String,
    header: Option<(&'static str, String)>,
    body: Option<Value>,
    /// For a stream, how many messages to wait for.
    messages: Option<usize>,
}

impl Probe {
    pub fn get(path: String) -> Probe {
        Probe {
            method: "GET",
            path,
            header: None,
            body: None,
            messages: None,
        }
    }

    pub fn post(path: String, body: Value) -> Probe {
        Probe {
            method: "POST",
            body: Some(body),
            ..Probe::get(path)
        }
    }

    fn with(self, name: &'static str, value: impl ToString) -> Probe {
        Probe {
            header: Some((name, value.to_string())),
            ..self
        }
    }

    pub fn messages(self, messages: u64) -> Probe {
        Probe {
            messages: Some(messages as usize),
            ..self
        }
    }

    pub fn what(&self) -> String {
        let body = self.body.as_ref().map(Value::to_string).unwrap_or_default();
        let header = self.header.as_ref();
        let header = header.map(|(name, value)| format!("{name}: {value}"));
        let header = header.unwrap_or_default();
        format!("{} {} {header} {body}", self.method, self.path)
    }

    /// The whole response as text, without times and durations.
    pub fn response(&self, server: &TestServer, token: Option<&str>) -> String {
        let mut request = server.request(self.method, &self.path);
        if let Some(token) = token {
            request = request.token(token);
        }
        if let Some((name, value)) = &self.header {
            request = request.header(name, value);
        }
        if let Some(body) = &self.body {
            request = request.json(body);
        }
        if let Some(messages) = self.messages {
            return Stream::open(request).text(messages);
        }
        let response = request.send();
        let headers = response.headers.iter();
        let headers = headers.filter(|(name, _)| !NOT_COMPARED.contains(&name.as_str()));
        let headers = headers.map(|(name, value)| format!("{name}: {value:?}"));
        let mut headers: Vec<String> = headers.collect();
        headers.sort();
        let mut text = response.text();
        for clock in ["elapsed_ms", "updated_at", "at", "deadline"] {
            if clock == "elapsed_ms" || self.method == "POST" {
                text = without(&text, clock);
            }
        }
        format!("{}\n{}\n\n{text}", response.status, headers.join("\n"))
    }
}

/// The JSON without the values of this name.
fn without(text: &str, name: &str) -> String {
    let name = format!("\"{name}\":");
    let mut parts = text.split(&name);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| {
        let end = part.find([',', '}']).unwrap_or(part.len());
        kept + &part[end..]
    })
}

/// All requests about a game in this state that change nothing, or change it without
/// revealing hidden cards. Random choices come from `dice`.
pub fn questions(game: &TestGame, viewer: TestViewer, dice: &mut Dice) -> Vec<Probe> {
    let view = game.view(viewer);
    let version = view["version"].as_u64().expect("a version");
    let get = |rest: &str| Probe::get(game.path(rest));
    let post = |rest: &str, body: Value| Probe::post(game.path(rest), body);
    let mut probes = vec![
        Probe::get("/v1/games?limit=5".to_owned()),
        get(""),
        get("").with("If-None-Match", format!("\"{version}-{viewer}\"")),
        get("").with("Authorization", format!("Bearer {UNKNOWN_TOKEN}")),
        get(&format!("?after_version={}", version - 1)),
        get("/history"),
        get("/history").with("Accept", "application/x-ndjson"),
        get("/history").with("Accept", "text/plain"),
        get("/history?review=true").with("Accept", "text/plain"),
        get("/review"),
        get("/review.svg"),
        post("/review", json!({})),
        get("/board.svg"),
        get("/legal-moves"),
        get("/legal-moves?board=false"),
        get("/legal-moves?seat=1"),
        get("/legal-moves?card=7"),
        get("/legal-moves?card=joker&board=false"),
        get("/legal-moves/seven?begun=7:"),
        get("/legal-moves/seven?begun=joker%3D7:"),
        get("/events").messages(1),
        get("/events").with("Last-Event-ID", 0).messages(version),
    ];
    let after = dice.below(version as usize) as u64;
    let resumed = get(&format!("/events?last_event_id={after}"));
    let lines = resumed.with("Accept", "application/x-ndjson");
    probes.push(lines.messages(version - after));
    let token = game.token(viewer).unwrap_or_default();
    let followed = json!({"id": game.id, "token": token, "after_version": after});
    let many = Probe::post("/v1/events".to_owned(), json!({"games": [followed]}));
    probes.push(many.messages(version - after));
    let all = get(&format!("/events?last_event_id={after}&include=game,moves"));
    probes.push(all.messages(version - after));
    for level in LEVELS {
        let seed = dice.below(1000);
        let query = format!("/suggest-move?level={level}&samples={SAMPLES}&seed={seed}");
        probes.push(get(&query));
    }
    // Moves: previewed by anyone; played where that changes nothing, or in turn.
    let mut moves: Vec<String> = MOVES.split(' ').map(str::to_owned).collect();
    let own = view["turn"].as_u64().map(|turn| Seat(turn as usize));
    if own == Some(viewer) {
        let listed = game.legal_moves(view["turn"].as_u64().expect("a turn") as usize);
        for _ in 0..3 {
            let id = dice.pick(&listed)["id"].as_str().expect("an id");
            moves.push(id.to_owned());
        }
    }
    for card in CARDS {
        moves.push(format!("{card}:out"));
        moves.push(format!("{card}:{}>{}", dice.below(64), dice.below(64)));
    }
    for card in ["7", "joker%3D7"] {
        let from = dice.below(64);
        let part = format!("{card}:{from}%3E{}", (from + 1 + dice.below(7)) % 64);
        probes.push(get(&format!("/legal-moves/seven?begun={part}")));
        for begun in [format!("{card}:"), part] {
            let seat = dice.below(game.seats());
            probes.push(get(&format!("/board.svg?move={begun}&seat={seat}")));
        }
    }
    for id in &moves[dice.below(4)..][..8] {
        let seat = dice.below(game.seats());
        let id: String = id.bytes().map(|byte| format!("%{byte:02X}")).collect();
        probes.push(get(&format!("/board.svg?move={id}&seat={seat}")));
    }
    probes.push(post("/play", json!({"version": 0, "move": "fold"})));
    probes.push(post("/play", json!({"move": "fold"})).with("Authorization", "Bearer none"));
    probes.extend(moves.iter().map(|id| post("/play", json!({"move": id}))));
    let other = dice.below(game.seats() - 1) + 1;
    let token = format!("/seats/{other}/token");
    probes.push(post(&token, json!({"version": 0})));
    // Offering a card reveals the partner's, if it was offered; declining reveals none.
    let hand = match viewer {
        Seat(seat) if view["seats"][seat]["hand"].is_array() => game.hand(seat),
        Seat(_) | Host | Spectator => Vec::new(),
    };
    let not_held = CARDS.iter();
    let not_held = not_held.filter(|card| !hand.iter().any(|held| held == *card));
    probes.extend(not_held.map(|card| post("/swap", json!({"card": card}))));
    probes.push(post("/forfeit", json!({"version": 0})));
    for choice in ["ask", "decline", "pass"] {
        probes.push(post("/swap", json!({choice: true})));
    }
    if viewer == Host {
        probes.push(post("/deal", json!({})));
    }
    probes.push(get("/legal-moves?board=false"));
    probes
}

/// A game and the same game with its hidden cards permuted, each on its own server.
struct PermutedPair {
    servers: [TestServer; 2],
    /// Whether anything was permuted: hands, the stock or the log.
    changed: [bool; 3],
}

impl PermutedPair {
    /// The game, and one with the cards permuted that this viewer cannot see.
    fn for_viewer(game: &TestGame, viewer: TestViewer, dice: &mut Dice) -> PermutedPair {
        PermutedPair::with(game, |kept| kept.permute(viewer, dice))
    }

    /// The game and a changed one.
    fn with(game: &TestGame, change: impl FnOnce(&mut GameSecrets)) -> PermutedPair {
        let mut changed = [false; 3];
        let here = TestServer::on_copy(game.server, |_| {});
        let there = TestServer::on_copy(game.server, |database| {
            let mut kept = GameSecrets::read(database, &game.id);
            let before = kept.clone();
            change(&mut kept);
            kept.write(database, &game.id);
            changed = [
                before.snapshot["seats"] != kept.snapshot["seats"],
                before.snapshot["stock"] != kept.snapshot["stock"],
                before.log != kept.log,
            ];
        });
        PermutedPair {
            servers: [here, there],
            changed,
        }
    }

    /// Every request with different responses: its path and both responses.
    fn differences(
        &self,
        game: &TestGame,
        viewer: TestViewer,
        probes: &[Probe],
    ) -> Vec<[String; 3]> {
        let token = game.token(viewer);
        let differing = |probe: &Probe| {
            let servers = self.servers.each_ref();
            let [here, there] = servers.map(|server| probe.response(server, token));
            (here != there).then(|| [probe.what(), here, there])
        };
        probes.iter().filter_map(differing).collect()
    }

    /// Checks that no response differs. Returns the number of requests.
    #[track_caller]
    fn are_alike(&self, game: &TestGame, viewer: TestViewer, probes: &[Probe]) -> usize {
        let differences = self.differences(game, viewer, probes);
        if let Some([what, here, there]) = differences.first() {
            let count = differences.len();
            panic!("{viewer}: {count} responses differ, first {what}:\n{here}\n\nand\n\n{there}");
        }
        probes.len()
    }
}

/// The next action of a random game: the viewer, the route and the body.
fn next_action(game: &TestGame, dice: &mut Dice) -> (TestViewer, &'static str, Value) {
    let view = game.view(Spectator);
    match view["phase"].as_str().expect("a phase") {
        "deal" => (Host, "/deal", json!({})),
        "exchange" => {
            let to_act = |&seat: &usize| !game.exchange_choices(seat).is_empty();
            let seats: Vec<usize> = (0..game.seats()).filter(to_act).collect();
            let seat = seats[dice.below(seats.len())];
            (Seat(seat), "/swap", game.any_answer(seat, dice))
        }
        "play" => {
            let seat = view["turn"].as_u64().expect("a turn") as usize;
            let listed = game.legal_moves(seat);
            let id = &dice.pick(&listed)["id"];
            (Seat(seat), "/play", json!({"move": id}))
        }
        other => panic!("no action in phase {other}"),
    }
}

/// Plays a game and pauses it at up to `moments` moments, some of each phase, `seldom` times less
/// often than usual.
fn nobody_sees_a_difference(rules: Value, moments: usize, seldom: usize, seed: u64) {
    let server = TestServer::start();
    let seats = TestGame::create(&server, &json!({"rules": rules, "listed": false})).seats();
    let seats: Vec<Value> = (0..seats)
        .map(|seat| json!({"data": {"account": seat}}))
        .collect();
    let body = json!({"rules": rules, "seats": seats, "data": {"table": 1}});
    let game = TestGame::create(&server, &body);
    let rules = rules.to_string();
    let mut dice = Dice::new(seed);
    let (mut stopped, mut compared, mut changed) = (0, 0, [0; 3]);
    while stopped < moments {
        let phase = game.view(Spectator)["phase"].take();
        let rare = match phase.as_str().expect("a phase") {
            "deal" => 2,
            "exchange" => 5,
            "play" => 18,
            // Nothing is hidden after the end.
            _ => break,
        };
        if dice.below(rare * seldom) == 0 {
            stopped += 1;
            for viewer in game.viewers() {
                let twins = PermutedPair::for_viewer(&game, viewer, &mut dice);
                let probes = questions(&game, viewer, &mut dice);
                compared += twins.are_alike(&game, viewer, &probes);
                for (sum, changed) in changed.iter_mut().zip(twins.changed) {
                    *sum += usize::from(changed);
                }
            }
        }
        let (by, route, body) = next_action(&game, &mut dice);
        game.post_json(by, route, &body).expect(200);
        // One of each team says now and then that it gives up, or does not.
        if game.seats() == 4 && dice.below(4) == 0 {
            let said = json!({"forfeit": dice.below(2) == 0});
            game.post_json(Seat(dice.below(2)), "/forfeit", &said)
                .expect(200);
        }
    }
    println!("{rules}: {stopped} moments, {compared} answers compared, changed: {changed:?}");
    // Otherwise the test has compared nothing.
    let viewers = game.seats() + 2;
    assert!(
        stopped > 0 && changed.iter().all(|&changed| changed > viewers),
        "{changed:?}"
    );
}

#[test]
fn with_an_exchange_on_request() {
    nobody_sees_a_difference(json!({"preset": "hausregeln"}), 6, 1, 1);
}

#[test]
#[ignore = "takes ten seconds"]
fn with_an_optional_exchange() {
    let rules = json!({"preset": "hausregeln", "exchange": "optional"});
    nobody_sees_a_difference(rules, 6, 1, 1);
}

#[test]
#[ignore = "takes 15 seconds"]
fn with_a_mandatory_exchange_of_six() {
    nobody_sees_a_difference(json!({"preset": "dogspiel-it", "seats": 6}), 6, 1, 2);
}

/// Somebody who takes over a seat in the middle of a round sees no card that a spectator does not
/// see, and neither does the player who was there before, whose token is dead.
#[test]
fn a_person_who_takes_over_a_seat_sees_what_a_spectator_sees() {
    let server = TestServer::start();
    let mut dice = Dice::new(5);
    for (preset, steps) in [("hausregeln", 4), ("dogspiel-it", 12), ("hausregeln", 40)] {
        let slow = json!({"rules": {"preset": preset}, "bot_pace_ms": 60_000});
        let mut table = TestTable::full(&server, &slow);
        let in_round = |view: &Value| view["phase"] == "exchange" || view["phase"] == "play";
        let mut done = 0;
        while done < steps || !in_round(&table.game.view(Spectator)) {
            let (by, route, body) = next_action(&table.game, &mut dice);
            table.game.post_json(by, route, &body).expect(200);
            done += 1;
        }
        let seat = table.game.view(Spectator)["turn"].as_u64().unwrap_or(0) as usize;
        let seat = (seat + 1 + dice.below(3)) % 4;
        let before = table.game.clone();
        let invitation = table.open(seat);
        table.join(&json!({"invitation": invitation}));
        for (game, is_dead) in [(&table.game, false), (&before, true)] {
            let twins = PermutedPair::for_viewer(game, Spectator, &mut dice);
            assert!(twins.changed[0] && twins.changed[2], "{:?}", twins.changed);
            let mut probes = questions(&table.game, Seat(seat), &mut dice);
            // No stream opens with a dead token.
            probes.retain(|probe| !is_dead || probe.messages.is_none());
            twins.are_alike(game, Seat(seat), &probes);
        }
    }
}

/// The requests whose responses differ.
fn differing(
    game: &TestGame,
    viewer: TestViewer,
    change: impl FnOnce(&mut GameSecrets),
) -> Vec<String> {
    let mut dice = Dice::new(3);
    let twins = PermutedPair::with(game, change);
    let probes = questions(game, viewer, &mut dice);
    let differences = twins.differences(game, viewer, &probes);
    differences.into_iter().map(|[what, ..]| what).collect()
}

/// A response that depends on a hidden card is detected: here cards are permuted that
/// a viewer can see.
#[test]
fn a_difference_would_be_found() {
    let server = TestServer::start();
    let of_the_play = "  |?after_version|/legal-moves |/legal-moves/seven|/history |x-ndjson|\
        /events |level=random|level=greedy|level=fast|level=strong|/play ";
    let of_the_exchange = "  |/history |/events |level=strong|/swap ";
    for (game, places) in [
        (TestGame::in_play(&server), of_the_play),
        (TestGame::dealt(&server), of_the_exchange),
    ] {
        // All hands differ: a spectator cannot see that, but a seat sees its own.
        let permute = |kept: &mut GameSecrets| kept.permute(Spectator, &mut Dice::new(4));
        assert_eq!(differing(&game, Spectator, permute), [""; 0]);
        let found = differing(&game, Seat(1), permute);
        for place in places.split('|') {
            let told = found.iter().any(|what| what.contains(place));
            assert!(told, "{place:?} is not among {found:#?}");
        }
        // A different revealed card is seen by everyone.
        let lay_open = |kept: &mut GameSecrets| {
            let cards = |name: &str| kept.snapshot[name].as_str().expect("cards").to_owned();
            let (mut stock, mut discards) = (cards("stock"), cards("discards"));
            discards.extend(stock.pop());
            kept.snapshot["stock"] = json!(stock);
            kept.snapshot["discards"] = json!(discards);
        };
        for viewer in game.viewers() {
            let found = differing(&game, viewer, lay_open);
            assert!(found.len() >= 2, "{viewer} sees only {found:?}");
        }
    }
}

/// Whole games by all rule sheets, with four and six seats.
#[test]
#[ignore = "takes many minutes"]
fn long_games_of_all_presets() {
    thread::scope(|scope| {
        for (seed, preset) in (10..).zip(PRESETS) {
            for seats in [4, 6] {
                let rules = json!({"preset": preset, "seats": seats});
                scope.spawn(move || nobody_sees_a_difference(rules, usize::MAX, 8, seed));
            }
        }
    });
}
