//! Opening files: of this and other versions, of other programs, and damaged ones.

use std::io::{Seek, SeekFrom, Write};

use super::*;

fn pragma(path: &Path, name: &str) -> String {
    let connection = Connection::open(path).unwrap();
    let sql = format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}");
    connection.query_row(&sql, [], |row| row.get(0)).unwrap()
}

fn refusal(path: &Path) -> StoreError {
    Store::open(path, StoreConfig::default()).expect_err("the file cannot be used")
}

#[test]
fn commits_are_synced_to_disk() {
    let dir = Dir::new();
    let connection = connect::writer(&dir.file(), MIGRATIONS).unwrap();
    let pragma = |name: &str| -> String {
        let value = connection.pragma_query_value(None, name, |row| row.get(0));
        match value.unwrap() {
            rusqlite::types::Value::Integer(number) => number.to_string(),
            rusqlite::types::Value::Text(text) => text,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(pragma("synchronous"), "2");
    assert_eq!(pragma("journal_mode"), "wal");
    assert_eq!(pragma("foreign_keys"), "1");
    assert_eq!(pragma("user_version"), MIGRATIONS.len().to_string());
    assert_eq!(pragma("integrity_check"), "ok");
}

#[test]
fn a_new_file_may_be_opened_concurrently() {
    for _ in 0..10 {
        let dir = Dir::new();
        let stores: Vec<_> = thread::scope(|scope| {
            let open = |_| scope.spawn(|| dir.store());
            let threads: Vec<_> = (0..8).map(open).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        let id = create(&stores[0]).id;
        for store in &stores {
            assert_eq!(wait(store.version(&id)), Some(1));
        }
    }
}

#[test]
fn older_files_are_migrated_and_newer_ones_refused() {
    let dir = Dir::new();
    let path = dir.file();
    let id = create(&dir.store()).id;
    let two = [MIGRATIONS, &["CREATE TABLE two (x INTEGER) STRICT"]].concat();
    let broken = [
        MIGRATIONS,
        &["CREATE TABLE one (x INTEGER) STRICT; CREATE nonsense"],
    ]
    .concat();
    let dangling = [
        MIGRATIONS,
        &["INSERT INTO log (game, version, at, events) VALUES (99, 1, 1, '[]')"],
    ]
    .concat();
    let known = MIGRATIONS.len() as u32;
    let versions = [known, known + 1].map(|version| version.to_string());

    for migrations in [broken, dangling] {
        Database::open_migrated(&path, &migrations, StoreConfig::default())
            .expect_err("a migration that fails");
        assert_eq!(pragma(&path, "user_version"), versions[0]);
    }
    let database = Database::open_migrated(&path, &two, StoreConfig::default()).unwrap();
    let store = Store(Kind::File(database), Arc::new(OwnLease::new()));
    assert_eq!(wait(store.version(&id)), Some(1));
    drop(store);
    assert_eq!(pragma(&path, "user_version"), versions[1]);

    let before = fs::read(&path).unwrap();
    let newer = refusal(&path);
    let expected = (known + 1, known);
    assert!(matches!(newer, StoreError::Newer { found, known } if (found, known) == expected));
    assert!(newer.to_string().contains("use the newer program"));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn games_of_the_second_schema_can_be_continued() {
    let dir = Dir::new();
    let stored = new_game();
    connect::writer(&dir.file(), &MIGRATIONS[..2])
        .unwrap()
        .execute(
            "INSERT INTO games (id, version, phase, listed, created_at, updated_at, tokens, \
             snapshot, change) VALUES (?1, 1, 'deal', 1, ?2, ?2, ?3, ?4, 1)",
            rusqlite::params![
                stored.id,
                stored.created_at.as_microsecond(),
                stored.tokens,
                serde_json::to_string(&*stored.game).unwrap(),
            ],
        )
        .unwrap();
    let store = dir.store();
    assert_eq!(wait(store.game(&stored.id)), Some(stored.clone()));
    let (id, last) = (stored.id, last_change(&store));
    act(&store, &id, &reissue());
    let version = Some(2);
    let change = Change::Game { id, version };
    assert_eq!(changes(&store, last), [change]);
}

#[test]
fn open_tables_of_the_seventh_schema_are_found() {
    let dir = Dir::new();
    let connection = connect::writer(&dir.file(), &MIGRATIONS[..7]).unwrap();
    let insert = |stored: &StoredGame, snapshot: &str| {
        let is_default = *stored.seating == Seating::default();
        let seating = (!is_default).then(|| serde_json::to_string(&*stored.seating));
        let columns = rusqlite::params![
            stored.id,
            stored.game.phase().name(),
            stored.created_at.as_microsecond(),
            stored.tokens,
            snapshot,
            seating.transpose().unwrap(),
        ];
        let sql = "INSERT INTO games (id, version, phase, listed, created_at, updated_at, \
                   token_hashes, snapshot, seating) VALUES (?1, 1, ?2, 1, ?3, ?3, ?4, ?5, ?6)";
        connection.execute(sql, columns).unwrap();
    };
    let by_host = |seats: usize| {
        let mut stored = open_table(JoinPolicy::Anyone);
        for seat in Seat::all(4).take(seats) {
            Arc::make_mut(&mut stored.seating).seats[seat].opened = Opened::ByHost;
        }
        stored
    };
    let open = [open_table(JoinPolicy::Anyone), by_host(3)];
    let others = [open_table(JoinPolicy::Invited), by_host(4), new_game()];
    for stored in open.iter().chain(&others) {
        insert(stored, &serde_json::to_string(&*stored.game).unwrap());
    }
    insert(&open_table(JoinPolicy::Anyone), "damaged");
    drop(connection);
    let query = ListQuery {
        open: true,
        limit: 9,
        ..ListQuery::default()
    };
    let found = wait(dir.store().games(&query)).games;
    let found: Vec<GameId> = found.iter().map(|stored| stored.id).collect();
    assert_eq!(found, [open[1].id, open[0].id]);
}

#[test]
fn files_of_other_programs_are_left_unchanged() {
    let dir = Dir::new();
    let path = dir.file();
    let unchanged = |expected: &str| {
        let before = fs::read(&path).unwrap();
        let refusal = refusal(&path).to_string();
        assert!(refusal.contains(expected), "{refusal}");
        assert_eq!(fs::read(&path).unwrap(), before);
    };
    fs::write(&path, "These are my notes, not a database. ".repeat(99)).unwrap();
    unchanged("not a database");
    fs::write(&path, "short").unwrap();
    unchanged("not a database");

    fs::remove_file(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE recipes (name)").unwrap();
    drop(other);
    unchanged("another program's");
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch("DROP TABLE recipes; PRAGMA application_id = 77")
        .unwrap();
    drop(other);
    unchanged("(application id 77)");

    let missing = refusal(&dir.0.join("no such directory").join("games.db"));
    assert!(
        missing.to_string().contains("cannot be created"),
        "{missing}"
    );
    let directory = refusal(&dir.0);
    assert!(matches!(directory, StoreError::Io(_)), "{directory}");
}

#[test]
fn an_empty_file_becomes_a_database() {
    let dir = Dir::new();
    fs::write(dir.file(), "").unwrap();
    create(&dir.store());
}

#[test]
fn a_damaged_file_is_refused() {
    let dir = Dir::new();
    create(&dir.store());
    let mut file = fs::OpenOptions::new().write(true).open(dir.file()).unwrap();
    file.seek(SeekFrom::Start(100)).unwrap();
    file.write_all(&[0x55; 500]).unwrap();
    drop(file);
    let damaged = refusal(&dir.file());
    assert!(matches!(damaged, StoreError::Damaged(_)), "{damaged}");
}

#[cfg(unix)]
#[test]
fn the_file_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::new();
    create(&dir.store());
    let mode = fs::metadata(dir.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_read_only_file_is_refused() {
    let dir = Dir::new();
    create(&dir.store());
    let mut permissions = fs::metadata(dir.file()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(dir.file(), permissions).unwrap();
    if fs::OpenOptions::new().write(true).open(dir.file()).is_ok() {
        eprintln!("not tested: this user may write to read-only files");
        return;
    }
    let refusal = refusal(&dir.file());
    assert!(matches!(refusal, StoreError::ReadOnly), "{refusal}");
}
