//! Failures of the disk and the database file: what clients see, that no confirmed write is
//! lost, that the server recovers by itself, and that it does not start on a damaged
//! file.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use rusqlite::Connection;
use serde_json::json;

use crate::support::{
    ServerDatabase, Signal, SmallDisk, TestGame, TestRequest, TestServer, TestViewer::*, run,
};

/// The database file's name with this suffix.
fn beside(database: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", database.display()))
}

/// The database file of a server.
fn database(server: &TestServer) -> &Path {
    server.database().file()
}

/// The error of a server that does not start on this database.
#[track_caller]
fn refusal(database: &Path, wrapper: &[&str]) -> String {
    let wrapper = [&["timeout", "180"], wrapper].concat();
    let mut serve = crate::support::dog(database.as_os_str(), &wrapper);
    let output = serve.args(["serve", "--listen", "127.0.0.1:0"]).output();
    let output = output.expect("the server ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("cannot open the database"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

/// Runs `dog` with these arguments on a database: whether it succeeded, and its output.
fn dog(arguments: &[&str], database: &Path) -> (bool, String) {
    let mut dog = Command::new(env!("CARGO_BIN_EXE_dog"));
    let said = run(dog.args(arguments).arg("--database").arg(database), b"");
    let text = String::from_utf8_lossy(&said.stdout) + String::from_utf8_lossy(&said.stderr);
    (said.status.success(), text.into_owned())
}

/// A legal move, not sent yet.
fn next_move<'a>(game: &TestGame<'a>) -> TestRequest<'a> {
    let (seat, id) = game.first_move();
    let request = game.post(Seat(seat), "/play");
    request.json(&json!({"move": id}))
}

/// Asserts that writes are refused with one of these codes, and reads still work.
#[track_caller]
fn writes_wait(game: &TestGame<'_>, codes: &[&str]) {
    let server = game.server;
    let before = game.snapshot();
    let refused = next_move(game).send();
    if refused.status == 503 {
        assert!(refused.header("retry-after").is_some());
    }
    refused.refused_one_of(codes);
    server.post("/v1/games").send().refused_one_of(codes);
    let token = game.post(Seat(0), "/seats/0/token").send();
    token.refused_one_of(codes);
    server.wait_until_ready(false);
    server.get("/healthz").send().expect(200);
    server.get("/v1/games").send().expect(200);
    game.get(Spectator, "/history").send().expect(200);
    assert_eq!(game.snapshot(), before, "a refused write changed something");
}

/// Asserts that writes work again, and that confirmed writes survive a kill.
#[track_caller]
fn writes_go_on(game: &TestGame<'_>) {
    let version = game.version();
    let played = next_move(game).send().expect(200);
    assert_eq!(played["version"], version + 1);
    game.server.wait_until_ready(true);
    game.server.restart(Signal::Kill);
    assert_eq!(game.version(), version + 1);
    let (sound, said) = dog(&["check"], database(game.server));
    assert!(sound, "{said}");
}

/// The codes of writes to files of a limited size. A write that is cut short by it looks like one
/// to a full disk, and one beyond it is another error of the disk.
#[cfg(target_os = "linux")]
const FULL: &[&str] = &["database_full", "unavailable"];

/// Limits the size of files that the server may write; `None` removes the limit.
#[cfg(target_os = "linux")]
fn limit_files(server: &TestServer, bytes: Option<u64>) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let process = Pid::from_raw(server.process_id() as i32);
    let limit = Rlimit {
        current: bytes,
        maximum: None,
    };
    prlimit(process, Resource::Fsize, limit).expect("a limit");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_refuses_writes_until_there_is_room() {
    let server = ignoring_limits();
    let game = TestGame::in_play(&server);
    let bots = TestGame::with_bots(&server, "greedy", 0);
    for _ in 0..2 {
        limit_files(&server, Some(4096));
        writes_wait(&game, FULL);
        limit_files(&server, None);
        next_move(&game).send().expect(200);
    }
    // Bots go on playing, too.
    let last = bots.events_after(Spectator, 0).rest();
    let events = last.last().expect("an end").data["events"].to_string();
    assert!(events.contains("game_won"), "{events}");
    writes_go_on(&game);
}

