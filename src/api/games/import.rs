//! The import of finished games.

use actix_web::{HttpResponse, web::Data};
use dog_rules::{
    Game,
    name::repaired,
    record::{ParsedRecord, Replayed, TextError},
};
use dog_store::{LogEntry, NewGame, PackedLog, StoredGame, now};
use jiff::Timestamp;
use serde::Deserialize;
use utoipa::ToSchema;

use super::create::{Created, created, game_of_host};
use crate::{
    api::{errors::errors, parameters::RetryHeaders},
    app::App,
    http::request::{BodyContent, LongWrite},
    limits::{ClientAddress, MAX_RECORD},
    pool::SHORT_JOB_COST,
    problem::{Code, Problem},
    reviews::MAX_VERSIONS,
    write::create,
};

errors! {
    ImportErrors: [BODY, RETRY, SECRET, KEY, GATE], [InvalidRecord];
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

/// Import a finished game.
///
/// Imports a finished game from its text record, which is replayed and checked.
///
/// The game gets a new id, a token for its host, who may remove it, and the time of the import. It
/// is marked as imported.
#[utoipa::path(post, path = "/v1/games/import", tag = "games",
    params(RetryHeaders),
    request_body(content((ImportRequest = "application/json"), (String = "text/plain")),
        description = "The record as text, or in JSON."),
    responses((status = 201, description = "The game, and its host's token.", body = Created,
        headers(("Location" = String, description = "The game's \
            path."), ("ETag" = String, description = "The version as the host sees it.")),
        links(
            ("get_game" = (operation_id = "get_game", parameters(("id" = "$response.body#/id")))),
            ("get_history" = (operation_id = "get_history",
                parameters(("id" = "$response.body#/id")))))),
        ImportErrors))]
pub async fn import_game(
    app: Data<App>,
    client: ClientAddress,
    LongWrite(request): LongWrite<MAX_RECORD, true>,
) -> Result<HttpResponse, Problem> {
    let creator = client.creator(&app.store);
    let imported = match request.content() {
        // Too long for an async worker.
        Ok(body) => {
            app.history_pool
                .run(client, SHORT_JOB_COST, move || imported(&body))
                .await
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
    let mut record = ParsedRecord::read(text).map_err(invalid_record)?;
    // Nobody checked them: the record may be from anywhere.
    record.rename(repaired);
    if record.transcript.steps.len() as u64 >= MAX_VERSIONS {
        let detail = format!("a game of more than {MAX_VERSIONS} versions cannot be imported");
        return Err(Problem::new(Code::InvalidRecord, detail));
    }
    let replayed = record.replay().map_err(invalid_record)?;
    replayed
        .check_finished()
        .map_err(|error| Problem::new(Code::InvalidRecord, error))?;
    Ok(replayed)
}

fn invalid_record(error: TextError) -> Problem {
    let mut problem = Problem::new(Code::InvalidRecord, &error);
    problem.details.line = Some(error.line);
    problem
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
