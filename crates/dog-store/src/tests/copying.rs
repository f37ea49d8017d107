//! Copies between stores, and what becomes of a store that was moved.

use std::{io::Write as _, time::Instant};

use super::*;

/// Makes a test of each pair of stores of each of these functions of a source and a target.
macro_rules! each_pair {
    ($($test:ident),+ $(,)?) => {
        $(mod $test {
            use super::TestStore;

            fn check(from: Option<TestStore>, to: Option<TestStore>) {
                if let (Some(from), Some(to)) = (from, to) {
                    super::$test(&from, &to);
                }
            }

            #[test]
            fn file_to_file() {
                check(Some(TestStore::sqlite()), Some(TestStore::sqlite()));
            }

            #[test]
            fn file_to_database() {
                check(Some(TestStore::sqlite()), TestStore::postgres());
            }

            #[test]
            fn database_to_file() {
                check(TestStore::postgres(), Some(TestStore::sqlite()));
            }

            #[test]
            fn database_to_database() {
                check(TestStore::postgres(), TestStore::postgres());
            }
        })+
    };
}

each_pair![
    a_copy_has_all_games_and_goes_on,
    a_moved_store_takes_no_writes,
    a_target_with_games_is_refused,
];

each_store![
    a_copy_of_a_copy_is_equal,
    a_store_that_was_never_used_can_be_moved,
];

fn move_to(from: &TestStore, to: &TestStore) -> Result<CopyReport, CopyError> {
    copy(&from.location(), &to.location(), |_, _| {})
}

/// Games of all kinds, of which a test knows some.
struct Filled {
    all: Vec<StoredGame>,
    running: StoredGame,
    /// Its log is half packed, as by a server that was killed.
    half_packed: StoredGame,
}

const ADDRESS: [u8; 4] = [192, 0, 2, 7];

fn fill(database: &TestStore) -> Filled {
    let store = database.store();
    let creator = Some(store.creator(&ADDRESS));
    let (over, log) = play_to_end(&store, game_of(creator));
    let imported = StoredGame {
        imported: true,
        ..renamed(&over)
    };
    commit_done(&store, import(&imported, &log));
    let half_packed = renamed(&imported);
    commit_done(&store, import(&half_packed, &log));
    assert_eq!(wait(store.pack_logs(now(), None, 10)), None);
    database.sql(&format!(
        "UPDATE games SET packed = false WHERE id = '{}'; \
         INSERT INTO log SELECT row_id, version, updated_at, NULL, '[]' FROM games \
         WHERE id = '{0}'",
        half_packed.id
    ));
    let open = add(&store, open_table(JoinPolicy::Anyone));
    let (finished, _) = play_to_end(&store, game_of(creator));
    let timing = Timing {
        turn_seconds: Some(3600),
        bot_pace_ms: 700,
    };
    let mut running = add(
        &store,
        StoredGame {
            timing,
            data: ClientData {
                game: Some("{}".to_owned()),
                ..ClientData::default()
            }
            .into(),
            ..game_of(creator)
        },
    );
    for _ in 0..20 {
        let seat = running.game.timed_out_seat().unwrap();
        let action = running.game.legal_actions(seat).swap_remove(0);
        running = act(&store, &running.id, &action);
    }
    let mut with_key = insert(&StoredGame {
        listed: false,
        ..new_game()
    });
    with_key.unique_key = Some("the key".to_owned());
    let named = with_key.game.clone();
    let insert = WriteOp::from(with_key);
    let inserted = commit_saving(&store, insert, 1, "the response");
    assert_eq!(inserted, CommitResult::Done);
    commit_done(&store, add_ticket(&running, "ticket"));
    remove_with_rest(database, &store);
    for (stored, status) in [
        (&over, ReviewStatus::Done),
        (&finished, ReviewStatus::Failed),
    ] {
        let limits = ReviewLimits {
            total: 1,
            per_creator: 1,
            per_network: 1,
        };
        let asked = wait(store.ask_review(&stored.id, creator, limits));
        assert_eq!(asked, ReviewRequest::Added);
        let claimed = wait(store.claim_review()).unwrap();
        assert!(wait(store.save_review(&claimed, status, "found")));
    }
    let all = [
        &over,
        &imported,
        &half_packed,
        &open,
        &finished,
        &running,
        &named,
    ];
    let all = all
        .map(|stored| wait(store.game(&stored.id)).unwrap())
        .to_vec();
    // The last row id is that of a game that was removed.
    let gone = create(&store);
    commit_done(&store, removal(&gone));
    Filled {
        running,
        half_packed,
        all,
    }
}

