//! Saved responses.

use super::*;
use crate::CommitResult::{Done, Stale};

each_store![
    a_response_is_saved_with_its_write,
    what_has_not_expired_is_not_deleted,
];

fn a_response_is_saved_with_its_write(database: &TestStore) {
    let store = database.store();
    let new = insert(&new_game());
    let id = new.game.id;
    let commit = |op, number, text| commit_saving(&store, op, number, text);
    let load = |number| {
        let loaded = wait(store.load(Some(&id), Some(&scope(number))));
        let version = loaded.game.map(|game| game.game.version());
        assert_eq!(saved_response(&store, number), loaded.saved_response);
        (version, loaded.saved_response)
    };
    assert_eq!(load(1), (None, None));
    assert_eq!(commit(WriteOp::from(new), 1, "created"), Done);
    assert_eq!(load(1), (Some(1), Some(saved("created"))));
    assert_eq!(load(2), (Some(1), None));

    let first = wait(store.game(&id)).unwrap();
    assert_eq!(commit(update(&first, &reissue()), 2, "done"), Done);
    assert_eq!(load(2), (Some(2), Some(saved("done"))));
    assert_eq!(commit(update(&first, &reissue()), 3, "late"), Stale);
    assert_eq!(load(3), (Some(2), None));
    let plain = wait(store.load(Some(&id), None));
    assert_eq!(plain.game, wait(store.game(&id)));
    assert_eq!(plain.saved_response, None);

    let second = wait(store.game(&id)).unwrap();
    let renewal = set_tokens(&second, "second");
    assert_eq!(commit(renewal, 3, "renewed"), Done);
    let third = wait(store.game(&id)).unwrap();
    assert_eq!(third.tokens, tokens("second"));
    assert_eq!(commit(removal(&third), 4, "gone"), Done);
    // The responses outlive the game.
    for (number, text) in [(1, "created"), (2, "done"), (3, "renewed"), (4, "gone")] {
        assert_eq!(load(number), (None, Some(saved(text))));
    }
    drop(store);
    let again = database.store();
    assert_eq!(saved_response(&again, 4), Some(saved("gone")));
}

fn what_has_not_expired_is_not_deleted(database: &TestStore) {
    let store = database.store();
    let stored = create(&store);
    let ticket = add_ticket(&stored, "ticket");
    assert_eq!(commit_saving(&store, ticket, 1, "ticket"), Done);
    assert!(!wait(store.delete_expired(now(), 1)));
    assert_eq!(saved_response(&store, 1), Some(saved("ticket")));
    let found = wait(store.ticket(&stored.id, &TokenHash::new("ticket")));
    assert_eq!(found, stored.tokens.host);
}

#[test]
fn debug_output_hides_responses() {
    assert!(!format!("{:?}", saved("secret")).contains("secret"));
}
