//! The search: every choice once, within the budget, and repeatable.

use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
    time::Duration,
};

use dog_rules::{Card, Cards, Game, Generator, Level, Phase, Preset, Rules, Seat};
use rand::{rngs::ChaCha8Rng, seq::SliceRandom};

use super::*;
use crate::{
    Choice,
    player_model::PlayerModels,
    testing::{
        board, cards, choose, nets, new_game, random_board, random_rules, rng, seat, view, watch,
    },
    tests::rules,
};

/// A searcher that knows nobody.
fn searcher_by(config: SearchConfig) -> Searcher<'static> {
    Searcher::new(nets(), config, PlayerModels::default())
}

fn think_by(config: SearchConfig, view: &SeatView, budget: Budget) -> Vec<CandidateStats> {
    searcher_by(config).think(view, budget, &mut rng(1))
}

/// A changed configuration.
fn config(change: impl FnOnce(&mut SearchConfig)) -> SearchConfig {
    let mut config = SearchConfig::default();
    change(&mut config);
    config
}

/// A searcher by default.
fn searcher(models: PlayerModels) -> Searcher<'static> {
    Searcher::new(nets(), SearchConfig::default(), models)
}

fn think(view: &SeatView, budget: Budget) -> Vec<CandidateStats> {
    think_by(SearchConfig::default(), view, budget)
}

