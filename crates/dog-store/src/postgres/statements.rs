//! The statements of writes. Each is a single statement that checks the state of the game, makes
//! all changes, and returns a row if it made them.

use std::sync::LazyLock;

use jiff::Timestamp;

use super::{
    connection::{SqlParam, params},
    sql::{NOW, expiry},
};
use crate::{
    Draft, ExpectedState, ExpiredGame, NewGame, NewTicket, SavedResponse, Scope, Seating,
    StoreError, StoredGame, TICKET_TTL, Tokens, Write, WriteOp,
    game_row::{int, seating_column},
    list::LISTED_SLACK,
    retention::LOG_DELETE_BATCH,
    write::NewLog,
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
    pub order: String,
}

/// The text of a write, without and with a saved response.
struct WriteTexts {
    plain: String,
    saving: String,
}

impl WriteTexts {
    /// A write: its first statement, which has `{guard}` at the end of its condition, and others
    /// that depend on the rows that it returns as `applied`. `parameters` is their number.
    fn new(op: &str, others: &[&str], parameters: usize) -> WriteTexts {
        let [scope, body_hash, response] = [1, 2, 3].map(|after| parameters + after);
        let guard = format!(
            " AND NOT EXISTS (SELECT FROM idempotency WHERE scope = ${scope} AND created_at > {})",
            expiry()
        );
        let saved = format!(
            "saved AS (INSERT INTO idempotency (scope, body_hash, response, created_at) \
             SELECT ${scope}, ${body_hash}, ${response}, {NOW} FROM applied)"
        );
        let text = |guard: &str, others: &[&str]| {
            let mut parts = vec![format!("applied AS ({})", op.replace("{guard}", guard))];
            parts.extend(others.iter().map(|&other| other.to_owned()));
            format!("WITH {} SELECT 1 FROM applied", parts.join(", "))
        };
        WriteTexts {
            plain: text("", others),
            saving: text(&guard, &[others, &[&saved]].concat()),
        }
    }

    /// The statement with these parameters and perhaps a saved response.
    fn statement(
        &'static self,
        mut params: Vec<SqlParam>,
        save: Option<&(Scope, SavedResponse)>,
    ) -> SqlStatement {
        let Some((scope, saved)) = save else {
            return SqlStatement::new(&self.plain, params);
        };
        params.extend(saved_params(scope, saved));
        SqlStatement::new(&self.saving, params)
    }
}

/// The condition that a game is in the expected state, for the parameters 1 to 5.
const UNCHANGED: &str = "id = $1 AND version = $2 AND updated_at = $3 AND token_hashes = $4 \
                         AND skips_to_deal = $5{guard}";

static UPDATE: LazyLock<WriteTexts> = LazyLock::new(|| {
    WriteTexts::new(
        &format!(
            "UPDATE games SET version = $6, updated_at = $7, token_hashes = $8, snapshot = $9, \
             deadline = $10, is_for_people = $11, due_at = $12, admin_changes = $13, phase = $14, \
             anyone_may_join = $15, seating = $16, listed = $17, bot_pace_ms = $18, \
             turn_seconds = $19, at_limit = $22, reactions = $23, skips_to_deal = $24, \
             listed_until = CASE WHEN $25 > coalesce(listed_until, 0) \
             THEN $25 + {} ELSE listed_until END \
             WHERE {UNCHANGED} RETURNING row_id",
            LISTED_SLACK.as_micros()
        ),
        &[
            "logged AS (INSERT INTO log (game, version, at, action, events) \
             SELECT row_id, $6, $7, $20, $21 FROM applied)",
            "announced AS (INSERT INTO changes (game, version) SELECT $1, $6 FROM applied)",
        ],
        25,
    )
});

