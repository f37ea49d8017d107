//! Due games, the change feed, and tickets.

use dog_rules::{Level, SeatKind};
use futures_util::FutureExt;
use jiff::Timestamp;

use super::*;

each_store![
    games_are_due_when_a_bot_must_act_or_the_clock_has_run_out,
    one_game_per_creator_is_found_however_many_another_has,
    a_game_whose_people_are_away_is_not_for_people,
    one_machine_claims_a_due_game_until_it_changes,
    a_deadline_moves_only_with_the_turn,
    who_was_asked_in_vain_is_played_for_at_the_pace_of_a_bot,
    a_game_goes_on_at_once_when_the_clock_is_put_back,
    a_due_time_that_another_version_has_computed_is_corrected,
    a_game_that_skips_to_the_deal_has_no_pace,
    it_skips_no_more_when_a_person_is_back,
    changes_are_listed_after_a_known_one,
    a_feed_is_woken_by_a_commit_of_any_node,
    a_ticket_can_be_taken_once_before_it_expires,
];

const HOUR: i64 = 3_600;

/// The timing of bots that take so long, and of people who may take so long.
fn timing(bot_seconds: i64, turn_seconds: Option<u32>) -> Timing {
    Timing {
        bot_pace_ms: 1_000 * bot_seconds as u32,
        turn_seconds,
    }
}

/// A game created at this time in which these seats are bots.
fn with_bots(bots: &[usize], timing: Timing, at: Timestamp) -> StoredGame {
    let player = |number| Player {
        kind: match bots.contains(&number) {
            true => SeatKind::Bot,
            false => SeatKind::Human,
        },
        ..Player::human(format!("player {number}"))
    };
    StoredGame {
        created_at: at,
        updated_at: at,
        timing,
        game: game(player, [7; 32]),
        ..new_game()
    }
}

fn games_are_due_when_a_bot_must_act_or_the_clock_has_run_out(database: &TestStore) {
    let store = database.store();
    let pace = |seconds| timing(seconds, None);
    let clock = |seconds| timing(0, Some(seconds));
    let then = now() - seconds(HOUR);
    let with = |bots: &[usize], timing| add(&store, with_bots(bots, timing, then));
    let idle = with(&[1], Timing::default());
    let late = with(&[], clock(5));
    let bot = with(&[0], pace(2));
    let alone = with(&[0, 1, 2, 3], Timing::default());
    let slow = with(&[0], pace(2 * HOUR));
    let awaited = with(&[], clock(3 * HOUR as u32));
    assert_eq!((idle.deadline, bot.deadline), (None, None));
    assert_eq!(late.deadline, Some(then + seconds(5)));
    assert_eq!(awaited.deadline, Some(then + seconds(3 * HOUR)));

    let due = |is_for_people, limit| wait(store.due(is_for_people, limit));
    assert_eq!(due(false, 10), [(alone.id, None)]);
    assert_eq!(due(true, 10), [(bot.id, None), (late.id, None)]);
    assert_eq!(due(true, 1), [(bot.id, None)]);
    assert_eq!(wait(store.game_counts()).due, 3);
    let mut next = then - seconds(1);
    for expected in [0, 2, 5, 2 * HOUR] {
        let due = wait(store.next_due(next));
        assert_eq!(due, Some(then + seconds(expected)));
        next = due.unwrap();
    }
    commit_done(&store, removal(&slow));
    assert_eq!(wait(store.next_due(now())), awaited.deadline);
    commit_done(&store, removal(&awaited));
    assert_eq!(wait(store.next_due(now())), None);
}

fn a_game_whose_people_are_away_is_not_for_people(database: &TestStore) {
    let store = database.store();
    let mut stored = add(&store, with_bots(&[1, 2, 3], Timing::default(), now()));
    let due = || [true, false].map(|for_people| wait(store.due(for_people, 10)).len());
    let seat = Seat::default();
    let mut act = |action: &dyn Fn(&Game) -> Action, actor| {
        let draft = Draft::new(&stored, &action(&stored.game), actor).expect("an action");
        stored = draft.next.clone();
        commit_done(&store, WriteOp::Update(Box::new(draft)));
    };
    let deal = |_: &Game| Action::Deal { by: Some(seat) };
    let offer = |game: &Game| Action::Offer {
        seat,
        card: game.hand(seat).nth(0),
    };
    act(&deal, Actor::Clock);
    assert_eq!(due(), [1, 0]);
    act(&offer, Actor::Clock);
    assert_eq!(due(), [0, 1]);
    assert_eq!(database.check().defects, []);
}

