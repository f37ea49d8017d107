//! Live streams: nothing missed, nothing doubled, nothing shown to the wrong viewer.

use serde_json::{Value, json};

use crate::support::{
    Dice, Exposition, Message, Raw, Signal, Stream, TestGame, TestServer,
    TestViewer::{self, *},
};

/// The versions and events of changes. Whether a change is the newest when it is sent, and so has
/// more than that, depends on the time.
fn events_of(changes: &[Message]) -> Vec<(u64, &Value)> {
    changes
        .iter()
        .map(|change| (change.version(), &change.data["events"]))
        .collect()
}

#[test]
fn everyone_receives_everything_as_it_happens() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let open = |viewer| {
        let lines = game.lines(viewer, "");
        (viewer, game.events(viewer, ""), lines)
    };
    let streams: Vec<_> = game.viewers().into_iter().map(open).collect();
    for (viewer, events, lines) in &streams {
        let message = events.next().expect("the game");
        assert_eq!(message.name, "game");
        assert_eq!(message.data, game.view(*viewer));
        assert_eq!(lines.next().expect("the game").data, message.data);
    }
    let mut responses = vec![game.deal()];
    responses.extend((0..4).map(|seat| game.offer(seat)));
    for _ in 0..12 {
        responses.push(game.play_on());
    }
    let told: Vec<(TestViewer, Vec<Message>)> = streams
        .iter()
        .map(|(viewer, events, lines)| {
            let messages = events.take(responses.len());
            let same = lines.take(responses.len());
            assert_eq!(events_of(&messages), events_of(&same));
            (*viewer, messages)
        })
        .collect();
    for (viewer, messages) in &told {
        let versions = messages.iter().map(Message::version);
        assert!(versions.eq(2..=responses.len() as u64 + 1), "{viewer}");
        // The response to the action has the same events.
        for (response, message) in responses.iter().zip(messages) {
            let actor = response["events"][0]["seat"].as_u64();
            if actor.is_some_and(|actor| *viewer == Seat(actor as usize)) {
                assert_eq!(response["events"], message.data["events"], "{viewer}");
            }
        }
        let hands = &messages[0].data["events"][0]["hands"];
        for seat in 0..4 {
            assert_eq!(hands[seat].is_array(), *viewer == Seat(seat), "{viewer}");
        }
    }
    let (host, spectator) = (&told[4].1, &told[5].1);
    let (host, spectator) = (events_of(host), events_of(spectator));
    assert_eq!(host, spectator, "the host sees what a spectator sees");
    // The backlog shows the same as the stream did.
    for (viewer, messages) in told {
        let backlog = game.events_after(viewer, 1).take(messages.len());
        assert_eq!(events_of(&backlog), events_of(&messages), "{viewer}");
    }
}

#[test]
fn a_stream_ends_with_its_game() {
    let server = TestServer::shared();
    let game = TestGame::with_bots(&server, "greedy", 0);
    let messages = game.events(Spectator, "").rest();
    let view = &messages[0];
    assert_eq!(view.name, "game");
    let versions = messages.iter().map(|message| message.id);
    let last = game.version();
    assert!(versions.eq(view.id..=last), "versions missing or doubled");
    // After the end: a stream of the whole game that closes, or no content for a client that has it
    // all.
    assert_eq!(game.events(Spectator, "").rest().len(), 1);
    let resumed = game.get(Spectator, "/events");
    let resumed = resumed.header("Last-Event-ID", &last.to_string());
    resumed.send().expect(204);
    assert_eq!(game.events_after(Spectator, last - 1).rest().len(), 1);
}

#[test]
fn a_broken_stream_is_resumed_anywhere() {
    resume_to(150);
}

#[test]
#[ignore = "plays a game at random to its end, which takes half a minute"]
fn a_broken_stream_is_resumed_to_the_end() {
    resume_to(u64::MAX);
}

/// Follows a game of bots with many streams, each resuming after the last, up to this version
/// or the end of the game.
fn resume_to(most: u64) {
    let server = TestServer::shared();
    let game = TestGame::with_bots(&server, "random", 0);
    let mut dice = Dice::new(1);
    let mut heard: Vec<u64> = Vec::new();
    loop {
        let last = heard.last().copied().unwrap_or(0);
        if last >= most {
            break;
        }
        // By the header, or by the query for clients that cannot send it; the header wins.
        let stream = match dice.below(3) {
            0 => game.events(Spectator, &format!("?last_event_id={last}")),
            1 => game.events_after(Spectator, last),
            _ => {
                let request = game.get(Spectator, "/events?last_event_id=0");
                Stream::open(request.header("Last-Event-ID", &last.to_string()))
            }
        };
        let before = heard.len();
        for _ in 0..1 + dice.below(60) {
            match stream.next() {
                Some(message) => heard.push(message.id),
                None => break,
            }
        }
        let view = game.view(Spectator);
        if view["phase"] == "finished" && heard.last() == view["version"].as_u64().as_ref() {
            break;
        }
        assert!(heard.len() > before, "the stream ended early");
    }
    assert!(heard.iter().copied().eq(1..=heard.len() as u64));
}

