//! The statements of writes. Each is a single statement that checks the state of the game, makes
//! all changes, and returns a row if it made them.

use std::sync::LazyLock;

use jiff::Timestamp;

use super::{
    connection::{SqlParam, params},
    sql::{NOW, expiry},
};
use crate::{
    Draft, ExpectedState, ExpiredGame, GameId, NewGame, NewMatch, PackedLog, StoreError,
    StoredGame, TICKET_TTL, Write, WriteOp,
    game_row::{int, json_column},
    list::LISTED_SLACK,
    retention::LOG_DELETE_BATCH,
    write::{NewLog, to_json},
};

/// A statement and its parameters.
pub(super) struct SqlStatement {
    pub sql: &'static str,
    pub params: Vec<SqlParam>,
}

impl SqlStatement {
    fn new(sql: &'static str, params: Vec<SqlParam>) -> SqlStatement {
        SqlStatement { sql, params }
    }
}

/// A write as statements.
pub(super) struct WriteStatements {
    /// Makes the change, and returns a row if it did.
    pub write: SqlStatement,
    /// Returns a row if the change was made. It is sent when the answer to `write` was lost and a
    /// repetition changes nothing.
    pub verify_applied: SqlStatement,
    /// Deletes an expired response with the scope of the saved one, which is in its way.
    pub evict_expired: Option<SqlStatement>,
    /// Writes of a batch are sent in this order, so that two batches do not wait for each other.
    pub game: Option<GameId>,
}

/// The texts of a write.
struct WriteTexts {
    /// Without and with a saved response.
    plain: String,
    saving: String,
    /// Returns a row if the change was made, and the numbers of the write's parameters that it has.
    verify: (&'static str, &'static [usize]),
}

impl WriteTexts {
    /// A write: its first statement, which has `{guard}` at the end of its condition, and others
    /// that depend on the rows that it returns as `applied`. `parameters` is their number.
    fn new(
        op: &str,
        others: &[&str],
        parameters: usize,
        verify: (&'static str, &'static [usize]),
    ) -> WriteTexts {
        let [scope, body_hash, response] = [1, 2, 3].map(|after| parameters + after);
        let guard = format!(
            " AND NOT EXISTS (SELECT FROM idempotency WHERE scope = ${scope} AND created_at > {})",
            expiry()
        );
        let saved = format!(
            "saved AS (INSERT INTO idempotency (scope, body_hash, response, created_at) \
             SELECT ${scope}, ${body_hash}, ${response}, {NOW} FROM applied LIMIT 1)"
        );
        let text = |guard: &str, others: &[&str]| {
            let mut parts = vec![format!("applied AS ({})", op.replace("{guard}", guard))];
            parts.extend(others.iter().map(|&other| other.to_owned()));
            format!("WITH {} SELECT 1 FROM applied", parts.join(", "))
        };
        WriteTexts {
            plain: text("", others),
            saving: text(&guard, &[others, &[&saved]].concat()),
            verify,
        }
    }
}

/// The condition that a game is in the expected state, for the parameters 1 to 6.
const UNCHANGED: &str = "id = $1 AND version = $2 AND updated_at = $3 AND token_hashes = $4 \
                         AND skips_to_deal = $5 AND match_closed = $6{guard}";

static UPDATE: LazyLock<WriteTexts> = LazyLock::new(|| {
    WriteTexts::new(
        &format!(
            "UPDATE games SET version = $7, updated_at = $8, token_hashes = $9, snapshot = $10, \
             deadline = $11, is_for_people = $12, due_at = $13, admin_changes = $14, phase = $15, \
             anyone_may_join = $16, seating = $17, listed = $18, bot_pace_ms = $19, \
             turn_seconds = $20, at_limit = $23, reactions = $24, skips_to_deal = $25, data = $27, \
             match_closed = $28, match_result = $29, \
             listed_until = CASE WHEN $26 > coalesce(listed_until, 0) \
             THEN $26 + {} ELSE listed_until END \
             WHERE {UNCHANGED} RETURNING row_id",
            LISTED_SLACK.as_micros()
        ),
        &[
            "logged AS (INSERT INTO log (game, version, at, action, events) \
             SELECT row_id, $7, $8, $21, $22 FROM applied)",
            "announced AS (INSERT INTO changes (game, version) SELECT $1, $7 FROM applied)",
        ],
        29,
        (
            "SELECT 1 FROM log JOIN games ON row_id = game WHERE id = $1 \
             AND log.version = $2 AND at = $3 AND action = $4 AND events = $5",
            &[1, 7, 8, 21, 22],
        ),
    )
});

