//! No response shows a viewer a hidden card: every response of whole games is searched,
//! as each viewer.

use serde_json::{Value, json};

use crate::support::{
    CARDS, Dice, Stream, TestGame, TestResponse, TestServer,
    TestViewer::{self, *},
    seed,
};

/// Where a response to a viewer may name a card: the path with list indexes as `#`,
/// and those of the viewer's own seat as `own`.
const OPEN: [&str; 22] = [
    // One's own cards.
    "seats/own/hand/#",
    "seats/own/gave",
    "seats/own/received",
    // Revealed or played.
    "last_action/cards/#",
    "last_action/move/card",
    "last_action/move/as",
    "events/#/cards/#",
    "events/#/move/card",
    "events/#/move/as",
    // Sent to this viewer only, see `own_event`.
    "last_action/hands/own/#",
    "events/#/hands/own/#",
    // What the viewer itself may play.
    "moves/#/card",
    "moves/#/as",
    "unplayable/#/card",
    "suggestions/#/reasons/#/card",
    "suggestions/#/move/card",
    "suggestions/#/move/as",
    "suggestions/#/swap/card",
    "suggestions/#/request/body/card",
    // Free texts, which may look like a card by chance.
    "seats/#/name",
    "seats/own/name",
    "detail",
];

/// Every place in a response that shows a card which is hidden from the viewer.
fn leaks(response: &Value, viewer: TestViewer) -> Vec<String> {
    let mut found = Vec::new();
    search(response, "", viewer, &mut found);
    found
}

fn search(value: &Value, path: &str, viewer: TestViewer, found: &mut Vec<String>) {
    let join = |segment: &str| match path {
        "" => segment.to_owned(),
        path => format!("{path}/{segment}"),
    };
    match value {
        Value::Array(entries) => {
            for (index, entry) in entries.iter().enumerate() {
                let by_seat = path.ends_with("seats") || path.ends_with("hands");
                let own = by_seat && viewer == Seat(index);
                search(entry, &join(if own { "own" } else { "#" }), viewer, found);
            }
        }
        Value::Object(entries) => {
            let own_event = own_event(value, viewer);
            for (name, entry) in entries {
                if name == "game" && path.is_empty() {
                    search(entry, "", viewer, found);
                } else if !(own_event && ["card", "given"].contains(&name.as_str())) {
                    search(entry, &join(name), viewer, found);
                }
            }
        }
        Value::String(text) if CARDS.contains(&text.as_str()) => {
            // Track fields are texts of digits too.
            let field = ["/from", "/to", "/path/#", "/place"]
                .iter()
                .any(|end| path.ends_with(end));
            if !field && !OPEN.contains(&path) {
                found.push(format!("{text} at {path}"));
            }
        }
        _ => {}
    }
}

/// Whether it is an offer of the viewer's own, or a swap of its pair.
fn own_event(value: &Value, viewer: TestViewer) -> bool {
    let Seat(seat) = viewer else {
        return false;
    };
    match value["type"].as_str() {
        Some("card_offered") => value["seat"] == seat,
        Some("cards_swapped") => {
            let given = value["given"].as_array().expect("a list");
            given.iter().any(|given| given["seat"] == seat)
        }
        _ => false,
    }
}

/// Responses of a game in progress, searched one by one and kept to be searched for the
/// seed, which is known only at the end.
#[derive(Default)]
struct LeakSearch(Vec<String>);

impl LeakSearch {
    /// Searches a response; returns its body, or null if it is not JSON.
    fn response(&mut self, response: TestResponse, viewer: TestViewer) -> Value {
        let text = response.text();
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        let leaks = leaks(&value, viewer);
        assert!(
            leaks.is_empty(),
            "{viewer} is told {leaks:?} by {}: {text}",
            response.what
        );
        if value["phase"] != "finished" && value["game"]["phase"] != "finished" {
            self.0.push(text);
        }
        value
    }

    /// Searches the log entries that a viewer received during a game.
    fn entries(&mut self, entries: impl Iterator<Item = Value>, viewer: TestViewer) {
        for entry in entries {
            let leaks = leaks(&entry, viewer);
            assert!(leaks.is_empty(), "{viewer} is told {leaks:?} by {entry}");
            self.0.push(entry.to_string());
        }
    }

