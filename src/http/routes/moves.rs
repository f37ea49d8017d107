//! Legal moves and advice, in a game or for a position that a client sends. A position can also be
//! drawn; it is not stored.

use std::time::{Duration, Instant};

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Path},
};
use dog_bot::{Choice, Suggestion, player_model::PlayerModels, search::Budget};
use dog_rules::{Phase, SeatView};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{App, SVG, load_game, picture};
use crate::{
    access::Caller,
    http::{
        headers::{preferred, private_response},
        json::from_query,
        limits::ClientAddress,
        pool::SHORT_JOB_COST,
        problem::Problem,
        request::Body,
        wire::{
            advice::{Advice, AdviceParams, AdviceSettings, SuggestionRoute, playouts},
            analysis::{
                AdviceAnalysis, AdvicePosition, AnalysisPosition, MovesAnalysis, SevenAnalysis,
            },
            moves::{LegalMoves, outcome},
            picture::{AdvicePictureParams, AnalysisParams, Preview, of_position},
            request::{MovesParams, NoQuery, SevenParams},
            seven::SevenView,
        },
    },
};

/// The expected cost of a playout. A search ends after [`MAX_SEARCH_TIME`] in any case.
const SAMPLE_COST: Duration = Duration::from_micros(50);

/// The longest time of a search for advice.
const MAX_SEARCH_TIME: Duration = Duration::from_secs(5);

/// The media types of an analysis.
const MEDIA_TYPES: [&str; 2] = ["application/json", SVG];

/// Every legal move of the seat to move, or those of one card, ready to be posted back.
///
/// The list of all moves is never empty: a seat that can play no card has one move, a fold.
/// `unplayable` tells why a card has no move.
#[utoipa::path(get, path = "/v1/games/{id}/legal-moves", operation_id = "list_legal_moves", tag = "play",
    params(("id" = String, Path, description = "The game's id."), MovesParams),
    responses((status = 200, description = "The moves, in a stable order.", body = LegalMoves)),
    security(("token" = [])))]
pub async fn list_legal_moves(
    app: Data<App>,
    id: Path<String>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let record = load_game(&app.store, &id).await?;
    let seat = caller.holder(&record)?;
    record.game.check_play(seat)?;
    let options = from_query::<MovesParams>(request.query_string())?.options()?;
    let list = move || {
        let game = &record.game;
        let (version, rules, board) = (Some(game.version()), game.rules(), game.board());
        LegalMoves::new(version, rules, board, seat, game.hand(seat), options)
    };
    app.move_pool.answer(&request, SHORT_JOB_COST, list).await
}

/// The parts that may come next in a begun seven of the seat to move.
///
/// A seven is chosen part by part: begin with `7:` or `joker=7:`, then send the `id` of the chosen
/// part as the next `begun`. A complete `id` is a legal move. Following `next` in every way leads to
/// exactly the boards of the list of legal moves.
#[utoipa::path(get, path = "/v1/games/{id}/legal-moves/seven", operation_id = "list_seven_parts", tag = "play",
    params(("id" = String, Path, description = "The game's id."), SevenParams),
    responses((status = 200, description = "The next parts, in a stable order.", body = SevenView)),
    security(("token" = [])))]
pub async fn list_seven_parts(
    app: Data<App>,
    id: Path<String>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let record = load_game(&app.store, &id).await?;
    let seat = caller.holder(&record)?;
    record.game.check_play(seat)?;
    let SevenParams { begun } = from_query(request.query_string())?;
    let list = move || {
        let game = &record.game;
        SevenView::new(game.rules(), game.board(), seat, game.hand(seat), &begun)
    };
    app.move_pool.answer(&request, SHORT_JOB_COST, list).await
}

/// Ranked advice for the calling seat: a move to play, or in the exchange a card to offer.
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
    let record = load_game(&app.store, &id).await?;
    let seat = caller.holder(&record)?;
    match record.game.phase() {
        Phase::Exchange => record.game.check_exchange(seat)?,
        _ => record.game.check_play(seat)?,
    }
    let settings = from_query::<AdviceParams>(request.query_string())?.settings()?;
    let target = SuggestionRoute {
        game: format!("/v1/games/{}", record.id),
        version: Some(record.game.version()),
    };
    let log = match Budget::for_level(settings.level) {
        Some(_) => Some(app.models.read(&record).await?),
        None => None,
    };
    let here = app.clone();
    let advise = move || {
        let models = log.map(|log| here.models.models(&record, log));
        let models = models.transpose()?.unwrap_or_default();
        let view = record.game.seen_from(seat);
        advise(&here, (&view, &models), &settings, &target)
    };
    app.advice_pool
        .answer(&request, expected_cost(&settings), advise)
        .await
}

/// Every legal move in a position with a hand; or as a picture the position, or one of the moves.
///
/// `unplayable` tells why a card of the hand has no move. Nothing is stored. If `Accept` prefers
/// `image/svg+xml`, the response is the picture.
#[utoipa::path(post, path = "/v1/analysis/legal-moves", operation_id = "analyse_legal_moves", tag = "analysis",
    params(AnalysisParams),
    request_body = MovesAnalysis,
    responses((status = 200, description = "The moves, in a stable order; or a picture, if Accept \
        prefers image/svg+xml.",
        content((LegalMoves = "application/json"), (String = "image/svg+xml")))))]
