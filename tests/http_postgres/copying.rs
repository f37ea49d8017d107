//! `dog copy` beside real servers, from PostgreSQL to a file and back.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::{ServerDatabase, TestGame, TestServer, TestTable, TestViewer::*, wait_until};

fn file(folder: &Path) -> ServerDatabase {
    ServerDatabase::File(folder.join("dog.db"))
}

/// Asserts that a moved database is no longer served: neither by the server that runs on it nor
/// by one that starts.
fn is_moved(server: &TestServer, game: &TestGame<'_>) {
    let before = game.snapshot();
    let renew = game.post(Seat(0), "/seats/0/token").send();
    renew.refused("unavailable");
    server.post("/v1/games").send().refused("unavailable");
    server.wait_until_ready(false);
    let problem = server.get("/readyz").send().refused("unavailable");
    let detail = problem["detail"].as_str().expect("a detail");
    assert!(detail.contains("moved by `dog copy`"), "{detail}");
    assert_eq!(game.snapshot(), before);

    let said = refused(server.database().serve());
    let reason = match server.database() {
        ServerDatabase::File(_) => "has this database open",
        ServerDatabase::Postgres(_) => "moved by `dog copy`",
    };
    assert!(said.contains(reason), "{said}");
}

/// What a command that must fail says.
#[track_caller]
fn refused(mut command: Command) -> String {
    let output = command.output().expect("the dog binary");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    said
}

fn create_with_key(server: &TestServer) -> Value {
    let create = server.post("/v1/games").json(&json!({"listed": true}));
    let key = "0123456789abcdef0123456789abcdef";
    create.key(key).send().expect(201)
}

fn page(server: &TestServer, cursor: &str) -> Value {
    let path = format!("/v1/games?limit=2{cursor}");
    let mut page = server.get(&path).send().expect(200);
    for game in page["games"].as_array_mut().expect("games") {
        game["updated_at"].take();
    }
    page
}

#[test]
fn games_go_on_after_a_move_there_and_back() {
    let first = TestServer::start();
    let game = TestGame::dealt(&first);
    let over = TestGame::imported(&first);
    let mut table = TestTable::create(&first, &json!({}));
    let joining = json!({"invitation": table.invitation});
    table.join(&joining);
    for _ in 0..4 {
        first.create(&json!({"listed": true})).expect(201);
    }
    let by_key = create_with_key(&first);
    let (snapshot, ended) = (game.snapshot(), over.view(Spectator));
    let history = over.get(Spectator, "/history").send().json();
    let top = page(&first, "");
    let next = format!("&cursor={}", top["next"].as_str().expect("a cursor"));
    let second_page = page(&first, &next);

    let goes_on = |server: &TestServer| {
        let (game, over) = (game.at(server), over.at(server));
        assert_eq!(over.view(Spectator), ended);
        assert_eq!(over.get(Spectator, "/history").send().json(), history);
        assert_eq!(page(server, ""), top);
        assert_eq!(page(server, &next), second_page);
        assert_eq!(create_with_key(server), by_key);
        let join = table
            .game
            .at(server)
            .post_json(Spectator, "/join", &joining);
        let joined = join.expect(201);
        server.forbid_in_log(joined["token"].as_str().expect("a token"));
        let (said, sound) = server.check();
        assert!(sound, "{said}");
        game.snapshot()
    };
    let second = TestServer::on_moved(&first, file);
    is_moved(&first, &game);
    assert_eq!(goes_on(&second), snapshot);
    let game_there = game.at(&second);
    game_there.exchange();
    game_there.play_on();

    let third = TestServer::on_moved(&second, ServerDatabase::new);
    is_moved(&second, &game_there);
    assert_eq!(goes_on(&third), game_there.snapshot());
    let game = game.at(&third);
    game.play_on();
    let (said, sound) = third.check();
    assert!(sound, "{said}");
}

fn spawn(mut copy: Command) -> Child {
    copy.stdout(Stdio::null()).stderr(Stdio::null());
    copy.spawn().expect("the dog binary")
}

/// Kills a copy that runs.
fn kill(mut copy: Child) {
    assert_eq!(copy.try_wait().expect("its status"), None, "it runs");
    copy.kill().expect("to kill it");
    assert!(!copy.wait().expect("its end").success());
}

