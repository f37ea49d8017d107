//! Whether a hundred thousand games in the file slow the server down, compared with a thousand; and
//! how large the file is. `cargo bench --bench stored` prints a table.
//!
//! Sixteen of seventeen games are finished and packed, as in a file that has been in use for long.
//! All of them are copies of thirty-two games that were played out.

#[path = "support/script.rs"]
mod script;
#[path = "support/server.rs"]
mod support;

use std::{
    env, fs,
    path::Path,
    process, thread,
    time::{Duration, Instant},
};

use actix_web::rt::System;
use dog_rules::BySeat;
use dog_store::{
    AdminChanges, CommitResult, Draft, GameId, NewGame, Store, StoreConfig, StoredGame, Timing,
    TokenHash, Tokens, Write, now,
};
use futures_util::future::join_all;
use rand::{RngExt, rng};
use rusqlite::{Connection, params};

use script::{Script, actions, beginning, median, script};
use support::{BenchClient, BenchServer, request};

const FEW_GAMES: usize = 1_000;
const MANY_GAMES: usize = 100_000;
const CLIENTS: usize = 8;
/// Games that most requests are for, as for games in progress.
const IN_PLAY: usize = 100;
/// Many short ones: a shared machine's speed changes within seconds.
const ROUNDS: usize = 41;
const ROUND: Duration = Duration::from_millis(400);

/// Two servers with the same games: one as usual, one without a cache of games.
struct ServerPair {
    usual: BenchServer,
    unremembering: BenchServer,
    ids: Vec<GameId>,
}

impl ServerPair {
    fn start(scripts: &[Script], games: usize) -> ServerPair {
        let mut ids = Vec::new();
        let copy = env::temp_dir().join(format!("dog-bench-{}-copy.db", process::id()));
        let usual = BenchServer::start(&format!("{games}"), &[], |file| {
            ids = fill(file, scripts, games);
            fs::copy(file, &copy).expect("a copy");
        });
        let options = ["--games-in-memory", "0"];
        let unremembering =
            BenchServer::start(&format!("{games}-unremembering"), &options, |file| {
                fs::rename(&copy, file).expect("the copy");
            });
        ServerPair {
            usual,
            unremembering,
            ids,
        }
    }
}

/// How many responses a second a server gives to some request.
type Rate<'a> = &'a dyn Fn(&ServerPair) -> f64;

fn main() {
    let scripts: Vec<Script> = (0..32).map(script).collect();
    let few_and_many = [FEW_GAMES, MANY_GAMES].map(|games| ServerPair::start(&scripts, games));

    let rows: [(&str, Rate); 4] = [
        ("GET of the hundred that are played", &|stored| {
            views_a_second(&stored.usual, &stored.ids[..IN_PLAY])
        }),
        ("GET of any game", &|stored| {
            views_a_second(&stored.usual, &stored.ids)
        }),
        ("GET of any game, none in memory", &|stored| {
            views_a_second(&stored.unremembering, &stored.ids)
        }),
        ("deal, swap and play", &|stored| {
            actions(&stored.usual, &scripts, CLIENTS, ROUND).0
        }),
    ];
    let mut rates = rows.map(|_| [Vec::new(), Vec::new()]);
    for _ in 0..ROUNDS {
        for ((_, rate), rates) in rows.iter().zip(&mut rates) {
            for (stored, rates) in few_and_many.iter().zip(rates) {
                rates.push(rate(stored));
            }
        }
    }

    println!(
        "{:<40} {:>10} {:>10} {:>8} {:>8}",
        "a second", "1,000", "100,000", "ratio", "goal"
    );
    for ((label, _), [few, many]) in rows.iter().zip(rates) {
        let ratio = median(
            many.iter()
                .zip(&few)
                .map(|(many, few)| many / few)
                .collect(),
        );
        let [few, many] = [few, many].map(median);
        println!(
            "{label:<40} {few:>10.0} {many:>10.0} {ratio:>8.2} {:>8}",
            "≥ 0.9"
        );
    }
}

