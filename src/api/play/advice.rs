//! Requests for advice, and advice as clients get it.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use actix_web::HttpResponse;
use dog_bot::{
    Choice, Level, MoveEffect, Suggestion,
    player_model::{PlayerModels, PolicyName},
    reasons::AdviceReason,
    search::{Budget, Estimate, LinePlay},
};
use dog_rules::{Phase, Seat, SeatView};
use dog_store::StoredGame;
use rand::{SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::actions::{PlayRequest, SwapRequest};
use crate::{
    api::{
        errors::errors,
        parameters::{GamePath, GameRequest, in_range},
    },
    app::App,
    http::range::MAX_INTEGER,
    pool::{self, SHORT_JOB_COST},
    problem::Problem,
    view::{game::RequestMethod, moves::MoveView},
};

errors! {
    AdviceErrors: [READ, IN_TURN], [InvalidRequest];
}

/// Maximum milliseconds of a search.
const MAX_BUDGET_MS: u32 = 2_000;

/// Maximum playouts of a search.
const MAX_SAMPLES: u32 = 10_000;

/// The largest limit of a list of suggestions.
const MAX_SUGGESTIONS: u32 = 100;

/// Defines the parameters of a query for advice: its own ones, and how to think.
macro_rules! advice_params {
    ($(#[$attribute:meta])* pub struct $name:ident { $($own:tt)* }) => {
        $(#[$attribute])*
        #[derive(serde::Deserialize, utoipa::IntoParams)]
        #[serde(deny_unknown_fields)]
        #[into_params(parameter_in = Query)]
        pub struct $name {
            $($own)*
            /// How well to think: `strong` by default.
            level: Option<dog_bot::Level>,
            /// Milliseconds to think; by default a few for `fast` and 200 for `strong`. The levels `random`
            /// and `greedy` ignore it. Not together with `samples`.
            #[param(minimum = 1, maximum = 2000)]
            budget_ms: Option<u32>,
            /// Number of playouts, in place of a time. It makes the advice repeatable, unless the playouts
            /// take longer than five seconds, when the search stops. The levels `random` and `greedy`
            /// ignore it.
            #[param(minimum = 1, maximum = 10_000)]
            samples: Option<u32>,
            /// The same seed and `samples` give the same advice; random by default.
            #[param(format = "int64", maximum = 9_007_199_254_740_991_u64)]
            seed: Option<u64>,
            /// How many suggestions the answer has at most; all by default.
            #[param(minimum = 1, maximum = 100)]
            limit: Option<u32>,
            /// Whether each move includes the board after it; true by default.
            board: Option<bool>,
        }

        impl $name {
            /// How to search.
            ///
            /// # Errors
            /// As [`AdviceSettings::new`].
            pub fn settings(&self) -> Result<AdviceSettings, Problem> {
                AdviceSettings::new(self.level, self.budget_ms, self.samples, self.seed)
            }
        }
    };
}
pub(crate) use advice_params;

advice_params! {
    /// How to think about a move.
    pub struct AdviceParams {}
}

/// What a list of suggestions is to have.
#[derive(Clone, Copy)]
pub struct SuggestionListOptions {
    /// The number of suggestions at most.
    limit: usize,
    /// Whether a move has the board after it.
    with_boards: bool,
}

impl SuggestionListOptions {
    /// From the parameters of a query.
    ///
    /// # Errors
    /// `invalid_request`, if the limit is out of range.
    pub fn new(limit: Option<u32>, board: Option<bool>) -> Result<SuggestionListOptions, Problem> {
        let limit = in_range("limit", limit, 1, MAX_SUGGESTIONS)?;
        Ok(SuggestionListOptions {
            limit: limit.map_or(usize::MAX, |limit| limit as usize),
            with_boards: board.unwrap_or(true),
        })
    }
}

/// How to search for a move, checked and with defaults filled in.
#[derive(Clone, Copy)]
pub struct AdviceSettings {
    pub level: Level,
    /// None for the levels that do not search.
    pub budget: Option<Budget>,
    pub seed: u64,
}

impl AdviceSettings {
    /// The settings, with defaults for what is missing.
    ///
    /// # Errors
    /// `invalid_request`, if a number is out of range, or both a time and samples are given.
    pub fn new(
        level: Option<Level>,
        budget_ms: Option<u32>,
        samples: Option<u32>,
        seed: Option<u64>,
    ) -> Result<AdviceSettings, Problem> {
        let level = level.unwrap_or(Level::Strong);
        let millis = in_range("budget_ms", budget_ms, 1, MAX_BUDGET_MS)?;
        let samples = in_range("samples", samples, 1, MAX_SAMPLES)?;
        if millis.is_some() && samples.is_some() {
            let detail = "send budget_ms or samples, not both: samples take the place of a time";
            return Err(Problem::wrong_combination(detail));
        }
        let time = millis.map(|millis| Budget::Time(Duration::from_millis(millis.into())));
        let requested = samples.map(Budget::Samples).or(time);
        let seed = in_range("seed", seed, 0, MAX_INTEGER)?;
        Ok(AdviceSettings {
            level,
            budget: Budget::for_level(level).map(|own| requested.unwrap_or(own)),
            seed: seed.unwrap_or_else(|| rand::random::<u64>() & MAX_INTEGER),
        })
    }
}

/// Ranked advice, best first.
#[derive(Serialize, ToSchema)]
pub struct Advice {
    /// The game's version that the advice is for; absent in an analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    seat: Seat,
    level: Level,
    /// The budget of the search; null for the levels that do not search.
    #[schema(required)]
    budget: Option<BudgetView>,
    /// The seed. The same seed and the same `samples` in the request give the same advice again.
    seed: u64,
    /// Playouts in total; moves that play the same card to the same board share theirs. 0 if a
    /// choice wins, or only one is worth a search; fewer than requested if five seconds were not
    /// enough.
    samples: u32,
    #[schema(min_items = 1)]
    suggestions: Vec<SuggestionView>,
    /// How the seats are taken to play, in turn order: estimated from the rounds before that all
    /// have seen, or as an analysis says it. The seat itself is taken to play on by the net.
    players: Vec<PlayerPolicies>,
    /// Duration of the search in milliseconds; null where the answer may be kept.
    #[schema(required, minimum = 0)]
    pub elapsed_ms: Option<f64>,
}

/// How long to think, as in the request: a time or a number of playouts.
#[derive(Serialize, ToSchema)]
#[schema(as = Budget)]
pub struct BudgetView {
    /// Milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_ms: Option<u32>,
    /// Playouts.
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u32>,
}

/// How a seat is taken to play, as far as it is known: by one of these policies for the whole game.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlayerPolicies {
    #[schema(maximum = 5)]
    pub seat: u8,
    /// The chance of each policy. They sum to 1,000; a policy that is missing has 0.
    #[schema(max_items = 6)]
    pub policies: Vec<PolicyShare>,
}

/// The chance of a policy.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyShare {
    pub policy: PolicyName,
    /// In thousandths.
    #[schema(maximum = 1000)]
    pub permille: u16,
}

impl PlayerPolicies {
    fn new(models: &PlayerModels, seat: Seat) -> PlayerPolicies {
        let shares = PolicyName::ALL.into_iter().zip(models.shares(seat));
        let shares = shares.map(|(policy, permille)| PolicyShare { policy, permille });
        PlayerPolicies {
            seat: seat.number(),
            policies: shares.collect(),
        }
    }
}

/// A choice and its estimated value: a move, or in the exchange an answer.
#[derive(Serialize, ToSchema)]
#[serde(tag = "kind")]
#[schema(as = Suggestion)]
pub enum SuggestionView {
    /// A move and its estimated value.
    #[serde(rename = "play")]
    #[schema(title = "SuggestedMove")]
    Move {
        /// The move to play.
        #[serde(rename = "move")]
        mv: MoveView,
        /// What the move does, in numbers.
        effect: MoveEffect,
        /// The request that plays it, ready to be sent.
        request: RequestToPlay,
        /// The estimated probability that the seat's team wins, 0 to 1: for the best the mean of its
        /// playouts, for others that less the difference. It is 1 or 0 only if that is proved. It
        /// never rises down the list.
        #[schema(minimum = 0, maximum = 1)]
        win_probability: f64,
        /// The standard error of that estimate, from the playouts; 0 if it is proved, null with
        /// fewer than two of them.
        #[schema(required, minimum = 0)]
        standard_error: Option<f64>,
        /// How far the probability is below that of the best suggestion.
        #[schema(minimum = 0, maximum = 1)]
        difference: f64,
        /// The standard error of that difference, from playouts with the same cards; null with
        /// fewer than two of them, for the best itself, and for others that lead to its board with
        /// its card.
        #[schema(required, minimum = 0)]
        standard_error_of_difference: Option<f64>,
        /// Whether the difference is below two of these errors or below 0.01, so the playouts do not
        /// tell the two apart; or both play the same card to the same board, or are proved to win.
        /// False for the best itself.
        equal: bool,
        /// What speaks for or against it: up to four, the most important first. Empty only beyond
        /// the hundredth suggestion.
        #[schema(max_items = 4)]
        reasons: Vec<AdviceReason>,
        /// The plays that followed most often in the playouts, in sampled hands. Empty without
        /// playouts, and in the exchange.
        #[schema(max_items = 3)]
        line: Vec<LinePlay>,
        /// Playouts behind the estimate; 0 if it was made without a search.
        samples: u32,
    },
    /// An answer in the exchange and its estimated value.
    #[serde(rename = "swap")]
    #[schema(title = "SuggestedSwap")]
    Swap {
        /// What to answer.
        swap: SwapRequest,
        /// The request that does it, ready to be sent.
        request: RequestToSwap,
        /// The estimated probability that the seat's team wins, 0 to 1: for the best the mean of its
        /// playouts, for others that less the difference. It is 1 or 0 only if that is proved. It
        /// never rises down the list.
        #[schema(minimum = 0, maximum = 1)]
        win_probability: f64,
        /// The standard error of that estimate, from the playouts; 0 if it is proved, null with
        /// fewer than two of them.
        #[schema(required, minimum = 0)]
        standard_error: Option<f64>,
        /// How far the probability is below that of the best suggestion.
        #[schema(minimum = 0, maximum = 1)]
        difference: f64,
        /// The standard error of that difference, from playouts with the same cards; null with
        /// fewer than two of them, for the best itself, and for others that lead to its board with
        /// its card.
        #[schema(required, minimum = 0)]
        standard_error_of_difference: Option<f64>,
        /// Whether the difference is below two of these errors or below 0.01, so the playouts do not
        /// tell the two apart; or both play the same card to the same board, or are proved to win.
        /// False for the best itself.
        equal: bool,
        /// What speaks for or against it: up to four, the most important first. Empty only beyond
        /// the hundredth suggestion.
        #[schema(max_items = 4)]
        reasons: Vec<AdviceReason>,
        /// The plays that followed most often in the playouts, in sampled hands. Empty without
        /// playouts, and in the exchange.
        #[schema(max_items = 3)]
        line: Vec<LinePlay>,
        /// Playouts behind the estimate; 0 if it was made without a search.
        samples: u32,
    },
}

/// The request that plays a move, ready to be sent.
#[derive(Serialize, ToSchema)]
pub struct RequestToPlay {
    method: RequestMethod,
    /// In an analysis, which has no game, with `{id}` in place of the id.
    path: String,
    body: PlayRequest,
}

/// The request that answers in the exchange, ready to be sent.
#[derive(Serialize, ToSchema)]
pub struct RequestToSwap {
    method: RequestMethod,
    path: String,
    body: SwapRequest,
}

/// Playouts in total; those that several moves share are counted once.
fn playouts(suggestions: &[Suggestion]) -> u32 {
    let mut counted = HashSet::new();
    let counts = |suggestion: &&Suggestion| match suggestion.choice {
        Choice::Play(mv) => {
            let board = suggestion.outcome.map(|outcome| outcome.board);
            counted.insert((mv.card(), board))
        }
        _ => true,
    };
    suggestions
        .iter()
        .filter(counts)
        .map(|suggestion| suggestion.samples)
        .sum()
}

impl SuggestionView {
    /// The suggestion, with the request that carries it out in the game at this path.
    ///
    /// # Errors
    /// None in practice: each suggested move has an outcome.
    pub fn new(
        game: &str,
        view: &SeatView,
        suggestion: Suggestion,
        with_board: bool,
    ) -> Result<SuggestionView, Problem> {
        let (method, samples) = (RequestMethod::Post, suggestion.samples);
        let Estimate {
            win_probability,
            standard_error,
            difference,
            difference_error: standard_error_of_difference,
            equal,
        } = suggestion.estimate;
        let (reasons, line) = (suggestion.reasons, suggestion.line);
        let swap = match suggestion.choice {
            Choice::Play(mv) => {
                let outcome = suggestion.outcome;
                let outcome = outcome.ok_or_else(|| Problem::internal("a move has no outcome"))?;
                let effect = MoveEffect::new(view, &outcome, suggestion.risk);
                let mv = MoveView::new(view.rules, &mv, view.seat, outcome, with_board);
                let request = RequestToPlay {
                    method,
                    path: format!("{game}/play"),
                    body: PlayRequest::new(mv.id.clone()),
                };
                return Ok(SuggestionView::Move {
                    mv,
                    effect,
                    request,
                    win_probability,
                    standard_error,
                    difference,
                    standard_error_of_difference,
                    equal,
                    reasons,
                    line,
                    samples,
                });
            }
            answer => SwapRequest::answering(&answer.action(view.seat))?,
        };
        Ok(SuggestionView::Swap {
            request: RequestToSwap {
                method,
                path: format!("{game}/swap"),
                body: swap.clone(),
            },
            swap,
            win_probability,
            standard_error,
            difference,
            standard_error_of_difference,
            equal,
            reasons,
            line,
            samples,
        })
    }
}

/// Ask for advice.
///
/// Ranked advice for the calling seat: a move to play, or an answer in the exchange.
///
/// Each entry comes with the request that does it, ready to be sent.
#[utoipa::path(get, path = "/v1/games/{id}/suggest-move", tag = "play",
    params(GamePath, AdviceParams),
    responses((status = 200, description = "The advice, best first.", body = Advice),
        AdviceErrors),
    security(("token" = [])))]
