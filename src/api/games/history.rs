//! Histories of games.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::{
    HttpResponse,
    http::{Method, StatusCode, header},
    web::Bytes,
};
use dog_bot::Level;
use dog_review::{JudgedDecision, Judgement, Review};
use dog_rules::{
    Player, Seat, SeatKind,
    record::{RecordFormat, RecordHeaders, RecordStep, StepWriter, Transcript},
};
use dog_store::{LogPage, StoredGame};
use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    access::{AccessError, Role},
    api::{
        errors::errors,
        parameters::{GamePath, GameRequest},
        reviews::review::{FoundReview, load_review},
    },
    app::App,
    headers::negotiation::{accepts_gzip, preferred},
    http::{
        content::{Encoder, private_response},
        json::{from_query, to_json},
    },
    limits::ClientAddress,
    pool::{LOG_PAGE, LOG_PAGE_COST, SHORT_JOB_COST, wait_before_retry},
    problem::{Code, Problem, request_id::RequestId},
    view::{
        event::{LogEntryView, level_of},
        message::message_type,
        rules::RulesView,
    },
};

errors! {
    HistoryErrors: [READ], [InvalidRequest, GameNotOver, ReviewNotFound];
}

/// The media types of a history, the default first.
const MEDIA_TYPES: [&str; 3] = [JSON, NDJSON, TEXT];

const JSON: &str = "application/json";
const NDJSON: &str = "application/x-ndjson";
const TEXT: &str = "text/plain";

/// The end of a history in JSON, after its entries.
const END: &str = "]}";

/// How long a response that has begun retries while the server is overloaded.
const RETRY_TIMEOUT: Duration = Duration::from_secs(30);

/// Read the history.
///
/// What happened in the game from its beginning, as the caller may see it.
///
/// Of a finished game everybody sees all hands, exchanged cards and the shuffle seed, so that
/// anyone can check it (`dog verify`). It is also available as a text record.
#[utoipa::path(get, path = "/v1/games/{id}/history", tag = "games",
    params(GamePath, HistoryParams),
    responses((status = 200, description = "The history; with `Accept` also as a line for the \
        game and one for each version, or as the text stored of a finished game.",
        content((HistoryView = "application/json"), (HistoryLine = "application/x-ndjson"), (String = "text/plain",
            example = json!("[Dog \"1\"]\n[Rules \"hausregeln\"]\n…\n")))),
        HistoryErrors),
    security((), ("token" = [])))]
pub async fn get_history(
    read: GameRequest,
    client: ClientAddress,
) -> Result<HttpResponse, Problem> {
    let (stored, role) = read.game().await?;
    let GameRequest { app, request, .. } = read;
    let media_type = preferred(request.headers(), &MEDIA_TYPES);
    if let Ok(TEXT) = media_type {
        transcript(&stored)?;
    }
    let params: HistoryParams = from_query(request.query_string())?;
    let (media_type, with_review) = (media_type?, params.review.unwrap_or(false));
    if with_review && media_type != TEXT {
        let detail = "review adds comments to the text record: accept text/plain";
        return Err(Problem::wrong_combination(detail));
    }
    let comments = if with_review {
        let review = load_review(&app, &stored).await?;
        let work = move || Ok(comments(&FoundReview::read(&review).findings));
        app.history_pool.run(client, SHORT_JOB_COST, work).await?
    } else {
        HashMap::new()
    };
    let gzip = accepts_gzip(&request);
    let history = Arc::new(History {
        stored,
        role,
        media_type,
        comments,
        request_id: RequestId::of(&request),
        encoder: Mutex::new(Encoder::new(gzip)),
    });
    let (first, cursor) = history
        .read_part(&app, client, HistoryCursor::default())
        .await?;
    let mut response = private_response(StatusCode::OK);
    response.content_type(match history.media_type {
        TEXT => "text/plain; charset=utf-8",
        media_type => media_type,
    });
    if gzip {
        response.insert_header((header::CONTENT_ENCODING, "gzip"));
    }
    if request.method() == Method::HEAD {
        return Ok(response.streaming(stream::empty::<Result<Bytes, Problem>>()));
    }
    let rest = stream::try_unfold(cursor, move |cursor| {
        let (app, history) = (app.clone(), Arc::clone(&history));
        async move { history.next_part(&app, client, cursor).await }
    });
    let first = stream::once(async { Ok(first) });
    Ok(response.streaming(first.chain(rest)))
}