static INSERT: LazyLock<WriteTexts> = LazyLock::new(|| {
    WriteTexts::new(
        "INSERT INTO games (id, version, phase, listed, imported, is_for_people, anyone_may_join, \
         created_at, updated_at, bot_pace_ms, turn_seconds, deadline, due_at, unique_key, creator, \
         token_hashes, seating, snapshot, reactions, listed_until) \
         SELECT $1::text, $2::bigint, $3::text, $4::boolean, $5::boolean, $6::boolean, \
         $7::boolean, $8::bigint, $9::bigint, $10::bigint, $11::bigint, $12::bigint, $13::bigint, \
         $14::text, $15::bytea, $16::bytea, $17::text, $18::text, $24::boolean, $25::bigint \
         WHERE true{guard} \
         ON CONFLICT DO NOTHING RETURNING row_id",
        &[
            "announced AS (INSERT INTO changes (game, version) SELECT $1::text, $2::bigint FROM applied \
             UNION ALL SELECT $19::text, $20::bigint FROM applied WHERE $19::text IS NOT NULL)",
            "logged AS (INSERT INTO log (game, version, at, action, events) \
             SELECT row_id, $2::bigint, $8::bigint, NULL, $21::text FROM applied \
             WHERE $21::text IS NOT NULL)",
            "packed AS (INSERT INTO packed_log (game, first_version, entries) \
             SELECT row_id, first_version, entries FROM applied, \
             unnest($22::bigint[], $23::bytea[]) AS page (first_version, entries))",
        ],
        25,
    )
});

/// The decision of the node that has claimed the game is stale, though the version is the same.
const UNCLAIMED_NOW: &str =
    "unclaimed AS (DELETE FROM due_claims USING applied WHERE game = row_id)";

static SET_TOKENS: LazyLock<WriteTexts> = LazyLock::new(|| {
    let set = "token_hashes = $6, seating = $7, token_renewals = token_renewals + 1";
    same_version(set, 7)
});

static SET_DUE: LazyLock<WriteTexts> =
    LazyLock::new(|| same_version("skips_to_deal = $6, due_at = $7", 7));

/// A write that sets columns of a game without making a version.
fn same_version(set: &str, parameters: usize) -> WriteTexts {
    let op = format!("UPDATE games SET {set} WHERE {UNCHANGED} RETURNING row_id");
    let announced = "announced AS (INSERT INTO changes (game, version) SELECT $1, $2 FROM applied)";
    WriteTexts::new(&op, &[announced, UNCLAIMED_NOW], parameters)
}

static ADD_TICKET: LazyLock<WriteTexts> = LazyLock::new(|| {
    WriteTexts::new(
        &format!("SELECT row_id FROM games WHERE {UNCHANGED}"),
        &[&format!(
            "added AS (INSERT INTO tickets (ticket_hash, game, token_hash, expires_at) \
             SELECT $6, row_id, $7, {NOW} + {} FROM applied ON CONFLICT (ticket_hash) DO UPDATE \
             SET game = excluded.game, token_hash = excluded.token_hash, \
             expires_at = excluded.expires_at)",
            TICKET_TTL.as_micros()
        )],
        7,
    )
});

/// A write that removes a game with all that no foreign key deletes. Of a long log only the
/// beginning is; see `purge_removed_logs`.
fn removing(op: &str, parameters: usize) -> WriteTexts {
    let rest = format!(
        "rest AS (INSERT INTO removed (game) SELECT row_id FROM applied \
         WHERE version > {LOG_DELETE_BATCH})"
    );
    let of_log = format!(
        "of_log AS (DELETE FROM log USING applied \
         WHERE game = row_id AND log.version <= {LOG_DELETE_BATCH})"
    );
    let others = [
        "announced AS (INSERT INTO changes (game, version) SELECT $1, NULL FROM applied)",
        &rest,
        &of_log,
        "of_tickets AS (DELETE FROM tickets USING applied WHERE game = row_id)",
    ];
    WriteTexts::new(op, &others, parameters)
}

static REMOVE: LazyLock<WriteTexts> = LazyLock::new(|| {
    let op = format!("DELETE FROM games WHERE {UNCHANGED} RETURNING row_id, games.version");
    removing(&op, 5)
});

static REMOVE_EXPIRED: LazyLock<WriteTexts> = LazyLock::new(|| {
    let op = "DELETE FROM games WHERE id = $1 AND version = $2 RETURNING row_id, games.version";
    removing(op, 2)
});

static SAVE_RESPONSE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "INSERT INTO idempotency (scope, body_hash, response, created_at) \
         VALUES ($1, $2, $3, {NOW}) ON CONFLICT (scope) DO UPDATE \
         SET body_hash = excluded.body_hash, response = excluded.response, \
         created_at = excluded.created_at WHERE idempotency.created_at <= {} RETURNING 1",
        expiry()
    )
});

/// Deletes the response with this scope if it has expired.
static EVICT_EXPIRED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "DELETE FROM idempotency WHERE scope = $1 AND created_at <= {} RETURNING 1",
        expiry()
    )
});

