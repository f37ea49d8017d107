//! The search for puzzles.

use dog_bot::{
    Captured, Choice, Level, MoveEffect, Suggestion, advise,
    net::nets::Nets,
    player_model::PlayerModels,
    puzzle::{Puzzle, PuzzleAnswer},
    reasons::AdviceReasonCode,
    search::Budget,
};
use dog_rules::{Board, Card, Game, Move, Preset, Rules, SeatView, judge};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use crate::{
    games::{play_out, set_up, stream},
    player::{PlayerSpec, Policy, SeatDecision},
};

/// By how much the best choice is better than every other, and by how many errors.
const GAP: f64 = 0.10;
const ERRORS: f64 = 4.0;

/// What a short search must find before a long one is made.
const FIRST_SAMPLES: u32 = 150;
const FIRST_GAP: f64 = 0.09;

/// Seeds of each player.
const SEEDS: u64 = 5;

/// Puzzles of one game at most, so that no two are alike.
const MOST_OF_GAME: usize = 2;

/// The players that must find the best choice. Greedy, the first, is wrong in at least half.
const PLAYERS: [&str; 4] = ["greedy", "net", "fast:samples=40", "strong:samples=400"];

/// Whoever looks for puzzles.
pub struct PuzzleFinder<'n> {
    nets: &'n Nets,
    players: Vec<Box<dyn Policy>>,
    playing: Box<dyn Policy>,
    samples: u32,
}

/// What a choice comes to: a card and a board, or an answer in the exchange.
fn result(suggestion: &Suggestion) -> (Option<(Card, Board)>, Option<Choice>) {
    match (suggestion.choice, &suggestion.outcome) {
        (Choice::Play(mv), Some(outcome)) => (mv.card().zip(Some(outcome.board)), None),
        (answer, _) => (None, Some(answer)),
    }
}

