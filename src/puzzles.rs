//! The positions of the day. The file grows only at its end, so that a number is the same position
//! for ever.

use std::{io::Read, sync::LazyLock};

use dog_bot::puzzle::Puzzle;
use flate2::read::MultiGzDecoder;

/// One puzzle a line. `dog-lab puzzles` finds them; see docs/puzzles.md.
static LINES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut text = String::new();
    let packed = &include_bytes!("puzzles/puzzles.ndjson.gz")[..];
    let read = MultiGzDecoder::new(packed).read_to_string(&mut text);
    read.expect("the file in the program can be read");
    text.lines().map(str::to_owned).collect()
});

/// How many there are.
pub fn count() -> u32 {
    LINES.len() as u32
}

/// The puzzle with this number, from 1.
pub fn puzzle(number: u32) -> Option<Puzzle> {
    let line = LINES.get(number.checked_sub(1)? as usize)?;
    Some(serde_json::from_str(line).expect("a puzzle in the program can be read"))
}
