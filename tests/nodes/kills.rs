//! Nodes are killed at random moments while clients play at all of them.

use std::{thread, time::Duration};

use rand::{RngExt, SeedableRng, rngs::ChaCha20Rng};

use crate::{load::NodeLoad, support::start};

/// Kills in every run of the tests.
const KILLS: u32 = 5;

/// Kills in the long run.
const MANY_KILLS: u32 = 50;

/// The seed of all random choices.
const SEED: u64 = 20_261_125;

#[test]
fn no_answered_write_is_lost_or_doubled_by_kills_of_nodes() {
    play_through(KILLS);
}

#[test]
#[ignore = "takes minutes: \
            cargo test --test nodes -- --ignored fifty_kills"]
fn no_answered_write_is_lost_or_doubled_by_fifty_kills_of_nodes() {
    play_through(MANY_KILLS);
}

fn play_through(kills: u32) {
    let Some(nodes) = start(3) else { return };
    let load = NodeLoad::new(&nodes, SEED);
    let mut dice = ChaCha20Rng::seed_from_u64(SEED);
    let kill = |load: &NodeLoad<'_>| {
        for _ in 0..kills {
            load.wait_for_answers(10);
            thread::sleep(Duration::from_millis(dice.random_range(0..400)));
            nodes.replace(dice.random_range(0..nodes.count()));
        }
        load.wait_for_answers(10);
    };
    load.run(kill, |sql| nodes.database.psql(sql));
    println!("{kills} kills: {:?}", load.counts);
    let cut_off = load.counts.cut_off.into_inner();
    assert!(cut_off > 0, "no kill interrupted a request");
}