fn one_game_per_creator_is_found_however_many_another_has(database: &TestStore) {
    let store = database.store();
    let mut at = now() - seconds(HOUR);
    let mut add_due = |creator: Option<u8>, timing| {
        at += seconds(1);
        let stored = StoredGame {
            creator: creator.map(|number| Creator([number; 16])),
            ..with_bots(&[0], timing, at)
        };
        add(&store, stored)
    };
    let many: Vec<StoredGame> = (0..30)
        .map(|_| add_due(Some(2), Timing::default()))
        .collect();
    let others = [1, 3, 4].map(|creator| add_due(Some(creator), Timing::default()));
    let [one, another] = [(), ()].map(|()| add_due(None, Timing::default()));
    let not_yet = timing(2 * HOUR, None);
    add_due(None, not_yet);
    let last = add_due(Some(5), not_yet).creator;
    let find = |after, limit| wait(store.due_by_creator(true, after, limit));
    let found = |records: &[&StoredGame]| -> Vec<_> {
        let found = |stored: &&StoredGame| (stored.id, stored.creator);
        records.iter().map(found).collect()
    };
    let each = [&one, &another, &others[0], &many[0], &others[1], &others[2]];
    assert_eq!(find(None, 10), (found(&each), None));
    // In pages.
    assert_eq!(find(None, 2), (found(&each[..4]), many[0].creator));
    let rest = found(&[&one, &another, &others[1], &others[2]]);
    assert_eq!(find(many[0].creator, 3), (rest.clone(), last));
    assert_eq!(find(many[0].creator, 4), (rest, None));
    assert_eq!(wait(store.due_by_creator(false, None, 10)).0, []);
}

/// A file has one process, which needs no claims.
fn one_machine_claims_a_due_game_until_it_changes(database: &TestStore) {
    let [here, there] = database.two_stores();
    let is_file = matches!(database, TestStore::Sqlite(_));
    let past = now() - seconds(HOUR);
    let due = add(&here, with_bots(&[0], Timing::default(), past));
    let idle = add(&here, with_bots(&[1], Timing::default(), past));
    let claim = |store: &Store, stored: &StoredGame| wait(store.claim_due(&stored.id));
    assert!(claim(&here, &due));
    assert_eq!(claim(&there, &due), is_file);
    assert_eq!(claim(&here, &due), is_file);
    assert_eq!(claim(&here, &idle), is_file);

    let due = act(&here, &due.id, &reissue());
    assert!(claim(&there, &due));
    assert_eq!(claim(&here, &due), is_file);
    // New tokens make the decision stale, too.
    commit_done(&here, set_tokens(&due, "renewed"));
    assert!(claim(&here, &due));
    assert_eq!(claim(&there, &due), is_file);
    if !is_file {
        database.sql("UPDATE due_claims SET until = 0");
        assert!(claim(&here, &due), "a claim expires");
    }
}

fn a_deadline_moves_only_with_the_turn(database: &TestStore) {
    let store = database.store();
    let stored = add(&store, with_bots(&[], timing(0, Some(5)), now()));
    let first = stored.deadline;
    assert_eq!(first, Some(stored.created_at + seconds(5)));
    let act = |action| act(&store, &stored.id, &action);
    assert_eq!(act(reissue()).deadline, first);
    let player = Player::bot("Bot", Level::Fast);
    let seat = Seat::default();
    assert_eq!(act(Action::HandOver { seat, player }).deadline, first);
    let dealt = act(Action::Deal { by: None });
    assert_eq!(dealt.deadline, Some(dealt.updated_at + seconds(5)));
    assert_eq!(wait(store.game(&stored.id)), Some(dealt));
}

fn who_was_asked_in_vain_is_played_for_at_the_pace_of_a_bot(database: &TestStore) {
    let store = database.store();
    let stored = add(&store, with_bots(&[], timing(1, Some(60)), now()));
    let mut draft = Draft::new(&stored, &Action::Deal { by: None }, Actor::Server).expect("a deal");
    draft.note_absent(Seat::all(4).skip(1));
    let mut game = draft.next.clone();
    commit_done(&store, WriteOp::Update(Box::new(draft)));
    let wait_for = |stored: &StoredGame| {
        let due = stored.due_at(stored.updated_at).expect("a time");
        due.duration_since(stored.updated_at).as_secs()
    };
    let act = |game: &StoredGame, seat: Seat| {
        let actor = match seat.number() {
            0 => Actor::Player,
            _ => Actor::Clock,
        };
        let action = game.game.legal_actions(seat).swap_remove(0);
        let draft = Draft::new(game, &action, actor).expect("an action");
        let next = draft.next.clone();
        commit_done(&store, WriteOp::Update(Box::new(draft)));
        assert_eq!(wait(store.game(&game.id)).as_ref(), Some(&next));
        next
    };
    assert_eq!(wait_for(&game), 15);
    for seat in Seat::all(4) {
        game = act(&game, seat);
    }
    let mut waits = Vec::new();
    while waits.len() < 4 {
        let turn = game.game.turn().expect("a turn");
        waits.push((turn.number(), wait_for(&game)));
        game = act(&game, turn);
    }
    waits.sort();
    assert_eq!(waits, [(0, 60), (1, 1), (2, 1), (3, 1)]);
}

