//! Games whose requests go to one node after another.

use std::{cell::Cell, collections::HashSet, thread};

use serde_json::{Value, json};

use crate::support::{
    Call, DogNodes, NodeAnswer, NodeStream, NodeTable, Who::*, start, wait_until,
};

/// Keys that cannot be guessed.
const KEYS: [&str; 2] = ["Zk3vQ9xT1bN7cR5wY8mLpA", "q7Gm2WvX4dKc9RtB6nYh1E"];

/// Sends a request to all nodes at the same time.
fn at_once(nodes: &DogNodes, call: &Call) -> Vec<NodeAnswer> {
    thread::scope(|scope| {
        let send = |number| call.send(&nodes.url(number));
        let sent = (0..nodes.count()).map(|number| scope.spawn(move || send(number)));
        let sent: Vec<_> = sent.collect();
        let answers = sent.into_iter();
        answers
            .map(|sent| sent.join().expect("an answer"))
            .collect()
    })
}

/// The versions of a stream, to its end.
fn versions(mut stream: NodeStream) -> Vec<u64> {
    let changes = std::iter::from_fn(|| stream.next());
    changes
        .filter_map(|change| change["version"].as_u64())
        .collect()
}

#[test]
fn a_whole_game_goes_round_three_nodes() {
    let Some(nodes) = start(3) else { return };
    let sent = Cell::new(0);
    let next = || nodes.url(sent.replace(sent.get() + 1));
    let game = NodeTable::create(&next(), json!({"rules": {"preset": "hausregeln"}}));
    thread::scope(|scope| {
        let streams = [0, 1, 2].map(|number| {
            let stream = game.stream(Seat(number), &nodes.url(number));
            scope.spawn(move || versions(stream))
        });
        let mut version = 1;
        while let Some((_, action)) = game.next_action(|call| call.send(&next()).expect(200)) {
            version += 1;
            assert_eq!(action.send(&next()).expect(200)["version"], version);
        }
        let all: Vec<u64> = (1..=version).collect();
        for stream in streams {
            assert_eq!(stream.join().expect("a stream"), all);
        }
    });
    let at_all = |rest: &str| {
        let call = game.get(Spectator, rest);
        let answers = at_once(&nodes, &call).into_iter();
        let mut answers: Vec<Value> = answers.map(|answer| answer.expect(200)).collect();
        answers.dedup();
        assert_eq!(answers.len(), 1, "different answers to {call:?}");
        answers.remove(0)
    };
    assert_eq!(at_all("")["phase"], "finished");
    at_all("/history");
}

#[test]
fn a_stream_of_a_killed_node_resumes_at_another() {
    let Some(nodes) = start(2) else { return };
    let game = NodeTable::create(&nodes.url(1), json!({}));
    let act = || game.act(&nodes.url(1));
    let mut stream = game.stream(Seat(2), &nodes.url(0));
    let mut seen = Vec::new();
    for _ in 0..10 {
        act();
    }
    while seen.len() < 5 {
        let change = stream.next().expect("a change");
        seen.extend(change["version"].as_u64());
    }
    nodes.node(0).kill();
    // Those that had been sent may still be read.
    seen.extend(versions(stream));
    for _ in 0..10 {
        act();
    }
    let after = *seen.last().expect("a version");
    let events = game.get(Seat(2), "/events");
    let mut stream = NodeStream::open(&nodes.url(1), &events, after).expect("a stream");
    while seen.last() < Some(&21) {
        let change = stream.next().expect("a change");
        seen.extend(change["version"].as_u64());
    }
    let all: Vec<u64> = (1..=21).collect();
    assert_eq!(seen, all);
}

#[test]
fn tokens_and_tickets_of_one_node_are_valid_at_the_others() {
    let Some(nodes) = start(3) else { return };
    let [one, two, three] = [0, 1, 2].map(|number| nodes.url(number));
    let mut game = NodeTable::create(&one, json!({"first_dealer": 0}));
    game.act(&two);
    let hand = game.get(Seat(3), "").send(&three).expect(200);
    assert!(hand["seats"][3]["hand"].is_array());

    // The other nodes know the game and its old token.
    let old = game.get(Seat(3), "");
    old.send(&one).expect(200);
    let renewal = game.post(Host, "/seats/3/token", Value::Null);
    let renewed = renewal.send(&two).expect(200);
    for url in [&one, &two, &three] {
        old.send(url).refused("token_replaced");
    }
    game.tokens[3] = renewed["token"].as_str().expect("a token").to_owned();
    game.get(Seat(3), "").send(&three).expect(200);

    let ticket = |url: &str| {
        let made = game.post(Seat(3), "/events/ticket", Value::Null).send(url);
        let made = made.expect(200);
        let ticket = made["ticket"].as_str().expect("a ticket");
        game.get(Spectator, &format!("/events?ticket={ticket}"))
    };
    let used = ticket(&one);
    let mut stream = NodeStream::open(&two, &used, 0).expect("a stream");
    assert_eq!(stream.next().expect("the creation")["version"], 1);
    for url in [&one, &two, &three] {
        used.send(url).refused("unauthorized");
    }
    // Of several who use one at the same time one gets the stream.
    let contested = ticket(&two);
    let opened = thread::scope(|scope| {
        let open = |url: String| {
            let response = contested.run(&ureq::agent(), &url, &[]);
            response.is_ok_and(|response| response.status() == 200)
        };
        let threads = [0, 1, 2, 0, 1, 2].map(|number| {
            let url = nodes.url(number);
            scope.spawn(move || open(url))
        });
        threads.map(|thread| thread.join().expect("a status"))
    });
    let count = opened.iter().filter(|&&is_open| is_open).count();
    assert_eq!(count, 1, "{opened:?}");
}

