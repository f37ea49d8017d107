//! One stream of many games.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    limits::{HERE, behind_a_proxy, from},
    support::{
        Message, Raw, Signal, Stream, TestGame, TestServer, TestViewer::*, UNKNOWN_TOKEN,
        wait_until,
    },
};

fn follow(server: &TestServer, games: &[Value]) -> Stream {
    Stream::open(server.post("/v1/events").json(&json!({"games": games})))
}

/// The next line of this game that is a version or its end.
#[track_caller]
fn next_of(stream: &Stream, game: &TestGame) -> Value {
    let lines = std::iter::from_fn(|| stream.any()).map(|line| line.data);
    let mut own = lines.filter(|line| line["game_id"] == game.id.as_str());
    let next = own.find(|line| line["version"].is_u64() || line["type"] == "closed");
    next.expect("a line before the end")
}

fn without_id(message: Message) -> Value {
    let mut line = message.data;
    line.as_object_mut().expect("an object").remove("game_id");
    line
}

#[test]
fn each_game_has_the_lines_of_its_own_stream() {
    let server = TestServer::start();
    let [one, other] = [(); 2].map(|()| TestGame::fixed(&server));
    let asked = [
        json!({"id": one.id, "token": one.tokens[1]}),
        json!({"id": other.id}),
        json!({"id": one.id, "token": other.tokens[1]}),
        json!({"id": one.id, "token": ""}),
        json!({"id": "06zgrb0wmrqk9y7ttx2vbkhq1r"}),
        json!({"id": "nonsense \" {"}),
        json!({"id": other.id, "token": UNKNOWN_TOKEN}),
        json!({"id": other.id, "after_version": 99}),
    ];
    // A token in a header is ignored.
    let request = server.post("/v1/events").token(UNKNOWN_TOKEN);
    let stream = Stream::open(request.json(&json!({"games": asked})));
    let lines: Vec<Value> = std::iter::from_fn(|| stream.any())
        .map(|line| line.data)
        .filter(|line| line["type"] != "presence")
        .take(asked.len())
        .collect();
    let codes = [
        "",
        "",
        "unauthorized",
        "",
        "game_not_found",
        "game_not_found",
        "unauthorized",
        "",
    ];
    for ((line, asked), code) in lines.iter().zip(&asked).zip(codes) {
        assert_eq!(line["game_id"], asked["id"]);
        assert_eq!(
            line["problem"]["code"].as_str().unwrap_or_default(),
            code,
            "{line}"
        );
        assert_eq!(
            line["type"],
            if code.is_empty() { "game" } else { "closed" }
        );
    }
    one.post(Host, "/deal").send().expect(200);
    // Its seat's hand goes to the token of the seat only.
    let own = one.hand(1);
    let mut dealt = Vec::new();
    while dealt.len() < 2 {
        let line = stream.any().expect("a line").data;
        if line["type"] == "change" {
            dealt.push(line["events"][0]["hands"][1].clone());
        }
    }
    dealt.sort_by_key(Value::is_null);
    assert_eq!(dealt, [json!(own), Value::Null]);
    drop(stream);

    // The same lines as in a stream of its own.
    for viewer in [Host, Seat(2), Spectator] {
        let mut asked = json!({"id": one.id, "after_version": 0});
        asked["token"] = json!(one.token(viewer).unwrap_or_default());
        let many = follow(&server, &[asked]);
        let single = one.lines(viewer, "?last_event_id=0");
        for _ in 0..2 {
            let line = without_id(many.next().expect("a line"));
            assert_eq!(line, single.next().expect("a line").data);
        }
    }
    // Nobody is present by it.
    let many = follow(&server, &[json!({"id": one.id, "token": one.tokens[3]})]);
    assert_eq!(many.any().expect("the game").data["type"], "game");
    let present = one.get(Spectator, "/presence").send().expect(200);
    assert_eq!(present["present"][3], false);
}

#[test]
fn a_game_that_ends_or_is_removed_is_closed_and_the_others_go_on() {
    let server = TestServer::start();
    let ending = TestGame::with_bots(&server, "random", 0);
    let [removed, lost, other] = [(); 3].map(|()| TestGame::fixed(&server));
    let asked = [
        json!({"id": ending.id, "after_version": 0}),
        json!({"id": removed.id}),
        json!({"id": lost.id, "token": lost.tokens[0]}),
        json!({"id": other.id}),
    ];
    let stream = follow(&server, &asked);
    let versions = |lines: &[Value]| -> Vec<u64> {
        lines
            .iter()
            .filter_map(|line| line["version"].as_u64())
            .collect()
    };
    let mut lines = Vec::new();
    while lines
        .last()
        .is_none_or(|line: &Value| line["type"] != "closed")
    {
        let line = stream.any().expect("a line").data;
        if line["game_id"] == ending.id.as_str() {
            lines.push(line);
        }
    }
    let end = ending.view(Spectator)["version"]
        .as_u64()
        .expect("a version");
    assert_eq!(versions(&lines), (1..=end).collect::<Vec<_>>());
    assert!(
        lines
            .last()
            .is_some_and(|line| line.get("problem").is_none())
    );
    removed.remove();
    assert_eq!(
        next_of(&stream, &removed)["problem"]["code"],
        "game_not_found"
    );
    let mut replaced = lost.clone();
    replaced.renew(Seat(0), 0);
    assert_eq!(next_of(&stream, &lost)["problem"]["code"], "token_replaced");
    other.post(Host, "/deal").send().expect(200);
    assert_eq!(next_of(&stream, &other)["events"][0]["type"], "cards_dealt");
    other.remove();
    assert_eq!(next_of(&stream, &other)["type"], "closed");
    assert_eq!(stream.any(), None, "all games are closed");
    // It had ended with that version.
    let known = follow(&server, &[json!({"id": ending.id, "after_version": end})]);
    let closed = json!({"game_id": ending.id, "type": "closed"});
    assert_eq!(known.any().expect("a line").data, closed);
    assert_eq!(known.any(), None);
}

