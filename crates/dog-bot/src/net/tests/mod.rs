//! The net compared with a plain calculation, and the evaluator's use of it.

use std::collections::HashSet;

use dog_rules::{Board, Card, Cards, Generator, Phase, Playout, Preset, Seat, SeatView};
use rand::{Rng, RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};

use super::{
    evaluator::{self, NetEvaluator, Scratch, WON},
    inputs::{AfterChoice, HandInfo, InputLayout, Inputs},
    *,
};
use crate::{
    Choice,
    search::answer,
    testing::{naive_logit, random_inputs, random_net, random_rules, rng, view},
};

mod card_effects;
mod differences;
mod inputs;

/// Calls `show` with the views of the seats to act in random games under random rules.
fn views(seed: u64, games: usize, mut show: impl FnMut(&SeatView, &mut ChaCha8Rng)) {
    let mut rng = rng(seed);
    for _ in 0..games {
        let rules = random_rules(&mut rng);
        let beginner = Seat::all(rules.seats).nth(rng.random_range(0..4));
        let mut game = Playout::new(&rules, beginner.expect("a seat"));
        for _ in 0..8 {
            let turns = rng.random_range(1..50);
            game.play_on(&mut rng, turns);
            match game.phase() {
                Phase::Finished => break,
                Phase::Play => show(&game.seen_from(game.turn()), &mut rng),
                _ => exchange(&mut game, &mut rng, &mut show),
            }
        }
    }
}

/// Deals, and calls `show` with what the seats see before they answer.
fn exchange(
    game: &mut Playout,
    rng: &mut ChaCha8Rng,
    mut show: impl FnMut(&SeatView, &mut ChaCha8Rng),
) {
    game.deal(rng);
    while game.phase() == Phase::Exchange {
        for seat in game.rules().ring().seats() {
            let view = game.seen_from(seat);
            if let Some(&choice) = Choice::answers(&view).choose(rng) {
                show(&view, rng);
                answer(game, seat, choice);
            }
        }
    }
}

/// The inputs of a view after this choice, which led to this board.
fn list(view: &SeatView, stage: AfterChoice, kept: HandInfo, board: &Board) -> Vec<Input> {
    let layout = InputLayout::new(view.rules.seats);
    let inputs = Inputs::new(&layout, view, stage);
    let mut list = Vec::new();
    inputs.cards(kept, &mut list);
    inputs.board(board, kept, &mut list);
    list
}

/// An evaluator for each number of seats, 4 and 6, with a random net.
fn evaluators(rng: &mut impl Rng) -> [NetEvaluator; 2] {
    [4, 6].map(|seats| {
        let layout = InputLayout::new(seats);
        let net = random_net(layout.inputs(), rng);
        NetEvaluator { layout, net }
    })
}

/// The logit with all these inputs added up at once.
fn full_logit(
    evaluator: &NetEvaluator,
    inputs: &[Input],
    stage: AfterChoice,
    kept: HandInfo,
) -> f32 {
    let net = &evaluator.net;
    net.logit(&net.first_bias, inputs, stage.head(kept.count()))
}

fn close(found: f32, expected: f32) -> bool {
    (found - expected).abs() < 1e-4
}

#[test]
fn probabilities_are_those_of_the_logistic_function() {
    for step in -300..=300 {
        let logit = step as f32 / 10.0;
        let exact = 1.0 / (1.0 + f64::from(-logit).exp());
        let error = (f64::from(probability(logit)) - exact).abs();
        assert!(error < 1e-6, "{logit}: {error}");
    }
    assert!(probability(f32::INFINITY) > 0.999_999);
}

#[test]
fn the_net_matches_its_definition() {
    let mut rng = rng(1);
    for game in 0..60 {
        let net = random_net(50, &mut rng);
        let inputs = random_inputs(50, &mut rng);
        let head = game % HEADS;
        let whole = net.logit(&net.first_bias, &inputs, head);
        let exact = naive_logit(&net, &inputs, head);
        assert!((f64::from(whole) - exact).abs() < 1e-4, "{whole}, {exact}");
        // What is added beforehand and what later makes no difference.
        for part in [0, inputs.len() / 3, inputs.len()] {
            let (common, rest) = inputs.split_at(part);
            for (first, then) in [(common, rest), (rest, common)] {
                let added = net.logit(&net.more(&net.first_bias, first), then, head);
                assert!(close(added, whole), "{added}, {whole}");
            }
        }
    }
}

#[test]
fn blocks_are_all_weights() {
    let mut net = Net::zero(7);
    for weight in net.blocks_mut().flatten() {
        *weight += 1.0;
    }
    let weights = 8 * HIDDEN + HEADS * (HIDDEN * HIDDEN_2 + 2 * HIDDEN_2 + 1);
    assert_eq!(net.blocks().map(<[f32]>::len).sum::<usize>(), weights);
    assert!(net.blocks().flatten().all(|&weight| weight == 1.0));
}

/// The exchange and the ends of rounds have heads of their own. Plays have a head by the number of
/// kept cards.
#[test]
fn heads_follow_the_choice_and_the_cards() {
    let play_logit = [0, 1, 2, 3, 4, 5, 6].map(|kept| AfterChoice::Played.head(kept));
    assert_eq!(play_logit, [0, 0, 1, 1, 2, 2, 2]);
    let offered = AfterChoice::Offered(Card::Ace);
    for stage in [offered, AfterChoice::Declined, AfterChoice::Asked] {
        assert!((0..=6).all(|kept| stage.head(kept) == 3));
    }
    assert_eq!(AfterChoice::RoundOver.head(0), HEADS - 1);
}

