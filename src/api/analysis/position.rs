//! Positions that clients send.

use std::time::Duration;

use dog_bot::{Level, player_model::PlayerModels, search::Budget};
use dog_picture::PictureOptions;
use dog_rules::{Board, Card, Cards, ExchangeState, Rules, Seat, SeatView, exchange::is_possible};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    board::{SeatBoardRequest, read_board},
    knowledge::KnownCards,
};
use crate::{
    api::{
        parameters::{BoundedList, read_cards, seat_of},
        play::{advice::AdviceSettings, legal_moves::LegalMoves, seven::SevenView},
        watch::pictures::{Preview, position_picture},
    },
    problem::{Code, Problem, Reason},
    view::{
        moves::{MovesOptions, PositionString},
        rules::{RulesRequest, checked_rules},
    },
};

/// The longest search that is one of many.
const MAX_SHORT_TIME: Duration = Duration::from_millis(100);

/// Defines the body of an analysis: a position and the hand of the seat to move, then what else the
/// body has.
macro_rules! analysis {
    ($(#[$attribute:meta])* pub struct $name:ident { $($members:tt)* }) => {
        #[derive(Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        $(#[$attribute])*
        pub struct $name {
            /// The rules to play by; `dogspiel-it` by default.
            #[serde(default)]
            rules: Option<RulesRequest>,
            /// One entry per seat, in turn order. Either this or `position`.
            #[schema(value_type = Option<Vec<SeatBoardRequest>>, min_items = 4, max_items = 6)]
            board: Option<BoundedList<SeatBoardRequest>>,
            /// The board as text. Either this or `board`.
            #[schema(value_type = Option<PositionString>)]
            position: Option<String>,
            /// The seat to move.
            #[schema(maximum = 5)]
            seat: u8,
            /// Its hand.
            #[schema(value_type = Vec<Card>, min_items = 1)]
            hand: Vec<String>,
            $($members)*
        }

        impl $name {
            /// Takes the position out of the body.
            ///
            /// # Errors
            /// What is wrong with it, with the code of that error.
            pub fn take_position(&mut self) -> Result<AnalysisPosition, Problem> {
                let rules = checked_rules(self.rules.take())?;
                let board = read_board(&rules, self.board.take(), self.position.as_deref())?;
                let seat = seat_of(self.seat, &rules, "seat")?;
                let hand = read_cards(&self.hand, "/hand")?;
                AnalysisPosition::new(rules, board, seat, hand)
            }
        }
    };
}

analysis! {
    /// A position and the hand of the seat to move.
    #[schema(example = json!({
        "rules": {"preset": "hausregeln"},
        "board": [{"track": [57]}, {}, {}, {}],
        "seat": 0,
        "hand": ["7", "joker"]
    }))]
    pub struct MovesAnalysis {}
}

analysis! {
    /// A position, the hand of the seat to move, and a begun seven.
    #[schema(example = json!({
        "board": [{"track": [17, 30]}, {}, {}, {}],
        "seat": 0,
        "hand": ["7"],
        "begun": "7:17>20"
    }))]
    pub struct SevenAnalysis {
        /// The seven so far: `7:` or `joker=7:`, then the parts that are chosen.
        #[schema(max_length = 63)]
        pub begun: String,
    }
}

analysis! {
    /// A position, the hand of the seat to move, what it knows, and how long to think.
    #[schema(example = json!({
        "board": [{"track": [57]}, {}, {}, {}],
        "seat": 0,
        "hand": ["7", "joker"],
        "known": {"counts": [2, 2, 2, 2]},
        "level": "strong",
        "samples": 500,
        "seed": 1
    }))]
    pub struct AdviceAnalysis {
        /// What the seat is to do: play a card, by default, or answer in the exchange.
        phase: Option<AnalysisPhase>,
        /// What each seat has done in the exchange, as a game shows it; by default all are `pending`.
        /// Only in the phase `exchange`.
        #[schema(value_type = Option<Vec<ExchangeState>>, min_items = 4, max_items = 6)]
        exchange: Option<BoundedList<ExchangeState>>,
        /// What else the seat knows.
        known: Option<KnownCards>,
        /// How well to think: `strong` by default.
        level: Option<Level>,
        /// Milliseconds to think; by default a few for `fast` and 200 for `strong`. The levels `random`
        /// and `greedy` ignore it. Not together with `samples`.
        #[schema(minimum = 1, maximum = 2000)]
        budget_ms: Option<u32>,
        /// Number of playouts, in place of a time. It makes the advice repeatable, unless the playouts
        /// take longer than five seconds, when the search stops. The levels `random` and `greedy`
        /// ignore it.
        #[schema(minimum = 1, maximum = 10_000)]
        samples: Option<u32>,
        /// The same seed and `samples` give the same advice; random by default.
        #[schema(format = "int64", maximum = 9_007_199_254_740_991_u64)]
        seed: Option<u64>,
    }
}