/// Removes a game whose log is so long that a part of it stays for a while.
fn remove_with_rest(database: &TestStore, store: &Store) {
    let gone = create(store);
    database.sql(&format!(
        "WITH RECURSIVE numbers (number) AS \
         (SELECT 2 UNION ALL SELECT number + 1 FROM numbers WHERE number < 2100) \
         INSERT INTO log SELECT row_id, number, created_at, NULL, '[]' FROM games, numbers \
         WHERE id = '{}'",
        gone.id
    ));
    match database {
        TestStore::Sqlite(_) => commit_done(store, removal(&gone)),
        TestStore::Postgres(_) => database.sql(&format!(
            "WITH gone AS (DELETE FROM games WHERE id = '{}' RETURNING row_id) \
             INSERT INTO removed SELECT row_id FROM gone",
            gone.id
        )),
    }
}

fn list(store: &Store, after: Option<Cursor>) -> GamePage {
    wait(store.games(&ListQuery {
        after,
        limit: 3,
        ..ListQuery::default()
    }))
}

fn ids(page: &GamePage) -> Vec<GameId> {
    page.games.iter().map(|stored| stored.id).collect()
}

fn a_copy_has_all_games_and_goes_on(from: &TestStore, to: &TestStore) {
    let filled = fill(from);
    let before = from.store();
    let first_page = list(&before, None);
    let newest = list(&before, None).games[0].id;
    let mut shown = Vec::new();
    let show = |done, all| shown.push((done, all));
    let report = copy(&from.location(), &to.location(), show).unwrap();
    assert_eq!(report.games, filled.all.len() as u64);
    assert!(shown.is_sorted() && shown.last() == Some(&(2 * report.rows, 2 * report.rows)));

    let checked = to.check();
    assert_eq!(checked.defects, []);
    assert_eq!(checked.games, report.games);
    let store = to.store();
    for stored in &filled.all {
        assert_eq!(wait(store.game(&stored.id)).as_ref(), Some(stored));
        assert_eq!(log(&store, &stored.id), log(&before, &stored.id));
        let review = |store: &Store| wait(store.review(&stored.id));
        assert_eq!(review(&store), review(&before));
    }
    // One is done and one has failed.
    let ended = "SELECT count(DISTINCT status) FROM reviews WHERE status IN ('done', 'failed')";
    assert_eq!(to.number(ended), 2);
    let next = |store: &Store| list(store, first_page.next);
    assert_eq!(ids(&list(&store, None)), ids(&first_page));
    assert_eq!(ids(&next(&store)), ids(&next(&before)));
    assert!(!next(&store).games.is_empty());
    assert_eq!(saved_response(&store, 1), Some(saved("the response")));
    let key = wait(store.game_by_unique_key("the key"));
    assert_eq!(key.map(|stored| stored.id), Some(filled.all[6].id));
    assert_eq!(store.creator(&ADDRESS), before.creator(&ADDRESS));

    // It goes on: the next game has the next row id, games can be played, logs packed.
    let since = list(&store, None).next;
    let created = create(&store);
    assert_eq!(ids(&list(&store, None))[..2], [created.id, newest]);
    assert_eq!(list(&store, since).games.len(), next(&before).games.len());
    assert_eq!(row_id(to, &created.id), filled.all.len() as i64 + 3);
    act(&store, &filled.running.id, &reissue());
    let packed = log(&store, &filled.half_packed.id);
    assert_eq!(wait(store.pack_logs(now(), None, 10)), None);
    assert_eq!(log(&store, &filled.half_packed.id), packed);
    let head = wait(store.head(&filled.half_packed.id)).unwrap();
    assert_eq!(head.creator, None);
    assert_eq!(to.check().defects, []);
}

fn row_id(database: &TestStore, id: &GameId) -> i64 {
    database.number(&format!("SELECT row_id FROM games WHERE id = '{id}'"))
}

/// Nothing is lost or added on the way there and back.
fn a_copy_of_a_copy_is_equal(database: &TestStore) {
    fill(database);
    let other = match database {
        TestStore::Sqlite(_) => TestStore::postgres(),
        TestStore::Postgres(_) => Some(TestStore::sqlite()),
    };
    let Some(other) = other else { return };
    let there = move_to(database, &other).unwrap();
    let again = database.another();
    assert_eq!(move_to(&other, &again).unwrap(), there);
    assert_eq!(move_to(&again, &TestStore::sqlite()).unwrap(), there);
}

