//! `dog-lab review`: a review of a game, and whether the numbers of reviews are honest.

use std::{
    fs,
    io::{Write, stdout},
    path::PathBuf,
    time::Instant,
};

use anyhow::Context;
use clap::Args;
use dog_bot::{net::nets::Nets, player_model::PlayerModels};
use dog_review::{
    FinishedGame, JudgedDecision, Judgement, Review, ReviewSearch, ReviewSettings, Reviewer,
};
use dog_rules::{
    Actor, Game, Phase, Rules,
    record::{ParsedRecord, Replayed},
};
use rand::{RngExt, rngs::ChaCha8Rng};

use crate::{
    arena::mean_and_error,
    games::{GamesArgs, MAX_TURNS, set_up},
    player::{PlayerSpec, SeatDecision},
};

/// What to do with reviews.
#[derive(Debug, clap::Subcommand)]
pub enum ReviewCommand {
    /// Review a game by its text record.
    Game(GameArgs),
    /// Check that choosing the best does not bias its value: the mean difference of a player that
    /// chooses as the review does.
    Bias(BiasArgs),
    /// Check that the luck and the rest of games between equal players have mean 0, and all sums.
    Luck(LuckArgs),
    /// Measure the accuracy of players, each at all seats of a game. Against stronger players its
    /// positions would soon be lost, with nothing left to lose.
    Levels(LevelsArgs),
    /// Review games twice and count how often the judgements agree.
    Agreement(AgreementArgs),
}

/// How many playouts a review makes.
#[derive(Clone, Copy, Debug, Args)]
pub struct SettingArgs {
    /// The playouts, in percent of the default setting.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    percent: u32,
}

impl SettingArgs {
    fn settings(self) -> ReviewSettings {
        ReviewSettings::default().scaled(self.percent)
    }
}

#[derive(Debug, Args)]
pub struct GameArgs {
    /// The record of a finished game.
    record: PathBuf,
    /// The seed of the worlds that the review draws.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    setting: SettingArgs,
}

#[derive(Debug, Args)]
pub struct BiasArgs {
    /// Games to play, by `net` at all seats.
    #[arg(long, default_value_t = 100)]
    games: u32,
    /// Ask at one decision in this many, chosen at random.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    #[command(flatten)]
    setting: SettingArgs,
    #[command(flatten)]
    common: GamesArgs,
}

#[derive(Debug, Args)]
pub struct LuckArgs {
    /// The player at all seats.
    #[arg(default_value = "net")]
    player: PlayerSpec,
    /// Games to play.
    #[arg(long, default_value_t = 300)]
    games: u32,
    #[command(flatten)]
    setting: SettingArgs,
    #[command(flatten)]
    common: GamesArgs,
}

#[derive(Debug, Args)]
pub struct LevelsArgs {
    /// The players to measure.
    #[arg(required = true)]
    players: Vec<PlayerSpec>,
    /// Games of each.
    #[arg(long, default_value_t = 30)]
    games: u32,
    #[command(flatten)]
    setting: SettingArgs,
    #[command(flatten)]
    common: GamesArgs,
}

#[derive(Debug, Args)]
pub struct AgreementArgs {
    /// The player at all seats.
    #[arg(default_value = "greedy")]
    player: PlayerSpec,
    /// Games to play.
    #[arg(long, default_value_t = 10)]
    games: u32,
    #[command(flatten)]
    setting: SettingArgs,
    #[command(flatten)]
    common: GamesArgs,
}

impl ReviewCommand {
    /// Runs the command.
    ///
    /// # Errors
    /// If a record cannot be read, the nets do not fit the program, or the output fails.
    pub fn run(self) -> anyhow::Result<()> {
        let nets = Nets::built_in();
        match self {
            ReviewCommand::Game(args) => args.run(&nets),
            ReviewCommand::Bias(args) => args.run(&nets),
            ReviewCommand::Luck(args) => args.run(&nets),
            ReviewCommand::Levels(args) => args.run(&nets),
            ReviewCommand::Agreement(args) => args.run(&nets),
        }
    }
}