#[test]
fn invalid_requests_are_refused() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    for id in ["99999999999999999999999", "-1", "+1", "1.0", "abc", ""] {
        let request = game.get(Seat(0), "/events").header("Last-Event-ID", id);
        request.send().refused("invalid_request");
        let path = format!("/events?last_event_id={}", id.replace('+', "%2B"));
        game.get(Seat(0), &path).send().refused("invalid_request");
    }
    let request = game.get(Spectator, "/events").header("Accept", "text/html");
    request.send().refused("not_acceptable");
    let head = game.request("HEAD", Seat(0), "/events").send();
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), None);
}

#[test]
fn a_stream_after_a_version_that_is_not_reached_begins_anew() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    for version in [3, u64::MAX] {
        let events = game.events_after(Seat(0), version);
        let query = format!("?last_event_id={version}&include=game,moves");
        let lines = game.lines(Seat(0), &query);
        for stream in [&events, &lines] {
            assert_eq!(stream.next().expect("the game").data, game.view(Seat(0)));
        }
    }
    let events = game.events_after(Seat(0), 7);
    let first = events.next().expect("the game");
    assert_eq!((first.name.as_str(), first.version()), ("game", 2));
    game.offer(0);
    let next = events.next().expect("the offer");
    assert_eq!((next.name.as_str(), next.version()), ("change", 3));
}

#[test]
#[ignore = "waits 15 seconds"]
fn a_quiet_stream_is_kept_alive() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let events = game.events(Seat(0), "");
    let lines = game.lines(Seat(0), "");
    for stream in [&events, &lines] {
        stream.next().expect("the game");
        stream.heartbeat();
    }
    game.offer(0);
    for stream in [&events, &lines] {
        assert_eq!(stream.next().expect("the offer").version(), 3);
    }
}

#[test]
fn streams_are_not_compressed() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    // `Stream` refuses a content encoding.
    let request = game.get(Seat(0), "/events");
    let stream = Stream::open(request.header("Accept-Encoding", "gzip"));
    stream.next().expect("the game");
}

#[test]
fn a_removed_game_ends_its_streams() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let open = |viewer| game.events(viewer, "");
    let streams: Vec<Stream> = game.viewers().into_iter().map(open).collect();
    for stream in &streams {
        stream.next().expect("the game");
    }
    game.remove();
    for stream in &streams {
        assert_eq!(stream.next(), None);
    }
}

#[test]
fn a_replaced_token_ends_its_streams_and_no_others() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let (mine, theirs) = (game.events(Seat(0), ""), game.events(Seat(1), ""));
    for stream in [&mine, &theirs] {
        stream.next().expect("the game");
    }
    // The first renewal by the seat itself is an event.
    game.post(Seat(0), "/seats/0/token").send().expect(200);
    assert_eq!(mine.next(), None);
    assert_eq!(theirs.next().expect("the renewal").id, 3);
    game.offer(1);
    assert_eq!(theirs.next().expect("the offer").id, 4);
    game.post(Host, "/seats/1/token").send().expect(200);
    assert_eq!(theirs.next(), None);
}

#[test]
fn another_node_sees_the_same() {
    let here = TestServer::start();
    let there = TestServer::beside(&here);
    let game = TestGame::fixed(&here);
    let stream = game.at(&there).events(Seat(2), "");
    assert_eq!(stream.next().expect("the game").id, 1);
    game.deal();
    let dealt = stream.next().expect("the deal");
    let hand = &dealt.data["events"][0]["hands"][2];
    assert_eq!(*hand, game.view(Seat(2))["seats"][2]["hand"]);
    game.offer(0);
    let offered = stream.next().expect("the offer");
    assert_eq!(offered.data["events"][0]["card"], Value::Null);
    game.remove();
    assert_eq!(stream.next(), None);
}

