//! Reviews of finished games.

use std::time::Duration;

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use dog_picture::{Chart, ChartMark, ChartRound, chart};
use dog_review::{JudgedDecision, Judgement, Moment, Review, RoundReview, SeatReview, TeamReview};
use dog_rules::{Action, By, Seat};
use dog_store::{ReviewRequest, ReviewStatus, StoredGame, StoredReview};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    access::{AccessError, Role},
    api::{
        errors::errors,
        parameters::{GamePath, GameRequest, ReadHeaders},
        play::actions::SwapRequest,
        watch::pictures::{PICTURE, ThemeName, send_picture, theme_named},
    },
    app::App,
    http::{content::private_response, request::NoQuery},
    limits::ClientAddress,
    pool::SHORT_JOB_COST,
    problem::{Code, Problem},
    quota::RateLimit,
    reviews::{MAX_VERSIONS, REVIEW_LIMITS},
};

errors! {
    AskReviewErrors: [READ, KEY], [
        OriginNotAllowed, InvalidRequest, GameNotOver, TooManyVersions, DatabaseFull
    ];
    ReviewErrors: [READ], [InvalidRequest, ReviewNotFound];
    ReviewPictureErrors: [READ], [InvalidRequest, ReviewNotFound, StaleVersion];
}

/// `Retry-After` where another review must be done first.
const NEXT_REVIEW: Duration = Duration::from_secs(60);

/// Why a review has failed.
const DAMAGED: &str = "what is stored of the game or its review is damaged";
const DISPLACED: &str = "too many reviews were waiting, most of them asked for from the same \
                         network: ask again later";

/// Ask for a review.
///
/// Has the server review a finished game: what was luck, what was play, and what would have been
/// better.
///
/// The work is done in the background. Streams with `after_end=true` tell when it is done or has
/// failed. There is one review of a game, and it is removed with the game. Asking again changes
/// nothing, unless it has failed or was made before 0.3.0, so a body and an `Idempotency-Key` are
/// ignored.
#[utoipa::path(post, path = "/v1/games/{id}/review", tag = "games",
    params(GamePath),
    responses(
        (status = 202, description = "The review is waiting.", body = ReviewView,
            headers(("Location" = String, description = "The review's path."))),
        (status = 200, description = "There is a review already, done or not, that has not failed \
            and was not made before 0.3.0.", body = ReviewView),
        AskReviewErrors),
    security((), ("token" = [])))]
pub async fn ask_review(read: GameRequest, client: ClientAddress) -> Result<HttpResponse, Problem> {
    let (stored, role) = read.game().await?;
    let app = &read.app;
    if !matches!(role, Role::Seat(_)) {
        app.gates.check_key(read.request.headers())?;
    }
    if !stored.is_laid_open() {
        return Err(AccessError::GameNotOver.into());
    }
    if stored.game.version() > MAX_VERSIONS {
        let detail = format!("a game of more than {MAX_VERSIONS} versions is not reviewed");
        return Err(Problem::new(Code::TooManyVersions, detail));
    }
    let NoQuery {} = read.query()?;
    let pool = &app.history_pool;
    if let Some(review) = app.store.review(&stored.id).await? {
        let found = move || Ok(FoundReview::read(&review));
        let found = pool.run(client, SHORT_JOB_COST, found).await?;
        if !found.is_made_anew() {
            let work = move || ReviewView::new(&stored, &found);
            return pool.answer(&read.request, SHORT_JOB_COST, work).await;
        }
    }
    let creator = client.creator_in_network(&app.store);
    let asked = app.store.ask_review(&stored.id, creator, REVIEW_LIMITS);
    let status = match asked.await? {
        ReviewRequest::Added => StatusCode::ACCEPTED,
        ReviewRequest::Exists => StatusCode::OK,
        ReviewRequest::CreatorLimit => {
            let detail = "this address has asked for as many reviews as may wait: try again later";
            let limit = RateLimit {
                name: "reviews",
                quota: REVIEW_LIMITS.per_creator.into(),
                unit: None,
                window: NEXT_REVIEW * REVIEW_LIMITS.per_creator,
                remaining: 0,
                wait: NEXT_REVIEW,
            };
            return Err(Problem::too_many(detail, limit));
        }
        ReviewRequest::QueueFull => {
            let detail = "too many reviews are waiting: try again later";
            return Err(Problem::new(Code::Unavailable, detail).retry_after(NEXT_REVIEW));
        }
        ReviewRequest::NoFinishedGame => return Err(Problem::game_not_found()),
    };
    let mut response = private_response(status);
    if status == StatusCode::ACCEPTED {
        let location = format!("/v1/games/{}/review", stored.id);
        response.insert_header((header::LOCATION, location));
    }
    let nothing = FoundReview {
        status: ReviewStatus::Waiting,
        findings: Review::default(),
    };
    Ok(response.json(ReviewView::new(&stored, &nothing)?))
}

