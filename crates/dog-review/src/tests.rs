//! Reviews of small games.

use std::cell::Cell;

use dog_bot::{
    Level,
    testing::{choose, nets, new_game, rng, view},
};
use dog_rules::{Action, Actor, By, Card, EventKind, Rules, Seat};

use super::*;

/// As few playouts as there can be.
const QUICK: ReviewSettings = ReviewSettings {
    finding: 4,
    valuing: 2,
    rounds: 3,
    boards: u32::MAX,
};

fn rules(seats: u8) -> Rules {
    format!("dogspiel-it seats={seats}").parse().unwrap()
}

/// A game in which seat 0 plays at this level and the others by `greedy`.
fn game(rules: &Rules, level: Level, seed: u64) -> FinishedGame {
    let (mut game, mut dice) = (new_game(rules, seed), rng(seed));
    let (start, mut actions) = (game.clone(), Vec::new());
    let step = |game: &dog_rules::Game, seat: Seat, dice: &mut _| {
        let is_first = seat.number() == 0;
        let level = if is_first { level } else { Level::Greedy };
        choose(level, &game.seen_from(seat), dice).action(seat)
    };
    while let Some((action, _)) = game.step(|game, seat| step(game, seat, &mut dice)).unwrap() {
        actions.push((action, Actor::Player));
    }
    FinishedGame { start, actions }
}

fn reviewer(game: FinishedGame, settings: ReviewSettings, review: Review) -> Reviewer<'static> {
    Reviewer::new(nets(), settings, 7, game, review, &|| true).unwrap()
}

/// A decision with this difference and standard error.
fn decision(difference: f64, standard_error: f64) -> JudgedDecision {
    let seat = Seat::default();
    let offer = |card| Action::Offer { seat, card };
    JudgedDecision {
        version: 3,
        seat,
        by: None,
        played: offer(Card::Two),
        best: offer(Card::Three),
        win_probability: 0.5,
        difference,
        standard_error,
        random_loss: Some(0.04),
        net_random_loss: Some(0.03),
        find: None,
    }
}

#[test]
fn a_judgement_needs_a_loss_and_two_standard_errors() {
    use Judgement::*;
    for (difference, error, judgement) in [
        (-0.2, 0.01, Good),
        (0.0, 0.0, Good),
        (0.019, 0.001, Good),
        (0.02, 0.009, Inaccuracy),
        (0.02, 0.01, Good),
        (0.049, 0.01, Inaccuracy),
        (0.05, 0.01, Mistake),
        (0.099, 0.01, Mistake),
        (0.10, 0.01, Blunder),
        (0.5, 0.25, Good),
    ] {
        let found = decision(difference, error).judgement();
        assert_eq!(found, judgement, "{difference} ± {error}");
    }
    let best = JudgedDecision {
        best: decision(0.0, 0.0).played,
        ..decision(0.0, 0.0)
    };
    assert_eq!(best.judgement(), Best);
}

#[test]
fn accuracy_is_the_share_of_random_losses_that_were_not_lost() {
    assert_eq!(decision(-0.1, 0.0).loss(), 0.0);
    for (difference, expected) in [
        (-0.01, 100.0),
        (0.0, 100.0),
        (0.01, 75.0),
        (0.04, 0.0),
        (0.05, 0.0),
    ] {
        let mut made = vec![decision(difference, 0.0); 10];
        assert_eq!(accuracy(made.iter()), Some(expected), "{difference}");
        assert_eq!(accuracy(made.iter().skip(1)), None);
        // What hardly matters by the net's first values does not count, whatever it cost.
        made[0].net_random_loss = Some(0.0099);
        assert_eq!(accuracy(made.iter()), None);
        made[0].net_random_loss = Some(0.01);
        assert_eq!(accuracy(made.iter()), Some(expected));
        // Nor do decisions of older reviews.
        made[0].random_loss = None;
        assert_eq!(accuracy(made.iter()), None);
    }
    let lucky = JudgedDecision {
        random_loss: Some(-0.01),
        ..decision(0.0, 0.0)
    };
    assert_eq!(accuracy(std::iter::repeat_n(&lucky, 10)), None);
}

