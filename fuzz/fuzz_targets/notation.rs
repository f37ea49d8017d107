//! Any text is a move id, which is written again in the same form, or is refused.

#![no_main]

use dog_rules::Move;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Move>() {
        Ok(mv) => assert_eq!(mv.to_string(), text),
        Err(refusal) => assert!(!refusal.to_string().is_empty()),
    }
});
