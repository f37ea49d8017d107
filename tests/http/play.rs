//! `POST /v1/games/{id}/play`

use serde_json::Value;

use crate::support::{TestGame, TestServer, TestViewer::*};

#[test]
fn a_move_answers_with_view_version_and_events() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    for version in 7..40 {
        let view = game.view(Spectator);
        let Some(seat) = view["turn"].as_u64() else {
            return;
        };
        let seat = seat as usize;
        let listed = game.get(Seat(seat), "/legal-moves").send().expect(200);
        let mv = &listed["moves"][0];
        let before = game.view(Seat(seat));
        let played = game.play(seat, mv["id"].as_str().expect("an id"));
        assert_eq!(played["version"], version);
        assert_eq!(played["game"], game.view(Seat(seat)));
        assert_eq!(played["game"]["board"], mv["board"]);
        assert_eq!(played["game"]["last_action"], played["events"][0]);
        let Some(card) = mv["card"].as_str() else {
            continue;
        };
        let discarded = |view: &Value| view["discards"][card].as_u64().unwrap_or(0);
        assert_eq!(discarded(&played["game"]), discarded(&before) + 1);
        let cards = |view: &Value| view["seats"][seat]["cards"].as_u64();
        if played["game"]["phase"] == "play" {
            assert_eq!(cards(&played["game"]).map(|n| n + 1), cards(&before));
        }
    }
}

/// Ids of no legal move, whatever the hand of seat 1 is.
const ILLEGAL: &str = "x|fold |FOLD|:|K:|K:out:|k:out|Q:17>29|Q:017>29|4:0>g0|5:62>g4|5:p0>p2|\
    5:g0>g1|J:17<>33|J:none|7:|7:0>7|7:0>1,1>2,2>3,3>4,4>5,5>6,6>7,7>8|joker:out|joker=K:64>77|\
    joker=Q:255>11|2:1000>1002|2:0>\u{662}|\u{0}|K:out\n|\"K:out\"|K:out;DROP TABLE games";

#[test]
fn illegal_moves_leave_the_game_as_it_was() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let (seat, legal) = game.first_move();
    let before = game.snapshot();
    let long = "9".repeat(5000);
    for id in ILLEGAL.split('|').chain(["", &long, &format!("{legal} ")]) {
        let problem = game.try_play(Seat(seat), id).refused("illegal_move");
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.len() < 1000, "{detail}");
    }
    assert_eq!(game.snapshot(), before);
    game.play(seat, &legal);
}
