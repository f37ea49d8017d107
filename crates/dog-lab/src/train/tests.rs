//! Training: gradients that are gradients, targets that match the games, runs that can be stopped.

use std::{env, fs, ops::Range, path::PathBuf, process};

use dog_bot::{
    net::{HEADS, Hidden, inputs::Input},
    testing::{naive_logit, nets, random_inputs, random_net},
};
use dog_rules::{GoalEntry, Preset, Rules, SevenPartner};
use rand::{Rng, rngs::ChaCha8Rng};
use serde_json::Value;

use super::{
    selfplay::{ALTERNATIVES, TrainingTarget},
    *,
};

/// The number of inputs of the small nets in these tests.
const INPUTS: usize = 20;

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Random inputs with random targets.
fn random_samples(number: usize, rng: &mut impl Rng) -> Samples {
    let mut samples = Samples::default();
    for _ in 0..number {
        let first = samples.inputs.len();
        samples.inputs.extend(random_inputs(INPUTS, rng));
        let place = samples.targets.len();
        samples.groups.push(place..place + 1);
        samples.targets.push(TrainingTarget {
            inputs: first..samples.inputs.len(),
            head: rng.random_range(0..HEADS),
            chance: rng.random(),
        });
    }
    samples
}

fn all(samples: &Samples) -> Vec<u32> {
    (0..samples.groups.len() as u32).collect()
}

fn gradient(net: &Net, samples: &Samples) -> Gradient {
    let mut gradient = Gradient::new(net.first.len());
    gradient.add_groups(net, samples, &all(samples));
    gradient
}

/// The odds of a sample, by the definition of the net.
fn naive_odds(net: &Net, samples: &Samples, target: &TrainingTarget) -> f64 {
    naive_logit(net, &samples.inputs[target.inputs.clone()], target.head).exp()
}

/// The cross entropy by definition, in double precision.
fn naive_loss(net: &Net, samples: &Samples) -> f64 {
    let sample_loss = |target: &TrainingTarget| {
        let odds = naive_odds(net, samples, target);
        let (chance, target) = (odds / (1.0 + odds), f64::from(target.chance));
        -target * chance.ln() - (1.0 - target) * (1.0 - chance).ln()
    };
    samples.targets.iter().map(sample_loss).sum()
}

#[test]
fn slopes_are_those_of_the_loss() {
    let mut rng = rng(1);
    let mut net = random_net(INPUTS, &mut rng);
    let samples = random_samples(8, &mut rng);
    let gradient = gradient(&net, &samples);
    assert!((gradient.loss - naive_loss(&net, &samples)).abs() < 1e-4);
    for (block, slopes) in gradient.slopes.blocks().enumerate() {
        for _ in 0..25 {
            let place = rng.random_range(0..slopes.len());
            let slope = f64::from(slopes[place]);
            let mut at = |change: f32| {
                let weight = &mut net.blocks_mut().nth(block).unwrap()[place];
                *weight += change;
                (f64::from(*weight), naive_loss(&net, &samples))
            };
            // A short step, so that hardly any unit's sum passes zero.
            let step = 2e-5;
            let (above, below) = (at(step), at(-2.0 * step));
            at(step);
            let expected = (above.1 - below.1) / (above.0 - below.0);
            let error = (slope - expected).abs();
            assert!(error < 1e-3 * (1.0 + slope.abs()), "{slope}, {expected}");
        }
    }
}

#[test]
fn slopes_add_up() {
    let mut rng = rng(2);
    let net = random_net(INPUTS, &mut rng);
    let samples = random_samples(10, &mut rng);
    let whole = gradient(&net, &samples);
    let (mut one, mut other) = (Gradient::new(INPUTS), Gradient::new(INPUTS));
    one.add_groups(&net, &samples, &[3, 4, 5]);
    // Earlier slopes are forgotten.
    one.clear();
    one.add_groups(&net, &samples, &[0, 2, 4, 6, 8]);
    other.add_groups(&net, &samples, &[9, 7, 5, 3, 1]);
    one.add(&other);
    assert!((one.loss - whole.loss).abs() < 1e-9);
    let slopes = one.slopes.blocks().flatten();
    for (slope, expected) in slopes.zip(whole.slopes.blocks().flatten()) {
        assert!((slope - expected).abs() < 1e-5);
    }
}

