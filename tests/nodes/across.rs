//! Games whose requests go to one node after another.

use std::{cell::Cell, iter, thread};

use serde_json::{Value, json};

use crate::{
    node::{DogNodes, start},
    support::{
        Stream, TestGame, TestRequest, TestResponse, TestServer, TestViewer::*, at_once, wait_until,
    },
};

/// Keys that cannot be guessed.
const KEYS: [&str; 2] = ["Zk3vQ9xT1bN7cR5wY8mLpA", "q7Gm2WvX4dKc9RtB6nYh1E"];

/// Sends a request to all nodes at the same time.
fn at_all<'a>(nodes: &'a DogNodes, request: &TestRequest<'a>) -> Vec<TestResponse> {
    let send = |number| request.clone().at(nodes.at(number)).send();
    at_once(nodes.servers.len(), send)
}

/// Does the next action of a game, and returns the version that it made; `None` if the game is over.
/// `next` is where to send each request.
#[track_caller]
fn act<'a>(next: impl Fn() -> TestGame<'a>) -> Option<u64> {
    let view = next().view(Spectator);
    let done = if view["phase"] == "deal" {
        next().deal()
    } else {
        let seat = view["to_act"][0].as_u64()? as usize;
        let advice = next().get(Seat(seat), "/suggest-move?level=greedy");
        let advice = advice.send().expect(200);
        let request = &advice["suggestions"][0]["request"];
        next().as_suggested(seat, request).expect(200)
    };
    done["version"].as_u64()
}

/// The versions of the next changes of a stream.
fn next_versions(stream: &Stream, count: usize) -> Vec<u64> {
    let changes = stream.take(count).into_iter();
    changes.map(|change| change.version()).collect()
}

/// The versions of a stream, to its end.
fn versions(stream: &Stream) -> Vec<u64> {
    let changes = stream.rest().into_iter();
    changes.map(|change| change.version()).collect()
}

#[test]
fn a_whole_game_goes_round_three_nodes() {
    let Some(nodes) = start(3) else { return };
    let game = TestGame::with_preset(nodes.at(0), "hausregeln");
    let sent = Cell::new(0);
    let next = || nodes.game(&game, sent.replace(sent.get() + 1));
    thread::scope(|scope| {
        let streams = [0, 1, 2].map(|number| {
            let stream = nodes.game(&game, number).events_after(Seat(number), 0);
            scope.spawn(move || versions(&stream))
        });
        let mut all = vec![1];
        all.extend(iter::from_fn(|| act(next)));
        assert_eq!(all, (1..=game.version()).collect::<Vec<u64>>());
        for stream in streams {
            assert_eq!(stream.join().expect("a stream"), all);
        }
    });
    let same = |rest: &str| {
        let request = game.get(Spectator, rest);
        let answers = at_all(&nodes, &request).into_iter();
        let mut answers: Vec<Value> = answers.map(|answer| answer.expect(200)).collect();
        answers.dedup();
        assert_eq!(answers.len(), 1, "different answers to {rest:?}");
        answers.remove(0)
    };
    assert_eq!(same("")["phase"], "finished");
    same("/history");
}

#[test]
fn a_stream_of_a_killed_node_resumes_at_another() {
    let Some(nodes) = start(2) else { return };
    let game = TestGame::fixed(nodes.at(1));
    let act = || act(|| game.clone());
    let stream = nodes.game(&game, 0).events_after(Seat(2), 0);
    for _ in 0..10 {
        act();
    }
    let mut seen = next_versions(&stream, 5);
    nodes.kill(0);
    // Those that had been sent may still be read.
    seen.extend(versions(&stream));
    for _ in 0..10 {
        act();
    }
    let after = seen.len();
    let stream = game.events_after(Seat(2), after as u64);
    seen.extend(next_versions(&stream, 21 - after));
    let all: Vec<u64> = (1..=21).collect();
    assert_eq!(seen, all);
}