/// A server that is not killed by the signal for writing beyond the limit.
#[cfg(target_os = "linux")]
fn ignoring_limits() -> TestServer {
    let wrapper = &["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"];
    TestServer::start_on(&[], wrapper, |_| {})
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_with_room_for_a_page_is_full() {
    let server = ignoring_limits();
    let game = TestGame::in_play(&server);
    let connection = Connection::open(database(&server)).expect("the database");
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    let busy = connection.query_row(checkpoint, [], |row| row.get::<_, bool>(0));
    assert!(!busy.expect("a checkpoint"), "the log is empty");
    // Room for the header of the write-ahead log and a page.
    limit_files(&server, Some(32 + 24 + 4096));
    next_move(&game).send().refused_one_of(FULL);
    server.get("/readyz").send().refused("unavailable");
    let modified = || fs::metadata(database(&server)).and_then(|file| file.modified());
    let before = modified().expect("a time");
    limit_files(&server, None);
    // The next write causes a checkpoint, without waiting for a thousand pages.
    TestGame::imported(&server);
    crate::support::wait_until("a checkpoint is made", || {
        modified().expect("a time") != before
    });
    server.wait_until_ready(true);
    writes_go_on(&game);
}

/// A server with its files on a small disk.
#[cfg(target_os = "linux")]
fn on_a_small_disk() -> Option<(TestServer, SmallDisk)> {
    let mut disk = None;
    let server = TestServer::start_on(&[], &[], |database| {
        let folder = database.file().parent().expect("a folder");
        disk = SmallDisk::mount(folder);
    });
    disk.map(|disk| (server, disk))
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "takes ten seconds"]
fn games_alone_do_not_fill_a_disk() {
    let Some((server, disk)) = on_a_small_disk() else {
        return;
    };
    let game = TestGame::in_play(&server);
    let tables = [(); 20].map(|()| TestGame::create(&server, &json!({})));
    let import = || server.import(include_str!("../records/six.dog"));
    let mut others = Vec::new();
    let refused = loop {
        let imported = import();
        if imported.status != 201 {
            break imported;
        }
        others.push(TestGame::from_created(&server, &imported.expect(201)));
        assert!(others.len() < 10_000, "the disk is small");
    };
    refused.refused("database_full");
    // Play goes on, until the disk has no more room for the database.
    next_move(&game).send().expect(200);
    let body = json!({"kind": "human", "name": "Anna"});
    let refused = (0..1_600).find_map(|number| {
        let rename = tables[number % 20].request("PUT", Host, "/seats/0");
        let response = rename.json(&body).key(&format!("key-{number}")).send();
        (response.status != 200).then_some(response)
    });
    refused.expect("a refusal").refused("database_full");
    // The log has its room, unless other programs take it.
    disk.fill();
    server.post("/v1/games").send().refused("database_full");
    server.wait_until_ready(false);
    game.view(Seat(0));
    disk.make_room();
    // Removing games needs room in the log only.
    for game in others {
        game.remove();
    }
    server.wait_until_ready(true);
    import().expect(201);
    writes_go_on(&game);
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_others_fill_refuses_writes_until_there_is_room() {
    let Some((server, disk)) = on_a_small_disk() else {
        return;
    };
    let game = TestGame::in_play(&server);
    for _ in 0..2 {
        disk.fill();
        writes_wait(&game, &["database_full"]);
        disk.make_room();
        next_move(&game).send().expect(200);
    }
    writes_go_on(&game);
}

#[test]
#[ignore = "waits ten seconds"]
fn a_locked_database_refuses_writes_until_it_is_free() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let other = Connection::open(database(&server)).expect("the database");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    thread::scope(|scope| {
        let refused = scope.spawn(|| next_move(&game).send());
        server.wait_until_ready(false);
        refused.join().expect("a response").refused("unavailable");
    });
    // Reads still work, and the process is alive.
    game.view(Seat(0));
    server.get("/healthz").send().expect(200);
    other.execute_batch("ROLLBACK").expect("no lock");
    writes_go_on(&game);
}

#[test]
fn a_file_that_was_moved_away_refuses_writes_until_it_is_back() {
    // A worker opens the database at its first read: with several workers, one might open it
    // too late.
    let server = TestServer::start_with(&[("DOG_WORKERS", "1")]);
    let game = TestGame::in_play(&server);
    let (file, away) = (database(&server), beside(database(&server), ".away"));
    let copy = beside(file, ".copy");
    assert!(dog(&["backup", copy.to_str().expect("a name")], file).0);
    for replaced in [false, true] {
        fs::rename(file, &away).expect("the file is moved away");
        if replaced {
            fs::copy(&copy, file).expect("another file");
        }
        writes_wait(&game, &["unavailable"]);
        fs::rename(&away, file).expect("the file is back");
        next_move(&game).send().expect(200);
    }
    writes_go_on(&game);
}

#[test]
fn a_file_that_is_cut_short_is_neither_written_nor_served() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let file = fs::OpenOptions::new().write(true).open(database(&server));
    file.and_then(|file| file.set_len(0))
        .expect("an empty file");
    let refused = server.post("/v1/games").send();
    refused.refused_one_of(&["unavailable", "internal"]);
    let looked = game.get(Spectator, "").send();
    assert!([200, 500, 503].contains(&looked.status), "{looked:?}");
    server.stop(Signal::Kill);
    let said = refusal(database(&server), &[]);
    assert!(said.contains("write-ahead log"), "{said}");
    assert!(!dog(&["check"], database(&server)).0);
}

