//! The queries that clients send, and how they become the domain's.

use std::time::Duration;

use dog_bot::search::Budget;
use dog_rules::{game::Phase, player::Level};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::request::{in_range, level};
use crate::api::{
    pool::QUICK,
    problem::{Code, Problem},
};

/// Milliseconds of thinking at most.
pub const MAX_BUDGET_MS: u32 = 2_000;

/// Samples of thinking at most.
pub const MAX_SAMPLES: u32 = 10_000;

/// What a sample is taken to cost an adviser, who stops after [`LONGEST`] whatever was asked for.
const A_SAMPLE: Duration = Duration::from_micros(50);

/// The longest that an adviser thinks.
const LONGEST: Duration = Duration::from_secs(5);

/// Games in one part of the list: by default, and at most.
const LIST_LIMIT: (u32, u32) = (20, 100);

/// Reads a query of the right shape.
///
/// # Errors
/// `invalid_request`, saying which parameter is wrong.
pub fn query<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    actix_web::web::Query::<T>::from_query(text)
        .map(actix_web::web::Query::into_inner)
        .map_err(|error| Problem::new(Code::InvalidRequest, error))
}

/// No parameters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoQuery {}

/// How to wait for a change.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GameParams {
    /// Wait until the game is past this version, up to 25 seconds; then the answer is 304.
    #[param(format = "uint64")]
    pub after_version: Option<u64>,
}

/// Where a stream is to begin, and by whose right.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsParams {
    /// The last version that was received: the stream goes on after it. For those who cannot send
    /// the header `Last-Event-ID`.
    #[param(value_type = Option<u64>)]
    pub last_event_id: Option<String>,
    /// A ticket in place of a token, for those who cannot send one.
    pub ticket: Option<String>,
}

/// Which games to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListParams {
    /// Only games in this phase.
    #[param(value_type = Option<Phase>)]
    phase: Option<String>,
    /// Where to go on: `next` of an earlier answer.
    #[param(pattern = "^(0|[1-9a-f][0-9a-f]{0,14}|[1-7][0-9a-f]{15})$")]
    pub cursor: Option<String>,
    /// How many at most; 20 if left out.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

impl ListParams {
    /// The phase asked for.
    ///
    /// # Errors
    /// `invalid_request`, if there is no such phase.
    pub fn phase(&self) -> Result<Option<Phase>, Problem> {
        let named = |name: &String| {
            Phase::by_name(name).ok_or_else(|| {
                let names = Phase::ALL.map(Phase::name).join(", ");
                Problem::new(
                    Code::InvalidRequest,
                    format!("phase must be one of {names}"),
                )
            })
        };
        self.phase.as_ref().map(named).transpose()
    }

    /// How many games at most.
    ///
    /// # Errors
    /// `invalid_request`, if out of range.
    pub fn limit(&self) -> Result<u32, Problem> {
        let (default, max) = LIST_LIMIT;
        in_range("limit", self.limit, 1, max).map(|limit| limit.unwrap_or(default))
    }
}

/// What a list of moves is to hold.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MovesParams {
    /// Whether each move comes with the board after it; true if left out. A seven can have
    /// thousands of outcomes.
    board: Option<bool>,
}

impl MovesParams {
    /// Whether boards are wanted.
    pub fn boards(&self) -> bool {
        self.board.unwrap_or(true)
    }
}

/// How to think about a move.
#[derive(Clone, Debug, Default, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AdviceParams {
    /// How well to think: `strong` if left out.
    #[param(value_type = Option<Level>)]
    #[schema(value_type = Option<Level>)]
    pub(super) level: Option<String>,
    /// Milliseconds to think; a few of them for `fast` and 200 for `strong` if left out. The
    /// levels `random` and `greedy` never need them. Not together with `samples`.
    #[param(minimum = 1, maximum = 2000)]
    #[schema(minimum = 1, maximum = 2000)]
    pub(super) budget_ms: Option<u32>,
    /// Playouts to think with in place of a time, which makes the answer repeatable, unless they
    /// take longer than five seconds, when no more are made. The levels `random` and `greedy` take
    /// none.
    #[param(minimum = 1, maximum = 10_000)]
    #[schema(minimum = 1, maximum = 10_000)]
    pub(super) samples: Option<u32>,
    /// The same seed gives the same advice; drawn at random if left out.
    #[param(format = "uint64")]
    #[schema(format = "uint64")]
    pub(super) seed: Option<u64>,
}

/// How to think about a move, checked and complete.
pub struct Thinking {
    pub level: Level,
    /// None for the levels that do not think ahead.
    pub budget: Option<Budget>,
    pub seed: u64,
}

impl AdviceParams {
    /// What is asked for, with what was left out.
    ///
    /// # Errors
    /// `invalid_request`, if there is no such level, a number is out of range, or both a time and
    /// samples are given.
    pub fn thinking(&self) -> Result<Thinking, Problem> {
        let level = self.level()?;
        let asked = self.budget()?;
        let budget = Budget::of(level).map(|own| asked.unwrap_or(own));
        // Of 53 bits, since a client that reads numbers as doubles is to be able to send it back.
        let seed = self.seed.unwrap_or_else(|| rand::random::<u64>() >> 11);
        Ok(Thinking {
            level,
            budget,
            seed,
        })
    }

    /// The parameters in the body of an analysis, if that is what they are there.
    pub fn of_body(body: &Value) -> Option<AdviceParams> {
        let names = ["level", "budget_ms", "samples", "seed"];
        let told = names.map(|name| Some((name.to_owned(), body.get(name)?.clone())));
        let told: Map<String, Value> = told.into_iter().flatten().collect();
        serde_json::from_value(told.into()).ok()
    }

    /// How long an adviser will be busy with this, about; next to nothing if it will be refused.
    pub fn cost(&self) -> Duration {
        match self.thinking() {
            Ok(Thinking {
                budget: Some(Budget::Time(time)),
                ..
            }) => time,
            Ok(Thinking {
                budget: Some(Budget::Samples(samples)),
                ..
            }) => LONGEST.min(A_SAMPLE * samples),
            _ => QUICK,
        }
    }

    fn level(&self) -> Result<Level, Problem> {
        self.level.as_deref().map_or(Ok(Level::Strong), level)
    }

    fn budget(&self) -> Result<Option<Budget>, Problem> {
        let millis = in_range("budget_ms", self.budget_ms, 1, MAX_BUDGET_MS)?;
        let samples = in_range("samples", self.samples, 1, MAX_SAMPLES)?;
        match (millis, samples) {
            (Some(_), Some(_)) => Err(Problem::new(
                Code::InvalidRequest,
                "send budget_ms or samples, not both: samples take the place of a time",
            )),
            (_, Some(samples)) => Ok(Some(Budget::Samples(samples))),
            (millis, None) => {
                let time = |millis: u32| Budget::Time(Duration::from_millis(millis.into()));
                Ok(millis.map(time))
            }
        }
    }
}