const RESPONSE_IS_SAVED: &str =
    "SELECT 1 FROM idempotency WHERE scope = $1 AND body_hash = $2 AND response = $3";

fn saved_params(scope: &Scope, saved: &SavedResponse) -> Vec<SqlParam> {
    params![
        scope.0.to_vec(),
        saved.body_hash.to_vec(),
        saved.response.clone(),
    ]
}

fn unchanged(expected: &ExpectedState) -> Vec<SqlParam> {
    params![
        expected.id.to_string(),
        int(expected.version),
        expected.updated_at.as_microsecond(),
        expected.tokens.to_bytes(),
        expected.skips_to_deal,
    ]
}

impl WriteStatements {
    /// The statements of a write.
    ///
    /// # Errors
    /// Never in practice: a seating can be serialized.
    pub fn new(write: &Write) -> Result<WriteStatements, StoreError> {
        let save = write.save.as_ref();
        let (statement, verify_applied, order) = match &write.op {
            WriteOp::Update(draft) => update(draft, save)?,
            WriteOp::Insert(new) => insert(new, save)?,
            WriteOp::SetTokens(expected, tokens, seating) => {
                set_tokens(expected, tokens, seating, save)?
            }
            WriteOp::AddTicket(expected, ticket) => add_ticket(expected, ticket, save),
            WriteOp::SetDue {
                expected,
                skips_to_deal,
                due_at,
            } => set_due(expected, *skips_to_deal, *due_at, save),
            WriteOp::Remove(expected) => remove(expected, save),
            WriteOp::SaveResponse => {
                let Some((scope, saved)) = save else {
                    return Err(StoreError::Misuse("there is no response to save"));
                };
                let with_params = |sql| SqlStatement::new(sql, saved_params(scope, saved));
                let verify_applied = with_params(RESPONSE_IS_SAVED);
                (with_params(&SAVE_RESPONSE), verify_applied, String::new())
            }
        };
        let evict_expired =
            save.map(|(scope, _)| SqlStatement::new(&EVICT_EXPIRED, params![scope.0.to_vec()]));
        Ok(WriteStatements {
            write: statement,
            verify_applied,
            evict_expired,
            order,
        })
    }
}

/// A write, the statement that verifies it, and the id of its game.
type WriteParts = (SqlStatement, SqlStatement, String);

fn update(draft: &Draft, save: Option<&(Scope, SavedResponse)>) -> Result<WriteParts, StoreError> {
    let Draft {
        expected,
        next,
        rows,
        ..
    } = draft;
    let (version, at) = (int(next.game.version()), next.updated_at);
    let mut params = unchanged(expected);
    params.extend(params![
        version,
        at.as_microsecond(),
        next.tokens.to_bytes(),
        rows.snapshot.clone(),
        next.deadline.map(Timestamp::as_microsecond),
        next.is_for_people(),
        next.due_at(at).map(Timestamp::as_microsecond),
        i64::from(next.admin_changes.versions),
        next.game.phase().name(),
        next.anyone_may_join(),
        seating_column(&next.seating)?,
        next.listed,
        i64::from(next.timing.bot_pace_ms),
        next.timing.turn_seconds.map(i64::from),
        rows.action.clone(),
        rows.events.clone(),
        next.is_at_limit(),
        next.reactions,
        next.skips_to_deal,
        next.listed_by_itself(),
    ]);
    let verify_applied = SqlStatement {
        sql: "SELECT 1 FROM log JOIN games ON row_id = game WHERE id = $1 \
              AND log.version = $2 AND at = $3 AND action = $4 AND events = $5",
        params: params![
            next.id.to_string(),
            version,
            at.as_microsecond(),
            rows.action.clone(),
            rows.events.clone(),
        ],
    };
    let write = UPDATE.statement(params, save);
    Ok((write, verify_applied, next.id.to_string()))
}

