//! Reads of logs and of the list of games.

use super::*;

each_store![
    a_log_is_read_in_pages,
    a_game_with_an_option_of_a_later_version_is_not_read,
    the_list_has_the_newest_first_and_no_unlisted_games,
    open_tables_are_those_with_a_seat_for_anyone,
    a_game_is_listed_as_it_is_read,
    a_game_that_nobody_uses_leaves_the_list,
    a_game_with_a_clock_and_one_that_is_over_stay_in_the_list,
    a_creator_has_five_tables_before_those_of_others,
];

fn a_log_is_read_in_pages(database: &TestStore) {
    let store = database.store();
    let id = create(&store).id;
    for _ in 0..5 {
        act(&store, &id, &reissue());
    }
    let versions = |after, limit| -> Vec<u64> {
        let page = wait(store.log(&id, after, limit)).entries().unwrap();
        page.iter().map(|entry| entry.version).collect()
    };
    assert_eq!(versions(0, 2), [1, 2]);
    assert_eq!(versions(2, 99), [3, 4, 5, 6]);
    assert!(versions(6, 99).is_empty());
    assert!(versions(u64::MAX, 99).is_empty());
    assert_eq!(log(&store, &GameId::random()), []);
}

/// As while servers are upgraded one after the other.
fn a_game_with_an_option_of_a_later_version_is_not_read(database: &TestStore) {
    let store = database.store_with(StoreConfig {
        games_in_memory: 0,
        ..StoreConfig::default()
    });
    let stored = create(&store);
    let replace = |this: &str, other: &str| {
        database.sql(&format!(
            "UPDATE games SET snapshot = replace(snapshot, '{this}', '{other}')"
        ));
    };
    let (option, before) = (r#""another_option":true,"preset""#, r#""preset""#);
    replace(before, option);
    let read = block_on(store.game(&stored.id));
    assert!(matches!(read, Err(StoreError::Unreadable { .. })));
    assert_eq!(wait(store.games(&ListQuery::default())).games, []);
    replace(option, before);
    assert_eq!(wait(store.game(&stored.id)), Some(stored));
}

fn the_list_has_the_newest_first_and_no_unlisted_games(database: &TestStore) {
    let store = database.store();
    let mut expected = Vec::new();
    for number in 0..20 {
        let listed = number % 4 != 3;
        let stored = StoredGame {
            listed,
            ..new_game()
        };
        let id = add(&store, stored).id;
        if listed {
            expected.insert(0, id);
        }
    }
    let list = |phase, after, limit| {
        let query = ListQuery {
            phase,
            open: false,
            after,
            limit,
        };
        let GamePage { games, next } = wait(store.games(&query));
        let ids: Vec<GameId> = games.iter().map(|stored| stored.id).collect();
        (ids, next)
    };
    let pages = |phase, limit| -> Vec<Vec<GameId>> {
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let (ids, next) = list(phase, after, limit);
            pages.push(ids);
            after = next.map(|cursor| cursor.to_string().parse().unwrap());
            if after.is_none() {
                return pages;
            }
        }
    };
    assert_eq!(pages(None, 99), [&expected[..]]);
    assert_eq!(pages(None, 15), [&expected[..]]);
    let parts = [&expected[..7], &expected[7..14], &expected[14..]];
    assert_eq!(pages(None, 7), parts);
    assert_eq!(pages(None, 0).len(), 15);
    let parts = [&expected[..10], &expected[10..]];
    assert_eq!(pages(Some(Phase::Deal), 10), parts);
    assert_eq!(pages(Some(Phase::Play), 10), [&[][..]]);

    let dealt = act(&store, &expected[4], &Action::Deal { by: None });
    assert_eq!(pages(Some(Phase::Exchange), 10), [[dealt.id]]);
    assert_eq!(pages(Some(Phase::Deal), 99).concat().len(), 14);
    assert_eq!(pages(None, 99), [&expected[..]]);
    let counted = wait(store.game_counts()).games;
    assert!(counted.contains(&(Phase::Deal, 19)) && counted.contains(&(Phase::Exchange, 1)));

    // Games added or removed between two pages do not move the cursor.
    let (ids, next) = list(None, None, 5);
    assert_eq!(ids, expected[..5]);
    commit_done(&store, removal(&dealt));
    create(&store);
    let (ids, _) = list(None, next, 5);
    assert_eq!(ids, expected[5..10]);
}