#[test]
fn people_who_join_at_different_nodes_get_different_seats() {
    let Some(nodes) = start(3) else { return };
    let open = [(); 4].map(|()| json!({"kind": "open"}));
    let created = Call::post("/v1/games", json!({"seats": open})).send(&nodes.url(0));
    let created = created.expect(201);
    let game = NodeTable::from_created(&created);
    let body = json!({"invitation": created["invitation"]});
    let join = game.post(Spectator, "/join", body);
    let mut seats = HashSet::new();
    for answer in at_once(&nodes, &join) {
        seats.insert(answer.expect(201)["seat"].as_u64());
    }
    seats.insert(join.send(&nodes.url(1)).expect(201)["seat"].as_u64());
    assert_eq!(seats.len(), 4);
    join.send(&nodes.url(2)).refused("no_open_seat");

    // Twelve strangers fill three tables.
    let stranger = Call::post("/v1/join", json!({}));
    let mut places = HashSet::new();
    for _ in 0..4 {
        for answer in at_once(&nodes, &stranger) {
            let joined = answer.expect(201);
            places.insert((joined["id"].to_string(), joined["seat"].as_u64()));
        }
    }
    let tables: HashSet<_> = places.iter().map(|(id, _)| id).collect();
    assert_eq!((places.len(), tables.len()), (12, 3), "{places:?}");
}

#[test]
fn the_same_key_at_all_nodes_has_one_effect() {
    let Some(nodes) = start(3) else { return };
    let [creation, deal] = KEYS;
    let create = Call::post("/v1/games", json!({"first_dealer": 0})).key(creation);
    let same = |call: &Call, status: u16| {
        let answers = [at_once(&nodes, call), at_once(&nodes, call)].concat();
        for answer in &answers {
            answer.expect(status);
            assert_eq!(answer.repeated_parts(), answers[0].repeated_parts());
        }
        answers[0].clone()
    };
    let game = NodeTable::from_created(&same(&create, 201).expect(201));
    assert_eq!(nodes.database.psql("SELECT count(*) FROM games"), "1");
    let dealt = same(&game.post(Seat(0), "/deal", Value::Null).key(deal), 200).expect(200);
    assert_eq!(dealt["version"], 2);
    for number in 0..3 {
        assert_eq!(game.view(&nodes.url(number))["version"], 2);
    }
    let other = game.post(Seat(0), "/deal", json!({"other": 1})).key(deal);
    other.send(&nodes.url(2)).refused("idempotency_key_reused");
}

#[test]
fn presence_is_the_same_at_all_nodes() {
    let Some(nodes) = start(2) else { return };
    let game = NodeTable::create(&nodes.url(0), json!({}));
    let present = |number: usize| {
        let presence = game.get(Spectator, "/presence").send(&nodes.url(number));
        presence.expect(200)["present"][1].clone()
    };
    let stream = game.stream(Seat(1), &nodes.url(0));
    for number in [0, 1] {
        wait_until("somebody is present", || present(number) == true);
    }
    // Nobody tells that the connections of a killed node have ended.
    nodes.node(0).kill();
    drop(stream);
    wait_until("nobody is present", || present(1) == false);
}

#[test]
fn reactions_are_told_and_counted_at_all_nodes() {
    let Some(nodes) = start(3) else { return };
    let seats = json!([{}, {}, {}, {"kind": "open"}]);
    let game = NodeTable::create(&nodes.url(0), json!({"seats": seats}));
    let mut streams = [0, 1, 2].map(|number| game.stream(Spectator, &nodes.url(number)));
    let react = game.post(Seat(0), "/reactions", json!({"reaction": "one_moment"}));
    for number in 0..5 {
        react.send(&nodes.url(number)).expect(204);
        let expected = json!({"type": "reaction", "seat": 0, "reaction": "one_moment"});
        for stream in &mut streams {
            assert_eq!(stream.next_of_type("reaction"), expected);
        }
    }
    let mut answers = (0..).map(|number| react.send(&nodes.url(number)));
    let refusal = answers.find(|answer| answer.status != 204);
    let refusal = refusal.expect("a refusal");
    assert!(refusal.retry_after.is_some());
    refusal.refused("too_many_requests");
}

#[test]
fn a_skip_at_any_node_hastens_the_bots_of_all() {
    let Some(nodes) = start(3) else { return };
    // Without it a round would take many minutes.
    let game = NodeTable::with_bots(&nodes.url(0), 60_000);
    game.act(&nodes.url(0));
    for round in 2..6 {
        let skip = Call {
            body: json!({"skip_to_deal": true}),
            ..game.call(Host, "PATCH", "")
        };
        skip.send(&nodes.url(round)).expect(200);
        wait_until("the next round is dealt", || {
            let view = game.view(&nodes.url(0));
            view["round"] == round && view["phase"] != "deal"
        });
    }
}
