//! The effect of each option of RULES §2: one position, or one deal, with both values.

use dog_rules::{
    Action, ActionRefusal, DealSizes, Dealer, Exchange, GoalEntry, JackWithoutEffectWhen,
    Preset::{self, *},
    Protection, Reshuffle, SevenLanding, SevenPartner, SevenRest, SevenSurplus,
};
use serde_json::{Value, json};

use super::{
    position::{PositionExt, seat},
    rounds::{Deal, deal, play_rounds},
};

/// The table of RULES §2, one column per preset.
#[test]
fn the_presets_set_the_options_as_the_table_says() {
    let once = json!({"first": [6, 5, 4, 3, 2], "then": [5, 4, 3, 2]});
    let again = json!({"first": [6, 5, 4, 3, 2], "then": [6, 5, 4, 3, 2]});
    let same = |value: Value| [(); 5].map(|()| value.clone());
    let all_but_the_last = |value: Value, last: Value| {
        let mut row = same(value);
        row[4] = last;
        row
    };
    let row = |values: [&str; 5]| values.map(|value| json!(value));
    let table = [
        ("seats", same(json!(4))),
        ("fields_per_seat", all_but_the_last(json!(16), json!(15))),
        ("jokers", all_but_the_last(json!(6), json!(8))),
        (
            "deal_sizes",
            [once.clone(), again.clone(), again, once.clone(), once],
        ),
        (
            "dealer",
            row(["rotates", "fixed", "fixed", "rotates", "rotates"]),
        ),
        (
            "exchange",
            all_but_the_last(json!("mandatory"), json!("on_request")),
        ),
        ("reshuffle", same(json!("when_empty"))),
        ("capture_own", same(json!(true))),
        ("seven_rest", same(json!("any_pieces"))),
        ("jack_without_effect_when", same(json!("no_other_on_ring"))),
        (
            "start_block",
            row(["always", "fresh", "fresh", "always", "fresh"]),
        ),
        (
            "start_swap_protection",
            row(["always", "fresh", "fresh", "fresh", "fresh"]),
        ),
        (
            "goal_entry",
            all_but_the_last(json!("on_start"), json!("before_start")),
        ),
        (
            "backward_into_goal",
            all_but_the_last(json!(false), json!(true)),
        ),
        (
            "seven_landing",
            all_but_the_last(json!("captures"), json!("must_be_free")),
        ),
        (
            "seven_surplus",
            all_but_the_last(json!("must_be_used"), json!("lapses_on_win")),
        ),
        ("seven_partner", same(json!("when_home"))),
        (
            "jack_own_pair",
            [false, true, false, true, false].map(|value| json!(value)),
        ),
        (
            "jack_without_effect",
            all_but_the_last(json!(false), json!(true)),
        ),
    ];
    for (column, preset) in Preset::ALL.into_iter().enumerate() {
        let mut options = json!(preset.options());
        let options = options.as_object_mut().expect("options by name");
        assert_eq!(options.remove("preset"), Some(json!(preset.name())));
        for (option, values) in &table {
            assert_eq!(
                options.remove(*option).as_ref(),
                Some(&values[column]),
                "{option} of {preset:?}"
            );
        }
        assert!(
            options.is_empty(),
            "options that the table lacks: {options:?}"
        );
    }
}

#[test]
fn seats() {
    DogspielIt.at("0: 60").lists(0, "5", ["5:60>g0", "5:60>1"]);
    let six = DogspielIt.with(|options| options.seats = 6);
    six.at("0: 60").lists(0, "5", ["5:60>65"]);
}

#[test]
fn fields_per_seat() {
    DogspielIt.at("0: 58").lists(0, "5", ["5:58>63"]);
    let shorter = DogspielIt.with(|options| options.fields_per_seat = 15);
    shorter.at("0: 58").lists(0, "5", ["5:58>g2", "5:58>3"]);
}

#[test]
fn jokers() {
    for (jokers, cards) in [(0, 104), (6, 110), (12, 116)] {
        let game = DogspielIt.with(|options| options.jokers = jokers).game();
        assert_eq!(game.stock_size(), cards);
    }
}

