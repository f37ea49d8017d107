//! Reading a puzzle.

use std::fmt::Display;

use actix_web::{HttpRequest, HttpResponse, http::header, web::Path};
use dog_bot::puzzle::{Puzzle, PuzzleKnowledge};
use dog_rules::{Card, ExchangeChoice, ExchangeState, Rules, Seat};
use jiff::{
    SignedDuration, Timestamp, ToSpan,
    civil::{Date, date},
    tz::TimeZone,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::{
    api::{errors::errors, parameters::ReadHeaders},
    headers::negotiation::accepts_gzip,
    http::{
        content::{Content, private_response},
        json::{from_query, to_json},
        request::NoQuery,
    },
    problem::{Code, Problem},
    puzzles,
    view::{moves::PositionString, rules::RulesView},
};

errors! {
    PuzzleErrors: [], [PuzzleNotFound, InvalidRequest, StaleVersion];
    TodayErrors: [], [InvalidRequest, StaleVersion];
}

/// The day of the first puzzle.
const FIRST_DAY: Date = date(2026, 12, 1);

/// How many puzzles there are, and which one is today's.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"count": 1001, "today": 17}))]
pub struct Puzzles {
    count: u32,
    /// The number of today's, by UTC.
    #[schema(minimum = 1)]
    today: u32,
}

/// A position, a seat with its hand, and what it knows. One choice is clearly better than all others.
#[derive(Serialize, ToSchema)]
#[schema(as = Puzzle, example = first_puzzle)]
pub struct PuzzleView {
    /// From 1 to `count`. It is the same position for ever.
    #[schema(minimum = 1)]
    number: u32,
    count: u32,
    rules: RulesView,
    /// The board as text.
    #[schema(value_type = PositionString)]
    position: String,
    /// The seat to act.
    #[schema(maximum = 3)]
    seat: Seat,
    #[schema(min_items = 2)]
    hand: Vec<Card>,
    /// What the seat is to do: play a card, or answer in the exchange.
    phase: PuzzlePhase,
    /// What each seat has done in the exchange. Only in the phase `exchange`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    exchange: Option<Vec<ExchangeState>>,
    /// What the seat may do in the exchange. Only in the phase `exchange`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_items = 1)]
    choices: Option<&'static [ExchangeChoice]>,
    /// What else the seat knows, as an analysis takes it.
    known: PuzzleKnowledge,
}

/// The first puzzle, as an example that stays the same when the file grows.
fn first_puzzle() -> Value {
    let mut puzzle = PuzzleView::new("1").map_or(Value::Null, |puzzle| json!(puzzle));
    puzzle["count"] = json!(1001);
    puzzle
}

/// What a seat is to do in a puzzle.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PuzzlePhase {
    Play,
    Exchange,
}

/// The puzzle that a path names.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct PuzzlePath {
    /// The puzzle's number.
    #[param(value_type = u32, minimum = 1, example = 17)]
    pub number: String,
}

/// Which day.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TodayParams {
    /// The day, by UTC, at most a day from now; today by default.
    #[param(format = Date)]
    date: Option<String>,
}

/// The puzzle with the number of a path.
///
/// # Errors
/// `puzzle_not_found`.
pub fn find(number: &str) -> Result<(u32, Puzzle, Rules), Problem> {
    let parsed = number.parse::<u32>().ok();
    let parsed = parsed.filter(|parsed| parsed.to_string() == number);
    let found = parsed.and_then(|number| Some((number, puzzles::puzzle(number)?)));
    let (number, puzzle) = found.ok_or_else(|| Problem::from(Code::PuzzleNotFound))?;
    let rules = puzzle.rules.parse().map_err(Problem::internal)?;
    Ok((number, puzzle, rules))
}

