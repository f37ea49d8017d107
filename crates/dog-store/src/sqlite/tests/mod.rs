//! Tests of what is specific to SQLite: its files, its writer, and the game cache. The guarantees
//! of every store are tested in [`crate::tests`].

mod checking;
mod expiry;
mod faults;
mod game_cache;
mod one_process;
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

use super::{
    connect, database::SqliteDatabase, memory::Expiring, migrations::SCHEMA, reader::Reader,
    transaction::Transaction, *,
};
use crate::{schema::Schema, store::Backend, tests::*, *};

/// Applies an action within a transaction.
fn act_in(tx: &mut Transaction<'_>, id: &GameId, action: Action) -> Result<StoredGame, StoreError> {
    let draft = draft(&tx.game(id)?.expect("the game is there"), &action);
    let stored = draft.next.clone();
    assert_eq!(tx.write(&draft.into())?, CommitResult::Done);
    Ok(stored)
}

/// As if what the store keeps in memory were older by this.
pub(crate) fn age(store: &Store, seconds: i64) {
    let memory = &file(store).0.memory;
    let by = std::time::Duration::from_secs(seconds.unsigned_abs());
    memory.reactions.lock().age(by);
    memory.tickets.lock().age(by);
    memory.reviews.lock().age(by);
}

impl<K, V> Expiring<K, V> {
    fn age(&mut self, by: std::time::Duration) {
        let values = self.values.values_mut().flatten().map(|(added, _)| added);
        for added in values.chain(self.order.iter_mut().map(|(added, _)| added)) {
            *added -= by;
        }
    }
}

/// A store without a cache, which sees changes of its rows by plain SQL.
fn uncached_store(dir: &Dir) -> Store {
    dir.store_with(StoreConfig {
        games_in_memory: 0,
        ..StoreConfig::default()
    })
}

/// The open file of a store.
fn file(store: &Store) -> &SqliteDatabase {
    match &store.backend {
        Backend::Sqlite(database) => database,
        Backend::Postgres(_) => panic!("no file"),
    }
}

/// Executes SQL on a connection of its own.
fn sql(dir: &Dir, sql: &str) {
    let connection = Connection::open(dir.file()).unwrap();
    connection.execute_batch(sql).unwrap();
}

/// The number of rows of a table.
fn rows(dir: &Dir, table: &str) -> i64 {
    let connection = Connection::open(dir.file()).unwrap();
    let sql = format!("SELECT count(*) FROM {table}");
    connection.query_row(&sql, [], |row| row.get(0)).unwrap()
}