/// What else a history says.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HistoryParams {
    /// Whether the text record has the judgements of the review as comments; false by default.
    /// Only with `Accept: text/plain`.
    review: Option<bool>,
}

/// What the review says of each decision, as a comment of a record: what was better, unless it was
/// the best or as good.
fn comments(found: &Review) -> HashMap<u64, String> {
    let comment = |decision: &JudgedDecision| {
        let judgement = decision.judgement();
        let mut text = format!(" ; {}", judgement.name());
        if judgement > Judgement::Good {
            let (mut best, mut writer) = (String::new(), StepWriter::default());
            // Writing to a string does not fail.
            let _ = writer.write(&mut best, &decision.best.clone().into());
            text += &format!(" {:.4}, better: {}", decision.loss(), best.trim_end());
        }
        (decision.version, text + "\n")
    };
    found.decisions.iter().map(comment).collect()
}

/// A history that is being sent: the game up to its version at the time of the request.
struct History {
    stored: StoredGame,
    role: Role,
    media_type: &'static str,
    /// The judgements of the text record, by version.
    comments: HashMap<u64, String>,
    request_id: RequestId,
    encoder: Mutex<Encoder>,
}

/// How much of a history has been written.
#[derive(Clone, Copy, Default)]
struct HistoryCursor {
    /// The last version that was written.
    version: u64,
    steps: StepWriter,
}

impl History {
    /// Reads the next part once the one before it was handed over; none at the end.
    async fn next_part(
        self: Arc<History>,
        app: &App,
        client: ClientAddress,
        cursor: HistoryCursor,
    ) -> Result<Option<(Bytes, HistoryCursor)>, Problem> {
        if cursor.version == self.stored.game.version() {
            return Ok(None);
        }
        let started = Instant::now();
        loop {
            match self.read_part(app, client, cursor).await {
                Ok((part, cursor)) => return Ok(Some((part, cursor))),
                Err(problem) => {
                    problem.log(&self.request_id);
                    let may_wait = started.elapsed() < RETRY_TIMEOUT;
                    if problem.code() != Code::Unavailable || !may_wait {
                        return Err(problem);
                    }
                    wait_before_retry().await;
                }
            }
        }
    }

    /// Reads and writes a part of the history in the pool. The job is charged to this client.
    ///
    /// # Errors
    /// As [`History::write_page`], or the log cannot be read.
    async fn read_part(
        self: &Arc<History>,
        app: &App,
        client: ClientAddress,
        cursor: HistoryCursor,
    ) -> Result<(Bytes, HistoryCursor), Problem> {
        let id = &self.stored.id;
        let page = app.store.log(id, cursor.version, LOG_PAGE).await?;
        let history = Arc::clone(self);
        app.history_pool
            .run(client, LOG_PAGE_COST, move || {
                let (part, cursor) = history.write_page(page, cursor)?;
                let is_last = cursor.version == history.stored.game.version();
                let part = history.encoder.lock().encode(part.into(), is_last)?;
                Ok((part, cursor))
            })
            .await
    }

