//! The server is killed at random moments while clients play.

use std::{sync::atomic::Ordering::Relaxed, thread, time::Duration};

use crate::{
    ledger::{Ledger, bots},
    support::{Dice, Signal, TestServer},
};

/// Kills in every run of the tests.
const KILLS: u64 = 5;

/// Kills in the long run.
const MANY_KILLS: u64 = 100;

/// The seed of all random choices.
const SEED: u64 = 20_260_918;

#[test]
fn no_confirmed_write_is_lost_or_doubled_by_kills() {
    play_through(KILLS);
}

#[test]
#[ignore = "takes minutes: cargo test --release --test http -- --ignored hundred_kills --nocapture"]
fn no_confirmed_write_is_lost_or_doubled_by_a_hundred_kills() {
    play_through(MANY_KILLS);
}

fn play_through(kills: u64) {
    let servers = [TestServer::start()];
    let server = &servers[0];
    for _ in 0..3 {
        bots(server, 0);
    }
    let ledger = Ledger::new(&servers, SEED);
    let mut dice = Dice::new(SEED);
    let clients = ledger.play_while(|| {
        for _ in 0..kills {
            thread::sleep(Duration::from_millis(dice.below(400) as u64));
            server.restart(Signal::Kill);
        }
    });
    server.restart(Signal::Kill);
    ledger.compare(clients);
    server.restart(Signal::Kill);
    let (said, is_sound) = server.check();
    assert!(is_sound, "{said}");
    println!("{kills} kills: {:?}", ledger.counts);
    assert_eq!(ledger.counts.unavailable.load(Relaxed), 0);
    assert!(
        ledger.interrupted_writes() > 0,
        "no kill interrupted a write"
    );
}