fn insert(new: &NewGame, save: Option<&(Scope, SavedResponse)>) -> Result<WriteParts, StoreError> {
    let StoredGame {
        id,
        listed,
        reactions,
        imported,
        created_at,
        updated_at,
        creator,
        tokens,
        seating,
        timing,
        deadline,
        game,
        ..
    } = &new.game;
    let due_at = new.game.due_at(*updated_at);
    let mut params = params![
        id.to_string(),
        int(game.version()),
        game.phase().name(),
        *listed,
        *imported,
        new.game.is_for_people(),
        new.game.anyone_may_join(),
        created_at.as_microsecond(),
        updated_at.as_microsecond(),
        i64::from(timing.bot_pace_ms),
        timing.turn_seconds.map(i64::from),
        deadline.map(Timestamp::as_microsecond),
        due_at.map(Timestamp::as_microsecond),
        new.unique_key.clone(),
        creator.map(|creator| creator.0.to_vec()),
        tokens.to_bytes(),
        seating_column(seating)?,
        new.snapshot.clone(),
        new.follows.map(|(id, _)| id.to_string()),
        new.follows.map(|(_, version)| int(version)),
    ];
    let (mut events, mut first_versions, mut entries) = (None, Vec::new(), Vec::new());
    match &new.log {
        NewLog::Created { events: json, .. } => events = Some(json.clone()),
        NewLog::Packed(log) => {
            for page in &log.pages {
                first_versions.push(int(page.first_version));
                entries.push(page.entries.clone());
            }
        }
    }
    params.extend(params![
        events,
        first_versions,
        entries,
        *reactions,
        new.game.first_listed_until(),
    ]);
    let is_there = "SELECT 1 FROM games WHERE id = $1";
    let verify_applied = SqlStatement::new(is_there, params![id.to_string()]);
    let write = INSERT.statement(params, save);
    Ok((write, verify_applied, id.to_string()))
}

fn set_tokens(
    expected: &ExpectedState,
    tokens: &Tokens,
    seating: &Seating,
    save: Option<&(Scope, SavedResponse)>,
) -> Result<WriteParts, StoreError> {
    let mut params = unchanged(expected);
    params.extend(params![tokens.to_bytes(), seating_column(seating)?]);
    let verify_applied = SqlStatement::new(
        "SELECT 1 FROM games WHERE id = $1 AND token_hashes = $2",
        params![expected.id.to_string(), tokens.to_bytes()],
    );
    let write = SET_TOKENS.statement(params, save);
    Ok((write, verify_applied, expected.id.to_string()))
}

fn add_ticket(
    expected: &ExpectedState,
    ticket: &NewTicket,
    save: Option<&(Scope, SavedResponse)>,
) -> WriteParts {
    let mut params = unchanged(expected);
    params.extend(params![ticket.hash.0.to_vec(), ticket.token.0.to_vec()]);
    let is_there = "SELECT 1 FROM tickets WHERE ticket_hash = $1";
    let verify_applied = SqlStatement::new(is_there, params![ticket.hash.0.to_vec()]);
    let write = ADD_TICKET.statement(params, save);
    (write, verify_applied, expected.id.to_string())
}

fn set_due(
    expected: &ExpectedState,
    skips_to_deal: bool,
    due_at: Option<Timestamp>,
    save: Option<&(Scope, SavedResponse)>,
) -> WriteParts {
    let due_at = due_at.map(Timestamp::as_microsecond);
    let mut params = unchanged(expected);
    params.extend(params![skips_to_deal, due_at]);
    let verify_applied = SqlStatement {
        sql: "SELECT 1 FROM games WHERE id = $1 AND version = $2 AND skips_to_deal = $3 \
              AND due_at IS NOT DISTINCT FROM $4",
        params: params![
            expected.id.to_string(),
            int(expected.version),
            skips_to_deal,
            due_at,
        ],
    };
    let write = SET_DUE.statement(params, save);
    (write, verify_applied, expected.id.to_string())
}

fn remove(expected: &ExpectedState, save: Option<&(Scope, SavedResponse)>) -> WriteParts {
    let verify_applied = SqlStatement {
        sql: "SELECT 1 WHERE NOT EXISTS (SELECT FROM games WHERE id = $1) AND ($2::bytea IS NULL \
              OR EXISTS (SELECT FROM idempotency WHERE scope = $2 AND response = $3))",
        params: params![
            expected.id.to_string(),
            save.map(|(scope, _)| scope.0.to_vec()),
            save.map(|(_, saved)| saved.response.clone()),
        ],
    };
    let write = REMOVE.statement(unchanged(expected), save);
    (write, verify_applied, expected.id.to_string())
}

/// The statement that removes a game if it has not changed since it was found to have expired.
pub(super) fn remove_expired(old: &ExpiredGame) -> SqlStatement {
    REMOVE_EXPIRED.statement(params![old.id.to_string(), int(old.version)], None)
}