fn a_game_goes_on_at_once_when_the_clock_is_put_back(database: &TestStore) {
    let store = database.store();
    let timing = timing(1, Some(60));
    let ahead = now() + seconds(24 * HOUR);
    let bot = add(&store, with_bots(&[0], timing, ahead));
    let alone = add(&store, with_bots(&[0, 1, 2, 3], timing, ahead));
    add(&store, with_bots(&[0], timing, now()));
    let find = |is_for_people| wait(store.due_from_future(is_for_people, 10));
    assert_eq!(find(true), [(bot.id, None)]);
    assert_eq!(find(false), [(alone.id, None)]);
    assert!(bot.is_due(now()) && !bot.is_due(ahead));
    assert!(wait(store.claim_due(&bot.id)));
    // The next version is of now, and what the game waits for has moved with it.
    let dealt = act(&store, &bot.id, &Action::Deal { by: None });
    let left = |stored: &StoredGame| stored.deadline.unwrap().duration_since(now());
    assert!(left(&dealt) <= seconds(60) && left(&dealt) > seconds(30));
    let renewed = act(&store, &alone.id, &reissue());
    assert!(left(&renewed) <= seconds(60) && left(&renewed) > seconds(30));
    assert!(dealt.updated_at <= now() && !dealt.is_due(dealt.updated_at));
    assert_eq!((find(true), find(false)), (Vec::new(), Vec::new()));
    assert_eq!(database.check().defects, []);
}

fn changes_are_listed_after_a_known_one(database: &TestStore) {
    let [here, there] = database.two_stores();
    let last = || last_change(&there);
    let before = last();
    let (one, two) = (create(&here), create(&there));
    let change = |stored: &StoredGame, version| Change::Game {
        id: stored.id,
        version,
    };
    let created = [change(&one, Some(1)), change(&two, Some(1))];
    assert_eq!(changes(&there, before), created);
    let mut known = last();
    let step = |op: fn(&StoredGame) -> WriteOp, version, known| {
        let stored = wait(here.game(&one.id)).unwrap();
        commit_done(&here, op(&stored));
        assert_eq!(changes(&there, known), [change(&one, version)]);
        last()
    };
    known = step(|stored| update(stored, &reissue()), Some(2), known);
    known = step(|stored| set_tokens(stored, "fresh"), Some(2), known);
    known = step(removal, None, known);
    assert_eq!(changes(&there, known), []);
    known = last();
    // Too old, and after the last one.
    for unknown in [-1_000_000, known + 1] {
        assert_eq!(there.changes(unknown).0, ChangesSince::Any);
    }
}

fn a_feed_is_woken_by_a_commit_of_any_node(database: &TestStore) {
    let [here, there] = database.two_stores();
    let mut feed = here.feed();
    for store in [&here, &there] {
        let before = last_change(&here);
        assert_eq!(feed.last(), before);
        thread::scope(|scope| {
            let changed = scope.spawn(|| block_on(feed.changed()));
            create(store);
            assert!(changed.join().unwrap() > before);
        });
    }
    assert_eq!(last_change(&here), feed.last());
    drop((here, there));
    assert_eq!(feed.changed().now_or_never(), None, "the store is closed");
}

/// Bots take their time in a game whose first round is dealt.
fn slow_bots(store: &Store, bots: &[usize]) -> StoredGame {
    let stored = add(store, with_bots(bots, timing(HOUR, None), now()));
    act(store, &stored.id, &Action::Deal { by: None })
}

fn a_due_time_that_another_version_has_computed_is_corrected(database: &TestStore) {
    let store = database.store();
    let slow = add(&store, with_bots(&[0], timing(HOUR, None), now()));
    let idle = add(&store, with_bots(&[1], Timing::default(), now()));
    drop(store);
    // With other constants, both would be due now.
    database.sql("UPDATE games SET due_at = 1");
    let store = database.store();
    for stored in [slow, idle] {
        assert_eq!(wait(store.game(&stored.id)).as_ref(), Some(&stored));
        assert!(!stored.is_due(now()));
        let due = wait(store.due(true, 9));
        assert!(due.contains(&(stored.id, None)), "{due:?}");
        commit_done(&store, WriteOp::correct_due(&stored));
        // A node whose clock is ahead of the database's finds it due, though it is right.
        let since = last_change(&store);
        commit_stale(&store, WriteOp::correct_due(&stored));
        assert_eq!(changes(&store, since), []);
        assert_eq!(wait(store.game(&stored.id)), Some(stored));
    }
    assert_eq!(wait(store.due(true, 9)), []);
    assert_eq!(database.check().defects, []);
}

