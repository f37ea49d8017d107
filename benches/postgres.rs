//! The store on PostgreSQL beside what PostgreSQL itself does, on a cluster of the bench's own.
//! `cargo bench --bench postgres` prints a table. It needs PostgreSQL's programs and `pgbench`.
//!
//! All shares one machine, and the measurements take turns.

#[path = "support/pgbench.rs"]
mod pgbench;

use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::Poll,
    thread,
    time::{Duration, Instant},
};

use dog_cluster::TestDatabase;
use dog_rules::{Actor, Game, Player, Preset, Seed, Setup};
use dog_store::{
    AdminChanges, CommitResult, ConnectionSettings, Draft, GameId, NewGame, Store, StoreConfig,
    StoredGame, Timing, Tokens, Write, WriteOp, now,
};
use futures_util::future::{join, join_all, join3, maybe_done};
use pgbench::{durable_cluster, pgbench};
use rand::seq::IndexedRandom;
use tokio::runtime;
use tokio_postgres::{Client, NoTls, Statement};

const CLIENTS: usize = 64;
const GAMES: usize = 512;
/// Plays per game.
const PLAYS: usize = 60;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(4);
/// Plays in one flight of the floor.
const BATCH: usize = 64;
const CHANGES: usize = 500;

fn main() {
    let Some(cluster) = durable_cluster() else {
        return;
    };
    let (database, yardstick) = (cluster.database(), cluster.database());
    pgbench(&yardstick, &["-i", "-q", "-s", "10"]);
    let store = connect(&database);
    let mut games: Vec<GameInPlay> =
        block_on(async { join_all((0..GAMES).map(|_| GameInPlay::create(&store))).await });

    let (mut selects, mut reads) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        selects.push(pgbench_selects(&yardstick));
        reads.push(read(&store, &games));
    }
    let (mut floor, mut commits) = (Vec::new(), Vec::new());
    let raw = Floor::new(&database, &games);
    for round in 0..ROUNDS {
        let plays = PLAYS / ROUNDS;
        floor.push(raw.write(&games, round * plays, plays));
        commits.push(commit(&store, &mut games, plays));
    }
    let mut delays = delays(&store, &connect(&database), &mut games);
    delays.sort_by(f64::total_cmp);
    let at = |share: f64| delays[((delays.len() - 1) as f64 * share) as usize];

    let [selects, reads, floor, commits] = [selects, reads, floor, commits].map(median);
    println!("{:<56} {:>10}", "", "a second");
    println!("{:<56} {selects:>10.0}", "pgbench -S, 64 clients");
    println!(
        "{:<56} {reads:>10.0}",
        "reads of games by the store, 64 at once"
    );
    println!(
        "{:<56} {floor:>10.0}",
        "floor: the rows of plays, in flights of 64 on 2 connections"
    );
    println!(
        "{:<56} {commits:>10.0}",
        "plays committed by the store, 512 at once"
    );
    println!("{:<56} {:>10} {:>8}", "", "ratio", "goal");
    println!(
        "{:<56} {:>10.2} {:>8}",
        "reads : pgbench -S",
        reads / selects,
        "≥ 1.5"
    );
    println!(
        "{:<56} {:>10.2} {:>8}",
        "plays : floor",
        commits / floor,
        "≥ 0.6"
    );
    println!(
        "{:<56} {:>7.2} ms",
        "a change on another node, half within",
        at(0.5)
    );
    println!(
        "{:<56} {:>7.2} ms {:>8}",
        "95 in 100 within",
        at(0.95),
        "≤ 10 ms"
    );
}