fn open_tables_are_those_with_a_seat_for_anyone(database: &TestStore) {
    let store = database.store();
    let open = |phase| -> Vec<GameId> {
        let query = ListQuery {
            phase,
            open: true,
            after: None,
            limit: 9,
        };
        let games = wait(store.games(&query)).games;
        games.iter().map(|stored| stored.id).collect()
    };
    create(&store);
    add(&store, open_table(JoinPolicy::Invited));
    let table = add(&store, open_table(JoinPolicy::Anyone));
    let other = add(&store, open_table(JoinPolicy::Anyone));
    assert_eq!(open(None), [other.id, table.id]);
    commit_done(&store, removal(&other));
    let join = |number| Action::Join {
        seat: Seat::all(4).nth(number).unwrap(),
        name: "Anna".to_owned(),
    };
    for number in 0..3 {
        act(&store, &table.id, &join(number));
        assert_eq!(open(Some(Phase::Seating)), [table.id]);
    }
    let full = act(&store, &table.id, &join(3));
    assert_eq!(open(None), []);
    // Somebody leaves: the seat is by invitation if the host opened it.
    let open_seat = |stored: &StoredGame, invitation: Option<TokenHash>| {
        let seat = Seat::default();
        let player = Player {
            kind: SeatKind::Open,
            ..stored.game.player(seat).clone()
        };
        let mut draft = draft(stored, &Action::HandOver { seat, player });
        let next = &mut draft.next;
        Arc::make_mut(&mut next.seating).open(&mut next.tokens, seat, invitation);
        let stored = draft.next.clone();
        assert_eq!(wait(store.commit(draft.into())), CommitResult::Done);
        stored
    };
    let by_host = open_seat(&full, Some(TokenHash::new("invitation")));
    assert_eq!(open(None), []);
    open_seat(&by_host, None);
    assert_eq!(open(None), [table.id]);
    assert_eq!(open(Some(Phase::Deal)), []);
    assert_eq!(database.check().defects, []);
}

fn a_game_is_listed_as_it_is_read(database: &TestStore) {
    let [here, there] = database.two_stores();
    let id = create(&here).id;
    let steps: [fn(&StoredGame) -> WriteOp; 3] = [
        |stored| update(stored, &reissue()),
        |stored| set_tokens(stored, "second"),
        |stored| update(stored, &Action::Deal { by: None }),
    ];
    for step in steps {
        let stored = wait(here.game(&id)).unwrap();
        commit_done(&here, step(&stored));
        let stored = wait(here.game(&id));
        for store in [&here, &there] {
            assert_eq!(listed(store, 1).first(), stored.as_ref());
        }
    }
}

fn listed_ids(store: &Store) -> Vec<GameId> {
    listed(store, 99).iter().map(|stored| stored.id).collect()
}

/// As if the games had been used by nobody for so long.
fn leave_alone(database: &TestStore, minutes: i64) {
    let micros = 60_000_000 * minutes;
    database.sql(&format!(
        "UPDATE games SET listed_until = listed_until - {micros} WHERE phase <> 'finished'"
    ));
}

