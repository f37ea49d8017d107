//! What happened in a game, from its beginning; and finished games from elsewhere.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header,
    web::{Data, Path},
};

use super::{find, games::created};
use crate::{
    api::{
        App,
        accept::preferred,
        answer::{Answer, TokenMaker, random},
        limits::Client,
        pool::QUICK,
        problem::{Code, Problem},
        request::{Caller, RecordRequest},
        wire::{
            game::{Created, Role},
            history::{HistoryHead, HistoryView},
            log::LogEntryView,
            query::{NoQuery, query},
            request::ImportRequest,
        },
    },
    rules::{
        record::{About, Replayed, Transcript, Written},
        seat::BySeat,
    },
    store::{Creator, GameId, LogEntry, PackedLog, Record, Tempo, TokenHash, Tokens, now},
};

/// The forms of a history, the one that is answered unless another is asked for first.
const FORMS: [&str; 3] = ["application/json", "application/x-ndjson", "text/plain"];

/// Versions that an imported game may have: many times those of a long game.
const MOST_VERSIONS: usize = 10_000;

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
    client: Client,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let store = app.store.clone();
    let form = preferred(request.headers(), &FORMS);
    let parameters = request.query_string().to_owned();
    let history = app.tables.run(client, QUICK, move || {
        let (record, log) = store.read(|reader| {
            let record = find(reader, &id)?;
            let log = reader.log(&record.id, 0, u32::MAX)?;
            Ok::<_, Problem>((record, log))
        })?;
        let role = caller.role(&record)?;
        let NoQuery {} = query(&parameters)?;
        let form = form?;
        let text = match form {
            "text/plain" => text(&record, &log)?,
            "application/x-ndjson" => lines(&record, &log, role)?,
            _ => json(&HistoryView::new(&record, log, role))?,
        };
        Ok((form, text))
    });
    let (form, text) = history.await?;
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::VARY, "Authorization, Accept, Accept-Encoding"))
        .insert_header((header::CACHE_CONTROL, "private, no-cache"));
    let charset = if form == "text/plain" {
        "; charset=utf-8"
    } else {
        ""
    };
    Ok(response.content_type(format!("{form}{charset}")).body(text))
}

fn json(value: &impl serde::Serialize) -> Result<String, Problem> {
    serde_json::to_string(value).map_err(Problem::internal)
}

/// A line for the game, and one for each version.
fn lines(record: &Record, log: &[LogEntry], role: Role) -> Result<String, Problem> {
    let mut lines = json(&HistoryHead::of(record))? + "\n";
    for entry in log {
        lines += &json(&LogEntryView::of(&record.game, entry, role.viewer()))?;
        lines += "\n";
    }
    Ok(lines)
}

/// The game's text record.
///
/// # Errors
/// `wrong_phase`, as long as the game is on: its cards are secrets.
fn text(record: &Record, log: &[LogEntry]) -> Result<String, Problem> {
    let about = About {
        game: Some(record.id.to_string()),
        created: Some(record.created_at.to_string()),
        ended: Some(record.updated_at.to_string()),
    };
    let steps = log
        .iter()
        .map(|entry| (entry.action.as_ref(), &entry.events[..]));
    let transcript = Transcript::of(&record.game, about, steps);
    let unfinished = |error| Problem::new(Code::WrongPhase, format!("{error}: there is no record"));
    Ok(transcript.map_err(unfinished)?.to_string())
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
    client: Client,
    RecordRequest(request): RecordRequest,
) -> Result<HttpResponse, Problem> {
    request.check_query()?;
    let import: ImportRequest = request.content()?;
    let listed = import.listed.unwrap_or(true);
    let creator = client.creator(&app.store);
    let salt = random();
    let tokens = TokenMaker::new(request.key(), &salt)?;
    let host = TokenHash::of(&tokens.host());
    // Longer than anybody should hold up the writer.
    let (record, log) = app
        .tables
        .run(client, QUICK, move || {
            imported(&import.record, listed, creator, host)
        })
        .await?;
    let answer = app
        .store
        .write(move |transaction| -> Result<Answer, Problem> {
            if let Some(answer) = request.replay(transaction)? {
                return Ok(answer);
            }
            transaction.insert_packed(&record, &log)?;
            created(transaction, &request, record, &tokens, salt)
        });
    Ok(answer.await?.into())
}

/// The game that a record tells of, if it is over.
///
/// # Errors
/// `invalid_record`, naming the line and what is wrong with it.
fn replay(text: &str) -> Result<Replayed, Problem> {
    let wrong = |error: &dyn std::fmt::Display| Problem::new(Code::InvalidRecord, error);
    let written = Written::read(text).map_err(|error| wrong(&error))?;
    if written.transcript.steps.len() >= MOST_VERSIONS {
        let detail = format!("a game of more than {MOST_VERSIONS} versions is not taken in");
        return Err(Problem::new(Code::InvalidRecord, detail));
    }
    let replayed = written.replay().map_err(|error| wrong(&error))?;
    replayed.check_finished().map_err(|error| wrong(&error))?;
    Ok(replayed)
}

/// The game that a record tells of, and its log. When each version came to be is not told by a
/// record.
///
/// # Errors
/// As [`replay`].
fn imported(
    text: &str,
    listed: bool,
    creator: Option<Creator>,
    host: TokenHash,
) -> Result<(Record, PackedLog), Problem> {
    let replayed = replay(text)?;
    let now = now();
    let entry = |entry: crate::rules::record::Entry| LogEntry {
        version: entry.version,
        at: now,
        action: entry.action,
        events: entry.events,
    };
    let log: Vec<LogEntry> = replayed.log.into_iter().map(entry).collect();
    let record = Record {
        id: GameId::random(),
        listed,
        imported: true,
        creator,
        created_at: now,
        updated_at: now,
        tokens: Tokens {
            host,
            seats: BySeat::default(),
        },
        tempo: Tempo::default(),
        deadline: None,
        game: replayed.game.into(),
    };
    Ok((record, PackedLog::new(&log)?))
}
