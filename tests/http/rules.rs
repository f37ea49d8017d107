//! `GET /v1/rules`, and the rules object in requests.

use serde_json::{Value, json};

use crate::support::{PRESETS, TestServer};

/// The table of RULES §2, one object per preset.
pub fn published(preset: &str) -> Value {
    let six_once = json!({"first": [6, 5, 4, 3, 2], "then": [5, 4, 3, 2]});
    let repeating = json!({"first": [6, 5, 4, 3, 2], "then": [6, 5, 4, 3, 2]});
    // The rows of the table in which the columns differ, one tuple per column.
    let (deals, dealer, block, protection, pair) = match preset {
        "familienlager" => (six_once, "rotates", "always", "always", false),
        "dogspiel-de" => (repeating, "fixed", "fresh", "fresh", true),
        "dogspiel-it" => (repeating, "fixed", "fresh", "fresh", false),
        "spielanleitung" => (six_once, "rotates", "always", "fresh", true),
        "hausregeln" => (six_once, "rotates", "fresh", "fresh", false),
        other => panic!("no such preset: {other}"),
    };
    let house = preset == "hausregeln";
    let either = |yes: &'static str, no: &'static str| if house { yes } else { no };
    json!({
        "preset": preset,
        "seats": 4,
        "fields_per_seat": if house { 15 } else { 16 },
        "jokers": if house { 8 } else { 6 },
        "deal_sizes": deals,
        "dealer": dealer,
        "reshuffle": "when_empty",
        "exchange": either("on_request", "mandatory"),
        "start_block": block,
        "start_swap_protection": protection,
        "goal_entry": either("before_start", "on_start"),
        "backward_into_goal": house,
        "fresh_into_goal": false,
        "capture_own": true,
        "seven_landing": either("must_be_free", "captures"),
        "seven_surplus": either("lapses_on_win", "must_be_used"),
        "seven_partner": "when_home",
        "seven_rest": "any_pieces",
        "jack_own_pair": pair,
        "jack_without_effect": house,
        "jack_without_effect_when": "no_other_on_ring",
    })
}

#[test]
fn every_preset_is_listed_as_published_and_can_be_sent_back() {
    let server = TestServer::shared();
    let list = server.get("/v1/rules").send().expect(200);
    let presets = list["presets"].as_array().expect("presets");
    assert_eq!(presets.len(), PRESETS.len());
    for (name, preset) in PRESETS.into_iter().zip(presets) {
        assert_eq!(preset["name"], name);
        assert_eq!(preset["rules"], published(name));
        let created = server.create(&json!({"rules": preset["rules"]}));
        assert_eq!(created.expect(201)["game"]["rules"], preset["rules"]);
    }
}

#[test]
fn every_option_has_a_meaning_of_one_line() {
    let server = TestServer::shared();
    let list = server.get("/v1/rules").send().expect(200);
    let mut options = published("dogspiel-it");
    let options = options.as_object_mut().expect("an object");
    options.remove("preset");
    for option in list["options"].as_array().expect("options") {
        let name = option["name"].as_str().expect("a name");
        let meaning = option["meaning"].as_str().expect("a meaning");
        assert!(options.remove(name).is_some(), "{name}");
        assert!(!meaning.is_empty() && !meaning.contains('\n'), "{meaning}");
    }
    assert!(options.is_empty(), "without a meaning: {options:?}");
}
