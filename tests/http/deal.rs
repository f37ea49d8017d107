//! `POST /v1/games/{id}/deal`

use serde_json::json;

use crate::support::{TestGame, TestServer, TestViewer::*};

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
fn a_guard_lets_only_its_version_pass() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let before = game.snapshot();
    for version in [json!("1"), json!(-1), json!(1.5)] {
        let request = game.post(Host, "/deal").json(&json!({"version": version}));
        request.send().refused("invalid_request");
    }
    for version in [0, 2, u64::MAX] {
        let request = game.post(Host, "/deal").json(&json!({"version": version}));
        request.send().refused("stale_version");
    }
    let others = r#""1-0" "01" "*" "a,1,b" "1-host-zip" W/"1" W/"1-host""#;
    for other in others.split(' ') {
        let guarded = game.post(Host, "/deal").if_match(other);
        guarded.send().refused("stale_version");
    }
    // Of two guards, one is wrong.
    for (tag, version) in [("\"1\"", 2), ("\"2\"", 1), ("\"1-0\"", 1)] {
        let request = game.post(Host, "/deal").if_match(tag);
        let request = request.json(&json!({"version": version}));
        request.send().refused("stale_version");
    }
    assert_eq!(game.snapshot(), before);
    let guarded = game.post(Host, "/deal").if_match("\"1-host\"");
    guarded.json(&json!({"version": 1})).send().expect(200);
    for own in ["\"7\", \"1\"", "\"a,2\",, W/\"1\", \"1-host\"", " * "] {
        let guarded = TestGame::fixed(&server).post(Host, "/deal");
        guarded.if_match(own).send().expect(200);
    }
}