#[test]
fn tokens_and_tickets_of_one_node_are_valid_at_the_others() {
    let Some(nodes) = start(3) else { return };
    let game = TestGame::dealt(nodes.at(0));
    let [one, mut two, mut three] = [0, 1, 2].map(|number| nodes.game(&game, number));
    assert!(three.view(Seat(3))["seats"][3]["hand"].is_array());

    // The other nodes know the game and its old token.
    one.view(Seat(3));
    two.renew(Host, 3);
    for node in &nodes.servers {
        let old = game.at(node).get(Seat(3), "").send();
        old.refused("token_replaced");
    }
    three.tokens.clone_from(&two.tokens);
    three.view(Seat(3));

    let ticket = |node: &TestServer| {
        let made = three.at(node).post(Seat(3), "/events/ticket").send();
        let made = made.expect(200);
        let ticket = made["ticket"].as_str().expect("a ticket");
        game.get(Spectator, &format!("/events?ticket={ticket}"))
    };
    let used = ticket(one.server);
    let stream = used.clone().at(two.server).header("Last-Event-ID", "0");
    let stream = Stream::open(stream);
    assert_eq!(stream.next().expect("the creation").version(), 1);
    for node in &nodes.servers {
        used.clone().at(node).send().refused("unauthorized");
    }
    // Of several who use one at the same time one gets the stream.
    let contested = ticket(two.server);
    let opened = at_once(6, |number| {
        contested.clone().at(nodes.at(number)).run().status() == 200
    });
    let count = opened.iter().filter(|&&is_open| is_open).count();
    assert_eq!(count, 1, "{opened:?}");
}

#[test]
fn the_same_key_at_all_nodes_has_one_effect() {
    let Some(nodes) = start(3) else { return };
    let [creation, deal] = KEYS;
    let node = nodes.at(0);
    let create = node.post("/v1/games").json(&json!({"first_dealer": 0}));
    let same = |request: TestRequest<'_>, status: u16| {
        let answers = [(); 2].map(|()| at_all(&nodes, &request)).concat();
        for answer in &answers {
            answer.clone().expect(status);
            answer.assert_repeats(&answers[0]);
        }
        answers[0].clone().expect(status)
    };
    let game = TestGame::from_created(node, &same(create.key(creation), 201));
    assert_eq!(nodes.database.psql("SELECT count(*) FROM games"), "1");
    let dealt = same(game.post(Seat(0), "/deal").key(deal), 200);
    assert_eq!(dealt["version"], 2);
    for number in 0..3 {
        assert_eq!(nodes.game(&game, number).version(), 2);
    }
    let other = game.post(Seat(0), "/deal").json(&json!({"other": 1}));
    let other = other.key(deal).at(nodes.at(2));
    other.send().refused("idempotency_key_reused");
}

#[test]
fn presence_is_the_same_at_all_nodes() {
    let Some(nodes) = start(2) else { return };
    let game = TestGame::fixed(nodes.at(0));
    let present = |number: usize| {
        let presence = nodes.game(&game, number).get(Spectator, "/presence");
        presence.send().expect(200)["present"][1].clone()
    };
    let stream = game.events(Seat(1), "");
    for number in [0, 1] {
        wait_until("somebody is present", || present(number) == true);
    }
    // Nobody tells that the connections of a killed node have ended.
    nodes.kill(0);
    drop(stream);
    wait_until("nobody is present", || present(1) == false);
}

#[test]
fn reactions_are_told_and_counted_at_all_nodes() {
    let Some(nodes) = start(3) else { return };
    let seats = json!([{}, {}, {}, {"kind": "open"}]);
    let game = TestGame::create(nodes.at(0), &json!({"seats": seats}));
    let streams = [0, 1, 2].map(|number| nodes.game(&game, number).events(Spectator, ""));
    let reaction = json!({"reaction": "one_moment"});
    let react = |number| {
        let game = nodes.game(&game, number);
        game.post_json(Seat(0), "/reactions", &reaction)
    };
    for number in 0..5 {
        react(number).expect(204);
        let expected = json!({"type": "reaction", "seat": 0, "reaction": "one_moment"});
        for stream in &streams {
            assert_eq!(stream.notice_of("reaction"), expected);
        }
    }
    let refusal = (0..).map(react).find(|answer| answer.status != 204);
    refusal.expect("a refusal").refused("too_many_requests");
}

#[test]
fn a_skip_at_any_node_hastens_the_bots_of_all() {
    let Some(nodes) = start(3) else { return };
    // Without it a round would take many minutes.
    let game = TestGame::with_bots(nodes.at(0), "greedy", 60_000);
    game.deal();
    for round in 2..6 {
        let there = nodes.game(&game, round);
        there
            .patch(Host, &json!({"skip_to_deal": true}))
            .expect(200);
        game.wait_for(|view| view["round"] == round && view["phase"] != "deal");
    }
}
