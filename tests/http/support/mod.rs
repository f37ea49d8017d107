//! Shared test support: a real server, a client that checks each response against
//! the OpenAPI document, and a handle on a game.

mod client;
mod contract;
mod database;
mod disk;
mod exposition;
mod game;
mod hidden;
mod nginx;
mod operator_file;
mod programs;
mod raw;
mod server;
mod stream;
mod table;

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

pub use client::{TestRequest, TestResponse};
pub use contract::Contract;
#[allow(unused_imports, reason = "the tests of several nodes use it")]
pub use database::dog;
#[allow(unused_imports, reason = "the tests of a file use it")]
pub use database::{ServerDatabase, UNCACHED};
#[allow(unused_imports, reason = "the tests of full disks use it")]
pub use disk::SmallDisk;
pub use exposition::Exposition;
pub use game::{Dice, TestGame, TestViewer, cards_of, seed};
pub use hidden::GameSecrets;
pub use nginx::Nginx;
#[allow(unused_imports, reason = "the tests of several nodes have none")]
pub use operator_file::OperatorFile;
pub use programs::{available, run, verify};
pub use raw::{Raw, raw};
#[allow(unused_imports, reason = "the tests in a browser use it")]
pub use server::SharedServer;
pub use server::{Signal, TestServer};
pub use stream::{Message, Stream};
pub use table::{TestMatch, TestTable};

/// How long a test waits for anything. It is long because a machine may be very busy; only a
/// failing test waits that long.
pub const TIMEOUT: Duration = Duration::from_secs(180);

/// Waits until this holds.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(
            started.elapsed() < TIMEOUT,
            "it takes too long until {what}"
        );
        thread::sleep(Duration::from_millis(20));
    }
}

/// What the function returns for each of so many numbers, called for all at the same time.
pub fn at_once<T: Send>(count: usize, call: impl Fn(usize) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let call = &call;
        let spawn = |number| scope.spawn(move || call(number));
        let threads: Vec<_> = (0..count).map(spawn).collect();
        let returned = threads.into_iter().map(|thread| thread.join());
        returned.map(|one| one.expect("a thread")).collect()
    })
}

/// A member of each seat of a view.
pub fn of_seats(view: &Value, name: &str) -> Value {
    let seats = view["seats"].as_array().expect("seats").iter();
    seats.map(|seat| seat[name].clone()).collect()
}

/// The object with the members of another one, too.
pub fn with(mut object: Value, more: &Value) -> Value {
    let members = object.as_object_mut().expect("an object");
    members.extend(more.as_object().expect("an object").clone());
    object
}

/// The columns of a row of a table, which are separated by `|`.
#[track_caller]
pub fn columns<const N: usize>(row: &str) -> [&str; N] {
    let columns: Vec<&str> = row.split('|').map(str::trim).collect();
    columns.try_into().expect(row)
}

/// The five published rule sheets.
pub const PRESETS: [&str; 5] = [
    "familienlager",
    "dogspiel-de",
    "dogspiel-it",
    "spielanleitung",
    "hausregeln",
];

/// Every level of an adviser, the weakest first; the last two think ahead.
pub const LEVELS: [&str; 4] = ["random", "greedy", "fast", "strong"];

/// Every card, as JSON and move ids name it.
pub const CARDS: [&str; 14] = [
    "A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "joker",
];

/// A well-formed token that belongs to no game.
pub const UNKNOWN_TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// The OpenAPI document that the server sends.
pub fn document() -> Value {
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi/openapi.json");
    serde_json::from_slice(&std::fs::read(kept).expect("openapi/openapi.json")).expect("JSON")
}
