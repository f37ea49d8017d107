//! `POST /v1/games/{id}/deal`

use serde_json::{Value, json};

use crate::support::{TestGame, TestServer, TestViewer::*, UNKNOWN_TOKEN};

#[test]
fn the_dealer_and_the_host_may_deal() {
    let server = TestServer::shared();
    for viewer in [Seat(0), Host] {
        let game = TestGame::fixed(&server);
        let response = game.post(viewer, "/deal").send().expect(200);
        assert_eq!(response["version"], 2);
        assert_eq!(response["game"], game.view(viewer));
        assert_eq!(response["game"]["phase"], "exchange");
        assert_eq!(response["game"]["stock"], 110 - 24);
        let event = &response["events"][0];
        assert_eq!(response["events"].as_array().map(Vec::len), Some(1));
        let expected = json!({
            "type": "cards_dealt", "round": 1, "dealer": 0, "beginner": 1,
            "size": 6, "reshuffled": false, "hands": event["hands"],
        });
        assert_eq!(*event, expected);
        let own = viewer == Seat(0);
        for seat in 0..4 {
            assert_eq!(response["game"]["seats"][seat]["cards"], 6);
            assert_eq!(response["game"]["seats"][seat]["exchange"], "pending");
            assert_eq!(event["hands"][seat].is_null(), !(own && seat == 0));
        }
        if own {
            assert_eq!(event["hands"][0], response["game"]["seats"][0]["hand"]);
        }
    }
}

#[test]
fn nobody_else_may_deal() {
    let server = TestServer::shared();
    let (game, other) = (TestGame::fixed(&server), TestGame::fixed(&server));
    let before = game.snapshot();
    for seat in 1..4 {
        game.post(Seat(seat), "/deal")
            .send()
            .refused("not_your_turn");
    }
    game.post(Spectator, "/deal").send().refused("unauthorized");
    for token in [UNKNOWN_TOKEN, &other.host, &other.tokens[0]] {
        let response = server.post(&game.path("/deal")).token(token).send();
        response.refused("unauthorized");
    }
    assert_eq!(game.snapshot(), before);
}

#[test]
fn a_round_is_dealt_once() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    for viewer in [Seat(0), Seat(1), Host] {
        game.post(viewer, "/deal").send().refused("wrong_phase");
    }
    game.exchange();
    game.post(Host, "/deal").send().refused("wrong_phase");
}

#[test]
fn the_body_may_be_empty() {
    let server = TestServer::shared();
    let deal = || TestGame::fixed(&server).post(Host, "/deal");
    deal().send().expect(200);
    deal().text("application/json", "").send().expect(200);
    deal().json(&json!({})).send().expect(200);
    let typed = deal().text("application/json; charset=utf-8", " {}\n");
    typed.send().expect(200);
}

#[test]
fn other_bodies_are_refused() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let before = game.snapshot();
    for body in [
        json!({"card": "K"}),
        json!({"version": "1"}),
        json!({"version": -1}),
        json!({"version": 1.5}),
    ] {
        game.post(Host, "/deal")
            .json(&body)
            .send()
            .refused("invalid_request");
    }
    for body in ["{", "{\"version\": 1", "nul", "{} {}"] {
        let response = game
            .post(Host, "/deal")
            .text("application/json", body)
            .send();
        response.refused("malformed_json");
    }
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "",
    ] {
        let response = game.post(Host, "/deal").text(content_type, "{}").send();
        response.refused("unsupported_media_type");
    }
    assert_eq!(game.snapshot(), before);
}

#[test]
fn a_guard_lets_only_its_version_pass() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let before = game.snapshot();
    for tag in [
        "\"0\"",
        "\"2\"",
        "\"2-host\"",
        "\"1-0\"",
        "\"1-spectator\"",
        "\"x\"",
        "\"\"",
    ] {
        game.post(Host, "/deal")
            .if_match(tag)
            .send()
            .refused("stale_version");
    }
    for version in [0, 2, u64::MAX] {
        let body = json!({"version": version});
        game.post(Host, "/deal")
            .json(&body)
            .send()
            .refused("stale_version");
    }
    // Two guards, one of them wrong.
    let stale = json!({"version": 2});
    game.post(Host, "/deal")
        .if_match("\"1\"")
        .json(&stale)
        .send()
        .refused("stale_version");
    let right = json!({"version": 1});
    game.post(Host, "/deal")
        .if_match("\"2\"")
        .json(&right)
        .send()
        .refused("stale_version");
    assert_eq!(game.snapshot(), before);

    let passes = |tag: &str, body: Value| {
        let game = TestGame::fixed(&server);
        let request = game.post(Host, "/deal").if_match(tag).json(&body);
        request.send().expect(200);
    };
    passes("\"1\"", json!({}));
    passes("\"1-host\"", json!({}));
    passes("\"0\", \"1\"", json!({}));
    passes("*", json!({}));
    passes("\"1\"", json!({"version": 1}));
    let game = TestGame::fixed(&server);
    game.post(Host, "/deal").json(&right).send().expect(200);
}

#[test]
fn deals_go_by_the_published_sizes() {
    let server = TestServer::shared();
    for (preset, sizes) in [
        ("dogspiel-it", [6, 5, 4, 3, 2, 6, 5]),
        ("spielanleitung", [6, 5, 4, 3, 2, 5, 4]),
    ] {
        let game = TestGame::of_preset(&server, preset);
        let fixed = preset == "dogspiel-it";
        for (index, size) in sizes.into_iter().enumerate() {
            let view = game.view(Spectator);
            let dealer = if fixed { 0 } else { index % 4 };
            assert_eq!(view["round"], index + 1);
            assert_eq!(view["dealer"], dealer);
            game.post(Seat((dealer + 1) % 4), "/deal")
                .send()
                .refused("not_your_turn");
            let dealt = game.post(Seat(dealer), "/deal").send().expect(200);
            assert_eq!(
                dealt["events"][0]["size"],
                size,
                "{preset}, round {}",
                index + 1
            );
            game.exchange();
            assert_eq!(game.turn(), (index + 1) % 4);
            while game.view(Spectator)["phase"] == "play" {
                let (seat, id) = game.first_move();
                game.play(seat, &id);
            }
        }
    }
}
