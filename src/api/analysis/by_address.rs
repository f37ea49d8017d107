//! Analyses by address: a picture of a position, and advice, with everything in the query.

use std::{env, fs, sync::LazyLock};

use actix_web::{
    HttpRequest, HttpResponse, body,
    http::{Method, StatusCode, header, header::HeaderValue},
    web::Data,
};
use dog_bot::{Level, player_model::PlayerModels, search::MAX_SEARCH_TIME};
use dog_picture::Picture;
use dog_rules::{
    Card, Cards, SeatView,
    position::{self, PositionText},
};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use utoipa::IntoParams;

use super::position::{AdvicePosition, AnalysisPosition};
use crate::{
    api::{
        errors::errors,
        parameters::{ReadHeaders, card_of, collect_cards, seat_of},
        play::advice::{
            Advice, AdviceSettings, SuggestionListOptions, advice_params, advise, expected_cost,
        },
        watch::pictures::{self, PICTURE, ThemeName, picture_response},
    },
    app::App,
    headers::negotiation::accepts_gzip,
    http::{
        content::{Content, private_response, send_content},
        etag::{content_hash, is_not_modified},
        json::{from_query, to_json},
        range::MAX_INTEGER,
    },
    limits::ClientAddress,
    problem::Problem,
    view::{moves::PositionString, rules::rules_of_text},
};

/// The playouts of a question that names no number of them and no time.
const SAMPLES: u32 = 400;

errors! {
    PositionPictureErrors: [], [InvalidRequest, InvalidRules, InvalidBoard, StaleVersion];
    AdviceByAddressErrors: [POSITION, KEY], [InvalidRequest, Unavailable];
}

/// Draw a position.
///
/// The board of a position as a picture, by an address that can be kept.
#[utoipa::path(get, path = "/v1/analysis/board.svg", tag = "analysis",
    params(PositionPictureParams, ReadHeaders),
    responses(
        (status = 200, description = "The picture, an SVG document of 40 KiB at most.",
            content((String = "image/svg+xml", example = json!(PICTURE))),
            headers(("ETag" = String, description = "A hash of the picture."))),
        (status = 304, description = "The picture is still the one of If-None-Match."),
        PositionPictureErrors))]
pub async fn get_position_picture(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let params: PositionPictureParams = from_query(request.query_string())?;
    let rules = rules_of_text(params.rules.as_deref())?;
    let board = position::read(&rules, &params.position)?;
    let options = pictures::options(&rules, params.bottom, params.theme, None)?;
    let svg = dog_picture::svg(&Picture {
        rules: &rules,
        board: &board,
        names: &[],
        turn: None,
        shown: None,
        options,
    });
    let mut response = picture_response(HttpResponse::Ok());
    response
        .insert_header((header::VARY, "Accept-Encoding"))
        .insert_header((header::CACHE_CONTROL, "no-cache"));
    send_content(&request, &mut response, svg.into_bytes())
}

/// Ask for advice by address.
///
/// Ranked advice in a position of which nothing else is known, by an address that can be kept.
///
/// Without `budget_ms` there are 400 samples by default, and the seed follows from the question. The
/// answer is then always the same, unless the search takes 5 s, and may be kept for a day;
/// `elapsed_ms` is null. Cards may be named as people call them: `Ass`,
/// `König`, `Bube`, `Dame`, `Jolly`.
#[utoipa::path(get, path = "/v1/analysis/suggest-move", tag = "analysis",
    params(AdviceByAddressParams, ReadHeaders),
    responses(
        (status = 200, description = "The advice, best first.", body = Advice,
            headers(("ETag" = Option<String>,
                description = "A weak tag of the question, without `budget_ms`."))),
        (status = 304, description = "The advice is still the one of If-None-Match."),
        AdviceByAddressErrors))]
