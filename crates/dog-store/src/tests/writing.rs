//! Writes: atomic, and only on the expected state.

use dog_rules::{BySeat, EventKind};
use std::time::Duration;

use super::*;

each_store![
    a_stored_game_is_read_back,
    games_are_added_together_or_not_at_all,
    data_goes_with_its_person,
    invalid_writes_are_refused,
    a_write_is_stale_when_the_game_has_changed,
    a_write_is_stale_when_the_same_version_is_another_state,
    a_write_is_stale_when_a_response_is_saved_for_its_request,
    a_unique_key_is_free_again_when_its_game_is_removed,
    tokens_change_without_a_version,
    a_game_is_removed_with_its_log,
    the_used_space_and_the_limit_are_reported,
    a_full_database_first_refuses_new_games_and_then_all_writes,
];

fn a_stored_game_is_read_back(database: &TestStore) {
    let store = database.store();
    let first = create(&store);
    let id = first.id;
    assert_eq!(wait(store.game(&id)), Some(first.clone()));
    assert_eq!(wait(store.version(&id)), Some(1));
    let unknown = GameId::random();
    assert_eq!(wait(store.game(&unknown)), None);
    assert_eq!(wait(store.version(&unknown)), None);
    assert_eq!(wait(store.head(&unknown)), None);

    let deal = Action::Deal { by: None };
    let mut draft = draft(&first, &deal);
    draft.next.tokens = tokens("second");
    let stored = draft.next.clone();
    assert_eq!(wait(store.commit(draft.into())), CommitResult::Done);
    assert_eq!(stored.game.version(), 2);
    assert_eq!(wait(store.game(&id)), Some(stored.clone()));

    drop(store);
    let store = database.store();
    assert_eq!(wait(store.game(&id)), Some(stored.clone()));
    let head = GameHead {
        version: 2,
        tokens: tokens("second"),
        creator: None,
        seating: Arc::default(),
    };
    assert_eq!(wait(store.head(&id)), Some(head));
    let log = log(&store, &id);
    assert_eq!(log[0], creation(&first));
    assert_eq!(log[1].at, stored.updated_at);
    assert_eq!(log[1].action, Some(deal));
    assert_eq!(log[1].events.len(), 1);
    let dealt = &log[1].events[0].what;
    assert!(matches!(dealt, EventKind::CardsDealt { .. }));
}

fn games_are_added_together_or_not_at_all(database: &TestStore) {
    let store = database.store();
    let batch = |games: &[StoredGame]| WriteOp::Insert(games.iter().map(insert).collect(), None);
    let games: Vec<StoredGame> = (0..16).map(|_| with_data(new_game())).collect();
    let since = last_change(&store);
    let added = commit_saving(&store, batch(&games), 1, "created");
    assert_eq!(added, CommitResult::Done);
    let announced = |stored: &StoredGame| Change::Game {
        id: stored.id,
        version: Some(1),
    };
    let expected: Vec<Change> = games.iter().map(announced).collect();
    assert_eq!(changes(&store, since), expected);
    let others: Vec<StoredGame> = games.iter().map(renamed).collect();
    let again = commit_saving(&store, batch(&others), 1, "again");
    assert_eq!(again, CommitResult::Stale);
    drop(store);
    let store = database.store();
    for stored in &games {
        assert_eq!(wait(store.game(&stored.id)).as_ref(), Some(stored));
        assert_eq!(log(&store, &stored.id), [creation(stored)]);
    }
    for stored in &others {
        assert_eq!(wait(store.game(&stored.id)), None);
    }
}

