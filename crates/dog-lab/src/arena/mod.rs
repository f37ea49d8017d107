//! The arena: two players measured against each other in duplicate matches.
//!
//! Cards decide a game of DOG as much as play does, so every shuffle is played several times. The
//! cards of every deal follow from the shuffle seed alone (RULES §8), and side A holds each team
//! once. So each side gets the cards that the other had in another game, luck cancels out, and a
//! player against itself scores exactly what chance gives. If the two players of a team differ, all
//! this is played in both seatings, so that each player has each hand once. These games are one
//! *pair*, the unit of all statistics: the games of a pair are not independent of each other, pairs
//! are.
//!
//! A match is many pairs on many threads, counted in the order of their numbers.

mod statistics;

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    ops::ControlFlow,
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    thread,
    time::Instant,
};

use dog_bot::{net::nets::Nets, player_model::PlayerModels};
use dog_rules::{BySeat, Rules};
use rand::{SeedableRng, rngs::ChaCha8Rng};

pub use self::statistics::{
    Interval, MatchTotals, Pair, Sprt, SprtDecision, SprtError, ThinkTimes, VarianceRatio, Z,
    interval, mean, mean_and_error,
};
use crate::{
    games::{Watching, play_out, set_up},
    player::{Policy, SeatDecision},
};

/// The random stream of the shuffle seed; lower numbers are the seats' streams.
const SHUFFLE_STREAM: u64 = 7;
/// The number of streams reserved for each pair.
const STREAMS: u64 = 8;

/// Makes a player, once for each thread and place in a team.
pub type PlayerFactory<'a> = dyn Fn() -> Box<dyn Policy> + Sync + 'a;

/// The two players of a team.
type Team = [Box<dyn Policy>; 2];

/// The parameters of a match.
#[derive(Clone, Copy)]
pub struct Match<'a> {
    pub rules: &'a Rules,
    /// The players of the teams A and B.
    pub teams: [[&'a PlayerFactory<'a>; 2]; 2],
    /// Whether the players of a team differ. Then each shuffle is played in both seatings.
    pub is_mixed: bool,
    /// The nets that estimate how the seats play; none if no player uses that.
    pub nets: Option<&'a Nets>,
    /// The largest number of pairs.
    pub pairs: u32,
    /// The seed of all cards and of the players' random choices.
    pub seed: u64,
    pub threads: NonZeroUsize,
}

impl Match<'_> {
    /// The number of seatings of a team's players.
    fn seatings(&self) -> u8 {
        1 + u8::from(self.is_mixed)
    }

    /// Plays pair `number`: the same cards once for each team that A may hold and each seating.
    ///
    /// # Panics
    /// If a player makes an illegal choice.
    fn pair(&self, number: u32, teams: &mut [Team; 2]) -> Pair {
        let mut pair = Pair::default();
        for seating in 0..self.seatings() {
            for team in 0..self.rules.seats / 2 {
                let (winner, margin) = self.game(number, team, seating, teams, &mut pair.thinking);
                pair.margins[0] += margin;
                pair.margins[1] += margin * margin;
                match winner {
                    Some(winner) => pair.wins[usize::from(winner != team)] += 1,
                    None => pair.unfinished += 1,
                }
            }
        }
        pair
    }

    /// Plays one game in which A holds `team`, and returns the winning team and A's margin. In the
    /// seating 0 the first player of a team has the lower seat.
    fn game(
        &self,
        pair: u32,
        team: u8,
        seating: u8,
        teams: &mut [Team; 2],
        thinking: &mut [ThinkTimes; 2],
    ) -> (Option<u8>, i64) {
        let mut game = set_up(self.rules, &mut self.stream(pair, SHUFFLE_STREAM));
        // Each seat has its own random stream, whoever sits there, so a player against itself plays
        // the same game again.
        let mut rngs = BySeat::from_fn(|seat| self.stream(pair, seat as u64));
        let mut watching = self.nets.map(Watching::new);
        let seats = self.rules.seats;
        let winner = play_out(&mut game, |game, seat| {
            let side = usize::from(seat.team(seats) != team);
            let place = u8::from(seat.number() >= seats / 2) ^ seating;
            let player = &mut teams[side][usize::from(place)];
            let mut decision = SeatDecision::new(game, seat, PlayerModels::default());
            if let Some(watching) = &mut watching {
                watching.see(&decision.view);
                decision.models = watching.models;
            }
            let started = Instant::now();
            let choice = player.choose(&decision, &mut rngs[seat]);
            thinking[side].decided(started.elapsed());
            if let Some(watching) = &mut watching {
                watching.see_choice(&decision.view, choice);
            }
            choice.action(seat)
        });
        let others = i64::from(seats / 2 - 1);
        let counted = self.rules.ring().seats().map(|seat| {
            let weight = if seat.team(seats) == team { others } else { -1 };
            weight * i64::from(game.board().pieces(seat).in_goal())
        });
        (winner, counted.sum())
    }

    /// The random stream of one seat, or of the cards, in one pair. It depends only on the match
    /// seed, the pair and the seat.
    fn stream(&self, pair: u32, number: u64) -> ChaCha8Rng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        let mut stream = ChaCha8Rng::from_seed(key);
        stream.set_stream(u64::from(pair) * STREAMS + number);
        stream
    }
}

/// Plays a match. After each pair `then` sees all pairs so far and may stop the match. It can show
/// progress, or end the match when it is decided.
///
/// Pairs are counted in the order of their numbers, as if one thread had played them. So the result
/// does not depend on the number of threads, if the players' choices do not. Pairs in progress when
/// the match is stopped are finished but not counted.
///
/// # Panics
/// If a player panics or makes an illegal choice.
pub fn run_match(
    plan: &Match,
    mut then: impl FnMut(&MatchTotals) -> ControlFlow<()>,
) -> MatchTotals {
    let mut tally = MatchTotals::new(plan.rules.seats / 2, plan.seatings());
    let next = AtomicU32::new(0);
    thread::scope(|scope| {
        let (sender, finished) = mpsc::channel();
        for _ in 0..plan.threads.get() {
            let (next, sender) = (&next, sender.clone());
            scope.spawn(move || {
                let mut teams = plan.teams.map(|team| team.map(|build| build()));
                let _guard = StopOnPanic(next, plan.pairs);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= plan.pairs {
                        break;
                    }
                    let pair = plan.pair(number, &mut teams);
                    // After a stop nobody receives.
                    if sender.send((number, pair)).is_err() {
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

/// Ends the match when its thread panics. Without that thread's pair the others would play on for
/// nothing.
struct StopOnPanic<'a>(&'a AtomicU32, u32);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let StopOnPanic(next, pairs) = self;
            next.store(*pairs, Ordering::Relaxed);
        }
    }
}