impl GameArgs {
    /// Prints the review: decisions worse than good, seats, rounds and teams.
    fn run(self, nets: &Nets) -> anyhow::Result<()> {
        let file = self.record.display();
        let text = fs::read_to_string(&self.record).with_context(|| file.to_string())?;
        let record = ParsedRecord::read(&text).with_context(|| file.to_string())?;
        let replayed = record.replay()?;
        replayed.check_finished()?;
        let rules = replayed.game.rules().clone();
        let started = Instant::now();
        let review = reviewed(nets, self.setting.settings(), self.seed, finished(replayed));
        let seconds = started.elapsed().as_secs_f64();
        print(&review, &rules)?;
        let decisions = review.decisions.len();
        writeln!(stdout(), "\n{decisions} decisions in {seconds:.1} s")?;
        Ok(())
    }
}

/// Prints a review.
fn print(review: &Review, rules: &Rules) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    writeln!(
        out,
        "version  seat  judgement   difference  (error)  played -> best"
    )?;
    let decisions = review.decisions.iter();
    for made in decisions.filter(|made| made.judgement() > Judgement::Good) {
        writeln!(
            out,
            "{:>7}  {:>4}  {:<10}  {:>10.4}  ({:.4})  {} -> {}",
            made.version,
            made.seat.number(),
            made.judgement().name(),
            made.difference,
            made.standard_error,
            text(&made.played),
            text(&made.best),
        )?;
    }
    let names = Judgement::ALL.map(Judgement::name).join("  ");
    writeln!(out, "\nseat  decisions  mean loss  accuracy  {names}")?;
    for seat in review.seats(rules) {
        let loss = seat.mean_loss.unwrap_or(0.0);
        let accuracy = seat
            .accuracy
            .map_or("-".to_owned(), |found| format!("{found:.1}"));
        write!(
            out,
            "{:>4}  {:>9}  {loss:>9.4}  {accuracy:>8}",
            seat.seat.number(),
            seat.decisions,
        )?;
        let judged = seat.judgements;
        let counts = [
            judged.best,
            judged.good,
            judged.inaccuracy,
            judged.mistake,
            judged.blunder,
        ];
        for (count, judgement) in counts.into_iter().zip(Judgement::ALL) {
            write!(out, "  {count:>width$}", width = judgement.name().len())?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "\nround  version  before    luck  (error)  decisions     rest     end  (team 0)"
    )?;
    for round in review.rounds(rules) {
        writeln!(
            out,
            "{:>5}  {:>7}  {:>6.4}  {:>6.4}  ({:.4})  {:>9.4}  {:>7.4}  {:>6.4}",
            round.round,
            round.version,
            round.before[0],
            round.luck[0],
            round.luck_standard_error[0],
            round.decisions[0],
            round.rest.as_ref().map_or(0.0, |rest| rest[0]),
            round.end[0],
        )?;
    }
    writeln!(out, "\nteam   start     luck  decisions     rest  result")?;
    for team in review.teams(rules) {
        writeln!(
            out,
            "{:>4}  {:>6.4}  {:>7.4}  {:>9.4}  {:>7.4}  {:>6}",
            team.team, team.start, team.luck, team.decisions, team.rest, team.result
        )?;
    }
    Ok(())
}

/// A choice as a person reads it.
fn text(action: &dog_rules::Action) -> String {
    use dog_rules::Action::*;
    match action {
        Play { mv, .. } => mv.to_string(),
        Offer { card, .. } => format!("offer {card}"),
        Decline { .. } => "decline".to_owned(),
        Ask { .. } => "ask".to_owned(),
        _ => "pass".to_owned(),
    }
}