/// The columns of new games, as lists of the parameters 1 to 27.
const NEW_GAMES: &str = "unnest($1::text[], $2::bigint[], $3::text[], $4::boolean[], \
     $5::boolean[], $6::boolean[], $7::boolean[], $8::bigint[], $9::bigint[], $10::bigint[], \
     $11::bigint[], $12::bigint[], $13::bigint[], $14::text[], $15::bytea[], $16::bytea[], \
     $17::text[], $18::text[], $19::boolean[], $20::bigint[], $21::text[], $22::text[], \
     $23::bigint[], $24::text[], $25::text[], $26::bigint[], $27::text[]) AS new (id, version, phase, listed, imported, is_for_people, \
     anyone_may_join, created_at, updated_at, bot_pace_ms, turn_seconds, deadline, due_at, \
     unique_key, creator, token_hashes, seating, snapshot, reactions, listed_until, data, \
     follows, follows_version, events, match_id, match_table, seed)";

static INSERT: LazyLock<WriteTexts> = LazyLock::new(|| {
    WriteTexts::new(
        &format!(
            "INSERT INTO games (id, version, phase, listed, imported, is_for_people, \
             anyone_may_join, created_at, updated_at, bot_pace_ms, turn_seconds, deadline, due_at, \
             unique_key, creator, token_hashes, seating, snapshot, reactions, listed_until, data, \
             match_id, match_table) \
             SELECT id, version, phase, listed, imported, is_for_people, \
             anyone_may_join, created_at, updated_at, bot_pace_ms, turn_seconds, deadline, due_at, \
             unique_key, creator, token_hashes, seating, snapshot, reactions, listed_until, data, \
             match_id, match_table FROM {NEW_GAMES} WHERE true{{guard}} ON CONFLICT DO NOTHING RETURNING row_id, id"
        ),
        &[
            &format!("added AS (SELECT new.*, row_id FROM applied JOIN {NEW_GAMES} USING (id))"),
            "announced AS (INSERT INTO changes (game, version) SELECT id, version FROM added \
             UNION ALL SELECT follows, follows_version FROM added WHERE follows IS NOT NULL)",
            "logged AS (INSERT INTO log (game, version, at, action, events) \
             SELECT row_id, version, created_at, NULL, events FROM added \
             WHERE events IS NOT NULL)",
            "packed AS (INSERT INTO packed_log (game, first_version, entries) \
             SELECT row_id, first_version, entries FROM applied, \
             unnest($28::bigint[], $29::bytea[]) AS page (first_version, entries))",
            "matched AS (INSERT INTO matches (id, created_at, host_token, setup) \
             SELECT match_id, $30, $31, $32 FROM added WHERE match_table = 0)",
            "tables AS (INSERT INTO match_tables (match_id, number, game, seed) \
             SELECT match_id, match_table, id, seed FROM added WHERE match_id IS NOT NULL)",
        ],
        32,
        ("SELECT 1 FROM games WHERE id = ANY ($1)", &[1]),
    )
});

/// The decision of the node that has claimed the game is stale, though the version is the same.
const UNCLAIMED_NOW: &str =
    "unclaimed AS (DELETE FROM due_claims USING applied WHERE game = row_id)";

static SET_TOKENS: LazyLock<WriteTexts> = LazyLock::new(|| {
    let set = "token_hashes = $7, seating = $8, token_renewals = token_renewals + 1";
    let verify = "SELECT 1 FROM games WHERE id = $1 AND token_hashes = $2";
    same_version(set, "true", (verify, &[1, 7]))
});

