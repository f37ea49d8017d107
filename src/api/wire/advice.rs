//! Advice as clients see it, each entry ready to be posted.

use std::collections::HashSet;

use dog_bot::{Captured, Choice, Effect, Level, Suggestion, search::Budget};
use dog_rules::{card::Card, moves::LegalMove, seat::Seat, view::SeatView};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    moves::{self, MoveView},
    query::Thinking,
};
use crate::api::problem::Problem;

/// Ranked advice, best first.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "version": 17,
    "seat": 0,
    "level": "strong",
    "budget": {"budget_ms": 200},
    "seed": 1,
    "samples": 9120,
    "suggestions": [{
        "move": {
            "id": "3:20>23",
            "card": "3",
            "as": null,
            "kind": "advance",
            "seat": 0,
            "parts": [{"seat": 0, "from": "20", "to": "23", "steps": 3}],
            "captures": [{"seat": 1, "from": "23"}],
            "board": [
                {"track": [23, 57], "goal": [], "kennel": 2, "fresh": false},
                {"track": [], "goal": [], "kennel": 4, "fresh": false},
                {"track": [], "goal": [], "kennel": 4, "fresh": false},
                {"track": [], "goal": [], "kennel": 4, "fresh": false}
            ]
        },
        "effect": {
            "captured": {"own": 0, "partner": 0, "others": 1},
            "pieces_home": 0,
            "leaves_kennel": false,
            "steps": 3,
            "risk": 0.0312
        },
        "request": {
            "method": "POST",
            "path": "/v1/games/1y51r0ztfn8hp2zw9f8m33tzg0/play",
            "body": {"move": "3:20>23"}
        },
        "win_probability": 0.5642,
        "standard_error": 0.0012,
        "samples": 3104
    }],
    "elapsed_ms": 200.4
}))]
pub struct Advice {
    /// The game's version that the advice is for; absent in an analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    seat: Seat,
    #[schema(value_type = Level)]
    level: &'static str,
    /// How long it was to think; null for the levels that do not think ahead.
    #[schema(required)]
    budget: Option<BudgetView>,
    /// The seed. With it and the same samples for a budget the advice is the same again.
    seed: u64,
    /// Playouts in all, which moves that play one card to one board share: none if there is one
    /// thing to do, and fewer than asked for if five seconds were not enough.
    samples: u32,
    #[schema(min_items = 1)]
    suggestions: Vec<SuggestionView>,
    /// Milliseconds the adviser took.
    elapsed_ms: f64,
}

/// How long to think: a time or a number of playouts, as a request says it.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Budget)]
pub enum BudgetView {
    Time {
        /// Milliseconds.
        budget_ms: u32,
    },
    Samples {
        /// Playouts.
        samples: u32,
    },
}

/// Something to do, and how good it looks. It has either `move` and `effect`, or `swap`.
#[derive(Serialize, ToSchema)]
#[schema(as = Suggestion)]
pub struct SuggestionView {
    /// A move to play.
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    mv: Option<MoveView>,
    /// What the move does, in numbers; absent in the exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<EffectView>,
    /// What to do in the exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    swap: Option<SwapView>,
    /// The request that does it, ready to be sent.
    request: RequestView,
    /// The adviser's estimate that the seat's team wins, 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    win_probability: f64,
    /// The standard error of that estimate, as far as it comes from playouts; null with fewer than
    /// two of them.
    #[schema(required, minimum = 0)]
    standard_error: Option<f64>,
    /// Playouts that the estimate rests on; 0 if it was made without looking ahead.
    samples: u32,
}

/// What a move does, in numbers. Where it does so stands in the move.
#[derive(Serialize, ToSchema)]
#[schema(as = Effect)]
pub struct EffectView {
    captured: CapturedView,
    /// Pieces of the seat's team that come into their goals.
    pieces_home: u8,
    /// Whether a piece leaves its kennel.
    leaves_kennel: bool,
    /// Steps walked in all, forward or back.
    steps: u8,
    /// The chance, 0 to 1, that a piece of the team that the move has moved is captured before the
    /// seat's next turn: the share of the playouts in which it was; null without playouts.
    #[schema(required, minimum = 0, maximum = 1)]
    risk: Option<f64>,
}

