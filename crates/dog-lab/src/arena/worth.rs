//! What players' choices are worth, by a longer look than they had themselves.
//!
//! A match tells players of nearly the same strength apart only after thousands of games, and most
//! decisions of these both would take alike. Here they are asked at the same decisions of the same
//! games, with the same luck, and where they choose differently all that was chosen is compared in
//! many playouts, with the same deals.

use std::{
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use dog_bot::{
    Choice,
    search::{Budget, Candidate, Thinker},
};
use dog_rules::{moves::Generator, notation::Move, options::Rules, view::SeatView};
use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha8Rng};

use super::{
    PlayerSpec,
    duplicate::{play_out, set_up},
    games::each_game,
};
use crate::player::Player;

/// Streams of random numbers set aside for each game.
const STREAMS: u64 = 4;

/// What is to be looked at.
#[derive(Clone, Copy)]
pub struct Questions<'a> {
    pub rules: &'a Rules,
    /// Who is asked; the others are compared with the first.
    pub asked: &'a [PlayerSpec],
    /// Who plays the games, at all seats.
    pub playing: &'a PlayerSpec,
    /// Who takes the longer look: somebody who thinks ahead.
    pub judging: &'a PlayerSpec,
    pub games: u32,
    /// One decision in so many is asked about, by chance.
    pub every: u32,
    /// Everything random follows from it.
    pub seed: u64,
    pub threads: NonZeroUsize,
}

/// What the choices of one player were worth, compared with the first one's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worth {
    /// Decisions in which it chose differently.
    pub different: u32,
    /// By game: what its choices add to the chance of winning, 0 to 1 each, summed up over the
    /// decisions asked about.
    pub gains: Vec<f64>,
    /// How long it thought about all of them.
    pub time: Duration,
}

/// The decisions asked about, and what the choices of each player were worth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worths {
    pub decisions: u32,
    pub worths: Vec<Worth>,
}

/// What a player answered at one decision.
struct Answer {
    different: bool,
    gain: f64,
    time: Duration,
}

/// Plays the games and asks. With players that do not go by the clock all but the times is the
/// same on every machine.
///
/// # Panics
/// If who judges does not think ahead.
pub fn ask(questions: &Questions) -> Worths {
    let games = each_game(questions.games, questions.threads, |number| {
        game(questions, number)
    });
    let mut found = Worths {
        worths: vec![Worth::default(); questions.asked.len()],
        ..Worths::default()
    };
    for decisions in games {
        found.decisions += decisions.len() as u32;
        for (place, worth) in found.worths.iter_mut().enumerate() {
            let mut gained = 0.0;
            for answers in &decisions {
                let answer = &answers[place];
                worth.different += u32::from(answer.different);
                worth.time += answer.time;
                gained += answer.gain;
            }
            worth.gains.push(gained);
        }
    }
    found
}

/// Plays one game and asks at some of its decisions; what all answered at each.
fn game(questions: &Questions, number: u32) -> Vec<Vec<Answer>> {
    let stream = |stream: u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(questions.seed);
        rng.set_stream(u64::from(number) * STREAMS + stream);
        rng
    };
    let mut shuffle = [0; 32];
    stream(0).fill_bytes(&mut shuffle);
    let (mut playing, mut when, mut luck) = (stream(1), stream(2), stream(3));
    let mut player = questions.playing.build();
    let mut asked: Vec<_> = questions.asked.iter().map(PlayerSpec::build).collect();
    let judging = questions.judging.thinker();
    let (mut thinker, budget) = judging.expect("somebody who thinks ahead");
    let mut decisions = Vec::new();
    let mut game = set_up(questions.rules, shuffle);
    play_out(&mut game, |game, seat| {
        let view = game.seen_from(seat);
        if when.random_range(0..questions.every) == 0 {
            let answers = decision(&view, &mut asked, &mut thinker, budget, &mut luck);
            decisions.push(answers);
        }
        player.choose(&view, &mut playing).action(seat)
    });
    decisions
}