#[test]
fn a_damaged_file_is_not_served_unless_that_is_asked_for() {
    let server = TestServer::start();
    let games: Vec<String> = (0..5).map(|_| TestGame::in_play(&server).id).collect();
    server.stop(Signal::Term);
    let sound = fs::read(database(&server)).expect("the file");
    let page = sound.len() / 4096 - 2;
    let (mut half, mut a_page, mut header) = (sound.clone(), sound.clone(), sound);
    half.truncate(half.len() / 2);
    a_page[page * 4096..][..8].fill(0x55);
    header[3] ^= 1;
    for (bytes, expected) in [
        (half, "damaged"),
        (a_page.clone(), "damaged"),
        (header, "the file is not a database"),
    ] {
        fs::write(database(&server), &bytes).expect("a file");
        let said = refusal(database(&server), &[]);
        assert!(said.contains(expected), "{said}");
        assert!(!dog(&["check"], database(&server)).0, "{expected}");
        assert_eq!(fs::read(database(&server)).expect("the file"), bytes);
    }
    drop(server);

    let prepare = |database: &ServerDatabase| fs::write(database.file(), a_page).expect("a file");
    let server = TestServer::start_on(&[("DOG_SKIP_CHECK", "1")], &[], prepare);
    let status = |game: &String| server.get(&format!("/v1/games/{game}")).send().status;
    let answered: Vec<u16> = games.iter().map(status).collect();
    assert!(answered.contains(&200), "{answered:?}");
    let are_known = answered.iter().all(|status| [200, 500].contains(status));
    assert!(are_known, "{answered:?}");
}

#[test]
fn a_spoilt_log_of_a_killed_server_is_not_served() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    server.stop(Signal::Kill);
    let log = beside(database(&server), "-wal");
    let sound = fs::read(&log).expect("a write-ahead log");
    let mut spoilt = sound.clone();
    spoilt[sound.len() / 2] ^= 4;
    for bytes in [&spoilt[..], &sound[..sound.len() / 2]] {
        fs::write(&log, bytes).expect("a log");
        let said = refusal(database(&server), &[]);
        assert!(said.contains("its write-ahead log is damaged"), "{said}");
        let (sound, said) = dog(&["check"], database(&server));
        assert!(!sound && said.contains("write-ahead log"), "{said}");
    }
    fs::write(&log, &sound).expect("the log");
    server.restart(Signal::Kill);
    writes_go_on(&game);
}