#[test]
fn deal_sizes() {
    let sizes = |table: &dyn Fn() -> Vec<Deal>| -> Vec<u8> {
        table().iter().map(|deal| deal.size).collect()
    };
    let usual = || play_rounds(&mut DogspielIt.game(), 7);
    assert_eq!(sizes(&usual), [6, 5, 4, 3, 2, 6, 5]);
    let other = DogspielIt.with(|options| {
        options.deal_sizes = DealSizes {
            first: vec![3, 1, 5],
            then: vec![2, 4],
        };
    });
    let other = || play_rounds(&mut other.game(), 7);
    assert_eq!(sizes(&other), [3, 1, 5, 2, 4, 2, 4]);
}

#[test]
fn dealer() {
    let rounds = |dealer| -> Vec<(u8, u8)> {
        let mut game = DogspielIt.with(|options| options.dealer = dealer).game();
        let deals = play_rounds(&mut game, 6);
        deals
            .iter()
            .map(|deal| (deal.dealer.number(), deal.beginner.number()))
            .collect()
    };
    let rotating = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 1), (1, 2)];
    assert_eq!(rounds(Dealer::Rotates), rotating);
    let fixed = [(0, 1), (0, 2), (0, 3), (0, 0), (0, 1), (0, 2)];
    assert_eq!(rounds(Dealer::Fixed), fixed);
}

#[test]
fn exchange() {
    for action in [
        Action::Decline { seat: seat(2) },
        Action::Ask { seat: seat(2) },
    ] {
        let answer = |exchange| {
            let mut game = DogspielIt
                .with(|options| options.exchange = exchange)
                .game();
            deal(&mut game);
            game.apply(&action).map(drop)
        };
        assert_eq!(
            answer(Exchange::Mandatory),
            Err(ActionRefusal::ExchangeMandatory)
        );
        assert_eq!(answer(Exchange::Optional), Ok(()));
    }
    let mut game = Hausregeln.game();
    deal(&mut game);
    let decline = Action::Decline { seat: seat(2) };
    assert_eq!(game.apply(&decline), Err(ActionRefusal::NotAsked));
}

#[test]
fn start_block() {
    let rules = |block| DogspielIt.with(|options| options.start_block = block);
    let text = "0: 0 | 1: 60";
    rules(Protection::Fresh).at(text).lists(1, "5", ["5:60>1"]);
    rules(Protection::Always).at(text).lists(1, "5", ["fold"]);
}

#[test]
fn start_swap_protection() {
    let rules = |protection| DogspielIt.with(|options| options.start_swap_protection = protection);
    let text = "0: 0 | 1: 60";
    rules(Protection::Fresh).at(text).lists(1, "J", ["J:60<>0"]);
    rules(Protection::Always).at(text).lists(1, "J", ["fold"]);
}

#[test]
fn goal_entry() {
    let rules = |entry| DogspielIt.with(|options| options.goal_entry = entry);
    let (on, before) = (rules(GoalEntry::OnStart), rules(GoalEntry::BeforeStart));
    on.at("0: 62").lists(0, "3", ["3:62>g0", "3:62>1"]);
    before.at("0: 62").lists(0, "3", ["3:62>g1", "3:62>1"]);
}

#[test]
fn backward_into_goal() {
    let rules = |backward| Hausregeln.with(|options| options.backward_into_goal = backward);
    rules(true)
        .at("0: 1")
        .lists(0, "4", ["4:1>g1", "4:1>57", "4:1>5"]);
    rules(false).at("0: 1").lists(0, "4", ["4:1>57", "4:1>5"]);
    // The door may be the start as well.
    let on_start = Familienlager.with(|options| options.backward_into_goal = true);
    on_start
        .at("0: 2")
        .lists(0, "4", ["4:2>6", "4:2>62", "4:2>g1"]);
}

#[test]
fn capture_own() {
    let rules = |capture_own| DogspielIt.with(|options| options.capture_own = capture_own);
    let text = "0: 20 23";
    rules(true).at(text).lists(0, "3", ["3:20>23", "3:23>26"]);
    rules(false).at(text).lists(0, "3", ["3:23>26"]);
}

#[test]
fn seven_rest() {
    let rules = |rest| DogspielIt.with(|options| options.seven_rest = rest);
    let text = "0: 60 g1 g2 g3 | 2: 40 50";
    let one = ["7:60>3", "7:60>g0,40>42", "7:60>g0,50>52"];
    rules(SevenRest::OnePiece).at(text).lists(0, "7", one);
    let [walk, first, second] = one;
    let any = [walk, first, second, "7:60>g0,40>41,50>51"];
    rules(SevenRest::AnyPieces).at(text).lists(0, "7", any);
}

