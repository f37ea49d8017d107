//! Waiting for a change: `?after_version=`.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::support::{Exposition, Game, Server, UNKNOWN_TOKEN, Viewer::*};

#[test]
fn a_waiting_client_is_answered_when_something_happens() {
    let server = Server::start();
    let there = Server::beside(&server);
    let game = Game::dealt(&server);
    let (hand, viewers) = (game.hand(0), game.viewers().len() as u32);
    thread::scope(|scope| {
        let waiting = game.viewers().into_iter().map(|viewer| {
            let game = &game;
            scope.spawn(move || {
                let answer = game.get(viewer, "?after_version=2").send();
                (viewer, answer.expect(200))
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
            let (viewer, view) = waited.join().expect("an answer");
            assert_eq!(view, game.view(viewer), "{viewer}");
        }
    });
}

#[test]
fn who_is_behind_does_not_wait() {
    let server = Server::shared();
    let game = Game::dealt(&server);
    let view = game.get(Seat(0), "?after_version=1").send().expect(200);
    assert_eq!(view, game.view(Seat(0)));
    // What is known already is not sent again.
    let request = game.get(Seat(0), "?after_version=1");
    let answer = request.header("If-None-Match", "\"2-0\"").send();
    assert_eq!(answer.status, 304);
}

#[test]
#[ignore = "waits 25 seconds"]
fn waiting_ends() {
    let server = Server::shared();
    let game = Game::dealt(&server);
    let begun = Instant::now();
    let answer = game.get(Seat(0), "?after_version=2").send();
    assert_eq!((answer.status, answer.body.len()), (304, 0));
    assert_eq!(answer.header("etag"), Some("\"2-0\""));
    let waited = begun.elapsed();
    assert!(waited >= Duration::from_secs(24), "{waited:?}");
}

#[test]
fn a_removed_game_is_not_waited_for() {
    let server = Server::start();
    let game = Game::dealt(&server);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| game.get(Seat(0), "?after_version=2").send());
        Exposition::wait_for_requests(&server, 1);
        assert_eq!(game.request("DELETE", Host, "").send().status, 204);
        waiting.join().expect("an answer").refused("game_not_found");
    });
}

#[test]
fn nobody_waits_for_nonsense() {
    let server = Server::shared();
    let game = Game::dealt(&server);
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
