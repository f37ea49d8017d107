//! The planner's moves where a plan is needed, and its limits.

use dog_bot::testing::{cards, hidden_changed, new_game, plays, rng, view};
use dog_rules::{Card, Game, Options, Preset, Rules, SevenPartner};

use super::{search::MAX_BOARDS_PER_CARD, *};

/// The id of the move that the planner plays.
fn plans(rules: &Rules, pieces: &[&str], hand: &str) -> String {
    match Planner::new().choose(&view(rules, pieces, hand), &mut rng(1)) {
        Choice::Play(mv) => mv.to_string(),
        other => panic!("{other:?} is not a move"),
    }
}

/// Greedy takes the nearest gain and misses a better use of the whole hand.
#[test]
fn finds_plans_that_greedy_misses() {
    let rules = Preset::DogspielIt.rules();
    let compare = |pieces: &[&str], hand, greedy: &str, planner: &str| {
        assert_eq!(
            plays(&rules, pieces, hand),
            greedy,
            "{pieces:?} with {hand}"
        );
        assert_eq!(
            plans(&rules, pieces, hand),
            planner,
            "{pieces:?} with {hand}"
        );
    };
    // Twelve to the last field before the door, then five into the innermost goal field.
    let before_the_door = ["18 51", "32", "", ""];
    compare(&before_the_door, "5 Q Q", "Q:18>30", "Q:51>63");
    let near = ["5 54", "22", "", ""];
    compare(&near, "6 8 J", "8:5>13", "8:54>62");
    // The ten would go home at once, and shut off the rest of the goal.
    let shut = ["14 55", "20", "", ""];
    compare(&shut, "8 4 10", "10:55>g0", "8:55>63");
}

#[test]
fn wins_at_once_with_any_card() {
    let rules = Preset::DogspielIt.rules();
    let last = ["g0 g1 g2 g3", "", "30 g1 g2 g3", ""];
    assert_eq!(plans(&rules, &last, "A 2 9 joker"), "joker=3:30>p0");
}

#[test]
fn offers_what_the_partner_needs() {
    let rules = Preset::DogspielIt.rules();
    let mut view = view(&rules, &["30 40", "50", "", "52"], "K 7 5 9 K");
    view.exchanging = true;
    let gift = Planner::new().choose(&view, &mut rng(1));
    assert_eq!(gift, Choice::Offer(Card::King));
}

#[test]
fn plays_whole_games_by_the_rules() {
    for seats in [4, 6] {
        for preset in Preset::ALL {
            let options = Options {
                seats,
                ..preset.options()
            };
            let rules = Rules::try_from(options).unwrap();
            let mut game = new_game(&rules, 11);
            let mut planner = Planner::new();
            let mut rng = rng(11);
            let mut choose =
                |game: &Game, seat| planner.choose(&game.seen_from(seat), &mut rng).action(seat);
            while game.step(&mut choose).unwrap().is_some() {}
        }
    }
}

/// Neither hidden cards nor earlier decisions of the planner make a difference.
#[test]
fn choices_depend_on_the_view_and_the_seed_alone() {
    let mut chance = rng(3);
    let mut planner = Planner::new();
    for (number, preset) in (0..).zip(Preset::ALL) {
        let mut game = new_game(&preset.rules(), number);
        for step in 0..100 {
            let choose = |game: &Game, seat| {
                let other = hidden_changed(game, seat, &mut chance);
                let choice = planner.choose(&game.seen_from(seat), &mut rng(step));
                let again = Planner::new().choose(&other.seen_from(seat), &mut rng(step));
                assert_eq!(choice, again);
                choice.action(seat)
            };
            game.step(choose).unwrap();
        }
    }
}

#[test]
fn thousands_of_sevens_stay_within_the_limit() {
    let options = Options {
        seven_partner: SevenPartner::Always,
        ..Preset::DogspielIt.options()
    };
    let rules = Rules::try_from(options).unwrap();
    let spread = ["5 13 21 29", "", "37 45 53 61", ""];
    let view = view(&rules, &spread, "7 7 joker joker joker 7");
    let mut planner = Planner::new();
    let listed = planner
        .search
        .generator
        .legal_moves(&rules, &view.board, view.seat, view.hand);
    assert!(listed.len() > 5000, "{}", listed.len());
    assert!(matches!(
        planner.choose(&view, &mut rng(1)),
        Choice::Play(_)
    ));
    let looked_at = planner.search.looked_at;
    let cards_after = usize::from(cards("7 7 joker joker joker").len());
    assert!(
        looked_at <= listed.len() + cards_after * MAX_BOARDS_PER_CARD,
        "{looked_at}"
    );
}