/// What a group has in common counts as one sample, its differences count four times as much.
#[test]
fn differences_within_a_group_count_more() {
    let mut rng = rng(11);
    let net = random_net(INPUTS, &mut rng);
    let mut samples = random_samples(5, &mut rng);
    let error = |target: &TrainingTarget| {
        let odds = naive_odds(&net, &samples, target);
        (odds / (1.0 + odds)) as f32 - target.chance
    };
    let errors: Vec<f32> = samples.targets.iter().map(error).collect();
    let mean = errors.iter().sum::<f32>() / 5.0;
    let alone = |sample: u32| {
        let mut gradient = Gradient::new(INPUTS);
        gradient.add_groups(&net, &samples, &[sample]);
        gradient
    };
    let alone: Vec<Gradient> = (0..5).map(alone).collect();
    samples.groups.clear();
    samples.groups.push(0..5);
    let group = gradient(&net, &samples);
    let losses: f64 = alone.iter().map(|gradient| gradient.loss).sum();
    assert!((group.loss - losses / 5.0).abs() < 1e-6);
    let mut expected = Gradient::new(INPUTS);
    for (gradient, error) in alone.into_iter().zip(errors) {
        let share = (mean / 5.0 + 4.0 * (error - mean)) / error;
        let blocks = expected.slopes.blocks_mut().zip(gradient.slopes.blocks());
        for (sum, slope) in blocks.flat_map(|(sums, slopes)| sums.iter_mut().zip(slopes)) {
            *sum += share * slope;
        }
    }
    let slopes = group.slopes.blocks().flatten();
    for (slope, expected) in slopes.zip(expected.slopes.blocks().flatten()) {
        let error = (slope - expected).abs();
        assert!(error < 1e-3 * (1.0 + slope.abs()), "{slope}, {expected}");
    }
}

#[test]
fn a_step_leads_down() {
    let mut rng = rng(3);
    let before = random_net(INPUTS, &mut rng);
    let samples = random_samples(10, &mut rng);
    let gradient = gradient(&before, &samples);
    let mut net = before.clone();
    Adam::new(INPUTS).step(&mut net, &gradient, 10, 0.01);
    let weights = before.blocks().flatten().zip(net.blocks().flatten());
    for ((weight, moved), slope) in weights.zip(gradient.slopes.blocks().flatten()) {
        let change = moved - weight;
        if *slope == 0.0 {
            assert_eq!(change, 0.0);
        } else if slope.abs() > 1e-3 {
            // The first step has the given length, whatever the slope.
            let off = change + 0.01 * slope.signum();
            assert!(off.abs() < 1e-4, "{slope}: {change}");
        }
    }
}

#[test]
fn samples_are_learnt() {
    let mut rng = rng(4);
    let mut net = random_net(INPUTS, &mut rng);
    let mut samples = random_samples(40, &mut rng);
    for target in &mut samples.targets {
        target.chance = target.chance.round();
    }
    let mut adam = Adam::new(INPUTS);
    let before = gradient(&net, &samples).loss;
    for _ in 0..100 {
        let slopes = gradient(&net, &samples);
        adam.step(&mut net, &slopes, 40, 0.01);
    }
    let after = gradient(&net, &samples).loss;
    assert!(after < 0.5 * before, "{before} before, {after} after");
    assert_eq!(adam.steps, 100);
}

/// Rules for this kind of net.
fn rules(variant: NetVariant) -> Rules {
    let text = match variant {
        NetVariant::Four15 => "hausregeln",
        NetVariant::Four16 => "dogspiel-it",
        NetVariant::Six => "spielanleitung seats=6",
    };
    text.parse().unwrap()
}

/// The samples of a game of the built-in net against itself, and the number of its turns.
fn play(rules: &Rules, lambda: f32, change: impl FnOnce(&mut SelfPlay)) -> (Samples, u32) {
    let mut play = SelfPlay::new(nets().for_rules(rules), 0.0, lambda, 0);
    change(&mut play);
    let mut samples = Samples::default();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let turns = play.game(rules, &mut rng, &mut samples);
    (samples, turns)
}

/// Asserts that each number below `end` is in one of these ranges.
fn assert_are_all(ranges: impl Iterator<Item = Range<usize>>, end: usize) {
    let mut ranges: Vec<_> = ranges.collect();
    ranges.sort_by_key(|range| range.start);
    let mut next = 0;
    for range in ranges {
        assert_eq!(range.start, next);
        next = range.end;
    }
    assert_eq!(next, end);
}

