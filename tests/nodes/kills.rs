//! Nodes are killed at random moments while clients play at all of them.

use std::{thread, time::Duration};

use crate::{load::NodeLoad, node::start, support::Dice};

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
#[ignore = "takes minutes"]
fn no_answered_write_is_lost_or_doubled_by_fifty_kills_of_nodes() {
    play_through(MANY_KILLS);
}

fn play_through(kills: u32) {
    let Some(nodes) = start(3) else { return };
    let load = NodeLoad::new(&nodes, SEED);
    let mut dice = Dice::new(SEED);
    let kill = || {
        for _ in 0..kills {
            load.wait_for_answers(10);
            thread::sleep(Duration::from_millis(dice.below(400) as u64));
            nodes.at(dice.below(3)).replace();
        }
        load.wait_for_answers(10);
    };
    load.run(kill, |sql| nodes.database.psql(sql));
    println!("{kills} kills: {:?}", load.ledger.counts);
    let interrupted = load.ledger.interrupted_writes();
    assert!(interrupted > 0, "no kill interrupted a write");
}