#[test]
fn decisions_of_older_reviews_have_no_random_loss() {
    let made = decision(0.01, 0.0);
    let mut value = serde_json::to_value(&made).unwrap();
    for member in ["random_loss", "net_random_loss"] {
        value.as_object_mut().unwrap().remove(member).unwrap();
    }
    let old: JudgedDecision = serde_json::from_value(value).unwrap();
    assert_eq!((old.random_loss, old.net_random_loss), (None, None));
    let review = |decisions| Review {
        decisions,
        ..Review::default()
    };
    assert!(review(vec![made.clone(), old]).is_old());
    assert!(!review(vec![made]).is_old());
}

/// The moments of a review in which these decisions were made, one after the other.
fn moments(luck: f64, decisions: Vec<JudgedDecision>) -> Vec<(MomentKind, u32, Option<u64>)> {
    let deal = |round, version, luck| DealValue {
        round,
        version,
        before: vec![0.5, 0.5],
        luck: vec![luck, -luck],
        luck_standard_error: vec![0.0, 0.0],
    };
    let decisions = decisions.into_iter().zip(3..);
    let mut review = Review {
        version: 9,
        deals: vec![deal(1, 1, luck), deal(2, 4, luck / 2.0)],
        decisions: decisions
            .map(|(made, version)| JudgedDecision { version, ..made })
            .collect(),
        winner: None,
        forfeited: false,
    };
    assert_eq!(review.moments(), []);
    review.winner = Some(0);
    let moments = review.moments().into_iter();
    moments
        .map(|moment| {
            assert_eq!(moment.seat.is_some(), moment.version.is_some());
            (moment.kind, moment.round, moment.version)
        })
        .collect()
}

#[test]
fn moments_are_the_largest_of_their_kind() {
    use MomentKind::*;
    let found = |find, by| JudgedDecision {
        find: Some(find),
        by,
        ..decision(0.0, 0.0)
    };
    let deal = (TurningPoint, 1, None);
    assert_eq!(moments(-0.1, vec![]), [deal]);
    assert_eq!(moments(-0.1, vec![decision(0.01, 0.0)]), [deal]);
    // The version of a deal is 4, that of the first decision 3.
    let decisions = vec![
        decision(0.06, 0.0),
        decision(0.3, 0.2),
        decision(0.09, 0.0),
        found(0.2, None),
        found(0.3, Some(By::Bot)),
        found(0.4, Some(By::Clock)),
    ];
    let (find, costliest) = ((BestFind, 2, Some(7)), (Costliest, 2, Some(5)));
    let turning = (TurningPoint, 1, Some(4));
    assert_eq!(moments(0.1, decisions.clone()), [turning, find, costliest]);
    assert_eq!(moments(-0.4, decisions), [deal, find, costliest]);
}

#[test]
fn everything_adds_up() {
    // Also if no playout ends within the limit.
    for (seats, boards) in [(4, u32::MAX), (6, u32::MAX), (6, 0)] {
        let rules = rules(seats);
        let game = game(&rules, Level::Greedy, 5);
        let settings = ReviewSettings { boards, ..QUICK };
        let actions = game.actions.iter();
        let deals = actions.filter(|(action, _)| matches!(action, Action::Deal { .. }));
        let deals = deals.count();
        let review = reviewer(game, settings, Review::default());
        let review = review.finish().unwrap();
        let rounds = review.rounds(&rules);
        assert_eq!((rounds.len(), review.deals.len()), (deals, deals));
        for (place, round) in rounds.iter().enumerate() {
            assert_eq!(round.round as usize, place + 1);
            for team in 0..usize::from(seats / 2) {
                let rest = round.rest.as_ref().expect("it was played to its end");
                let parts = [&round.before, &round.luck, &round.decisions, rest];
                let sum: f64 = parts.iter().map(|part| part[team]).sum();
                assert!((sum - round.end[team]).abs() < 1e-9, "{round:?}");
                if let Some(next) = rounds.get(place + 1) {
                    assert_eq!(round.end[team], next.before[team]);
                }
            }
            // A chance that one team gains, others lose, but for the rounding.
            for part in [&round.luck, &round.decisions] {
                assert!(part.iter().sum::<f64>().abs() < 3e-4, "{round:?}");
            }
            assert!((round.before.iter().sum::<f64>() - 1.0).abs() < 3e-4);
        }
        let teams = review.teams(&rules);
        assert_eq!(teams.len(), usize::from(seats / 2));
        for team in teams {
            let sum = team.start + team.luck + team.decisions + team.rest;
            assert!((sum - team.result).abs() < 1e-9, "{team:?}");
            assert_eq!(team.result == 1.0, review.winner == Some(team.team));
        }
    }
}

