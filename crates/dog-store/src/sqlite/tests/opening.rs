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
    let connection = connect::writer(&dir.file(), &SCHEMA).unwrap();
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
    assert_eq!(pragma("user_version"), SCHEMA.version().to_string());
    assert_eq!(pragma("integrity_check"), "ok");
}

#[test]
fn files_are_migrated_and_newer_ones_refused() {
    const BROKEN: &str = "CREATE TABLE one (x INTEGER) STRICT; CREATE nonsense";
    const DANGLING: &str = "INSERT INTO log (game, version, at, events) VALUES (99, 1, 1, '[]')";
    let with = |last| Schema {
        scripts: Box::leak(Box::new([SCHEMA.scripts, &[last]].concat())),
        ..SCHEMA
    };
    let dir = Dir::new();
    let path = dir.file();
    let id = create(&dir.store()).id;
    let known = SCHEMA.version();

    for last in [BROKEN, DANGLING] {
        SqliteDatabase::open_with(&path, &with(last), StoreConfig::default())
            .expect_err("a migration that fails");
        assert_eq!(pragma(&path, "user_version"), known.to_string());
    }
    let two = with("CREATE TABLE two (x INTEGER) STRICT");
    let database = SqliteDatabase::open_with(&path, &two, StoreConfig::default()).unwrap();
    let store = Store::new(Backend::Sqlite(database));
    assert_eq!(wait(store.version(&id)), Some(1));
    drop(store);
    assert_eq!(pragma(&path, "user_version"), (known + 1).to_string());

    let before = fs::read(&path).unwrap();
    let newer = refusal(&path);
    let expected = (known + 1, known);
    assert!(matches!(newer, StoreError::Newer { found, known } if (found, known) == expected));
    assert!(newer.to_string().contains("use the newer program"));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn files_of_builds_before_the_first_release_are_refused_by_everything() {
    let (dir, target) = (Dir::new(), Dir::new());
    let path = dir.file();
    create(&dir.store());
    for version in [SCHEMA.first_version - 1, 1] {
        sql(&dir, &format!("PRAGMA user_version = {version}"));
        let before = fs::read(&path).unwrap();
        let to_file = target.file();
        let [from, to] = [&path, &to_file].map(|file| Location::Sqlite(file.clone()));
        let refusals = [
            refusal(&path).to_string(),
            verify_file(&path).unwrap_err().to_string(),
            check(&path, |_, _| {}).unwrap_err().to_string(),
            backup(&path, &to_file, |_, _| {}).unwrap_err().to_string(),
            copy(&from, &to, |_, _| {}).unwrap_err().to_string(),
        ];
        for refusal in refusals {
            let expected = format!(
                "the database has schema version {version}: it was made by a build before the \
                 first release; start with a new file"
            );
            assert!(refusal.ends_with(&expected), "{refusal}");
        }
        assert!(fs::read(&path).unwrap() == before, "nothing is written");
        assert_eq!(connect::length(&connect::sidecar(&path, "-wal")), 0);
        assert!(!to_file.exists());
    }
}

#[test]
fn a_file_whose_version_is_lost_is_refused_in_words() {
    let dir = Dir::new();
    let path = dir.file();
    create(&dir.store());
    for version in [-1, 0] {
        sql(&dir, &format!("PRAGMA user_version = {version}"));
        let before = fs::read(&path).unwrap();
        let expected = format!("its schema version (user_version) is {version}");
        for refusal in [refusal(&path), check(&path, |_, _| {}).unwrap_err()] {
            assert!(refusal.to_string().ends_with(&expected), "{refusal}");
        }
        assert!(fs::read(&path).unwrap() == before, "nothing is written");
    }
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
    sql(&dir, "CREATE TABLE recipes (name)");
    unchanged("another program's");
    sql(&dir, "DROP TABLE recipes; PRAGMA application_id = 77");
    unchanged("(application id 77)");

    let missing = refusal(&dir.0.join("no such directory/games.db")).to_string();
    assert!(missing.contains("cannot be created"), "{missing}");
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