pub async fn analyse_legal_moves(
    app: Data<App>,
    request: HttpRequest,
    body: Body<MovesAnalysis>,
) -> Result<HttpResponse, Problem> {
    let media_type = preferred(request.headers(), &MEDIA_TYPES)?;
    let params: AnalysisParams = from_query(request.query_string())?;
    let position = body.content.and_then(AnalysisPosition::read)?;
    if media_type == SVG {
        let preview = params.preview()?;
        let draw = move || {
            let options = params.options(position.rules())?;
            position.picture(preview.as_deref(), options)
        };
        return picture_in_pool(&app, &request, SHORT_JOB_COST, draw).await;
    }
    let options = params.moves_options()?;
    let list = move || position.legal_moves(options);
    app.advice_pool.answer(&request, SHORT_JOB_COST, list).await
}

/// The parts that may come next in a begun seven, in a position with a hand.
///
/// Nothing is stored. The parts are those of `GET /v1/games/{id}/legal-moves/seven`.
#[utoipa::path(post, path = "/v1/analysis/legal-moves/seven", operation_id = "analyse_seven_parts", tag = "analysis",
    request_body = SevenAnalysis,
    responses((status = 200, description = "The next parts, in a stable order.", body = SevenView)))]
pub async fn analyse_seven_parts(
    app: Data<App>,
    request: HttpRequest,
    body: Body<SevenAnalysis>,
) -> Result<HttpResponse, Problem> {
    let NoQuery {} = from_query(request.query_string())?;
    let (position, begun) = body.content.and_then(AnalysisPosition::read_seven)?;
    let list = move || position.next_parts(&begun);
    app.advice_pool.answer(&request, SHORT_JOB_COST, list).await
}

/// Ranked advice in a position with a hand and what the seat knows; or a picture of the best move.
///
/// Nothing is stored. If `Accept` prefers `image/svg+xml`, the response is the picture.
#[utoipa::path(post, path = "/v1/analysis/suggest-move", operation_id = "analyse_suggest_move", tag = "analysis",
    params(AdvicePictureParams),
    request_body = AdviceAnalysis,
    responses((status = 200, description = "The advice, best first; or a picture, if Accept \
        prefers image/svg+xml.",
        content((Advice = "application/json"), (String = "image/svg+xml")))))]
pub async fn analyse_suggest_move(
    app: Data<App>,
    request: HttpRequest,
    body: Body<AdviceAnalysis>,
) -> Result<HttpResponse, Problem> {
    let media_type = preferred(request.headers(), &MEDIA_TYPES)?;
    let params: AdvicePictureParams = from_query(request.query_string())?;
    let analysis = body.content?;
    let settings = analysis.settings();
    let position = AdvicePosition::read(analysis)?;
    position.view()?;
    let settings = settings?;
    let (here, cost) = (app.clone(), expected_cost(&settings));
    if media_type == SVG {
        let draw = move || {
            let view = position.view()?;
            let (rules, board, seat) = (view.rules, &view.board, view.seat);
            let options = params.options(rules)?;
            let known = (&view, &PlayerModels::default());
            let suggestions = suggestions(&here, known, &settings);
            let Some(Choice::Play(mv)) = suggestions.first().map(|best| best.choice) else {
                return Err(Problem::internal("advice without a move"));
            };
            let outcome = outcome(rules, board, seat, &mv)?;
            let preview = Preview { seat, mv, outcome };
            Ok(of_position(rules, board, seat, Some(&preview), options))
        };
        return picture_in_pool(&app, &request, cost, draw).await;
    }
    params.none()?;
    let target = SuggestionRoute {
        game: "/v1/games/{id}".to_owned(),
        version: None,
    };
    let advise = move || {
        let known = (&position.view()?, &PlayerModels::default());
        advise(&here, known, &settings, &target)
    };
    app.advice_pool.answer(&request, cost, advise).await
}

/// Draws a picture in the pool for advice, and makes the response.
async fn picture_in_pool(
    app: &App,
    request: &HttpRequest,
    cost: Duration,
    draw: impl FnOnce() -> Result<String, Problem> + Send + 'static,
) -> Result<HttpResponse, Problem> {
    let svg = app
        .advice_pool
        .run(ClientAddress::of(request), cost, draw)
        .await?;
    Ok(picture(private_response(StatusCode::OK)).body(svg))
}

/// Searches for advice from what a seat knows: this view of the game, how the seats have played, and
/// nothing else.
fn advise(
    app: &App,
    (view, models): (&SeatView, &PlayerModels),
    settings: &AdviceSettings,
    target: &SuggestionRoute,
) -> Result<Advice, Problem> {
    let begun = Instant::now();
    let suggestions = suggestions(app, (view, models), settings);
    let elapsed_ms = begun.elapsed().as_secs_f64() * 1_000.0;
    Advice::new(target, view, settings, suggestions, elapsed_ms)
}

/// Everything that the seat may do, best first.
fn suggestions(
    app: &App,
    (view, models): (&SeatView, &PlayerModels),
    settings: &AdviceSettings,
) -> Vec<Suggestion> {
    let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
    let (level, begun) = (settings.level, Instant::now());
    let suggestions = dog_bot::advise(&app.nets, level, settings.budget, view, models, &mut rng);
    app.metrics
        .advised(level, playouts(&suggestions), begun.elapsed());
    suggestions
}

/// The expected time of the search.
fn expected_cost(settings: &AdviceSettings) -> Duration {
    match settings.budget {
        Some(Budget::Time(time)) => time,
        Some(Budget::Samples(samples)) => MAX_SEARCH_TIME.min(SAMPLE_COST * samples),
        None => SHORT_JOB_COST,
    }
}
