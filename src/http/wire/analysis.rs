//! Positions that clients send to have them analysed.

use std::collections::BTreeMap;

use dog_bot::Level;
use dog_rules::{Board, Card, Cards, Rules, Seat, SeatView};
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{
    advice::{AdviceParams, AdviceSettings},
    moves::{LegalMoves, SeatBoardRequest, read_board},
    picture::{Preview, of_position},
    request::{BySeatList, seat_of},
    rules::{self, RulesRequest},
};
use crate::http::problem::{Code, Problem};

fn cards(names: &[String]) -> Result<Cards, Problem> {
    let mut cards = Cards::EMPTY;
    for name in names {
        let card: Card = name.parse()?;
        // More than any deck holds, and as many as can be counted.
        if cards.count(card) == 12 {
            let detail = format!("no deck holds so many {card}");
            return Err(Problem::new(Code::InvalidHand, detail));
        }
        cards.add(card);
    }
    Ok(cards)
}

/// A position and the hand of the seat to move.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "rules": {"preset": "hausregeln"},
    "board": [{"track": [57]}, {}, {}, {}],
    "seat": 0,
    "hand": ["7", "joker"]
}))]
pub struct MovesAnalysis {
    /// The rules to play by; `dogspiel-it` if left out.
    #[serde(default)]
    #[schema(value_type = Option<RulesRequest>)]
    rules: Option<Box<RawValue>>,
    /// One entry a seat, in turn order.
    #[schema(value_type = Vec<SeatBoardRequest>)]
    board: BySeatList<SeatBoardRequest>,
    /// The seat to move.
    #[schema(maximum = 5)]
    seat: u8,
    /// Its hand.
    #[schema(value_type = Vec<Card>, min_items = 1)]
    hand: Vec<String>,
}

/// A position, the hand of the seat to move, what it knows, and how to think.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
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
    /// The rules to play by; `dogspiel-it` if left out.
    #[serde(default)]
    #[schema(value_type = Option<RulesRequest>)]
    rules: Option<Box<RawValue>>,
    /// One entry a seat, in turn order.
    #[schema(value_type = Vec<SeatBoardRequest>)]
    board: BySeatList<SeatBoardRequest>,
    /// The seat to move.
    #[schema(maximum = 5)]
    seat: u8,
    /// Its hand.
    #[schema(value_type = Vec<Card>, min_items = 1)]
    hand: Vec<String>,
    /// What the seat knows besides.
    known: Option<Known>,
    /// How well to think: `strong` if left out.
    #[schema(value_type = Option<Level>)]
    level: Option<String>,
    /// Milliseconds to think; a few of them for `fast` and 200 for `strong` if left out. The
    /// levels `random` and `greedy` never need them. Not together with `samples`.
    #[schema(minimum = 1, maximum = 2000)]
    budget_ms: Option<u32>,
    /// Playouts to think with in place of a time, which makes the answer repeatable, unless they
    /// take longer than five seconds, when no more are made. The levels `random` and `greedy` take
    /// none.
    #[schema(minimum = 1, maximum = 10_000)]
    samples: Option<u32>,
    /// The same seed gives the same advice; drawn at random if left out.
    #[schema(format = "uint64")]
    seed: Option<u64>,
}

/// What a seat knows beside the board and its hand.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Cards each seat holds.
    counts: Vec<u8>,
    /// Cards known to be in other seats' hands, by seat.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, Vec<Card>>)]
    hands: BTreeMap<String, Vec<String>>,
    /// Cards on the discard pile: how many of each.
    #[serde(default)]
    gone: BTreeMap<String, u8>,
    /// Seats that have folded.
    #[serde(default)]
    folded: Vec<u8>,
    /// The round, from 1.
    round: Option<u32>,
    /// Who began the round.
    #[schema(maximum = 5)]
    beginner: Option<u8>,
}

/// A position that was checked: a seat to move, with cards to move it.
pub struct AnalysisPosition {
    rules: Rules,
    board: Board,
    seat: Seat,
    hand: Cards,
}

impl AnalysisPosition {
    fn new(
        rules: Option<&RawValue>,
        BySeatList(board): BySeatList<SeatBoardRequest>,
        seat: u8,
        hand: &[String],
    ) -> Result<AnalysisPosition, Problem> {
        let rules = rules::rules(rules)?;
        let board = read_board(&rules, board)?;
        let seat = seat_of(seat, &rules, "seat")?;
        let hand = cards(hand)?;
        if hand.is_empty() {
            return Err(Problem::new(Code::InvalidHand, "the hand is empty"));
        }
        let deck = rules.deck();
        let too_many = |card: &Card| hand.count(*card) > deck.count(*card);
        if let Some(card) = hand.ranks().find(too_many) {
            let detail = format!("the deck has only {} {card}", deck.count(card));
            return Err(Problem::new(Code::InvalidHand, detail));
        }
        if let Some(team) = board.winner(&rules) {
            let detail = format!("team {team} has all its pieces home: the game is over");
            return Err(Problem::new(Code::FinishedPosition, detail));
        }
        Ok(AnalysisPosition {
            rules,
            board,
            seat,
            hand,
        })
    }