#[test]
fn every_decision_is_a_sample() {
    for variant in [NetVariant::Four16, NetVariant::Six] {
        let rules = rules(variant);
        let (samples, turns) = play(&rules, 0.9, |_| {});
        // The rest are answers in mandatory exchanges.
        let answers = samples.targets.len() as u32 - turns;
        let rounds = answers / u32::from(rules.seats);
        assert_eq!(answers, rounds * u32::from(rules.seats));
        let cards: u32 = (1..=rounds)
            .map(|round| u32::from(rules.deal_sizes.in_round(round) * rules.seats))
            .sum();
        assert!(rounds > 3 && turns <= cards, "{turns}, {rounds}");
        // Every input belongs to one of them.
        let inputs = samples.targets.iter().map(|target| target.inputs.clone());
        assert_are_all(inputs, samples.inputs.len());
    }
}

/// The last decision won the game and comes first.
#[test]
fn targets_tell_who_won() {
    for variant in NetVariant::ALL {
        let rules = rules(variant);
        let (samples, _) = play(&rules, 1.0, |_| {});
        let targets: Vec<f32> = samples.targets.iter().map(|target| target.chance).collect();
        assert_eq!(targets[0], 1.0);
        assert!(targets.iter().all(|target| [0.0, 1.0].contains(target)));
        // Each team has about as many decisions.
        let won = targets.iter().sum::<f32>() / targets.len() as f32;
        let chance = 2.0 / f32::from(rules.seats);
        assert!((won - chance).abs() < 0.15, "{won}");

        let (samples, _) = play(&rules, 0.8, |_| {});
        let targets: Vec<f32> = samples.targets.iter().map(|target| target.chance).collect();
        assert!(targets.iter().all(|target| (0.0..=1.0).contains(target)));
        assert_eq!(targets[0], 1.0);
        // The decisions just before it are close to the result of the game, whichever team made
        // them.
        assert!([0.0, 1.0].contains(&targets[1]), "{}", targets[1]);
        // Long before the end the result is open.
        assert!((0.01..0.99).contains(targets.last().unwrap()));
    }
}

#[test]
fn experiments_and_alternatives_are_samples_too() {
    let rules = rules(NetVariant::Four15);
    let (plain, _) = play(&rules, 0.9, |_| {});
    let (explored, _) = play(&rules, 0.9, |play| play.exploration = 0.2);
    let (looked_around, turns) = play(&rules, 0.9, |play| play.alternatives = 20);
    assert_ne!(plain.targets, explored.targets);
    assert!(looked_around.targets.len() as u32 > turns + turns / 20);
    // Alternatives of one decision are a group, every other sample is its own group, and none is
    // missing.
    let sizes = looked_around.groups.iter().map(ExactSizeIterator::len);
    let (alone, together): (Vec<usize>, Vec<usize>) = sizes.partition(|&size| size == 1);
    assert!(alone.len() as u32 >= turns && together.len() as u32 > turns / 40);
    assert!(together.iter().all(|&size| size <= ALTERNATIVES));
    let groups = looked_around.groups.iter().cloned();
    assert_are_all(groups, looked_around.targets.len());
    for samples in [explored, looked_around] {
        let mut targets = samples.targets.iter();
        assert!(targets.all(|target| (0.0..=1.0).contains(&target.chance)));
        let inputs = nets().for_rules(&rules).layout.inputs();
        let mut indices = samples.inputs.iter().map(|input| usize::from(input.index));
        assert!(indices.all(|index| index < inputs));
    }
}

/// Every seat learns what each end of a round is worth.
#[test]
fn ends_of_rounds_are_samples_too() {
    for variant in [NetVariant::Four16, NetVariant::Six] {
        let rules = rules(variant);
        let (plain, _) = play(&rules, 0.9, |_| {});
        let (samples, _) = play(&rules, 0.9, |play| play.alternatives = 1_000);
        let ends = |samples: &Samples| -> Vec<f32> {
            let ends = samples
                .targets
                .iter()
                .filter(|target| target.head == HEADS - 1);
            ends.map(|target| target.chance).collect()
        };
        assert!(ends(&plain).is_empty());
        let ends = ends(&samples);
        let teams = usize::from(rules.seats / 2);
        assert!(ends.len() > 3 * teams);
        for seats in ends.chunks(usize::from(rules.seats)) {
            assert_eq!(seats[..teams], seats[teams..]);
            let sum: f32 = seats[..teams].iter().sum();
            assert!((sum - 1.0).abs() < 1e-4, "{sum}");
        }
        assert!(ends.iter().any(|chance| !(0.2..0.8).contains(chance)));
    }
}