fn connect(database: &TestDatabase) -> Store {
    let settings: ConnectionSettings = database.url().parse().expect("a URL");
    Store::connect(settings, StoreConfig::default()).expect("a store")
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A game with its next plays, which are computed beforehand.
struct GameInPlay {
    id: GameId,
    drafts: VecDeque<Draft>,
    /// The JSON of the game, the action and the events of each play.
    rows: Vec<[String; 3]>,
}

impl GameInPlay {
    async fn create(store: &Store) -> GameInPlay {
        let players = (0..4).map(|seat| Player::human(format!("player {seat}")));
        let game = Game::new(Setup {
            rules: Preset::DogspielIt.rules(),
            players: players.collect(),
            first_dealer: None,
            seed: Seed::new(rand::random()),
            seed_given: false,
            must_confirm: Vec::new(),
        });
        let at = now();
        let stored = StoredGame {
            id: GameId::random(),
            listed: false,
            reactions: true,
            imported: false,
            created_at: at,
            updated_at: at,
            creator: None,
            tokens: Tokens {
                host: None,
                seats: Default::default(),
            },
            data: Default::default(),
            table: None,
            seating: Arc::default(),
            timing: Timing::default(),
            skips_to_deal: false,
            admin_changes: AdminChanges::default(),
            deadline: None,
            game: game.into(),
        };
        let event = stored.game.last_event().clone();
        let new = NewGame::created(stored, &event).expect("a new game");
        let mut stored = new.game.clone();
        let op = WriteOp::from(new);
        let added = store.commit(Write { op, save: None }).await;
        assert_eq!(added.expect("a commit"), CommitResult::Done);
        let id = stored.id;
        let (mut drafts, mut rows) = (VecDeque::new(), Vec::new());
        while drafts.len() < PLAYS + CHANGES / GAMES + 1 {
            let seat = stored
                .game
                .timed_out_seat()
                .expect("a game goes on for longer");
            let actions = stored.game.legal_actions(seat);
            let action = actions.choose(&mut rand::rng()).expect("a legal action");
            let draft = Draft::new(&stored, action, Actor::Player).expect("a draft");
            stored = draft.next.clone();
            let json = |json: serde_json::Result<String>| json.expect("JSON");
            rows.push([
                json(serde_json::to_string(&*stored.game)),
                json(serde_json::to_string(action)),
                json(serde_json::to_string(&draft.events)),
            ]);
            drafts.push_back(draft);
        }
        GameInPlay { id, drafts, rows }
    }

    async fn play(&mut self, store: &Store) {
        let draft = self.drafts.pop_front().expect("a draft is left");
        let done = store.commit(draft.into()).await;
        assert_eq!(done.expect("a commit"), CommitResult::Done);
    }
}

/// Reads per second of games by clients on two threads.
fn read(store: &Store, games: &[GameInPlay]) -> f64 {
    let end = Instant::now() + ROUND;
    let reads = |thread: usize| {
        let client = async |client: usize| {
            let mut reads = 0;
            while Instant::now() < end {
                let game = &games[(client * 7 + reads * 13) % games.len()];
                assert!(store.game(&game.id).await.expect("a read").is_some());
                reads += 1;
            }
            reads
        };
        let clients = (thread * CLIENTS / 2..(thread + 1) * CLIENTS / 2).map(client);
        block_on(join_all(clients)).into_iter().sum::<usize>()
    };
    let reads: usize = thread::scope(|scope| {
        let threads = [0, 1].map(|thread| scope.spawn(move || reads(thread)));
        threads
            .map(|thread| thread.join().expect("a thread"))
            .iter()
            .sum()
    });
    reads as f64 / ROUND.as_secs_f64()
}

/// Plays per second of clients that each play one game.
fn commit(store: &Store, games: &mut [GameInPlay], plays: usize) -> f64 {
    let (started, all) = (Instant::now(), games.len() * plays);
    let client = async |game: &mut GameInPlay| {
        for _ in 0..plays {
            game.play(store).await;
        }
    };
    block_on(join_all(games.iter_mut().map(client)));
    all as f64 / started.elapsed().as_secs_f64()
}

/// How many milliseconds after the answer of a commit another node knows of it.
fn delays(here: &Store, there: &Store, games: &mut [GameInPlay]) -> Vec<f64> {
    let mut feed = there.feed();
    block_on(async {
        let mut delays = Vec::new();
        for number in 0..CHANGES {
            tokio::time::sleep(Duration::from_millis(7)).await;
            feed.last();
            let count = games.len();
            let started = Instant::now();
            games[number % count].play(here).await;
            feed.changed().await;
            delays.push(started.elapsed().as_secs_f64() * 1e3);
        }
        delays
    })
}

/// The rows of plays, written by hand.
struct Floor {
    runtime: runtime::Runtime,
    connections: Vec<RawConnection>,
}

/// A connection with its prepared statements.
struct RawConnection {
    client: Client,
    update: Statement,
    log: Statement,
    change: Statement,
}

impl Floor {
    /// Connections to tables like those of the store, with a row for each game.
    fn new(database: &TestDatabase, games: &[GameInPlay]) -> Floor {
        database.psql(
            "CREATE TABLE raw_games (LIKE games INCLUDING ALL); \
             ALTER TABLE raw_games SET (fillfactor = 60, toast_tuple_target = 8160); \
             INSERT INTO raw_games SELECT * FROM games; \
             CREATE TABLE raw_log (LIKE log INCLUDING ALL); \
             CREATE TABLE raw_changes (LIKE changes INCLUDING ALL); \
             GRANT ALL ON ALL TABLES IN SCHEMA public TO dog; \
             GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO dog",
        );
        assert!(games.len().is_multiple_of(2 * BATCH));
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let connect = async || {
            let (client, connection) = tokio_postgres::connect(&database.url(), NoTls)
                .await
                .expect("a connection");
            tokio::spawn(connection);
            let prepare = async |sql: &str| client.prepare(sql).await.expect("a statement");
            RawConnection {
                update: prepare(
                    "UPDATE raw_games SET version = $2, updated_at = $3, snapshot = $4 WHERE id = $1",
                )
                .await,
                log: prepare(
                    "INSERT INTO raw_log (game, version, at, action, events) \
                     SELECT row_id, $2, $3, $4, $5 FROM raw_games WHERE id = $1",
                )
                .await,
                change: prepare("INSERT INTO raw_changes (game, version) VALUES ($1, $2)").await,
                client,
            }
        };
        let connections = runtime.block_on(async { vec![connect().await, connect().await] });
        Floor {
            runtime,
            connections,
        }
    }

    /// Writes so many plays of each game, and returns how many that is per second.
    fn write(&self, games: &[GameInPlay], first: usize, plays: usize) -> f64 {
        let started = Instant::now();
        let half = games.len() / 2;
        let write = async |raw: &RawConnection, games: &[GameInPlay]| {
            for play in first..first + plays {
                for batch in games.chunks(BATCH) {
                    raw.flight(batch, play).await;
                }
            }
        };
        self.runtime.block_on(async {
            let [one, other] = &self.connections[..] else {
                unreachable!("there are two")
            };
            join(write(one, &games[..half]), write(other, &games[half..])).await
        });
        (games.len() * plays) as f64 / started.elapsed().as_secs_f64()
    }
}

impl RawConnection {
    async fn flight(&self, games: &[GameInPlay], play: usize) {
        let (version, at) = (play as i64 + 2, now().as_microsecond());
        let client = &self.client;
        let mut begin = Box::pin(maybe_done(client.batch_execute("BEGIN")));
        send(&mut begin).await;
        let mut writes = Vec::new();
        for game in games {
            let id = game.id.to_string();
            let [snapshot, action, events] = &game.rows[play];
            let mut write = Box::pin(async move {
                let all = join3(
                    client.execute(&self.update, &[&id, &version, &at, snapshot]),
                    client.execute(&self.log, &[&id, &version, &at, action, events]),
                    client.execute(&self.change, &[&id, &version]),
                )
                .await;
                assert!(all.0.is_ok() && all.1.is_ok() && all.2.is_ok());
            });
            send(&mut write).await;
            writes.push(write);
        }
        let commit = client.batch_execute("COMMIT");
        let all = join3(begin, join_all(writes), commit).await;
        all.2.expect("a commit");
    }
}

/// Polls a future once, which sends its statements.
async fn send<F: Future<Output = ()>>(future: &mut Pin<Box<F>>) {
    poll_fn(|context| {
        let _ = future.as_mut().poll(context);
        Poll::Ready(())
    })
    .await;
}

fn pgbench_selects(database: &TestDatabase) -> f64 {
    let seconds = ROUND.as_secs().to_string();
    let options = [
        "-S", "-n", "-c", "64", "-j", "2", "-M", "prepared", "-T", &seconds,
    ];
    let printed = pgbench(database, &options);
    let tps = printed.lines().find_map(|line| line.strip_prefix("tps = "));
    let rate = tps.and_then(|tps| tps.split(' ').next()?.parse().ok());
    rate.expect("pgbench prints its rate")
}