#[test]
fn a_lost_file_is_not_replaced_by_an_empty_one() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    server.stop(Signal::Kill);
    let (file, away) = (database(&server), beside(database(&server), ".away"));
    fs::rename(file, &away).expect("the file is lost");
    for empty in [false, true] {
        if empty {
            fs::write(file, "").expect("an empty file");
        }
        let said = refusal(file, &[]);
        assert!(said.contains("missing or empty"), "{said}");
        assert_eq!(file.exists(), empty, "it was created");
    }
    fs::rename(&away, file).expect("the file is found");
    server.restart(Signal::Kill);
    writes_go_on(&game);
}

/// Starts a program that must obey file modes, even if the tests run as root.
fn as_anybody() -> Option<Vec<&'static str>> {
    let probe = |wrapper: &[&str]| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("read-only");
        let _ = fs::write(&file, "");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).expect("a mode");
        let mut words = wrapper.to_vec();
        words.extend(["sh", "-c", "! : 2>/dev/null >>\"$0\""]);
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(&file).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let wrappers: [&[&str]; 2] = [&[], &["setpriv", "--bounding-set=-all", "--inh-caps=-all"]];
    let found = wrappers.into_iter().find(|wrapper| probe(wrapper));
    found.map(<[&str]>::to_vec)
}

#[test]
fn a_read_only_file_or_folder_is_not_served() {
    let Some(anybody) = as_anybody() else {
        eprintln!("not tested: this user may write anything, and there is no setpriv");
        return;
    };
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    server.stop(Signal::Term);
    let file = database(&server);
    let folder = file.parent().expect("a folder");
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    };
    set(file, 0o400);
    let said = refusal(file, &anybody);
    assert!(said.contains("read-only"), "{said}");
    set(file, 0o600);
    set(folder, 0o500);
    let said = refusal(file, &anybody);
    assert!(said.contains("its folder is read-only"), "{said}");
    let new = refusal(&folder.join("new.db"), &anybody);
    assert!(new.contains("cannot be created"), "{new}");
    set(folder, 0o700);
    server.restart(Signal::Kill);
    writes_go_on(&game);
}

#[test]
fn a_backup_of_a_busy_server_is_whole() {
    let server = TestServer::start();
    let games: Vec<_> = (0..10)
        .map(|_| TestGame::with_bots(&server, "greedy", 0))
        .collect();
    let table = TestGame::in_play(&server);
    let file = beside(database(&server), ".copy");
    let backup = || {
        dog(
            &["backup", file.to_str().expect("a name")],
            database(&server),
        )
    };
    for _ in 0..3 {
        let played = next_move(&table).send().expect(200);
        let _ = fs::remove_file(&file);
        let (made, said) = backup();
        assert!(made && said.contains("11 games"), "{said}");
        let (sound, said) = dog(&["check"], &file);
        assert!(sound && said.contains("11 games"), "{said}");
        let prepare = |database: &ServerDatabase| {
            fs::copy(&file, database.file()).expect("a copy");
        };
        let restored = TestServer::start_on(&[], &[], prepare);
        let there = restored.get(&table.path("")).token(&table.tokens[1]).send();
        assert_eq!(there.expect(200)["version"], played["version"]);
        for game in games.iter().chain([&table]) {
            restored.get(&game.path("/history")).send().expect(200);
        }
    }
    let bytes = fs::read(&file).expect("the copy");
    let (made, said) = backup();
    assert!(!made && said.contains("there is a file already"), "{said}");
    assert_eq!(fs::read(&file).expect("the copy"), bytes);
    let (_, said) = dog(&["check"], Path::new("no-such.db"));
    assert!(said.contains("the database file is gone"), "{said}");
}
