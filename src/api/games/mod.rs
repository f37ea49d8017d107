//! Games: lists, creation, import, settings, history.

pub mod batch;
pub mod create;
pub mod game;
pub mod history;
pub mod import;
pub mod settings;
