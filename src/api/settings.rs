//! The settings of a game.

use actix_web::{
    HttpResponse,
    web::{Data, Path},
};
use dog_rules::{Action, Phase, TableSettings};
use dog_store::StoredGame;
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use super::{
    errors::errors,
    parameters::{GamePath, WriteHeaders, in_range},
    view::ActionResponse,
};
use crate::{
    app::App,
    http::{problem::Problem, request::WriteRequest},
    write::write,
};

errors! {
    SettingsErrors: [WRITE], [Forbidden, GameOver, TooManyVersions, TooManyChanges];
}

/// The least turn clock that a host may set once cards were dealt, in seconds.
const MIN_TURN_SECONDS: u32 = 10;

/// Maximum pace in milliseconds.
pub const MAX_BOT_PACE_MS: u32 = 60_000;

/// Maximum seconds of the turn clock: a week.
pub const MAX_TURN_SECONDS: u32 = 7 * 24 * 60 * 60;

/// Changes settings of a game. A member that is left out keeps its value.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"turn_seconds": 60}), min_properties = 1)]
pub struct SettingsRequest {
    /// Seconds that a seat has to act, from the next turn on: 10 or more once cards were dealt. Null
    /// removes the clock.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 604_800)]
    turn_seconds: Option<Option<u32>>,
    /// Minimum milliseconds between a change and a bot's next action.
    #[schema(maximum = 60_000)]
    bot_pace_ms: Option<u32>,
    /// Whether the game is in the public list.
    listed: Option<bool>,
    /// Refuse with 412 unless the game is at this version.
    #[serde(rename = "version")]
    _version: Option<u64>,
}

/// A member that is there, if only as null.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Change the settings of a game.
///
/// Changes the turn clock, the pace of bots, or whether the game is listed: the host.
///
/// It is a public event. A clock counts from the next turn on.
#[utoipa::path(patch, path = "/v1/games/{id}", tag = "games",
    params(GamePath, WriteHeaders),
    request_body = SettingsRequest,
    responses((status = 200, description = "The settings are changed.", body = ActionResponse),
        SettingsErrors),
    security(("token" = [])))]
pub async fn change_settings(
    app: Data<App>,
    path: Path<GamePath>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    write(&app.store, &path.id, &request, |game| {
        let role = game.host("change settings")?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        game.check_state(role)?;
        game.stored.game.check_not_over()?;
        game.check_limit()?;
        game.check_admin_change()?;
        let settings = settings(game, game.body()?)?;
        game.act(role, &Action::ChangeSettings { settings })
    })
    .await
}

/// The settings after a change.
///
/// # Errors
/// `invalid_request`, if it changes nothing, or a value is out of range.
fn settings(stored: &StoredGame, change: SettingsRequest) -> Result<TableSettings, Problem> {
    let SettingsRequest {
        turn_seconds,
        bot_pace_ms,
        listed,
        ..
    } = change;
    if turn_seconds.is_none() && bot_pace_ms.is_none() && listed.is_none() {
        let detail = "one of turn_seconds, bot_pace_ms and listed must be there";
        return Err(Problem::wrong_combination(detail));
    }
    let seconds = in_range("turn_seconds", turn_seconds.flatten(), 1, MAX_TURN_SECONDS)?;
    let pace = in_range("bot_pace_ms", bot_pace_ms, 0, MAX_BOT_PACE_MS)?;
    let game = &stored.game;
    let dealt = game.round() > 1 || !matches!(game.phase(), Phase::Seating | Phase::Deal);
    if dealt && seconds.is_some_and(|seconds| seconds < MIN_TURN_SECONDS) {
        let detail = "/turn_seconds must be 10 or more once cards were dealt";
        return Err(Problem::wrong_value("turn_seconds", detail));
    }
    Ok(TableSettings {
        turn_seconds: turn_seconds.unwrap_or(stored.timing.turn_seconds),
        bot_pace_ms: pace.unwrap_or(stored.timing.bot_pace_ms),
        listed: listed.unwrap_or(stored.listed),
    })
}
