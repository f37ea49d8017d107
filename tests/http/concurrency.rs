//! Many clients at once.

use std::thread;

use serde_json::{Value, json};

use crate::support::{Dice, TestGame, TestResponse, TestServer, TestViewer::*, at_once};

/// How many succeeded; the others must have been refused with one of these codes.
#[track_caller]
fn winners(responses: Vec<TestResponse>, codes: &[&str]) -> usize {
    let (won, lost): (Vec<_>, Vec<_>) = responses
        .into_iter()
        .partition(|response| response.status == 200);
    for response in lost {
        response.refused_one_of(codes);
    }
    won.len()
}

#[test]
fn exactly_one_of_many_writes_on_a_version_wins() {
    let server = TestServer::start();
    let there = TestServer::beside(&server);
    let game = TestGame::in_play(&server);
    let same = game.at(&there);
    for version in 6..30 {
        if game.view(Spectator)["phase"] != "play" {
            break;
        }
        let seat = game.turn();
        let moves = game.legal_moves(seat);
        let moves = moves.as_array().expect("moves");
        let request = |index: usize| {
            let id = &moves[index % moves.len()]["id"];
            let play = [&game, &same][index / 2 % 2].post(Seat(seat), "/play");
            if index.is_multiple_of(2) {
                play.json(&json!({"move": id, "version": version}))
            } else {
                let play = play.json(&json!({"move": id}));
                play.if_match(&format!("\"{version}\""))
            }
        };
        let responses = at_once(8, |index| request(index).send());
        assert_eq!(winners(responses, &["stale_version"]), 1);
        assert_eq!(game.version(), version + 1);
    }
}

#[test]
fn without_a_guard_the_turn_decides() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let deals = at_once(8, |_| game.post(Host, "/deal").send());
    assert_eq!(winners(deals, &["wrong_phase"]), 1);
    assert_eq!(game.version(), 2);

    let offer = |seat: usize| {
        let body = json!({"card": game.hand(seat)[0]});
        game.post_json(Seat(seat), "/swap", &body)
    };
    let offers = at_once(8, |_| offer(0));
    assert_eq!(winners(offers, &["not_your_turn"]), 1);
    assert_eq!(game.version(), 3);
    // Three seats that act at once do not conflict.
    let responses = at_once(3, |number| offer(number + 1));
    assert_eq!(winners(responses, &[]), 3);
    assert_eq!((game.version(), game.turn()), (6, 1));
}

#[test]
fn games_side_by_side_do_not_disturb_each_other() {
    let server = TestServer::shared();
    thread::scope(|scope| {
        for number in 0..8 {
            let server = &server;
            scope.spawn(move || {
                let game = TestGame::fixed(server);
                let mut dice = Dice::new(number);
                game.deal();
                game.exchange();
                for _ in 0..40 {
                    let version = game.version();
                    if game.view(Spectator)["phase"] == "play" {
                        let seat = game.turn();
                        let id = dice.pick(&game.legal_moves(seat))["id"].clone();
                        let played = game.play(seat, id.as_str().expect("an id"));
                        assert_eq!(played["version"], version + 1);
                    } else {
                        game.step(&mut dice);
                    }
                }
            });
        }
    });
}

#[test]
fn a_removal_ends_a_race_cleanly() {
    let server = TestServer::shared();
    for _ in 0..10 {
        let game = TestGame::in_play(&server);
        let (seat, id) = game.first_move();
        let responses = at_once(5, |number| match number {
            2 => game.request("DELETE", Host, "").send(),
            _ => game.try_play(Seat(seat), &id),
        });
        let (removed, others): (Vec<_>, Vec<_>) = responses
            .into_iter()
            .partition(|response| response.status == 204);
        assert_eq!(removed.len(), 1);
        let codes = [
            "game_not_found",
            "not_your_turn",
            "wrong_phase",
            "illegal_move",
        ];
        assert!(winners(others, &codes) <= 1);
        game.get(Host, "").send().refused("game_not_found");
    }
}

#[test]
fn readers_always_see_a_whole_game() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let last = 60;
    thread::scope(|scope| {
        let game = &game;
        scope.spawn(move || {
            let mut dice = Dice::new(3);
            while game.version() < last {
                game.step(&mut dice);
            }
        });
        for viewer in [Seat(0), Seat(2), Host, Spectator] {
            scope.spawn(move || {
                let mut version = 0;
                for _ in 0..150 {
                    let response = game.get(viewer, "").send();
                    let tag = response.header("etag").expect("an ETag").to_owned();
                    let view = response.expect(200);
                    let now = view["version"].as_u64().expect("a version");
                    assert!(now >= version, "{now} came after {version}");
                    assert_eq!(tag, format!("\"{now}-{viewer}\""));
                    version = now;
                    let held = view["seats"].as_array().expect("seats").iter();
                    let held: u64 = held.filter_map(|seat| seat["cards"].as_u64()).sum();
                    let discards = view["discards"].as_object().expect("cards").values();
                    let discards: u64 = discards.filter_map(Value::as_u64).sum();
                    let stock = view["stock"].as_u64().expect("a number");
                    assert_eq!(held + discards + stock, 110, "{view}");
                }
            });
        }
    });
}
