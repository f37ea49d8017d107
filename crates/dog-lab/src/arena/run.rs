//! A match: many pairs on many threads, counted in the order of their numbers.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    ops::ControlFlow,
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    thread,
};

use dog_rules::options::Rules;

use super::{duplicate::Table, score::Tally};
use crate::player::Player;

/// Makes a player, once for each thread and side.
pub type Build<'a> = dyn Fn() -> Box<dyn Player> + Sync + 'a;

/// What is to be played.
#[derive(Clone, Copy)]
pub struct Match<'a> {
    pub rules: &'a Rules,
    /// Player A and player B.
    pub players: [&'a Build<'a>; 2],
    /// Pairs at most.
    pub pairs: u32,
    /// Everything random follows from it, the cards and the players' luck.
    pub seed: u64,
    pub threads: NonZeroUsize,
}

/// Plays a match. After each pair `then` sees all pairs so far and may stop the match: to show how
/// far it is, or to end it when it is decided.
///
/// Pairs are counted in the order of their numbers, as if one thread had played them, so that the
/// result is the same however many threads there are, as far as the players' choices are. Pairs
/// that are under way when the match is stopped are played to their end and not counted.
///
/// # Panics
/// If a player panics, or does what it may not.
pub fn run_match(plan: &Match, mut then: impl FnMut(&Tally) -> ControlFlow<()>) -> Tally {
    let mut tally = Tally::new(plan.rules.seats / 2);
    let next = AtomicU32::new(0);
    thread::scope(|scope| {
        let (sender, finished) = mpsc::channel();
        for _ in 0..plan.threads.get() {
            let (next, sender) = (&next, sender.clone());
            scope.spawn(move || {
                let players = plan.players.map(|build| build());
                let mut table = Table::new(plan.rules, plan.seed, players);
                let _guard = EndOnPanic(next, plan.pairs);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    // Nobody listens any more once the match is stopped.
                    if number >= plan.pairs || sender.send((number, table.pair(number))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        for (number, pair) in finished {
            waiting.insert(number, pair);
            while let Some(pair) = waiting.remove(&tally.pairs()) {
                tally.add(&pair);
                if then(&tally).is_break() {
                    return;
                }
            }
        }
    });
    tally
}

/// Ends the match when its thread panics: without that thread's pair the others would play on for
/// nothing.
struct EndOnPanic<'a>(&'a AtomicU32, u32);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let EndOnPanic(next, pairs) = self;
            next.store(*pairs, Ordering::Relaxed);
        }
    }
}
