//! Histories of games, and the import of finished games.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::{
    HttpRequest, HttpResponse,
    http::{Method, StatusCode},
    web::{Bytes, Data, Path},
};
use dog_rules::{
    Game,
    name::repaired,
    record::{
        ParsedRecord, RecordFormat, RecordHeaders, RecordStep, Replayed, StepWriter, TextError,
        Transcript,
    },
};
use futures_util::stream::{self, StreamExt};
use jiff::Timestamp;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    App,
    games::{Created, created, game_of_host},
    load_game,
};
use crate::{
    access::{Caller, Role},
    http::{
        headers::{preferred, private_response},
        json::{from_query, to_json},
        limits::ClientAddress,
        pool::{LOG_PAGE, LOG_PAGE_COST, SHORT_JOB_COST, wait_before_retry},
        problem::{Code, Problem},
        request::{BodyContent, RecordRequest},
        wire::{
            history::{HistoryHead, HistoryLine, HistoryView, LogEntryView},
            request::NoQuery,
        },
        write::create,
    },
    store::{LogEntry, LogPage, NewGame, PackedLog, StoredGame, now},
};

/// The media types of a history, the default first.
const MEDIA_TYPES: [&str; 3] = [JSON, NDJSON, TEXT];

const JSON: &str = "application/json";
const NDJSON: &str = "application/x-ndjson";
const TEXT: &str = "text/plain";

/// Maximum number of versions of an imported game: many times those of a long game.
const MAX_VERSIONS: usize = 10_000;

/// How long a response that has begun retries while the server is overloaded.
const RETRY_TIMEOUT: Duration = Duration::from_secs(30);

/// What happened in the game from its beginning, as the caller may see it.
///
/// Of a finished game everybody sees all hands, exchanged cards and the shuffle seed, so that
/// anyone can check it (`dog verify`). It is also available as a text record.
#[utoipa::path(get, path = "/v1/games/{id}/history", operation_id = "get_history", tag = "games",
    params(("id" = String, Path, description = "The game's id.")),
    responses((status = 200, description = "The history; with `Accept` also as a line for the \
        game and one for each version, or as the text record of a finished game.",
        content((HistoryView = "application/json"), (HistoryLine = "application/x-ndjson"), (String = "text/plain")))),
    security((), ("token" = [])))]
pub async fn get_history(
    app: Data<App>,
    id: Path<String>,
    caller: Caller,
    client: ClientAddress,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let record = load_game(&app.store, &id).await?;
    let role = caller.role(&record)?;
    let media_type = preferred(request.headers(), &MEDIA_TYPES);
    if let Ok(TEXT) = media_type {
        transcript(&record)?;
    }
    let NoQuery {} = from_query(request.query_string())?;
    let media_type = media_type?;
    let history = Arc::new(History {
        record,
        role,
        media_type,
    });
    let (first, cursor) = history
        .read_part(&app, client, HistoryCursor::default())
        .await?;
    let mut response = private_response(StatusCode::OK);
    response.content_type(match history.media_type {
        TEXT => "text/plain; charset=utf-8",
        media_type => media_type,
    });
    if request.method() == Method::HEAD {
        return Ok(response.streaming(stream::empty::<Result<Bytes, Problem>>()));
    }
    let rest = stream::try_unfold(cursor, move |cursor| {
        let (app, history) = (app.clone(), Arc::clone(&history));
        async move { history.next_part(&app, client, cursor).await }
    });
    let first = stream::once(async { Ok(first.into()) });
    Ok(response.streaming(first.chain(rest)))
}

