//! Thinking ahead: every choice once, within the budget, the same again.

use std::{collections::HashSet, time::Duration};

use dog_rules::{Card, Cards, Generator, Options, Preset, Rules, SevenPartner};
use rand::{rngs::ChaCha8Rng, seq::SliceRandom};

use super::*;
use crate::{
    net::evaluator,
    testing::{board, cards, nets, random_board, random_rules, rng, seat, view},
};

fn think_by(method: SearchConfig, view: &SeatView, budget: Budget) -> Vec<CandidateStats> {
    Searcher::new(nets(), method).think(view, budget, &mut rng(1))
}

fn think(view: &SeatView, budget: Budget) -> Vec<CandidateStats> {
    think_by(SearchConfig::default(), view, budget)
}

/// Shows views of random positions by random rules: mostly to play, some in the exchange.
fn positions(number: u32, mut show: impl FnMut(&SeatView)) {
    let mut rng = rng(3);
    for number in 0..number {
        let rules = random_rules(&mut rng);
        let mut view = SeatView {
            exchanging: number % 8 == 0,
            ..self::view(&rules, &vec![""; usize::from(rules.seats)], "2")
        };
        view.board = random_board(&rules, &mut rng);
        view.hand = hand(&rules, &mut rng);
        view.counts = dog_rules::seat::BySeat::from_fn(|_| view.hand.len());
        view.seat = seat(rng.random_range(0..rules.seats), &rules);
        if view.board.winner(&rules).is_none() {
            show(&view);
        }
    }
}

fn hand(rules: &Rules, rng: &mut ChaCha8Rng) -> Cards {
    let mut deck: Vec<Card> = rules.deck().sorted().collect();
    deck.shuffle(rng);
    deck[..rng.random_range(1..=6)].iter().copied().collect()
}

/// Everything that may be chosen, as the rules have it.
fn choices(view: &SeatView) -> HashSet<String> {
    let name = |candidate: Candidate| format!("{candidate:?}");
    if view.exchanging {
        let answers = evaluator::answers(view).into_iter();
        return answers
            .map(|choice| name(Candidate::Answer(choice)))
            .collect();
    }
    let mut generator = Generator::new();
    let mut choices = HashSet::new();
    for card in view.hand.ranks() {
        let mut boards = Vec::new();
        generator.boards_of_card(view.rules, &view.board, view.seat, card, &mut boards);
        let plays = boards.into_iter().map(|board| Candidate::Play(card, board));
        choices.extend(plays.map(name));
    }
    if choices.is_empty() {
        choices.insert(name(Candidate::Fold));
    }
    choices
}

/// The candidates, each of which must be there once.
fn candidates(thoughts: &[CandidateStats]) -> HashSet<String> {
    let names = thoughts
        .iter()
        .map(|thought| format!("{:?}", thought.candidate));
    let found: HashSet<String> = names.collect();
    assert_eq!(found.len(), thoughts.len());
    found
}

fn samples(thoughts: &[CandidateStats]) -> u32 {
    thoughts.iter().map(|thought| thought.samples).sum()
}

#[test]
fn every_choice_is_thought_of_once() {
    let (mut folds, mut looked_at) = (0, 0);
    positions(50, |view| {
        for most in [0, 1, 9] {
            let thoughts = think(view, Budget::Samples(most));
            assert_eq!(candidates(&thoughts), choices(view));
            assert!(samples(&thoughts) <= most.max(1));
            for thought in &thoughts {
                assert!((0.0..=1.0).contains(&thought.win_probability(4.0)));
                assert!((0.0..=1.0).contains(&thought.risk().unwrap_or_default()));
                assert_eq!(thought.risk().is_some(), thought.samples > 0);
                assert_eq!(thought.standard_error().is_some(), thought.samples > 1);
            }
            looked_at += samples(&thoughts);
            folds += u32::from(thoughts[0].candidate == Candidate::Fold);
        }
    });
    assert!(looked_at > 200 && folds > 3, "{looked_at}, {folds}");
}