    /// Writes a page of the log, after the head and before the end if it is the first or the last.
    ///
    /// # Errors
    /// If the log is damaged or was removed; `game_not_over` for the text record of an unfinished
    /// game.
    fn write_page(
        &self,
        page: LogPage,
        cursor: HistoryCursor,
    ) -> Result<(String, HistoryCursor), Problem> {
        let HistoryCursor { version, mut steps } = cursor;
        let mut part = if version == 0 {
            self.write_head()?
        } else {
            String::new()
        };
        let now = self.stored.game.version();
        let mut log = page.entries()?;
        log.retain(|entry| entry.version <= now);
        let last = log.last().ok_or_else(Problem::game_not_found)?.version;
        let format = RecordFormat::for_game(&self.stored.game);
        for entry in &log {
            if self.media_type == TEXT {
                let action = entry.action.as_ref();
                if let Some(step) = RecordStep::from_entry(format, action, &entry.events) {
                    steps.write(&mut part, &step).map_err(Problem::internal)?;
                    if let Some(comment) = self.comments.get(&entry.version) {
                        part.truncate(part.trim_end().len());
                        part.push_str(comment);
                    }
                }
                continue;
            }
            let game = &self.stored.game;
            let view = LogEntryView::for_game(&self.stored, entry, self.role.viewer(game));
            match self.media_type {
                NDJSON => part += &(to_json(&view)? + "\n"),
                _ if entry.version == 1 => part += &to_json(&view)?,
                _ => {
                    part.push(',');
                    part += &to_json(&view)?;
                }
            }
        }
        if last == now && self.media_type == JSON {
            part += END;
        }
        let version = last;
        Ok((part, HistoryCursor { version, steps }))
    }

    /// What comes before the log.
    ///
    /// # Errors
    /// As [`transcript`], if its text is asked for.
    fn write_head(&self) -> Result<String, Problem> {
        let stored = &self.stored;
        if self.media_type == TEXT {
            return Ok(transcript(stored)?.to_string());
        }
        let (head, entries) = (HistoryHead::new(stored), Vec::new());
        if self.media_type == NDJSON {
            return Ok(to_json(&head)? + "\n");
        }
        let mut empty = to_json(&HistoryView { head, entries })?;
        // The entries come between.
        empty.truncate(empty.len() - END.len());
        Ok(empty)
    }
}

/// A game's text record, without its steps.
///
/// # Errors
/// `game_not_over` until then, because its cards are secret.
fn transcript(stored: &StoredGame) -> Result<Transcript, Problem> {
    let about = RecordHeaders {
        game: Some(stored.id.to_string()),
        created: Some(stored.created_at.to_string()),
        ended: Some(stored.updated_at.to_string()),
    };
    if stored.is_match_closed() {
        return Err(AccessError::GameNotOver.into());
    }
    Transcript::without_steps(&stored.game, about)
        .map_err(|error| Problem::new(Code::GameNotOver, format!("{error}: there is no record")))
}

/// The whole log of a game, as this viewer may see it.
#[derive(Serialize, ToSchema)]
#[schema(as = History)]
pub struct HistoryView {
    #[serde(flatten)]
    head: HistoryHead,
    /// One entry per version, the first being the creation.
    #[schema(min_items = 1)]
    entries: Vec<LogEntryView>,
}

/// A line of a history as NDJSON: the first is a HistoryHead, each later one a LogEntry, from
/// version 1 on.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "for the document")]
pub enum HistoryLine {
    Head(Box<HistoryHead>),
    Entry(LogEntryView),
}

message_type!(HeadType, Head);

/// The setup of a game and its present state. In NDJSON it is the first line of a history, before
/// the entries.
#[derive(Serialize, ToSchema)]
pub struct HistoryHead {
    #[serde(rename = "type")]
    #[schema(inline)]
    type_: HeadType,
    #[schema(examples("06zgrb0wmrqk9y7ttx2vbkhq1r"))]
    id: String,
    /// Changes so far; creation is 1.
    #[schema(minimum = 1)]
    version: u64,
    rules: RulesView,
    /// Who played when the game was created, one entry per seat.
    players: Vec<PlayerView>,
    /// Who deals the first round; null until that is drawn.
    #[schema(required)]
    first_dealer: Option<Seat>,
    /// SHA-256 of the shuffle seed, as 64 hex digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    shuffle_commitment: String,
    /// The shuffle seed as 64 hex digits, once the game is over.
    #[schema(required, pattern = "^[0-9a-f]{64}$")]
    shuffle_seed: Option<String>,
    /// Whether the creator chose the seed, and so could know every card.
    shuffle_seed_given: bool,
    /// The winning team, once there is one.
    #[schema(required)]
    winner: Option<u8>,
    #[schema(format = DateTime)]
    created_at: String,
    /// Time of the last change.
    #[schema(format = DateTime)]
    updated_at: String,
}

