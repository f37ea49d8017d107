//! The settings of a game.

use actix_web::{HttpResponse, http::StatusCode};
use dog_rules::{Action, TableSettings};
use dog_store::{StoredGame, WriteOp};
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use crate::{
    access::Role,
    api::{
        errors::errors,
        parameters::{GameChange, GamePath, WriteHeaders, in_range},
    },
    http::answer::Answer,
    problem::{Code, Problem},
    view::game::ActionResponse,
    write::{Decision, GameWrite, write},
};

errors! {
    SettingsErrors: [READ, BODY, RETRY, CHANGE], [
        Forbidden, GameOver, WrongPhase, TooManyVersions, TooManyChanges
    ];
}

/// The shortest turn clock that a host may set once cards were dealt, in seconds.
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
    /// Seconds that a seat has to act, from the next turn on: 10 or more once cards were dealt.
    /// Null removes the clock.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 604_800)]
    turn_seconds: Option<Option<u32>>,
    /// Minimum milliseconds between a change and a bot's next action.
    #[schema(maximum = 60_000)]
    bot_pace_ms: Option<u32>,
    /// Whether the game is in the public list.
    listed: Option<bool>,
    /// Whether people may react. A table may switch it off, since partners can agree on what a
    /// reaction means: `hausregeln` forbids agreed signs (RULES §11).
    reactions: Option<bool>,
    /// True, alone, to have bots act without their pace until the next deal. False is the same as
    /// absent.
    skip_to_deal: Option<bool>,
    /// Refuse with 412 unless the game is at this version.
    #[serde(rename = "version")]
    _version: Option<u64>,
}

impl SettingsRequest {
    /// Whether it asks to skip to the next deal.
    fn skips(&self) -> bool {
        self.skip_to_deal == Some(true)
    }

    /// Whether it changes a setting.
    fn changes_settings(&self) -> bool {
        self.turn_seconds.is_some()
            || self.bot_pace_ms.is_some()
            || self.listed.is_some()
            || self.reactions.is_some()
    }
}

/// A member that is present, even if it is null.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Change the settings of a game.
///
/// Changes the turn clock, the pace of bots, whether the game is listed or whether people may
/// react: the host. Or skips to the next deal: the host, or a person who has folded.
///
/// A change of settings is a public event. A clock counts from the next turn on. Skipping is
/// possible while the server plays all seats that have cards; bots then act without their pace
/// until the next deal. It makes no event and no version.
#[utoipa::path(patch, path = "/v1/games/{id}", tag = "games",
    params(GamePath, WriteHeaders),
    request_body = SettingsRequest,
    responses((status = 200, description = "The settings are changed, or the game skips to the next \
        deal; then there are no events.", body = ActionResponse),
        SettingsErrors),
    security(("token" = [])))]
pub async fn change_settings((app, path, request): GameChange) -> Result<HttpResponse, Problem> {
    write(&app.store, &path.id, &request, |game| {
        let change = game.body::<SettingsRequest>();
        if change.as_ref().is_ok_and(SettingsRequest::skips) {
            return skip_to_deal(game, &change?);
        }
        let role = game.host("change settings")?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        game.check_state(role)?;
        game.stored.game.check_not_over()?;
        game.check_limit()?;
        game.check_admin_change()?;
        let settings = settings(game, change?)?;
        game.act(role, &Action::ChangeSettings { settings })
    })
    .await
}

/// Has bots act without their pace until the next deal.
fn skip_to_deal(game: &GameWrite<'_>, change: &SettingsRequest) -> Result<Decision, Problem> {
    let role = game.role()?;
    if let Some(answer) = game.first_answer()? {
        return Ok(answer);
    }
    if let Role::Seat(seat) = role {
        game.check_person_plays(seat)?;
    }
    game.check_state(role)?;
    game.stored.game.check_not_over()?;
    game.check_limit()?;
    let has_folded = match role {
        Role::Seat(seat) => game.stored.game.folded(seat),
        Role::Host | Role::Spectator => true,
    };
    if !has_folded || !game.stored.game.is_left_to_server() {
        let detail = "the host or a person who has folded can skip to the next deal, while the \
                      server plays all seats that have cards";
        return Err(Problem::new(Code::WrongPhase, detail).in_phase(game.stored.game.phase()));
    }
    if change.changes_settings() {
        let detail = "skip_to_deal cannot be sent with a setting";
        return Err(Problem::wrong_combination(detail));
    }
    let body = ActionResponse::new(game.stored, &[], role);
    let answer = Answer::new(StatusCode::OK, &body)?.with_etag(game.stored, role);
    Ok(match (game.skips_to_deal, &game.request.retry) {
        (false, _) => Decision::Change(WriteOp::skip_to_deal(game.stored), answer),
        (true, Some(_)) => Decision::Change(WriteOp::SaveResponse, answer),
        (true, None) => Decision::Answer(answer),
    })
}

/// The settings after a change.
///
/// # Errors
/// `invalid_request`, if it changes nothing, or a value is out of range.
fn settings(stored: &StoredGame, change: SettingsRequest) -> Result<TableSettings, Problem> {
    if !change.changes_settings() {
        let detail = "one of turn_seconds, bot_pace_ms, listed, reactions and skip_to_deal must be \
                      there";
        return Err(Problem::wrong_combination(detail));
    }
    let SettingsRequest {
        turn_seconds,
        bot_pace_ms,
        listed,
        reactions,
        ..
    } = change;
    let seconds = in_range("turn_seconds", turn_seconds.flatten(), 1, MAX_TURN_SECONDS)?;
    let pace = in_range("bot_pace_ms", bot_pace_ms, 0, MAX_BOT_PACE_MS)?;
    if stored.game.is_dealt() && seconds.is_some_and(|seconds| seconds < MIN_TURN_SECONDS) {
        let detail = "/turn_seconds must be 10 or more once cards were dealt";
        return Err(Problem::wrong_value("turn_seconds", detail));
    }
    Ok(TableSettings {
        turn_seconds: turn_seconds.unwrap_or(stored.timing.turn_seconds),
        bot_pace_ms: pace.unwrap_or(stored.timing.bot_pace_ms),
        listed: listed.unwrap_or(stored.listed),
        reactions: reactions.unwrap_or(stored.reactions),
    })
}