static SET_DUE: LazyLock<WriteTexts> = LazyLock::new(|| {
    let verify = "SELECT 1 FROM games WHERE id = $1 AND version = $2 AND skips_to_deal = $3 \
                  AND due_at IS NOT DISTINCT FROM $4";
    let set = "skips_to_deal = $7, due_at = $8";
    let differs = "(skips_to_deal <> $7 OR due_at IS DISTINCT FROM $8)";
    same_version(set, differs, (verify, &[1, 2, 7, 8]))
});

/// A write that sets two columns of a game without making a version, if they are not as it says.
fn same_version(set: &str, differs: &str, verify: (&'static str, &'static [usize])) -> WriteTexts {
    let op = format!("UPDATE games SET {set} WHERE {differs} AND {UNCHANGED} RETURNING row_id");
    let announced = "announced AS (INSERT INTO changes (game, version) SELECT $1, $2 FROM applied)";
    WriteTexts::new(&op, &[announced, UNCLAIMED_NOW], 8, verify)
}

static ADD_TICKET: LazyLock<WriteTexts> = LazyLock::new(|| {
    WriteTexts::new(
        &format!("SELECT row_id FROM games WHERE {UNCHANGED}"),
        &[&format!(
            "added AS (INSERT INTO tickets (ticket_hash, game, token_hash, expires_at) \
             SELECT $7, row_id, $8, {NOW} + {} FROM applied ON CONFLICT (ticket_hash) DO UPDATE \
             SET game = excluded.game, token_hash = excluded.token_hash, \
             expires_at = excluded.expires_at)",
            TICKET_TTL.as_micros()
        )],
        8,
        ("SELECT 1 FROM tickets WHERE ticket_hash = $1", &[7]),
    )
});

/// What goes with the games that were `removed`, and no foreign key deletes. Of a long log only the
/// beginning does; see `purge_removed_logs`.
fn with_games(removed: &str) -> [String; 4] {
    [
        format!(
            "announced AS (INSERT INTO changes (game, version) SELECT id, NULL FROM {removed})"
        ),
        format!(
            "rest AS (INSERT INTO removed (game) SELECT row_id FROM {removed} \
             WHERE version > {LOG_DELETE_BATCH})"
        ),
        format!(
            "of_log AS (DELETE FROM log USING {removed} \
             WHERE game = row_id AND log.version <= {LOG_DELETE_BATCH})"
        ),
        format!("of_tickets AS (DELETE FROM tickets USING {removed} WHERE game = row_id)"),
    ]
}

/// A write that removes a game.
fn removing(op: &str, parameters: usize) -> WriteTexts {
    let others = with_games("applied");
    let verify = "SELECT 1 WHERE NOT EXISTS (SELECT FROM games WHERE id = $1)";
    let others = others.each_ref().map(String::as_str);
    WriteTexts::new(op, &others, parameters, (verify, &[1]))
}

/// A table that ends meanwhile is found so once its lock is free, and stays.
static END_MATCH: LazyLock<WriteTexts> = LazyLock::new(|| {
    let op = "UPDATE matches SET ended = true WHERE id = $1 AND NOT ended{guard} RETURNING id";
    let gone = "gone AS (DELETE FROM games USING applied WHERE match_id = applied.id \
                AND phase <> 'finished' AND NOT at_limit RETURNING row_id, games.id, version)";
    let told = "told AS (INSERT INTO changes (game, version) SELECT id, 0 FROM applied)";
    // The logs of so many games are deleted later.
    let rest = "rest AS (INSERT INTO removed (game) SELECT row_id FROM gone)";
    let [announced, _, _, of_tickets] = &with_games("gone");
    let others = [gone, told, announced, rest, of_tickets];
    let verify = "SELECT 1 FROM matches WHERE id = $1 AND ended";
    WriteTexts::new(op, &others, 1, (verify, &[1]))
});

static REMOVE: LazyLock<WriteTexts> = LazyLock::new(|| {
    let op = format!("DELETE FROM games WHERE {UNCHANGED} RETURNING row_id, id, version");
    removing(&op, 6)
});

static REMOVE_EXPIRED: LazyLock<WriteTexts> = LazyLock::new(|| {
    let op = "DELETE FROM games WHERE id = $1 AND version = $2 RETURNING row_id, id, version";
    removing(op, 2)
});