/// Who plays a seat.
#[derive(Serialize, ToSchema)]
#[schema(as = Player)]
pub struct PlayerView {
    seat: Seat,
    name: String,
    kind: SeatKind,
    /// How the server plays for the seat: for a bot always, for a human when the time is up. Null
    /// for a human in a game without a turn clock.
    #[schema(required)]
    level: Option<Level>,
}

impl HistoryHead {
    /// The head of a game's history; the seed is hidden until the game is over.
    pub fn new(stored: &StoredGame) -> HistoryHead {
        let game = &stored.game;
        let player = |(seat, player): (Seat, &Player)| PlayerView {
            seat,
            name: player.name.clone(),
            kind: player.kind,
            level: level_of(player, stored.timing),
        };
        let players = Seat::all(game.rules().seats).zip(game.first_players());
        HistoryHead {
            type_: HeadType::Head,
            id: stored.id.to_string(),
            version: game.version(),
            rules: RulesView::from(game.rules().options()),
            players: players.map(player).collect(),
            first_dealer: game.dealer_known().then(|| game.first_dealer()),
            shuffle_commitment: game.commitment(),
            shuffle_seed: stored.published_seed(),
            shuffle_seed_given: game.seed_given(),
            winner: game.winner(),
            created_at: stored.created_at.to_string(),
            updated_at: stored.updated_at.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use dog_rules::{Action, Actor};
    use dog_store::{Draft, LogEntry};
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        access::Role,
        testing::{creation, new_game},
    };

    /// A game that was dealt, and its log.
    fn dealt() -> (StoredGame, Vec<LogEntry>) {
        let mut stored = new_game();
        let mut log = vec![creation(&stored)];
        let seat = Seat::default();
        let player = Player::bot("Bot", Level::Fast);
        for action in [Action::HandOver { seat, player }, Action::Deal { by: None }] {
            let draft = Draft::new(&stored, &action, Actor::Player).expect("it is in order");
            stored = draft.next;
            log.push(LogEntry {
                version: stored.game.version(),
                at: stored.updated_at,
                action: Some(action),
                events: draft.events,
            });
        }
        (stored, log)
    }

    #[test]
    fn while_a_game_is_on_its_history_keeps_its_secrets() {
        let (stored, log) = dealt();
        let seen = |role: Role| {
            let entry = |entry| LogEntryView::for_game(&stored, entry, role.viewer(&stored.game));
            let head = HistoryHead::new(&stored);
            let entries = log.iter().map(entry).collect();
            json!(HistoryView { head, entries })
        };
        let nobody = seen(Role::Host);
        assert_eq!(nobody["version"], 3);
        assert_eq!(nobody["players"][0]["name"], "player 0");
        assert_eq!(nobody["players"][0]["kind"], "human");
        assert_eq!(nobody["shuffle_seed"], Value::Null);
        let hands = |history: &Value| history["entries"][2]["events"][0]["hands"].clone();
        assert_eq!(hands(&nobody), json!([null, null, null, null]));
        assert_eq!(nobody, seen(Role::Spectator));
        let own = hands(&seen(Role::Seat(Seat::default().next(4))));
        assert!(own[0].is_null() && own[1].as_array().is_some_and(|hand| hand.len() == 6));
    }
}
