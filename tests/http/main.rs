//! Black-box tests of the HTTP service: the real `dog` binary on a free port with a database of
//! its own in every test, and a client that shares no code with it and checks every
//! response against the OpenAPI document.

mod support;

mod addresses;
mod analysis;
mod attackers;
mod board_picture;
mod bots;
mod concurrency;
mod connections;
mod cors;
mod crash;
mod create;
mod damaged_game;
mod deal;
mod delete;
mod docs;
mod errors;
mod example_bot;
mod example_script;
mod fairness;
#[cfg(unix)]
mod faults;
mod file;
mod headers;
mod history;
mod idempotency;
mod joining;
mod layout;
mod leaks;
mod legal_moves;
mod limits;
mod list;
mod metrics;
mod names;
mod nginx;
mod operation;
mod overload;
mod page;
mod permuted;
mod play;
mod presence;
mod quick_join;
mod raw_http;
mod readme;
mod ready;
mod reasons;
mod reference_checker;
mod refusal_order;
mod rematch;
mod restart;
mod retention;
mod rules;
mod seats;
mod seven;
mod storage;
mod stream;
mod suggest_move;
mod swap;
mod ticket;
mod token;
mod turn_clock;
mod view;
mod wait;
mod whole_games;