static SAVE_RESPONSE: LazyLock<WriteTexts> =
    LazyLock::new(|| WriteTexts::new("SELECT 1 WHERE true{guard}", &[], 0, ("SELECT 1", &[])));

/// Deletes the response with this scope if it has expired.
static EVICT_EXPIRED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "DELETE FROM idempotency WHERE scope = $1 AND created_at <= {} RETURNING 1",
        expiry()
    )
});

/// A write that saves a response was made if the response is there.
const RESPONSE_IS_SAVED: &str =
    "SELECT 1 FROM idempotency WHERE scope = $1 AND body_hash = $2 AND response = $3";

/// The parameters of a write that finds the game in the expected state, with others.
fn unchanged(expected: &ExpectedState, others: Vec<SqlParam>) -> Vec<SqlParam> {
    let mut params = params![
        expected.id.to_string(),
        int(expected.version),
        expected.updated_at.as_microsecond(),
        expected.tokens.to_bytes(),
        expected.skips_to_deal,
        expected.closed,
    ];
    params.extend(others);
    params
}

impl WriteStatements {
    /// The statements of a write.
    ///
    /// # Errors
    /// Never in practice: a seating can be serialized.
    pub fn new(write: &Write) -> Result<WriteStatements, StoreError> {
        let (texts, game, mut params) = match &write.op {
            WriteOp::Update(draft) => (&UPDATE, Some(draft.next.id), update(draft)?),
            WriteOp::Insert(games, new_match) => {
                let first = games.first().map(|new| new.game.id);
                (&INSERT, first, insert(games, new_match.as_ref())?)
            }
            WriteOp::SetTokens(expected, tokens, seating) => {
                let set = params![tokens.to_bytes(), json_column(&**seating)?];
                (&SET_TOKENS, Some(expected.id), unchanged(expected, set))
            }
            WriteOp::AddTicket(expected, ticket) => {
                let ticket = params![ticket.hash.0.to_vec(), ticket.token.0.to_vec()];
                (&ADD_TICKET, Some(expected.id), unchanged(expected, ticket))
            }
            WriteOp::SetDue {
                expected,
                skips_to_deal,
                due_at,
            } => {
                let set = params![*skips_to_deal, due_at.map(Timestamp::as_microsecond)];
                (&SET_DUE, Some(expected.id), unchanged(expected, set))
            }
            WriteOp::Remove(expected) => {
                (&REMOVE, Some(expected.id), unchanged(expected, params![]))
            }
            WriteOp::EndMatch(id) => (&END_MATCH, Some(*id), params![id.to_string()]),
            WriteOp::SaveResponse => (&SAVE_RESPONSE, None, params![]),
        };
        let Some((scope, saved)) = &write.save else {
            let (verify, numbers) = texts.verify;
            let verified = numbers.iter().map(|number| params[number - 1].clone());
            return Ok(WriteStatements {
                verify_applied: SqlStatement::new(verify, verified.collect()),
                write: SqlStatement::new(&texts.plain, params),
                evict_expired: None,
                game,
            });
        };
        let saved = params![
            scope.0.to_vec(),
            saved.body_hash.to_vec(),
            saved.response.clone(),
        ];
        params.extend_from_slice(&saved);
        Ok(WriteStatements {
            write: SqlStatement::new(&texts.saving, params),
            evict_expired: Some(SqlStatement::new(&EVICT_EXPIRED, saved[..1].to_vec())),
            verify_applied: SqlStatement::new(RESPONSE_IS_SAVED, saved),
            game,
        })
    }
}

fn update(draft: &Draft) -> Result<Vec<SqlParam>, StoreError> {
    let Draft { next, rows, .. } = draft;
    let at = next.updated_at;
    let params = params![
        int(next.game.version()),
        at.as_microsecond(),
        next.tokens.to_bytes(),
        rows.snapshot.clone(),
        next.deadline.map(Timestamp::as_microsecond),
        next.is_for_people(),
        next.due_at(at).map(Timestamp::as_microsecond),
        i64::from(next.admin_changes.versions),
        next.game.phase().name(),
        next.anyone_may_join(),
        json_column(&*next.seating)?,
        next.listed,
        i64::from(next.timing.bot_pace_ms),
        next.timing.turn_seconds.map(i64::from),
        rows.action.clone(),
        rows.events.clone(),
        next.is_at_limit(),
        next.reactions,
        next.skips_to_deal,
        next.listed_by_itself(),
        json_column(&*next.data)?,
        next.is_match_closed(),
        draft.table_end()?.map(|(_, result)| result),
    ];
    Ok(unchanged(&draft.before.expected_state(), params))
}

