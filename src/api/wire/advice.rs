//! Advice as clients see it, each entry ready to be posted.

use serde::Serialize;
use utoipa::ToSchema;

use super::moves::MoveView;
use crate::{
    api::problem::Problem,
    bot::{Choice, Level, Suggestion},
    rules::{card::Card, moves::LegalMove, seat::Seat, view::SeatView},
};

/// Ranked advice, best first.
#[derive(Serialize, ToSchema)]
pub struct Advice {
    /// The game's version that the advice is for; absent in an analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    seat: Seat,
    #[schema(value_type = Level)]
    level: &'static str,
    /// The seed that gives the same advice again.
    seed: u64,
    #[schema(min_items = 1)]
    suggestions: Vec<SuggestionView>,
    /// Milliseconds the adviser took.
    elapsed_ms: f64,
}

/// Something to do, and how good it looks. It has either `move` or `swap`.
#[derive(Serialize, ToSchema)]
#[schema(as = Suggestion)]
pub struct SuggestionView {
    /// A move to play.
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    mv: Option<MoveView>,
    /// What to do in the exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    swap: Option<SwapView>,
    /// The request that does it, ready to be sent.
    request: RequestView,
    /// The adviser's estimate that the seat's team wins, 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    win_probability: f64,
}

/// What to do in the exchange: one of the three.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SwapChoice)]
pub struct SwapView {
    /// The card to lay down.
    #[serde(skip_serializing_if = "Option::is_none")]
    card: Option<Card>,
    /// True to decline.
    #[serde(skip_serializing_if = "Option::is_none")]
    decline: Option<bool>,
    /// True to ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    ask: Option<bool>,
}

const NO_SWAP: SwapView = SwapView {
    card: None,
    decline: None,
    ask: None,
};

/// A request, ready to be sent.
#[derive(Serialize, ToSchema)]
#[schema(as = Request)]
pub struct RequestView {
    #[schema(examples("POST"))]
    method: &'static str,
    /// In an analysis, which knows of no game, with `{id}` in the place of its id.
    path: String,
    body: RequestBody,
}

/// The body of a suggested request.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum RequestBody {
    Play {
        #[serde(rename = "move")]
        id: String,
    },
    Swap(SwapView),
}

/// Where the suggested requests go.
pub struct Target {
    /// The path of the game, `/v1/games/…`.
    pub game: String,
    /// Its version.
    pub version: Option<u64>,
}

impl Advice {
    /// What the adviser said to this view.
    ///
    /// # Errors
    /// `internal`, if it suggests what the rules refuse.
    pub fn new(
        target: &Target,
        view: &SeatView,
        level: Level,
        seed: u64,
        suggestions: Vec<Suggestion>,
        elapsed_ms: f64,
    ) -> Result<Advice, Problem> {
        let suggestions = suggestions
            .into_iter()
            .map(|suggestion| SuggestionView::new(target, view, suggestion))
            .collect::<Result<_, Problem>>()?;
        let (version, seat) = (target.version, view.seat);
        Ok(Advice {
            version,
            seat,
            level: level.name(),
            seed,
            suggestions,
            elapsed_ms,
        })
    }
}

impl SuggestionView {
    fn new(
        target: &Target,
        view: &SeatView,
        suggestion: Suggestion,
    ) -> Result<SuggestionView, Problem> {
        let (mv, swap) = match suggestion.choice {
            Choice::Play(mv) => {
                let board = suggestion.board.unwrap_or(view.board);
                let legal = LegalMove { mv, board };
                let mv = MoveView::listed(view.rules, &view.board, view.seat, &legal, true)?;
                (Some(mv), None)
            }
            Choice::Give(card) => (
                None,
                Some(SwapView {
                    card: Some(card),
                    ..NO_SWAP
                }),
            ),
            Choice::Decline => (
                None,
                Some(SwapView {
                    decline: Some(true),
                    ..NO_SWAP
                }),
            ),
            Choice::Ask => (
                None,
                Some(SwapView {
                    ask: Some(true),
                    ..NO_SWAP
                }),
            ),
        };
        let (route, body) = match suggestion.choice {
            Choice::Play(mv) => ("play", RequestBody::Play { id: mv.to_string() }),
            _ => ("swap", RequestBody::Swap(swap.unwrap_or(NO_SWAP))),
        };
        let path = format!("{}/{route}", target.game);
        let request = RequestView {
            method: "POST",
            path,
            body,
        };
        Ok(SuggestionView {
            mv,
            swap,
            request,
            win_probability: suggestion.win_probability,
        })
    }
}
