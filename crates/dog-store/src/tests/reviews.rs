//! Reviews, for all nodes.

use super::*;
use crate::{ReviewRequest::*, ReviewStatus::*};

each_store![
    a_review_is_asked_for_once,
    the_queue_is_bounded,
    addresses_take_turns,
    one_node_works_on_a_review,
    a_killed_node_leaves_its_work_to_others,
    a_review_goes_on_after_a_restart,
    a_review_is_removed_with_its_game,
    a_review_that_is_asked_for_during_the_removal_is_no_obstacle,
];

const LIMITS: ReviewLimits = ReviewLimits {
    total: 3,
    per_creator: 2,
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
    assert_eq!((claimed.game, claimed.content.as_str()), (stored.id, ""));
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
    assert_eq!((next.game, next.content.as_str()), (stored.id, "half"));
    // The first one was only slow, and now finds out.
    assert!(!save(&here, &killed, Done, "old"));
    // A node that stops gives it back at once.
    assert!(save(&there, &next, Waiting, "more"));
    assert_eq!(claim(&here).unwrap().content, "more");
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
