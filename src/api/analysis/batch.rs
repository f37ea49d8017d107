//! Advice on many positions that a client sends at once.

use std::time::{Duration, Instant};

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, rt::time::timeout, web::Data};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::position::{AdviceAnalysis, AdvicePosition};
use crate::{
    api::{
        errors::errors,
        parameters::{BoundedList, InnerBody},
        play::advice::{Advice, SuggestionListOptions, advise},
    },
    app::App,
    http::{
        json::{from_query, to_json},
        request::{Body, MAX_LIST_BODY},
    },
    limits::{ClientAddress, Cost, LimitState, memory::no_memory},
    pool::SHORT_JOB_COST,
    problem::{Code, Problem, ProblemDetails, announce::announce},
};

errors! {
    QuestionsErrors: [BODY, KEY], [];
}

/// Maximum number of questions.
const MAX_QUESTIONS: usize = 16;

/// How long all of them may take.
const MAX_TIME: Duration = Duration::from_secs(10);

/// What a question is expected to take.
const QUESTION_COST: Duration = Duration::from_millis(100);

/// Asks for advice on many positions.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"questions": [
    {"position": "57 / - / - / -", "seat": 0, "hand": ["7"], "samples": 100, "seed": 1},
    {"position": "60 / 14 / - / -", "seat": 0, "hand": ["J", "2"], "budget_ms": 50}
]}))]
pub struct QuestionList {
    /// What `POST /v1/analysis/suggest-move` takes, for each: with `samples` and `seed`, or a
    /// `budget_ms` of at most 100.
    #[schema(value_type = Vec<AdviceAnalysis>, min_items = 1, max_items = 16)]
    questions: BoundedList<InnerBody, MAX_QUESTIONS>,
}

/// Parameters of many analyses.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct QuestionsParams {
    /// How many suggestions each answer has at most; all by default.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// Whether each move includes the board after it; true by default.
    board: Option<bool>,
}

/// The answers, in the order of the questions.
#[derive(Serialize, ToSchema)]
pub struct AnswerList {
    answers: Vec<QuestionAnswer>,
}

/// The answer to a question: advice, or what is wrong.
#[derive(Serialize, ToSchema)]
pub struct QuestionAnswer {
    /// The HTTP status that the question alone would have had.
    #[schema(minimum = 200, maximum = 599)]
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Advice>, nullable = false)]
    advice: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    problem: Option<ProblemDetails>,
}

impl From<Result<Box<RawValue>, Problem>> for QuestionAnswer {
    fn from(answer: Result<Box<RawValue>, Problem>) -> QuestionAnswer {
        let (status, advice, problem) = match answer {
            Ok(advice) => (StatusCode::OK, Some(advice), None),
            Err(problem) => (problem.code().status(), None, Some(*problem.details)),
        };
        QuestionAnswer {
            status: status.as_u16(),
            advice,
            problem,
        }
    }
}

/// Ask for advice in many positions.
///
/// Ranked advice on up to 16 positions, one after the other.
///
/// It counts as so many requests for advice. A faulty question has a `problem` in its place, and so
/// has one that is not reached within ten seconds. Nothing is stored.
#[utoipa::path(post, path = "/v1/analysis/suggest-moves", tag = "analysis",
    params(QuestionsParams),
    request_body = QuestionList,
    responses((status = 200, description = "The answers, in the order of the questions.", body = AnswerList),
        QuestionsErrors))]
pub async fn analyse_suggest_moves(
    app: Data<App>,
    client: ClientAddress,
    limits: Data<LimitState>,
    request: HttpRequest,
    body: Body<QuestionList, MAX_LIST_BODY>,
) -> Result<HttpResponse, Problem> {
    let params: QuestionsParams = from_query(request.query_string())?;
    let options = SuggestionListOptions::new(params.limit, params.board)?;
    let questions = body.content?.questions.not_empty("questions")?;
    let limit = limits.charge_more(client, Cost::Advice, questions.len() as u32 - 1, 0)?;
    let until = Instant::now() + MAX_TIME;
    let (mut answers, mut memory) = (Vec::new(), Vec::new());
    for question in questions {
        let here = app.clone();
        let answer = app.advice_pool.run(client, QUESTION_COST, move || {
            let analysis: AdviceAnalysis = question.read()?;
            let settings = analysis.short_settings();
            let position = AdvicePosition::read(analysis)?;
            let (view, models) = (position.view()?, position.models()?);
            let advice = advise(&here, &view, &models, &settings?, None, options)?;
            RawValue::from_string(to_json(&advice)?).map_err(Problem::internal)
        });
        let late = || Problem::new(Code::Unavailable, "the questions before it took too long");
        let answer = timeout(until.saturating_duration_since(Instant::now()), answer).await;
        let answer = answer.unwrap_or_else(|_| Err(late())).and_then(|advice| {
            let kept = app.memory.reserve(client.0, advice.get().len());
            memory.push(kept.ok_or_else(no_memory)?);
            Ok(advice)
        });
        answers.push(answer.into());
    }
    let answers = move || Ok(AnswerList { answers });
    let mut response = app
        .advice_pool
        .answer(&request, SHORT_JOB_COST, answers)
        .await?;
    announce(limit.as_ref(), response.headers_mut());
    Ok(response)
}