/// What a seat is to do in an analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnalysisPhase {
    #[default]
    Play,
    Exchange,
}

/// A valid position with a seat to move and its hand.
pub struct AnalysisPosition {
    pub rules: Rules,
    board: Board,
    seat: Seat,
    hand: Cards,
}

impl AnalysisPosition {
    /// A position that may be analysed.
    ///
    /// # Errors
    /// `invalid_hand`, `finished_position`.
    pub fn new(
        rules: Rules,
        board: Board,
        seat: Seat,
        hand: Cards,
    ) -> Result<AnalysisPosition, Problem> {
        if hand.is_empty() {
            let empty = Problem::new(Code::InvalidHand, "the hand is empty");
            return Err(empty.because(Reason::EmptyHand));
        }
        let deck = rules.deck();
        let too_many = |card: &Card| hand.count(*card) > deck.count(*card);
        if let Some(card) = hand.ranks().find(too_many) {
            let detail = format!("the deck has only {} {card}", deck.count(card));
            return Err(Problem::new(Code::InvalidHand, detail)
                .because(Reason::MoreThanDeck)
                .card(card));
        }
        if let Some(team) = board.winner(&rules) {
            let detail = format!("team {team} has all its pieces in its goals: the game is over");
            return Err(Problem::new(Code::FinishedPosition, detail));
        }
        Ok(AnalysisPosition {
            rules,
            board,
            seat,
            hand,
        })
    }

    /// The legal moves of the seat.
    pub fn legal_moves(&self, options: MovesOptions) -> Result<LegalMoves, Problem> {
        let (rules, board) = (&self.rules, &self.board);
        LegalMoves::new(None, rules, board, self.seat, self.hand, options)
    }

    /// The parts that may come next in a begun seven of the seat.
    pub fn next_parts(&self, begun: &str) -> Result<SevenView, Problem> {
        SevenView::new(&self.rules, &self.board, self.seat, self.hand, begun)
    }

    /// The position, or the legal move of that id, as a picture.
    pub fn picture(&self, id: Option<&str>, options: PictureOptions) -> Result<String, Problem> {
        let (rules, board, seat) = (&self.rules, &self.board, self.seat);
        let preview = |id| Preview::with_hand(rules, board, seat, self.hand, id);
        let preview = id.map(preview).transpose()?;
        let svg = position_picture(rules, board, seat, preview.as_ref(), options);
        Ok(svg)
    }
}

impl AdviceAnalysis {
    /// The settings of the search.
    ///
    /// # Errors
    /// As [`AdviceSettings::new`].
    pub fn settings(&self) -> Result<AdviceSettings, Problem> {
        AdviceSettings::new(self.level, self.budget_ms, self.samples, self.seed)
    }

    /// The settings of a search that is one of many.
    ///
    /// # Errors
    /// As [`AdviceSettings::new`]; `invalid_request`, if it may take longer than the others can wait.
    pub fn short_settings(&self) -> Result<AdviceSettings, Problem> {
        let settings = self.settings()?;
        let is_short = match settings.budget {
            Some(Budget::Time(time)) => time <= MAX_SHORT_TIME,
            Some(Budget::Samples(_)) => self.seed.is_some(),
            None => true,
        };
        let detail = "send samples and seed, or a budget_ms of at most 100";
        is_short
            .then_some(settings)
            .ok_or_else(|| Problem::wrong_combination(detail))
    }
}