/// The candidates looked at to the end come in the order of what was found.
#[test]
fn the_best_comes_first() {
    positions(40, |view| {
        let method = SearchConfig {
            candidates: 2,
            ..SearchConfig::default()
        };
        let thoughts = think_by(method, view, Budget::Samples(10));
        let [first, second, ..] = &thoughts[..] else {
            return;
        };
        assert!(first.win_probability(method.prior) >= second.win_probability(method.prior));
        // Beyond those, the net's word alone.
        let logits: Vec<f32> = thoughts[2..].iter().map(|thought| thought.logit).collect();
        assert!(logits.is_sorted_by(|one, other| one >= other));
        assert_eq!(samples(&thoughts[2..]), 0);
    });
}

#[test]
fn the_same_luck_is_the_same_thought() {
    let told = |thoughts: Vec<CandidateStats>| -> Vec<_> {
        let tell = |thought: &CandidateStats| {
            let chance = thought.win_probability(4.0).to_bits();
            (format!("{:?}", thought.candidate), thought.samples, chance)
        };
        thoughts.iter().map(tell).collect()
    };
    let mut differ = 0;
    positions(20, |view| {
        let mut searcher = Searcher::new(nets(), SearchConfig::default());
        let budget = Budget::Samples(8);
        let first = told(searcher.think(view, budget, &mut rng(5)));
        // A thinker that has thought before thinks as a new one does.
        assert_eq!(first, told(searcher.think(view, budget, &mut rng(5))));
        let mut new = Searcher::new(nets(), SearchConfig::default());
        assert_eq!(first, told(new.think(view, budget, &mut rng(5))));
        differ += u32::from(first != told(new.think(view, budget, &mut rng(6))));
    });
    assert!(differ > 5, "{differ}");
}

#[test]
fn a_won_game_is_seen_at_once() {
    let rules = Preset::DogspielIt.rules();
    let last = ["g0 g1 g2 g3", "20", "30 g1 g2 g3", ""];
    let view = view(&rules, &last, "3 9 joker");
    for budget in [
        Budget::Samples(20),
        Budget::Samples(1),
        Budget::Time(Duration::ZERO),
    ] {
        let best = think(&view, budget).swap_remove(0);
        let Candidate::Play(_, after) = best.candidate else {
            panic!("{best:?}");
        };
        assert!(after.team_home(&rules, view.seat));
        assert_eq!(best.win_probability(4.0), 1.0);
        assert_eq!(best.samples, 0);
    }
}

#[test]
fn sevens_without_end_are_thought_of_in_few_samples() {
    let options = Options {
        seven_partner: SevenPartner::Always,
        ..Preset::DogspielIt.options()
    };
    let rules = Rules::try_from(options).unwrap();
    let mut view = view(&rules, &["5 14 23 33", "1", "8 19 28 40", "62"], "7 joker");
    let all = choices(&view);
    assert!(all.len() > 2_000, "{}", all.len());
    let thoughts = think(&view, Budget::Samples(3));
    assert_eq!(candidates(&thoughts), all);
    assert_eq!(samples(&thoughts), 3);
    // With no time at all some of them, and an answer nevertheless.
    let thoughts = think(&view, Budget::Time(Duration::ZERO));
    assert!(candidates(&thoughts).is_subset(&all));
    assert!(!thoughts.is_empty() && thoughts.len() < all.len());
    view.hand = cards("7");
    view.board = board(&rules, &["", "1", "", "62"]);
    let fold = think(&view, Budget::Time(Duration::ZERO));
    assert_eq!(fold.len(), 1);
    assert_eq!(fold[0].candidate, Candidate::Fold);
}

/// The parts of the method can be left out one by one.
#[test]
fn every_method_comes_to_an_end() {
    let whole = SearchConfig::default();
    let methods = [
        SearchConfig {
            candidates: 1,
            ..whole
        },
        SearchConfig {
            candidates: usize::MAX,
            ..whole
        },
        SearchConfig {
            margin: 0.0,
            ..whole
        },
        SearchConfig {
            margin: f32::INFINITY,
            ..whole
        },
        SearchConfig {
            plies: Some(0),
            ..whole
        },
        SearchConfig {
            plies: Some(1),
            to_round_end: false,
            ..whole
        },
        SearchConfig {
            plies: Some(30),
            to_round_end: false,
            ..whole
        },
        SearchConfig {
            prior: 0.0,
            ..whole
        },
        SearchConfig {
            weighing: 0,
            ..whole
        },
        SearchConfig {
            weighing: 1,
            ..whole
        },
    ];
    positions(12, |view| {
        for method in methods {
            let thoughts = think_by(method, view, Budget::Samples(5));
            assert_eq!(candidates(&thoughts), choices(view));
            let looked_at = thoughts.iter().filter(|thought| thought.samples > 0);
            assert!(looked_at.count() <= method.candidates, "{method:?}");
            let none = thoughts.len() < 2 || method.candidates == 1 || method.margin == 0.0;
            assert!(!none || samples(&thoughts) == 0, "{method:?}");
        }
    });
}

