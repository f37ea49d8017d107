//! Overload: refused quickly, without effect on others, and gone once the load ends.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use crate::support::{TestGame, TestServer, TestViewer::*};

const CLIENTS: usize = 40;

#[test]
fn excess_advice_is_refused_and_plays_go_on() {
    let server = TestServer::start_with(&[("DOG_ADVICE_THREADS", "1")]);
    let asked = TestGame::in_play(&server);
    let seat = asked.turn();
    let played = TestGame::in_play(&server);
    let (given, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let over = AtomicBool::new(false);
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
                        thread::sleep(Duration::from_secs(1));
                    }
                }
            });
        }
        // Ten seconds of work may be queued: most clients are refused while the first are served.
        while refused.load(Ordering::Relaxed) < CLIENTS / 2 {
            thread::sleep(Duration::from_millis(5));
        }
        for _ in 0..6 {
            played.play_on();
        }
        over.store(true, Ordering::Relaxed);
    });
    // An accepted client is served.
    assert!(given.load(Ordering::Relaxed) > 0);
    // Without any action the server recovers.
    ask(100).expect(200);
}

#[test]
fn many_short_requests_are_served() {
    let server = TestServer::start_with(&[("DOG_ADVICE_THREADS", "1")]);
    let game = TestGame::in_play(&server);
    let ask = || game.get(Seat(1), "/suggest-move?level=greedy").send();
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| ask().expect(200));
        }
    });
}
