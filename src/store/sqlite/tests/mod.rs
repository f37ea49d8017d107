//! What is SQLite's own: its files, its one writer, and the games that are kept in memory. What
//! every store promises is tested in [`crate::store::tests`].

mod checking;
mod expiry;
mod faults;
mod game_cache;
mod opening;
mod packing;
mod reading;
mod writer;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::mpsc::{Sender, channel},
    thread,
};

use dog_rules::{Action, Event, Player};
use rusqlite::Connection;

use super::*;
use crate::store::{ChangesSince, tests::*, *};

/// Carries out an action in the middle of a transaction.
fn act_in(tx: &mut Transaction<'_>, id: &GameId, action: Action) -> Result<StoredGame, StoreError> {
    let draft = draft(&tx.game(id)?.expect("the game is there"), &action);
    let stored = draft.next.clone();
    assert_eq!(tx.write(&draft.into())?, CommitResult::Done);
    Ok(stored)
}

/// A store that keeps no games in memory, and so sees what is done to its rows.
fn uncached_store(dir: &Dir) -> Store {
    dir.store_with(StoreConfig {
        games_in_memory: 0,
        ..StoreConfig::default()
    })
}

/// Does something behind the store's back.
fn sql(dir: &Dir, sql: &str) {
    let connection = Connection::open(dir.file()).unwrap();
    connection.execute_batch(sql).unwrap();
}

/// Rows of a table.
fn rows(dir: &Dir, table: &str) -> i64 {
    let connection = Connection::open(dir.file()).unwrap();
    let sql = format!("SELECT count(*) FROM {table}");
    connection.query_row(&sql, [], |row| row.get(0)).unwrap()
}

/// What a check of the file finds.
fn defects(dir: &Dir) -> Vec<String> {
    let checked = check(&dir.file(), |_, _| {}).unwrap();
    checked.defects.iter().map(Defect::to_string).collect()
}
