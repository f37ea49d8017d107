//! The speed of the value net, on one core. `cargo bench --bench net`.

use std::{hint::black_box, time::Duration};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dog_bot::net::{
    evaluator::{IncrementalSums, Scratch},
    inputs::{AfterChoice, HandInfo, Inputs},
    nets::Nets,
};
use dog_rules::{Options, Phase, Playout, Preset, Rules, Seat, SeatView};
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};

criterion_group! {
    name = net;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .without_plots();
    targets = evaluations
}
criterion_main!(net);

/// The rules of every preset for this many seats.
fn rules(seats: u8) -> Vec<Rules> {
    let rules = |preset: Preset| {
        Rules::try_from(Options {
            seats,
            ..preset.options()
        })
    };
    Preset::ALL
        .map(|preset| rules(preset).expect("possible rules"))
        .into()
}

/// What the seats to move see throughout random games.
fn views(rules: &[Rules]) -> Vec<SeatView<'_>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut views = Vec::new();
    for rules in rules {
        let mut game = Playout::new(rules, Seat::default());
        while game.winner().is_none() {
            game.play_on(&mut rng, 17);
            if game.phase() == Phase::Play {
                views.push(game.seen_from(game.turn()));
            }
        }
    }
    views
}

fn evaluations(criterion: &mut Criterion) {
    let nets = Nets::built_in();
    for seats in [4, 6] {
        let rules = rules(seats);
        let views = views(&rules);
        let mut group = criterion.benchmark_group(format!("net, {seats} seats"));
        let mut scratch = Scratch::default();
        let mut boards = 0;
        for view in &views {
            nets.for_rules(view.rules)
                .plays(view, &mut scratch, |_, _, _| {
                    boards += 1;
                    true
                });
        }
        // The cost of one board in a decision: the list of moves, the inputs and all three layers.
        group.throughput(Throughput::Elements(boards));
        group.bench_function("decisions, a board", |bencher| {
            bencher.iter(|| {
                for view in &views {
                    let mut best = f32::NEG_INFINITY;
                    let nets = nets.for_rules(view.rules);
                    nets.plays(view, &mut scratch, |_, _, logit| {
                        best = best.max(logit);
                        true
                    });
                    black_box(best);
                }
            });
        });
        // The net alone: all three layers of a board, by its differences from the one before.
        let mut evaluations = Vec::new();
        let mut number = 0;
        for view in &views {
            let evaluator = nets.for_rules(view.rules);
            let inputs = Inputs::new(&evaluator.layout, view, AfterChoice::Played);
            let kept = HandInfo::Known(view.hand);
            let (mut cards, mut before) = (Vec::new(), Vec::new());
            inputs.cards(kept, &mut cards);
            inputs.board(&view.board, kept, &mut before);
            let common = evaluator.net.more(
                &evaluator.net.more(&evaluator.net.first_bias, &cards),
                &before,
            );
            let mut lists = Vec::new();
            evaluator.plays(view, &mut scratch, |card, board, _| {
                let mut kept = view.hand;
                kept.remove(card);
                let mut list = Vec::new();
                inputs.board(board, HandInfo::Known(kept), &mut list);
                lists.push(list);
                true
            });
            number += lists.len() as u64;
            evaluations.push((evaluator, common, before, lists, inputs.head(kept)));
        }
        let mut differences = IncrementalSums::default();
        group.throughput(Throughput::Elements(number));
        group.bench_function("evaluations", |bencher| {
            bencher.iter(|| {
                for (evaluator, common, before, lists, head) in &evaluations {
                    differences.begin(evaluator.layout.inputs(), before);
                    for list in lists {
                        let found = differences.differences(list);
                        black_box(evaluator.net.logit(common, found, *head));
                    }
                }
            });
        });
        group.finish();
    }
}