/// Calls `show` with views of random positions under random rules: most to play, some in the
/// exchange.
fn positions(number: u32, mut show: impl FnMut(&SeatView)) {
    let mut rng = rng(4);
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

/// Everything that may be chosen, according to the rules.
fn choices(view: &SeatView) -> HashSet<String> {
    let name = |candidate: Candidate| format!("{candidate:?}");
    if view.exchanging {
        let answers = Choice::answers(view).into_iter().map(Candidate::Answer);
        return answers.map(name).collect();
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

/// The candidates, each of which must occur once.
fn names(candidates: &[CandidateStats]) -> HashSet<String> {
    let names = candidates.iter().map(|stats| stats.candidate);
    let found: HashSet<String> = names.map(|name| format!("{name:?}")).collect();
    assert_eq!(found.len(), candidates.len());
    found
}

fn ended(value: f64) -> PlayoutResult {
    PlayoutResult {
        value,
        ..PlayoutResult::default()
    }
}

fn samples(candidates: &[CandidateStats]) -> u32 {
    candidates.iter().map(|stats| stats.samples).sum()
}

#[test]
fn every_choice_is_a_candidate_once() {
    let (mut folds, mut playouts) = (0, 0);
    positions(80, |view| {
        for most in [0, 1, 9] {
            let candidates = think(view, Budget::Samples(most));
            assert_eq!(names(&candidates), choices(view));
            assert!(samples(&candidates) <= most.max(1));
            for stats in &candidates {
                assert!((0.0..=1.0).contains(&stats.rank_value(4.0)));
                assert!((0.0..=1.0).contains(&stats.risk().unwrap_or_default()));
                assert_eq!(stats.risk().is_some(), stats.samples > 0);
                assert_eq!(stats.standard_error().is_some(), stats.samples > 1);
            }
            playouts += samples(&candidates);
            folds += u32::from(candidates[0].candidate == Candidate::Fold);
        }
    });
    assert!(playouts > 200 && folds > 2, "{playouts}, {folds}");
}

/// The candidates that were searched to the end are in order of their results.
#[test]
fn the_best_comes_first() {
    positions(40, |view| {
        let config = config(|config| config.candidates = 2);
        let candidates = think_by(config, view, Budget::Samples(10));
        let [first, second, ..] = &candidates[..] else {
            return;
        };
        assert!(first.rank_value(config.prior) >= second.rank_value(config.prior));
        // The rest only has the net's value.
        let logits: Vec<f32> = candidates[2..].iter().map(|stats| stats.logit).collect();
        assert!(logits.is_sorted_by(|one, other| one >= other));
        assert_eq!(samples(&candidates[2..]), 0);
    });
}

#[test]
fn the_same_seed_gives_the_same_result() {
    let observed = |candidates: Vec<CandidateStats>| -> Vec<_> {
        let tell = |stats: &CandidateStats| {
            let chance = stats.rank_value(4.0).to_bits();
            (format!("{:?}", stats.candidate), stats.samples, chance)
        };
        candidates.iter().map(tell).collect()
    };
    let mut differ = 0;
    positions(20, |view| {
        let mut used = searcher(PlayerModels::default());
        let budget = Budget::Samples(8);
        let first = observed(used.think(view, budget, &mut rng(5)));
        // A searcher that was used before gives the same result as a new one.
        assert_eq!(first, observed(used.think(view, budget, &mut rng(5))));
        let mut new = searcher(PlayerModels::default());
        assert_eq!(first, observed(new.think(view, budget, &mut rng(5))));
        differ += u32::from(first != observed(new.think(view, budget, &mut rng(6))));
    });
    assert!(differ > 5, "{differ}");
}

#[test]
fn a_won_game_is_seen_at_once() {
    let rules = Preset::DogspielIt.rules();
    let last = ["g0 g1 g2 g3", "20", "30 g1 g2 g3", ""];
    let view = view(&rules, &last, "3 9 joker");
    let no_time = Budget::Time(Duration::ZERO);
    for budget in [Budget::Samples(20), Budget::Samples(1), no_time] {
        let best = think(&view, budget).swap_remove(0);
        let Candidate::Play(_, after) = best.candidate else {
            panic!("{best:?}");
        };
        assert!(after.team_home(&rules, view.seat));
        assert_eq!(best.rank_value(4.0), 1.0);
        assert_eq!(best.samples, 0);
    }
}

/// Choices are compared in the order given and in the same worlds, one that wins at once too.
#[test]
fn choices_are_compared_in_common_worlds() {
    let rules = Preset::DogspielIt.rules();
    let last = ["60 g1 g2 g3", "20 30", "g0 g1 g2 g3", "5"];
    let view = view(&rules, &last, "4 5");
    let all = think(&view, Budget::Samples(4));
    let (best, worst) = (all[0].candidate, all[all.len() - 1].candidate);
    let mut searcher = searcher_by(SearchConfig::for_play().for_comparison());
    let mut compared = |choices: &[Candidate]| {
        let budget = Budget::Samples(6 * choices.len() as u32);
        let choices: Vec<_> = choices.iter().copied().map(Some).collect();
        searcher.compare(&view, &choices, budget, &mut rng(3))
    };
    for choices in [[worst, best], [best, worst]] {
        let found = compared(&choices);
        let order: Vec<Candidate> = found.iter().map(|stats| stats.candidate).collect();
        assert_eq!(order, choices);
        assert!(found.iter().all(|stats| stats.samples == 6));
    }
    let found = compared(&[best, worst]);
    assert_eq!(found[0].rank_value(0.0), 1.0);
    let (difference, _) = found[1].difference(&found[0]).unwrap();
    assert!(difference > 0.0, "{difference}");
    // A choice alone has the same worlds.
    let alone = compared(&[worst]);
    assert_eq!(alone[0].values, found[1].values);
    assert_eq!(alone[0].samples, 6);
}

/// A choice at random is drawn anew for each world: a card, then one of its boards; in the exchange
/// an answer.
#[test]
fn a_choice_at_random_is_compared_with_the_others() {
    let rules = Preset::DogspielIt.rules();
    let play = view(&rules, &["10 30", "12 14", "32", "50"], "4 5 K");
    let exchange = SeatView {
        exchanging: true,
        ..view(&rules, &["", "5", "30", ""], "A 5 9")
    };
    let config = SearchConfig::for_play().for_comparison();
    let mut searcher = Searcher::new(nets(), config, PlayerModels::default());
    for view in [play, exchange] {
        let all = think(&view, Budget::Samples(1)).into_iter();
        let choices: Vec<_> = all
            .map(|stats| Some(stats.candidate))
            .chain([None])
            .collect();
        let budget = Budget::Samples(300 * choices.len() as u32);
        let mut found = searcher.compare(&view, &choices, budget, &mut rng(3));
        let random = found.pop().unwrap();
        assert_eq!(random.samples, 300);
        let mut by_card = HashMap::<_, Vec<f64>>::new();
        for stats in found {
            let card = match stats.candidate {
                Candidate::Play(card, _) => Some(card),
                _ => None,
            };
            by_card.entry(card).or_default().push(stats.rank_value(0.0));
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let cards: Vec<f64> = by_card.values().map(|values| mean(values)).collect();
        let (value, error) = (random.rank_value(0.0), random.standard_error().unwrap());
        let expected = mean(&cards);
        assert!(
            (value - expected).abs() < 3.0 * error,
            "{value} ± {error}, {expected}"
        );
    }
}

/// The chances of the teams before a deal and after it add up to 1.
#[test]
fn every_team_has_its_chance() {
    for seats in [4_u8, 6] {
        let rules = rules(&format!("dogspiel-it seats={seats}"));
        let mut game = new_game(&rules, 6);
        let mut searcher = searcher(PlayerModels::default());
        let mut chances = |game: &Game| {
            let mut view = game.seen_from(game.beginner());
            view.rules = &rules;
            let mut hands = dog_rules::BySeat::default();
            for seat in rules.ring().seats() {
                hands[seat] = game.hand(seat);
            }
            let table = Playout::from_view(&view, hands, &mut rng(1));
            searcher.team_chances(&rules, 12, &mut rng(2), |_| table.clone())
        };
        let before = chances(&game);
        game.step(|_, _| panic!("a deal")).unwrap();
        let after = chances(&game);
        for found in [&before, &after] {
            assert_eq!(found.len(), usize::from(seats / 2));
            let sum: f64 = found.iter().map(|team| team.mean).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{found:?}");
        }
        // The net's choices leave nothing to chance until the next deal.
        let errors = |found: &[TeamChance]| found.iter().any(|team| team.standard_error > 1e-6);
        assert_eq!((errors(&before), errors(&after)), (true, false));
        assert_ne!(before, after);
    }
}

/// A playout that ends with its round is worth what three teams expect of the next one, each by its
/// own view. With two teams it is worth what the last player expects.
#[test]
fn the_end_of_a_round_is_seen_by_every_team() {
    for (seats, pieces) in [
        (4, ["20", "5", "", ""].as_slice()),
        (6, &["20", "5", "", "", "", ""]),
    ] {
        let rules = rules(&format!("dogspiel-it seats={seats}"));
        let mut view = view(&rules, pieces, "2 3");
        view.counts = BySeat::default();
        (view.counts[view.seat], view.round) = (2, 4);
        let evaluator = nets().for_rules(&rules);
        let both = board(&rules, &[&["25"], &pieces[1..]].concat());
        let chances = Seat::all(seats / 2).map(|seat| {
            let over = SeatView {
                round: 5,
                beginner: view.beginner.next(seats),
                discards: cards("2 3"),
                ..SeatView::to_play(&rules, both, seat, Cards::EMPTY)
            };
            chance(evaluator.round_over_logit(&over, &mut Scratch::default()))
        });
        let chances: Vec<f64> = chances.collect();
        // The last player does not count its last card as discarded.
        let (expected, close) = match seats {
            4 => (chances[0], 1e-3),
            _ => (chances[0] / chances.iter().sum::<f64>(), 1e-6),
        };
        for stats in think(&view, Budget::Samples(200)) {
            let mean = stats.mean().unwrap();
            assert!((mean - expected).abs() < close, "{mean}, {expected}");
        }
    }
}

#[test]
fn many_sevens_are_searched_in_few_samples() {
    let rules = rules("dogspiel-it seven_partner=always");
    let mut view = view(&rules, &["5 14 23 33", "1", "8 19 28 40", "62"], "7 joker");
    let all = choices(&view);
    assert!(all.len() > 2_000, "{}", all.len());
    let candidates = think(&view, Budget::Samples(3));
    assert_eq!(names(&candidates), all);
    assert_eq!(samples(&candidates), 3);
    // With no time at all only some of them, and still an answer.
    let candidates = think(&view, Budget::Time(Duration::ZERO));
    assert!(names(&candidates).is_subset(&all));
    assert!(!candidates.is_empty() && candidates.len() < all.len());
    view.hand = cards("7");
    view.board = board(&rules, &["", "1", "", "62"]);
    let fold = think(&view, Budget::Time(Duration::ZERO));
    assert_eq!(fold.len(), 1);
    assert_eq!(fold[0].candidate, Candidate::Fold);
}

/// The parts of the search can be switched off one by one.
#[test]
fn every_configuration_ends() {
    let configs = [
        config(|config| config.candidates = 1),
        config(|config| config.candidates = usize::MAX),
        config(|config| config.margin = 0.0),
        config(|config| config.margin = f32::INFINITY),
        config(|config| config.plies = Some(0)),
        config(|config| (config.plies, config.rounds) = (Some(1), u32::MAX)),
        config(|config| (config.plies, config.rounds) = (Some(30), u32::MAX)),
        config(|config| config.prior = 0.0),
        config(|config| config.deal_candidates = 0),
        config(|config| config.deal_candidates = 1),
    ];
    positions(12, |view| {
        for config in configs {
            let candidates = think_by(config, view, Budget::Samples(5));
            assert_eq!(names(&candidates), choices(view));
            let playouts = candidates.iter().filter(|stats| stats.samples > 0);
            assert!(playouts.count() <= config.candidates, "{config:?}");
            let none = candidates.len() < 2 || config.candidates == 1 || config.margin == 0.0;
            assert!(!none || samples(&candidates) == 0, "{config:?}");
        }
    });
}

/// Candidates with these playout values.
fn candidate_pair(values: [&[f64]; 2]) -> [CandidateStats; 2] {
    values.map(|values| {
        let mut stats = CandidateStats::new(Candidate::Fold, 0.0);
        values.iter().for_each(|&value| stats.add(ended(value)));
        stats
    })
}

/// With the same luck only the differences count, however much the values themselves vary.
#[test]
fn worse_candidates_are_found_deal_by_deal() {
    let luck: Vec<f64> = (0..40).map(|deal| f64::from(deal % 10) / 10.0).collect();
    let less: Vec<f64> = luck.iter().map(|value| value - 0.01).collect();
    let [better, worse] = candidate_pair([&luck, &less]);
    assert!(worse.is_significantly_worse(&better, 3.0));
    assert!(!better.is_significantly_worse(&worse, 3.0));
    assert!(!worse.is_significantly_worse(&better, f64::INFINITY));
    let [one, same] = candidate_pair([&luck, &luck]);
    assert!(!one.is_significantly_worse(&same, 3.0));
    // Without common luck such a small difference says nothing.
    let turned: Vec<f64> = less.iter().rev().copied().collect();
    let [better, worse] = candidate_pair([&luck, &turned]);
    assert!(!worse.is_significantly_worse(&better, 3.0));
    // A single deal says nothing either.
    let [better, worse] = candidate_pair([&[0.9], &[0.1]]);
    assert!(!worse.is_significantly_worse(&better, 0.0));
    // Differences of 0, 2, 0, 2 … have a mean of 1 and, of 40, a standard error of 1 / √39.
    let uneven: Vec<f64> = (0..40).map(|deal| f64::from(deal % 2) * 2.0).collect();
    let [better, worse] = candidate_pair([&uneven, &[0.0; 40]]);
    assert!(worse.is_significantly_worse(&better, 6.2));
    assert!(!worse.is_significantly_worse(&better, 6.3));
}

/// A search for the best choice alone stops when that is clear. Advice uses its whole budget.
#[test]
fn choosing_ends_when_it_is_clear() {
    let (mut whole, mut shorter, mut same) = (0, 0, 0);
    positions(40, |view| {
        let budget = Budget::Samples(64);
        let advice = think(view, budget);
        let chosen = think_by(SearchConfig::for_play(), view, budget);
        assert_eq!(names(&advice), names(&chosen));
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

/// The card of each candidate, best first, and its risk.
fn risks(candidates: &[CandidateStats]) -> Vec<(Card, Option<f64>)> {
    assert_eq!(samples(candidates), 10);
    let card = |stats: &CandidateStats| match stats.candidate {
        Candidate::Play(card, _) => card,
        ref other => panic!("{other:?}"),
    };
    let risks = candidates.iter();
    risks.map(|stats| (card(stats), stats.risk())).collect()
}

/// The next seat has a single card, a five, and a single piece to play it with. Its hand is known
/// to the seat, or only to the deal of the worlds of the search.
#[test]
fn a_piece_that_will_be_captured_is_at_risk() {
    let rules = Preset::DogspielIt.rules();
    let mut view = view(&rules, &["20", "17", "", ""], "2 3");
    let [next, partner, last] = [1, 2, 3].map(|number| seat(number, &rules));
    view.counts[next] = 1;
    view.counts[partner] = 0;
    view.counts[last] = 0;
    let mut hands = BySeat::default();
    hands[view.seat] = view.hand;
    hands[next] = cards("5");
    let config = config(|config| config.margin = 30.0);
    let expected = [(Card::Three, Some(0.0)), (Card::Two, Some(1.0))];
    let candidates = searcher_by(config).think_in(&view, Budget::Samples(10), &mut rng(1), |rng| {
        Playout::from_view(&view, hands, rng)
    });
    assert_eq!(risks(&candidates), expected);
    view.known[next] = cards("5");
    let candidates = think_by(config, &view, Budget::Samples(10));
    assert_eq!(risks(&candidates), expected);
}

/// What is known of a partner changes the advice, and how the seat itself played does not.
#[test]
fn advice_depends_on_how_the_others_have_played() {
    let rules = Preset::DogspielIt.rules();
    let mut dice = rng(1);
    let play = |view: &SeatView| choose(Level::Random, view, &mut dice);
    let mut game = new_game(&rules, 3);
    let models = watch(&mut game, 8, play);
    let greedy =
        |game: &Game, seat| choose(Level::Greedy, &game.seen_from(seat), &mut rng(1)).action(seat);
    while game.phase() != Phase::Play {
        game.step(greedy).unwrap();
    }
    let seat = game.turn().unwrap();
    let view = game.seen_from(seat);
    let advice = |models: PlayerModels| {
        let candidates = searcher(models).think(&view, Budget::Samples(40), &mut rng(1));
        let chances = candidates.iter().map(|stats| stats.rank_value(4.0));
        (candidates[0].samples, chances.collect::<Vec<f64>>())
    };
    let (samples, with_models) = advice(models);
    assert!(samples > 0, "it searches");
    let (mut own, mut partner) = (models, models);
    own.forget(seat);
    partner.forget(seat.partner(rules.seats));
    assert_eq!(advice(own).1, with_models);
    assert_ne!(advice(partner).1, with_models);
}

/// The odds are multiplied. So nothing changes if it is certain who wins, and the chances of both
/// teams add up to 1.
#[test]
fn a_greedy_team_has_a_worse_chance() {
    let rules = Preset::DogspielIt.rules();
    let mut dice = rng(1);
    let play = |view: &SeatView| {
        let level = [Level::Fast, Level::Greedy][usize::from(view.seat.team(4))];
        choose(level, view, &mut dice)
    };
    let models = watch(&mut new_game(&rules, 3), 6, play);
    let chance = |models, number: u8, values: &[f64]| {
        let mut stats = CandidateStats::new(Candidate::Fold, 0.0);
        for value in values {
            stats.add(ended(*value));
        }
        stats.logit = if values[0] == 1.0 { WON } else { 0.0 };
        let mut view = view(&rules, &["20", "21", "22", "23"], "2");
        view.seat = seat(number, &rules);
        let found = searcher(models).estimates(&view, &[stats])[0];
        (found.win_probability, found.standard_error)
    };
    let even = [0.3, 0.7];
    let (expected, error) = chance(PlayerModels::default(), 0, &even);
    assert!((expected - 0.5).abs() < 1e-9);
    let (better, smaller) = chance(models, 0, &even);
    let (worse, _) = chance(models, 1, &even);
    assert!(better > 0.6, "{better}");
    assert!((better + worse - 1.0).abs() < 1e-6);
    assert!(smaller.unwrap() < error.unwrap());
    assert_eq!(chance(models, 1, &[1.0]).0, 1.0);
}

/// Explaining changes no result, and finds what the playouts say.
#[test]
fn findings_follow_from_the_playouts() {
    let (mut only_uses, mut lines) = (0, 0);
    positions(10, |view| {
        let config = config(|config| config.explains = true);
        let budget = Budget::Samples(100);
        let candidates = think_by(config, view, budget);
        let plain = think(view, budget);
        for (stats, plain) in candidates.iter().zip(&plain) {
            assert_eq!(stats.candidate, plain.candidate);
            assert_eq!(stats.values, plain.values);
            assert!(plain.first_plays.is_empty());
        }
        let findings = searcher_by(config).findings(view, &candidates);
        for (stats, found) in candidates.iter().zip(findings) {
            let expected = is_only_use(stats, &candidates);
            assert_eq!(found.only_use.is_some(), expected, "{stats:?}");
            only_uses += u32::from(expected);
            lines += check_first_play(view, stats, &found.line);
        }
    });
    assert!(only_uses > 0 && lines > 50, "{only_uses}, {lines}");
}

/// Whether every other board of the card is worse, clearly and by more than two standard errors,
/// and there is one.
fn is_only_use(stats: &CandidateStats, candidates: &[CandidateStats]) -> bool {
    let Candidate::Play(card, board) = stats.candidate else {
        return false;
    };
    let mut others = 0;
    for other in candidates {
        match other.candidate {
            Candidate::Play(same, after) if same == card && after != board => others += 1,
            _ => continue,
        }
        let pairs = stats.values.iter().zip(&other.values);
        let differences: Vec<f64> = pairs.map(|(a, b)| f64::from(a - b)).collect();
        let count = differences.len() as f64;
        if count < 2.0 {
            return false;
        }
        let mean = differences.iter().sum::<f64>() / count;
        let squares = differences.iter().map(|one| (one - mean).powi(2));
        let variance = squares.sum::<f64>() / (count - 1.0);
        if mean <= findings::CLEARLY.max(2.0 * (variance / count).sqrt()) {
            return false;
        }
    }
    others > 0
}

/// Checks that no other play follows more often than the first of the line. Returns its length.
fn check_first_play(view: &SeatView, stats: &CandidateStats, line: &[LinePlay]) -> usize {
    let Candidate::Play(_, board) = stats.candidate else {
        assert!(line.is_empty());
        return 0;
    };
    assert!(stats.first_plays.len() == stats.samples as usize);
    let firsts = || stats.first_plays.iter().filter_map(|plays| plays[0]);
    let times = |play| firsts().filter(|&other| other == play).count();
    let most = firsts().map(times).max();
    let Some(first) = line.first() else {
        assert_eq!(most, None);
        return 0;
    };
    let after = match first.mv {
        dog_rules::Move::Fold => board,
        dog_rules::Move::Play { rank, action, .. } => {
            let outcome = dog_rules::judge::outcome(view.rules, &board, first.seat, rank, &action);
            outcome.expect("a legal move").board
        }
    };
    let play = firsts().find(|play| play.is(first.seat, first.mv.card(), &after));
    assert_eq!(play.map(times), most);
    line.len()
}

/// Where nobody waits, the end of a search does not depend on the machine.
#[test]
fn a_limit_of_boards_counts_boards() {
    let clock = BudgetClock::start(
        Budget::Samples(u32::MAX),
        SearchLimit::Boards(1_000),
        &|| true,
    );
    let boards = (1..).find(|&boards| clock.late_after(boards));
    assert_eq!(boards, Some(1_024));
    assert!(clock.used(0) >= 1.0);
    let clock = BudgetClock::start(Budget::Samples(10), SearchLimit::Boards(1_000), &|| true);
    assert!(!(1..1_000).any(|boards| clock.late_after(boards)));
    assert_eq!(clock.used(5), 0.5);
}

/// Whoever lends a search its thread takes no part in the result, and its time does not count.
#[test]
fn a_checkpoint_changes_nothing_but_the_time() {
    let rules = Preset::DogspielIt.rules();
    let view = view(&rules, &["0 20 33", "", "10", "40 50"], "7 9 K");
    let calls = Cell::new(0);
    let wait_once = || {
        calls.set(calls.get() + 1);
        if calls.get() == 1 {
            std::thread::sleep(Duration::from_millis(200));
        }
        true
    };
    let samples = |budget, checkpoint: Checkpoint<'_>| {
        let searcher = Searcher::new(nets(), SearchConfig::default(), PlayerModels::default());
        let mut searcher = searcher.with_checkpoint(checkpoint);
        let found = searcher.think(&view, budget, &mut rng(1)).into_iter();
        found
            .map(|found| (found.candidate, found.samples, found.values))
            .collect::<Vec<_>>()
    };
    let fixed = Budget::Samples(64);
    assert_eq!(samples(fixed, &wait_once), samples(fixed, &|| true));
    assert!(calls.get() > 64);
    calls.set(0);
    let timed = samples(Budget::Time(Duration::from_millis(150)), &wait_once);
    assert!(timed.iter().map(|(_, samples, _)| samples).sum::<u32>() > 0);
    let left = Cell::new(20);
    let stop = || {
        left.set(left.get() - 1);
        left.get() > 0
    };
    let stopped = samples(fixed, &stop)
        .into_iter()
        .map(|(_, samples, _)| samples);
    assert!((1..64).contains(&stopped.sum::<u32>()));
}

#[test]
fn the_expected_time_follows_rules_and_position() {
    let expected = |rules: &str, pieces: &[&str], samples| {
        let rules: Rules = rules.parse().unwrap();
        let view = view(&rules, pieces, "2 3 5 9 K A");
        Budget::Samples(samples).expected_time(&view)
    };
    let (four, six) = (
        ["20 25 30", "", "", ""],
        ["20 25 30", "", "", "10 11 12 13", "", ""],
    );
    let quiet = expected("dogspiel-it", &["", "", "", ""], 200);
    let busy = expected("dogspiel-it", &four, 200);
    assert!(busy > quiet && expected("dogspiel-it", &four, 400) > busy);
    let partner = expected("dogspiel-it seats=6 seven_partner=always", &six, 200);
    assert!(partner > 3 * expected("dogspiel-it seats=6", &six, 200));
    assert_eq!(expected("dogspiel-it", &four, u32::MAX), MAX_SEARCH_TIME);
    let timed = Budget::Time(Duration::from_millis(7));
    let rules = Preset::DogspielIt.rules();
    assert_eq!(
        timed.expected_time(&view(&rules, &four, "2")),
        Duration::from_millis(7)
    );
}
