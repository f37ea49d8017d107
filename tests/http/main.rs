//! Black-box tests of the HTTP service: the real `dog` binary on a free port with a database of
//! its own in every test, and a client that shares no code with it and checks every
//! response against the OpenAPI document.

mod support;

mod addresses;
mod analysis;
mod attackers;
#[cfg(unix)]
mod backups;
mod batch;
mod board_picture;
mod bots;
mod by_address;
mod concurrency;
mod connections;
mod cors;
mod crash;
mod create;
mod damaged_game;
mod data;
mod deal;
mod delete;
mod docs;
mod errors;
mod example_bot;
mod example_match;
mod example_script;
mod example_service;
mod fairness;
#[cfg(unix)]
mod faults;
mod file;
mod forfeit;
mod guide;
mod headers;
#[cfg(target_os = "linux")]
mod health;
mod history;
mod idempotency;
mod inspection;
mod joining;
mod knowledge;
mod layout;
mod leaks;
mod ledger;
mod legal_moves;
mod lessons;
mod limits;
mod list;
mod many_games;
mod matches;
mod metrics;
mod names;
mod nginx;
mod operation;
mod operator;
mod operator_files;
mod other_table;
mod overload;
mod page;
#[cfg(unix)]
mod passed_socket;
mod permuted;
mod play;
mod positions;
mod presence;
mod puzzles;
mod quick_join;
mod raw_http;
mod reactions;
mod readme;
mod ready;
mod reasons;
mod reference_checker;
mod refusal_order;
mod releases;
mod rematch;
mod restart;
mod retention;
mod review;
mod rules;
mod seats;
mod seven;
mod skipping;
mod storage;
mod stream;
mod suggest_move;
mod swap;
#[cfg(target_os = "linux")]
mod systemd;
mod ticket;
mod token;
mod turn_clock;
mod view;
mod wait;
mod whole_games;