    /// Searches the history so far, as everybody.
    fn histories(&mut self, game: &TestGame) {
        for viewer in game.viewers() {
            let mut history = game.get(viewer, "/history").send().expect(200);
            let entries = history["entries"].take();
            self.entries([history].into_iter(), viewer);
            let entries = entries.as_array().expect("entries").clone();
            self.entries(entries.into_iter(), viewer);
        }
    }

    /// Searches a stream to the end of the game, whose last message publishes the seed.
    fn stream(&mut self, stream: &Stream, viewer: TestViewer) {
        let mut messages = stream.rest();
        let last = messages.pop().expect("the end of the game");
        assert!(leaks(&last.data, viewer).is_empty(), "{last:?}");
        self.entries(messages.into_iter().map(|message| message.data), viewer);
    }
}

/// Plays a game to the end, requesting everything as every viewer.
fn look_everywhere(rules: &Value) {
    let server = TestServer::start_with(&[("RUST_LOG", "debug")]);
    let game = TestGame::create(&server, &json!({"rules": rules}));
    let mut search = LeakSearch::default();
    let mut dice = Dice::new(1);
    let stream = |viewer| (viewer, game.events(viewer, "?include=game,moves"));
    let streams: Vec<(TestViewer, Stream)> = game.viewers().into_iter().map(stream).collect();
    loop {
        for viewer in game.viewers() {
            search.response(game.get(viewer, "").send(), viewer);
        }
        search.response(game.get(Spectator, "/board.svg").send(), Spectator);
        let view = game.view(Spectator);
        let seat = |name: &str| view[name].as_u64().expect("a seat") as usize;
        match view["phase"].as_str().expect("a phase") {
            "deal" => {
                search.histories(&game);
                let by = [Host, Seat(seat("dealer"))][dice.below(2)];
                search.response(game.post(by, "/deal").send(), by);
            }
            "exchange" => {
                for seat in 0..game.seats() {
                    advised(&game, seat, &mut search);
                    for viewer in game.viewers() {
                        search.response(game.get(viewer, "").send(), viewer);
                    }
                }
            }
            "play" => {
                let turn = seat("turn");
                for viewer in game.viewers() {
                    let mut reads = vec!["/legal-moves?board=false", "/board.svg?move=7:"];
                    // A refusal would name the card of the request.
                    if viewer != Seat(turn) || game.hand(turn).iter().any(|card| card == "7") {
                        reads.push("/legal-moves/seven?begun=7:");
                    }
                    for rest in reads {
                        search.response(game.get(viewer, rest).send(), viewer);
                    }
                    search.response(game.try_play(viewer, "K:out:"), viewer);
                }
                advised(&game, turn, &mut search);
            }
            _ => break,
        }
    }
    for (viewer, stream) in &streams {
        search.stream(stream, *viewer);
    }
    let seed = game.view(Spectator)["shuffle_seed"].take();
    let seed = seed.as_str().expect("a seed");
    for text in search.0.iter().chain([&server.log()]) {
        assert!(!text.contains(seed), "the seed is in {text}");
        for token in game.tokens.iter().chain([&game.host]) {
            assert!(!text.contains(token.as_str()), "a token is in {text}");
        }
    }
}

/// A refusal may name cards of the caller's own hand. The log never shows them, however
/// much is logged.
#[test]
fn the_log_shows_nothing_of_a_refusal() {
    let server = TestServer::start_with(&[("RUST_LOG", "debug")]);
    let game = TestGame::dealt(&server);
    let hand = game.hand(0);
    let is_missing = |card: &&str| !hand.iter().any(|held| held == card);
    let missing = CARDS.into_iter().find(is_missing);
    let missing = missing.expect("no hand holds every card");
    let swap = game.post(Seat(0), "/swap").json(&json!({"card": missing}));
    let problem = swap.send().refused("card_not_in_hand");
    let detail = problem["detail"].as_str().expect("a detail");
    assert!(detail.contains(missing), "{detail}");
    let log = server.log();
    assert!(log.contains("card_not_in_hand"), "debug shows codes: {log}");
    assert!(!log.contains(detail), "the log shows a hand: {log}");
}