fn a_store_that_was_never_used_can_be_moved(database: &TestStore) {
    drop(database.store());
    let to = database.another();
    assert_eq!(move_to(database, &to).unwrap().games, 0);
    assert_eq!(row_id(&to, &create(&to.store()).id), 1);
}

fn is_moved<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    let error = result.unwrap_err();
    assert!(matches!(error, StoreError::Moved), "{error}");
    assert!(error.is_temporary());
}

/// What a server that runs on the source can still do.
fn a_moved_store_takes_no_writes(from: &TestStore, to: &TestStore) {
    let filled = fill(from);
    let store = from.store();
    wait(store.ready());
    let stored = &filled.running;
    move_to(from, to).unwrap();

    let write = |op| block_on(store.commit(Write { op, save: None }));
    is_moved(write(update(stored, &reissue())));
    is_moved(write(insert(&new_game()).into()));
    is_moved(write(removal(stored)));
    is_moved(write(set_tokens(stored, "next")));
    is_moved(block_on(store.commit(Write {
        op: WriteOp::SaveResponse,
        save: Some(save(2, "another")),
    })));
    is_moved(block_on(store.pack_logs(now(), None, 10)));
    is_moved(block_on(store.ready()));

    // Reads go on, and nothing has changed.
    for stored in &filled.all {
        assert_eq!(wait(store.game(&stored.id)).as_ref(), Some(stored));
    }
    drop(store);
    is_moved(from.location().open(StoreConfig::default()));
    let again = move_to(from, &to.another()).unwrap_err();
    let is_source = matches!(again, CopyError::Source(StoreError::Moved));
    assert!(is_source, "{again}");
    assert_eq!(from.check().defects, []);

    // The copy was lost, and the operator wants the original back.
    from.sql("DELETE FROM moved");
    let store = from.store();
    wait(store.ready());
    act(&store, &stored.id, &reissue());
    move_to(from, &to.another()).unwrap();
    is_moved(block_on(store.ready()));
}

fn a_target_with_games_is_refused(from: &TestStore, to: &TestStore) {
    let (here, there) = (from.store(), to.store());
    let (mine, other) = (create(&here), create(&there));
    let refused = move_to(from, to).unwrap_err();
    let expected = match to {
        TestStore::Sqlite(_) => matches!(refused, CopyError::Exists),
        TestStore::Postgres(_) => matches!(refused, CopyError::NotEmpty),
    };
    assert!(expected, "{refused}");
    assert!(refused.to_string().contains("not changed"), "{refused}");
    for (store, game, not) in [(&here, &mine, &other), (&there, &other, &mine)] {
        act(store, &game.id, &reissue());
        assert_eq!(wait(store.game(&not.id)), None);
        wait(store.ready());
    }
}

