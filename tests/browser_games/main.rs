//! Long tests of the page in a real Chromium: whole games, every screen in every size, and
//! measurements. All are ignored by default:
//! `cargo test --test browser_games -- --ignored --nocapture`

#[path = "../browser/support/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "each of the browser tests uses a part"
)]
mod support;

mod delays;
mod games;
mod people;
mod screens;