/// A whole game with the service's log at its most detailed: it has every request, and none of
/// its secrets.
#[test]
fn the_log_shows_no_secret_at_any_level() {
    let server = TestServer::start_with(&[("RUST_LOG", "info,dog=trace,dog_server=trace")]);
    let mut game = TestGame::in_play(&server);
    let key = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
    let mut secrets = vec![key.to_owned(), seed(1)];
    let mut keep = |response: TestResponse, name: &str| {
        let secret = response.expect(200)[name].as_str().map(str::to_owned);
        secrets.extend(secret.clone());
        secret.expect("a secret")
    };
    let fresh = game.post(Seat(0), "/seats/0/token").key(key).send();
    game.tokens[0] = keep(fresh, "token");
    let ticket = game.post(Seat(0), "/events/ticket").send();
    let ticket = keep(ticket, "ticket");
    let stream = game.events(Spectator, &format!("?ticket={ticket}"));
    let mut dice = Dice::new(1);
    while game.step(&mut dice)["phase"] != "finished" {}
    stream.rest();
    secrets.extend(game.tokens.iter().chain([&game.host]).cloned());
    // Every hand that was dealt: in the notation of JSON and in that of the store.
    let entries = game.entries(Spectator);
    let events = entries.iter();
    let events = events.flat_map(|entry| entry["events"].as_array().expect("events"));
    for hand in events
        .filter_map(|event| event["hands"].as_array())
        .flatten()
    {
        let cards = hand.as_array().expect("a hand").iter();
        let cards: Vec<&str> = cards.filter_map(Value::as_str).collect();
        secrets.extend([hand.to_string(), cards.join(", ")]);
        // A few digits may be part of a timestamp.
        let stored = cards.concat().replace("10", "T").replace("joker", "*");
        if stored.bytes().any(|byte| !byte.is_ascii_digit()) {
            secrets.push(stored);
        }
    }
    let log = server.log();
    assert!(log.contains("POST /v1/games/{id}/play 200"), "{log}");
    let levels = [" TRACE ", " DEBUG ", " INFO "];
    assert!(levels.iter().any(|level| log.contains(level)), "{log}");
    for secret in secrets.iter().filter(|secret| secret.len() > 3) {
        assert!(!log.contains(secret.as_str()), "{secret} is in the log");
    }
}

/// Follows the best advice.
fn advised(game: &TestGame, seat: usize, search: &mut LeakSearch) {
    let path = "/suggest-move?level=greedy&seed=1";
    let advice = game.get(Seat(seat), path).send();
    if advice.status == 409 {
        // The partner has declined already.
        return;
    }
    let advice = search.response(advice, Seat(seat));
    let best = &advice["suggestions"][0]["request"];
    search.response(game.as_suggested(seat, best), Seat(seat));
}

#[test]
fn with_a_mandatory_exchange() {
    look_everywhere(&json!({"preset": "dogspiel-de"}));
}

#[test]
#[ignore = "takes ten seconds"]
fn with_an_optional_exchange() {
    look_everywhere(&json!({"preset": "hausregeln", "exchange": "optional"}));
}

#[test]
fn with_an_exchange_on_request() {
    look_everywhere(&json!({"preset": "hausregeln"}));
}

#[test]
fn the_search_finds_what_is_hidden() {
    let foreign = json!({"seats": [{"hand": ["K"]}, {"hand": ["A"], "gave": "2"}]});
    assert_eq!(leaks(&foreign, Seat(0)).len(), 2);
    assert_eq!(leaks(&foreign, Seat(1)).len(), 1);
    assert_eq!(leaks(&foreign, Spectator).len(), 3);
    let offer = json!({"last_action": {"type": "card_offered", "seat": 1, "card": "K"}});
    assert_eq!(leaks(&offer, Seat(1)).len(), 0);
    assert_eq!(leaks(&offer, Seat(3)).len(), 1);
    let given = json!([{"seat": 0, "card": "K"}, {"seat": 2, "card": "A"}]);
    let swap = json!({"events": [{"type": "cards_swapped", "given": given}], "game": foreign});
    assert_eq!(leaks(&swap, Seat(0)).len(), 2);
    assert_eq!(leaks(&swap, Seat(1)).len(), 3);
    let dealt = json!({"events": [{"type": "cards_dealt", "hands": [["K"], null]}]});
    assert_eq!(leaks(&dealt, Seat(0)).len(), 0);
    assert_eq!(leaks(&dealt, Seat(1)).len(), 1);
}
