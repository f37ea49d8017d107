//! The table of RULES §2, and the options of a deal. What the options of the cards do is in the tests
//! of the cards.

use dog_rules::{
    DealSizes,
    Preset::{self, *},
    Reshuffle,
};
use serde_json::{Value, json};

use super::{position::PositionExt, rounds::play_rounds};

/// The table of RULES §2, one column per preset. Of `deal_sizes` it has the second list; the first is
/// 6 5 4 3 2 in all of them.
const PRESETS: &str = "
    seats                     4             4             4             4             4
    fields_per_seat           16            16            16            16            15
    jokers                    6             6             6             6             8
    deal_sizes                [5,4,3,2]     [6,5,4,3,2]   [6,5,4,3,2]   [5,4,3,2]     [5,4,3,2]
    dealer                    rotates       fixed         fixed         rotates       rotates
    exchange                  mandatory     mandatory     mandatory     mandatory     on_request
    reshuffle                 when_empty    when_empty    when_empty    when_empty    when_empty
    capture_own               true          true          true          true          true
    start_block               always        fresh         fresh         always        fresh
    start_swap_protection     always        fresh         fresh         fresh         fresh
    goal_entry                on_start      on_start      on_start      on_start      before_start
    backward_into_goal        false         false         false         false         true
    fresh_into_goal           false         false         false         false         false
    seven_landing             captures      captures      captures      captures      must_be_free
    seven_surplus             must_be_used  must_be_used  must_be_used  must_be_used  lapses_on_win
    seven_partner             when_home     when_home     when_home     when_home     when_home
    seven_rest                any_pieces    any_pieces    any_pieces    any_pieces    any_pieces
    jack_own_pair             false         true          false         true          false
    jack_without_effect       false         false         false         false         true
    jack_without_effect_when  no_other_on_ring no_other_on_ring no_other_on_ring no_other_on_ring \
                              no_other_on_ring
";

#[test]
fn the_presets_set_the_options_as_the_table_says() {
    for (column, preset) in Preset::ALL.into_iter().enumerate() {
        let mut options = json!(preset.options());
        let sizes = options["deal_sizes"].take();
        assert_eq!(sizes["first"], json!([6, 5, 4, 3, 2]), "{preset:?}");
        options["deal_sizes"] = sizes["then"].clone();
        let options = options.as_object_mut().expect("options by name");
        // It is stored only if it is set.
        options.entry("fresh_into_goal").or_insert(json!(false));
        assert_eq!(options.remove("preset"), Some(json!(preset.name())));
        for row in PRESETS.lines().filter(|row| !row.is_empty()) {
            let mut words = row.split_whitespace();
            let option = words.next().expect("the name of an option");
            let value = words.nth(column).expect("a value for each preset");
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            assert_eq!(
                options.remove(option),
                Some(value),
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
fn the_sizes_of_deals_run_through_the_first_list_and_then_repeat_the_second() {
    let rules = DogspielIt.with(|options| {
        let (first, then) = (vec![3, 1, 5], vec![2, 4]);
        options.deal_sizes = DealSizes { first, then };
    });
    let deals = play_rounds(&mut rules.game(), 7);
    let sizes: Vec<u8> = deals.iter().map(|deal| deal.size).collect();
    assert_eq!(sizes, [3, 1, 5, 2, 4, 2, 4]);
}

#[test]
fn a_reshuffle_before_a_deal_mixes_the_stock_in() {
    let [in_the_deal, before] = [Reshuffle::WhenEmpty, Reshuffle::BeforeDeal].map(|reshuffle| {
        let rules = DogspielIt.with(|options| {
            options.reshuffle = reshuffle;
            options.jokers = 0;
            let (first, then) = (vec![20], vec![7]);
            options.deal_sizes = DealSizes { first, then };
        });
        // 104 cards: the second deal needs 28, and the stock has 24.
        let deals = play_rounds(&mut rules.game(), 2);
        let stocks: Vec<_> = deals
            .iter()
            .map(|deal| (deal.stock, deal.reshuffled))
            .collect();
        assert_eq!(stocks, [(24, false), (76, true)]);
        deals
    });
    assert_eq!(in_the_deal[0].hands, before[0].hands);
    assert_ne!(in_the_deal[1].hands, before[1].hands);
}
