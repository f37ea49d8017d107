//! Any text is a move's id, which its move then writes again, or is refused.

#![no_main]

use dog_rules::Move;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Move>() {
        Ok(mv) => assert_eq!(mv.to_string(), text),
        Err(refusal) => assert!(!refusal.to_string().is_empty()),
    }
});
