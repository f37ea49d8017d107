//! The arena: what makes a match fair and repeatable, and its command.

use std::{
    io::Write,
    num::NonZeroUsize,
    ops::ControlFlow,
    process::{Command, Output, Stdio},
    sync::{Arc, Mutex},
};

use dog_bot::{Choice, Level, advise, net::nets::Nets};
use dog_lab::{
    arena::{Match, MatchTotals, PlayerFactory, Sprt, SprtDecision, run_match},
    games::MAX_TURNS,
    player::{BeginnerPlayer, LevelPlayer, PlayerSpec, Policy, SeatDecision},
};
use dog_rules::{Board, Preset, Rules};
use rand::rngs::ChaCha8Rng;

fn rules(preset: Preset, seats: u8) -> Rules {
    let text = format!("{} seats={seats}", preset.name());
    text.parse().expect("rules")
}

fn random() -> Box<dyn Policy> {
    Box::new(LevelPlayer(Level::Random))
}

fn greedy() -> Box<dyn Policy> {
    Box::new(LevelPlayer(Level::Greedy))
}

fn beginner() -> Box<dyn Policy> {
    Box::new(BeginnerPlayer)
}

/// A match on two threads.
fn plan<'a>(rules: &'a Rules, players: [&'a PlayerFactory<'a>; 2], pairs: u32) -> Match<'a> {
    Match {
        rules,
        teams: players.map(|player| [player; 2]),
        is_mixed: false,
        nets: None,
        pairs,
        seed: 3,
        threads: NonZeroUsize::new(2).expect("not zero"),
    }
}

fn play(plan: &Match) -> MatchTotals {
    run_match(plan, |_| ControlFlow::Continue(()))
}

/// The part of the result that does not depend on the clock.
fn result(tally: &MatchTotals) -> (Vec<u32>, [u64; 2], [u64; 2]) {
    let decisions = tally.thinking.map(|thinking| thinking.decisions);
    (tally.scores().to_vec(), tally.wins, decisions)
}

#[test]
fn a_player_against_itself_splits_every_pair() {
    for preset in Preset::ALL {
        for player in [random, greedy] {
            let (four, six) = (rules(preset, 4), rules(preset, 6));
            let tally = play(&plan(&four, [&player, &player], 6));
            assert_eq!(tally.scores(), [0, 0, 6, 0, 0], "{preset:?}");
            assert_eq!(tally.wins, [6, 6]);
            let [a, b] = tally.thinking;
            assert_eq!(a.decisions, b.decisions, "{preset:?}");
            let tally = play(&plan(&six, [&player, &player], 2));
            assert_eq!(tally.scores(), [0, 0, 0, 2, 0, 0, 0, 0, 0, 0], "{preset:?}");
            assert_eq!(tally.wins, [2, 4]);
        }
    }
}

#[test]
fn a_mixed_team_against_itself_splits_every_pair() {
    for preset in Preset::ALL {
        let (four, six) = (rules(preset, 4), rules(preset, 6));
        let mixed = |plan| Match {
            teams: [[&greedy, &random]; 2],
            is_mixed: true,
            ..plan
        };
        let tally = play(&mixed(plan(&four, [&greedy, &random], 4)));
        assert_eq!((tally.scores()[4], tally.wins), (4, [8, 8]), "{preset:?}");
        let tally = play(&mixed(plan(&six, [&greedy, &random], 2)));
        assert_eq!((tally.scores()[6], tally.wins), (2, [4, 8]), "{preset:?}");
    }
}

