//! Each code where it is true and where it is not, and every reason in many random decisions.

mod decisions;

use std::time::Instant;

use dog_rules::{Options, Preset, Rules, SevenPartner};

use super::*;
use crate::{
    Level, advise,
    player_model::PlayerModels,
    search::{Budget, SearchConfig, Searcher},
    testing::*,
};

/// What greedy advises here.
fn advice(rules: &Rules, pieces: &[&str], hand: &str) -> Vec<Suggestion> {
    crate::testing::advise(Level::Greedy, &view(rules, pieces, hand), &mut rng(1))
}

/// The reasons of one move of seat 0.
fn reasons(rules: &Rules, pieces: &[&str], hand: &str, id: &str) -> Vec<AdviceReason> {
    let choice = Choice::Play(id.parse().expect("a move"));
    let mut advice = advice(rules, pieces, hand).into_iter();
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

/// Checks the reasons of some moves, by the sheet `dogspiel-it`.
fn check(pieces: &[&str], hand: &str, moves: &[(&str, &[&str])]) {
    check_by(Preset::DogspielIt, pieces, hand, moves);
}

fn check_by(preset: Preset, pieces: &[&str], hand: &str, moves: &[(&str, &[&str])]) {
    for (id, expected) in moves {
        let reasons = reasons(&preset.rules(), pieces, hand, id);
        let found: Vec<String> = reasons.iter().map(text).collect();
        assert_eq!(&found, expected, "{id} on {pieces:?}");
    }
}

#[test]
fn names_are_unique_and_in_order() {
    let codes = AdviceReasonCode::ALL;
    assert!(codes.is_sorted());
    assert_eq!(codes[codes.len() - 1], AdviceReasonCode::NoBetter);
    for code in codes {
        let same = codes.iter().filter(|other| other.name() == code.name());
        assert_eq!(same.count(), 1);
        let debug = format!("{code:?}").to_lowercase();
        assert_eq!(code.name().replace('_', ""), debug);
    }
}

#[test]
fn pieces_come_home_and_go_deeper() {
    check(
        &["62 g0", "", "", ""],
        "4 2",
        &[
            ("4:62>2", &["no_better"]),
            ("2:g0>g2", &["clears_goal 0 goal:2"]),
        ],
    );
    check(
        &["62", "", "", ""],
        "4",
        &[("4:62>g1", &["brings_home 0 goal:1"])],
    );
}

#[test]
fn pieces_leave_the_kennel() {
    check(
        &["20", "", "", ""],
        "K",
        &[
            ("K:out", &["leaves_kennel 0 0"]),
            ("K:20>33", &["no_better"]),
        ],
    );
}

#[test]
fn pieces_are_captured() {
    let theirs: &[&str] = &["captures 1 23", "delays_opponent 1"];
    check(&["20", "23", "", ""], "3", &[("3:20>23", theirs)]);
    let partners: &[&str] = &["captures_partner 2 23", "harms_partner 2"];
    check(&["20", "", "23", ""], "3", &[("3:20>23", partners)]);
    check(
        &["20 23", "", "", ""],
        "3 2",
        &[
            ("3:20>23", &["captures_own 0 23"]),
            ("2:20>22", &["no_better"]),
        ],
    );
}

#[test]
fn a_piece_escapes_from_every_card() {
    check(
        &["20", "18", "", ""],
        "K Q 10",
        &[
            ("K:20>33", &["escapes 1 20"]),
            // The start of the partner, who is no opponent.
            ("Q:20>32", &["escapes 1 20"]),
            // A queen of seat 1 captures there.
            ("10:20>30", &["no_better"]),
        ],
    );
    // A king of seat 3 captures on its start.
    check(&["35", "33", "", ""], "K", &[("K:35>48", &["no_better"])]);
    // Nobody could capture it before.
    check(&["20", "21", "", ""], "K", &[("K:20>33", &["no_better"])]);
    // Seven steps behind, only a seven captures, and by some rules none does.
    let seven_behind = ["20", "13", "", ""];
    check(&seven_behind, "K", &[("K:20>33", &["escapes 1 20"])]);
    let none: &[&str] = &["no_better"];
    let hausregeln = Preset::Hausregeln;
    check_by(hausregeln, &seven_behind, "K", &[("K:20>33", none)]);
}

#[test]
fn a_block_threatens_what_it_shields() {
    // The fresh piece on 16 stops the one on 14, unless a seven moves the fresh one first; but then
    // the fresh one can capture by itself.
    let rules = Preset::DogspielIt.rules();
    let board = board(&rules, &["24", "14 16f", "", ""]);
    let [own, other] = [0, 1].map(|number| seat(number, &rules));
    assert_eq!(reach::attacker(&rules, &board, own, 24), Some(other));
    let board = self::board(&rules, &["19", "14 16f", "", ""]);
    assert_eq!(reach::attacker(&rules, &board, own, 19), Some(other));
    // Behind a block of another team.
    let board = self::board(&rules, &["19", "14", "", ""]);
    assert_eq!(reach::attacker(&rules, &board, own, 19), Some(other));
    let board = self::board(&rules, &["", "62", "3", ""]);
    let partner = seat(2, &rules);
    assert_eq!(reach::attacker(&rules, &board, partner, 3), Some(other));
    let board = self::board(&rules, &["0f", "62", "3", ""]);
    assert_eq!(reach::attacker(&rules, &board, partner, 3), None);
}

#[test]
fn blocks_appear_and_go() {
    check(
        &["", "60", "", ""],
        "K",
        &[("K:out", &["leaves_kennel 0 0", "blocks 1 0"])],
    );
    check(
        &["", "40", "60", ""],
        "K",
        &[("K:out", &["leaves_kennel 0 0"])],
    );
    check(
        &["0f", "57", "", "60"],
        "6",
        &[("6:0>6", &["unblocks 3 0"])],
    );
    check(&["0f", "40", "", ""], "6", &[("6:0>6", &["no_better"])]);
}

#[test]
fn one_card_from_the_goal() {
    check(
        &["40", "", "", ""],
        "Q 10",
        &[
            ("Q:40>52", &["near_goal 0 52"]),
            ("10:40>50", &["no_better"]),
        ],
    );
    // It was near before.
    check(&["52", "", "", ""], "2", &[("2:52>54", &["no_better"])]);
}

#[test]
fn four_back_is_a_shortcut() {
    check(
        &["2", "", "", ""],
        "4",
        &[
            ("4:2>62", &["near_goal 0 62", "backward_shortcut 0 62"]),
            ("4:2>6", &["no_better"]),
        ],
    );
    let home: &[&str] = &["brings_home 0 goal:1", "backward_shortcut 0 goal:1"];
    check_by(
        Preset::Hausregeln,
        &["1", "", "", ""],
        "4",
        &[("4:1>g1", home)],
    );
    check(&["30", "", "", ""], "4", &[("4:30>26", &["no_better"])]);
}

#[test]
fn valuable_cards_are_kept() {
    check(
        &["20 40", "", "", ""],
        "10 joker",
        &[
            ("10:40>50", &["keeps_card joker"]),
            ("joker=2:20>22", &["no_better"]),
        ],
    );
    check(&["20", "", "", ""], "10 5", &[("10:20>30", &["no_better"])]);
    // The king cannot be played: a block is in its way.
    let blocked = ["40 g1 g2 g3", "", "", "48f"];
    check(&blocked, "2 K", &[("2:40>42", &["no_better"])]);
}

#[test]
fn the_partner_and_opponents_gain_and_lose_steps() {
    let helps: &[&str] = &["near_goal 2 30", "helps_partner 2"];
    check(&["30", "", "40", ""], "J", &[("J:30<>40", helps)]);
    let harms: &[&str] = &["harms_partner 2"];
    check(&["40", "", "30", ""], "J", &[("J:40<>30", harms)]);
    let delays: &[&str] = &["escapes 1 20", "delays_opponent 1"];
    check(&["20", "14", "", ""], "J", &[("J:20<>14", delays)]);
    check(&["14", "20", "", ""], "J", &[("J:14<>20", &["no_better"])]);
}

/// The reasons to offer a card in the exchange.
fn offer(pieces: &[&str], hand: &str, card: &str) -> Vec<String> {
    let rules = Preset::DogspielIt.rules();
    let mut view = view(&rules, pieces, hand);
    view.exchanging = true;
    let choice = Choice::Offer(card.parse().expect("a card"));
    let mut advice = crate::testing::advise(Level::Fast, &view, &mut rng(1)).into_iter();
    let offer = advice
        .find(|suggestion| suggestion.choice == choice)
        .expect("an offer");
    assert!(offer.line.is_empty());
    offer.reasons.iter().map(text).collect()
}

#[test]
fn offers_fit_the_partner() {
    let stuck = ["30", "50", "", "52"];
    assert_eq!(offer(&stuck, "K 5", "K"), ["gives_exit 2 K"]);
    assert_eq!(offer(&stuck, "K 5", "5"), ["no_better"]);
    let near = ["", "48", "30", ""];
    assert_eq!(offer(&near, "K 5 10", "5"), ["gives_fitting_card 2 5"]);
    assert_eq!(offer(&near, "K 5 10", "10"), ["no_better"]);
    assert_eq!(offer(&near, "K 5 10", "K"), ["no_better"]);
    let behind = ["", "48", "38", ""];
    assert_eq!(offer(&behind, "K 5 10", "10"), ["gives_fitting_card 2 10"]);
}

#[test]
fn risks_are_those_of_the_playouts() {
    let rules = Preset::DogspielIt.rules();
    let view = view(&rules, &["20 40", "17 18 19", "", "37"], "2 5 9 Q");
    let models = PlayerModels::default();
    let budget = Some(Budget::Samples(300));
    let advice = advise(nets(), Level::Fast, budget, &view, &models, &mut rng(1));
    let mut exposed = [0, 0];
    for suggestion in advice {
        let reason = suggestion
            .reasons
            .iter()
            .find(|reason| reason.code == AdviceReasonCode::Exposes);
        let risk = suggestion.risk.filter(|&risk| risk >= 0.15);
        assert_eq!(reason.and_then(|reason| reason.probability), risk);
        exposed[usize::from(risk.is_some())] += 1;
    }
    assert!(exposed.iter().all(|&number| number > 0), "{exposed:?}");
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
        let told = |suggestion: &Suggestion| !suggestion.line.is_empty();
        assert_eq!(advice.iter().any(told), explains);
        let models = PlayerModels::default();
        let budget = Some(Budget::Samples(60));
        let explained = advise(nets(), Level::Fast, budget, &view, &models, &mut rng(1));
        let plain = |suggestion: &Suggestion| Suggestion {
            reasons: Vec::new(),
            line: Vec::new(),
            ..suggestion.clone()
        };
        let [one, other] = [&advice, &explained].map(|advice| advice.iter().map(plain));
        assert!(one.eq(other));
    }
}