#[test]
fn what_is_left_of_a_game_that_was_given_up_is_not_known() {
    let rules = rules(4);
    let whole = game(&rules, Level::Greedy, 5);
    // In the middle of a round, and right after its deal.
    for (rounds, more) in [(3, 15), (2, 0)] {
        let mut game = whole.clone();
        let numbered = game.actions.iter().enumerate();
        let mut deals = numbered.filter(|(_, (action, _))| matches!(action, Action::Deal { .. }));
        let (last, _) = deals.nth(rounds - 1).unwrap();
        game.actions.truncate(last + 1 + more);
        for seat in Seat::all(4).step_by(2) {
            let offered = true;
            let action = Action::Forfeit { seat, offered };
            game.actions.push((action, Actor::Player));
        }
        let review = reviewer(game, QUICK, Review::default()).finish().unwrap();
        assert_eq!((review.winner, review.forfeited), (Some(1), true));
        let found = review.rounds(&rules);
        let known: Vec<bool> = found.iter().map(|round| round.rest.is_some()).collect();
        assert_eq!(known.len(), rounds);
        assert!(!known[rounds - 1] && known[..rounds - 1].iter().all(|&known| known));
        assert_eq!(found[rounds - 1].end, [0.0, 1.0]);
        for team in review.teams(&rules) {
            let sum = team.start + team.luck + team.decisions + team.rest;
            assert!((sum - team.result).abs() < 1e-9, "{team:?}");
        }
        assert!(review.seats(&rules)[0].decisions > 0 || more == 0);
        let old = serde_json::to_string(&review)
            .unwrap()
            .replace(",\"forfeited\":true", "");
        assert!(!serde_json::from_str::<Review>(&old).unwrap().forfeited);
    }
}

#[test]
fn an_interrupted_review_goes_on_as_if_it_were_not() {
    let rules = rules(4);
    let game = game(&rules, Level::Random, 3);
    let whole = reviewer(game.clone(), QUICK, Review::default());
    let whole = whole.finish().unwrap();
    let (mut review, mut steps) = (Review::default(), 0);
    loop {
        let mut part = reviewer(game.clone(), QUICK, review);
        let before = part.review().version;
        for _ in 0..150 {
            steps += usize::from(part.step().unwrap());
        }
        let done = part.review().winner.is_some();
        assert!(done || part.review().version > before);
        let stored = serde_json::to_string(part.review()).unwrap();
        review = serde_json::from_str(&stored).unwrap();
        assert_eq!(&review, part.review());
        assert_eq!(review.teams(&rules).is_empty(), !done);
        let open = usize::from(!done);
        assert_eq!(review.rounds(&rules).len(), review.deals.len() - open);
        if done {
            break;
        }
    }
    assert_eq!(steps, game.actions.len());
    assert_eq!(review, whole);
    // A player at random is at times better than `greedy` by chance.
    let finds = review.decisions.iter().filter(|made| made.find.is_some());
    assert!(finds.count() > 0);
}