/// How many pieces are sent to their kennels, by whose they are.
#[derive(Serialize, ToSchema)]
#[schema(as = Captured)]
pub struct CapturedView {
    /// The seat's own.
    own: u8,
    /// Its partner's.
    partner: u8,
    /// The other teams'.
    others: u8,
}

/// What to do in the exchange: one of the three.
#[derive(Clone, Copy, Default, Serialize, ToSchema)]
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
        thinking: &Thinking,
        suggestions: Vec<Suggestion>,
        elapsed_ms: f64,
    ) -> Result<Advice, Problem> {
        let samples = playouts(&suggestions);
        let suggestions = suggestions
            .into_iter()
            .map(|suggestion| SuggestionView::new(target, view, suggestion))
            .collect::<Result<_, Problem>>()?;
        let (version, seat) = (target.version, view.seat);
        Ok(Advice {
            version,
            seat,
            level: thinking.level.name(),
            budget: thinking.budget.map(BudgetView::from),
            seed: thinking.seed,
            samples,
            suggestions,
            elapsed_ms,
        })
    }
}

/// Playouts in all, those that several moves share counted once.
pub fn playouts(suggestions: &[Suggestion]) -> u32 {
    let mut counted = HashSet::new();
    let counts = |suggestion: &&Suggestion| match suggestion.choice {
        Choice::Play(mv) => counted.insert((mv.card(), suggestion.board)),
        _ => true,
    };
    let samples = |suggestion: &Suggestion| suggestion.samples;
    suggestions.iter().filter(counts).map(samples).sum()
}

/// A probability or its error with as many digits as tell something.
fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

impl From<Budget> for BudgetView {
    fn from(budget: Budget) -> BudgetView {
        match budget {
            Budget::Time(time) => BudgetView::Time {
                budget_ms: time.as_millis() as u32,
            },
            Budget::Samples(samples) => BudgetView::Samples { samples },
        }
    }
}

impl EffectView {
    fn new(effect: Effect, risk: Option<f64>) -> EffectView {
        let Effect {
            captured:
                Captured {
                    own,
                    partner,
                    others,
                },
            pieces_home,
            leaves_kennel,
            steps,
        } = effect;
        EffectView {
            captured: CapturedView {
                own,
                partner,
                others,
            },
            pieces_home,
            leaves_kennel,
            steps,
            risk: risk.map(rounded),
        }
    }
}

impl SuggestionView {
    fn new(
        target: &Target,
        view: &SeatView,
        suggestion: Suggestion,
    ) -> Result<SuggestionView, Problem> {
        let mut shown = SuggestionView {
            mv: None,
            effect: None,
            swap: None,
            request: RequestView::new(target, suggestion.choice),
            win_probability: rounded(suggestion.win_probability),
            standard_error: suggestion.standard_error.map(rounded),
            samples: suggestion.samples,
        };
        match suggestion.choice {
            Choice::Play(mv) => {
                let board = suggestion.board.unwrap_or(view.board);
                let legal = LegalMove { mv, board };
                let outcome = moves::outcome(view.rules, &view.board, view.seat, &legal)?;
                let effect = Effect::of(view, &outcome);
                shown.effect = Some(EffectView::new(effect, suggestion.risk));
                let mv = MoveView::with_outcome(view.rules, &mv, view.seat, outcome, true);
                shown.mv = Some(mv);
            }
            answer => shown.swap = Some(SwapView::of(answer)),
        }
        Ok(shown)
    }
}

impl SwapView {
    fn of(choice: Choice) -> SwapView {
        let mut swap = SwapView::default();
        match choice {
            Choice::Give(card) => swap.card = Some(card),
            Choice::Decline => swap.decline = Some(true),
            Choice::Ask => swap.ask = Some(true),
            Choice::Play(_) => {}
        }
        swap
    }
}

impl RequestView {
    /// The request that makes this choice.
    fn new(target: &Target, choice: Choice) -> RequestView {
        let (route, body) = match choice {
            Choice::Play(mv) => ("play", RequestBody::Play { id: mv.to_string() }),
            answer => ("swap", RequestBody::Swap(SwapView::of(answer))),
        };
        RequestView {
            method: "POST",
            path: format!("{}/{route}", target.game),
            body,
        }
    }
}
