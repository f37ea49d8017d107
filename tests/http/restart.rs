//! A server restarted after a kill continues from the store alone.

use crate::support::{Signal, TestGame, TestServer, TestViewer::*};

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
            game.play_on();
        }
    }
}
