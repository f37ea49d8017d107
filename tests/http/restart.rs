//! A server restarted after a kill continues from the store alone.

use serde_json::json;

use crate::support::{Dice, Signal, TestGame, TestServer, TestViewer::*};

#[test]
fn a_game_goes_on_with_another_process() {
    let server = TestServer::start();
    for signal in [Signal::Kill, Signal::Term] {
        let game = TestGame::fixed(&server);
        let restart = || {
            let before = game.snapshot();
            server.restart(signal);
            assert_eq!(game.snapshot(), before, "{signal:?}");
        };
        restart();
        game.deal();
        restart();
        game.swap(0, &json!({"card": game.hand(0)[0]}));
        restart();
        for seat in 1..4 {
            game.swap(seat, &json!({"card": game.hand(seat)[0]}));
        }
        for _ in 0..2 {
            restart();
            let (seat, id) = game.first_move();
            game.play(seat, &id);
        }
    }
}

#[test]
fn etags_and_guards_hold_across_a_restart() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let response = game.get(Seat(1), "").send();
    let etag = response.header("etag").expect("an ETag").to_owned();
    server.restart(Signal::Kill);
    let again = game.get(Seat(1), "").header("If-None-Match", &etag).send();
    assert_eq!(again.status, 304);
    let (seat, id) = game.first_move();
    let request = game.post(Seat(seat), "/play").json(&json!({"move": id}));
    request.if_match(&etag).send().expect(200);
}

#[test]
fn a_game_interrupted_often_ends_like_one_that_was_not() {
    let server = TestServer::start();
    let play = |interrupted: bool| {
        let game = TestGame::in_play(&server);
        let mut dice = Dice::new(5);
        for step in 0..60 {
            if interrupted && step % 10 == 0 {
                server.restart(Signal::Kill);
            }
            game.step(&mut dice);
        }
        let mut view = game.view(Spectator);
        for name in ["id", "created_at", "updated_at"] {
            view[name].take();
        }
        view
    };
    assert_eq!(play(true), play(false));
}

#[test]
fn confirmed_writes_are_on_disk() {
    let server = TestServer::start();
    for _ in 0..5 {
        let game = TestGame::in_play(&server);
        let (seat, id) = game.first_move();
        let played = game.play(seat, &id);
        server.restart(Signal::Kill);
        assert_eq!(game.view(Seat(seat)), played["game"]);
    }
}