#[test]
fn every_play_is_evaluated_once() {
    let evaluators = evaluators(&mut rng(2));
    let (mut generator, mut scratch) = (Generator::new(), Scratch::default());
    let (mut plays, mut won) = (0, 0);
    let mut check = |view: &SeatView| {
        let evaluator = &evaluators[usize::from(view.rules.seats == 6)];
        let mut expected = Vec::new();
        for card in view.hand.ranks() {
            let mut boards = Vec::new();
            generator.boards_of_card(view.rules, &view.board, view.seat, card, &mut boards);
            expected.extend(boards.into_iter().map(|board| (card, board)));
        }
        let mut found = Vec::new();
        evaluator.plays(view, &mut scratch, |card, board, logit| {
            let mut kept = view.hand;
            kept.remove(card);
            let kept = HandInfo::Known(kept);
            let inputs = list(view, AfterChoice::Played, kept, board);
            if board.team_home(view.rules, view.seat) {
                won += 1;
                assert_eq!(logit, WON);
            } else if found.len() < 50 {
                let whole = full_logit(evaluator, &inputs, AfterChoice::Played, kept);
                assert!(close(logit, whole), "{logit}, {whole}");
            }
            found.push((card, *board));
            true
        });
        assert_eq!(found, expected);
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), found.len());
        plays += found.len();
    };
    let rules = Preset::DogspielIt.rules();
    let last = ["g0 g1 g2 g3", "20", "30 g1 g2 g3", ""];
    check(&view(&rules, &last, "3 9 joker"));
    views(3, 60, |view, _| {
        if !view.exchanging {
            check(view);
        }
    });
    assert!(plays > 1_000 && won > 0, "{plays} plays, {won} of them won");
}

#[test]
fn evaluation_stops_on_request() {
    let [evaluator, _] = evaluators(&mut rng(2));
    let rules = Preset::DogspielIt.rules();
    let view = view(&rules, &["20 30", "40", "", ""], "7 K");
    let mut seen = 0;
    evaluator.plays(&view, &mut Scratch::default(), |_, _, _| {
        seen += 1;
        false
    });
    assert_eq!(seen, 1);
}

#[test]
fn every_answer_is_evaluated() {
    let evaluators = evaluators(&mut rng(4));
    let mut scratch = Scratch::default();
    let mut asked = 0;
    views(5, 60, |view, _| {
        if !view.exchanging {
            return;
        }
        let evaluator = &evaluators[usize::from(view.rules.seats == 6)];
        let answers = evaluator.answers(view, &mut scratch);
        let choices: Vec<_> = answers.iter().map(|&(choice, _)| choice).collect();
        assert_eq!(choices, Choice::answers(view));
        let mut highest = f32::NEG_INFINITY;
        for &(choice, logit) in &answers {
            let (stage, kept) = evaluator::after(view, choice);
            let kept = HandInfo::Known(kept);
            let inputs = list(view, stage, kept, &view.board);
            assert!(close(logit, full_logit(evaluator, &inputs, stage, kept)));
            highest = highest.max(logit);
            asked += u32::from(stage == AfterChoice::Asked);
        }
        assert_eq!(evaluator.best_answer(view, &mut scratch).1, highest);
    });
    assert!(asked > 0);
}

/// The value of a card in somebody else's hand must not depend on one's own hand.
#[test]
fn best_of_cards_ignores_the_hand() {
    let evaluators = evaluators(&mut rng(6));
    let (mut generator, mut scratch) = (Generator::new(), Scratch::default());
    views(7, 20, |view, _| {
        let evaluator = &evaluators[usize::from(view.rules.seats == 6)];
        let mut nobody = view.clone();
        nobody.hand = Cards::EMPTY;
        let kept = HandInfo::Count(view.counts[view.seat] - 1);
        let found = evaluator.best_of_cards(view, &mut scratch);
        for card in Card::RANKS {
            let mut boards = Vec::new();
            generator.boards_of_card(view.rules, &view.board, view.seat, card, &mut boards);
            let logits = boards.iter().map(|board| {
                if board.team_home(view.rules, view.seat) {
                    return WON;
                }
                let inputs = list(&nobody, AfterChoice::Played, kept, board);
                full_logit(evaluator, &inputs, AfterChoice::Played, kept)
            });
            let best = logits.reduce(f32::max);
            assert!(match (found[card as usize], best) {
                (Some(found), Some(best)) => close(found, best),
                (found, best) => found.is_none() && best.is_none(),
            });
        }
        let best = Card::RANKS.map(|card| found[card as usize]);
        let best = best.into_iter().flatten().reduce(f32::max);
        assert_eq!(found[Card::Joker as usize], best);
    });
}

/// Also for a clone, and with few or no rows.
#[test]
fn rows_start_at_a_cache_line() {
    for count in [0, 1, 7, 300] {
        let mut rows = WeightMatrix::<32>::zero(count);
        assert_eq!(*rows, *vec![[0.0; 32]; count]);
        for (number, row) in rows.iter_mut().enumerate() {
            *row = [number as f32; 32];
        }
        let copy = rows.clone();
        assert_eq!(rows, copy);
        for row in rows.iter().chain(copy.iter()) {
            assert_eq!(row.as_ptr().addr() % 64, 0);
        }
        if let Some(last) = rows.last_mut() {
            last[31] += 1.0;
            assert_ne!(rows, copy);
        }
    }
}
