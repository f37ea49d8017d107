//! Quick join: a seat at the oldest table with these rules that waits for people, or at a new one.
//!
//! The unique key of such a table has the digest of its rules and a number. A new table has the
//! number after the last one. So of two callers who both find no table, one makes it and the other
//! finds it.

use dog_rules::{Level, Player, Rules, Seat, SeatKind, Seed, Setup, name::default_name};
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

use super::{
    CommandOutcome, Creation, Join, Renderers, RequestContext, Response, ServiceError,
    TokenDeriver, joining, new_game, random_bytes,
};
use crate::store::{
    CommitResult, Creator, JoinPolicy, MAX_ADMIN_CHANGES, NewGame, StartPolicy, Store, Timing,
    Write, WriteOp,
};

/// Maximum number of attempts. Each one but the last failed because another process came first;
/// callers at one process wait for each other.
const MAX_ATTEMPTS: u32 = 100;

/// The turn clock, in seconds.
const TURN_SECONDS: u32 = 60;

/// The pace of bots, which people can follow, in milliseconds.
const BOT_PACE_MS: u32 = 1000;

/// A request for a seat at any table.
pub struct QuickJoin<E> {
    pub rules: Rules,
    /// None for the name that the seat has.
    pub name: Result<Option<String>, E>,
}

/// Takes a seat at the oldest table with these rules, or at a new one.
///
/// `turn` is held during an attempt, so that the callers at one process do not race.
///
/// # Errors
/// Why no seat was taken.
pub async fn quick_join<E: Clone + From<ServiceError>>(
    store: &Store,
    turn: &Mutex<()>,
    creator: Option<Creator>,
    request: &RequestContext,
    wanted: &Result<QuickJoin<E>, E>,
    renderers: &Renderers<E>,
) -> Result<CommandOutcome, E> {
    let wanted = wanted.as_ref().map_err(Clone::clone)?;
    let name = wanted.name.clone()?;
    // Refuses a weak key before it makes a table.
    TokenDeriver::new(request.retry.as_ref(), &[0; 16])?;
    let prefix = key_prefix(&wanted.rules)?;
    let _turn = turn.lock().await;
    for _ in 0..MAX_ATTEMPTS {
        let loaded = store.load(None, request.scope()).await;
        if let Some(saved) = &loaded.map_err(ServiceError::from)?.saved_response {
            return Ok(request.saved_outcome(saved)?);
        }
        let found = store.oldest_in_seating(&prefix, MAX_ADMIN_CHANGES).await;
        let (table, last_key) = found.map_err(ServiceError::from)?;
        let Some(table) = table else {
            let mut new = new_table(&wanted.rules, creator)?;
            new.unique_key = Some(next_key(&prefix, last_key.as_deref()));
            let op = WriteOp::Insert(new.into());
            // If another process came first, its table is there now.
            let _ = store
                .commit(Write { op, save: None })
                .await
                .map_err(ServiceError::from)?;
            continue;
        };
        let join = Join {
            invitation: None,
            seat: None,
            name: Ok(name.clone()),
        };
        let (op, mut outcome) = joining::join(&table, request, &join, renderers)?;
        if let Response::Joined { id, .. } = &mut outcome.response {
            *id = Some(table.id.to_string());
        }
        let write = request.write(op, &outcome.response)?;
        if store.commit(write).await.map_err(ServiceError::from)? == CommitResult::Done {
            return Ok(outcome);
        }
    }
    Err(ServiceError::Contended.into())
}

/// The beginning of the unique keys of tables with these rules.
fn key_prefix(rules: &Rules) -> Result<String, ServiceError> {
    let rules = serde_json::to_vec(rules)
        .map_err(|_| ServiceError::Internal("rules cannot be written as JSON"))?;
    let digest = Sha256::digest(rules);
    let digits: String = digest[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(format!("quick join {digits} "))
}

/// The unique key after the last one with this prefix.
fn next_key(prefix: &str, last: Option<&str>) -> String {
    let number = last.and_then(|key| u64::from_str_radix(key.strip_prefix(prefix)?, 16).ok());
    format!("{prefix}{:016x}", number.map_or(0, |number| number + 1))
}

/// A table without a host, at which anyone may sit down.
fn new_table(rules: &Rules, creator: Option<Creator>) -> Result<NewGame, ServiceError> {
    let open = |seat: Seat| Player {
        name: default_name(seat, SeatKind::Open),
        kind: SeatKind::Open,
        level: Level::default(),
    };
    let creation = Creation::New {
        setup: Setup {
            players: Seat::all(rules.seats).map(open).collect(),
            rules: rules.clone(),
            first_dealer: None,
            seed: Seed::new(random_bytes()),
            seed_given: false,
            awaited: Vec::new(),
        },
        // As soon as somebody has taken a seat.
        listed: false,
        timing: Timing {
            bot_pace_ms: BOT_PACE_MS,
            turn_seconds: Some(TURN_SECONDS),
        },
        join: JoinPolicy::Anyone,
        start: StartPolicy::Full,
        bots_after_seconds: None,
    };
    let no_tokens = TokenDeriver::new(None, &[0; 16])?;
    let mut new = new_game(&creation, creator, &no_tokens)?;
    new.game.tokens.host = None;
    Ok(new)
}
