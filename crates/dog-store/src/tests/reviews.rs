//! Reviews, for all nodes.

use super::*;
use crate::{ReviewRequest::*, ReviewStatus::*};

each_store![
    a_review_is_asked_for_once,
    the_queue_is_bounded,
    whoever_has_none_gets_in,
    one_that_is_worked_on_makes_room_too,
    addresses_take_turns,
    one_node_works_on_a_review,
    a_claim_is_renewed,
    a_failed_review_is_asked_for_again,
    a_damaged_row_is_claimed_like_others,
    a_killed_node_leaves_its_work_to_others,
    a_review_goes_on_after_a_restart,
    a_review_is_removed_with_its_game,
    a_review_that_is_asked_for_during_the_removal_is_no_obstacle,
];

const LIMITS: ReviewLimits = ReviewLimits {
    total: 3,
    per_creator: 2,
    per_network: 3,
};

/// Adds a finished game.
fn finished(store: &Store) -> StoredGame {
    let (stored, log, _) = finished_game(&new_game());
    commit_done(store, import(&stored, &log));
    stored
}

fn ask(store: &Store, stored: &StoredGame, address: u8) -> ReviewRequest {
    let creator = store.creator(&[address]);
    wait(store.ask_review(&stored.id, Some(creator), LIMITS))
}

/// Whether the findings were saved.
fn save(store: &Store, claimed: &ClaimedReview, status: ReviewStatus, content: &str) -> bool {
    wait(store.save_review(claimed, status, content))
}

fn claim(store: &Store) -> Option<ClaimedReview> {
    wait(store.claim_review())
}

/// Claims the next review, which must be that of this game, and leaves it with this status.
fn work_on_next(store: &Store, stored: &StoredGame, status: ReviewStatus) {
    let claimed = claim(store).unwrap();
    assert_eq!(claimed.game, stored.id);
    assert!(save(store, &claimed, status, "found"));
}

/// The status of a game's review, and what it has found.
fn found(store: &Store, stored: &StoredGame) -> Option<(ReviewStatus, String)> {
    let review = wait(store.review(&stored.id))?;
    Some((review.status, review.content().unwrap()))
}

/// Ends all claims.
fn end_claims(database: &TestStore, store: &Store) {
    let older = "UPDATE reviews SET claimed_until = claimed_until -";
    database.age(store, older, 31);
}

fn a_review_is_asked_for_once(database: &TestStore) {
    let store = database.store();
    let going_on = create(&store);
    assert_eq!(ask(&store, &going_on, 1), NoFinishedGame);
    assert_eq!(ask(&store, &new_game(), 1), NoFinishedGame);
    let stored = finished(&store);
    assert_eq!(found(&store, &stored), None);
    assert_eq!(claim(&store), None);
    assert_eq!(ask(&store, &stored, 1), Added);
    assert_eq!(ask(&store, &stored, 1), Exists);
    assert_eq!(ask(&store, &stored, 2), Exists);
    let waiting = (Waiting, String::new());
    assert_eq!(found(&store, &stored), Some(waiting));
}

fn the_queue_is_bounded(database: &TestStore) {
    let store = database.store();
    let games: Vec<StoredGame> = (0..5).map(|_| finished(&store)).collect();
    for (game, address, answer) in [
        (0, 1, Added),
        (1, 1, Added),
        (2, 1, CreatorLimit),
        (2, 2, Added),
        (3, 2, QueueFull),
        (0, 2, Exists),
    ] {
        assert_eq!(ask(&store, &games[game], address), answer, "{game}");
    }
    // The second of an address waits for the first of another.
    let claimed = claim(&store).unwrap();
    assert_eq!(claimed.game, games[0].id);
    assert_eq!(claim(&store).unwrap().game, games[2].id);
    assert_eq!(claim(&store).unwrap().game, games[1].id);
    // What is done no longer counts.
    assert!(save(&store, &claimed, Done, "all"));
    assert_eq!(ask(&store, &games[3], 1), Added);
    let without_creator = "SELECT count(*) FROM reviews WHERE creator IS NULL";
    assert_eq!(database.number(without_creator), 1);
}

/// An address of a network.
fn in_network(store: &Store, network: u8, address: u8) -> Creator {
    let own = store.creator(&[network, address]);
    own.in_network(store.creator(&[network]))
}

