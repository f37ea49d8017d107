//! The result of a match so far.

use std::time::{Duration, Instant};

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse,
    http::{StatusCode, header},
    rt::time::timeout,
    web::{Data, Path},
};
use dog_rules::{Level, SeatKind};
use dog_store::{GameId, MatchPair, Store, StoredMatch, TableResult};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::{
    api::{
        errors::errors,
        games::game::MAX_WAIT,
        parameters::{ReadHeaders, in_range},
    },
    app::App,
    headers::negotiation::accepts_gzip,
    http::{
        content::{Content, private_response},
        etag::is_known,
        json::{from_query, to_json},
    },
    limits::streams,
    metrics::SkipLatency,
    problem::{Code, Problem},
    view::rules::{DEFAULT_PRESET, RulesView},
};

errors! {
    MatchErrors: [], [MatchNotFound, InvalidRequest, TooManyStreams];
}

/// z of the 95% interval.
const Z: f64 = 1.96;

/// The match that a path names.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct MatchPath {
    /// The match's id.
    #[param(example = "06zgrb0wmrqk9y7ttx2vbkhq1r")]
    pub id: String,
}

/// What to wait for.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MatchParams {
    /// While this many pairs are complete, wait for the next one, up to 25 seconds; then the answer
    /// is 304.
    #[param(maximum = 32)]
    after: Option<u32>,
}

/// A match: its sides and its results, over the complete pairs only.
#[derive(Serialize, ToSchema)]
#[schema(as = Match, example = match_example)]
pub struct MatchView {
    #[schema(examples("06zgrb0wmrqk9y7ttx2vbkhq1r"))]
    id: String,
    rules: RulesView,
    /// The number of pairs.
    #[schema(minimum = 1, maximum = 32)]
    pairs: usize,
    /// Whether the host has ended the match: pairs that were not complete then do not count.
    pub ended: bool,
    #[schema(min_items = 2, max_items = 2)]
    sides: Vec<SideView>,
    /// The pairs of which both tables have a winner.
    #[schema(max_items = 32)]
    complete_pairs: Vec<PairView>,
}

/// What a match of two levels was after its only pair.
fn match_example() -> Value {
    let side = |name: &str, level: Level| {
        json!({
            "name": name, "kind": "bot", "level": level, "pairs": 1, "games": 2, "won": 1,
            "score": 0.5, "low": 0.1033, "high": 0.8967, "margin": 0.0
        })
    };
    json!({
        "id": "06zgrb0wmrqk9y7ttx2vbkhq1r",
        "rules": RulesView::from(DEFAULT_PRESET.rules().options()),
        "pairs": 1, "ended": false,
        "sides": [side("Red", Level::Fast), side("Blue", Level::Greedy)],
        "complete_pairs": [{
            "pair": 0,
            "shuffle_seed": "19b25856e1c150ca834cffc8b59b23adbd0ec0389e58eb22b3b64768098d002b",
            "tables": [
                {"id": "1y51r0ztfn8hp2zw9f8m33tzg0", "winner": 0, "pieces": [8, 5]},
                {"id": "2k02ek5p4w9xq1tz6n8m33tzg1", "winner": 1, "pieces": [5, 8]}
            ]
        }]
    })
}

/// A side of a match, with its results over the complete pairs.
#[derive(Serialize, ToSchema)]
#[schema(as = MatchSide)]
pub struct SideView {
    name: String,
    kind: SeatKind,
    level: Level,
    /// The complete pairs.
    pairs: usize,
    /// Their games: two per pair.
    games: usize,
    /// How many of them the side has won.
    won: usize,
    /// The share of games won, from 0 to 1; null before the first complete pair, as the next three.
    #[schema(required)]
    score: Option<f64>,
    /// The 95% interval of the expected score: its low end.
    #[schema(required)]
    low: Option<f64>,
    /// The high end.
    #[schema(required)]
    high: Option<f64>,
    /// The mean of the side's pieces in their goals at the end of a game, less the other side's.
    #[schema(required)]
    margin: Option<f64>,
}

/// A complete pair.
#[derive(Serialize, ToSchema)]
#[schema(as = CompletePair)]
pub struct PairView {
    /// The number of the pair, from 0.
    pair: usize,
    /// The shuffle seed of both tables, as 64 hex digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    shuffle_seed: String,
    #[schema(min_items = 2, max_items = 2)]
    tables: Vec<TableView>,
}

/// A table of a complete pair.
#[derive(Serialize, ToSchema)]
#[schema(as = MatchTable)]
pub struct TableView {
    /// The game's id.
    id: String,
    /// The side that has won.
    #[schema(maximum = 1)]
    winner: usize,
    /// The pieces of each side in their goals.
    #[schema(min_items = 2, max_items = 2)]
    pieces: [u32; 2],
}

