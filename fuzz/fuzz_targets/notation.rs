//! Any text is a move id, which is written again in the same form, or is refused. Any text is a
//! board, which is written and read again, or is refused.

#![no_main]

use dog_rules::{
    Move, Preset,
    position::{self, PositionText},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Move>() {
        Ok(mv) => assert_eq!(mv.to_string(), text),
        Err(refusal) => assert!(!refusal.to_string().is_empty()),
    }
    let rules = &Preset::Hausregeln.rules();
    match position::read(rules, text) {
        Ok(board) => {
            let text = PositionText { rules, board: &board }.to_string();
            assert_eq!(position::read(rules, &text), Ok(board));
        }
        Err(error) => assert!((1..=text.chars().count() + 1).contains(&error.character)),
    }
});
