//! The search for puzzles.

use dog_bot::{
    Captured, Choice, Level, MoveEffect, Suggestion, advise,
    net::nets::Nets,
    player_model::PlayerModels,
    puzzle::{Puzzle, PuzzleAnswer},
    reasons::AdviceReasonCode,
    search::Budget,
};
use dog_rules::{Game, Move, Preset, Rules, Seat, SeatView, judge};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use crate::{
    games::{play_out, set_up, stream},
    player::{PlayerSpec, Policy, SeatDecision},
};

/// By how much the best choice is better than every other, and by how many errors.
const GAP: f64 = 0.10;
const ERRORS: f64 = 4.0;

/// What short searches must find before a long one is made: their samples, the gap, and the errors.
const FIRST: (u32, f64, f64) = (40, 0.05, 0.0);
const SHORT: [(u32, f64, f64); 2] = [(150, 0.09, 0.0), (800, 0.09, 2.0)];

/// With fewer pieces in all goals, no choice is better than every other by so much.
const FEWEST_HOME: u32 = 3;

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

/// Whether two choices are one: the same, or the same card to the same board.
fn are_one(one: &Suggestion, other: &Suggestion) -> bool {
    let reached = one.card_and_board();
    one.choice == other.choice || reached.is_some() && reached == other.card_and_board()
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
        let goals = Seat::all(rules.seats).map(|seat| seen.board.goal(seat).count_ones());
        let home: u32 = goals.sum();
        if seen.hand.ranks().count() < 2 || home < FEWEST_HOME {
            return None;
        }
        let mut puzzle = Puzzle::new(seen);
        let view = puzzle.view(rules).expect("a position of a game");
        let (samples, gap, errors) = FIRST;
        let first = self.search(&view, samples, seed);
        let best = best(&first, gap, errors)?;
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
                chosen.is_some_and(|chosen| are_one(chosen, best))
            };
            chosen.filter(|&choice| !alike(choice)).count() as u32
        };
        wrong[0] = ask(&mut self.players[0]);
        if u64::from(wrong[0]) * 2 < SEEDS {
            return None;
        }
        let long = (self.samples, GAP, ERRORS);
        let mut found = Vec::new();
        for ((samples, gap, errors), number) in SHORT.into_iter().chain([long; 2]).zip(1..) {
            found = self.search(&view, samples, seed.wrapping_add(number));
            if !is_right(&found, best, gap, errors) {
                return None;
            }
        }
        for (player, wrong) in self.players.iter_mut().zip(&mut wrong).skip(1) {
            *wrong = ask(player);
        }
        let all = SEEDS as u32 * PLAYERS.len() as u32;
        puzzle.difficulty = (100 * wrong.iter().sum::<u32>() / all) as u8;
        puzzle.answers = answers(found);
        Some(puzzle)
    }

    /// Whether a new search finds the same choice to be the best.
    ///
    /// # Errors
    /// The rules or the position cannot be read.
    pub fn is_still_right(&self, puzzle: &Puzzle, seed: u64) -> anyhow::Result<bool> {
        let rules = puzzle.rules.parse()?;
        let view = puzzle.view(&rules)?;
        let found = self.search(&view, self.samples, seed);
        let expected = found
            .iter()
            .find(|one| one.choice == puzzle.answers[0].choice);
        Ok(expected.is_some_and(|expected| are_one(&found[0], expected)))
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

/// The best choice, if it is better than every other by so much and so many errors.
fn best(found: &[Suggestion], gap: f64, errors: f64) -> Option<&Suggestion> {
    let best = found.first()?;
    let mut others = found
        .iter()
        .filter(|other| !are_one(other, best))
        .peekable();
    others.peek()?;
    let is_worse = |other: &Suggestion| {
        let error = other.estimate.difference_error.unwrap_or(0.0);
        other.estimate.difference >= gap.max(errors * error)
    };
    others.all(is_worse).then_some(best)
}

/// Whether a longer search finds the same, and it is no matter of course.
fn is_right(found: &[Suggestion], expected: &Suggestion, gap: f64, errors: f64) -> bool {
    use AdviceReasonCode::{OnlyMove, Wins};
    let is_plain = |code| matches!(code, OnlyMove | Wins);
    best(found, gap, errors).is_some_and(|best| {
        let error = best.estimate.standard_error;
        are_one(best, expected)
            && error.is_some_and(|error| error > 0.0)
            && !best.reasons.iter().any(|reason| is_plain(reason.code))
    })
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
        let is_known = kept.iter().any(|other| are_one(other, &suggestion));
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

/// Whether something can be said for the best choice.
fn has_reason(puzzle: &Puzzle) -> bool {
    let mut reasons = puzzle.answers[0].reasons.iter();
    reasons.all(|reason| reason.code != AdviceReasonCode::NoBetter)
}

/// Puzzles of the week in which the first one is, which begins on a Tuesday, and of others.
const FIRST_WEEK: usize = 6;
const WEEK: usize = 7;

/// More puzzles after these: whole weeks, each of which rises in difficulty, from those that were
/// found and are not there, and whose best choice has a reason. More than half of a week neither capture nor bring a piece home.
///
/// # Errors
/// The rules of a puzzle cannot be read.
pub fn more_weeks(there: &[Puzzle], found: Vec<Puzzle>) -> anyhow::Result<Vec<Puzzle>> {
    let (mut plain, mut others) = (Vec::new(), Vec::new());
    let found = found.into_iter().filter(has_reason);
    for puzzle in found.filter(|puzzle| !there.contains(puzzle)) {
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

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs::File, io::Read};

    use dog_rules::Card;
    use flate2::read::MultiGzDecoder;

    use super::*;

    /// Those in the program.
    fn published() -> Vec<Puzzle> {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../src/puzzles/puzzles.ndjson.gz"
        );
        let (mut text, file) = (String::new(), File::open(path).expect("the file"));
        MultiGzDecoder::new(file)
            .read_to_string(&mut text)
            .expect("gzip");
        let puzzles = text.lines().map(serde_json::from_str);
        puzzles.collect::<Result<_, _>>().expect("puzzles")
    }

    /// Of the first puzzles some have no reason.
    const WITHOUT_REASON: usize = 216;

    fn kind(puzzle: &Puzzle, rules: &Rules) -> &'static str {
        let view = puzzle.view(rules).expect("a position");
        let Choice::Play(Move::Play { card, .. }) = puzzle.answers[0].choice else {
            return "exchange";
        };
        match (card, view.board.home(puzzle.seat)) {
            (Card::Joker, _) => "joker",
            (_, true) => "partner's piece",
            (Card::Seven, _) => "seven",
            _ => "play",
        }
    }

    #[test]
    fn what_is_published_is_what_it_says() {
        let puzzles = published();
        let (mut kinds, mut plain) = (BTreeSet::new(), 0);
        for puzzle in &puzzles {
            let rules: Rules = puzzle.rules.parse().expect("rules");
            kinds.insert(kind(puzzle, &rules));
            plain += usize::from(is_plain(puzzle, &rules));
            let mut cards = puzzle.hand.clone();
            cards.dedup();
            assert!(cards.len() >= 2, "{puzzle:?}");
            let (best, others) = puzzle.answers.split_first().expect("answers");
            assert!(!others.is_empty() && best.estimate.difference == 0.0);
            for other in others {
                let estimate = &other.estimate;
                let error = estimate.difference_error.unwrap_or(0.0);
                assert!(estimate.difference >= GAP.max(ERRORS * error), "{puzzle:?}");
            }
            assert!(puzzle.difficulty >= 15, "greedy is wrong in at least half");
        }
        // The first weeks were published before that was asked.
        assert!(puzzles.iter().skip(WITHOUT_REASON).all(has_reason));
        assert!(2 * plain >= puzzles.len());
        assert_eq!(kinds.len(), 5, "{kinds:?}");
        let (first, rest) = puzzles.split_at(FIRST_WEEK);
        for week in [first].into_iter().chain(rest.chunks(WEEK)) {
            assert!(week.is_sorted_by_key(|puzzle| puzzle.difficulty));
        }
        assert_eq!(rest.len() % WEEK, 0);
    }

    #[test]
    fn weeks_are_added_at_the_end() {
        let puzzles = published();
        let found: Vec<Puzzle> = puzzles.iter().rev().cloned().collect();
        let first = more_weeks(&[], found.clone()).expect("weeks");
        assert!(first.len() % WEEK == FIRST_WEEK && first.len() > WEEK);
        let again = more_weeks(&first, found).expect("weeks");
        assert!(again.is_empty() || again.iter().all(|puzzle| !first.contains(puzzle)));
        assert_eq!(again.len() % WEEK, 0);
    }

    #[test]
    fn a_game_has_the_same_puzzles_each_time() {
        let nets = Nets::built_in();
        let mut finder = PuzzleFinder::new(&nets, 300).expect("the players are known");
        let games = (0..).map(|number| (number, finder.game(1, number)));
        let mut games = games.filter(|(_, found)| !found.is_empty());
        let (number, found) = games.next().expect("a game with a puzzle");
        let mut again = PuzzleFinder::new(&nets, 300).expect("the players are known");
        assert_eq!(found, again.game(1, number));
        for puzzle in &found {
            let rules = puzzle.rules.parse().expect("rules");
            let view = puzzle.view(&rules).expect("a position");
            assert_eq!(Puzzle::new(&view).known, puzzle.known);
        }
    }
}