impl BiasArgs {
    fn run(self, nets: &Nets) -> anyhow::Result<()> {
        let games = self
            .common
            .each(self.games, |number| self.game(nets, number));
        let asked: usize = games.iter().map(Vec::len).sum();
        let mut out = stdout().lock();
        writeln!(
            out,
            "{asked} decisions: a choice of the review, valued against another one of it"
        )?;
        writeln!(
            out,
            "difference on            mean in points  standard error"
        )?;
        // The choices of a game have much in common, so each game counts as one.
        let mut line = |name: &str, which: fn(&[f64; 2]) -> f64| {
            let means = games.iter().filter(|game| !game.is_empty());
            let means =
                means.map(|game| 100.0 * game.iter().map(which).sum::<f64>() / game.len() as f64);
            let (mean, error) = mean_and_error(&means.collect::<Vec<f64>>());
            writeln!(out, "{name:<23}  {mean:>14.3}  {error:>14.3}")
        };
        line("other worlds", |&[other, _]| other)?;
        line("those of the finding", |&[_, own]| own)?;
        Ok(())
    }

    /// At some decisions of a game: how much better than a first choice of the review a second one
    /// is, on other worlds and on those on which the second one was found the best.
    fn game(&self, nets: &Nets, number: u32) -> Vec<[f64; 2]> {
        let mut when = self.common.stream(u64::from(number) * 4 + 2);
        let mut rng = self.common.stream(u64::from(number) * 4 + 3);
        let mut search = ReviewSearch::new(nets, self.setting.settings(), &|| true);
        let mut found = Vec::new();
        let net: PlayerSpec = "net".parse().expect("a player");
        play(&self.common, number, &net, |decision| {
            if when.random_range(0..self.every) == 0 {
                found.extend(differences(&mut search, &decision.view, &mut rng));
            }
        });
        found
    }
}

/// The two differences of [`BiasArgs::game`] at one decision; none if there is only one choice.
fn differences(
    search: &mut ReviewSearch,
    view: &dog_rules::SeatView,
    rng: &mut ChaCha8Rng,
) -> Option<[f64; 2]> {
    let played = search.find(view, rng).first()?.candidate;
    let again = search.find(view, rng);
    let (best, _) = again
        .split_first()
        .filter(|(_, others)| !others.is_empty())?;
    let other = search.values(view, best.candidate, played, rng)?.difference;
    let stats = again.iter().find(|stats| stats.candidate == played)?;
    let own = stats.difference(best).map_or(0.0, |(mean, _)| mean);
    Some([other, own])
}

impl LuckArgs {
    fn run(self, nets: &Nets) -> anyhow::Result<()> {
        let games = self
            .common
            .each(self.games, |number| self.game(nets, number));
        let games: Vec<ReviewSums> = games.into_iter().flatten().collect();
        let mut out = stdout().lock();
        writeln!(out, "{} games; team 0, in points a game", games.len())?;
        writeln!(out, "part         mean  standard error")?;
        let mut line = |name: &str, which: fn(&ReviewSums) -> f64| {
            let values: Vec<f64> = games.iter().map(|sums| 100.0 * which(sums)).collect();
            let (mean, error) = mean_and_error(&values);
            writeln!(out, "{name:<9}  {mean:>6.2}  {error:>14.2}")
        };
        line("luck", |sums| sums.luck)?;
        line("decisions", |sums| sums.decisions)?;
        line("rest", |sums| sums.rest)?;
        let error = games.iter().map(|sums| sums.error).fold(0.0, f64::max);
        writeln!(
            out,
            "largest error of a sum, of a round or a game: {error:.1e}"
        )?;
        Ok(())
    }

    /// Plays and reviews a game; none if it was abandoned.
    fn game(&self, nets: &Nets, number: u32) -> Option<ReviewSums> {
        let game = play(&self.common, number, &self.player, |_| {})?;
        let seed = u64::from(number);
        let review = reviewed(nets, self.setting.settings(), seed, game);
        Some(ReviewSums::new(&review, &self.common.rules))
    }
}

/// The sums of team 0 in a game, and the largest error of any sum.
#[derive(Clone, Copy, Debug, Default)]
struct ReviewSums {
    luck: f64,
    decisions: f64,
    rest: f64,
    error: f64,
}