/// Read the review.
///
/// The review of the game, done or not.
#[utoipa::path(get, path = "/v1/games/{id}/review", tag = "games",
    params(GamePath),
    responses((status = 200, description = "The review, done or not.", body = ReviewView),
        ReviewErrors),
    security((), ("token" = [])))]
pub async fn get_review(read: GameRequest) -> Result<HttpResponse, Problem> {
    let (stored, _) = read.game().await?;
    let NoQuery {} = read.query()?;
    let review = load_review(&read.app, &stored).await?;
    let work = move || ReviewView::new(&stored, &FoundReview::read(&review));
    let pool = &read.app.history_pool;
    pool.answer(&read.request, SHORT_JOB_COST, work).await
}

/// How to draw.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReviewPictureParams {
    /// The colours; `light` by default.
    #[param(inline)]
    theme: Option<ThemeName>,
    /// Draws what was found up to this version of the game: a browser that has a picture does not
    /// ask for it again while it grows.
    until: Option<u64>,
    /// What the teams are called, with `|` between them; by default the names of their players.
    #[param(max_length = 500)]
    teams: Option<String>,
}

/// Draw the review.
///
/// The chances of the teams over the game, with its rounds, as far as it is reviewed. The costliest
/// decisions of each seat are marked.
#[utoipa::path(get, path = "/v1/games/{id}/review.svg", tag = "games",
    params(GamePath, ReviewPictureParams, ReadHeaders),
    responses(
        (status = 200, description = "The picture, an SVG document.",
            content((String = "image/svg+xml", example = json!(PICTURE))),
            headers(("ETag" = String, description = "A hash of the picture."))),
        (status = 304, description = "The picture is still the one of If-None-Match."),
        ReviewPictureErrors),
    security((), ("token" = [])))]
pub async fn get_review_picture(
    read: GameRequest,
    client: ClientAddress,
) -> Result<HttpResponse, Problem> {
    let (stored, _) = read.game().await?;
    let params: ReviewPictureParams = read.query()?;
    let review = load_review(&read.app, &stored).await?;
    let work = move || {
        let mut found = FoundReview::read(&review).findings;
        if let Some(until) = params.until {
            found.deals.retain(|deal| deal.version <= until);
            found.decisions.retain(|made| made.version <= until);
            found.winner = found.winner.filter(|_| found.version <= until);
        }
        Ok(picture(&stored, &found, &params))
    };
    let pool = &read.app.history_pool;
    let svg = pool.run(client, SHORT_JOB_COST, work).await?;
    send_picture(&read.request, svg)
}

/// The chart of a review.
fn picture(stored: &StoredGame, found: &Review, params: &ReviewPictureParams) -> String {
    let rules = stored.game.rules();
    let last = stored.game.version();
    let ends = found.deals.iter().skip(1).map(|deal| deal.version);
    let rounds = found.rounds(rules).into_iter().zip(ends.chain([last]));
    let rounds = rounds.map(|(round, until)| ChartRound {
        number: round.round,
        version: round.version,
        until,
        dealt: round
            .before
            .iter()
            .zip(&round.luck)
            .map(|(before, luck)| before + luck)
            .collect(),
        before: round.before,
        end: round.end,
    });
    let seats = found.seats(rules).into_iter();
    let costliest: Vec<u64> = seats.flat_map(|seat| seat.costliest).collect();
    let marked = found.decisions.iter();
    let marked = marked.filter(|made| costliest.contains(&made.version));
    let marks = marked.map(|made| ChartMark {
        version: made.version,
        seat: made.seat,
        loss: made.loss(),
    });
    let players = stored.game.players();
    let called = params.teams.as_deref().unwrap_or_default();
    let called: Vec<&str> = called.split('|').map(str::trim).collect();
    let names = |team: u8| {
        if let Some(&name) = called
            .get(usize::from(team))
            .filter(|name| !name.is_empty())
        {
            return name.to_owned();
        }
        let seats = Seat::all(rules.seats).zip(players);
        let names = seats.filter(|(seat, _)| seat.team(rules.seats) == team);
        let names: Vec<&str> = names.map(|(_, player)| player.name.as_str()).collect();
        names.join(" & ")
    };
    let teams: Vec<String> = (0..rules.seats / 2).map(names).collect();
    chart(&Chart {
        seats: rules.seats,
        last,
        rounds: &rounds.collect::<Vec<_>>(),
        marks: &marks.collect::<Vec<_>>(),
        title: "Chance to win",
        teams: &teams,
        theme: theme_named(params.theme),
    })
}

/// The review of a game, done or not. What it has found is to be read in a pool.
///
/// # Errors
/// `review_not_found`.
pub async fn load_review(app: &App, stored: &StoredGame) -> Result<StoredReview, Problem> {
    let review = app.store.review(&stored.id).await?;
    review.ok_or_else(|| {
        let detail = "nobody has asked for a review of this game";
        Problem::new(Code::ReviewNotFound, detail)
    })
}

/// How far a review is, and what it has found.
pub struct FoundReview {
    pub status: ReviewStatus,
    pub findings: Review,
}