/// Thoughts that came to these values.
fn thoughts_of(values: [&[f64]; 2]) -> [CandidateStats; 2] {
    values.map(|values| {
        let mut thought = CandidateStats::new(Candidate::Fold, 0.0);
        values.iter().for_each(|&value| thought.add(value, false));
        thought
    })
}

/// With the same luck it is the differences that count, however far the values themselves scatter.
#[test]
fn what_is_surely_worse_is_told_deal_by_deal() {
    let luck: Vec<f64> = (0..40).map(|deal| f64::from(deal % 10) / 10.0).collect();
    let less: Vec<f64> = luck.iter().map(|value| value - 0.01).collect();
    let [better, worse] = thoughts_of([&luck, &less]);
    assert!(worse.surely_worse(&better, 3.0) && !better.surely_worse(&worse, 3.0));
    assert!(!worse.surely_worse(&better, f64::INFINITY));
    let [one, same] = thoughts_of([&luck, &luck]);
    assert!(!one.surely_worse(&same, 3.0));
    // Without common luck as small a difference says nothing.
    let turned: Vec<f64> = less.iter().rev().copied().collect();
    let [better, worse] = thoughts_of([&luck, &turned]);
    assert!(!worse.surely_worse(&better, 3.0));
    // One deal says nothing either.
    let [better, worse] = thoughts_of([&[0.9], &[0.1]]);
    assert!(!worse.surely_worse(&better, 0.0));
    // Differences of 0, 2, 0, 2 … have a mean of 1 and, of 40, a standard error of 1 / √39.
    let uneven: Vec<f64> = (0..40).map(|deal| f64::from(deal % 2) * 2.0).collect();
    let [better, worse] = thoughts_of([&uneven, &[0.0; 40]]);
    assert!(worse.surely_worse(&better, 6.2) && !worse.surely_worse(&better, 6.3));
}

/// Who only wants to know what is best stops when that is clear; advice takes its whole budget.
#[test]
fn choosing_ends_when_it_is_clear() {
    let (mut whole, mut shorter, mut same) = (0, 0, 0);
    positions(12, |view| {
        let budget = Budget::Samples(64);
        let advice = think(view, budget);
        let chosen = think_by(SearchConfig::for_play(), view, budget);
        assert_eq!(candidates(&advice), candidates(&chosen));
        if samples(&advice) > 0 {
            assert_eq!(samples(&advice), 64);
            whole += 1;
            shorter += u32::from(samples(&chosen) < 64);
            same += u32::from(advice[0].candidate == chosen[0].candidate);
        }
    });
    assert!(whole > 5 && shorter > 0, "{shorter} of {whole}");
    assert!(same > whole / 2, "{same} of {whole}");
}

/// The next seat has a single card, known to be a five, and a single piece to play it with.
#[test]
fn a_piece_that_will_be_captured_is_at_risk() {
    let rules = Preset::DogspielIt.rules();
    let mut view = view(&rules, &["20", "17", "", ""], "2 3");
    let [next, partner, last] = [1, 2, 3].map(|number| seat(number, &rules));
    view.counts[next] = 1;
    view.counts[partner] = 0;
    view.counts[last] = 0;
    view.known[next] = cards("5");
    let method = SearchConfig {
        margin: 30.0,
        ..SearchConfig::default()
    };
    let thoughts = think_by(method, &view, Budget::Samples(10));
    assert_eq!(samples(&thoughts), 10);
    let risk = |card: Card| {
        let of_card = |thought: &&CandidateStats| matches!(thought.candidate, Candidate::Play(c, _) if c == card);
        thoughts.iter().find(of_card).and_then(CandidateStats::risk)
    };
    assert_eq!((risk(Card::Two), risk(Card::Three)), (Some(1.0), Some(0.0)));
    assert!(matches!(
        thoughts[0].candidate,
        Candidate::Play(Card::Three, _)
    ));
}
