//! Games: lists, creation, import, settings, history.

pub mod create;
pub mod game;
pub mod history;
pub mod import;
pub mod settings;
