//! Whether advice is right about itself: how often a team wins when it was given a chance.

use std::{
    num::NonZeroUsize,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

use super::duplicate::{play_out, set_up};
use crate::{
    bot::{Level, advise, net::nets::Nets, search::Budget},
    rules::{options::Rules, seat::BySeat},
};

/// Decisions in which the chance of the choice taken lay in one tenth of 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tenth {
    pub decisions: u64,
    /// The sum of the chances given.
    pub said: f64,
    /// How many of them were won.
    pub won: u64,
}

/// Decisions by the chance given, the lowest tenth first.
pub type Tenths = [Tenth; 10];

/// What is to be played.
#[derive(Clone, Copy)]
pub struct SelfPlay<'a> {
    pub nets: &'a Nets,
    pub rules: &'a Rules,
    pub level: Level,
    pub budget: Option<Budget>,
    pub games: u32,
    pub seed: u64,
    pub threads: NonZeroUsize,
}

/// Plays games with one level at all seats; every decision counts, those of the exchange too.
pub fn calibrate(plan: &SelfPlay) -> Tenths {
    let next = AtomicU32::new(0);
    let sum = Mutex::new(Tenths::default());
    thread::scope(|scope| {
        for _ in 0..plan.threads.get() {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= plan.games {
                        break;
                    }
                    let tenths = game(plan, number);
                    let mut sum = sum.lock().expect("no thread panicked");
                    for (sum, more) in sum.iter_mut().zip(tenths) {
                        sum.decisions += more.decisions;
                        sum.said += more.said;
                        sum.won += more.won;
                    }
                }
            });
        }
    });
    sum.into_inner().expect("no thread panicked")
}

fn game(plan: &SelfPlay, number: u32) -> Tenths {
    let seats = plan.rules.seats;
    let stream = |stream: u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
        rng.set_stream(u64::from(number) * 8 + stream);
        rng
    };
    let mut shuffle = [0; 32];
    stream(7).fill_bytes(&mut shuffle);
    let mut luck = BySeat::from_fn(|seat| stream(seat as u64));
    let mut said: Vec<(u8, f64)> = Vec::new();
    let mut game = set_up(plan.rules, shuffle);
    let winner = play_out(&mut game, |game, seat| {
        let view = game.seen_from(seat);
        let advice = advise(plan.nets, plan.level, plan.budget, &view, &mut luck[seat]);
        let best = advice.first().expect("a seat that is to act has a choice");
        said.push((seat.team(seats), best.win_probability));
        best.choice.action(seat)
    });
    let mut tenths = Tenths::default();
    let Some(winner) = winner else { return tenths };
    for (team, chance) in said {
        let tenth = &mut tenths[((chance * 10.0) as usize).min(9)];
        tenth.decisions += 1;
        tenth.said += chance;
        tenth.won += u64::from(team == winner);
    }
    tenths
}
