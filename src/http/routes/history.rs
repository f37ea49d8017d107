//! What happened in a game, from its beginning; and finished games from elsewhere.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::{
    HttpRequest, HttpResponse,
    http::{Method, StatusCode},
    web::{Bytes, Data, Path},
};
use dog_rules::record::{
    ParsedRecord, RecordHeaders, RecordStep, Replayed, StepWriter, Transcript,
};
use futures_util::stream::{self, StreamExt};

use super::{App, execute, load_game};
use crate::{
    http::{
        answer::json,
        headers::{preferred, private_response},
        limits::ClientAddress,
        pool::{LOG_PAGE, LOG_PAGE_COST, SHORT_JOB_COST, wait_before_retry},
        problem::{Code, Problem},
        request::WriteRequest,
        wire::{
            game::Created,
            history::{HistoryHead, HistoryView, LogEntryView},
            request::{ImportRequest, NoQuery, query},
        },
    },
    service::{Caller, Command, Creation, Role},
    store::{LogEntry, LogPage, PackedLog, StoredGame, now},
};

/// The forms of a history, the one that is answered unless another is asked for first.
const MEDIA_TYPES: [&str; 3] = [JSON, NDJSON, TEXT];

const JSON: &str = "application/json";
const NDJSON: &str = "application/x-ndjson";
const TEXT: &str = "text/plain";

/// Versions that an imported game may have: many times those of a long game.
const MAX_VERSIONS: usize = 10_000;

/// For how long a response that has begun tries again what cannot be done just now.
const LONGEST_OUTAGE: Duration = Duration::from_secs(30);

/// What happened in the game from its beginning, as the caller may see it.
///
/// Of a finished game everybody sees all hands, exchanged cards and the shuffle seed, so that
/// anyone can check it (`dog verify`), and there is the game's record as a text, too.
#[utoipa::path(get, path = "/v1/games/{id}/history", operation_id = "get_history", tag = "games",
    params(("id" = String, Path, description = "The game's id.")),
    responses((status = 200, description = "The history; by `Accept` also a line for the game and one for each version, or the text record of a finished game.",
        content((HistoryView = "application/json"), (LogEntryView = "application/x-ndjson"), (String = "text/plain")))),
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
    let form = preferred(request.headers(), &MEDIA_TYPES);
    if let Ok(TEXT) = form {
        transcript(&record)?;
    }
    let NoQuery {} = query(request.query_string())?;
    let form = form?;
    let history = Arc::new(History { record, role, form });
    let (first, progress) = history.part(&app, client, Progress::default()).await?;
    let mut response = private_response(StatusCode::OK);
    response.content_type(match history.form {
        TEXT => "text/plain; charset=utf-8",
        form => form,
    });
    if request.method() == Method::HEAD {
        return Ok(response.streaming(stream::empty::<Result<Bytes, Problem>>()));
    }
    let rest = stream::try_unfold(progress, move |progress| {
        let (app, history) = (app.clone(), Arc::clone(&history));
        async move { history.rest(&app, client, progress).await }
    });
    let first = stream::once(async { Ok(first.into()) });
    Ok(response.streaming(first.chain(rest)))
}

/// A history that is being sent: the game up to the version it had when it was asked for.
struct History {
    record: StoredGame,
    role: Role,
    form: &'static str,
}

/// How far a history has been written.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// The last version that was written.
    version: u64,
    steps: StepWriter,
}

impl History {
    /// The next part, read when the one before it was handed over; none at the end.
    async fn rest(
        self: Arc<History>,
        app: &App,
        client: ClientAddress,
        progress: Progress,
    ) -> Result<Option<(Bytes, Progress)>, Problem> {
        if progress.version == self.record.game.version() {
            return Ok(None);
        }
        let begun = Instant::now();
        loop {
            match self.part(app, client, progress).await {
                Ok((part, progress)) => return Ok(Some((part.into(), progress))),
                Err(problem) => {
                    problem.log();
                    let may_wait = begun.elapsed() < LONGEST_OUTAGE;
                    if problem.code() != Code::Unavailable || !may_wait {
                        return Err(problem);
                    }
                    wait_before_retry().await;
                }
            }
        }
    }

    /// A part of the history, written at the cost of this client.
    ///
    /// # Errors
    /// As [`History::write`], or the log cannot be read.
    async fn part(
        self: &Arc<History>,
        app: &App,
        client: ClientAddress,
        progress: Progress,
    ) -> Result<(String, Progress), Problem> {
        let id = &self.record.id;
        let page = app.store.log(id, progress.version, LOG_PAGE).await?;
        let history = Arc::clone(self);
        let write = move || history.write(page, progress);
        app.history_pool.run(client, LOG_PAGE_COST, write).await
    }