/// Stores the scripts' games and copies them until there are this many. Returns their ids and
/// prints how large they are.
fn fill(file: &Path, scripts: &[Script], games: usize) -> Vec<GameId> {
    let store = Store::open(file, StoreConfig::default()).expect("a store");
    let whole = scripts.iter().map(|script| (script, script.steps.len()));
    let some = &scripts[..scripts.len() / 19 + 1];
    let half = some.iter().map(|script| (script, script.steps.len() / 2));
    let games_kept = whole
        .chain(half)
        .map(|(script, steps)| keep(&store, script, steps));
    let over = u32::try_from(scripts.len()).expect("few");
    System::new().block_on(async {
        join_all(games_kept).await;
        store.pack_logs(now(), None, over).await.expect("packed");
    });
    drop(store);

    let mut database = Connection::open(file).expect("a database");
    let transaction = database.transaction().expect("a transaction");
    let originals: Vec<i64> = transaction
        .prepare("SELECT row_id FROM games")
        .and_then(|mut select| select.query_map([], |row| row.get(0))?.collect())
        .expect("games");
    let columns = "version, phase, listed, created_at, updated_at, token_hashes, snapshot, packed";
    for copy in originals.len()..games {
        let original = originals[copy % originals.len()];
        let game = format!(
            "INSERT INTO games (id, {columns}) SELECT ?1, {columns} FROM games WHERE row_id = ?2"
        );
        let run = |sql: &str| transaction.prepare_cached(sql).expect("a statement");
        run(&game)
            .execute(params![GameId::random(), original])
            .expect("a copy");
        let key = transaction.last_insert_rowid();
        run("INSERT INTO packed_log SELECT ?1, first_version, entries FROM packed_log WHERE game = ?2")
            .execute([key, original])
            .expect("its packed log");
        run("INSERT INTO log SELECT ?1, version, at, action, events FROM log WHERE game = ?2")
            .execute([key, original])
            .expect("its log");
    }
    transaction.commit().expect("committed");
    database
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .expect("all in the file");
    describe(&database).expect("the file's size");
    let ids: Vec<String> = database
        .prepare("SELECT id FROM games")
        .and_then(|mut select| select.query_map([], |row| row.get(0))?.collect())
        .expect("ids");
    let ids = ids.into_iter().map(|id| id.parse().expect("an id"));
    ids.collect()
}

/// Stores a game as it is after this many steps, with its log.
async fn keep(store: &Store, script: &Script, steps: usize) {
    let (token, created_at) = (TokenHash::new("a token"), now());
    let mut record = StoredGame {
        id: GameId::random(),
        listed: true,
        reactions: true,
        imported: false,
        creator: None,
        created_at,
        updated_at: created_at,
        tokens: Tokens {
            host: Some(token),
            seats: BySeat::from_fn(|seat| (seat < 4).then_some(token)),
        },
        seating: std::sync::Arc::default(),
        data: std::sync::Arc::default(),
        table: None,
        timing: Timing::default(),
        skips_to_deal: false,
        admin_changes: AdminChanges::default(),
        deadline: None,
        game: beginning(&script.seed).into(),
    };
    let new = NewGame::created(record.clone(), record.game.last_event()).expect("a new game");
    let (effect, save) = (new.into(), None);
    commit(store, Write { op: effect, save }).await;
    for step in &script.steps[..steps] {
        let draft =
            Draft::new(&record, &step.action, dog_rules::Actor::Player).expect("a legal action");
        record = draft.next.clone();
        commit(store, draft.into()).await;
    }
}

async fn commit(store: &Store, write: Write) {
    assert_eq!(store.commit(write).await.expect("kept"), CommitResult::Done);
}

/// Prints how large the file is, and its parts by table with their indexes.
fn describe(database: &Connection) -> rusqlite::Result<()> {
    let number = |sql: &str| database.query_row(sql, [], |row| row.get::<_, f64>(0));
    let bytes =
        number("SELECT page_count * page_size * 1.0 FROM pragma_page_count, pragma_page_size")?;
    let games = number("SELECT count(*) * 1.0 FROM games")?;
    let entries = number("SELECT count(*) * 1.0 FROM log")?;
    let log = number(
        "SELECT coalesce(sum(length(events) + length(coalesce(action, ''))), 0.0) FROM log",
    )?;
    let packed = number(
        "SELECT coalesce(sum(length(entries)) * 1.0 / count(DISTINCT game), 0.0) FROM packed_log",
    )?;
    let snapshot = number("SELECT avg(length(snapshot)) FROM games")?;
    println!(
        "{games:>8} games: {:.1} MB, {:.1} kB a game",
        bytes / 1e6,
        bytes / games / 1e3
    );
    println!(
        "         a packed log {packed:.0} bytes, a game {snapshot:.0}, an entry of a log that goes on {:.0}",
        log / entries
    );
    Ok(())
}

/// Views per second of random games, requested by a spectator.
fn views_a_second(server: &BenchServer, ids: &[GameId]) -> f64 {
    let started = Instant::now();
    let client = || {
        let mut client = BenchClient::new(&server.address);
        let mut views = 0_u32;
        while started.elapsed() < ROUND {
            let id = ids[rng().random_range(..ids.len())];
            let request = request("GET", &format!("/v1/games/{id}"), None, None);
            assert_eq!(client.exchange(request.as_bytes()).0, 200);
            views += 1;
        }
        views
    };
    let views: u32 = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        let views = clients
            .into_iter()
            .map(|client| client.join().expect("a client"));
        views.sum()
    });
    f64::from(views) / started.elapsed().as_secs_f64()
}