    /// The position of an analysis of moves.
    ///
    /// # Errors
    /// What is wrong with it, by its own code.
    pub fn read(request: MovesAnalysis) -> Result<AnalysisPosition, Problem> {
        let rules = request.rules.as_deref();
        AnalysisPosition::new(rules, request.board, request.seat, &request.hand)
    }

    /// What the seat may play.
    pub fn legal_moves(&self, boards: bool) -> Result<LegalMoves, Problem> {
        LegalMoves::new(None, &self.rules, &self.board, self.seat, self.hand, boards)
    }

    /// The position, or the legal move of that id, as a picture.
    pub fn picture(&self, id: Option<&str>) -> Result<String, Problem> {
        let (rules, board, seat) = (&self.rules, &self.board, self.seat);
        let preview = |id| Preview::of_hand(rules, board, seat, self.hand, id);
        let preview = id.map(preview).transpose()?;
        Ok(of_position(rules, board, seat, preview.as_ref()))
    }
}

/// A position to give advice on.
pub struct AdvicePosition {
    position: AnalysisPosition,
    known: Option<Known>,
}

impl AdviceAnalysis {
    /// How to think.
    ///
    /// # Errors
    /// As [`AdviceParams::thinking`].
    pub fn thinking(&self) -> Result<AdviceSettings, Problem> {
        let params = AdviceParams {
            level: self.level.clone(),
            budget_ms: self.budget_ms,
            samples: self.samples,
            seed: self.seed,
        };
        params.thinking()
    }
}

impl AdvicePosition {
    /// The position of an analysis with advice.
    ///
    /// # Errors
    /// What is wrong with it, by its own code.
    pub fn read(request: AdviceAnalysis) -> Result<AdvicePosition, Problem> {
        let rules = request.rules.as_deref();
        let position = AnalysisPosition::new(rules, request.board, request.seat, &request.hand)?;
        let known = request.known;
        Ok(AdvicePosition { position, known })
    }

    /// What the seat knows. If nothing is said of the others' hands, they hold as many cards as
    /// this one.
    ///
    /// # Errors
    /// `invalid_knowledge`, if it contradicts itself, the hand or the deck.
    pub fn view(&self) -> Result<SeatView<'_>, Problem> {
        let AnalysisPosition {
            rules,
            board,
            seat,
            hand,
        } = &self.position;
        let wrong = |detail: String| Problem::new(Code::InvalidKnowledge, detail);
        let mut view = SeatView::to_play(rules, *board, *seat, *hand);
        let Some(known) = &self.known else {
            return Ok(view);
        };
        if known.counts.len() != usize::from(rules.seats) {
            return Err(wrong(format!("counts must have {} entries", rules.seats)));
        }
        for (other, &count) in rules.ring().seats().zip(&known.counts) {
            view.counts[other] = count;
        }
        if view.counts[*seat] != hand.len() {
            return Err(wrong(format!("counts and hand disagree on {seat}")));
        }
        for (number, names) in &known.hands {
            let other = number.parse().ok();
            let other = other
                .and_then(|number| Seat::new(number, rules.seats))
                .ok_or_else(|| wrong(format!("hands has no seat {number:?}")))?;
            let cards = cards(names)?;
            if other == *seat && cards != *hand || cards.len() > view.counts[other] {
                let detail = format!("hands and counts or hand disagree on {other}");
                return Err(wrong(detail));
            }
            if other != *seat {
                view.known[other] = cards;
            }
        }
        for (name, &count) in &known.gone {
            let card: Card = name.parse()?;
            if count > rules.deck().count(card) {
                return Err(wrong(format!("more {card} are gone than the deck has")));
            }
            (0..count).for_each(|_| view.discards.add(card));
        }
        for &number in &known.folded {
            let other = Seat::new(number, rules.seats)
                .ok_or_else(|| wrong(format!("folded has no seat {number}")))?;
            if view.counts[other] > 0 {
                return Err(wrong(format!("{other} has folded and cannot hold cards")));
            }
            view.folded[other] = true;
        }
        check_deck(rules, &view).map_err(wrong)?;
        view.round = known.round.unwrap_or(1);
        if view.round == 0 {
            return Err(wrong("rounds are counted from 1".to_owned()));
        }
        if let Some(number) = known.beginner {
            view.beginner = seat_of(number, rules, "beginner")?;
        }
        Ok(view)
    }
}

/// Refuses more cards, named or counted, than the deck has.
fn check_deck(rules: &Rules, view: &SeatView) -> Result<(), String> {
    let (deck, seats) = (rules.deck(), rules.ring().seats());
    for card in Card::ALL {
        let known = seats.clone().map(|seat| view.known[seat].count(card));
        let seen = view.hand.count(card) + view.discards.count(card) + known.sum::<u8>();
        if seen > deck.count(card) {
            return Err(format!("the deck has only {} {card}", deck.count(card)));
        }
    }
    let held: u32 = seats.map(|seat| u32::from(view.counts[seat])).sum();
    if held + u32::from(view.discards.len()) > u32::from(deck.len()) {
        return Err(format!("the deck has only {} cards", deck.len()));
    }
    Ok(())
}
