//! Waiting for a change: `?after_version=`.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::support::{Exposition, TestGame, TestServer, TestViewer::*};

#[test]
fn a_waiting_client_is_answered_when_something_happens() {
    let server = TestServer::start();
    let there = TestServer::beside(&server);
    let game = TestGame::dealt(&server);
    let viewers = game.viewers().len() as u32;
    thread::scope(|scope| {
        let waiting = game.viewers().into_iter().map(|viewer| {
            let game = &game;
            scope.spawn(move || {
                let response = game.get(viewer, "?after_version=2").send();
                (viewer, response.expect(200))
            })
        });
        let mut waiting: Vec<_> = waiting.collect();
        let elsewhere = game.at(&there);
        waiting.push(scope.spawn(move || {
            let response = elsewhere.get(Seat(1), "?after_version=2").send();
            (Seat(1), response.expect(200))
        }));
        if there.process_id() == server.process_id() {
            Exposition::wait_for_requests(&server, viewers + 1);
        } else {
            Exposition::wait_for_requests(&server, viewers);
            Exposition::wait_for_requests(&there, 1);
        }
        game.offer(0);
        for waited in waiting {
            let (viewer, view) = waited.join().expect("a response");
            assert_eq!(view, game.view(viewer), "{viewer}");
        }
    });
}

#[test]
fn a_client_that_is_behind_does_not_wait() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let view = game.get(Seat(0), "?after_version=1").send().expect(200);
    assert_eq!(view, game.view(Seat(0)));
    // Nor does one that knows a version that is not reached.
    let ask = |version: u64| {
        let query = format!("?after_version={version}");
        game.get(Seat(0), &query).send()
    };
    for version in [3, 99, (1 << 53) - 1] {
        assert_eq!(ask(version).expect(200), game.view(Seat(0)));
    }
    for version in [1 << 53, u64::MAX] {
        ask(version).refused("invalid_request");
    }
    // A version that the client has is not sent again.
    let request = game.get(Seat(0), "?after_version=1");
    let response = request.header("If-None-Match", "\"2-0\"").send();
    assert_eq!(response.status, 304);
}

#[test]
#[ignore = "waits 25 seconds"]
fn waiting_ends() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let started = Instant::now();
    let response = game.get(Seat(0), "?after_version=2").send();
    assert_eq!((response.status, response.body.len()), (304, 0));
    assert_eq!(response.header("etag"), Some("\"2-0\""));
    let waited = started.elapsed();
    assert!(waited >= Duration::from_secs(24), "{waited:?}");
}

#[test]
fn a_removed_game_is_not_waited_for() {
    let server = TestServer::start();
    let game = TestGame::dealt(&server);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| game.get(Seat(0), "?after_version=2").send());
        Exposition::wait_for_requests(&server, 1);
        game.remove();
        let response = waiting.join().expect("a response");
        response.refused("game_not_found");
    });
}