#[test]
fn decisions_are_those_with_a_choice_and_say_who_made_them() {
    let rules = rules(4);
    let mut game = game(&rules, Level::Greedy, 3);
    // A server that acts for a seat whose time is up.
    for (action, actor) in &mut game.actions {
        if matches!(action, Action::Play { seat, .. } if seat.number() == 1) {
            *actor = Actor::Clock;
        }
    }
    let actions = game.actions.clone();
    let first = game.start.version() + 1;
    let review = reviewer(game, QUICK, Review::default()).finish().unwrap();
    for decision in &review.decisions {
        let (action, _) = &actions[(decision.version - first) as usize];
        assert_eq!(&decision.played, action);
        let folds = matches!(action, Action::Play { mv, .. } if mv.card().is_none());
        assert!(!folds, "there was no choice");
        assert_eq!(decision.played.seat(), Some(decision.seat));
        assert_eq!(decision.best.seat(), Some(decision.seat));
        let by = matches!(action, Action::Play { .. }) && decision.seat.number() == 1;
        assert_eq!(decision.by, by.then_some(By::Clock));
        assert!((0.0..=1.0).contains(&decision.win_probability));
        let is_best = decision.played == decision.best;
        if is_best {
            assert_eq!((decision.difference, decision.standard_error), (0.0, 0.0));
        }
        assert!(decision.random_loss.is_some());
        assert!((0.0..=1.0).contains(&decision.net_random_loss.unwrap()));
        assert!(decision.find.is_none_or(|find| is_best && find > 0.0));
    }
    for seat in review.seats(&rules) {
        let own = review.decisions.iter();
        let own = own.filter(|made| made.seat == seat.seat && made.by.is_none());
        assert_eq!(seat.decisions as usize, own.count());
        let JudgementCounts {
            best,
            good,
            inaccuracy,
            mistake,
            blunder,
        } = seat.judgements;
        assert_eq!(seat.decisions, best + good + inaccuracy + mistake + blunder);
        assert!(seat.costliest.len() <= 3);
        // The clock plays for one of them, and answers in the exchange are few.
        assert!(seat.accuracy.is_some() || seat.seat.number() == 1);
        let accuracy = seat.accuracy.unwrap_or_default();
        assert!((0.0..=100.0).contains(&accuracy), "{accuracy}");
    }
    for seat in Review::default().seats(&rules) {
        assert_eq!((seat.accuracy, seat.mean_loss), (None, None));
    }
    let by_bots = review.decisions.iter().map(|decision| JudgedDecision {
        by: decision.by.or(Some(By::Bot)),
        ..decision.clone()
    });
    let by_bots = Review {
        decisions: by_bots.collect(),
        ..review.clone()
    };
    for (bot, person) in by_bots.seats(&rules).iter().zip(review.seats(&rules)) {
        assert_eq!((bot.bot_accuracy, bot.accuracy), (person.accuracy, None));
        assert_eq!((bot.decisions, person.bot_accuracy), (0, None));
    }
}

/// A review that is stopped in the middle of a search keeps what it found before, and goes on later
/// as if it were not.
#[test]
fn a_stopped_review_finds_nothing_more() {
    let game = game(&rules(4), Level::Greedy, 5);
    let whole = reviewer(game.clone(), QUICK, Review::default());
    let whole = whole.finish().unwrap();
    let (mut review, mut stops) = (Review::default(), 0);
    while review != whole {
        let calls = Cell::new(0);
        let goes_on = || {
            calls.set(calls.get() + 1);
            calls.get() < 1_000
        };
        let known = review.version;
        let part = Reviewer::new(nets(), QUICK, 7, game.clone(), review, &goes_on);
        review = part.unwrap().finish().unwrap();
        assert!(review.version > known);
        stops += 1;
    }
    assert!(stops > 2, "{stops}");
}

