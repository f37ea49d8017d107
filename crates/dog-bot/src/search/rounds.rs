//! The chances of the teams before a round, by playouts of it in which every seat plays by the net
//! and by its own view.

use dog_rules::{BySeat, Phase, Playout, Rules};
use rand::Rng;

use super::{Budget, Searcher, playing::PlayoutContext};
use crate::player_model::PlayoutPolicy;

/// The largest number of teams.
const MAX_TEAMS: usize = 3;
/// The smallest chance of a team while the game goes on: nothing is certain before the end.
const MIN_CHANCE: f64 = 1e-6;

/// The chance of a team, 0 to 1, and its standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TeamChance {
    pub mean: f64,
    pub standard_error: f64,
}

impl Searcher<'_> {
    /// The chance of each team, from this many playouts of a round. `table` gives the game before
    /// or after the deal of that round. A playout ends with the round, and the net values the end.
    /// If none ends within the limit, the chances are equal.
    pub fn team_chances<'v, R: Rng>(
        &mut self,
        rules: &'v Rules,
        playouts: u32,
        rng: &mut R,
        mut table: impl FnMut(&mut R) -> Playout<'v>,
    ) -> Vec<TeamChance> {
        let clock = self.start_clock(Budget::Samples(playouts));
        let mut context = PlayoutContext {
            evaluator: self.nets.for_rules(rules),
            plies: u32::MAX,
            rounds: 1,
            policies: BySeat::from_fn(|_| PlayoutPolicy::NET),
            clock: &clock,
            scratch: &mut self.scratch,
        };
        let (mut count, mut sums, mut squares) = (0u32, [0.0; MAX_TEAMS], [0.0; MAX_TEAMS]);
        while clock.used(count) < 1.0 {
            let table = table(rng);
            let Some(chances) = context.play_round(table, rng) else {
                break;
            };
            count += 1;
            for (team, chance) in chances.into_iter().enumerate() {
                sums[team] += chance;
                squares[team] += chance * chance;
            }
        }
        if count == 0 {
            sums = [1.0 / teams(rules) as f64; MAX_TEAMS];
        }
        let count = f64::from(count.max(1));
        let teams = sums.into_iter().zip(squares).take(teams(rules));
        teams
            .map(|(sum, squares)| {
                let mean = sum / count;
                let variance = (squares / count - mean * mean).max(0.0);
                TeamChance {
                    mean,
                    standard_error: (variance / (count - 1.0).max(1.0)).sqrt(),
                }
            })
            .collect()
    }
}

impl PlayoutContext<'_> {
    /// Plays a round to its end and returns the chance of each team. They add up to 1. None if the
    /// time is up earlier.
    fn play_round(&mut self, mut game: Playout, rng: &mut impl Rng) -> Option<[f64; MAX_TEAMS]> {
        let rules = game.rules();
        let (round, teams) = (game.round(), teams(rules));
        let mut chances = [0.0; MAX_TEAMS];
        chances[..teams].fill(1.0 / teams as f64);
        loop {
            match game.phase() {
                Phase::Finished => {
                    chances = [0.0; MAX_TEAMS];
                    chances[usize::from(game.winner()?)] = 1.0;
                    return Some(chances);
                }
                Phase::Seating | Phase::Deal if game.round() > round => return Some(chances),
                Phase::Seating | Phase::Deal => game.deal(rng),
                Phase::Exchange => self.exchange(&mut game, rng),
                Phase::Play => {
                    let team = usize::from(game.turn().team(rules.seats));
                    let (_, own) = self.turn(&mut game, rng)?;
                    // The others share the rest in the same proportions as before.
                    let own = own.clamp(MIN_CHANCE, 1.0 - MIN_CHANCE);
                    let scale = (1.0 - own) / (1.0 - chances[team]);
                    chances.iter_mut().for_each(|other| *other *= scale);
                    chances[team] = own;
                }
            }
        }
    }
}

fn teams(rules: &Rules) -> usize {
    usize::from(rules.seats / 2)
}
