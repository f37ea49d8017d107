//! Legal moves and advice for a position that a client sends, and its picture. Nothing is stored.

use std::time::Duration;

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web::Data};
use dog_bot::Choice;
use dog_picture::PictureOptions;
use dog_rules::{Card, Move, Rules};
use serde::Deserialize;
use utoipa::IntoParams;

use super::position::{AdviceAnalysis, AdvicePosition, MovesAnalysis, SevenAnalysis};
use crate::{
    api::{
        errors::errors,
        play::{
            advice::{Advice, SuggestionListOptions, advise, expected_cost, suggestions},
            legal_moves::{self, LegalMoves},
            seven::SevenView,
        },
        watch::pictures::{
            self, PICTURE, Preview, SVG, ThemeName, picture_response, position_picture,
        },
    },
    app::App,
    headers::negotiation::{accepts_gzip, preferred},
    http::{
        content::{Content, private_response},
        json::from_query,
        request::{Body, NoQuery},
    },
    limits::ClientAddress,
    pool::SHORT_JOB_COST,
    problem::Problem,
    view::moves::{MovesOptions, outcome},
};

errors! {
    MovesAnalysisErrors: [BODY, POSITION], [IllegalMove];
    SevenAnalysisErrors: [BODY, POSITION], [IllegalMove];
    AdviceAnalysisErrors: [BODY, POSITION, KEY], [InvalidKnowledge];
}

/// The media types of an analysis.
const MEDIA_TYPES: [&str; 2] = ["application/json", SVG];

/// List the moves in a position.
///
/// Every legal move in a position with a hand; or as a picture the position, or one of the moves.
///
/// `unplayable` tells why a card of the hand has no move. Nothing is stored. If `Accept` prefers
/// `image/svg+xml`, the response is the picture.
#[utoipa::path(post, path = "/v1/analysis/legal-moves", tag = "analysis",
    params(AnalysisParams),
    request_body = MovesAnalysis,
    responses((status = 200, description = "The moves, in a stable order; or a picture, if Accept \
        prefers image/svg+xml.",
        content((LegalMoves = "application/json"), (String = "image/svg+xml", example = json!(PICTURE)))),
        MovesAnalysisErrors))]
pub async fn analyse_legal_moves(
    app: Data<App>,
    request: HttpRequest,
    body: Body<MovesAnalysis>,
) -> Result<HttpResponse, Problem> {
    let media_type = preferred(request.headers(), &MEDIA_TYPES)?;
    let params: AnalysisParams = from_query(request.query_string())?;
    let position = body.content?.take_position()?;
    if media_type == SVG {
        let preview = params.preview()?;
        return picture_in_pool(&app, &request, SHORT_JOB_COST, move || {
            let options = params.options(&position.rules)?;
            position.picture(preview.as_deref(), options)
        })
        .await;
    }
    let options = params.moves_options()?;
    let work = move || position.legal_moves(options);
    let pool = &app.advice_pool;
    pool.answer(&request, SHORT_JOB_COST, work).await
}

/// List the next parts of a seven in a position.
///
/// The parts that may come next in a begun seven, in a position with a hand.
///
/// Nothing is stored. The parts are those of `GET /v1/games/{id}/legal-moves/seven`.
#[utoipa::path(post, path = "/v1/analysis/legal-moves/seven", tag = "analysis",
    request_body = SevenAnalysis,
    responses((status = 200, description = "The next parts, in a stable order.", body = SevenView),
        SevenAnalysisErrors))]
pub async fn analyse_seven_parts(
    app: Data<App>,
    request: HttpRequest,
    body: Body<SevenAnalysis>,
) -> Result<HttpResponse, Problem> {
    let NoQuery {} = from_query(request.query_string())?;
    let mut analysis = body.content?;
    let position = analysis.take_position()?;
    let work = move || position.next_parts(&analysis.begun);
    let pool = &app.advice_pool;
    pool.answer(&request, SHORT_JOB_COST, work).await
}

/// Ask for advice in a position.
///
/// Ranked advice in a position with a hand and what the seat knows; or a picture of the best move.
///
/// Nothing is stored. If `Accept` prefers `image/svg+xml`, the response is the picture.
#[utoipa::path(post, path = "/v1/analysis/suggest-move", tag = "analysis",
    params(AdviceAnalysisParams),
    request_body = AdviceAnalysis,
    responses((status = 200, description = "The advice, best first; or a picture, if Accept \
        prefers image/svg+xml.",
        content((Advice = "application/json"), (String = "image/svg+xml", example = json!(PICTURE)))),
        AdviceAnalysisErrors))]
pub async fn analyse_suggest_move(
    app: Data<App>,
    request: HttpRequest,
    body: Body<AdviceAnalysis>,
) -> Result<HttpResponse, Problem> {
    let media_type = preferred(request.headers(), &MEDIA_TYPES)?;
    let params: AdviceAnalysisParams = from_query(request.query_string())?;
    let analysis = body.content?;
    let settings = analysis.settings();
    let position = AdvicePosition::read(analysis)?;
    let (view, models) = (position.view()?, position.models()?);
    let settings = settings?;
    let (here, cost) = (app.clone(), expected_cost(&settings, &view));
    if media_type == SVG {
        if position.is_exchange() {
            let detail = "there is no picture of an exchange: accept application/json";
            return Err(Problem::wrong_combination(detail));
        }
        return picture_in_pool(&app, &request, cost, move || {
            let view = position.view()?;
            let (rules, board, seat) = (view.rules, &view.board, view.seat);
            let options = params.options(rules)?;
            let (suggestions, _) = suggestions(&here, &view, &models, &settings);
            let Some(Choice::Play(mv)) = suggestions.first().map(|best| best.choice) else {
                return Err(Problem::internal("advice without a move"));
            };
            let outcome = outcome(rules, board, seat, &mv)?;
            let preview = Preview { seat, mv, outcome };
            let svg = position_picture(rules, board, seat, Some(&preview), options);
            Ok(svg)
        })
        .await;
    }
    let options = params.list_options()?;
    app.advice_pool
        .answer(&request, cost, move || {
            let view = position.view()?;
            advise(&here, &view, &models, &settings, None, options)
        })
        .await
}

