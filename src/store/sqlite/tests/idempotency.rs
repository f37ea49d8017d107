//! Answers that are given again.

use jiff::{SignedDuration, Timestamp};

use super::*;

fn scope(number: u8) -> Scope {
    Scope([number; 32])
}

fn answer(text: &str) -> Recorded {
    Recorded {
        body_hash: TokenHash::of(text).0,
        answer: text.into(),
    }
}

fn remember(
    store: &Store,
    number: u8,
    text: &'static str,
    at: Timestamp,
) -> Result<(), StoreError> {
    store.write_blocking(move |tx| tx.remember(&scope(number), &answer(text), at))
}

fn replay(store: &Store, number: u8, at: Timestamp) -> Option<Recorded> {
    store
        .write_blocking(move |tx| tx.replay(&scope(number), at))
        .unwrap()
}

#[test]
fn answers_are_kept_for_a_day() {
    let dir = Dir::new();
    let store = dir.store();
    let begin = now();
    let later = |hours: i64, micros: i64| {
        begin + SignedDuration::from_hours(hours) + SignedDuration::from_micros(micros)
    };
    assert_eq!(replay(&store, 1, begin), None);
    remember(&store, 1, "one", begin).unwrap();
    assert_eq!(replay(&store, 1, begin), Some(answer("one")));
    assert_eq!(replay(&store, 2, begin), None);
    assert_eq!(replay(&store, 1, later(24, -1)), Some(answer("one")));
    assert_eq!(replay(&store, 1, later(24, 0)), None);

    let twice = remember(&store, 1, "two", later(24, -1));
    assert!(matches!(twice, Err(StoreError::Misuse(_))));
    assert_eq!(replay(&store, 1, begin), Some(answer("one")));
    remember(&store, 1, "two", later(24, 0)).unwrap();
    assert_eq!(replay(&store, 1, later(47, 0)), Some(answer("two")));
}

#[test]
fn old_answers_go_faster_than_new_ones_come() {
    let dir = Dir::new();
    let store = dir.store();
    let begin = now();
    for number in 0..40 {
        remember(&store, number, "old", begin).unwrap();
    }
    let count = || {
        let count = |reader: &Reader<'_>| -> Result<i64, StoreError> {
            let sql = "SELECT count(*) FROM idempotency";
            Ok(reader.connection.query_row(sql, [], |row| row.get(0))?)
        };
        store.read(count).unwrap()
    };
    assert_eq!(count(), 40);
    let next_day = begin + SignedDuration::from_hours(24);
    remember(&store, 100, "new", next_day).unwrap();
    assert_eq!(count(), 33);
    for number in 101..105 {
        remember(&store, number, "new", next_day).unwrap();
    }
    assert_eq!(count(), 5);
    remember(&store, 105, "new", next_day).unwrap();
    assert_eq!(count(), 6);
}

#[test]
fn an_answer_is_remembered_only_with_its_effect() {
    let dir = Dir::new();
    let store = dir.store();
    let id = create(&store).id;
    let at = now();
    let failed: Result<(), StoreError> = store.write_blocking(move |tx| {
        tx.remember(&scope(1), &answer("one"), at)?;
        act(tx, &id, reissue())?;
        Err(StoreError::Misuse("on purpose"))
    });
    failed.expect_err("it failed on purpose");
    assert_eq!(replay(&store, 1, at), None);
    assert_eq!(store.version(&id).unwrap(), Some(1));
    assert!(!format!("{:?}", answer("secret")).contains("secret"));
}
