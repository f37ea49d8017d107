//! A server restarted after a kill continues from the store alone.

use crate::support::{Dice, Signal, TestGame, TestServer, TestViewer::*};

#[test]
fn a_game_goes_on_with_another_process() {
    let server = TestServer::start();
    for signal in [Signal::Kill, Signal::Term] {
        let game = TestGame::fixed(&server);
        let etag = || {
            let response = game.get(Seat(1), "").send();
            response.header("etag").expect("an ETag").to_owned()
        };
        let restart = || {
            let before = (game.snapshot(), etag());
            server.restart(signal);
            assert_eq!((game.snapshot(), etag()), before, "{signal:?}");
        };
        restart();
        game.deal();
        restart();
        game.offer(0);
        restart();
        game.exchange();
        for _ in 0..2 {
            restart();
            let (seat, id) = game.first_move();
            game.play(seat, &id);
        }
    }
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