/// A history that is being sent: the game up to its version at the time of the request.
struct History {
    record: StoredGame,
    role: Role,
    media_type: &'static str,
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
        if cursor.version == self.record.game.version() {
            return Ok(None);
        }
        let begun = Instant::now();
        loop {
            match self.read_part(app, client, cursor).await {
                Ok((part, cursor)) => return Ok(Some((part.into(), cursor))),
                Err(problem) => {
                    problem.log();
                    let may_wait = begun.elapsed() < RETRY_TIMEOUT;
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
    ) -> Result<(String, HistoryCursor), Problem> {
        let id = &self.record.id;
        let page = app.store.log(id, cursor.version, LOG_PAGE).await?;
        let history = Arc::clone(self);
        let write = move || history.write_page(page, cursor);
        app.history_pool.run(client, LOG_PAGE_COST, write).await
    }

    /// Writes a page of the log, after the head and before the end if it is the first or the last.
    ///
    /// # Errors
    /// If the log is damaged or was removed; `wrong_phase` for the text record of an unfinished game.
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
        let now = self.record.game.version();
        let mut log = page.entries()?;
        log.retain(|entry| entry.version <= now);
        let last = log.last().ok_or_else(Problem::game_not_found)?.version;
        for entry in &log {
            if self.media_type == TEXT {
                if let Some(step) =
                    RecordStep::from_entry(self.format(), entry.action.as_ref(), &entry.events)
                {
                    steps.write(&mut part, &step).map_err(Problem::internal)?;
                }
                continue;
            }
            let game = &self.record.game;
            let view = LogEntryView::of(game, entry, self.role.viewer(game));
            match self.media_type {
                NDJSON => part += &(to_json(&view)? + "\n"),
                _ if entry.version == 1 => part += &to_json(&view)?,
                _ => part += &(",".to_owned() + &to_json(&view)?),
            }
        }
        if last == now && self.media_type == JSON {
            part += "]}";
        }
        let version = last;
        Ok((part, HistoryCursor { version, steps }))
    }

    fn format(&self) -> RecordFormat {
        RecordFormat::for_game(&self.record.game)
    }

    /// What comes before the log.
    ///
    /// # Errors
    /// As [`transcript`], if its text is asked for.
    fn write_head(&self) -> Result<String, Problem> {
        let record = &self.record;
        if self.media_type == TEXT {
            return Ok(transcript(record)?.to_string());
        }
        let mut head = to_json(&HistoryHead::of(record))?;
        if self.media_type == NDJSON {
            head.push('\n');
        } else {
            // The log is one more field of the same object.
            head.pop();
            head += ",\"entries\":[";
        }
        Ok(head)
    }
}

/// A game's text record, without its steps.
///
/// # Errors
/// `wrong_phase` until the game is over, because its cards are secret.
fn transcript(record: &StoredGame) -> Result<Transcript, Problem> {
    let about = RecordHeaders {
        game: Some(record.id.to_string()),
        created: Some(record.created_at.to_string()),
        ended: Some(record.updated_at.to_string()),
    };
    Transcript::without_steps(&record.game, about)
        .map_err(|error| Problem::new(Code::WrongPhase, format!("{error}: there is no record")))
}

/// Imports a finished game.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"record": "[Dog \"1\"]\n[Rules \"hausregeln\"]\n…", "listed": false}))]
pub struct ImportRequest {
    /// The game's text record.
    pub record: String,
    /// Whether the game is in the public list; true by default.
    pub listed: Option<bool>,
}

/// Imports a finished game from its text record, which is replayed and checked.
///
/// The game gets a new id, a token for its host, who may remove it, and the time of the import. It
/// is marked as imported.
#[utoipa::path(post, path = "/v1/games/import", operation_id = "import_game", tag = "games",
    request_body(content((ImportRequest = "application/json"), (String = "text/plain")),
        description = "The record as text, or in JSON."),
    responses((status = 201, description = "The game, and its host's token.", body = Created,
        headers(("Location" = String, description = "The game's \
            path."), ("ETag" = String, description = "The version as the host sees it.")))))]
pub async fn import_game(
    app: Data<App>,
    client: ClientAddress,
    RecordRequest(request): RecordRequest,
) -> Result<HttpResponse, Problem> {
    let creator = client.creator(&app.store);
    let imported = match request.content() {
        // Too long for an async worker.
        Ok(body) => {
            let imported = move || imported(&body);
            app.history_pool.run(client, SHORT_JOB_COST, imported).await
        }
        Err(problem) => Err(problem),
    };
    create(&app.store, &request, || {
        let secrets = request.secrets()?;
        let import = imported.as_ref().map_err(Clone::clone)?;
        // All entries of the log have the same time.
        let stored = StoredGame {
            imported: true,
            created_at: import.at,
            updated_at: import.at,
            ..game_of_host(import.game.clone(), import.listed, creator, &secrets)
        };
        created(NewGame::finished(stored, import.log.clone())?, secrets)
    })
    .await
}

/// Replays the record of a finished game.
///
/// # Errors
/// `invalid_record`, with the line and what is wrong with it.
pub fn replay_record(text: &str) -> Result<Replayed, Problem> {
    let invalid = |error: TextError| Problem::new(Code::InvalidRecord, &error).on_line(error.line);
    let mut record = ParsedRecord::read(text).map_err(invalid)?;
    // Nobody checked them: the record may be from anywhere.
    record.rename(repaired);
    if record.transcript.steps.len() >= MAX_VERSIONS {
        let detail = format!("a game of more than {MAX_VERSIONS} versions cannot be imported");
        return Err(Problem::new(Code::InvalidRecord, detail));
    }
    let replayed = record.replay().map_err(invalid)?;
    replayed
        .check_finished()
        .map_err(|error| Problem::new(Code::InvalidRecord, error))?;
    Ok(replayed)
}

/// A game that was imported, and its log.
struct Imported {
    game: Game,
    log: PackedLog,
    at: Timestamp,
    listed: bool,
}

/// The game of a record and its log. A record has no times, so all entries get the present one.
fn imported(body: &BodyContent) -> Result<Imported, Problem> {
    let import = match body.plain_text() {
        Some(text) => ImportRequest {
            record: text.to_owned(),
            listed: None,
        },
        None => body.parse()?,
    };
    let (replayed, at) = (replay_record(&import.record)?, now());
    let entry = |entry: dog_rules::record::ReplayedEntry| LogEntry {
        version: entry.version,
        at,
        action: entry.action,
        events: entry.events,
    };
    let log: Vec<LogEntry> = replayed.log.into_iter().map(entry).collect();
    Ok(Imported {
        game: replayed.game,
        log: PackedLog::new(&log)?,
        at,
        listed: import.listed.unwrap_or(true),
    })
}