/// Asks everybody, and compares what they chose if it was not the same.
fn decision(
    view: &SeatView,
    asked: &mut [Box<dyn Player>],
    thinker: &mut Thinker,
    budget: Budget,
    luck: &mut ChaCha8Rng,
) -> Vec<Answer> {
    // Who decides alike is to choose alike.
    let own = luck.random();
    let choose = |player: &mut Box<dyn Player>| {
        let begin = Instant::now();
        let choice = player.choose(view, &mut ChaCha8Rng::seed_from_u64(own));
        let time = begin.elapsed();
        (candidate(view, choice), time)
    };
    let chosen: Vec<(Candidate, Duration)> = asked.iter_mut().map(choose).collect();
    let (first, _) = chosen[0];
    let mut thoughts = Vec::new();
    if chosen.iter().any(|&(candidate, _)| candidate != first) {
        thoughts = thinker.think_of(view, budget, luck, |candidate| {
            chosen.iter().any(|(chosen, _)| chosen == candidate)
        });
    }
    let worth = |candidate| {
        let found = thoughts
            .iter()
            .find(|thought| thought.candidate == candidate);
        found.expect("what was chosen").win_probability(0.0)
    };
    let answer = |(candidate, time)| {
        let different = candidate != first;
        let gain = if different {
            worth(candidate) - worth(first)
        } else {
            0.0
        };
        Answer {
            different,
            gain,
            time,
        }
    };
    chosen.into_iter().map(answer).collect()
}

/// A choice as the search sees it.
fn candidate(view: &SeatView, choice: Choice) -> Candidate {
    let mv = match choice {
        Choice::Play(Move::Fold) => return Candidate::Fold,
        Choice::Play(mv) => mv,
        answer => return Candidate::Answer(answer),
    };
    let legal = Generator::new().legal_moves(view.rules, &view.board, view.seat, view.hand);
    let found = legal.into_iter().find(|legal| legal.mv == mv);
    let card = mv.card().expect("a card that is played");
    Candidate::Play(card, found.expect("a legal move").board)
}

#[cfg(test)]
mod tests {
    use dog_rules::options::Preset;

    use super::*;
    use crate::arena::mean_and_error;

    fn asked(players: &[&str], judging: &str, games: u32, threads: usize) -> Worths {
        let spec = |text: &&str| text.parse::<PlayerSpec>().unwrap();
        ask(&Questions {
            rules: &Preset::Hausregeln.rules(),
            asked: &players.iter().map(spec).collect::<Vec<_>>(),
            playing: &spec(&"greedy"),
            judging: &spec(&judging),
            games,
            every: 12,
            seed: 1,
            threads: NonZeroUsize::new(threads).unwrap(),
        })
    }

    /// All but the times, which are the machine's.
    fn told(found: &Worths) -> (u32, Vec<(u32, Vec<f64>)>) {
        let told = |worth: &Worth| (worth.different, worth.gains.clone());
        (found.decisions, found.worths.iter().map(told).collect())
    }

    #[test]
    fn who_chooses_at_random_loses_by_it() {
        let found = asked(&["net", "random", "net"], "fast:samples=16", 8, 2);
        assert!(found.decisions > 50, "{}", found.decisions);
        let [first, random, again] = &found.worths[..] else {
            panic!("{found:?}");
        };
        assert_eq!((first.different, again.different), (0, 0));
        assert!(
            first
                .gains
                .iter()
                .chain(&again.gains)
                .all(|&gain| gain == 0.0)
        );
        assert!(random.different > found.decisions / 4, "{random:?}");
        assert_eq!(random.gains.len(), 8);
        let (mean, error) = mean_and_error(&random.gains);
        assert!(mean < -2.0 * error, "{mean}, {error}");
    }

    /// What is found depends on neither the threads nor who else is asked.
    #[test]
    fn the_same_seed_finds_the_same() {
        let judging = "fast:samples=4";
        let one = asked(&["net", "random"], judging, 3, 1);
        assert_eq!(told(&one), told(&asked(&["net", "random"], judging, 3, 3)));
        let turned = asked(&["random", "net"], judging, 3, 1);
        assert_eq!(one.worths[1].different, turned.worths[1].different);
        let opposite = |gain: &f64| 0.0 - gain;
        let gains: Vec<f64> = turned.worths[1].gains.iter().map(opposite).collect();
        let close = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-9;
        assert!(one.worths[1].gains.iter().zip(&gains).all(close));
    }
}