impl MatchView {
    /// The match as anyone may see it.
    pub fn new(stored: &StoredMatch) -> MatchView {
        let (mut complete_pairs, mut results) = (Vec::new(), Vec::new());
        for (number, pair) in stored.pairs.iter().enumerate() {
            if let Some(tables) = pair.complete() {
                complete_pairs.push(PairView::new(number, pair, tables));
                results.push(tables);
            }
        }
        let sides = stored.setup.sides.iter().enumerate();
        MatchView {
            id: stored.id.to_string(),
            rules: RulesView::from(stored.setup.rules.options()),
            pairs: stored.pairs.len(),
            ended: stored.ended,
            sides: sides
                .map(|(number, side)| {
                    let score = Score::new(number, &results);
                    let counts = !results.is_empty();
                    SideView {
                        name: side.name.clone(),
                        kind: side.kind,
                        level: side.level,
                        pairs: results.len(),
                        games: 2 * results.len(),
                        won: score.won,
                        score: counts.then_some(score.mean),
                        low: counts.then_some(score.low),
                        high: counts.then_some(score.high),
                        margin: counts.then_some(score.margin),
                    }
                })
                .collect(),
            complete_pairs,
        }
    }
}

impl PairView {
    fn new(number: usize, pair: &MatchPair, results: [TableResult; 2]) -> PairView {
        let tables = pair.games.iter().zip(results);
        let tables = tables.map(|(id, TableResult { winner, pieces })| TableView {
            id: id.to_string(),
            winner,
            pieces,
        });
        PairView {
            pair: number,
            shuffle_seed: pair.seed.clone(),
            tables: tables.collect(),
        }
    }
}

/// The score of a side.
struct Score {
    won: usize,
    mean: f64,
    low: f64,
    high: f64,
    margin: f64,
}

impl Score {
    /// That of this side over complete pairs. The interval is Agresti and Coull's, extended to the
    /// scores of pairs, as docs/arena.md says: as if z²/2 more pairs had been lost and z²/2 won.
    fn new(side: usize, pairs: &[[TableResult; 2]]) -> Score {
        let won =
            |pair: &[TableResult; 2]| pair.iter().filter(|table| table.winner == side).count();
        let scores = pairs.iter().map(|pair| (won(pair) as f64 / 2.0, 1.0));
        let all = scores.chain([0.0, 1.0].map(|score| (score, Z * Z / 2.0)));
        let count = pairs.len() as f64 + Z * Z;
        let center = all.clone().map(|(score, count)| score * count).sum::<f64>() / count;
        let squares: f64 = all
            .map(|(score, count)| count * (score - center).powi(2))
            .sum();
        let half = Z * (squares / count / count).sqrt();
        let (games, won) = (2 * pairs.len(), pairs.iter().map(won).sum());
        let margin =
            |table: &TableResult| f64::from(table.pieces[side]) - f64::from(table.pieces[1 - side]);
        Score {
            won,
            mean: won as f64 / games as f64,
            low: (center - half).max(0.0),
            high: (center + half).min(1.0),
            margin: pairs.iter().flatten().map(margin).sum::<f64>() / games as f64,
        }
    }
}

/// The match with this id.
///
/// # Errors
/// `match_not_found`.
pub async fn load_match(store: &Store, id: &str) -> Result<StoredMatch, Problem> {
    let found = match id.parse::<GameId>() {
        Ok(id) => store.find_match(&id).await?,
        Err(_) => None,
    };
    found.ok_or_else(|| Code::MatchNotFound.into())
}

/// Read a match.
///
/// The sides of a match and their results so far. Only complete pairs count, those of which both
/// tables have a winner; of the others nothing is told.
///
/// With `after`, the response waits for the next complete pair, or for the end of the match.
#[utoipa::path(get, path = "/v1/matches/{id}", tag = "matches",
    params(MatchPath, MatchParams, ReadHeaders),
    responses(
        (status = 200, description = "The match.", body = MatchView,
            headers(("ETag" = String, description = "A weak tag: the number of complete pairs, such as \
                W/\"3\"."))),
        (status = 304, description = "The match is still as If-None-Match says, or has still `after` \
            complete pairs."),
        MatchErrors))]
pub async fn get_match(
    app: Data<App>,
    path: Path<MatchPath>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let mut stored = load_match(&app.store, &path.id).await?;
    let MatchParams { after } = from_query(request.query_string())?;
    let after = in_range("after", after, 0, 32)?;
    let waits = |stored: &StoredMatch| {
        let complete = stored.pairs.iter().filter_map(MatchPair::complete).count();
        !stored.ended && complete < stored.pairs.len() && after == Some(complete as u32)
    };
    if waits(&stored) {
        request.extensions_mut().insert(SkipLatency);
        let _open = streams::begin(&request, false)?;
        let (mut subscription, until) = (app.hub.subscribe(stored.id), Instant::now() + MAX_WAIT);
        // It is read after the subscription, so that no change is missed.
        loop {
            stored = load_match(&app.store, &path.id).await?;
            let left = until.saturating_duration_since(Instant::now());
            if !waits(&stored) || subscription.closed() || left == Duration::ZERO {
                break;
            }
            let _ = timeout(left, subscription.changed()).await;
        }
    }
    let view = MatchView::new(&stored);
    let ended = if stored.ended { "-ended" } else { "" };
    let etag = format!("\"{}{ended}\"", view.complete_pairs.len());
    let (is_same, gzip) = (is_known(request.headers(), &etag)?, accepts_gzip(&request));
    let mut response = private_response(StatusCode::OK);
    response.insert_header((header::ETAG, format!("W/{etag}")));
    if is_same || waits(&stored) {
        return Ok(response.status(StatusCode::NOT_MODIFIED).finish());
    }
    response.content_type("application/json");
    Ok(Content::new(to_json(&view)?, gzip)?.respond(&mut response))
}
