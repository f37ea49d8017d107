//! `dog backup --keep` and `dog restore`.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use crate::support::{Signal, TestGame, TestServer, dog as dog_on};

/// Runs `dog` on a database: whether it succeeds, and what it says.
fn dog(database: &Path, arguments: &[&Path]) -> (bool, String) {
    let said = dog_on(database.as_os_str(), &[]).args(arguments).output();
    let said = said.expect("the dog binary");
    let text = String::from_utf8_lossy(&said.stdout) + String::from_utf8_lossy(&said.stderr);
    assert!(!text.contains("panicked"), "{text}");
    (said.status.success(), text.into_owned())
}

#[track_caller]
fn done(database: &Path, arguments: &[&Path]) -> String {
    let (is_done, said) = dog(database, arguments);
    assert!(is_done, "{said}");
    said
}

#[track_caller]
fn refused(database: &Path, arguments: &[&Path], why: &str) {
    let (is_done, said) = dog(database, arguments);
    assert!(!is_done && said.contains(why), "{said}");
}

fn keep<'a>(number: &'a str, folder: &'a Path) -> [&'a Path; 4] {
    [
        "backup".as_ref(),
        "--keep".as_ref(),
        number.as_ref(),
        folder,
    ]
}

fn restore(copy: &Path) -> [&Path; 2] {
    ["restore".as_ref(), copy]
}

/// The names in a folder, sorted, of those that begin with a word.
fn names(folder: &Path, word: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().expect("UTF-8"))
        .filter(|name| name.starts_with(word))
        .collect();
    names.sort();
    names
}

/// Waits until files get another name.
fn next_second() {
    thread::sleep(Duration::from_secs(1));
}

/// The name that the old file has got.
#[track_caller]
fn replaced(database: &Path) -> PathBuf {
    let folder = database.parent().expect("a folder");
    let names = names(folder, "dog.db-replaced-");
    let first = names.first().expect("the old file");
    folder.join(first)
}

#[test]
fn the_oldest_copies_go_once_the_new_one_is_good() {
    let server = TestServer::start();
    TestGame::in_play(&server);
    let database = server.database().file();
    let folder = database.with_extension("copies");
    fs::create_dir(&folder).expect("a folder");
    let others = [
        "dog.db-20200101T000000Z-wal",
        "dog.db-20200101T000000Z.partial",
        "dog.db-2020",
        "dog.db-keep-20200101T000000Z",
        "other.db-20200101T000000Z",
    ];
    // One is of a clock that was ahead.
    let copies = [
        "dog.db-20200102T000000Z",
        "dog.db-20200101T000000Z",
        "dog.db-99990101T000000Z",
    ];
    for name in others.iter().chain(&copies) {
        fs::write(folder.join(name), "old").expect("a file");
    }
    let dated = || {
        let mut names = names(&folder, "dog.db-");
        names.retain(|name| !others.contains(&&**name));
        names
    };
    done(database, &keep("3", &folder));
    let made = &dated()[1];
    assert!(!copies.contains(&&**made));
    assert_eq!(dated(), [copies[0], made, copies[2]]);
    let copy = folder.join(made);
    let check = Command::new(env!("CARGO_BIN_EXE_dog"))
        .args(["check", "--database"])
        .arg(&copy)
        .output();
    assert!(check.expect("the dog binary").status.success());
    // The new copy is kept, though its name is not the last.
    next_second();
    done(database, &keep("1", &folder));
    let left = dated();
    assert!(
        left.len() == 1 && left[0] > *made && *left[0] < *copies[2],
        "{left:?}"
    );
    assert_eq!(names(&folder, "").len(), others.len() + 1);
    // What fails removes nothing.
    server.stop(Signal::Term);
    let mut damaged = fs::read(database).expect("the file");
    let page = damaged.len() / 4096 / 2 * 4096;
    damaged[page..page + 8].fill(0x55);
    fs::write(database, damaged).expect("a damaged file");
    next_second();
    refused(database, &keep("1", &folder), "damaged");
    assert_eq!(dated(), left);
    refused(database, &keep("0", &folder), "--keep");
    refused(database, &keep("1", &copy), "cannot back");
    let postgres = Path::new("postgres://dog@localhost/dog");
    refused(postgres, &keep("1", &folder), "pg_dump or pg_basebackup");
    refused(postgres, &restore(&copy), "pg_dump and pg_restore");
}

