//! Saved responses expire after a day.

use jiff::SignedDuration;

use super::*;

/// Saves a response, together with an unrelated game.
fn save_response(store: &Store, number: u8, text: &str) -> CommitResult {
    commit_saving(store, insert(&new_game()).into(), number, text)
}

/// Makes all saved responses older by this.
fn age(dir: &Dir, by: SignedDuration) {
    let older = "UPDATE idempotency SET created_at = created_at -";
    sql(dir, &format!("{older} {}", by.as_micros()));
}

#[test]
fn a_response_expires_after_a_day() {
    let (dir, store) = Dir::with_store();
    let day = SignedDuration::from_hours(24);
    assert_eq!(save_response(&store, 1, "one"), CommitResult::Done);
    age(&dir, day - SignedDuration::from_hours(1));
    assert_eq!(save_response(&store, 1, "two"), CommitResult::Stale);
    assert_eq!(saved_response(&store, 1), Some(saved("one")));
    age(&dir, SignedDuration::from_hours(1));
    assert_eq!(saved_response(&store, 1), None);
    let loaded = wait(store.load(Some(&GameId::random()), Some(&scope(1))));
    assert_eq!(loaded.saved_response, None);
    assert_eq!(save_response(&store, 1, "two"), CommitResult::Done);
    assert_eq!(saved_response(&store, 1), Some(saved("two")));
}

#[test]
fn expired_responses_are_deleted_in_batches() {
    let (dir, store) = Dir::with_store();
    for number in 0..5 {
        let done = save_response(&store, number, "a response");
        assert_eq!(done, CommitResult::Done);
    }
    let day = SignedDuration::from_hours(24).as_micros();
    let age = format!("UPDATE idempotency SET created_at = created_at - {day} WHERE row_id <= 4");
    sql(&dir, &age);
    let mut left = Vec::new();
    while wait(store.delete_expired(now(), 2)) {
        left.push(rows(&dir, "idempotency"));
    }
    assert_eq!(left, [3, 1]);
    assert_eq!(rows(&dir, "idempotency"), 1);
    assert_eq!(saved_response(&store, 4), Some(saved("a response")));
}
