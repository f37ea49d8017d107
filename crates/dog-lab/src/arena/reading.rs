//! How much of the hidden hands is read from what was played.
//!
//! Of the deals that a seat thinks possible, [`Worlds`] holds some for likelier than others. The
//! better it does that, the likelier it holds the true hands, compared with deals that know nothing
//! of what was played. The mean logarithm of that ratio is the information, in nats, that it
//! draws from the game; it is below zero for who is misled.

use dog_bot::{
    net::{judge::Scratch, nets::Nets},
    worlds::Worlds,
};
use dog_rules::{
    game::{Game, Phase},
    options::Rules,
    playout::unseen_hands,
    seat::{BySeat, Seat},
};
use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha8Rng};

use super::{
    PlayerSpec,
    duplicate::{play_out, set_up},
};
use crate::player::Player;

/// Deals that the true one is compared with.
const DEALS: usize = 64;
/// One decision in so many is looked at.
const EVERY: u32 = 8;

/// The mean of some values, and its standard error.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// Plays games in which A holds one team and B all others, and reads at A's decisions; what was
/// read at each, in nats.
pub fn read(
    nets: &Nets,
    rules: &Rules,
    players: [&PlayerSpec; 2],
    games: u32,
    seed: u64,
) -> Vec<f64> {
    let mut players = players.map(PlayerSpec::build);
    let mut read = Vec::new();
    for number in 0..games {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number.into());
        let mut shuffle = [0; 32];
        rng.fill_bytes(&mut shuffle);
        let mut game = set_up(rules, shuffle);
        play_out(&mut game, |game, seat| {
            let side = usize::from(seat.team(rules.seats) != 0);
            let own = side == 0 && game.phase() == Phase::Play;
            if own && rng.random_range(0..EVERY) == 0 {
                read.extend(decision(nets, game, seat, &mut rng));
            }
            let player: &mut dyn Player = &mut *players[side];
            player.choose(&game.seen_from(seat), &mut rng).action(seat)
        });
    }
    read
}

/// Compares the true hands with others; nothing if nobody else has played yet.
fn decision(nets: &Nets, game: &Game, seat: Seat, rng: &mut ChaCha8Rng) -> Option<f64> {
    let rules = game.rules();
    let view = game.seen_from(seat);
    let worlds = Worlds::new(nets.of(rules), &view, u32::MAX, &mut Scratch::default());
    if worlds.know_nothing() {
        return None;
    }
    let mut truth = BySeat::default();
    for seat in rules.ring().seats() {
        truth[seat] = game.hand(seat);
    }
    let others = (0..DEALS).map(|_| worlds.likelihood(&unseen_hands(&view, rng)));
    let mean = others.sum::<f64>() / DEALS as f64;
    Some((worlds.likelihood(&truth) / mean).ln())
}

#[cfg(test)]
mod tests {
    use dog_rules::options::Preset;

    use super::*;

    #[test]
    fn means_have_their_errors() {
        let (mean, error) = mean_and_error(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(mean, 2.5);
        // The variance of the sample is 5/3.
        assert!((error - (5.0f64 / 12.0).sqrt()).abs() < 1e-12, "{error}");
    }

    /// Who plays by the net is read, who plays anything is not.
    #[test]
    fn there_is_something_to_read_in_what_follows_a_plan() {
        let nets = Nets::built_in().unwrap();
        let rules = Preset::DogspielIt.rules();
        let read = |level: &str| {
            let player: PlayerSpec = level.parse().unwrap();
            let found = read(&nets, &rules, [&player, &player], 6, 1);
            assert!(found.len() > 20, "{}", found.len());
            mean_and_error(&found)
        };
        let (mean, error) = read("net");
        assert!(mean > 2.0 * error, "{mean}, {error}");
        let (mean, error) = read("random");
        assert!(mean < 2.0 * error, "{mean}, {error}");
    }
}
