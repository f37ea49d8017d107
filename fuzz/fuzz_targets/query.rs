//! Any text is read as the query of every route, or refused.

#![no_main]

use std::sync::LazyLock;

use dog_rules::Game;
use dog_server::fuzz;
use dog_server_fuzz::games;
use libfuzzer_sys::fuzz_target;

static GAMES: LazyLock<Vec<Game>> = LazyLock::new(games);

fuzz_target!(|text: &str| {
    let table = text.len() % GAMES.len();
    fuzz::line(text, &GAMES[table]);
});