impl<'n> PuzzleFinder<'n> {
    /// One that searches with so many samples.
    ///
    /// # Errors
    /// Never in practice: the players are known.
    pub fn new(nets: &'n Nets, samples: u32) -> anyhow::Result<PuzzleFinder<'n>> {
        let players = PLAYERS.map(|name| Ok(name.parse::<PlayerSpec>()?.build()));
        Ok(PuzzleFinder {
            nets,
            players: players.into_iter().collect::<anyhow::Result<_>>()?,
            playing: "net".parse::<PlayerSpec>()?.build(),
            samples,
        })
    }

    /// The puzzles of the game with this number, which the net plays by one of the presets.
    pub fn game(&mut self, seed: u64, number: u64) -> Vec<Puzzle> {
        let [mut shuffle, mut playing, mut rng] =
            [0, 1, 2].map(|kind| stream(seed, 4 * number + kind));
        let rules = Preset::ALL[(number % Preset::ALL.len() as u64) as usize].rules();
        let mut found = Vec::new();
        let mut game = set_up(&rules, &mut shuffle);
        play_out(&mut game, |game, seat| {
            let decision = SeatDecision::new(game, seat, PlayerModels::default());
            if found.len() < MOST_OF_GAME {
                let own = rng.random();
                found.extend(self.puzzle(game, &decision.view, &rules, own));
            }
            self.playing.choose(&decision, &mut playing).action(seat)
        });
        found
    }

    /// The puzzle in a position, if there is one.
    fn puzzle(&mut self, game: &Game, seen: &SeatView, rules: &Rules, seed: u64) -> Option<Puzzle> {
        if seen.hand.ranks().count() < 2 {
            return None;
        }
        let mut puzzle = Puzzle::new(seen);
        let view = puzzle.view(rules).expect("a position of a game");
        let first = self.search(&view, FIRST_SAMPLES, seed);
        let best = best(&first, FIRST_GAP, 0.0)?;
        // The cheapest test comes first.
        let mut wrong = [0; PLAYERS.len()];
        let decision = SeatDecision {
            view: puzzle.view(rules).expect("a position of a game"),
            models: PlayerModels::default(),
            game,
        };
        let ask = |player: &mut Box<dyn Policy>| {
            let chosen = (0..SEEDS).map(|number| {
                player.choose(&decision, &mut ChaCha8Rng::seed_from_u64(seed ^ number))
            });
            let alike = |choice: Choice| {
                let chosen = first.iter().find(|suggestion| suggestion.choice == choice);
                chosen.is_some_and(|chosen| result(chosen) == best)
            };
            chosen.filter(|&choice| !alike(choice)).count() as u32
        };
        wrong[0] = ask(&mut self.players[0]);
        if u64::from(wrong[0]) * 2 < SEEDS {
            return None;
        }
        let long = self.search(&view, self.samples, seed.wrapping_add(1));
        if !is_right(&long, best) {
            return None;
        }
        let again = self.search(&view, self.samples, seed.wrapping_add(2));
        if !is_right(&again, best) {
            return None;
        }
        for (player, wrong) in self.players.iter_mut().zip(&mut wrong).skip(1) {
            *wrong = ask(player);
        }
        let all = SEEDS as u32 * PLAYERS.len() as u32;
        puzzle.difficulty = (100 * wrong.iter().sum::<u32>() / all) as u8;
        puzzle.answers = answers(long);
        Some(puzzle)
    }

    fn search(&self, view: &SeatView, samples: u32, seed: u64) -> Vec<Suggestion> {
        let (budget, models) = (Some(Budget::Samples(samples)), PlayerModels::default());
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        advise(
            self.nets,
            Level::Strong,
            budget,
            view,
            &models,
            &|| true,
            rng,
        )
    }
}

/// What the best choice comes to, if it is better than every other by so much and so many errors.
fn best(
    found: &[Suggestion],
    gap: f64,
    errors: f64,
) -> Option<(Option<(Card, Board)>, Option<Choice>)> {
    let best = result(found.first()?);
    let mut others = found
        .iter()
        .filter(|other| result(other) != best)
        .peekable();
    others.peek()?;
    let is_worse = |other: &Suggestion| {
        let error = other.estimate.difference_error.unwrap_or(0.0);
        other.estimate.difference >= gap.max(errors * error)
    };
    others.all(is_worse).then_some(best)
}

/// Whether a long search finds the same, and it is no matter of course.
fn is_right(found: &[Suggestion], expected: (Option<(Card, Board)>, Option<Choice>)) -> bool {
    use AdviceReasonCode::{OnlyMove, Wins};
    let first = &found[0];
    let is_plain = |code| matches!(code, OnlyMove | Wins);
    best(found, GAP, ERRORS) == Some(expected)
        && first
            .estimate
            .standard_error
            .is_some_and(|error| error > 0.0)
        && !first.reasons.iter().any(|reason| is_plain(reason.code))
}

/// The best three, and the best of each other card.
fn answers(found: Vec<Suggestion>) -> Vec<PuzzleAnswer> {
    let card = |choice: Choice| match choice {
        Choice::Play(Move::Play { card, .. }) | Choice::Offer(card) => Some(card),
        _ => None,
    };
    let (mut kept, mut cards) = (Vec::<Suggestion>::new(), Vec::new());
    for suggestion in found {
        let own = card(suggestion.choice);
        let is_known = kept
            .iter()
            .any(|other| result(other) == result(&suggestion));
        if !is_known && (kept.len() < 3 || !cards.contains(&own)) {
            cards.push(own);
            kept.push(suggestion);
        }
    }
    kept.into_iter().map(PuzzleAnswer::from).collect()
}

/// Whether the best choice captures nothing and brings no piece home.
fn is_plain(puzzle: &Puzzle, rules: &Rules) -> bool {
    let view = puzzle.view(rules).expect("a position of a game");
    let Choice::Play(mv) = puzzle.answers[0].choice else {
        return true;
    };
    let outcome = judge::judge(rules, &view.board, view.seat, view.hand, &mv);
    let effect = MoveEffect::new(&view, &outcome.expect("a legal move"), None);
    effect.captured == Captured::default() && effect.pieces_home == 0
}

/// Puzzles of the week in which the first one is, which begins on a Tuesday, and of others.
const FIRST_WEEK: usize = 6;
const WEEK: usize = 7;

/// More puzzles after these: whole weeks, each of which rises in difficulty, from those that were
/// found and are not there. More than half of a week neither capture nor bring a piece home.
///
/// # Errors
/// The rules of a puzzle cannot be read.
pub fn more_weeks(there: &[Puzzle], found: Vec<Puzzle>) -> anyhow::Result<Vec<Puzzle>> {
    let (mut plain, mut others) = (Vec::new(), Vec::new());
    for puzzle in found.into_iter().filter(|puzzle| !there.contains(puzzle)) {
        match is_plain(&puzzle, &puzzle.rules.parse()?) {
            true => plain.push(puzzle),
            false => others.push(puzzle),
        }
    }
    let mut more = Vec::new();
    let (mut plain, mut others) = (plain.into_iter(), others.into_iter());
    loop {
        let days = if there.len() + more.len() == 0 {
            FIRST_WEEK
        } else {
            WEEK
        };
        let few = plain.len() < WEEK.div_ceil(2) || plain.len() + others.len() < days;
        if few {
            return Ok(more);
        }
        let mut week: Vec<Puzzle> = plain.by_ref().take(WEEK.div_ceil(2)).collect();
        week.extend(others.by_ref().take(days - week.len()));
        let missing = days - week.len();
        week.extend(plain.by_ref().take(missing));
        week.sort_by_key(|puzzle| puzzle.difficulty);
        more.append(&mut week);
    }
}
