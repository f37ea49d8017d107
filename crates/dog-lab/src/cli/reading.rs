//! `dog-lab reading`: how much information about the hidden hands the moves give.
//!
//! [`Determinizer`] weighs the possible deals by the moves of the round. The better it does that,
//! the higher it weighs the true hands, compared with deals that ignore the moves. The mean
//! logarithm of that ratio is the information gained, in nats. It is negative if the moves mislead.

use std::io::{Write, stdout};

use clap::Args;
use dog_bot::{
    determinize::Determinizer,
    net::{evaluator::Scratch, nets::Nets},
    player_model::PlayerModels,
};
use dog_rules::{BySeat, Game, Phase, Seat, playout::unseen_hands};
use rand::{RngExt, rngs::ChaCha8Rng};

use crate::{
    arena::mean_and_error,
    games::{GamesArgs, play_out, set_up},
    player::PlayerSpec,
};

/// The number of deals that the true one is compared with.
const DEALS: usize = 64;
/// One decision in this many is measured.
const EVERY: u32 = 8;

#[derive(Debug, Args)]
pub struct ReadingArgs {
    /// The player of the first team, at whose decisions the hands are inferred.
    a: PlayerSpec,
    /// The player of all other teams.
    b: PlayerSpec,
    /// Games to play.
    #[arg(long, default_value_t = 100)]
    games: u32,
    #[command(flatten)]
    of: GamesArgs,
}

impl ReadingArgs {
    /// Plays the games and prints the information gained per decision, in nats.
    ///
    /// # Errors
    /// If the nets do not fit the program, or the output fails.
    pub fn run(self) -> anyhow::Result<()> {
        let found = self.read(&Nets::built_in()?);
        let mut out = stdout().lock();
        writeln!(out, "nats a decision  standard error  decisions")?;
        let (mean, error) = mean_and_error(&found);
        let decisions = found.len();
        writeln!(out, "{mean:>15.3}  {error:>14.3}  {decisions:>9}")?;
        Ok(())
    }

    /// Plays games in which A holds one team and B all others. Returns the information gained at
    /// each of A's decisions, in nats.
    fn read(&self, nets: &Nets) -> Vec<f64> {
        let games = self.of.each(self.games, |number| {
            let mut players = [&self.a, &self.b].map(PlayerSpec::build);
            let mut read = Vec::new();
            let mut rng = self.of.stream(number.into());
            let mut game = set_up(&self.of.rules, &mut rng);
            play_out(&mut game, |game, seat| {
                let side = usize::from(seat.team(game.rules().seats) != 0);
                let own = side == 0 && game.phase() == Phase::Play;
                if own && rng.random_range(0..EVERY) == 0 {
                    read.extend(decision(nets, game, seat, &mut rng));
                }
                let choice =
                    players[side].choose(&game.seen_from(seat), &PlayerModels::default(), &mut rng);
                choice.action(seat)
            });
            read
        });
        games.concat()
    }
}

/// Compares the true hands with random ones; none if nobody else has played yet.
fn decision(nets: &Nets, game: &Game, seat: Seat, rng: &mut ChaCha8Rng) -> Option<f64> {
    let rules = game.rules();
    let view = game.seen_from(seat);
    let determinizer = Determinizer::new(nets.of(rules), &view, u32::MAX, &mut Scratch::default());
    if determinizer.has_no_evidence() {
        return None;
    }
    let mut truth = BySeat::default();
    for seat in rules.ring().seats() {
        truth[seat] = game.hand(seat);
    }
    let others = (0..DEALS).map(|_| determinizer.likelihood(&unseen_hands(&view, rng)));
    let mean = others.sum::<f64>() / DEALS as f64;
    Some((determinizer.likelihood(&truth) / mean).ln())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct ReadingCli {
        #[command(flatten)]
        reading: ReadingArgs,
    }

    /// The moves of a player that uses the net give information; random moves do not.
    #[test]
    fn planned_moves_give_information() {
        let nets = Nets::built_in().unwrap();
        let read = |level: &str| {
            let cli = ReadingCli::parse_from(["reading", level, level, "--games=6"]);
            let found = cli.reading.read(&nets);
            assert!(found.len() > 20, "{}", found.len());
            mean_and_error(&found)
        };
        let (mean, error) = read("net");
        assert!(mean > 2.0 * error, "{mean}, {error}");
        let (mean, error) = read("random");
        assert!(mean < 2.0 * error, "{mean}, {error}");
    }
}