/// A player's name, its seat and its first hand.
type Beginning = (&'static str, u8, String);

/// Plays at random, and notes with which hand it begins.
struct Witness {
    name: &'static str,
    begun: Arc<Mutex<Vec<Beginning>>>,
}

impl Policy for Witness {
    fn choose(&mut self, decision: &SeatDecision, rng: &mut ChaCha8Rng) -> Choice {
        let view = &decision.view;
        if view.round == 1 && view.exchanging {
            let hand = format!("{:?}", view.hand);
            let mut begun = self.begun.lock().expect("no panic");
            begun.push((self.name, view.seat.number(), hand));
        }
        LevelPlayer(Level::Random).choose(decision, rng)
    }
}

#[test]
fn each_player_of_a_mixed_team_has_each_hand_once() {
    for seats in [4, 6] {
        let rules = rules(Preset::DogspielIt, seats);
        let begun = Arc::<Mutex<Vec<_>>>::default();
        let witness = |name| -> Box<dyn Policy> {
            let begun = Arc::clone(&begun);
            Box::new(Witness { name, begun })
        };
        let (first, second) = (|| witness("first"), || witness("second"));
        let tally = play(&Match {
            teams: [[&first, &second], [&random, &random]],
            is_mixed: true,
            ..plan(&rules, [&random, &random], 1)
        });
        assert_eq!(tally.wins.iter().sum::<u64>(), u64::from(seats));
        let mut begun = begun.lock().unwrap().clone();
        begun.sort();
        begun.dedup();
        let (firsts, seconds) = begun.split_at(seats.into());
        assert_eq!(seconds.len(), usize::from(seats));
        for (number, (first, second)) in (0..seats).zip(firsts.iter().zip(seconds)) {
            assert_eq!(*first, ("first", number, first.2.clone()));
            assert_eq!(*second, ("second", number, first.2.clone()));
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let rules = rules(Preset::Hausregeln, 4);
    let sprt = Sprt::new(0.9, 0.95, 0.05, 0.05).unwrap();
    let matches = [1, 2, 3].map(|threads| {
        let plan = Match {
            threads: NonZeroUsize::new(threads).unwrap(),
            ..plan(&rules, [&greedy, &random], 200)
        };
        let stopped = run_match(&plan, |tally| match sprt.decide(tally.scores()) {
            SprtDecision::Undecided => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        });
        assert!(stopped.pairs() < 200, "the test decides");
        let plan = Match { pairs: 30, ..plan };
        (result(&play(&plan)), result(&stopped))
    });
    assert_eq!(matches[0], matches[1]);
    assert_eq!(matches[0], matches[2]);
}

#[test]
fn another_seed_is_another_match() {
    let rules = rules(Preset::DogspielIt, 4);
    let first = plan(&rules, [&random, &random], 10);
    let second = Match { seed: 4, ..first };
    let decisions = |plan: &Match| play(plan).thinking[0].decisions;
    assert_ne!(decisions(&first), decisions(&second));
}

#[test]
fn a_beginner_is_between_random_and_greedy() {
    let rules = rules(Preset::DogspielIt, 4);
    let tally = play(&plan(&rules, [&beginner, &random], 30));
    assert!(tally.interval().low > 0.6, "{tally:?}");
    let tally = play(&plan(&rules, [&beginner, &greedy], 30));
    assert!(tally.interval().high < 0.4, "{tally:?}");
}

/// It also sees what the others hold; what it does is legal all the same.
#[test]
fn an_oracle_plays_a_match() {
    for spec in ["oracle:samples=6", "oracle:samples=6:sees=hands"] {
        let rules = rules(Preset::Hausregeln, 4);
        let oracle = spec.parse::<PlayerSpec>().expect("a player");
        let tally = play(&plan(&rules, [&|| oracle.build(), &greedy], 2));
        assert!(tally.mean() > 0.5, "{spec}: {tally:?}");
    }
}

/// Keeps its pieces out of the goal as long as possible.
struct Dawdler {
    nets: Nets,
}

impl Policy for Dawdler {
    fn choose(&mut self, decision: &SeatDecision, rng: &mut ChaCha8Rng) -> Choice {
        let SeatDecision { view, models, .. } = decision;
        let home = |board: Board| -> usize {
            let placements = board.placements(view.rules);
            placements.iter().map(|seat| seat.goal.len()).sum()
        };
        let choices =
            advise(&self.nets, Level::Random, None, view, models, &|| true, rng).into_iter();
        let best = choices.min_by_key(|choice| choice.outcome.map(|outcome| home(outcome.board)));
        best.expect("a choice").choice
    }
}

#[test]
fn endless_games_are_abandoned() {
    let nets = Nets::built_in();
    let dawdler = || -> Box<dyn Policy> { Box::new(Dawdler { nets: nets.clone() }) };
    let rules = rules(Preset::DogspielIt, 4);
    let tally = play(&plan(&rules, [&dawdler, &dawdler], 2));
    assert_eq!((tally.wins, tally.unfinished), ([0, 0], 4));
    assert_eq!(tally.mean(), 0.5);
    let [a, b] = tally.thinking;
    assert!(a.decisions + b.decisions >= 4 * u64::from(MAX_TURNS));
}

/// Plays illegal moves.
struct Cheat;

impl Policy for Cheat {
    fn choose(&mut self, _: &SeatDecision, _: &mut ChaCha8Rng) -> Choice {
        Choice::Ask
    }
}

#[test]
#[should_panic(expected = "a scoped thread panicked")]
fn an_illegal_choice_ends_the_match_at_once() {
    let cheat = || -> Box<dyn Policy> { Box::new(Cheat) };
    // Built once. The other thread's players could go on for hours.
    let first = std::sync::Once::new();
    let player = || {
        let mut player = greedy();
        first.call_once(|| player = cheat());
        player
    };
    let rules = rules(Preset::DogspielIt, 4);
    play(&plan(&rules, [&player, &greedy], 10_000_000));
}

fn dog(arguments: &str) -> Output {
    let mut dog = Command::new(env!("CARGO_BIN_EXE_dog-lab"));
    dog.arg("arena").args(arguments.split_whitespace());
    dog.output().expect("dog runs")
}

#[test]
fn the_command_prints_a_line_for_each_of_the_rules() {
    let output = dog("greedy greedy --pairs 2 --rules all --rules hausregeln --sprt 0.4,0.5");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    assert_eq!(text.lines().count(), 1 + 6 * 4, "{text}");
    let variance = "of the margin: 0.000 (0.000 – 0.000)";
    assert_eq!(text.matches(variance).count(), 6, "{text}");
    assert_eq!(text.matches(" 50.00 ").count(), 6, "{text}");
    assert_eq!(text.matches("SPRT 0.4 or 0.5: undecided").count(), 6);
    let output = dog("greedy random --pairs 9 --json --sprt 0.1,0.9 --seed 5");
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(line["rules"], "dogspiel-it");
    assert_eq!(line["sprt"]["decision"], "H1");
    assert!(line["pairs"].as_u64().unwrap() < 9, "{line}");
    assert!(line["low"].as_f64() < line["score"].as_f64(), "{line}");
    assert!(line["variance_ratios"][1]["ratio"].is_f64(), "{line}");
}

/// The output of `dog-lab pool` for these lines.
fn pool(lines: &str) -> Output {
    let mut pool = Command::new(env!("CARGO_BIN_EXE_dog-lab"));
    pool.arg("pool")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut pool = pool.stderr(Stdio::piped()).spawn().expect("dog runs");
    let mut input = pool.stdin.take().expect("its input");
    input.write_all(lines.as_bytes()).expect("read");
    drop(input);
    pool.wait_with_output().expect("dog runs")
}

#[test]
fn parts_of_a_match_add_up() {
    let part = |seed: u64, pairs: u32, more: &str| {
        let output = dog(&format!(
            "greedy random --json --seed {seed} --pairs {pairs} {more}"
        ));
        String::from_utf8(output.stdout).unwrap()
    };
    let four = part(1, 3, "") + &part(2, 5, "");
    let all = four.clone() + &part(1, 2, "--rules hausregeln");
    let output = pool(&all);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let [first, second] = text.lines().collect::<Vec<_>>()[..] else {
        panic!("{text}");
    };
    let won = four.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["wins"][0].as_u64().unwrap()
    });
    let won: u64 = won.sum();
    let score = 100.0 * won as f64 / 16.0;
    assert!(first.contains("8 pairs (seeds 1, 2)"), "{first}");
    assert!(first.contains(&format!("score {score:.2}%")), "{first}");
    assert!(first.ends_with(&format!("games won {won} – {}", 16 - won)));
    assert!(second.starts_with("hausregeln: greedy – random: 2 pairs (seeds 1)"));

    let twice = part(1, 1, "") + &part(1, 2, "");
    let biased = part(1, 1, "--sprt 0.5,0.6");
    for (lines, message) in [
        (&*twice, "line 2: the seed 1 was played before"),
        (&*biased, "line 1: a match with a sequential test is biased"),
        ("{}", "line 1"),
        ("no line of the arena's", "line 1"),
    ] {
        let output = pool(lines);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success());
        assert!(error.contains(message), "{error}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn the_command_refuses_nonsense() {
    let players = "there is no player \"best\"; there are random, beginner, greedy, net";
    for (arguments, message) in [
        ("greedy best", players),
        ("greedy random --threads 0", "1 to 512"),
        ("greedy random --rules tock", "there is no preset \"tock\""),
        ("greedy random --sprt 0.5", "two scores are needed"),
        ("greedy random --sprt 0.6,0.5", "< 1, not 0.6 and 0.5"),
        ("greedy random --sprt 0.5,1.5", "0 < LOW < HIGH < 1"),
        (
            "greedy random --sprt 0.5,0.6 --alpha 0.5",
            "not 0.5 and 0.05",
        ),
        ("greedy random --alpha 0.1", "--sprt"),
        ("greedy random --pairs 0", "0 is not in 1.."),
    ] {
        let output = dog(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{arguments}");
        assert!(error.contains(message), "{arguments}: {error}");
        assert!(output.stdout.is_empty());
    }
}