fn a_game_that_skips_to_the_deal_has_no_pace(database: &TestStore) {
    let [here, there] = database.two_stores();
    let mut stored = slow_bots(&here, &[0, 1, 2, 3]);
    assert!(stored.game.is_left_to_server());
    let next_action = |stored: &StoredGame| {
        let seat = stored.game.timed_out_seat().unwrap();
        stored.game.legal_actions(seat).swap_remove(0)
    };
    let due = |store: &Store| wait(store.due(false, 10));
    let slow = update(&stored, &next_action(&stored));
    assert_eq!(wait(there.game(&stored.id)), Some(stored.clone()));
    assert_eq!(due(&here), []);
    let since = last_change(&there);
    commit_done(&here, WriteOp::skip_to_deal(&stored));
    let (id, version) = (stored.id, Some(stored.game.version()));
    assert_eq!(changes(&there, since), [Change::Game { id, version }]);
    commit_stale(&here, slow);
    commit_stale(&there, WriteOp::skip_to_deal(&stored));
    // It does not make a version.
    stored.skips_to_deal = true;
    assert_eq!(wait(there.game(&id)), Some(stored.clone()));
    while stored.game.phase() != Phase::Deal {
        assert!(stored.skips_to_deal);
        assert_eq!(due(&there), [(id, None)]);
        stored = act(&here, &id, &next_action(&stored));
    }
    // The deal is not waited for either.
    assert_eq!(due(&there), [(id, None)]);
    stored = act(&here, &id, &next_action(&stored));
    assert!(!stored.skips_to_deal);
    assert_eq!(due(&there), []);
    assert_eq!(wait(there.game(&id)), Some(stored));
}

fn it_skips_no_more_when_a_person_is_back(database: &TestStore) {
    let store = database.store();
    let stored = slow_bots(&store, &[1, 2, 3]);
    let seat = Seat::default();
    let plays = |kind| {
        let player = Player {
            kind,
            ..stored.game.player(seat).clone()
        };
        act(&store, &stored.id, &Action::ChangeSeat { seat, player })
    };
    assert!(!stored.game.is_left_to_server());
    let left = plays(SeatKind::Bot);
    assert!(left.game.is_left_to_server());
    commit_done(&store, WriteOp::skip_to_deal(&left));
    assert!(!plays(SeatKind::Human).skips_to_deal);
    assert_eq!(wait(store.due(true, 10)), []);
}

fn a_ticket_can_be_taken_once_before_it_expires(database: &TestStore) {
    let store = database.store();
    let (stored, other) = (create(&store), create(&store).id);
    let id = stored.id;
    let (hash, token) = (TokenHash::new("ticket"), TokenHash::new("token"));
    let add = || {
        let ticket = NewTicket { hash, token };
        commit_done(&store, WriteOp::AddTicket(stored.expected_state(), ticket));
    };
    let later = |seconds| {
        let older = "UPDATE tickets SET expires_at = expires_at -";
        database.age(&store, older, seconds);
    };
    let read = || wait(store.ticket(&id, &hash));
    let take = |game| wait(store.take_ticket(&game, &hash));
    let is_gone = |why: &str| assert_eq!((read(), take(id)), (None, None), "{why}");
    add();
    if let TestStore::Postgres(_) = database {
        later(-HOUR);
        is_gone("it was made in the future");
        later(HOUR);
    }
    later(31);
    is_gone("it has expired");
    if let TestStore::Postgres(_) = database {
        assert!(wait(store.delete_expired(now(), 1)));
    }
    assert!(!wait(store.delete_expired(now(), 1)));
    let since = last_change(&store);
    add();
    assert_eq!(wait(store.ticket(&other, &hash)), None);
    assert_eq!(take(other), None);
    assert_eq!(read(), Some(token), "reading does not take it");
    assert_eq!(take(id), Some(token));
    is_gone("it was taken");
    assert_eq!(changes(&store, since), []);
    if let TestStore::Postgres(_) = database {
        add();
        commit_done(&store, removal(&stored));
        is_gone("it was removed with its game");
    }
}
