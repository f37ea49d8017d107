//! Saved responses.

use super::*;

each_store![
    a_response_is_saved_with_its_write,
    what_has_not_expired_is_not_deleted,
];

fn a_response_is_saved_with_its_write(database: &TestStore) {
    let store = database.store();
    let new = insert(&new_game());
    let id = new.game.id;
    let commit = |op, number, text| {
        let save = Some(save(number, text));
        wait(store.commit(Write { op, save }))
    };
    let load = |number| {
        let loaded = wait(store.load(Some(&id), Some(&scope(number))));
        let version = loaded.game.map(|game| game.game.version());
        assert_eq!(
            wait(store.load(None, Some(&scope(number)))).saved_response,
            loaded.saved_response
        );
        (version, loaded.saved_response)
    };
    assert_eq!(load(1), (None, None));
    assert_eq!(
        commit(WriteOp::Insert(new), 1, "created"),
        CommitResult::Done
    );
    assert_eq!(load(1), (Some(1), Some(saved("created"))));
    assert_eq!(load(2), (Some(1), None));

    let first = wait(store.game(&id)).unwrap();
    assert_eq!(
        commit(update(&first, &reissue()), 2, "done"),
        CommitResult::Done
    );
    assert_eq!(load(2), (Some(2), Some(saved("done"))));
    assert_eq!(
        commit(update(&first, &reissue()), 3, "late"),
        CommitResult::Stale
    );
    assert_eq!(load(3), (Some(2), None));
    let plain = wait(store.load(Some(&id), None));
    assert_eq!(
        (plain.game, plain.saved_response),
        (wait(store.game(&id)), None)
    );

    let second = wait(store.game(&id)).unwrap();
    let renewal = WriteOp::SetTokens(second.expected_state(), tokens("second"), Arc::default());
    assert_eq!(commit(renewal, 3, "renewed"), CommitResult::Done);
    let third = wait(store.game(&id)).unwrap();
    assert_eq!(third.tokens, tokens("second"));
    assert_eq!(
        commit(WriteOp::Remove(third.expected_state()), 4, "gone"),
        CommitResult::Done
    );
    // The responses outlive the game.
    for (number, text) in [(1, "created"), (2, "done"), (3, "renewed"), (4, "gone")] {
        assert_eq!(load(number), (None, Some(saved(text))));
    }
    let there = database.store();
    assert_eq!(
        wait(there.load(None, Some(&scope(4)))).saved_response,
        Some(saved("gone"))
    );
}

fn what_has_not_expired_is_not_deleted(database: &TestStore) {
    let store = database.store();
    let stored = create(&store);
    let ticket = NewTicket {
        hash: TokenHash::new("ticket"),
        token: stored.tokens.host.unwrap(),
    };
    let write = Write {
        op: WriteOp::AddTicket(stored.expected_state(), ticket),
        save: Some(save(1, "ticket")),
    };
    assert_eq!(wait(store.commit(write)), CommitResult::Done);
    assert!(!wait(store.delete_expired(now(), 1)));
    assert_eq!(
        wait(store.load(None, Some(&scope(1)))).saved_response,
        Some(saved("ticket"))
    );
    let found = wait(store.ticket(&stored.id, &ticket.hash));
    assert_eq!(found, Some(ticket.token));
}

#[test]
fn debug_output_hides_responses() {
    assert!(!format!("{:?}", saved("secret")).contains("secret"));
}