fn a_game_that_nobody_uses_leaves_the_list(database: &TestStore) {
    let store = database.store_with(StoreConfig {
        games_in_memory: 0,
        ..StoreConfig::default()
    });
    let renew = |present: &[GameId]| wait(store.renew_lists(present.to_vec(), true));
    let [left, used, watched] = [(); 3].map(|()| create(&store));
    let all = [watched.id, used.id, left.id];
    leave_alone(database, 9);
    renew(&[]);
    assert_eq!(listed_ids(&store), all);
    store.note_use(&used);
    renew(&[watched.id]);
    leave_alone(database, 9);
    assert_eq!(listed_ids(&store), all[..2]);
    renew(&[]);
    leave_alone(database, 9);
    assert_eq!(listed_ids(&store), [] as [GameId; 0]);
    renew(&[]);
    let swept = "SELECT count(*) FROM games WHERE listed_until IS NULL";
    assert_eq!(database.number(swept), 3);
    // It is back when somebody uses it.
    renew(&[left.id]);
    assert_eq!(listed_ids(&store), [left.id]);
    // A game that is in use is written once a minute.
    let written = "SELECT max(listed_until) FROM games";
    let before = database.number(written);
    renew(&[left.id]);
    assert_eq!(database.number(written), before);
    let hidden = StoredGame {
        listed: false,
        ..new_game()
    };
    store.note_use(&add(&store, hidden));
    renew(&[]);
    assert_eq!(listed_ids(&store), [left.id]);
}

fn a_game_with_a_clock_and_one_that_is_over_stay_in_the_list(database: &TestStore) {
    let store = database.store();
    let clock = |turn_seconds| StoredGame {
        timing: Timing {
            turn_seconds: Some(turn_seconds),
            ..Timing::default()
        },
        ..new_game()
    };
    let week = add(&store, clock(604_800)).id;
    let over = play_to_end(&store, clock(10)).0.id;
    let imported = {
        let (stored, log, _) = finished_game(&new_game());
        let stored = StoredGame {
            imported: true,
            ..renamed(&stored)
        };
        commit_done(&store, import(&stored, &log));
        stored.id
    };
    leave_alone(database, 20);
    wait(store.renew_lists([], true));
    assert_eq!(listed_ids(&store), [imported, over, week]);
    leave_alone(database, 20_000);
    wait(store.renew_lists([], true));
    assert_eq!(listed_ids(&store), [imported, over]);
    // The next turn begins, whoever began it.
    act(&store, &week, &Action::Deal { by: None });
    assert_eq!(listed_ids(&store), [imported, over, week]);
}

fn a_creator_has_five_tables_before_those_of_others(database: &TestStore) {
    let store = database.store();
    let [one, other] = [1, 2].map(|number| Some(Creator([number; 16])));
    let add_many = |many: usize, creator| -> Vec<GameId> {
        let mut ids: Vec<_> = (0..many)
            .map(|_| add(&store, game_of(creator)).id)
            .collect();
        ids.reverse();
        ids
    };
    let nobodys = add_many(8, None);
    let others = add_many(6, other);
    let flood = add_many(300, one);
    let first = [&flood[..5], &others[..5], &nobodys].concat();
    let last = [&flood[5..], &others[5..]].concat();
    for limit in [7, 20, 100] {
        let (mut ids, mut after) = (Vec::new(), None);
        loop {
            let query = ListQuery {
                limit,
                after,
                ..ListQuery::default()
            };
            let page = wait(store.games(&query));
            ids.extend(page.games.iter().map(|stored| stored.id));
            if ids.len() == limit as usize {
                // A new table does not move the others.
                add(&store, game_of(other));
            }
            after = page.next.map(|next| next.to_string().parse().unwrap());
            if after.is_none() {
                break;
            }
        }
        let added = ids.len() - first.len() - last.len();
        let expected = [&first[..], &last].concat();
        assert_eq!(ids[..], expected[..], "{limit}: {added}");
        let newest = ListQuery {
            limit: 1,
            ..ListQuery::default()
        };
        let newest = wait(store.games(&newest)).games.remove(0);
        commit_done(&store, removal(&newest));
    }
}