/// A position to give advice on.
pub struct AdvicePosition {
    position: AnalysisPosition,
    /// What each seat has done in the exchange, if it is still going on.
    exchange: Option<Vec<ExchangeState>>,
    known: Option<KnownCards>,
}

impl AdvicePosition {
    /// A position of which no more is known.
    pub fn without_knowledge(position: AnalysisPosition) -> AdvicePosition {
        AdvicePosition {
            position,
            exchange: None,
            known: None,
        }
    }

    /// The position of an analysis with advice.
    ///
    /// # Errors
    /// What is wrong with it, with the code of that error.
    pub fn read(mut request: AdviceAnalysis) -> Result<AdvicePosition, Problem> {
        let position = request.take_position()?;
        let exchange = match (request.phase.unwrap_or_default(), request.exchange) {
            (AnalysisPhase::Play, None) => None,
            (AnalysisPhase::Play, Some(_)) => {
                let detail = "exchange is for the phase exchange";
                return Err(Problem::wrong_combination(detail));
            }
            (AnalysisPhase::Exchange, None) => {
                let seats = usize::from(position.rules.seats);
                Some(vec![ExchangeState::Pending; seats])
            }
            (AnalysisPhase::Exchange, Some(BoundedList(states))) => Some(states),
        };
        Ok(AdvicePosition {
            position,
            exchange,
            known: request.known,
        })
    }

    /// Whether the seat is to answer in the exchange.
    pub fn is_exchange(&self) -> bool {
        self.exchange.is_some()
    }

    /// How the seats are taken to play.
    ///
    /// # Errors
    /// `invalid_knowledge`.
    pub fn models(&self) -> Result<PlayerModels, Problem> {
        let known = self.known.as_ref();
        known.map_or_else(
            || Ok(PlayerModels::default()),
            |known| known.models(&self.position.rules),
        )
    }

    /// What the seat knows. Without `known`, the others hold as many cards as this seat.
    ///
    /// # Errors
    /// `invalid_knowledge`, if it contradicts itself, the hand or the deck. `invalid_hand`, if
    /// nothing is known and the deck is too small for such hands.
    pub fn view(&self) -> Result<SeatView<'_>, Problem> {
        let AnalysisPosition {
            rules,
            board,
            seat,
            hand,
        } = &self.position;
        let mut view = SeatView::to_play(rules, *board, *seat, *hand);
        if let Some(states) = &self.exchange {
            set_exchange(&mut view, states)?;
        }
        if let Some(known) = &self.known {
            known.add_to(&mut view)?;
            return Ok(view);
        }
        let (seats, cards, deck) = (rules.seats, hand.len(), rules.deck().len());
        if u32::from(seats) * u32::from(cards) > u32::from(deck) {
            let detail = format!("the deck has {deck} cards, too few for {seats} hands of {cards}");
            return Err(Problem::new(Code::InvalidHand, detail).because(Reason::MoreThanDeck));
        }
        Ok(view)
    }
}

/// Puts the seat into an exchange in which the seats are in these states.
///
/// # Errors
/// `invalid_knowledge`, if no game can reach them, or if the seat has nothing to answer.
fn set_exchange(view: &mut SeatView, states: &[ExchangeState]) -> Result<(), Problem> {
    let rules = view.rules;
    if states.len() != usize::from(rules.seats) {
        return Err(invalid_exchange(format!(
            "exchange must have {} entries",
            rules.seats
        )));
    }
    view.exchanging = true;
    for (seat, &state) in rules.ring().seats().zip(states) {
        view.exchange[seat] = state;
        view.asked[seat] = state == ExchangeState::Asked;
    }
    for seat in rules.ring().seats() {
        let partner = seat.partner(rules.seats);
        if !is_possible(
            rules.exchange,
            [view.exchange[seat], view.exchange[partner]],
        ) {
            let detail = format!("{seat} and {partner} cannot have done this in one exchange");
            return Err(invalid_exchange(detail));
        }
    }
    if view.exchange_choices().is_empty() {
        return Err(invalid_exchange(format!(
            "{} has nothing to answer",
            view.seat
        )));
    }
    Ok(())
}

fn invalid_exchange(detail: String) -> Problem {
    Problem::new(Code::InvalidKnowledge, detail).at("/exchange".to_owned(), None)
}