#[test]
fn a_game_with_much_to_send_does_not_keep_the_others_waiting() {
    let server = TestServer::start();
    let (long, other) = (TestGame::long(&server, 600), TestGame::fixed(&server));
    let asked = [
        json!({"id": long.id, "after_version": 0}),
        json!({"id": other.id}),
    ];
    let stream = follow(&server, &asked);
    let lines = std::iter::from_fn(|| stream.any());
    let before = lines.take_while(|line| line.data["game_id"] == long.id.as_str());
    let before = before.count();
    assert!(before < 300, "{before} lines come first");
}

#[test]
fn a_reader_that_does_not_read_delays_nobody() {
    let server = TestServer::start();
    let game = TestGame::with_bots(&server, "random", 0);
    let followed = vec![json!({"id": game.id, "after_version": 0}); 256];
    let body = json!({ "games": followed }).to_string();
    let head = "POST /v1/events HTTP/1.1\r\nHost: dog\r\nContent-Type: application/json\r\n";
    let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    let mut slow = Raw::connect(&server);
    slow.send(request.as_bytes());
    let stream = follow(&server, &followed[..1]);
    let last = std::iter::from_fn(|| stream.any()).last();
    let closed = json!({"game_id": game.id, "type": "closed"});
    assert_eq!(last.map(|line| line.data), Some(closed));
    game.get(Spectator, "").send().expect(200);
}

#[test]
fn no_change_is_lost_over_kills() {
    let server = TestServer::start();
    let games: Vec<TestGame> = (0..20)
        .map(|_| TestGame::with_bots(&server, "random", 4))
        .collect();
    let mut known: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut ended = 0;
    for run in 0.. {
        let asked = games.iter().map(|game| {
            let last = known.get(&game.id).and_then(|versions| versions.last());
            json!({"id": game.id, "after_version": last.unwrap_or(&0)})
        });
        let asked: Vec<Value> = asked.collect();
        let stream = follow(&server, &asked);
        if run < 3 {
            // The rest of what was sent before the kill is read.
            for _ in 0..100 {
                note(&mut known, stream.any().expect("a line").data);
            }
            server.restart(Signal::Kill);
            while let Some(line) = stream.any() {
                note(&mut known, line.data);
            }
            continue;
        }
        while let Some(line) = stream.any() {
            if line.data["type"] == "closed" {
                assert_eq!(line.data.get("problem"), None);
                ended += 1;
            }
            note(&mut known, line.data);
        }
        break;
    }
    assert_eq!(ended, 20);
    for game in &games {
        let end = game.view(Spectator)["version"].as_u64().expect("a version");
        assert_eq!(known[&game.id], (1..=end).collect::<Vec<_>>());
    }
}

/// Notes the version of a line.
fn note(known: &mut BTreeMap<String, Vec<u64>>, line: Value) {
    let id = line["game_id"].as_str().expect("an id").to_owned();
    known
        .entry(id)
        .or_default()
        .extend(line["version"].as_u64());
}

#[test]
fn each_game_counts_as_a_stream() {
    let server = behind_a_proxy(&[("DOG_STREAMS_PER_ADDRESS", "10")]);
    let game = TestGame::fixed(&server);
    let follow = |number: usize| {
        let asked = json!({"games": vec![json!({"id": game.id, "token": game.host}); number]});
        Stream::open(from(server.post("/v1/events").json(&asked), HERE))
    };
    let count = |stream: &Stream, games: usize| {
        let lines = std::iter::from_fn(|| stream.any()).map(|line| line.data);
        let lines = lines.filter(|line| line["type"] != "presence");
        lines.take(games).fold(
            [0, 0],
            |[open, refused], line| match &line["problem"]["code"] {
                Value::Null => [open + 1, refused],
                code => {
                    assert_eq!(code, "too_many_streams");
                    [open, refused + 1]
                }
            },
        )
    };
    let stream = follow(12);
    assert_eq!(count(&stream, 12), [10, 2]);
    let own = from(game.get(Host, "/events"), HERE).send();
    own.refused("too_many_streams");
    drop(stream);
    // The client leaves as soon as there is something to read.
    game.post(Host, "/deal").send().expect(200);
    wait_until("the streams are free", || count(&follow(1), 1) == [1, 0]);
}

#[test]
fn each_game_counts_as_a_request() {
    let server = behind_a_proxy(&[("DOG_ADDRESS_RATE", "2")]);
    let game = TestGame::fixed(&server);
    let follow = |number: usize| {
        let asked = json!({"games": vec![json!({"id": game.id}); number]});
        from(server.post("/v1/events").json(&asked), HERE)
    };
    let _open = Stream::open(follow(9));
    follow(9).send().refused("too_many_requests");
    for wrong in [
        json!({"games": []}),
        json!({"games": [{}]}),
        json!({}),
        json!({"x": 1}),
    ] {
        let answer = server.post("/v1/events").json(&wrong).send();
        answer.refused("invalid_request");
    }
    let many = json!({"games": vec![json!({"id": game.id}); 257]});
    let answer = server.post("/v1/events").json(&many).send();
    answer.refused("invalid_request");
}
