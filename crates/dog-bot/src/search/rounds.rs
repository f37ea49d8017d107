//! The chances of the teams before a round, by playouts of it in which every seat plays by the net
//! and by its own view.

use dog_rules::{Phase, Playout, Rules, Seat};
use rand::Rng;

use super::{
    Budget, Searcher, mean_and_error,
    playing::{PlayoutContext, chance},
};

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
        let evaluator = self.nets.for_rules(rules);
        let mut context = PlayoutContext::by_net(evaluator, &clock, &mut self.scratch);
        let (mut ends, teams) = (Vec::new(), usize::from(rules.seats / 2));
        while clock.used(ends.len() as u32) < 1.0 {
            let Some(chances) = context.play_round(table(rng), rng) else {
                break;
            };
            ends.push(chances);
        }
        if ends.is_empty() {
            ends.push([1.0 / teams as f64; MAX_TEAMS]);
        }
        (0..teams)
            .map(|team| {
                let (_, mean, standard_error) = mean_and_error(ends.iter().map(|end| end[team]));
                TeamChance {
                    mean,
                    standard_error,
                }
            })
            .collect()
    }
}

impl PlayoutContext<'_> {
    /// Plays a round to its end and returns the chance of each team. They add up to 1. None if the
    /// time is up earlier.
    pub fn play_round(
        &mut self,
        mut game: Playout,
        rng: &mut impl Rng,
    ) -> Option<[f64; MAX_TEAMS]> {
        let round = game.round();
        loop {
            match game.phase() {
                Phase::Finished => {
                    let mut chances = [0.0; MAX_TEAMS];
                    chances[usize::from(game.winner()?)] = 1.0;
                    return Some(chances);
                }
                Phase::Seating | Phase::Deal if game.round() > round => {
                    return Some(self.chances_between_rounds(&game));
                }
                Phase::Seating | Phase::Deal => game.deal(rng),
                Phase::Exchange => self.exchange(&mut game, rng),
                Phase::Play => {
                    self.turn(&mut game, rng)?;
                }
            }
        }
    }

    /// The chance of each team between two rounds, by the net: each as its first seat sees it, and
    /// scaled so that they add up to 1.
    pub(super) fn chances_between_rounds(&mut self, game: &Playout) -> [f64; MAX_TEAMS] {
        let rules = game.rules();
        let mut chances = [0.0; MAX_TEAMS];
        for (seat, own) in Seat::all(rules.seats / 2).zip(&mut chances) {
            let view = game.seen_from(seat);
            *own = chance(self.evaluator.round_over_logit(&view, self.scratch)).max(MIN_CHANCE);
        }
        let sum: f64 = chances.iter().sum();
        chances.map(|own| own / sum)
    }
}