fn whoever_has_none_gets_in(database: &TestStore) {
    let store = database.store();
    let games: Vec<StoredGame> = (0..6).map(|_| finished(&store)).collect();
    let limits = ReviewLimits { total: 4, ..LIMITS };
    let ask = |game: usize, creator| wait(store.ask_review(&games[game].id, creator, limits));
    let address = |network, address| Some(in_network(&store, network, address));
    // The limit of a network holds for all its addresses.
    for (game, own, answer) in [
        (0, 1, Added),
        (1, 2, Added),
        (2, 2, Added),
        (3, 3, CreatorLimit),
    ] {
        assert_eq!(ask(game, address(1, own)), answer, "{game}");
    }
    assert_eq!(ask(3, address(2, 1)), Added);
    assert_eq!(ask(4, address(2, 1)), QueueFull);
    let since = last_change(&store);
    let running = claim(&store).unwrap();
    assert_eq!(running.game, games[0].id);
    // A newcomer takes the place of the last one of the network with the most.
    assert_eq!(ask(4, None), Added);
    assert_eq!(changes(&store, since), [Change::Review(games[2].id)]);
    let displaced = (Displaced, String::new());
    assert_eq!(found(&store, &games[2]), Some(displaced));
    assert_eq!(ask(5, None), QueueFull);
    assert_eq!(ask(5, address(3, 1)), Added);
    let statuses = || {
        games
            .iter()
            .map(|game| found(&store, game).map(|(status, _)| status))
    };
    let expected = [Running, Displaced, Displaced, Waiting, Waiting, Waiting];
    assert!(statuses().eq(expected.map(Some)));
    assert_eq!(database.number("SELECT count(creator) FROM reviews"), 3);
}

fn one_that_is_worked_on_makes_room_too(database: &TestStore) {
    let store = database.store();
    let (old, new) = (finished(&store), finished(&store));
    ask(&store, &old, 1);
    let claimed = claim(&store).unwrap();
    let limits = ReviewLimits { total: 1, ..LIMITS };
    let creator = store.creator(&[2]);
    let asked = wait(store.ask_review(&new.id, Some(creator), limits));
    assert_eq!(asked, Added);
    assert!(!save(&store, &claimed, Running, "half"));
    assert_eq!(found(&store, &old), Some((Displaced, String::new())));
}

fn a_claim_is_renewed(database: &TestStore) {
    let [here, there] = database.two_stores();
    let stored = finished(&here);
    ask(&here, &stored, 1);
    let claimed = claim(&here).unwrap();
    for _ in 0..2 {
        let older = "UPDATE reviews SET claimed_until = claimed_until -";
        database.age(&here, older, 20);
        assert!(wait(here.renew_review(&claimed)));
        assert_eq!(claim(&there), None);
    }
    assert_eq!(found(&there, &stored), Some((Running, String::new())));
    end_claims(database, &here);
    assert!(claim(&there).is_some());
    assert!(!wait(here.renew_review(&claimed)));
}

fn a_failed_review_is_asked_for_again(database: &TestStore) {
    let store = database.store();
    let stored = finished(&store);
    ask(&store, &stored, 1);
    let since = last_change(&store);
    work_on_next(&store, &stored, Failed);
    assert_eq!(found(&store, &stored).unwrap().0, Failed);
    assert_eq!(changes(&store, since), [Change::Review(stored.id)]);
    assert_eq!(claim(&store), None);
    assert_eq!(database.number("SELECT count(creator) FROM reviews"), 0);
    assert_eq!(ask(&store, &stored, 2), Added);
    assert_eq!(found(&store, &stored), Some((Waiting, String::new())));
    assert_eq!(ask(&store, &stored, 1), Exists);
    work_on_next(&store, &stored, Done);
    // Whoever asks has found that what is stored is damaged.
    assert_eq!(ask(&store, &stored, 1), Added);
    assert_eq!(found(&store, &stored), Some((Waiting, String::new())));
}

fn a_damaged_row_is_claimed_like_others(database: &TestStore) {
    let store = database.store();
    let stored = finished(&store);
    ask(&store, &stored, 1);
    let damage = match database {
        TestStore::Sqlite(_) => "UPDATE reviews SET content = x'ffff'",
        TestStore::Postgres(_) => "UPDATE reviews SET content = '\\xffff'",
    };
    database.sql(damage);
    let claimed = claim(&store).unwrap();
    let review = wait(store.review(&stored.id)).unwrap();
    assert!(matches!(review.content(), Err(StoreError::Damaged(_))));
    assert!(save(&store, &claimed, Failed, ""));
    assert_eq!(found(&store, &stored), Some((Failed, String::new())));
}