pub async fn suggest_move(read: GameRequest) -> Result<HttpResponse, Problem> {
    let (stored, seat) = read.game_of_holder().await?;
    match stored.game.phase() {
        Phase::Exchange => stored.game.check_exchange(seat)?,
        _ => stored.game.check_play(seat)?,
    }
    let params: AdviceParams = read.query()?;
    let settings = params.settings()?;
    let options = SuggestionListOptions::new(params.limit, params.board)?;
    let log = read.app.models.read(&stored).await?;
    let here = read.app.clone();
    let pool = &read.app.advice_pool;
    let cost = expected_cost(&settings, &stored.game.seen_from(seat));
    pool.answer(&read.request, cost, move || {
        let models = here.models.models(&stored, log)?;
        let view = stored.game.seen_from(seat);
        advise(&here, &view, &models, &settings, Some(&stored), options)
    })
    .await
}

/// Searches for advice from what a seat knows: this view of a position, how the seats have played,
/// and nothing else. `game` says where the suggested requests go; none in an analysis.
pub fn advise(
    app: &App,
    view: &SeatView,
    models: &PlayerModels,
    settings: &AdviceSettings,
    game: Option<&StoredGame>,
    options: SuggestionListOptions,
) -> Result<Advice, Problem> {
    let (suggestions, elapsed) = suggestions(app, view, models, settings);
    let id = game.map_or_else(|| "{id}".to_owned(), |stored| stored.id.to_string());
    let path = format!("/v1/games/{id}");
    let samples = playouts(&suggestions);
    let suggestions = suggestions.into_iter().take(options.limit);
    let suggestions = suggestions
        .map(|suggestion| SuggestionView::new(&path, view, suggestion, options.with_boards));
    let budget = settings.budget.map(|budget| {
        let (budget_ms, samples) = match budget {
            Budget::Time(time) => (Some(time.as_millis() as u32), None),
            Budget::Samples(samples) => (None, Some(samples)),
        };
        BudgetView { budget_ms, samples }
    });
    Ok(Advice {
        version: game.map(|stored| stored.game.version()),
        seat: view.seat,
        level: settings.level,
        budget,
        seed: settings.seed,
        samples,
        suggestions: suggestions.collect::<Result<_, _>>()?,
        players: Seat::all(view.rules.seats)
            .map(|seat| PlayerPolicies::new(models, seat))
            .collect(),
        elapsed_ms: Some(elapsed.as_secs_f64() * 1_000.0),
    })
}

/// Everything that the seat may do, best first, and how long the search took without its pauses.
pub fn suggestions(
    app: &App,
    view: &SeatView,
    models: &PlayerModels,
    settings: &AdviceSettings,
) -> (Vec<Suggestion>, Duration) {
    let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
    let (level, budget) = (settings.level, settings.budget);
    let (started, paused, checkpoint) = (Instant::now(), pool::paused(), &pool::checkpoint);
    let nets = &app.nets;
    let suggestions = dog_bot::advise(nets, level, budget, view, models, checkpoint, &mut rng);
    let elapsed = started.elapsed() + paused - pool::paused();
    app.metrics.advised(level, playouts(&suggestions), elapsed);
    (suggestions, elapsed)
}

/// The expected time of the search for advice about this view.
pub fn expected_cost(settings: &AdviceSettings, view: &SeatView) -> Duration {
    let budget = settings.budget;
    budget.map_or(SHORT_JOB_COST, |budget| budget.expected_time(view))
}