#[test]
fn reshuffle() {
    let deals = |reshuffle| {
        let rules = DogspielIt.with(|options| {
            options.reshuffle = reshuffle;
            options.jokers = 0;
            options.deal_sizes = DealSizes {
                first: vec![20],
                then: vec![7],
            };
        });
        play_rounds(&mut rules.game(), 2)
    };
    // 104 cards: the second deal needs 28, and the stock has 24.
    for (reshuffle, stock) in [(Reshuffle::WhenEmpty, 76), (Reshuffle::BeforeDeal, 76)] {
        let deals = deals(reshuffle);
        assert_eq!((deals[0].stock, deals[0].reshuffled), (24, false));
        assert!(deals[1].reshuffled);
        assert_eq!(deals[1].stock, stock);
    }
    let [in_the_deal, before] = [Reshuffle::WhenEmpty, Reshuffle::BeforeDeal].map(deals);
    assert_eq!(in_the_deal[0].hands, before[0].hands);
    assert_ne!(in_the_deal[1].hands, before[1].hands);
}

#[test]
fn jack_without_effect_when() {
    let rules = |when| Hausregeln.with(|options| options.jack_without_effect_when = when);
    let text = "0: 4 | 2: fresh";
    rules(JackWithoutEffectWhen::NoOtherOnRing)
        .at(text)
        .lists(0, "J", ["fold"]);
    rules(JackWithoutEffectWhen::NoSwapPossible)
        .at(text)
        .lists(0, "J", ["J:none"]);
}

#[test]
fn seven_landing() {
    let rules = |landing| DogspielIt.with(|options| options.seven_landing = landing);
    let text = "0: 20 | 1: 27";
    rules(SevenLanding::Captures)
        .at(text)
        .lists(0, "7", ["7:20>27"]);
    rules(SevenLanding::MustBeFree)
        .at(text)
        .lists(0, "7", ["fold"]);
}

#[test]
fn seven_surplus() {
    let rules = |surplus| DogspielIt.with(|options| options.seven_surplus = surplus);
    let (used, lapses) = (
        rules(SevenSurplus::MustBeUsed),
        rules(SevenSurplus::LapsesOnWin),
    );
    let text = "0: 62 g1 g2 g3 | 2: full";
    used.at(text).lists(0, "7", ["7:62>5"]);
    let not_used_up = "the parts of a seven must add up to 7 steps, not 3";
    used.at(text).refuses(0, "7:62>g0", not_used_up);
    lapses.at(text).lists(0, "7", ["7:62>5", "7:62>g0"]);
}

#[test]
fn seven_partner() {
    let rules = |partner| DogspielIt.with(|options| options.seven_partner = partner);
    let text = "0: 20 g3 | 2: 60 g3";
    rules(SevenPartner::WhenHome)
        .at(text)
        .leads_to(0, "7", ["0: 27 g3 | 2: 60 g3"]);
    rules(SevenPartner::Always).at(text).leads_to(
        0,
        "7",
        [
            "0: 27 g3 | 2: 60 g3",
            "0: 26 g3 | 2: 61 g3",
            "0: 25 g3 | 2: 62 g3",
            "0: 24 g3 | 2: 63 g3",
            "0: 23 g3 | 2: 0 g3",
            "0: 22 g3 | 2: 1 g3",
            "0: 21 g3 | 2: 2 g3",
            "0: 20 g3 | 2: 3 g3",
        ],
    );
}

#[test]
fn jack_own_pair() {
    let rules = |pair| DogspielIt.with(|options| options.jack_own_pair = pair);
    rules(false).at("0: 10 20").lists(0, "J", ["fold"]);
    rules(true).at("0: 10 20").lists(0, "J", ["J:10<>20"]);
}

#[test]
fn jack_without_effect() {
    let rules = |without| DogspielIt.with(|options| options.jack_without_effect = without);
    rules(false).at("0: 10").lists(0, "J", ["fold"]);
    rules(true).at("0: 10").lists(0, "J", ["J:none"]);
}