impl ReviewSums {
    fn new(review: &Review, rules: &Rules) -> ReviewSums {
        let mut error: f64 = 0.0;
        for round in review.rounds(rules) {
            // None gives up in the games of the lab.
            let rest = round.rest.unwrap_or_default();
            for (team, end) in round.end.iter().enumerate() {
                let parts = [&round.before, &round.luck, &round.decisions, &rest];
                let sum: f64 = parts.iter().map(|part| part[team]).sum();
                error = error.max((sum - end).abs());
            }
        }
        let teams = review.teams(rules);
        for team in &teams {
            let sum = team.start + team.luck + team.decisions + team.rest;
            error = error.max((sum - team.result).abs());
        }
        ReviewSums {
            luck: teams[0].luck,
            decisions: teams[0].decisions,
            rest: teams[0].rest,
            error,
        }
    }
}

impl LevelsArgs {
    fn run(self, nets: &Nets) -> anyhow::Result<()> {
        let mut out = stdout().lock();
        writeln!(
            out,
            "accuracy     95% interval  mean loss in points  player"
        )?;
        for player in &self.players {
            let games = self
                .common
                .each(self.games, |number| self.game(nets, player, number));
            let (accuracies, losses): (Vec<f64>, Vec<f64>) = games.into_iter().flatten().unzip();
            let (mean, error) = mean_and_error(&accuracies);
            let (low, high) = (mean - 1.96 * error, mean + 1.96 * error);
            let (loss, _) = mean_and_error(&losses);
            writeln!(
                out,
                "{mean:>8.1}  {low:>5.1} to {high:>4.1}  {:>19.2}  {player}",
                100.0 * loss
            )?;
            out.flush()?;
        }
        Ok(())
    }

    /// The mean accuracy of the seats in a game, and their mean loss; none without such seats.
    fn game(&self, nets: &Nets, player: &PlayerSpec, number: u32) -> Option<(f64, f64)> {
        let game = play(&self.common, number, player, |_| {})?;
        let settings = ReviewSettings {
            rounds: 2,
            ..self.setting.settings()
        };
        let review = reviewed(nets, settings, u64::from(number), game);
        let seats = review.seats(&self.common.rules);
        let seats = seats
            .iter()
            .filter_map(|seat| seat.accuracy.zip(seat.mean_loss));
        let (accuracies, losses): (Vec<f64>, Vec<f64>) = seats.unzip();
        let mean = |values: &[f64]| mean_and_error(values).0;
        (!losses.is_empty()).then(|| (mean(&accuracies), mean(&losses)))
    }
}

impl AgreementArgs {
    fn run(self, nets: &Nets) -> anyhow::Result<()> {
        let games = self
            .common
            .each(self.games, |number| self.game(nets, number));
        let (mut judged, mut same, mut near) = (0, 0, 0);
        for (one, other) in games.into_iter().flatten() {
            judged += 1;
            same += u32::from(one == other);
            near += u32::from((one as i32 - other as i32).abs() == 1);
        }
        let share = 100.0 * f64::from(same + near) / f64::from(judged.max(1));
        writeln!(
            stdout(),
            "{judged} judgements of mistake or worse, in either of two reviews: {same} the same in \
             the other, {near} next to it, together {share:.1} %"
        )?;
        Ok(())
    }

    /// Each judgement of a mistake or worse in one review, with that in the other.
    fn game(&self, nets: &Nets, number: u32) -> Vec<(Judgement, Judgement)> {
        let Some(game) = play(&self.common, number, &self.player, |_| {}) else {
            return Vec::new();
        };
        let settings = ReviewSettings {
            rounds: 2,
            ..self.setting.settings()
        };
        let seed = u64::from(number);
        let judgements = [2 * seed, 2 * seed + 1].map(|seed| {
            let review = reviewed(nets, settings, seed, game.clone());
            let decisions = review.decisions.iter();
            decisions
                .map(JudgedDecision::judgement)
                .collect::<Vec<Judgement>>()
        });
        let [one, other] = &judgements;
        let pairs = one.iter().zip(other).map(|(&one, &other)| (one, other));
        let both = pairs.flat_map(|(one, other)| [(one, other), (other, one)]);
        both.filter(|&(one, _)| one >= Judgement::Mistake).collect()
    }
}