#[test]
fn lists_of_samples_are_put_together() {
    let mut rng = rng(5);
    let parts = [3, 0, 4].map(|number| random_samples(number, &mut rng));
    let mut whole = Samples::default();
    parts.iter().for_each(|part| whole.append(part));
    let read = |samples: &Samples| -> Vec<(Vec<Input>, usize, f32)> {
        let sample = |target: &TrainingTarget| {
            let inputs = samples.inputs[target.inputs.clone()].to_vec();
            (inputs, target.head, target.chance)
        };
        samples.targets.iter().map(sample).collect()
    };
    let singles: Vec<_> = (0..7).map(|place| place..place + 1).collect();
    assert_eq!(whole.groups, singles);
    assert!(read(&whole).into_iter().eq(parts.iter().flat_map(read)));
}

#[test]
fn a_net_says_how_it_was_trained() {
    let mut run = run(NetVariant::Four15);
    run.games = 4;
    run.samples = 999;
    let last = "4 games, 999 positions of self-play, seed 5, alternatives at one decision in 100";
    assert_eq!(run.summary(), last);
    run.before = Some("12 games".to_owned());
    run.plan.alternatives = 0;
    let last = "12 games; then 4 games, 999 positions of self-play, seed 5";
    assert_eq!(run.summary(), last);
}

/// A short run with small windows.
fn plan(variant: NetVariant) -> TrainingPlan {
    TrainingPlan {
        variant,
        games: 4,
        seed: 5,
        step: (1e-3, 1e-4),
        exploration: 0.1,
        lambda: 0.9,
        alternatives: 100,
        games_a_window: 2,
    }
}

fn run(variant: NetVariant) -> Run {
    // A net that can play makes short games.
    let net = nets().for_rules(&rules(variant)).clone();
    Run::from_net(plan(variant), net, None)
}

fn assert_same(one: &Run, other: &Run) {
    assert_eq!((&one.plan, &one.before), (&other.plan, &other.before));
    assert_eq!((one.games, one.samples), (other.games, other.samples));
    assert_eq!(one.adam.steps, other.adam.steps);
    let nets = |run: &Run| {
        let Adam { mean, square, .. } = &run.adam;
        [&run.evaluator.net, &run.averaged, mean, square].map(Net::clone)
    };
    assert!(nets(one) == nets(other), "the weights differ");
}

#[test]
fn threads_change_nothing() {
    let mut runs = [1, 2, 3].map(|threads| {
        let mut run = run(NetVariant::Four16);
        let window = run.window(threads);
        (run, serde_json::to_string(&window).unwrap())
    });
    let (first, window) = &runs[0];
    let begun = nets().for_rules(&rules(NetVariant::Four16));
    assert!(first.evaluator.net != begun.net, "it learns");
    for (other, same) in &runs[1..] {
        assert_same(first, other);
        assert_eq!(window, same);
    }
    // Another seed gives another run.
    let mut other = run(NetVariant::Four16);
    other.plan.seed += 1;
    other.window(2);
    assert_ne!(other.evaluator.net, runs[0].0.evaluator.net);
    // Windows continue each other, to the end.
    let run = &mut runs[0].0;
    assert!(!run.done() && run.step() < run.plan.step.0);
    run.window(2);
    assert!(run.done() && run.samples > 0);
    assert!((run.step() - run.plan.step.1).abs() < 1e-7);
}

#[test]
fn weights_are_averaged() {
    let mut run = run(NetVariant::Four15);
    let before = run.averaged.clone();
    run.window(1);
    let weights = before.blocks().flatten();
    let weights = weights.zip(run.averaged.blocks().flatten());
    for ((before, averaged), weight) in weights.zip(run.evaluator.net.blocks().flatten()) {
        let expected = before + AVERAGE_WEIGHT * (weight - before);
        assert!((averaged - expected).abs() < 1e-6);
    }
}

#[test]
fn a_run_from_nothing_depends_on_its_seed() {
    let plan = plan(NetVariant::Four15);
    let first = Run::new(plan.clone());
    assert_same(&first, &Run::new(plan.clone()));
    let other = Run::new(TrainingPlan { seed: 6, ..plan });
    assert_ne!(first.evaluator.net, other.evaluator.net);
    assert_eq!(first.evaluator.net, first.averaged);
    let nothing: &Hidden = &[0.0; dog_bot::net::HIDDEN];
    assert!(!first.evaluator.net.first.contains(nothing));
}

