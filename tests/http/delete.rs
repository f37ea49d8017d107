//! `DELETE /v1/games/{id}`

use serde_json::json;

use crate::support::{TestGame, TestServer, TestViewer::*, UNKNOWN_TOKEN};

#[test]
fn the_host_removes_a_game_for_good() {
    let server = TestServer::start();
    for game in [
        TestGame::fixed(&server),
        TestGame::dealt(&server),
        TestGame::in_play(&server),
    ] {
        let other = TestGame::fixed(&server);
        let response = game.request("DELETE", Host, "").send();
        assert_eq!((response.status, response.body.len()), (204, 0));
        for viewer in game.viewers() {
            game.get(viewer, "").send().refused("game_not_found");
            game.get(viewer, "/legal-moves")
                .send()
                .refused("game_not_found");
            game.get(viewer, "/suggest-move")
                .send()
                .refused("game_not_found");
            game.post(viewer, "/deal").send().refused("game_not_found");
            game.post(viewer, "/swap")
                .json(&json!({"card": "K"}))
                .send()
                .refused("game_not_found");
            game.post(viewer, "/play")
                .json(&json!({"move": "fold"}))
                .send()
                .refused("game_not_found");
            game.post(viewer, "/seats/0/token")
                .send()
                .refused("game_not_found");
            game.request("DELETE", viewer, "")
                .send()
                .refused("game_not_found");
        }
        let list = server.get("/v1/games").send().expect(200).to_string();
        assert!(!list.contains(&game.id));
        assert!(list.contains(&other.id));
        other.view(Spectator);
        server.restart(crate::support::Signal::Kill);
        game.get(Host, "").send().refused("game_not_found");
    }
}

#[test]
fn nobody_else_removes_it() {
    let server = TestServer::shared();
    let (game, other) = (TestGame::in_play(&server), TestGame::fixed(&server));
    let before = game.snapshot();
    for seat in 0..4 {
        game.request("DELETE", Seat(seat), "")
            .send()
            .refused("forbidden");
    }
    game.request("DELETE", Spectator, "")
        .send()
        .refused("unauthorized");
    for token in [UNKNOWN_TOKEN, &other.host] {
        let response = server.delete(&game.path("")).token(token).send();
        response.refused("unauthorized");
    }
    assert_eq!(game.snapshot(), before);
}

#[test]
fn a_guard_lets_only_its_version_pass() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    for tag in ["\"1\"", "\"3\"", "\"1-host\"", "\"2-0\""] {
        let request = game.request("DELETE", Host, "").if_match(tag);
        request.send().refused("stale_version");
    }
    let request = game.request("DELETE", Host, "").if_match("\"2-host\"");
    request.send().expect(204);
}

#[test]
fn a_finished_game_can_be_removed_too() {
    let server = TestServer::shared();
    let game = TestGame::imported(&server);
    game.request("DELETE", Host, "").send().expect(204);
    game.get(Host, "").send().refused("game_not_found");
}
