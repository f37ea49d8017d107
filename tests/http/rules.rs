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
fn every_preset_is_listed_as_published() {
    let server = TestServer::shared();
    let response = server.get("/v1/rules").send().expect(200);
    let presets = response["presets"].as_array().expect("a list of presets");
    assert_eq!(presets.len(), PRESETS.len());
    for name in PRESETS {
        let text = response.to_string();
        let listed = presets
            .iter()
            .find_map(|preset| options_of(preset, name))
            .unwrap_or_else(|| panic!("{name} is not listed: {text}"));
        for (option, value) in published(name).as_object().expect("an object") {
            assert_eq!(&listed[option], value, "{name}: {option}");
        }
    }
}

#[test]
fn every_option_has_a_meaning_of_one_line() {
    let server = TestServer::shared();
    let response = server.get("/v1/rules").send().expect(200);
    let text = response.to_string();
    for option in published("dogspiel-it")
        .as_object()
        .expect("an object")
        .keys()
    {
        if option != "preset" {
            let meaning = meaning_of(&response, option);
            let meaning = meaning.unwrap_or_else(|| panic!("{option} has no meaning: {text}"));
            assert!(
                !meaning.is_empty() && !meaning.contains('\n'),
                "{option}: {meaning:?}"
            );
        }
    }
}

#[test]
fn a_listed_preset_can_be_sent_back_as_it_is() {
    let server = TestServer::shared();
    for name in PRESETS {
        let wishes = json!({"rules": published(name)});
        let created = server.post("/v1/games").json(&wishes).send().expect(201);
        assert_eq!(created["game"]["rules"], published(name));
    }
}

/// A preset's options, in the entry itself or in a nested object.
fn options_of<'v>(preset: &'v Value, name: &str) -> Option<&'v Value> {
    let holders = std::iter::once(preset).chain(preset.as_object()?.values());
    let mut named = holders.filter(|holder| holder.get("jokers").is_some());
    let is_named = [&preset["name"], &preset["preset"]].contains(&&json!(name));
    named
        .next()
        .filter(|options| is_named || options["preset"] == name)
}

/// The text next to or below the option's name.
fn meaning_of(value: &Value, option: &str) -> Option<String> {
    match value {
        Value::Array(entries) => entries.iter().find_map(|entry| meaning_of(entry, option)),
        Value::Object(entries) if entries.get("name") == Some(&json!(option)) => {
            let meaning = entries.get("meaning")?.as_str()?;
            Some(meaning.to_owned())
        }
        Value::Object(entries) => entries.values().find_map(|entry| meaning_of(entry, option)),
        _ => None,
    }
}