/// The time of reasons, in positions of games under every preset and with the longest lists.
#[test]
#[ignore = "measures time"]
fn time_of_reasons() {
    let mut rng = rng(5);
    let (mut times, mut fast, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..3_000u32 {
        let preset = Preset::ALL[number as usize % Preset::ALL.len()];
        let seven_partner = match number % 3 {
            0 => SevenPartner::Always,
            _ => SevenPartner::WhenHome,
        };
        let options = Options {
            seats: if number % 2 == 0 { 4 } else { 6 },
            seven_partner,
            ..preset.options()
        };
        let rules = Rules::try_from(options).expect("possible rules");
        let view = decisions::decision(&rules, number % 8 == 0, &mut rng);
        if view.board.winner(&rules).is_some() {
            continue;
        }
        let mut advice = crate::advice::static_advice(Level::Greedy, &view, &mut rng);
        let begin = Instant::now();
        explain(&view, &mut advice);
        times.push((begin.elapsed(), advice.len()));
        let begin = Instant::now();
        let models = PlayerModels::default();
        let advice = advise(nets(), Level::Fast, None, &view, &models, &mut rng);
        fast.push((begin.elapsed(), advice.len()));
        let begin = Instant::now();
        let searcher = Searcher::new(nets(), SearchConfig::default(), models);
        let budget = Budget::for_level(Level::Fast).expect("a level that searches");
        let advice = crate::advise_by_search(searcher, budget, &view, &mut rng);
        plain.push((begin.elapsed(), advice.len()));
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
