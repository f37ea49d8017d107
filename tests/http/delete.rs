//! `DELETE /v1/games/{id}`

use crate::support::{Signal, TestGame, TestServer, TestViewer::*};

#[test]
fn the_host_removes_a_game_for_good() {
    let server = TestServer::start();
    let other = TestGame::fixed(&server);
    for game in [
        TestGame::fixed(&server),
        TestGame::dealt(&server),
        TestGame::in_play(&server),
        TestGame::imported(&server),
    ] {
        let version = game.version();
        for stale in [format!("\"{}\"", version - 1), format!("\"{version}-0\"")] {
            let request = game.request("DELETE", Host, "").if_match(&stale);
            request.send().refused("stale_version");
        }
        let guard = format!("\"{version}-host\"");
        let response = game.request("DELETE", Host, "").if_match(&guard).send();
        assert_eq!((response.status, response.body.len()), (204, 0));
        let list = server.get("/v1/games").send().expect(200).to_string();
        assert!(!list.contains(&game.id) && list.contains(&other.id));
        for viewer in game.viewers() {
            game.get(viewer, "").send().refused("game_not_found");
        }
        server.restart(Signal::Kill);
        game.get(Host, "").send().refused("game_not_found");
    }
    other.view(Spectator);
}