/// All names in the folder of a file.
fn names(dir: &Dir) -> Vec<String> {
    let names = fs::read_dir(&dir.0).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

/// The number of tables of a database.
fn tables(database: &TestStore) -> i64 {
    let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    database.number(tables)
}

#[test]
fn a_copy_that_fails_halfway_leaves_no_file() {
    let Some(from) = TestStore::postgres() else {
        return;
    };
    let filled = fill(&from);
    let to = Dir::new();
    let location = Location::Sqlite(to.file());
    // It is one of the last tables.
    let column = "ALTER TABLE idempotency ALTER COLUMN created_at TYPE";
    from.sql(&format!("{column} text"));
    let mut done = 0;
    let failed = copy(&from.location(), &location, |rows, _| done = rows).unwrap_err();
    assert!(matches!(failed, CopyError::Source(_)), "{failed}");
    assert!(done > 0, "rows were copied");
    assert_eq!(names(&to), ["games.db-lock"]);
    from.sql(&format!("{column} bigint USING created_at::bigint"));
    act(&from.store(), &filled.running.id, &reissue());

    // One that was killed has left a file that nobody takes for a copy.
    fs::write(to.0.join("games.db.partial"), "half").unwrap();
    let failed = copy(&from.location(), &location, |_, _| {}).unwrap_err();
    assert!(failed.to_string().contains("can be removed"), "{failed}");
    assert_eq!(names(&to), ["games.db-lock", "games.db.partial"]);
    // The log of another database would become a part of the copy.
    fs::rename(to.0.join("games.db.partial"), to.0.join("games.db-wal")).unwrap();
    let failed = copy(&from.location(), &location, |_, _| {}).unwrap_err();
    let is_lost = matches!(failed, CopyError::Target(StoreError::Lost(_)));
    assert!(is_lost, "{failed}");
    fs::remove_file(to.0.join("games.db-wal")).unwrap();
    copy(&from.location(), &location, |_, _| {}).unwrap();
    assert_eq!(names(&to), ["games.db", "games.db-lock"]);
}

#[test]
fn a_copy_that_differs_is_not_kept() {
    let Some(to) = TestStore::postgres() else {
        return;
    };
    let from = TestStore::sqlite();
    let filled = fill(&from);
    drop(to.store());
    let created = tables(&to);
    assert!(created > 0);
    to.sql(
        "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         NEW.body_hash := NEW.scope; RETURN NEW; END $$; \
         CREATE TRIGGER spoil BEFORE INSERT ON idempotency \
         FOR EACH ROW EXECUTE FUNCTION spoil()",
    );
    let failed = move_to(&from, &to).unwrap_err();
    assert!(
        matches!(failed, CopyError::Differs("idempotency")),
        "{failed}"
    );
    assert!(list(&to.store(), None).games.is_empty());
    act(&from.store(), &filled.running.id, &reissue());
    to.sql("DROP FUNCTION spoil CASCADE");
    move_to(&from, &to).unwrap();
    assert_eq!(tables(&to), created);
    assert_eq!(to.check().defects, []);
}

/// Other servers wait while a store is copied, and no change of theirs is lost.
#[test]
#[ignore = "waits 15 seconds for locks: \
            cargo test -p dog-store --lib -- --ignored a_source_is_locked"]
fn a_source_is_locked_while_it_is_copied() {
    let Some(database) = TestStore::postgres() else {
        return;
    };
    for (from, to) in [
        (TestStore::sqlite(), &database),
        (TestStore::postgres().unwrap(), &TestStore::sqlite()),
    ] {
        let filled = fill(&from);
        let (store, id) = (from.store(), filled.running.id);
        let mut tried = None;
        let report = copy(&from.location(), &to.location(), |done, all| {
            if done < all && tried.is_none() {
                let write = draft(&filled.running, &reissue()).into();
                tried = Some(block_on(store.commit(write)).unwrap_err());
                let version = wait(store.version(&id));
                assert_eq!(version, Some(filled.running.game.version()));
            }
        });
        assert_eq!(report.unwrap().games, filled.all.len() as u64);
        assert!(matches!(tried, Some(StoreError::Busy)), "{tried:?}");
        is_moved(block_on(store.ready()));
    }
}

#[test]
fn a_check_of_a_database_finds_what_is_wrong() {
    let Some(database) = TestStore::postgres() else {
        return;
    };
    let filled = fill(&database);
    let mut shown = Vec::new();
    let show = |done, all| shown.push((done, all));
    let report = database.location().check(show).unwrap();
    let games = filled.all.len() as u64;
    assert_eq!(report.defects, []);
    assert!(shown.into_iter().eq((0..=games).map(|done| (done, games))));
    let versions = filled.all.iter().map(|stored| stored.game.version());
    assert_eq!((report.games, report.versions), (games, versions.sum()));
    assert!(report.bytes > 0);
    let id = filled.running.id;
    let game = |change: &str| format!("UPDATE games SET {change} WHERE id = '{id}'");
    let log_row = |change: &str, version: u32| {
        format!(
            "UPDATE log SET {change} WHERE version = {version} \
             AND game = (SELECT row_id FROM games WHERE id = '{id}')"
        )
    };
    for (change, expected) in [
        (game("is_for_people = false"), "whether it is for people"),
        (game("anyone_may_join = true"), "whether anyone may join"),
        (game("at_limit = true"), "whether it is at its last version"),
        (game("due_at = 1"), "when the server is to act"),
        (game("snapshot = 'joker'"), "cannot be read: wrong syntax"),
        (
            game("snapshot = replace(snapshot, '\"round\":1', '\"round\":2')"),
            "its snapshot differs from the replay of its log",
        ),
        (
            log_row("events = replace(events, 'K', 'Q')", 2),
            "the events of version 2 differ",
        ),
        (log_row("action = NULL", 3), "version 3 has no action"),
    ] {
        let before = database_copy(&database);
        before.sql(&change);
        let defects = before.check().defects;
        assert_eq!(defects.len(), 1, "{change}: {defects:?}");
        let text = defects[0].to_string();
        assert!(text.starts_with(&format!("game {id}: ")), "{text}");
        assert!(text.contains(expected) && !text.contains("joker"), "{text}");
    }
    database.sql(&format!("DELETE FROM games WHERE id = '{id}'"));
    let defects = database.check().defects;
    let lines: Vec<String> = defects.iter().map(Defect::to_string).collect();
    let version = filled.running.game.version();
    let expected = [
        format!("database: {version} rows of log belong to no game"),
        "database: 1 rows of tickets belong to no game".to_owned(),
    ];
    assert_eq!(lines, expected);
}

fn database_copy(database: &TestStore) -> TestStore {
    match database {
        TestStore::Sqlite(_) => panic!("no database"),
        TestStore::Postgres(database) => TestStore::Postgres(database.copy()),
    }
}

/// Games that were played by random moves, some more than once, until there are so many.
fn fill_with_many(dir: &Dir, games: usize) {
    const PLAYED: usize = 100;
    let store = dir.store();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    for number in 0..PLAYED {
        let mut seed = [0; 32];
        rand::Rng::fill_bytes(&mut rng, &mut seed);
        let first = StoredGame {
            game: game(|seat| Player::human(format!("player {seat}")), seed),
            ..new_game()
        };
        let (over, log, drafts) = finished_game(&first);
        match number % 4 {
            0 => commit_done(&store, import(&over, &log)),
            other => {
                add(&store, first);
                let played = drafts.len() * other / 3;
                for draft in drafts.into_iter().take(played) {
                    commit_done(&store, draft.into());
                }
            }
        }
    }
    drop(store);
    let mut file = Connection::open(dir.file()).unwrap();
    let adding = file.transaction().unwrap();
    for number in PLAYED..games {
        let copied = (number % PLAYED + 1) as i64;
        let columns = "version, phase, listed, created_at, updated_at, token_hashes, snapshot, \
                       bot_pace_ms, turn_seconds, deadline, is_for_people, due_at, imported, \
                       packed, creator, seating, anyone_may_join";
        let sql = format!(
            "INSERT INTO games (id, {columns}) SELECT ?1, {columns} FROM games WHERE row_id = ?2"
        );
        let id = GameId::random();
        adding.execute(&sql, rusqlite::params![id, copied]).unwrap();
        let row = [adding.last_insert_rowid(), copied];
        for sql in [
            "INSERT INTO log SELECT ?1, version, at, action, events FROM log WHERE game = ?2",
            "INSERT INTO packed_log SELECT ?1, first_version, entries FROM packed_log WHERE game = ?2",
        ] {
            adding.execute(sql, row).unwrap();
        }
        let response = [number as u8; 900];
        let sql = "INSERT INTO idempotency (scope, body_hash, response, created_at) \
                   SELECT ?1, ?2, ?3, updated_at FROM games WHERE row_id = ?4";
        let scope = TokenHash::new(&id.to_string()).0;
        let row = rusqlite::params![scope, scope, response, copied];
        adding.execute(sql, row).unwrap();
    }
    adding.commit().unwrap();
}

/// Prints how long it takes.
#[test]
#[ignore = "takes minutes: \
            cargo test -p dog-store --lib -- --ignored ten_thousand_games_there_and_back"]
fn ten_thousand_games_there_and_back() {
    let Some(database) = TestStore::postgres() else {
        return;
    };
    let (from, back) = (Dir::new(), Dir::new());
    let mut since = Instant::now();
    let mut say = |what: &str| {
        let seconds = since.elapsed().as_secs_f64();
        let _ = writeln!(std::io::stdout(), "{seconds:8.1} s: {what}");
        since = Instant::now();
    };
    fill_with_many(&from, 10_000);
    say("games made");
    let from = TestStore::Sqlite(from);
    let there = move_to(&from, &database).unwrap();
    say(&format!("file to PostgreSQL, {there:?}"));
    assert_eq!(there.games, 10_000);
    let checked = database.check();
    assert_eq!(checked.defects, []);
    say(&format!(
        "checked, {} versions, {} bytes",
        checked.versions, checked.bytes
    ));
    let back = TestStore::Sqlite(back);
    assert_eq!(move_to(&database, &back).unwrap(), there);
    say("PostgreSQL to file");
    let checked = back.check();
    assert_eq!((checked.games, checked.defects), (10_000, vec![]));
    say(&format!("checked, {} bytes", checked.bytes));
}
