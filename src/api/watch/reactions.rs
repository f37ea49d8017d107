//! Reactions: one word of a list, which a person says to the table.

use actix_web::{HttpResponse, http::StatusCode};
use dog_rules::{Phase, Seat};
use dog_store::{MAX_REACTIONS, REACTION_WINDOW, Reaction, StoredGame, now};
use jiff::SignedDuration;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    access::{AccessError, check_person_plays},
    api::{
        errors::errors,
        parameters::{GamePath, GameRequest, load_game},
    },
    http::{
        content::private_response,
        request::{Body, NoQuery},
    },
    live::MAX_TIME_AFTER_END,
    problem::{Code, Problem},
    quota::RateLimit,
};

errors! {
    ReactionErrors: [READ, BODY], [Forbidden, GameOver, WrongPhase, DatabaseFull];
}

/// Sends a reaction.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reaction": "well_played"}))]
pub struct ReactionRequest {
    reaction: Reaction,
}

/// Send a reaction.
///
/// Says one word to the table: the streams of the game send it.
///
/// They send it for ten seconds at most. It is in no log, history or record. There is no
/// `Idempotency-Key`. A person may react five times in twenty seconds; not in the phases `deal` and
/// `exchange`, because it would be a signal; and for an hour after the end of the game, in streams
/// with `after_end=true`.
#[utoipa::path(post, path = "/v1/games/{id}/reactions", tag = "play",
    params(GamePath),
    request_body = ReactionRequest,
    responses((status = 204, description = "The streams send it."), ReactionErrors),
    security(("token" = [])))]
pub async fn send_reaction(
    read: GameRequest,
    body: Body<ReactionRequest>,
) -> Result<HttpResponse, Problem> {
    let stored = load_game(&read.app.store, &read.path.id).await?;
    let seat = read.caller.seat(&stored)?;
    check_may_react(&stored, seat)?;
    let NoQuery {} = read.query()?;
    let ReactionRequest { reaction } = body.content?;
    match read.app.store.react(&stored.id, seat, reaction).await? {
        None => Ok(private_response(StatusCode::NO_CONTENT).finish()),
        Some(wait) => {
            let limit = RateLimit {
                name: "reactions",
                quota: MAX_REACTIONS.unsigned_abs(),
                unit: None,
                window: REACTION_WINDOW.unsigned_abs(),
                remaining: 0,
                wait,
            };
            let detail = "a person may react five times in twenty seconds";
            Err(Problem::too_many(detail, limit))
        }
    }
}

/// Checks that the person at the seat may react now.
///
/// # Errors
/// `forbidden`, `game_over`, `wrong_phase`.
fn check_may_react(stored: &StoredGame, seat: Seat) -> Result<(), Problem> {
    if !stored.reactions {
        return Err(AccessError::ReactionsOff.into());
    }
    check_person_plays(&stored.game, seat)?;
    match stored.game.phase() {
        phase @ (Phase::Deal | Phase::Exchange) => {
            let detail =
                "a reaction between the end of a round and the first play would be a signal";
            Err(Problem::new(Code::WrongPhase, detail).in_phase(phase))
        }
        Phase::Finished => {
            let over = now().duration_since(stored.updated_at);
            if over > SignedDuration::try_from(MAX_TIME_AFTER_END).map_err(Problem::internal)? {
                let detail = "the game has been over for more than an hour";
                return Err(Problem::new(Code::GameOver, detail));
            }
            Ok(())
        }
        Phase::Seating | Phase::Play => Ok(()),
    }
}
