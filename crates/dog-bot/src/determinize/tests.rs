//! Dealt hands: possible whatever is hidden, and weighted by what was played.

use std::time::Duration;

use dog_rules::{Game, Phase, Preset, round_history::PastMove};

use super::*;
use crate::{
    Level,
    search::{Budget, SearchLimit},
    testing::{board, cards, choose, hidden_changed, nets, new_game, rng, seat, view},
    tests::rules,
};

/// A clock whose time is never up.
fn endless() -> BudgetClock<'static> {
    BudgetClock::start(Budget::Samples(1), SearchLimit::Boards(u32::MAX), &|| true)
}

/// This many deals of what a view leaves open, each drawn from `draws`.
fn deals(view: &SeatView, number: usize, draws: u32) -> Vec<BySeat<Cards>> {
    let evaluator = nets().for_rules(view.rules);
    let determinizer =
        Determinizer::new(evaluator, view, draws, &endless(), &mut Scratch::default());
    let mut rng = rng(1);
    (0..number).map(|_| determinizer.deal(&mut rng)).collect()
}

fn check(view: &SeatView, hands: &BySeat<Cards>) {
    assert_eq!(hands[view.seat], view.hand);
    let mut all = view.discards;
    for seat in view.rules.ring().seats() {
        assert_eq!(hands[seat].len(), view.counts[seat], "{seat}");
        assert!(hands[seat].includes(view.known[seat]), "{seat}");
        all.add_all(hands[seat]);
    }
    assert!(view.rules.deck().includes(all), "{all:?}");
}

#[test]
fn deals_fit_what_is_seen_and_depend_on_nothing_else() {
    let mut chance = rng(2);
    let (mut exchanges, mut known, mut evidence) = (0, 0, 0);
    for (number, preset) in (0..).zip(Preset::ALL) {
        let seats = 4 + 2 * (number % 2);
        let rules = rules(&format!("{} seats={seats}", preset.name()));
        let mut game = new_game(&rules, number);
        for step in 0..70 {
            let choose = |game: &Game, seat| {
                let view = game.seen_from(seat);
                if step % 5 == 0 {
                    let other = hidden_changed(game, seat, &mut chance);
                    let dealt = deals(&view, 3, 4);
                    dealt.iter().for_each(|hands| check(&view, hands));
                    assert_eq!(dealt, deals(&other.seen_from(seat), 3, 4));
                    exchanges += u32::from(game.phase() == Phase::Exchange);
                    known += view.known.iter().filter(|cards| !cards.is_empty()).count();
                    evidence += view.past_moves.len();
                }
                choose(Level::Random, &view, &mut chance).action(seat)
            };
            game.step(choose).unwrap();
        }
    }
    let seen = (exchanges, known, evidence);
    assert!(exchanges > 5 && known > 5 && evidence > 100, "{seen:?}");
}

/// How often a seat holds a six or a joker.
fn sixes(dealt: &[BySeat<Cards>], seat: Seat) -> f64 {
    let six = |hands: &&BySeat<Cards>| {
        let hand = hands[seat];
        hand.contains(Card::Six) || hand.contains(Card::Joker)
    };
    dealt.iter().filter(six).count() as f64 / dealt.len() as f64
}

/// Seat 1 has walked two fields, where six would have won the game.
fn six_not_played(rules: &Rules) -> SeatView<'_> {
    let home = "g0 g1 g2 g3";
    let mut view = view(rules, &["", "13 g1 g2 g3", "", home], "2 5 9 Q");
    view.discards = cards("2");
    view.past_moves.push(PastMove {
        seat: seat(1, rules),
        before: board(rules, &["", "11 g1 g2 g3", "", home]),
        card: Some(Card::Two),
        revealed: cards("2"),
        after: view.board,
    });
    view
}

/// It probably has no six.
#[test]
fn past_moves_change_the_deals() {
    let rules = Preset::DogspielIt.rules();
    let [other, third] = [1, 2].map(|number| seat(number, &rules));
    let view = six_not_played(&rules);
    let nothing_played = SeatView {
        past_moves: Vec::new(),
        ..view.clone()
    };
    let blind = deals(&nothing_played, 2_000, 48);
    let dealt = [blind, deals(&view, 2_000, 1), deals(&view, 2_000, 48)];
    let [blind, uniform, weighed] = [0, 1, 2].map(|way| sixes(&dealt[way], other));
    assert!((blind - uniform).abs() < 0.06, "{blind}, {uniform}");
    assert!(weighed < 0.5 * uniform, "{weighed}, {uniform}");
    // It says nothing about seats that have not played.
    let [blind, uniform, weighed] = [0, 1, 2].map(|way| sixes(&dealt[way], third));
    assert!((blind - uniform).abs() < 0.06, "{blind}, {uniform}");
    assert!((weighed - uniform).abs() < 0.06, "{weighed}, {uniform}");
}

/// A hand without a choice gives no evidence: a seat with a single card, or only equal cards, had
/// to play it.
#[test]
fn a_forced_card_is_no_evidence() {
    let rules = Preset::DogspielIt.rules();
    let view = six_not_played(&rules);
    let (evaluator, mut scratch) = (nets().for_rules(&rules), Scratch::default());
    let clue = Determinizer::new(evaluator, &view, 48, &endless(), &mut scratch).evidence[0];
    let likelihood = |hand: &str| {
        let mut hands = BySeat::default();
        hands[seat(1, &rules)] = cards(hand);
        clue.likelihood(&hands)
    };
    assert_eq!(likelihood(""), 1.0);
    assert_eq!(likelihood("2"), 1.0);
    assert!(likelihood("6") < 0.2 && likelihood("Q") > 0.2);
}

#[test]
fn no_move_is_evaluated_when_the_time_is_up() {
    let rules = Preset::DogspielIt.rules();
    let view = six_not_played(&rules);
    let (evaluator, mut scratch) = (nets().for_rules(&rules), Scratch::default());
    let over = BudgetClock::start(Budget::Time(Duration::ZERO), SearchLimit::Time, &|| true);
    let determinizer = Determinizer::new(evaluator, &view, 48, &over, &mut scratch);
    assert!(determinizer.evidence.is_empty());
}
