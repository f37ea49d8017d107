//! Any text is a game's record, which is read again as it is written and replayed without a
//! panic, or is refused.

#![no_main]

use dog_rules::record::ParsedRecord;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let written = match ParsedRecord::read(text) {
        Ok(written) => written,
        Err(error) => {
            assert!(error.line > 0 && !error.to_string().is_empty());
            return;
        }
    };
    let again = written.transcript.to_string();
    let read = ParsedRecord::read(&again).expect("what was written can be read");
    assert_eq!(read.transcript, written.transcript);
    assert_eq!(read.transcript.to_string(), again);
    if let Ok(replayed) = written.replay() {
        assert_eq!(replayed.log.len() as u64, replayed.game.version());
    }
});