fn addresses_take_turns(database: &TestStore) {
    let store = database.store();
    let games: Vec<StoredGame> = (0..5).map(|_| finished(&store)).collect();
    assert_eq!(ask(&store, &games[0], 1), Added);
    assert_eq!(ask(&store, &games[1], 1), Added);
    assert_eq!(ask(&store, &games[2], 2), Added);
    // A review that is left comes after the others of its address, and the address after others.
    for game in [0, 2, 1, 2] {
        work_on_next(&store, &games[game], Waiting);
    }
    work_on_next(&store, &games[0], Done);
    // An address that asks for another one keeps its place.
    assert_eq!(ask(&store, &games[3], 1), Added);
    for game in [1, 2, 3] {
        work_on_next(&store, &games[game], Waiting);
    }
    work_on_next(&store, &games[2], Done);
    // A new address has the last place.
    assert_eq!(ask(&store, &games[4], 2), Added);
    for game in [1, 4, 3] {
        work_on_next(&store, &games[game], Waiting);
    }
}

fn one_node_works_on_a_review(database: &TestStore) {
    let [here, there] = database.two_stores();
    let stored = finished(&here);
    ask(&here, &stored, 1);
    let claimed = claim(&here).unwrap();
    assert_eq!(claimed.game, stored.id);
    assert_eq!(found(&here, &stored), Some((Running, String::new())));
    assert_eq!(claim(&there), None);
    assert_eq!(claim(&here), None);
    let since = last_change(&there);
    assert!(save(&here, &claimed, Running, "half"));
    let half = (Running, "half".to_owned());
    assert_eq!(found(&there, &stored), Some(half));
    assert_eq!(changes(&there, since), []);
    let since = last_change(&there);
    assert!(save(&here, &claimed, Done, "whole"));
    let whole = (Done, "whole".to_owned());
    assert_eq!(found(&there, &stored), Some(whole.clone()));
    assert_eq!(changes(&there, since), [Change::Review(stored.id)]);
    // Nothing is saved after that.
    assert!(!save(&here, &claimed, Running, "more"));
    assert_eq!(claim(&there), None);
    assert_eq!(found(&here, &stored), Some(whole));
}

fn a_killed_node_leaves_its_work_to_others(database: &TestStore) {
    let [here, there] = database.two_stores();
    let stored = finished(&here);
    ask(&here, &stored, 1);
    let killed = claim(&here).unwrap();
    assert!(save(&here, &killed, Running, "half"));
    end_claims(database, &here);
    let waiting = (Waiting, "half".to_owned());
    assert_eq!(found(&there, &stored), Some(waiting));
    let next = claim(&there).unwrap();
    assert_eq!(next.game, stored.id);
    let half = (Running, "half".to_owned());
    assert_eq!(found(&there, &stored), Some(half));
    // The first one was only slow, and now finds out.
    assert!(!save(&here, &killed, Done, "old"));
    // A node that stops gives it back at once.
    assert!(save(&there, &next, Waiting, "more"));
    assert_eq!(claim(&here).unwrap().game, stored.id);
    assert_eq!(found(&here, &stored).unwrap().1, "more");
}

fn a_review_goes_on_after_a_restart(database: &TestStore) {
    let store = database.store();
    let stored = finished(&store);
    ask(&store, &stored, 1);
    let claimed = claim(&store).unwrap();
    assert!(save(&store, &claimed, Running, "half"));
    drop(store);
    let store = database.store();
    if let TestStore::Postgres(_) = database {
        // Another node cannot tell a restart from a long pause.
        end_claims(database, &store);
    }
    let waiting = (Waiting, "half".to_owned());
    assert_eq!(found(&store, &stored), Some(waiting));
    work_on_next(&store, &stored, Done);
}

fn a_review_is_removed_with_its_game(database: &TestStore) {
    let store = database.store();
    let (stored, other) = (finished(&store), finished(&store));
    ask(&store, &stored, 1);
    ask(&store, &other, 1);
    let claimed = claim(&store).unwrap();
    commit_done(&store, removal(&stored));
    assert_eq!(found(&store, &stored), None);
    assert!(!save(&store, &claimed, Done, "all"));
    assert!(found(&store, &other).is_some());
    assert_eq!(database.number("SELECT count(*) FROM reviews"), 1);
}

fn a_review_that_is_asked_for_during_the_removal_is_no_obstacle(database: &TestStore) {
    let [here, there] = database.two_stores();
    for _ in 0..20 {
        let stored = finished(&here);
        thread::scope(|scope| {
            scope.spawn(|| ask(&there, &stored, 1));
            commit_done(&here, removal(&stored));
        });
    }
    assert_eq!(database.number("SELECT count(*) FROM reviews"), 0);
    let stored = finished(&here);
    assert_eq!(ask(&here, &stored, 1), Added);
    assert_eq!(claim(&there).unwrap().game, stored.id);
}