/// The game of a record.
fn finished(replayed: Replayed) -> FinishedGame {
    let entries = replayed.log.into_iter().filter_map(|entry| {
        let by = entry.events.first().and_then(|event| event.by);
        Some((entry.action?, by.into()))
    });
    FinishedGame {
        start: replayed.game.at_creation(),
        actions: entries.collect(),
    }
}

/// Reviews a whole game.
///
/// # Panics
/// If the game cannot be replayed, which was checked when it was read or played.
fn reviewed(nets: &Nets, settings: ReviewSettings, seed: u64, game: FinishedGame) -> Review {
    let reviewer = Reviewer::new(nets, settings, seed, game, Review::default(), &|| true);
    let review = reviewer.and_then(Reviewer::finish);
    review.expect("a game that was played can be replayed")
}

/// Plays a game with this player at all seats. Calls `see` with every decision. None if it was
/// abandoned.
fn play(
    common: &GamesArgs,
    number: u32,
    player: &PlayerSpec,
    mut see: impl FnMut(&SeatDecision),
) -> Option<FinishedGame> {
    let [mut shuffle, mut dice] =
        [0, 1].map(|stream| common.stream(u64::from(number) * 4 + stream));
    let mut player = player.build();
    let start: Game = set_up(&common.rules, &mut shuffle);
    let (mut game, mut actions) = (start.clone(), Vec::new());
    while game.phase() != Phase::Finished && actions.len() < MAX_TURNS as usize {
        let step = game.step(|game, seat| {
            let decision = SeatDecision::new(game, seat, PlayerModels::default());
            see(&decision);
            player.choose(&decision, &mut dice).action(seat)
        });
        let (action, _) = step.expect("a legal choice")?;
        actions.push((action, Actor::Player));
    }
    game.winner()?;
    Some(FinishedGame { start, actions })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct ReviewCli {
        #[command(subcommand)]
        command: ReviewCommand,
    }

    fn command(arguments: &str) -> ReviewCommand {
        ReviewCli::parse_from(["review"].into_iter().chain(arguments.split(' '))).command
    }

    #[test]
    fn sums_are_exact_and_a_seed_gives_the_same_again() {
        let nets = Nets::built_in();
        let sums = |threads| {
            let arguments = format!("luck greedy --games 2 --percent 1 --threads {threads}");
            let ReviewCommand::Luck(luck) = command(&arguments) else {
                panic!("another command");
            };
            luck.common
                .each(luck.games, |number| luck.game(&nets, number).unwrap())
        };
        let (one, again) = (sums(1), sums(2));
        for (one, again) in one.iter().zip(&again) {
            assert!(one.error < 1e-9, "{one:?}");
            assert!(
                one.luck != 0.0 && one.decisions != 0.0 && one.rest != 0.0,
                "{one:?}"
            );
            assert_eq!(one.luck, again.luck);
            assert_eq!(one.rest, again.rest);
        }
    }

    #[test]
    fn a_good_player_has_a_high_accuracy() {
        let nets = Nets::built_in();
        let ReviewCommand::Levels(levels) = command("levels net --games 1 --percent 2") else {
            panic!("another command");
        };
        let (accuracy, loss) = levels.game(&nets, &levels.players[0], 0).unwrap();
        assert!((60.0..=100.0).contains(&accuracy), "{accuracy}");
        assert!((0.0..0.02).contains(&loss), "{loss}");
    }

    #[test]
    fn a_choice_found_the_best_seems_better_on_the_worlds_it_was_found_on() {
        let nets = Nets::built_in();
        let ReviewCommand::Bias(bias) = command("bias --games 1 --every 3 --percent 4") else {
            panic!("another command");
        };
        let found: Vec<[f64; 2]> = bias.game(&nets, 0);
        assert!(found.len() > 15, "{}", found.len());
        let own: f64 = found.iter().map(|[_, own]| own).sum();
        let other: f64 = found.iter().map(|[other, _]| other).sum();
        assert!(own > 0.0 && own > other, "{own}, {other}");
    }
}
