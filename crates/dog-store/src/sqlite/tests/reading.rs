//! Reads see one state of the database and use the indexes.

use super::*;

#[test]
fn a_read_transaction_sees_one_state() {
    let (_dir, store) = Dir::with_store();
    let id = create(&store).id;
    let seen = file(&store).read(|reader| {
        let version = |stored: StoredGame| stored.game.version();
        let before = reader.game(&id)?.map(version);
        act(&store, &id, &reissue());
        let after = reader.game(&id)?.map(version);
        Ok((before, after, wait(store.version(&id))))
    });
    assert_eq!(seen.unwrap(), (Some(1), Some(1), Some(2)));
    assert_eq!(wait(store.version(&id)), Some(2));
}

#[test]
fn readers_cannot_write() {
    let (_dir, store) = Dir::with_store();
    let sql = "DELETE FROM games";
    let written = file(&store).read(|reader| Ok(reader.connection.execute(sql, [])?));
    assert!(matches!(written, Err(StoreError::ReadOnly)), "{written:?}");
}

#[test]
fn an_unreadable_game_does_not_hide_others() {
    let dir = Dir::new();
    let store = uncached_store(&dir);
    let (bad, good) = (create(&store).id, create(&store));
    let spoil = "UPDATE games SET snapshot = replace(snapshot, 'deal', 'secret') WHERE id =";
    sql(&dir, &format!("{spoil} '{bad}'"));
    let error = block_on(store.game(&bad)).expect_err("a spoilt game");
    let is_bad = matches!(error, StoreError::Unreadable { game, .. } if game == bad);
    assert!(is_bad, "{error}");
    assert!(!format!("{error} {error:?}").contains("secret"));
    assert_eq!(listed(&store, 9), [good]);
}

#[test]
fn lists_and_logs_are_read_by_an_index() {
    let (_dir, store) = Dir::with_store();
    let plan = |sql: &str| -> String {
        let explain = |reader: &Reader<'_>| -> Result<String, StoreError> {
            let sql = format!("EXPLAIN QUERY PLAN {sql}");
            let mut statement = reader.connection.prepare(&sql)?;
            let mut steps = Vec::new();
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                steps.push(row.get::<_, String>(3)?);
            }
            Ok(steps.join("; "))
        };
        file(&store).read(explain).unwrap()
    };
    for (sql, expected) in [
        (
            "SELECT * FROM games INDEXED BY games_listed WHERE listed = 1 AND listed_until > 5 \
             AND row_id < 9 ORDER BY row_id DESC LIMIT 9",
            "SEARCH games USING INDEX games_listed (listed=? AND rowid<?)",
        ),
        (
            "SELECT * FROM games INDEXED BY games_listed_phase WHERE listed = 1 \
             AND listed_until > 5 AND row_id < 9 AND phase = 'play' ORDER BY row_id DESC",
            "SEARCH games USING INDEX games_listed_phase (listed=? AND phase=? AND rowid<?)",
        ),
        (
            "SELECT row_id FROM games WHERE listed_until <= 5 LIMIT 9",
            "SEARCH games USING COVERING INDEX games_listed_until (listed_until<?)",
        ),
        (
            "SELECT * FROM games WHERE unique_key = 'a key'",
            "SEARCH games USING INDEX games_unique_key (unique_key=?)",
        ),
        (
            "SELECT * FROM log WHERE game = 1 AND version > 7 ORDER BY version",
            "SEARCH log USING PRIMARY KEY (game=? AND version>?)",
        ),
        (
            "SELECT row_id FROM idempotency WHERE created_at <= 5 ORDER BY created_at",
            "SEARCH idempotency USING COVERING INDEX idempotency_age (created_at<?)",
        ),
    ] {
        assert_eq!(plan(sql), expected);
    }
}