#[test]
fn all_searches_of_a_review_have_equal_shares_of_its_boards() {
    let rules = rules(4);
    let mut game = game(&rules, Level::Greedy, 5);
    let share = |game: &FinishedGame| {
        let reviewer = reviewer(game.clone(), QUICK, Review::default());
        reviewer.search.settings.boards as usize
    };
    assert_eq!(share(&game), 150_000_000 / game.actions.len());
    game.actions = game.actions.into_iter().cycle().take(30_000).collect();
    assert_eq!(share(&game), 5_000);
    let view = view(&rules, &["0 20 33", "", "10", "40 50"], "7 9 K");
    let playouts = |boards| {
        let settings = ReviewSettings {
            finding: 400,
            boards,
            ..QUICK
        };
        let mut search = ReviewSearch::new(nets(), settings, &|| true);
        let found = search.find(&view, &mut rng(1)).into_iter();
        found.map(|found| found.samples).sum::<u32>()
    };
    assert!((1..200).contains(&playouts(5_000)));
    assert_eq!(playouts(5_000), playouts(5_000));
    // It ends before its 400 playouts if the best choice is clear.
    assert!((200..=400).contains(&playouts(u32::MAX)));
    let values = |boards| {
        let settings = ReviewSettings {
            valuing: 200,
            boards,
            ..QUICK
        };
        let mut search = ReviewSearch::new(nets(), settings, &|| true);
        let found = search.find(&view, &mut rng(1));
        let (best, worst) = (found[0].candidate, found[found.len() - 1].candidate);
        search.values(&view, best, worst, &mut rng(2))
    };
    // What was hardly played out is not judged.
    assert_eq!(values(1_000), None);
    assert!(values(u32::MAX).is_some());
}

/// A four wins at once, and to keep it for later does not.
#[test]
fn a_missed_win_is_found() {
    let rules = rules(4);
    let mut view = view(&rules, &["60 g1 g2 g3", "20 30", "g0 g1 g2 g3", "5"], "4 5");
    view.counts = dog_rules::BySeat::from_fn(|_| 2);
    let settings = ReviewSettings {
        finding: 16,
        valuing: 20,
        rounds: 2,
        ..QUICK
    };
    let mut search = ReviewSearch::new(nets(), settings, &|| true);
    let found = search.find(&view, &mut rng(1));
    let (best, worst) = (found[0].candidate, found[found.len() - 1].candidate);
    let values = search.values(&view, best, worst, &mut rng(2)).unwrap();
    assert_eq!(values.win_probability, 1.0);
    let least = f64::max(0.02, 4.0 * values.standard_error);
    assert!(values.difference > least, "{values:?}");
    assert!(
        (0.0..values.difference).contains(&values.random_loss),
        "{values:?}"
    );
    let same = search.values(&view, best, best, &mut rng(2)).unwrap();
    assert_eq!((same.difference, same.standard_error), (0.0, 0.0));
    assert_eq!(same.random_loss, values.random_loss);
}

/// The stock that was dealt later says nothing: neither the values of a deal nor those of a
/// decision change with it.
#[test]
fn the_real_stock_says_nothing() {
    let rules = rules(4);
    let game = game(&rules, Level::Greedy, 4);
    let mut other = game.clone();
    let mut value = serde_json::to_value(&other.start).unwrap();
    let stock = value["stock"].as_str().unwrap().to_owned();
    // The first round deals the last cards of the list, 24 of 6 each.
    let (rest, dealt) = stock.split_at(stock.len() - 24);
    let turned: String = rest.chars().rev().collect();
    assert_ne!(turned, rest);
    value["stock"] = format!("{turned}{dealt}").into();
    other.start = serde_json::from_value(value).unwrap();
    let mut played = game.start.clone();
    let round = game.actions.iter().position(|(action, actor)| {
        let events = played.apply_by(action, *actor).unwrap();
        let mut events = events.iter();
        events.any(|event| matches!(event.what, EventKind::RoundEnded { .. }))
    });
    let review = |game: FinishedGame| {
        let mut reviewer = reviewer(game, QUICK, Review::default());
        for _ in 0..=round.unwrap() {
            assert!(reviewer.step().unwrap());
        }
        reviewer.review().clone()
    };
    let (one, other) = (review(game.clone()), review(other));
    assert!(!one.decisions.is_empty());
    assert_eq!(one, other);
}