/// Another node may have issued the token, and this one has not heard of it yet although it follows
/// the game.
#[test]
fn a_fresh_token_opens_a_stream_at_once_at_another_node() {
    let here = TestServer::start();
    let there = TestServer::beside(&here);
    let mut game = TestGame::dealt(&here);
    let follows = game.at(&there).events(Spectator, "");
    for renewal in 0..20 {
        game.renew(Seat(2), 2);
        let mine = game.at(&there).events(Seat(2), "");
        assert_eq!(mine.next().expect("the game").name, "game");
        // It goes on.
        mine.wait_for_presence(json!([false, false, true, false]));
        if renewal % 5 == 0 {
            let settings = json!({"bot_pace_ms": renewal});
            game.patch(Host, &settings).expect(200);
            mine.next().expect("the change");
        }
    }
    drop(follows);
}

/// The streams are ended properly. A server that waited for them would cut them after ten seconds.
#[test]
fn a_server_with_streams_stops_at_once() {
    let server = TestServer::start();
    let game = TestGame::dealt(&server);
    let open = |seat| Raw::get(&game, Seat(seat), "/events");
    let mut streams: Vec<Raw> = (0..4).map(open).collect();
    Exposition::wait_for(&server, |told| told.value("dog_streams_open", &[]) == 4.0);
    server.restart(Signal::Term);
    for (seat, stream) in streams.iter_mut().enumerate() {
        let whole = stream.response().expect("a response").unchunked();
        let text = String::from_utf8_lossy(&whole);
        assert!(text.starts_with("event: game\n"), "{text}");
        let resumed = game.events_after(Seat(seat), 1);
        assert_eq!(resumed.next().expect("the deal").id, 2);
    }
}

/// With `include`, the newest change brings all that a page has to draw.
#[test]
fn the_newest_change_includes_the_game_and_the_moves() {
    let server = TestServer::shared();
    let game = TestGame::create(&server, &json!({"turn_seconds": 600}));
    let open = |viewer, include: &str| {
        let stream = game.lines(viewer, &format!("?include={include}"));
        stream.next().expect("the game");
        (viewer, stream)
    };
    let viewers = game.viewers().into_iter();
    let with_game: Vec<_> = viewers.clone().map(|viewer| open(viewer, "game")).collect();
    let with_moves: Vec<_> = viewers.map(|viewer| open(viewer, "game,moves")).collect();
    let legal_moves = |viewer| {
        let list = game.get(viewer, "/legal-moves?board=false").send();
        (list.status == 200).then(|| list.expect(200)["moves"].take())
    };
    let newest = |viewer: TestViewer, stream: &Stream| {
        let change = stream.next().expect("a change").data;
        let view = game.view(viewer);
        for name in ["version", "phase", "turn", "deadline"] {
            assert_eq!(change[name], view[name], "{viewer}: {name}");
        }
        assert_eq!(change["game"], view, "{viewer}");
        change.get("moves").cloned()
    };
    // Returns how many viewers get a list of moves.
    let check = || {
        for (viewer, stream) in &with_game {
            assert_eq!(newest(*viewer, stream), None);
        }
        let mut lists = 0;
        for (viewer, stream) in &with_moves {
            let moves = newest(*viewer, stream);
            assert_eq!(moves, legal_moves(*viewer), "{viewer}");
            lists += usize::from(moves.is_some());
        }
        lists
    };
    game.deal();
    assert_eq!(check(), 0);
    for seat in 0..4 {
        game.offer(seat);
        assert_eq!(check(), usize::from(seat == 3));
    }
    for _ in 0..8 {
        game.play_on();
        assert_eq!(check(), 1);
    }
    // Of several changes only the newest has the state after it.
    let resumed = game.events(Seat(0), "?include=game,moves&last_event_id=3");
    let changes = resumed.take(game.version() as usize - 3);
    for (index, change) in changes.iter().enumerate() {
        let last = index + 1 == changes.len();
        assert_eq!(change.data["phase"].is_null(), !last);
        let to_act = last.then(|| game.view(Spectator)["to_act"].take());
        assert_eq!(change.data["to_act"], json!(to_act));
        assert_eq!(change.data.get("game").is_some(), last);
    }
    // The first message has the moves of the seat that is to move.
    for viewer in game.viewers() {
        let stream = game.events(viewer, "?include=game,moves");
        let mut first = stream.next().expect("the game").data;
        let moves = first.as_object_mut().and_then(|game| game.remove("moves"));
        assert_eq!(moves, legal_moves(viewer));
        assert_eq!(moves.is_some(), viewer == Seat(game.turn()));
        assert_eq!(first, game.view(viewer));
    }
    for include in ["", "moves", "games", "game,", "moves,game"] {
        let path = format!("/events?include={include}");
        game.get(Seat(0), &path).send().refused("invalid_request");
    }
}