pub async fn suggest_move_by_address(
    app: Data<App>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let params: AdviceByAddressParams = from_query(request.query_string())?;
    let position = params.position()?;
    position.view()?;
    let is_repeatable = params.budget_ms.is_none();
    let settings = match is_repeatable {
        true => params.repeatable_settings(&position.view()?)?,
        false => params.settings()?,
    };
    let options = SuggestionListOptions::new(params.limit, params.board)?;
    let mut response = private_response(StatusCode::OK);
    response
        .content_type("application/json")
        .insert_header((header::VARY, "Accept-Encoding"))
        .insert_header((header::CACHE_CONTROL, "no-store"));
    if is_repeatable {
        let question = format!("{} {}", *PROGRAM_FILE, request.query_string());
        let tag = format!("\"{}\"", content_hash(question.as_bytes()));
        response
            .insert_header((header::CACHE_CONTROL, "public, max-age=86400"))
            .insert_header((header::ETAG, format!("W/{tag}")));
        if is_not_modified(request.headers(), &tag)? {
            return Ok(response.status(StatusCode::NOT_MODIFIED).finish());
        }
    }
    if request.method() == Method::HEAD {
        // The length of the answer is not known without a search (RFC 9110, section 8.6).
        return Ok(response.body(body::None::new()).map_into_boxed_body());
    }
    let (here, cost) = (app.clone(), expected_cost(&settings, &position.view()?));
    let (client, gzip) = (
        ClientAddress::from_extensions(&request),
        accepts_gzip(&request),
    );
    let work = move || {
        let (view, models) = (position.view()?, PlayerModels::default());
        let mut advice = advise(&here, &view, &models, &settings, None, options)?;
        let longest = MAX_SEARCH_TIME.as_secs_f64() * 1_000.0;
        let was_cut = advice.elapsed_ms >= Some(longest);
        advice.elapsed_ms = advice.elapsed_ms.filter(|_| !is_repeatable);
        Ok((Content::new(to_json(&advice)?, gzip)?, was_cut))
    };
    let (content, was_cut) = app.advice_pool.run(client, cost, work).await?;
    let mut response = content.respond(&mut response);
    // Another time the search may get further.
    if was_cut {
        let headers = response.headers_mut();
        headers.remove(header::ETAG);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    Ok(response)
}

/// A board to draw.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PositionPictureParams {
    /// The rules as text: a preset, and the options that differ from it, such as `hausregeln
    /// seats=6`; `dogspiel-it` by default.
    #[param(max_length = 1000)]
    rules: Option<String>,
    /// The board as text.
    #[param(value_type = PositionString, example = "0f,9,g2/17/-/60")]
    position: String,
    /// The seat whose kennel is at the bottom; 0 by default.
    #[param(maximum = 5)]
    bottom: Option<u8>,
    /// Whether the picture is for a light or a dark page; `light` by default.
    #[param(inline)]
    theme: Option<ThemeName>,
}

advice_params! {
    /// A position to give advice on, and how to think about it.
    pub struct AdviceByAddressParams {
        /// The rules as text: a preset, and the options that differ from it, such as `hausregeln
        /// seats=6`; `dogspiel-it` by default.
        #[param(max_length = 1000)]
        rules: Option<String>,
        /// The board as text.
        #[param(value_type = PositionString, example = "0f,9,g2/17/-/60")]
        position: String,
        /// The seat to move.
        #[param(maximum = 5, example = 0)]
        seat: u8,
        /// Its hand: cards with commas between them.
        #[param(example = "7,K,J")]
        hand: String,
    }
}

impl AdviceByAddressParams {
    /// The position.
    ///
    /// # Errors
    /// What is wrong with it, with the code of that error.
    pub fn position(&self) -> Result<AdvicePosition, Problem> {
        let rules = rules_of_text(self.rules.as_deref())?;
        let board = position::read(&rules, &self.position)?;
        let seat = seat_of(self.seat, &rules, "seat")?;
        let position = AnalysisPosition::new(rules, board, seat, self.hand()?)?;
        Ok(AdvicePosition::without_knowledge(position))
    }

    /// How to search without a time: repeatably, so that the same question has the same answer.
    ///
    /// # Errors
    /// As [`AdviceSettings::new`].
    fn repeatable_settings(&self, view: &SeatView) -> Result<AdviceSettings, Problem> {
        let SeatView {
            rules,
            board,
            seat,
            hand,
            ..
        } = view;
        let cards: Vec<String> = hand.sorted().map(|card| card.to_string()).collect();
        let level = self.level.unwrap_or(Level::Strong).name();
        let position = PositionText { rules, board };
        let question = format!("{rules} {position} {seat} {} {level}", cards.join(","));
        let digest = Sha256::digest(question);
        let seed = digest
            .iter()
            .take(8)
            .fold(0, |seed, &byte| seed << 8 | u64::from(byte));
        let samples = self.samples.unwrap_or(SAMPLES);
        let seed = self.seed.unwrap_or(seed & MAX_INTEGER);
        AdviceSettings::new(self.level, None, Some(samples), Some(seed))
    }

    fn hand(&self) -> Result<Cards, Problem> {
        let hand = self.hand.trim();
        // A comma at the end is no card that was forgotten.
        let hand = Some(hand.strip_suffix(',').unwrap_or(hand)).filter(|hand| !hand.is_empty());
        let names = hand
            .into_iter()
            .flat_map(|hand| hand.split(',').map(str::trim));
        collect_cards(names.map(|name| match Card::by_common_name(name) {
            Some(card) => Ok(card),
            None => card_of(name, "/hand".to_owned()),
        }))
    }
}

/// The time and the size of the program's file, which change with the program.
static PROGRAM_FILE: LazyLock<String> = LazyLock::new(|| {
    let file = env::current_exe().and_then(fs::metadata);
    let file = file.and_then(|file| Ok((file.modified()?, file.len())));
    // Without the file no two processes are known to run the same program.
    file.map_or_else(
        |_| rand::random::<u64>().to_string(),
        |time_and_size| format!("{time_and_size:?}"),
    )
});
