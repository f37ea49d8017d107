//! The tests of `tests/http` that depend on the store, on PostgreSQL. Without PostgreSQL they are
//! skipped. What is decided before the store is asked, such as a refusal, is tested there alone. Those
//! of `copying` and `set_back` are only here.

#[path = "../http/support/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "the tests that do not depend on the store use more of it"
)]
mod support;

mod copying;
mod set_back;

#[path = "../http/bots.rs"]
mod bots;
#[path = "../http/concurrency.rs"]
mod concurrency;
#[path = "../http/crash.rs"]
mod crash;
#[path = "../http/create.rs"]
mod create;
#[path = "../http/damaged_game.rs"]
mod damaged_game;
#[path = "../http/deal.rs"]
mod deal;
#[path = "../http/delete.rs"]
mod delete;
#[path = "../http/history.rs"]
mod history;
#[path = "../http/idempotency.rs"]
mod idempotency;
#[path = "../http/joining.rs"]
mod joining;
#[path = "../http/leaks.rs"]
mod leaks;
#[path = "../http/ledger.rs"]
mod ledger;
#[path = "../http/limits.rs"]
mod limits;
#[path = "../http/list.rs"]
mod list;
#[path = "../http/metrics.rs"]
mod metrics;
#[path = "../http/play.rs"]
mod play;
#[path = "../http/presence.rs"]
mod presence;
#[path = "../http/quick_join.rs"]
mod quick_join;
#[path = "../http/reactions.rs"]
mod reactions;
#[path = "../http/ready.rs"]
mod ready;
#[path = "../http/rematch.rs"]
mod rematch;
#[path = "../http/restart.rs"]
mod restart;
#[path = "../http/retention.rs"]
mod retention;
#[path = "../http/review.rs"]
mod review;
#[path = "../http/rules.rs"]
mod rules;
#[path = "../http/seats.rs"]
mod seats;
#[path = "../http/skipping.rs"]
mod skipping;
#[path = "../http/storage.rs"]
mod storage;
#[path = "../http/stream.rs"]
mod stream;
#[path = "../http/ticket.rs"]
mod ticket;
#[path = "../http/token.rs"]
mod token;
#[path = "../http/turn_clock.rs"]
mod turn_clock;
#[path = "../http/wait.rs"]
mod wait;
#[path = "../http/whole_games.rs"]
mod whole_games;