/// A file of this test only.
fn file(name: &str) -> PathBuf {
    env::temp_dir().join(format!("dog-train-{}-{name}", process::id()))
}

#[test]
fn a_run_that_was_stopped_goes_on() {
    let path = file("stopped");
    let mut whole = run(NetVariant::Four15);
    whole.before = Some("another run".to_owned());
    whole.window(1);
    whole.save(&path).unwrap();
    let mut stopped = Run::load(&path).unwrap();
    assert_same(&whole, &stopped);
    whole.window(1);
    stopped.window(2);
    assert_same(&whole, &stopped);
    // A checkpoint replaces the one before.
    stopped.save(&path).unwrap();
    assert_same(&whole, &Run::load(&path).unwrap());
    fs::remove_file(path).unwrap();
}

#[test]
fn checkpoints_that_do_not_fit_are_refused() {
    let path = file("damaged");
    run(NetVariant::Four15).save(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let end = whole.iter().position(|&byte| byte == b'\n').unwrap();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut header: Value = serde_json::from_slice(&whole[..end]).unwrap();
        change(&mut header);
        [header.to_string().as_bytes(), &whole[end..]].concat()
    };
    let load = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        Run::load(&path)
    };
    let inputs = "made with other inputs or other rules";
    for (bytes, message) in [
        (whole[..whole.len() - 1].to_vec(), "truncated"),
        (whole[..whole.len() - 4].to_vec(), "truncated"),
        (whole[..=end].to_vec(), "truncated"),
        (whole[..end].to_vec(), "begins with a line of JSON"),
        (Vec::new(), "begins with a line of JSON"),
        (whole[1..].to_vec(), "at line 1"),
        (with(&|header| header["fingerprint"] = "0".into()), inputs),
        (
            with(&|header| header["plan"]["setting"] = "four-16".into()),
            inputs,
        ),
        (
            with(&|header| header["games"] = Value::Null),
            "invalid type",
        ),
    ] {
        let error = load(&bytes).err().expect("a refusal").to_string();
        assert!(error.contains(message), "{error:?} is not {message:?}");
    }
    // Runs that were begun before these options existed keep their old values.
    let early = with(&|header| {
        let plan = header["plan"].as_object_mut().unwrap();
        plan.remove("games_a_window").unwrap();
        plan.remove("alternatives").unwrap();
    });
    let plan = load(&early).unwrap().plan;
    assert_eq!((plan.games_a_window, plan.alternatives), (GAMES, 0));
    fs::remove_file(&path).unwrap();
    let error = Run::load(&path).err().expect("a refusal");
    assert!(error.to_string().contains("dog-train"), "{error}");
}

#[test]
fn training_rules_are_varied() {
    for variant in NetVariant::ALL {
        let published = selfplay::presets(variant);
        let names: Vec<Preset> = published.iter().map(|rules| rules.preset).collect();
        match variant {
            NetVariant::Four15 => assert_eq!(names, [Preset::Hausregeln]),
            NetVariant::Four16 => assert_eq!(names, &Preset::ALL[..4]),
            NetVariant::Six => assert_eq!(names, Preset::ALL),
        }
        let mut rng = rng(6);
        let drawn: Vec<Rules> = (0..2_000)
            .map(|_| selfplay::rules(variant, &mut rng))
            .collect();
        for rules in &drawn {
            assert_eq!(NetVariant::for_rules(rules), variant);
        }
        let begun: Vec<Preset> = drawn.iter().map(|rules| rules.preset).collect();
        assert!(Preset::ALL.iter().all(|preset| begun.contains(preset)));
        for rules in &published {
            let share = drawn.iter().filter(|drawn| *drawn == rules).count() * published.len();
            assert!((1_400..2_000).contains(&share), "{rules:?}: {share}");
        }
        // Each option differs from the preset now and then.
        let options: [&dyn Fn(&Rules) -> bool; 6] = [
            &|rules| rules.goal_entry == GoalEntry::OnStart,
            &|rules| rules.backward_into_goal,
            &|rules| rules.seven_partner == SevenPartner::Always,
            &|rules| rules.jack_own_pair,
            &|rules| rules.jack_without_effect,
            &|rules| rules.jokers > 8,
        ];
        for (option, is) in options.into_iter().enumerate() {
            let changed = |rules: &&Rules| is(rules) != is(&rules.preset.rules());
            let changes = drawn.iter().filter(changed).count();
            assert!(changes > 5, "{}, {option}: {changes}", variant.name());
        }
    }
}
