//! The page in a real Chromium, driven by WebDriver: what can be seen and pressed, found by role
//! and name. `tests/browser_games` has the long ones. Without `chromium` and `chromedriver` these
//! tests are skipped.

#[allow(
    dead_code,
    unused_imports,
    reason = "each of the browser tests uses a part"
)]
mod support;

mod analyse;
mod bots;
mod cards;
mod choices;
mod closed;
mod connection;
mod drawing;
mod feast;
mod finished;
mod forfeit;
mod home;
mod keyboard;
mod learn;
mod links;
mod login;
mod matches;
mod other_origin;
mod people;
mod puzzles;
mod reactions;
mod resuming;
mod screen_reader;
mod screens;
mod seven;
mod signals;
mod start;
mod storage;
mod table;
mod text;
mod tokens;
mod touch;
mod upgrade;
