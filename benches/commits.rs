//! What group commit gains: games played by 128 clients, compared with one transaction per
//! request and with the raw limit, the same rows written by a plain loop in batches of 128.
//! `cargo bench --bench commits` prints a table.
//!
//! Everything runs on one machine, and the measurements take turns.

#[path = "support/script.rs"]
mod script;
#[path = "support/server.rs"]
mod support;

use std::{
    fs,
    time::{Duration, Instant},
};

use dog_store::{GameId, Store, StoreConfig};
use rusqlite::{Connection, ToSql};
use script::{Script, ScriptStep, actions, median, script};
use support::BenchServer;

const CLIENTS: usize = 128;
const BATCH: usize = 128;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(3);

fn main() {
    let scripts: Vec<Script> = (0..32).map(script).collect();
    let naive = BenchServer::start("naive", &["--commit-batch", "1"], |_| ());
    let group = BenchServer::start("group", &[], |_| ());
    let (mut raw, mut one, mut many) = (Vec::new(), Vec::new(), Vec::new());
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        raw.push(bare_batches(&scripts));
        one.push(actions(&naive, &scripts, CLIENTS, ROUND).0);
        let (rate, taken) = actions(&group, &scripts, CLIENTS, ROUND);
        many.push(rate);
        times.extend(taken);
    }
    let [raw, one, many] = [raw, one, many].map(median);
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("{:<52} {:>10}", "128 clients", "a second");
    println!(
        "{:<52} {raw:>10.0}",
        "raw limit: a bare loop, batches of 128"
    );
    println!("{:<52} {one:>10.0}", "naive: a transaction an action");
    println!("{:<52} {many:>10.0}", "deal, swap and play");
    println!("{:<52} {:>10} {:>8}", "", "ratio", "goal");
    println!("{:<52} {:>10.2} {:>8}", "server : naive", many / one, "≥ 4");
    println!(
        "{:<52} {:>10.2} {:>8}",
        "server : raw limit",
        many / raw,
        "≥ 0.5"
    );
    let (half, most) = (at(0.5), at(0.99));
    println!("{:<52} {:>10.2} {:>8}", "p99 : p50", most / half, "≤ 5");
    println!("{:<52} {half:>7.2} ms", "half of the actions within");
    println!("{:<52} {most:>7.2} ms", "99 in 100 within");
    println!("{:<52} {:>7.2} ms", "all within", at(1.0));
}

/// What the disk and SQLite allow: the rows of plays written per second to the store's tables.
fn bare_batches(scripts: &[Script]) -> f64 {
    let folder = std::env::temp_dir().join(format!("dog-bench-{}-raw", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("dog.db");
    drop(Store::open(&file, StoreConfig::default()).expect("a store"));
    let database = Connection::open(&file).expect("a database");
    let set_up = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;";
    database.execute_batch(set_up).expect("a database");
    database.set_prepared_statement_cache_capacity(32);
    let insert = "INSERT INTO games (id, version, phase, listed, imported, is_for_people, \
                  anyone_may_join, created_at, updated_at, bot_pace_ms, token_hashes, snapshot) \
                  VALUES (?1, 0, 'play', 0, 0, 1, 0, 0, 0, 0, x'', '')";
    let ids: Vec<String> = (0..BATCH).map(|_| GameId::random().to_string()).collect();
    for id in &ids {
        database.execute(insert, [id]).expect("a game");
    }
    let tokens = [0_u8; 165];
    let json = |step: &ScriptStep| serde_json::to_string(&step.action).expect("JSON");
    let actions = |script: &Script| script.steps.iter().map(json).collect();
    let actions: Vec<Vec<String>> = scripts.iter().map(actions).collect();
    let started = Instant::now();
    let mut written = 0;
    while started.elapsed() < ROUND {
        let transaction = database.unchecked_transaction().expect("a transaction");
        for (game, id) in ids.iter().enumerate() {
            let version = (written / BATCH + 1) as i64;
            let script = game % scripts.len();
            let steps = &scripts[script].steps;
            let number = (version as usize - 1) % steps.len();
            let (step, action) = (&steps[number], &actions[script][number]);
            let at = 1_800_000_000_000_000 + written as i64;
            let run = |sql, row: &[&dyn ToSql]| database.prepare_cached(sql)?.execute(row);
            run(
                "UPDATE games SET version = ?2, updated_at = ?3, token_hashes = ?4, snapshot = ?5, \
                 deadline = NULL, is_for_people = 1, due_at = NULL WHERE id = ?1",
                &[&id, &version, &at, &tokens, &step.snapshot],
            )
            .and_then(|_| {
                run(
                    "INSERT INTO log (game, version, at, action, events) \
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                    &[&(game as i64 + 1), &version, &at, action, &step.entry],
                )
            })
            .expect("written");
            written += 1;
        }
        transaction.commit().expect("committed");
    }
    let rate = written as f64 / started.elapsed().as_secs_f64();
    drop(database);
    fs::remove_dir_all(&folder).expect("removed");
    rate
}