/// Draws a picture in the pool for advice, and makes the response.
async fn picture_in_pool(
    app: &App,
    request: &HttpRequest,
    cost: Duration,
    draw: impl FnOnce() -> Result<String, Problem> + Send + 'static,
) -> Result<HttpResponse, Problem> {
    let (client, gzip) = (
        ClientAddress::from_extensions(request),
        accepts_gzip(request),
    );
    let picture = move || Content::new(draw()?, gzip);
    let content = app.advice_pool.run(client, cost, picture).await?;
    Ok(content.respond(&mut picture_response(private_response(StatusCode::OK))))
}

/// Parameters of an analysis of moves.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AnalysisParams {
    /// Whether each move includes the board after it; true by default. A seven can have thousands
    /// of outcomes.
    board: Option<bool>,
    /// List the moves of this card only. The list is empty if the hand does not have the card, or
    /// if the card has no legal move. Not for a picture.
    #[param(value_type = Option<Card>)]
    card: Option<String>,
    /// The id of a legal move to preview, such as `Q:17>29`. Only for a picture.
    #[serde(rename = "move")]
    #[param(value_type = Option<Move>)]
    mv: Option<String>,
    /// The seat whose kennel is at the bottom; 0 by default. Only for a picture.
    #[param(maximum = 5)]
    bottom: Option<u8>,
    /// Whether the picture is for a light or a dark page; `light` by default. Only for a picture.
    #[param(inline)]
    theme: Option<ThemeName>,
    /// Whether the names and the move are below the board; true by default. Only for a picture.
    legend: Option<bool>,
}

/// Parameters of an analysis with advice.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AdviceAnalysisParams {
    /// How many suggestions the answer has at most; all by default. Not for a picture.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// Whether each move includes the board after it; true by default. Not for a picture.
    board: Option<bool>,
    /// The seat whose kennel is at the bottom; 0 by default. Only for a picture.
    #[param(maximum = 5)]
    bottom: Option<u8>,
    /// Whether the picture is for a light or a dark page; `light` by default. Only for a picture.
    #[param(inline)]
    theme: Option<ThemeName>,
    /// Whether the names and the move are below the board; true by default. Only for a picture.
    legend: Option<bool>,
}

/// `invalid_request`, if there are parameters that only pictures have.
fn no_drawing(
    bottom: Option<u8>,
    theme: Option<ThemeName>,
    legend: Option<bool>,
) -> Result<(), Problem> {
    if bottom.is_some() || theme.is_some() || legend.is_some() {
        let detail = "bottom, theme and legend are for a picture only: accept image/svg+xml";
        return Err(Problem::wrong_combination(detail));
    }
    Ok(())
}

impl AnalysisParams {
    /// What a list of moves is to have.
    ///
    /// # Errors
    /// `unknown_card`; `invalid_request`, if there is a parameter that only pictures have.
    pub fn moves_options(&self) -> Result<MovesOptions, Problem> {
        if self.mv.is_some() {
            let detail = "move is previewed in a picture only: accept image/svg+xml";
            return Err(Problem::wrong_combination(detail));
        }
        no_drawing(self.bottom, self.theme, self.legend)?;
        legal_moves::moves_options(self.board, self.card.as_deref())
    }

    /// How to draw.
    ///
    /// # Errors
    /// `invalid_request`, for a seat that is not there.
    pub fn options(&self, rules: &Rules) -> Result<PictureOptions, Problem> {
        pictures::options(rules, self.bottom, self.theme, self.legend)
    }

    /// The id of the move to preview, if one is asked for.
    ///
    /// # Errors
    /// `invalid_request`, if there is a card, which selects from a list only.
    pub fn preview(&self) -> Result<Option<String>, Problem> {
        if self.card.is_some() {
            let detail = "card selects moves of a list: accept application/json";
            return Err(Problem::wrong_combination(detail));
        }
        Ok(self.mv.clone())
    }
}

impl AdviceAnalysisParams {
    /// What a list of suggestions is to have.
    ///
    /// # Errors
    /// `invalid_request`, if the limit is out of range, or there is a parameter that only pictures
    /// have.
    pub fn list_options(&self) -> Result<SuggestionListOptions, Problem> {
        no_drawing(self.bottom, self.theme, self.legend)?;
        SuggestionListOptions::new(self.limit, self.board)
    }

    /// How to draw.
    ///
    /// # Errors
    /// `invalid_request`, for a seat that is not there, or if there is a parameter that only lists
    /// have.
    pub fn options(&self, rules: &Rules) -> Result<PictureOptions, Problem> {
        if self.limit.is_some() || self.board.is_some() {
            let detail = "limit and board are for a list: accept application/json";
            return Err(Problem::wrong_combination(detail));
        }
        pictures::options(rules, self.bottom, self.theme, self.legend)
    }
}