fn postgres(database: &ServerDatabase) -> &dog_cluster::TestDatabase {
    match database {
        ServerDatabase::Postgres(database) => database,
        ServerDatabase::File(_) => panic!("a file"),
    }
}

#[test]
fn a_killed_copy_to_postgres_leaves_nothing() {
    let postgres_server = TestServer::start();
    let game = TestGame::dealt(&postgres_server);
    TestGame::imported(&postgres_server);
    let server = TestServer::on_moved(&postgres_server, file);
    let game = game.at(&server);
    let target = ServerDatabase::new(server.folder());
    let database = postgres(&target);
    // It stops after the games and their logs.
    database.psql(
        "CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         PERFORM pg_sleep(600); RETURN NULL; END $$; \
         CREATE TRIGGER pause BEFORE INSERT ON packed_log EXECUTE FUNCTION pause()",
    );
    let pausing = "FROM pg_stat_activity WHERE wait_event = 'PgSleep' \
                   AND datname = current_database()";
    let paused = || database.psql(&format!("SELECT count(*) {pausing}")) == "1";
    let running = spawn(server.database().copy_to(&target));
    wait_until("it pauses", paused);
    game.get(Seat(0), "").send().expect(200);
    kill(running);
    // The server would notice only after its pause that nobody is there.
    database.psql(&format!("SELECT pg_terminate_backend(pid) {pausing}"));
    wait_until("it ends", || !paused());
    assert_eq!(target.number("SELECT count(*) FROM games"), 0);
    assert_eq!(target.number("SELECT count(*) FROM log"), 0);
    server.wait_until_ready(true);
    game.exchange();
    database.psql("DROP FUNCTION pause CASCADE");
    let copied = server.database().copy_to(&target).status();
    assert!(copied.expect("the dog binary").success());
    let games = server.database().number("SELECT count(*) FROM games");
    assert_eq!(target.number("SELECT count(*) FROM games"), games);
}

#[test]
fn a_killed_copy_to_a_file_leaves_a_partial_file() {
    let server = TestServer::start();
    let game = TestGame::dealt(&server);
    // Enough rows that it takes a while.
    let more = "INSERT INTO log SELECT row_id, number, created_at, NULL, repeat('x', 200) \
                FROM games, generate_series(100, 400000) AS number";
    postgres(server.database()).psql(more);
    let path: PathBuf = server.folder().join("copy.db");
    let partial = server.folder().join("copy.db.partial");
    let target = ServerDatabase::File(path.clone());
    let running = spawn(server.database().copy_to(&target));
    let length = || fs::metadata(&partial).map_or(0, |partial| partial.len());
    wait_until("rows are written", || length() > 1 << 20);
    kill(running);
    assert!(!path.exists());
    server.wait_until_ready(true);
    game.exchange();

    let again = || server.database().copy_to(&target);
    let said = refused(again());
    assert!(said.contains("can be removed"), "{said}");
    fs::remove_file(&partial).expect("the partial file");
    let copied = again().output().expect("the dog binary");
    let said = String::from_utf8_lossy(&copied.stdout).into_owned();
    assert!(copied.status.success(), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(path.exists() && !partial.exists());
    is_moved(&server, &game);
}

/// What the command refuses in one line, which shows no password.
#[test]
fn a_copy_refuses_in_one_line() {
    let server = TestServer::start();
    TestGame::dealt(&server);
    let nowhere = ServerDatabase::File(server.folder().join("none.db"));
    let taken = ServerDatabase::File(server.folder().join("taken.db"));
    fs::write(taken.file(), "something").expect("a file");
    let empty = ServerDatabase::new(server.folder());
    for (from, to, says) in [
        (server.database(), &taken, "there is a file already"),
        (server.database(), server.database(), "has games already"),
        (&nowhere, &empty, "the source: the database file is gone"),
        (&taken, &empty, "the source: the file is not a database"),
    ] {
        let said = refused(from.copy_to(to));
        assert!(said.contains(says), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(!said.contains(dog_cluster::PASSWORD), "{said}");
    }
    assert_eq!(fs::read(taken.file()).expect("the file"), b"something");
    assert!(!nowhere.file().exists());
    server.wait_until_ready(true);
}
