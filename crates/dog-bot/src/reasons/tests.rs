//! Subtle cases of some codes, and every reason in many random decisions.

mod decisions;

use std::time::Instant;

use dog_rules::{Preset, Rules};

use super::*;
use crate::{
    Level,
    player_model::PlayerModels,
    search::{Budget, SearchConfig, Searcher},
    testing::*,
    tests::{cells, pieces},
};

/// The reasons of one of greedy's moves.
fn reasons(rules: &Rules, position: &str, hand: &str, id: &str) -> Vec<AdviceReason> {
    let choice = Choice::Play(id.parse().expect("a move"));
    let view = view(rules, &pieces(position), hand);
    let mut advice = advise(Level::Greedy, &view, &mut rng(1)).into_iter();
    let found = advice.find(|suggestion| suggestion.choice == choice);
    found.expect("a legal move").reasons
}

/// A reason as a text: its name, seat, place and card, as far as it has them.
fn text(reason: &AdviceReason) -> String {
    let mut text = reason.code.name().to_owned();
    if let Some(seat) = reason.seat {
        text += &format!(" {}", seat.number());
    }
    if let Some(place) = reason.place {
        text += &format!(" {place}");
    }
    if let Some(card) = reason.card {
        text += &format!(" {card}");
    }
    text
}

/// Checks the reasons of some moves, by the sheet `dogspiel-it`. Each line is a position, a hand, a
/// move and its reasons. `farthest`, which is true of many, may be left out.
fn check(table: &str) {
    check_by(Preset::DogspielIt, table);
}

fn check_by(preset: Preset, table: &str) {
    for [position, hand, id, expected] in cells(table) {
        let reasons = reasons(&preset.rules(), position, hand, id);
        let mut found: Vec<String> = reasons.iter().map(text).collect();
        found.retain(|reason| reason != "farthest" || expected.contains("farthest"));
        if found.is_empty() {
            found.push("no_better".to_owned());
        }
        assert_eq!(found.join(", "), expected, "{id} on {position}");
    }
}

#[test]
fn codes_are_in_order_and_named_as_they_are_written() {
    let codes = AdviceReasonCode::ALL;
    assert!(codes.is_sorted());
    assert_eq!(codes[codes.len() - 1], AdviceReasonCode::NoBetter);
    for code in codes {
        let debug = format!("{code:?}").to_lowercase();
        assert_eq!(code.name().replace('_', ""), debug);
    }
}

/// What the seat can do with its next card, and what an opponent could have done. From 58 a seven
/// reaches the goal, from 57 only its door.
#[test]
fn a_move_looks_at_the_next_card() {
    check(
        "63 g1 g2 g3 / - / g0 g1 g2 g3 / -     | 2 5 | 2:63>g0  | wins, brings_home 0 goal:0
         58 / - / - / -                        | 2 5 | 2:58>60  | then_home 0 60 5
         58 / - / - / -                        | 2 8 | 2:58>60  | no_better
         57 / - / - / -                        | A 7 | A:57>58  | then_home 0 58 7
         58 / - / - / -                        | A 7 | A:58>59  | no_better
         30 / 14 g1 g2 g3 / - / g0 g1 g2 g3    | J 2 | J:30<>14 | stops_win 1 14, delays_opponent 1
         30 / 14 / - / -                       | J 2 | J:30<>14 | stops_home 1 14, delays_opponent 1
         30 / 20 / - / -                       | J 2 | J:30<>20 | escapes 1 30
         - / - / - / -                         | K   | K:out    | only_move
         20 / - / - / -                        | 5 9 | 9:20>29  | farthest
         20 / - / - / -                        | 5 9 | 5:20>25  | no_better",
    );
}

/// On 32, the start of the partner, it is safe. On 30 a queen of seat 1 captures, on 48 a king of
/// seat 3. Before 21 nobody could capture it. Seven steps behind, only a seven captures, and by
/// some rules none does.
#[test]
fn a_piece_escapes_from_every_card() {
    check(
        "20 / 18 / - / - | K Q 10 | K:20>33  | escapes 1 20
         20 / 18 / - / - | K Q 10 | Q:20>32  | escapes 1 20
         20 / 18 / - / - | K Q 10 | 10:20>30 | no_better
         35 / 33 / - / - | K      | K:35>48  | no_better
         20 / 21 / - / - | K      | K:20>33  | no_better
         20 / 13 / - / - | K      | K:20>33  | escapes 1 20",
    );
    check_by(
        Preset::Hausregeln,
        "20 / 13 / - / - | K | K:20>33 | no_better",
    );
}

#[test]
fn a_block_threatens_what_it_shields() {
    // The fresh piece on 16 stops the one on 14, unless a seven moves the fresh one first; but then
    // the fresh one can capture by itself. The last two are behind a block of another team.
    let rules = Preset::DogspielIt.rules();
    for (position, owner, field, attacker) in [
        ("24 / 14 16f / - / -", 0, 24, Some(1)),
        ("19 / 14 16f / - / -", 0, 19, Some(1)),
        ("19 / 14 / - / -", 0, 19, Some(1)),
        ("- / 62 / 3 / -", 2, 3, Some(1)),
        ("0f / 62 / 3 / -", 2, 3, None),
    ] {
        let board = board(&rules, &pieces(position));
        let found = reach::attacker(&rules, &board, seat(owner, &rules), field);
        assert_eq!(found.map(Seat::number), attacker, "{position}");
    }
}