fn insert(games: &[NewGame], new_match: Option<&NewMatch>) -> Result<Vec<SqlParam>, StoreError> {
    /// The values of a column.
    fn column<T>(games: &[NewGame], value: impl Fn(&NewGame) -> T) -> Vec<T> {
        games.iter().map(value).collect()
    }
    /// The values of a column of JSON.
    fn json(
        games: &[NewGame],
        value: fn(&StoredGame) -> Result<Option<String>, StoreError>,
    ) -> Result<Vec<Option<String>>, StoreError> {
        games.iter().map(|new| value(&new.game)).collect()
    }
    let mut params = params![
        column(games, |new| new.game.id.to_string()),
        column(games, |new| int(new.game.game.version())),
        column(games, |new| new.game.game.phase().name()),
        column(games, |new| new.game.listed),
        column(games, |new| new.game.imported),
        column(games, |new| new.game.is_for_people()),
        column(games, |new| new.game.anyone_may_join()),
        column(games, |new| new.game.created_at.as_microsecond()),
        column(games, |new| new.game.updated_at.as_microsecond()),
        column(games, |new| i64::from(new.game.timing.bot_pace_ms)),
        column(games, |new| new.game.timing.turn_seconds.map(i64::from)),
        column(games, |new| Some(new.game.deadline?.as_microsecond())),
        column(games, |new| {
            let due_at = new.game.due_at(new.game.updated_at);
            due_at.map(Timestamp::as_microsecond)
        }),
        column(games, |new| new.unique_key.clone()),
        column(games, |new| Some(new.game.creator?.0.to_vec())),
        column(games, |new| new.game.tokens.to_bytes()),
        json(games, |game| json_column(&*game.seating))?,
        column(games, |new| new.snapshot.clone()),
        column(games, |new| new.game.reactions),
        column(games, |new| new.game.first_listed_until()),
        json(games, |game| json_column(&*game.data))?,
        column(games, |new| Some(new.follows?.0.to_string())),
        column(games, |new| Some(int(new.follows?.1))),
        column(games, |new| match &new.log {
            NewLog::Created { events, .. } => Some(events.clone()),
            NewLog::Packed(_) => None,
        }),
        column(games, |new| Some(new.game.table?.match_id.to_string())),
        column(games, |new| Some(i64::from(new.game.table?.number))),
        column(games, |new| {
            let pair = new.game.table?.number as usize / 2;
            Some(new_match?.seeds.get(pair)?.hex())
        }),
    ];
    let packed = games.iter().find_map(|new| match &new.log {
        NewLog::Packed(log) => Some(log),
        NewLog::Created { .. } => None,
    });
    params.extend(page_params(packed));
    params.extend(params![
        new_match.map(|new| new.created_at.as_microsecond()),
        new_match.map(|new| new.host.0.to_vec()),
        new_match.map(|new| to_json(&new.setup)).transpose()?,
    ]);
    Ok(params)
}

/// The first versions of the pages of a log, and their entries.
pub(super) fn page_params(packed: Option<&PackedLog>) -> Vec<SqlParam> {
    let pages = packed.into_iter().flat_map(|log| &log.pages);
    let (first_versions, entries): (Vec<i64>, Vec<Vec<u8>>) = pages
        .map(|page| (int(page.first_version), page.entries.clone()))
        .unzip();
    params![first_versions, entries]
}

/// The statement that removes a game if it has not changed since it was found to have expired.
pub(super) fn remove_expired(old: &ExpiredGame) -> SqlStatement {
    let params = params![old.id.to_string(), int(old.version)];
    SqlStatement::new(&REMOVE_EXPIRED.plain, params)
}
