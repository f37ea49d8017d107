//! Shared by both browser tests: a real Chromium driven by WebDriver, a player who clicks, and
//! games that the API brings to a wanted position.

mod appearance;
mod browser;
mod driver;
mod evening;
#[path = "../../http/support/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "the tests of the API use more of it"
)]
pub mod http;
mod look;
mod people;
mod player;
mod proxy;
mod scene;
mod screens;

pub use appearance::{broken, check_documents, check_screens};
pub use browser::{Browser, Form, open, open_alone, open_through};
pub use evening::{Evening, LANGUAGES};
pub use http::{
    Dice, OperatorFile, PRESETS, Signal, Stream, TestGame, TestMatch, TestServer, TestViewer, seed,
    wait_until,
};
pub use look::{Button, Look, enabled, has_focus, names, place_words};
pub use people::{
    LINK_FOR_ALL, game_of, go_home, hand, invite_friends, play_by_api, play_together, saved,
    sit_down, wait_for_seat,
};
pub use player::{KeyboardPlayer, MousePlayer, choose_part, choose_piece, offers, wait_for_offers};
pub use proxy::{Between, HeadLines, answer, header, problem, remove_header, start_proxy};
pub use scene::{
    NAMES, Situation, Style, captures, create_with_bots, create_with_names, create_with_people,
    deal_to_people, has_three_parts, is_swap, italian, parts, pieces_of, pieces_on, played_by_bots,
    text,
};
pub use screens::Screens;