impl PuzzleView {
    /// The puzzle with this number.
    ///
    /// # Errors
    /// `puzzle_not_found`.
    fn new(number: &str) -> Result<PuzzleView, Problem> {
        let (number, puzzle, rules) = find(number)?;
        let view = puzzle.view(&rules).map_err(Problem::internal)?;
        let choices = view.exchanging.then(|| view.exchange_choices());
        Ok(PuzzleView {
            number,
            count: puzzles::count(),
            rules: RulesView::from(rules.options()),
            position: puzzle.position,
            seat: puzzle.seat,
            hand: puzzle.hand,
            phase: match puzzle.exchange {
                Some(_) => PuzzlePhase::Exchange,
                None => PuzzlePhase::Play,
            },
            exchange: puzzle.exchange,
            choices,
            known: puzzle.known,
        })
    }
}

/// The number of the puzzle of a day.
fn number_of(day: Date) -> u32 {
    let days = FIRST_DAY.until(day).map_or(0, |span| span.get_days());
    1 + days.rem_euclid(puzzles::count() as i32) as u32
}

/// The present day, and the seconds until it ends.
fn today() -> (Date, i64) {
    let now = Timestamp::now().to_zoned(TimeZone::UTC);
    let passed = now.time().duration_since(jiff::civil::Time::midnight());
    (
        now.date(),
        SignedDuration::from_hours(24).as_secs() - passed.as_secs(),
    )
}

/// Sends JSON that caches may keep for so many seconds.
fn send(
    request: &HttpRequest,
    cached: impl Display,
    body: &impl Serialize,
) -> Result<HttpResponse, Problem> {
    let content = Content::tagged(request.headers(), to_json(body)?, accepts_gzip(request))?;
    let mut response = private_response(actix_web::http::StatusCode::OK);
    response.insert_header((header::CACHE_CONTROL, format!("public, max-age={cached}")));
    response.insert_header((header::VARY, "Accept, Accept-Encoding"));
    response.content_type("application/json");
    Ok(content.respond(&mut response))
}

/// Count the puzzles.
///
/// How many positions of the day there are, and the number of today's.
#[utoipa::path(get, path = "/v1/puzzles", tag = "puzzles",
    params(ReadHeaders),
    responses(
        (status = 200, description = "The number of puzzles.", body = Puzzles,
            headers(("ETag" = String, description = "A hash of the content."))),
        (status = 304, description = "It is still as If-None-Match says."),
        TodayErrors))]
pub async fn count_puzzles(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let NoQuery {} = from_query(request.query_string())?;
    let (day, left) = today();
    let body = Puzzles {
        count: puzzles::count(),
        today: number_of(day),
    };
    send(&request, left, &body)
}

/// Read the position of the day.
///
/// One position, the same for all. Its choice has no second that is nearly as good.
#[utoipa::path(get, path = "/v1/puzzles/today", tag = "puzzles",
    params(TodayParams, ReadHeaders),
    responses(
        (status = 200, description = "The puzzle.", body = PuzzleView,
            headers(("ETag" = String, description = "A hash of the content."))),
        (status = 304, description = "It is still the one of If-None-Match."),
        TodayErrors))]
pub async fn get_puzzle_of_day(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let TodayParams { date } = from_query(request.query_string())?;
    let (today, left) = today();
    let day = match date {
        None => today,
        Some(text) => {
            let (read, last): (Option<Date>, _) =
                (text.parse().ok(), today.saturating_add(1.day()));
            let read = read.filter(|day| *day <= last && day.to_string() == text);
            let detail = "/date must be a day such as 2026-12-17, at most a day from now";
            read.ok_or_else(|| Problem::wrong_value("date", detail))?
        }
    };
    let puzzle = PuzzleView::new(&number_of(day).to_string())?;
    send(&request, left, &puzzle)
}

/// Read a puzzle.
///
/// The puzzle with this number, which never changes.
#[utoipa::path(get, path = "/v1/puzzles/{number}", tag = "puzzles",
    params(PuzzlePath, ReadHeaders),
    responses(
        (status = 200, description = "The puzzle.", body = PuzzleView,
            headers(("ETag" = String, description = "A hash of the content."))),
        (status = 304, description = "It is still the one of If-None-Match."),
        PuzzleErrors))]
pub async fn get_puzzle(
    path: Path<PuzzlePath>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let NoQuery {} = from_query(request.query_string())?;
    let puzzle = PuzzleView::new(&path.number)?;
    send(&request, "31536000, immutable", &puzzle)
}
