//! More than can be done: refused quickly, in nobody's way, and over when it is over.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use serde_json::json;

use crate::support::{TestGame, TestServer, TestViewer::*};

const CLIENTS: usize = 40;

#[test]
fn advice_beyond_what_can_be_given_is_refused_and_plays_go_on() {
    let server = TestServer::start_with(&[("DOG_ADVICE_THREADS", "1")]);
    let asked = TestGame::in_play(&server);
    let seat = asked.turn();
    let played = TestGame::in_play(&server);
    let (over, given, refused) = (
        AtomicBool::new(false),
        AtomicUsize::new(0),
        AtomicUsize::new(0),
    );
    let ask = |budget: u32| {
        let query = format!("/suggest-move?budget_ms={budget}");
        asked.get(Seat(seat), &query).send()
    };
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let response = ask(2_000);
                    if response.status == 200 {
                        given.fetch_add(1, Ordering::Relaxed);
                    } else {
                        response.refused("unavailable");
                        refused.fetch_add(1, Ordering::Relaxed);
                        // As Retry-After says.
                        thread::sleep(std::time::Duration::from_secs(1));
                    }
                }
            });
        }
        // Ten seconds' work may wait: most clients are sent away while the first are served.
        while refused.load(Ordering::Relaxed) < CLIENTS / 2 {
            thread::sleep(std::time::Duration::from_millis(5));
        }
        for _ in 0..6 {
            let (seat, id) = played.first_move();
            let play = played.post(Seat(seat), "/play").json(&json!({"move": id}));
            play.send().expect(200);
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(
        given.load(Ordering::Relaxed) > 0,
        "whoever is let in is served"
    );
    // Nobody did anything, and all is well again.
    ask(100).expect(200);
}

#[test]
fn short_questions_may_be_many() {
    let server = TestServer::start_with(&[("DOG_ADVICE_THREADS", "1")]);
    let game = TestGame::in_play(&server);
    let seat = game.turn();
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let ask = game.get(Seat(seat), "/suggest-move?level=greedy");
                ask.send().expect(200);
            });
        }
    });
}
