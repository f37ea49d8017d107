//! How long advice takes, over positions of all kinds.

use std::time::{Duration, Instant};

use dog_bot::{Level, advise, net::nets::Nets, search::Budget};
use dog_rules::{
    game::Phase,
    options::{Preset, Rules, SevenPartner},
    playout::Playout,
    seat::Seat,
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

/// How long each piece of advice took, the shortest first.
#[derive(Clone, Debug, Default)]
pub struct Latency(Vec<Duration>);

impl Latency {
    /// The time that this share of all, 0 to 1, stayed within; zero if there were none.
    pub fn quantile(&self, share: f64) -> Duration {
        let last = self.0.len().saturating_sub(1);
        let place = (share * last as f64).ceil() as usize;
        self.0.get(place.min(last)).copied().unwrap_or_default()
    }
}

/// Asks for advice in positions of random games by every preset, with four and six seats, and by
/// the Canadian seven, whose lists are the longest.
pub fn measure(
    nets: &Nets,
    level: Level,
    budget: Option<Budget>,
    positions: u32,
    seed: u64,
) -> Latency {
    let tables = tables();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut times = Vec::with_capacity(positions as usize);
    let mut games: Vec<Playout> = tables.iter().map(new_game).collect();
    while times.len() < positions as usize {
        for (game, rules) in games.iter_mut().zip(&tables) {
            // To any phase of any round.
            let most = rng.random_range(1..40);
            game.play_on(&mut rng, most);
            match game.phase() {
                Phase::Finished => *game = new_game(rules),
                Phase::Deal => game.deal(&mut rng),
                Phase::Exchange | Phase::Play => {}
            }
            if game.phase() == Phase::Deal {
                continue;
            }
            let view = game.seen_from(game.turn());
            let begin = Instant::now();
            let advice = advise(nets, level, budget, &view, &mut rng);
            times.push(begin.elapsed());
            std::hint::black_box(advice);
        }
    }
    times.truncate(positions as usize);
    times.sort();
    Latency(times)
}

fn tables() -> Vec<Rules> {
    let mut tables = Vec::new();
    for preset in Preset::ALL {
        for (seats, seven_partner) in [
            (4, SevenPartner::WhenHome),
            (4, SevenPartner::Always),
            (6, SevenPartner::WhenHome),
        ] {
            let mut options = preset.options();
            options.seats = seats;
            options.seven_partner = seven_partner;
            tables.push(Rules::try_from(options).expect("a possible set of rules"));
        }
    }
    tables
}

fn new_game(rules: &Rules) -> Playout<'_> {
    Playout::new(rules, Seat::all(rules.seats).next().expect("a seat"))
}