#[test]
fn blocks_appear_and_go() {
    check(
        "40 / 60 / - / -      | K | K:out | leaves_kennel 0 0, blocks 1 0
         50 / 40 / 60 / -     | K | K:out | leaves_kennel 0 0
         0f 30 / 57 / - / 60  | 6 | 6:0>6 | unblocks 3 0
         0f 30 / 40 / - / -   | 6 | 6:0>6 | no_better",
    );
}

#[test]
fn four_back_is_a_shortcut() {
    check(
        "2 / - / - / -  | 4 | 4:2>62  | near_goal 0 62, backward_shortcut 0 62
         2 / - / - / -  | 4 | 4:2>6   | no_better
         30 / - / - / - | 4 | 4:30>26 | no_better",
    );
    check_by(
        Preset::Hausregeln,
        "1 / - / - / - | 4 | 4:1>g1 | brings_home 0 goal:1, backward_shortcut 0 goal:1",
    );
}

/// In the last position the king cannot be played: a block is in its way.
#[test]
fn valuable_cards_are_kept() {
    check(
        "20 40 / - / - / -         | 10 joker | 10:40>50      | keeps_card joker
         20 40 / - / - / -         | 10 joker | joker=2:20>22 | no_better
         20 / - / - / -            | 10 5     | 10:20>30      | no_better
         40 g1 g2 g3 / - / - / 48f | 2 3 K    | 2:40>42       | no_better",
    );
}

#[test]
fn risks_are_those_of_the_playouts() {
    let rules = Preset::DogspielIt.rules();
    let view = view(&rules, &["20 40", "17 18 19", "", "37"], "2 5 9 Q");
    let advice = advise_by(Level::Fast, Some(Budget::Samples(300)), &view, &mut rng(1));
    let mut exposed = [0, 0];
    for suggestion in advice {
        let mut reasons = suggestion.reasons.iter();
        let reason = reasons.find(|reason| reason.code == AdviceReasonCode::Exposes);
        let risk = suggestion.risk.filter(|&risk| risk >= 0.15);
        assert_eq!(
            reason.and_then(|reason| reason.probability),
            risk.map(rounded)
        );
        exposed[usize::from(risk.is_some())] += 1;
    }
    assert!(exposed.iter().all(|&number| number > 0), "{exposed:?}");
}

/// The suggestion without what only the search explains.
fn unexplained(suggestion: &Suggestion) -> Suggestion {
    Suggestion {
        reasons: Vec::new(),
        line: Vec::new(),
        ..suggestion.clone()
    }
}

#[test]
fn bots_neither_explain_nor_remember() {
    let rules = Preset::DogspielIt.rules();
    let view = view(&rules, &["20 40", "17 18 19", "", "37"], "2 5 9 Q");
    for explains in [false, true] {
        let config = SearchConfig {
            explains,
            ..Default::default()
        };
        let searcher = Searcher::new(nets(), config, PlayerModels::default());
        let advice = crate::advise_by_search(searcher, Budget::Samples(60), &view, &mut rng(1));
        let mut lines = advice.iter().map(|suggestion| &suggestion.line);
        assert_eq!(lines.any(|line| !line.is_empty()), explains);
        let explained = advise_by(Level::Fast, Some(Budget::Samples(60)), &view, &mut rng(1));
        let [one, other] = [&advice, &explained].map(|advice| advice.iter().map(unexplained));
        assert!(one.eq(other));
    }
}

/// The time of reasons, in positions of games under every preset and with the longest lists.
#[test]
#[ignore = "measures time: cargo test -p dog-bot --lib -- --ignored time_of_reasons"]
fn time_of_reasons() {
    let mut rng = rng(5);
    let (mut times, mut fast, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..3_000u32 {
        let preset = Preset::ALL[number as usize % Preset::ALL.len()];
        let seats = if number % 2 == 0 { 4 } else { 6 };
        let seven_partner = if number % 3 == 0 {
            "always"
        } else {
            "when_home"
        };
        let rules = format!(
            "{} seats={seats} seven_partner={seven_partner}",
            preset.name()
        );
        let rules = crate::tests::rules(&rules);
        let view = decisions::decision(&rules, number % 8 == 0, &mut rng);
        if view.board.winner(&rules).is_some() {
            continue;
        }
        let mut advice = crate::advice::static_advice(Level::Greedy, &view, &mut rng);
        let started = Instant::now();
        explain(&view, &mut advice);
        times.push((started.elapsed(), advice.len()));
        let started = Instant::now();
        let advice = advise_by(Level::Fast, None, &view, &mut rng);
        fast.push((started.elapsed(), advice.len()));
        let started = Instant::now();
        let searcher = Searcher::new(nets(), SearchConfig::default(), PlayerModels::default());
        let budget = Budget::for_level(Level::Fast).expect("a level that searches");
        let advice = crate::advise_by_search(searcher, budget, &view, &mut rng);
        plain.push((started.elapsed(), advice.len()));
    }
    for (name, times) in [
        ("reasons", &mut times),
        ("fast advice", &mut fast),
        ("without reasons and lines", &mut plain),
    ] {
        times.sort();
        let quantile = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        let quantiles = [0.5, 0.9, 0.99, 0.999, 1.0].map(quantile);
        println!("{name}: median, p90, p99, p99.9, max: {quantiles:?}");
    }
}
