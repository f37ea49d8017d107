//! Waiting for a change: `?after_version=`.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::support::{Exposition, TestGame, TestServer, TestViewer::*, UNKNOWN_TOKEN};

#[test]
fn a_waiting_client_is_answered_when_something_happens() {
    let server = TestServer::start();
    let there = TestServer::beside(&server);
    let game = TestGame::dealt(&server);
    let (hand, viewers) = (game.hand(0), game.viewers().len() as u32);
    thread::scope(|scope| {
        let waiting = game.viewers().into_iter().map(|viewer| {
            let game = &game;
            scope.spawn(move || {
                let response = game.get(viewer, "?after_version=2").send();
                (viewer, response.expect(200))
            })
        });
        let mut waiting: Vec<_> = waiting.collect();
        let (path, token) = (game.path("?after_version=2"), game.tokens[1].clone());
        let elsewhere = there.get(&path).token(&token);
        waiting.push(scope.spawn(move || (Seat(1), elsewhere.send().expect(200))));
        Exposition::wait_for_requests(&server, viewers);
        Exposition::wait_for_requests(&there, 1);
        game.swap(0, &json!({"card": hand[0]}));
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
    // A version that the client has is not sent again.
    let request = game.get(Seat(0), "?after_version=1");
    let response = request.header("If-None-Match", "\"2-0\"").send();
    assert_eq!(response.status, 304);
}

#[test]
fn a_client_that_knows_a_version_not_reached_does_not_wait() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    for version in [3, 99, u64::MAX] {
        let query = format!("?after_version={version}");
        let view = game.get(Seat(0), &query).send().expect(200);
        assert_eq!(view, game.view(Seat(0)));
    }
}

#[test]
#[ignore = "waits 25 seconds: cargo test --test http -- --ignored waiting_ends"]
fn waiting_ends() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let begun = Instant::now();
    let response = game.get(Seat(0), "?after_version=2").send();
    assert_eq!((response.status, response.body.len()), (304, 0));
    assert_eq!(response.header("etag"), Some("\"2-0\""));
    let waited = begun.elapsed();
    assert!(waited >= Duration::from_secs(24), "{waited:?}");
}

#[test]
fn a_removed_game_is_not_waited_for() {
    let server = TestServer::start();
    let game = TestGame::dealt(&server);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| game.get(Seat(0), "?after_version=2").send());
        Exposition::wait_for_requests(&server, 1);
        assert_eq!(game.request("DELETE", Host, "").send().status, 204);
        waiting
            .join()
            .expect("a response")
            .refused("game_not_found");
    });
}

#[test]
fn invalid_versions_are_not_waited_for() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    for query in [
        "?after_version=x",
        "?after_version=-1",
        "?after_version=",
        "?before=1",
    ] {
        game.get(Seat(0), query).send().refused("invalid_request");
    }
    let request = game.get(Spectator, "?after_version=2").token(UNKNOWN_TOKEN);
    request.send().refused("unauthorized");
}
