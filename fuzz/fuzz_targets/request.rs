//! Any bytes are a body that is refused with a 4xx code, or a request that the game
//! accepts, or refuses without a change.

#![no_main]

use std::sync::LazyLock;

use dog_rules::Game;
use dog_server::{fuzz, problem::Code};
use dog_server_fuzz::games;
use libfuzzer_sys::fuzz_target;

static GAMES: LazyLock<Vec<Game>> = LazyLock::new(games);

// The first two bytes choose the route, the game and the seat.
fuzz_target!(|data: &[u8]| {
    let [kind, table, body @ ..] = data else {
        return;
    };
    let game = &GAMES[usize::from(*table) % GAMES.len()];
    let some = || game.rules().ring().seats().nth(usize::from(*table) % 4);
    let seat = game.turn().or_else(some).expect("four play");
    match fuzz::body(kind % fuzz::BODIES, body, game, seat) {
        Ok(Some(action)) => {
            let mut after = game.clone();
            match after.apply(&action) {
                Ok(events) => assert!(!events.is_empty() && after.version() == game.version() + 1),
                Err(_) => assert_eq!(after, *game),
            }
        }
        Ok(None) => {}
        Err(problem) => assert_ne!(problem.code(), Code::Internal),
    }
});