impl FoundReview {
    /// Reads what is stored; nothing if it is damaged. A review that is done has found something, or
    /// has failed. If it is not done, whoever works on it finds out.
    pub fn read(review: &StoredReview) -> FoundReview {
        let content = review.content().unwrap_or_default();
        let findings: Review = serde_json::from_str(&content).unwrap_or_default();
        let status = match review.status {
            ReviewStatus::Done if findings.version == 0 => ReviewStatus::Failed,
            status => status,
        };
        FoundReview { status, findings }
    }

    /// Whether asking again makes it anew.
    fn is_made_anew(&self) -> bool {
        let is_old = self.status == ReviewStatus::Done && self.findings.is_old();
        is_old || self.status.has_failed()
    }
}

/// A review of a finished game.
#[derive(Serialize, ToSchema)]
#[schema(as = Review)]
pub struct ReviewView {
    #[schema(inline)]
    status: StatusName,
    /// Why it has failed; else absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'static str>,
    /// The share of the game that is reviewed, 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    progress: f64,
    decisions: Vec<DecisionView>,
    /// One entry per seat.
    seats: Vec<SeatReview>,
    /// The rounds whose end is reviewed.
    rounds: Vec<RoundReview>,
    /// One entry per team; empty until the review is done.
    teams: Vec<TeamReview>,
    /// The moments to look at first, at most one of a kind; empty until the review is done.
    #[schema(max_items = 3)]
    moments: Vec<Moment>,
}

/// The status of a review.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum StatusName {
    Waiting,
    Running,
    Done,
    Failed,
}

/// A choice, as in a suggestion: either a move or an answer in the exchange.
#[derive(Serialize, ToSchema)]
#[schema(as = ReviewedChoice, example = json!({"move": "K:out"}), min_properties = 1, max_properties = 1)]
struct ChoiceView {
    /// The id of a move.
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    mv: Option<String>,
    /// An answer in the exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    swap: Option<SwapRequest>,
}

/// A choice that a seat made where it had others.
#[derive(Serialize, ToSchema)]
#[schema(as = ReviewedDecision)]
struct DecisionView {
    /// The version of the game that the choice led to.
    #[schema(minimum = 1)]
    version: u64,
    seat: Seat,
    /// Who decided, if the seat's person did not.
    #[schema(required)]
    by: Option<By>,
    played: ChoiceView,
    best: ChoiceView,
    /// The chance of the seat's team with `best`, 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    win_probability: f64,
    /// That chance less the one with `played`.
    #[schema(minimum = -1, maximum = 1)]
    difference: f64,
    #[schema(minimum = 0)]
    standard_error: f64,
    /// The difference, or 0 if it is negative.
    #[schema(minimum = 0, maximum = 1)]
    loss: f64,
    /// The chance with `best` less that with a choice at random: a card that can be played, then a
    /// board that it leads to, or an answer. Null in a review made before 0.3.0.
    #[schema(required, minimum = -1, maximum = 1)]
    random_loss: Option<f64>,
    judgement: Judgement,
}

impl ReviewView {
    /// # Errors
    /// None in practice: what was decided is a play or an answer in the exchange.
    fn new(stored: &StoredGame, found: &FoundReview) -> Result<ReviewView, Problem> {
        let rules = stored.game.rules();
        let last = stored.game.version() as f64;
        let FoundReview { status, findings } = found;
        let (status, detail) = match status {
            ReviewStatus::Waiting => (StatusName::Waiting, None),
            ReviewStatus::Running => (StatusName::Running, None),
            ReviewStatus::Done => (StatusName::Done, None),
            ReviewStatus::Failed => (StatusName::Failed, Some(DAMAGED)),
            ReviewStatus::Displaced => (StatusName::Failed, Some(DISPLACED)),
        };
        let decisions = findings.decisions.iter().map(DecisionView::new);
        Ok(ReviewView {
            progress: match status {
                StatusName::Done => 1.0,
                _ => ((findings.version as f64 / last).min(1.0) * 1e4).floor() / 1e4,
            },
            status,
            detail,
            decisions: decisions.collect::<Result<_, _>>()?,
            seats: findings.seats(rules),
            rounds: findings.rounds(rules),
            teams: findings.teams(rules),
            moments: findings.moments(),
        })
    }
}

impl ChoiceView {
    fn new(action: &Action) -> Result<ChoiceView, Problem> {
        let (mv, swap) = match action {
            Action::Play { mv, .. } => (Some(mv.to_string()), None),
            answer => (None, Some(SwapRequest::answering(answer)?)),
        };
        Ok(ChoiceView { mv, swap })
    }
}

impl DecisionView {
    fn new(decision: &JudgedDecision) -> Result<DecisionView, Problem> {
        Ok(DecisionView {
            version: decision.version,
            seat: decision.seat,
            by: decision.by,
            played: ChoiceView::new(&decision.played)?,
            best: ChoiceView::new(&decision.best)?,
            win_probability: decision.win_probability,
            difference: decision.difference,
            standard_error: decision.standard_error,
            loss: decision.loss(),
            random_loss: decision.random_loss,
            judgement: decision.judgement(),
        })
    }
}