    /// Writes a page of the log, after the head and before the end if it is the first or the last.
    ///
    /// # Errors
    /// The log makes no sense, or is gone; `wrong_phase` if the form is not to be had yet.
    fn write(&self, page: LogPage, progress: Progress) -> Result<(String, Progress), Problem> {
        let Progress { version, mut steps } = progress;
        let mut part = if version == 0 {
            self.head()?
        } else {
            String::new()
        };
        let now = self.record.game.version();
        let mut log = page.entries()?;
        log.retain(|entry| entry.version <= now);
        let last = log.last().ok_or_else(Problem::game_not_found)?.version;
        for entry in &log {
            if self.form == TEXT {
                if let Some(step) = RecordStep::of(entry.action.as_ref(), &entry.events) {
                    steps.write(&mut part, &step).map_err(Problem::internal)?;
                }
                continue;
            }
            let view = LogEntryView::of(&self.record.game, entry, self.role.viewer());
            match self.form {
                NDJSON => part += &(json(&view)? + "\n"),
                _ if entry.version == 1 => part += &json(&view)?,
                _ => part += &(",".to_owned() + &json(&view)?),
            }
        }
        if last == now && self.form == JSON {
            part += "]}";
        }
        let version = last;
        Ok((part, Progress { version, steps }))
    }

    /// What comes before the log.
    ///
    /// # Errors
    /// As [`transcript`], if its text is asked for.
    fn head(&self) -> Result<String, Problem> {
        let record = &self.record;
        if self.form == TEXT {
            return Ok(transcript(record)?.to_string());
        }
        let mut head = json(&HistoryHead::of(record))?;
        if self.form == NDJSON {
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
/// `wrong_phase` as long as the game is on: its cards are secrets.
fn transcript(record: &StoredGame) -> Result<Transcript, Problem> {
    let about = RecordHeaders {
        game: Some(record.id.to_string()),
        created: Some(record.created_at.to_string()),
        ended: Some(record.updated_at.to_string()),
    };
    Transcript::without_steps(&record.game, about)
        .map_err(|error| Problem::new(Code::WrongPhase, format!("{error}: there is no record")))
}

/// Takes in a finished game by its text record, which is played again and checked.
///
/// The game gets an id of its own, a host who may remove it, and the time of its import; it says
/// that this server has not seen it played.
#[utoipa::path(post, path = "/v1/games/import", operation_id = "import_game", tag = "games",
    request_body(content((ImportRequest = "application/json"), (String = "text/plain")),
        description = "The record as text, or in JSON."),
    responses((status = 201, description = "The game, and its host's token.", body = Created,
        headers(("Location" = String, description = "The game's path."), ("ETag" = String, description = "The version as the host sees it.")))))]
pub async fn import_game(
    app: Data<App>,
    client: ClientAddress,
    body: WriteRequest<ImportRequest>,
) -> Result<HttpResponse, Problem> {
    let creator = client.creator(&app.store);
    let creation = match body.content {
        // Longer than an async worker should be busy.
        Ok(import) => {
            let imported = move || imported(&import);
            app.history_pool.run(client, SHORT_JOB_COST, imported).await
        }
        Err(problem) => Err(problem),
    };
    execute(&app, &body.context, Command::Create { creator, creation }).await
}

/// The game that a record tells of, if it is over.
///
/// # Errors
/// `invalid_record`, naming the line and what is wrong with it.
pub fn replay(text: &str) -> Result<Replayed, Problem> {
    let wrong = |error: &dyn std::fmt::Display| Problem::new(Code::InvalidRecord, error);
    let written = ParsedRecord::read(text).map_err(|error| wrong(&error))?;
    if written.transcript.steps.len() >= MAX_VERSIONS {
        let detail = format!("a game of more than {MAX_VERSIONS} versions is not taken in");
        return Err(Problem::new(Code::InvalidRecord, detail));
    }
    let replayed = written.replay().map_err(|error| wrong(&error))?;
    replayed.check_finished().map_err(|error| wrong(&error))?;
    Ok(replayed)
}

/// The game that a record tells of, and its log. When each version came to be is not told by a
/// record.
fn imported(import: &ImportRequest) -> Result<Creation, Problem> {
    let (replayed, at) = (replay(&import.record)?, now());
    let entry = |entry: dog_rules::record::ReplayedEntry| LogEntry {
        version: entry.version,
        at,
        action: entry.action,
        events: entry.events,
    };
    let log: Vec<LogEntry> = replayed.log.into_iter().map(entry).collect();
    Ok(Creation::Imported {
        game: replayed.game.into(),
        log: PackedLog::new(&log)?,
        at,
        listed: import.listed.unwrap_or(true),
    })
}
