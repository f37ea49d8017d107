//! What group commit is worth: `play` by 128 clients beside the naive way, a transaction a
//! request, and beside the raw limit, the same rows written by a bare loop in batches of 128.
//! `cargo bench --bench commits` prints a table.
//!
//! The games are played in thought before, so that clients do nothing but send the next request of
//! a script and wait for its answer. Everything shares one machine, and takes turns.

#[path = "support/server.rs"]
mod support;

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use dog_server::{
    rules::{
        event::Action,
        game::{Game, Phase, Setup},
        moves::Generator,
        options::Preset,
        player::Player,
        seat::Seat,
        shuffle::Seed,
    },
    store::Store,
};
use rand::{Rng, SeedableRng, rngs::Xoshiro256PlusPlus, seq::IndexedRandom};
use rusqlite::{Connection, ToSql};
use serde_json::{Value, json};
use support::{Client, Server, request};

const CLIENTS: usize = 128;
const BATCH: usize = 128;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(3);

/// A game from its beginning to its end.
struct Script {
    seed: Seed,
    steps: Vec<Step>,
}

/// An action, and what the store keeps of it.
struct Step {
    action: Action,
    snapshot: String,
    entry: String,
}

fn main() {
    let scripts: Vec<Script> = (0..32).map(script).collect();
    let naive = Server::start("naive", &["--commit-batch", "1"]);
    let group = Server::start("group", &[]);
    let (mut raw, mut one, mut many) = (Vec::new(), Vec::new(), Vec::new());
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        raw.push(bare_batches(&scripts));
        one.push(plays(&naive, &scripts).0);
        let (rate, taken) = plays(&group, &scripts);
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
    println!("{:<52} {one:>10.0}", "naive: a transaction a play");
    println!("{:<52} {many:>10.0}", "play");
    println!("{:<52} {:>10} {:>8}", "", "ratio", "goal");
    println!("{:<52} {:>10.2} {:>8}", "play : naive", many / one, "≥ 4");
    println!(
        "{:<52} {:>10.2} {:>8}",
        "play : raw limit",
        many / raw,
        "≥ 0.5"
    );
    let (half, most) = (at(0.5), at(0.99));
    println!("{:<52} {:>10.2} {:>8}", "p99 : p50", most / half, "≤ 5");
    println!("{:<52} {half:>7.2} ms", "half of the plays within");
    println!("{:<52} {most:>7.2} ms", "99 in 100 within");
    println!("{:<52} {:>7.2} ms", "all within", at(1.0));
}

/// Plays a game in thought, each move drawn from the legal ones.
fn script(number: u8) -> Script {
    let seed = Seed::new([number; 32]);
    let mut game = Game::new(Setup {
        rules: Preset::DogspielIt.rules(),
        players: vec![Player::human(""); 4],
        first_dealer: Seat::new(0, 4),
        seed: seed.clone(),
        seed_given: true,
    });
    let mut generator = Generator::new();
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(number.into());
    let mut steps = Vec::new();
    while game.phase() != Phase::Finished {
        for action in next(&game, &mut generator, &mut dice) {
            let events = game.apply(&action).expect("a legal action");
            let json = |value: Value| value.to_string();
            steps.push(Step {
                snapshot: serde_json::to_string(&game).expect("JSON"),
                entry: json(json!(events)),
                action,
            });
        }
    }
    Script { seed, steps }
}

/// What is to be done next: a deal, all four swaps, or a play.
fn next(game: &Game, generator: &mut Generator, dice: &mut impl Rng) -> Vec<Action> {
    let first = |seat| game.hand(seat).kinds().next().expect("a card");
    match game.phase() {
        Phase::Deal => vec![Action::Deal { by: None }],
        Phase::Exchange => Seat::all(4)
            .map(|seat| {
                let card = first(seat);
                Action::Offer { seat, card }
            })
            .collect(),
        _ => {
            let seat = game.turn().expect("somebody is to move");
            let hand = game.hand(seat);
            let moves = generator.legal_moves(game.rules(), game.board(), seat, hand);
            let mv = moves.choose(dice).expect("a legal move").mv;
            vec![Action::Play { seat, mv }]
        }
    }
}

