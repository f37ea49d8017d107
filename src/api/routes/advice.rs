//! Advice to a seat, from what that seat may see.

use std::time::Instant;

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path},
};
use dog_bot::Suggestion;
use dog_rules::{game::Phase, view::SeatView};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::find;
use crate::api::{
    App,
    pool::QUICK,
    problem::Problem,
    request::Caller,
    wire::{
        advice::{Advice, Target, playouts},
        query::{AdviceParams, Thinking, query},
    },
};

/// Ranked advice for the calling seat: a move to play, or in the exchange a card to give.
///
/// Each entry comes with the request that does it, ready to be sent.
#[utoipa::path(get, path = "/v1/games/{id}/suggest-move", operation_id = "suggest_move", tag = "play",
    params(("id" = String, Path, description = "The game's id."), AdviceParams),
    responses((status = 200, description = "The advice, best first.", body = Advice)),
    security(("token" = [])))]
pub async fn suggest_move(
    app: Data<App>,
    id: Path<String>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let here = app.clone();
    let text = request.query_string().to_owned();
    let cost = query(&text).map_or(QUICK, |params: AdviceParams| params.cost());
    app.advisers
        .answer(&request, cost, move || {
            let record = here.store.read(|reader| find(reader, &id))?;
            let seat = caller.seat(&record)?;
            match record.game.phase() {
                Phase::Exchange => record.game.check_exchange(seat)?,
                _ => record.game.check_play(seat)?,
            }
            let params: AdviceParams = query(&text)?;
            let target = Target {
                game: format!("/v1/games/{}", record.id),
                version: Some(record.game.version()),
            };
            advise(&here, &record.game.seen_from(seat), &params, &target)
        })
        .await
}

/// Asks the adviser, who gets to see this view and nothing else.
///
/// # Errors
/// `invalid_request`, if the parameters make no sense.
pub fn advise(
    app: &App,
    view: &SeatView,
    params: &AdviceParams,
    target: &Target,
) -> Result<Advice, Problem> {
    let thinking = params.thinking()?;
    let begun = Instant::now();
    let suggestions = suggestions(app, view, &thinking);
    let elapsed_ms = begun.elapsed().as_secs_f64() * 1_000.0;
    Advice::new(target, view, &thinking, suggestions, elapsed_ms)
}

/// What the adviser thinks of everything that the seat may do, best first.
pub fn suggestions(app: &App, view: &SeatView, thinking: &Thinking) -> Vec<Suggestion> {
    let mut rng = ChaCha8Rng::seed_from_u64(thinking.seed);
    let (level, begun) = (thinking.level, Instant::now());
    let suggestions = dog_bot::advise(&app.nets, level, thinking.budget, view, &mut rng);
    let counts = &app.metrics;
    counts.advised(level, playouts(&suggestions), begun.elapsed());
    suggestions
}