#[test]
fn a_copy_is_put_in_the_place_of_a_database_and_back() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let database = server.database().file();
    let copy = database.with_extension("copy");
    done(database, &["backup".as_ref(), &copy]);
    let (version, bytes) = (game.version(), fs::read(&copy).expect("the copy"));
    game.play_on();
    refused(database, &restore(&copy), "another server (pid ");
    assert_eq!(
        names(database.parent().expect("a folder"), "dog.db-replaced"),
        [""; 0]
    );

    // The log of a killed server goes with its file.
    server.stop(Signal::Kill);
    let log = database.with_extension("db-wal");
    assert!(fs::metadata(&log).is_ok_and(|log| log.len() > 0));
    fs::set_permissions(database, fs::Permissions::from_mode(0o640)).expect("a mode");
    let said = done(database, &restore(&copy));
    let old = replaced(database);
    assert!(
        said.contains(&format!("the old file is {}", old.display())),
        "{said}"
    );
    assert_eq!(fs::read(&copy).expect("the copy"), bytes);
    assert!(!log.exists());
    let mode = |file: &Path| fs::metadata(file).expect("a file").mode() & 0o777;
    assert_eq!(mode(database), 0o640);
    assert_eq!(mode(&database.with_extension("db-lock")), 0o600);
    server.restart(Signal::Kill);
    assert_eq!(game.version(), version);
    game.play_on();
    game.play_on();

    // And back: the old file has what came after the copy, all of which was in its log.
    server.stop(Signal::Term);
    next_second();
    done(database, &restore(&old));
    server.restart(Signal::Kill);
    assert_eq!(game.version(), version + 1);
    let (is_sound, said) = dog(database, &["check".as_ref()]);
    assert!(is_sound, "{said}");
}

#[test]
fn what_cannot_be_served_is_not_put_in_place() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let database = server.database().file();
    let folder = database.parent().expect("a folder");
    let copy = |name: &str| {
        let copy = folder.join(name);
        done(database, &["backup".as_ref(), &copy]);
        copy
    };
    let (newer, damaged, foreign) = (copy("newer"), copy("damaged"), folder.join("foreign"));
    let connection = rusqlite::Connection::open(&newer).expect("a copy");
    let set = connection.pragma_update(None, "user_version", 10_000);
    set.and_then(|()| connection.close().map_err(|(_, error)| error))
        .expect("a newer one");
    let mut bytes = fs::read(&damaged).expect("a copy");
    let page = bytes.len() / 4096 / 2 * 4096;
    bytes[page..page + 8].fill(0x55);
    fs::write(&damaged, bytes).expect("a damaged copy");
    fs::write(&foreign, "all work and no play ".repeat(500)).expect("a file");
    server.stop(Signal::Kill);
    let before = names(folder, "dog.db");
    for (copy, why) in [
        (newer, "use the newer program"),
        (damaged, "damaged"),
        (foreign, "not a database"),
        (folder.join("none"), "cannot restore"),
    ] {
        refused(database, &restore(&copy), why);
    }
    assert_eq!(names(folder, "dog.db"), before);
    server.restart(Signal::Kill);
    game.play_on();

    // What is replaced may be damaged, or gone.
    server.stop(Signal::Kill);
    let sound = copy("sound");
    fs::write(database, "all work and no play ").expect("a damaged file");
    done(database, &restore(&sound));
    server.restart(Signal::Kill);
    game.play_on();
    server.stop(Signal::Kill);
    next_second();
    fs::remove_file(database).expect("it is gone");
    let said = done(database, &restore(&sound));
    assert!(!said.contains("the old file is"), "{said}");
    server.restart(Signal::Kill);
    game.play_on();
}

/// As under systemd with `DynamicUser`: root restores for a user that owns the file, in a folder to
/// which a symbolic link leads.
#[test]
fn root_restores_for_the_owner_of_the_file() {
    const USER: u32 = 65_533;
    let root = std::env::temp_dir().join(format!("dog-restore-{}", std::process::id()));
    let (real, folder) = (root.join("private/dog"), root.join("dog"));
    fs::create_dir_all(&real).expect("folders");
    symlink("private/dog", &folder).expect("a link");
    if chown(&real, Some(USER), Some(USER)).is_err() {
        eprintln!("!!! SKIPPED: only root has files of another user !!!");
        return;
    }
    fs::set_permissions(&real, fs::Permissions::from_mode(0o700)).expect("a mode");
    for folder in [&root, &root.join("private")] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    let program = root.join("program");
    fs::copy(env!("CARGO_BIN_EXE_dog"), &program).expect("the program");
    let database = folder.join("dog.db");
    // Serves as that user, as far as the first line.
    let serve = || {
        let user = USER.to_string();
        let mut server = Command::new("setpriv")
            .args(["--reuid", &user, "--regid", &user, "--clear-groups"])
            .arg(&program)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .env("DOG_DATABASE", &database)
            .stdout(Stdio::piped())
            .spawn()
            .expect("setpriv");
        let mut line = String::new();
        let stdout = server.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        server.kill().and_then(|()| server.wait()).expect("its end");
        assert!(line.starts_with("listening on"), "{line}");
    };
    let owners = || {
        let mut owners: Vec<(u32, u32)> = Vec::new();
        for name in names(&real, "dog.db") {
            let file = fs::metadata(real.join(name)).expect("a file");
            owners.push((file.uid(), file.gid()));
        }
        owners
    };
    let other = TestServer::start();
    TestGame::in_play(&other);
    let copy = root.join("copy");
    done(other.database().file(), &["backup".as_ref(), &copy]);
    // Where there is nothing yet, too.
    done(&database, &restore(&copy));
    assert_eq!(owners(), [(USER, USER); 2]);
    serve();
    next_second();
    done(&database, &restore(&copy));
    assert!(
        owners().iter().all(|owner| *owner == (USER, USER)),
        "{:?}",
        owners()
    );
    assert!(replaced(&real.join("dog.db")).exists());
    serve();
    fs::remove_dir_all(root).expect("the folder");
}