/// Plays a second by all the clients, and how many milliseconds each play took.
fn plays(server: &Server, scripts: &[Script]) -> (f64, Vec<f64>) {
    let taken = AtomicUsize::new(0);
    let begun = Instant::now();
    let client = |number: usize| {
        let mut client = Client::new(&server.address);
        let mut times = Vec::new();
        // Not all at the same place of their games.
        for script in scripts.iter().cycle().skip(number) {
            if !play(&mut client, script, begun, &mut times) {
                break;
            }
        }
        taken.fetch_add(times.len(), Relaxed);
        times
    };
    let times = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| scope.spawn(move || client(number)))
            .collect();
        let times = clients.into_iter();
        times
            .flat_map(|client| client.join().expect("a client"))
            .collect()
    });
    (taken.load(Relaxed) as f64 / ROUND.as_secs_f64(), times)
}

/// Plays a script through; says whether there was time enough.
fn play(client: &mut Client, script: &Script, begun: Instant, times: &mut Vec<f64>) -> bool {
    let wish = json!({"shuffle_seed": script.seed.hex(), "first_dealer": 0, "listed": false});
    let game = client.send("POST", "/v1/games", None, Some(wish));
    let path = format!("/v1/games/{}", game["id"].as_str().expect("an id"));
    let host = game["host_token"].as_str().expect("a token");
    let token = |seat: Seat| game["seat_tokens"][usize::from(seat.number())].as_str();
    for step in &script.steps {
        let (route, token, body) = match &step.action {
            Action::Deal { .. } => ("deal", Some(host), None),
            Action::Offer { seat, card } => (
                "swap",
                token(*seat),
                Some(json!({"card": card.to_string()})),
            ),
            Action::Play { seat, mv } => {
                ("play", token(*seat), Some(json!({"move": mv.to_string()})))
            }
            _ => unreachable!("no other action is in a script"),
        };
        let request = request("POST", &format!("{path}/{route}"), token, body);
        let sent = Instant::now();
        let (status, _) = client.exchange(request.as_bytes());
        assert_eq!(status, 200, "{route}");
        if begun.elapsed() > ROUND {
            return false;
        }
        if route == "play" {
            times.push(sent.elapsed().as_secs_f64() * 1_000.0);
        }
    }
    true
}

/// What the disk and SQLite allow: the rows of plays, a second, in the tables of the store.
fn bare_batches(scripts: &[Script]) -> f64 {
    let folder = std::env::temp_dir().join(format!("dog-bench-{}-raw", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("dog.db");
    drop(Store::open(&file).expect("a store"));
    let database = Connection::open(&file).expect("a database");
    let set_up = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;";
    database.execute_batch(set_up).expect("a database");
    database.set_prepared_statement_cache_capacity(32);
    let insert = "INSERT INTO games (id, version, phase, listed, created_at, updated_at, tokens, \
                  snapshot) VALUES (?1, 0, 'play', 0, 0, 0, x'', '')";
    for game in 0..CLIENTS {
        database
            .execute(insert, [game.to_string()])
            .expect("a game");
    }
    let tokens = [0_u8; 165];
    let begun = Instant::now();
    let mut written = 0;
    while begun.elapsed() < ROUND {
        let transaction = database.unchecked_transaction().expect("a transaction");
        for game in 0..BATCH {
            let version = (written / BATCH + 1) as i64;
            let steps = &scripts[game % scripts.len()].steps;
            let step = &steps[(version as usize - 1) % steps.len()];
            let (id, at) = (game.to_string(), 1_800_000_000_000_000 + written as i64);
            let run = |sql, row: &[&dyn ToSql]| database.prepare_cached(sql)?.execute(row);
            run(
                "UPDATE games SET version = ?2, updated_at = ?3, tokens = ?4, snapshot = ?5 \
                 WHERE id = ?1",
                &[&id, &version, &at, &tokens, &step.snapshot],
            )
            .and_then(|_| {
                run(
                    "INSERT INTO log (game, version, at, action, events) VALUES (?1, ?2, ?3, '', ?4)",
                    &[&(game as i64 + 1), &version, &at, &step.entry],
                )
            })
            .and_then(|_| run("INSERT INTO changes (game, version) VALUES (?1, ?2)", &[&id, &version]))
            .expect("written");
            written += 1;
        }
        transaction.commit().expect("committed");
    }
    let rate = written as f64 / begun.elapsed().as_secs_f64();
    drop(database);
    fs::remove_dir_all(&folder).expect("removed");
    rate
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
