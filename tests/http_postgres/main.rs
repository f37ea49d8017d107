//! The tests of `tests/http` that depend on the store, on PostgreSQL. Without PostgreSQL they are
//! skipped. What is decided before the store is asked, such as a refusal, is tested there alone. Those
//! of `copying`, `inspection` and `set_back` are only here.

mod copying;
mod inspection;
mod set_back;

/// The modules of `tests/http`.
#[path = "../http"]
mod http {
    mod batch;
    mod bots;
    mod concurrency;
    mod crash;
    mod create;
    mod damaged_game;
    mod data;
    mod deal;
    mod delete;
    mod forfeit;
    mod history;
    mod idempotency;
    mod joining;
    mod leaks;
    pub mod ledger;
    pub mod limits;
    mod list;
    mod many_games;
    mod matches;
    mod metrics;
    mod operator;
    mod play;
    mod presence;
    mod quick_join;
    mod reactions;
    mod ready;
    mod rematch;
    mod restart;
    mod retention;
    mod review;
    pub mod rules;
    mod seats;
    mod skipping;
    mod storage;
    mod stream;
    mod ticket;
    mod token;
    mod turn_clock;
    mod wait;
    mod whole_games;

    #[allow(
        dead_code,
        unused_imports,
        reason = "the tests that do not depend on the store use more of it"
    )]
    pub mod support;
}

use http::{ledger, limits, rules, support};