/// The game with objects of two people attached.
fn with_data(stored: StoredGame) -> StoredGame {
    let data = |text: &str| {
        let text = text.to_owned();
        Some(SeatData { person: 0, text })
    };
    let seats = BySeat::from_fn(|seat| if seat < 2 { data("{}") } else { None });
    let game = Some(r#"{"a":1}"#.to_owned());
    StoredGame {
        data: ClientData { game, seats }.into(),
        ..stored
    }
}

fn data_goes_with_its_person(database: &TestStore) {
    let store = database.store();
    let stored = add(&store, with_data(new_game()));
    let seat = Seat::default();
    let hand_over = |kind| Action::HandOver {
        seat,
        player: Player {
            kind,
            ..Player::human("Anna".to_owned())
        },
    };
    for (kind, stays) in [(SeatKind::Bot, true), (SeatKind::Open, false)] {
        let before = wait(store.game(&stored.id)).unwrap();
        commit_done(&store, update(&before, &hand_over(kind)));
        let after = wait(store.game(&stored.id)).unwrap();
        assert_eq!(after.data.seats[seat].is_some(), stays, "{kind:?}");
        assert_eq!(after.data.of_seat(&after.game, seat).is_some(), stays);
        assert_eq!(after.data.game, stored.data.game);
        assert_eq!(
            after.data.seats[seat.next(4)],
            stored.data.seats[seat.next(4)]
        );
    }
}

fn invalid_writes_are_refused(database: &TestStore) {
    let store = database.store();
    let stored = create(&store);
    let since = last_change(&store);
    let again = Write {
        op: insert(&stored).into(),
        save: Some(save(1, "created")),
    };
    let taken = block_on(store.commit(again));
    assert!(!matches!(taken, Ok(CommitResult::Done)), "the id is taken");
    assert_eq!(saved_response(&store, 1), None);
    assert_eq!(changes(&store, since), []);
    assert_eq!(wait(store.game(&stored.id)), Some(stored.clone()));
    assert_eq!(log(&store, &stored.id), [creation(&stored)]);

    let misuse = |refused: Option<StoreError>| matches!(refused, Some(StoreError::Misuse(_)));
    let (over, log, _) = finished_game(&stored);
    let event = over.game.last_event();
    assert!(misuse(NewGame::created(over.clone(), event).err()));
    let whole = PackedLog::new(&log).unwrap();
    assert!(misuse(NewGame::finished(stored, whole).err()));
    assert!(misuse(PackedLog::new(&log[1..]).err()));
    let half = PackedLog::new(&log[..9]).unwrap();
    assert!(misuse(NewGame::finished(over, half).err()));
}

/// All kinds of writes to an existing game.
fn ops(stored: &StoredGame) -> [WriteOp; 4] {
    [
        update(stored, &reissue()),
        set_tokens(stored, "late"),
        add_ticket(stored, "ticket"),
        removal(stored),
    ]
}

/// Asserts that these writes are stale and change nothing.
fn assert_stale(store: &Store, id: &GameId, ops: impl IntoIterator<Item = WriteOp>) {
    let load = || {
        let loaded = wait(store.load(Some(id), Some(&scope(1))));
        let ticket = wait(store.ticket(id, &TokenHash::new("ticket")));
        (loaded.game, loaded.saved_response, ticket, log(store, id))
    };
    let before = load();
    for op in ops {
        let since = last_change(store);
        assert_eq!(commit_saving(store, op, 1, "late"), CommitResult::Stale);
        assert_eq!(load(), before);
        assert_eq!(changes(store, since), []);
    }
}

fn a_write_is_stale_when_the_game_has_changed(database: &TestStore) {
    let [here, there] = database.two_stores();
    let changes: [fn(&StoredGame) -> WriteOp; 4] = [
        |stored| update(stored, &reissue()),
        |stored| update(stored, &Action::Deal { by: None }),
        |stored| set_tokens(stored, "second"),
        removal,
    ];
    for change in changes {
        for store in [&here, &there] {
            let stored = create(&here);
            commit_done(store, change(&stored));
            assert_stale(&here, &stored.id, ops(&stored));
        }
    }
    let unstored = new_game();
    assert_stale(&here, &unstored.id, ops(&unstored));
}

/// The same version may be another state, if the file was restored to an earlier one.
fn a_write_is_stale_when_the_same_version_is_another_state(database: &TestStore) {
    let store = database.store();
    let first = create(&store);
    let other = draft(&first, &reissue()).next;
    let stored = act(&store, &first.id, &Action::Deal { by: None });
    assert_eq!(other.game.version(), stored.game.version());
    assert_stale(&store, &first.id, ops(&other));
}

fn a_write_is_stale_when_a_response_is_saved_for_its_request(database: &TestStore) {
    let store = database.store();
    let first = create(&store);
    let in_time = commit_saving(&store, update(&first, &reissue()), 1, "in time");
    assert_eq!(in_time, CommitResult::Done);
    let stored = wait(store.game(&first.id)).unwrap();
    assert_stale(&store, &stored.id, ops(&stored));
    let new = new_game();
    assert_stale(&store, &stored.id, [insert(&new).into()]);
    assert_eq!(wait(store.game(&new.id)), None);
    assert_eq!(saved_response(&store, 1), Some(saved("in time")));
}

fn a_unique_key_is_free_again_when_its_game_is_removed(database: &TestStore) {
    let store = database.store();
    let under_key = |key: &str| {
        let mut new = insert(&new_game());
        new.unique_key = Some(key.to_owned());
        (new.game.clone(), WriteOp::from(new))
    };
    let add = |key| {
        let (stored, op) = under_key(key);
        commit_done(&store, op);
        assert_eq!(wait(store.game_by_unique_key(key)), Some(stored.clone()));
        stored
    };
    assert_eq!(wait(store.game_by_unique_key("after one")), None);
    let (first, other) = (add("after one"), add("after another"));
    let (late, op) = under_key("after one");
    assert_stale(&store, &first.id, [op]);
    assert_eq!(wait(store.game(&late.id)), None);
    // The game keeps its key in later versions.
    let first = act(&store, &first.id, &Action::Deal { by: None });
    let found = wait(store.game_by_unique_key("after one"));
    assert_eq!(found.as_ref(), Some(&first));
    assert_stale(&store, &first.id, [under_key("after one").1]);

    commit_done(&store, removal(&first));
    assert_eq!(wait(store.game_by_unique_key("after one")), None);
    let second = add("after one");
    let (id, version) = (second.id, 1);
    let removed = wait(store.remove_expired(vec![ExpiredGame { id, version }]));
    assert_eq!(removed, 1);
    assert_eq!(wait(store.game_by_unique_key("after one")), None);
    add("after one");
    assert_eq!(wait(store.game_by_unique_key("after another")), Some(other));
}

fn tokens_change_without_a_version(database: &TestStore) {
    let store = database.store();
    let stored = create(&store);
    for renewals in 1..=2 {
        let before = wait(store.game(&stored.id)).unwrap();
        let text = renewals.to_string();
        commit_done(&store, set_tokens(&before, &text));
        let admin_changes = AdminChanges {
            versions: 0,
            renewals,
        };
        let after = StoredGame {
            tokens: tokens(&text),
            admin_changes,
            ..stored.clone()
        };
        assert_eq!(wait(store.game(&stored.id)), Some(after));
    }
    assert_eq!(log(&store, &stored.id).len(), 1);
}

fn a_game_is_removed_with_its_log(database: &TestStore) {
    let store = database.store();
    let (id, other) = (create(&store).id, create(&store));
    let stored = act(&store, &id, &reissue());
    commit_done(&store, removal(&stored));
    commit_stale(&store, removal(&stored));
    assert_eq!(wait(store.game(&id)), None);
    assert_eq!(wait(store.version(&id)), None);
    assert_eq!(wait(store.head(&id)), None);
    assert_eq!(log(&store, &id), []);
    assert_eq!(wait(store.game(&other.id)), Some(other.clone()));
    assert_eq!(log(&store, &other.id), [creation(&other)]);
}

fn the_used_space_and_the_limit_are_reported(database: &TestStore) {
    let limited = |max_bytes| {
        database.store_with(StoreConfig {
            max_bytes,
            ..StoreConfig::default()
        })
    };
    let store = limited(1 << 30);
    create(&store);
    let usage = wait(store.usage());
    assert!(usage.used > 0 && !usage.is_nearly_full());
    assert_eq!(usage.max, Some(1 << 30));
    assert_eq!(wait(store.ready()).max, usage.max);
    drop(store);
    // Then only the disk limits a file.
    let unlimited = wait(limited(0).usage()).max;
    assert!(unlimited.is_none_or(|max| max > 1 << 30), "{unlimited:?}");
}

fn a_full_database_first_refuses_new_games_and_then_all_writes(database: &TestStore) {
    let config = StoreConfig {
        max_bytes: 500_000,
        ..StoreConfig::default()
    };
    let store = database.store_with(config);
    let add = || {
        let stored = new_game();
        let op = insert(&stored).into();
        block_on(store.commit(Write { op, save: None })).map(|_| stored)
    };
    let mut games = Vec::new();
    let full = loop {
        match add() {
            Ok(stored) => games.push(stored),
            Err(error) => break error,
        }
    };
    assert!(matches!(full, StoreError::Quota), "{full}");
    let usage = wait(store.ready());
    assert!(usage.is_nearly_full(), "{usage:?}");

    // Existing games can go on for a while.
    let change = |stored: &StoredGame| {
        let stored = wait(store.game(&stored.id)).unwrap();
        block_on(store.commit(draft(&stored, &reissue()).into()))
    };
    assert_eq!(change(&games[0]).unwrap(), CommitResult::Done);
    let mut changes = games.iter().cycle();
    let full = changes.find_map(|stored| change(stored).err());
    assert!(matches!(full, Some(StoreError::Quota)), "{full:?}");
    let refused = block_on(store.ready()).expect_err("it is full");
    assert!(matches!(refused, StoreError::Quota), "{refused}");
    let usage = wait(store.usage());
    // The state of a game grows a little with its versions, which PostgreSQL's reader sees later.
    assert!(usage.used <= 550_000, "{usage:?}");

    // Removing games frees space.
    for stored in &games {
        let stored = wait(store.game(&stored.id)).unwrap();
        commit_done(&store, removal(&stored));
    }
    while let Err(error) = block_on(store.ready()) {
        // A PostgreSQL database is read about once a second.
        assert!(matches!(error, StoreError::Quota), "{error}");
        thread::sleep(Duration::from_millis(20));
    }
    add().unwrap();
}
