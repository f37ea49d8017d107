//! Answering a puzzle.

use actix_web::{HttpRequest, HttpResponse, web::Path};
use dog_bot::Choice;
use dog_rules::{Action, Outcome, SeatView, judge};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::puzzle::{PuzzlePath, find};
use crate::{
    api::{
        errors::errors,
        play::{actions::SwapRequest, advice::SuggestionView},
    },
    http::{
        content::send_json,
        json::from_query,
        request::{Body, NoQuery},
    },
    problem::{Code, Problem},
};

errors! {
    AnswerErrors: [BODY], [PuzzleNotFound, IllegalMove, IllegalExchange, CardNotInHand, UnknownCard];
}

/// The answer to a puzzle: a move, or an answer in the exchange.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"move": "Q:17>29"}))]
pub struct PuzzleAnswerRequest {
    /// The id of the move, as for a play.
    #[serde(rename = "move")]
    mv: Option<String>,
    /// The answer, as in a game.
    swap: Option<SwapRequest>,
}

/// Whether an answer is right, and what is best and why.
#[derive(Serialize, ToSchema)]
pub struct PuzzleResult {
    /// Whether it is the best choice, or plays its card to its board.
    right: bool,
    /// The chance to win after it, 0 to 1, if it is among the suggestions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0, maximum = 1)]
    chance: Option<f64>,
    /// The best three choices, and the best of each other card, best first.
    #[schema(min_items = 2)]
    suggestions: Vec<SuggestionView>,
}

/// What a move comes to; none in the exchange.
fn outcome(view: &SeatView, choice: Choice) -> Result<Option<Outcome>, Problem> {
    let Choice::Play(mv) = choice else {
        return Ok(None);
    };
    let outcome = judge::judge(view.rules, &view.board, view.seat, view.hand, &mv)?;
    Ok(Some(outcome))
}

/// Answer a puzzle.
///
/// Whether a choice is the best one, and the best ones with their chances and reasons.
///
/// They were found when the puzzle was, so it takes no search. Nothing is stored.
#[utoipa::path(post, path = "/v1/puzzles/{number}/answer", tag = "puzzles",
    params(PuzzlePath),
    request_body = PuzzleAnswerRequest,
    responses((status = 200, description = "Whether it is right, and what is best.", body = PuzzleResult),
        AnswerErrors))]
pub async fn answer_puzzle(
    path: Path<PuzzlePath>,
    request: HttpRequest,
    body: Body<PuzzleAnswerRequest>,
) -> Result<HttpResponse, Problem> {
    let NoQuery {} = from_query(request.query_string())?;
    let (_, puzzle, rules) = find(&path.number)?;
    let view = puzzle.view(&rules).map_err(Problem::internal)?;
    let choice = match body.content? {
        PuzzleAnswerRequest {
            mv: Some(id),
            swap: None,
        } if !view.exchanging => {
            let mv = id
                .parse()
                .map_err(|error| Problem::new(Code::IllegalMove, error))?;
            Choice::Play(mv)
        }
        PuzzleAnswerRequest {
            mv: None,
            swap: Some(swap),
        } if view.exchanging => swap_choice(&view, swap)?,
        _ => {
            let detail = "send move where the phase is play, and swap where it is exchange";
            return Err(Problem::wrong_combination(detail));
        }
    };
    let given = match (choice, outcome(&view, choice)?) {
        (Choice::Play(mv), Some(outcome)) => mv.card().zip(Some(outcome.board)),
        _ => None,
    };
    let (mut chance, mut right, mut suggestions) = (None, false, Vec::new());
    for (place, answer) in puzzle.answers.into_iter().enumerate() {
        let outcome = outcome(&view, answer.choice)?;
        let found = answer.suggestion(outcome);
        let is_same = found.choice == choice || given.is_some() && found.card_and_board() == given;
        if is_same && chance.is_none() {
            chance = Some(found.estimate.win_probability);
            right = place == 0;
        }
        suggestions.push(SuggestionView::new("/v1/games/{id}", &view, found, true)?);
    }
    let body = PuzzleResult {
        right,
        chance,
        suggestions,
    };
    send_json(&request, "no-store", &body)
}

/// The answer in the exchange, which the seat may give.
///
/// # Errors
/// `unknown_card`, `card_not_in_hand`, `illegal_exchange`, `invalid_request`.
fn swap_choice(view: &SeatView, swap: SwapRequest) -> Result<Choice, Problem> {
    let choice = match swap.action(view.seat)? {
        Action::Offer { card, .. } if !view.hand.contains(card) => {
            let detail = format!("there is no {card} in the hand");
            return Err(Problem::new(Code::CardNotInHand, detail).card(card));
        }
        Action::Offer { card, .. } => Choice::Offer(card),
        Action::Ask { .. } => Choice::Ask,
        Action::Pass { .. } => Choice::Pass,
        _ => Choice::Decline,
    };
    let detail = "by these rules the seat may not answer so now";
    let may = Choice::answers(view).contains(&choice);
    may.then_some(choice)
        .ok_or_else(|| Problem::new(Code::IllegalExchange, detail))
}
