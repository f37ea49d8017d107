//! Reasons: what speaks for or against a suggestion, as codes. Each follows from the boards before
//! and after the move, or from counting playouts.
//!
//! Where a reason speaks of a card that a seat could play, any rank of the deck counts, whoever
//! holds it.

mod exchange;
mod moves;
mod reach;
#[cfg(test)]
mod tests;
mod text;

use dog_rules::{Board, Card, Field, Move, Seat, SeatView};
use serde::Serialize;

use self::moves::MoveReasons;
use crate::{Choice, Suggestion, rounded};

/// The largest number of reasons of a suggestion.
pub const MAX_REASONS: usize = 4;
/// The number of suggestions, from the first, that get reasons. A list with a seven may have
/// thousands.
pub const EXPLAINED: usize = 100;

dog_rules::named! {
    /// What speaks for or against a suggestion. A piece of the team is the seat's or its
    /// partner's; opponents are the seats of other teams. The most important code comes first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema), schema(description =
        "What kind of reason it is."))]
    pub enum AdviceReasonCode {
        /// A piece of the team enters its goal: whose, and where.
        BringsHome = "brings_home",
        /// An opponent's piece is captured: whose, and where it stood. Of several, the first.
        Captures = "captures",
        /// A piece of the partner is captured.
        CapturesPartner = "captures_partner",
        /// A piece of the seat itself is captured.
        CapturesOwn = "captures_own",
        /// A piece leaves its kennel: whose, and to where.
        LeavesKennel = "leaves_kennel",
        /// A piece of the team goes deeper into its goal.
        ClearsGoal = "clears_goal",
        /// One card of an opponent could have captured a moved piece; now none could. The seat is that
        /// opponent, the place the one that the piece leaves.
        Escapes = "escapes",
        /// In at least [`EXPOSED`] of the playouts, a moved piece is captured before the seat's next
        /// turn. The probability is the share of the playouts.
        Exposes = "exposes",
        /// A block of the team appears, with an opponent's piece 1 to 13 fields behind it: the opponent
        /// with the nearest one, and the place of the block.
        Blocks = "blocks",
        /// Such a block disappears.
        Unblocks = "unblocks",
        /// A moved piece can now reach a free goal field by a single walk with one card, and could not
        /// before: whose, and where it stands.
        NearGoal = "near_goal",
        /// A four played backward reaches the goal or such a place.
        BackwardShortcut = "backward_shortcut",
        /// An ace, a king, a seven or a joker could be played and is kept, and every suggestion that
        /// plays it has a lower chance to win, and is neither the best nor equal to it. Of several, the
        /// one worth the most.
        KeepsCard = "keeps_card",
        /// The card leads to several boards, and all others are worse by more than two standard errors
        /// of the difference in playouts with the same cards, have a lower chance to win, and are
        /// neither the best nor equal to it.
        OnlyUse = "only_use",
        /// The partner's pieces have fewer steps to their goal, in sum, than before.
        HelpsPartner = "helps_partner",
        /// They have more.
        HarmsPartner = "harms_partner",
        /// An opponent's pieces have more. Of several opponents, the one that loses the most.
        DelaysOpponent = "delays_opponent",
        /// In the exchange: a card that leaves the kennel, to a partner with no piece on the ring.
        GivesExit = "gives_exit",
        /// In the exchange: on this board the partner could bring a piece into the goal or capture an
        /// opponent's piece with the card.
        GivesFittingCard = "gives_fitting_card",
        /// No other reason holds.
        NoBetter = "no_better",
    }
}

/// The smallest risk that is a reason.
pub const EXPOSED: f64 = 0.15;

/// What speaks for or against a suggestion, by the board or by counting playouts.
// `AdviceReasonCode` says for each code what it is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema), schema(example = json!({
    "code": "captures",
    "seat": 1,
    "place": "29",
    "text": "The piece of seat 1 on field 29 is captured."
})))]
pub struct AdviceReason {
    pub code: AdviceReasonCode,
    /// Whose piece it is about; for `escapes` the seat that could have captured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<Seat>,
    /// Where that piece is, or was captured; for `blocks` and `unblocks` the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<String>, pattern = "^([0-9]{1,2}|goal:[0-3])$"))]
    pub place: Option<Field>,
    /// The card that is kept or given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// The share of the playouts, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, maximum = 1))]
    pub probability: Option<f64>,
    /// The reason as an English sentence.
    pub text: String,
}

impl AdviceReason {
    /// A reason about nothing in particular.
    pub const fn new(code: AdviceReasonCode) -> AdviceReason {
        AdviceReason {
            code,
            seat: None,
            place: None,
            card: None,
            probability: None,
            text: String::new(),
        }
    }

    /// The reason, about this seat and place.
    const fn at(mut self, seat: Seat, place: Field) -> AdviceReason {
        self.seat = Some(seat);
        self.place = Some(place);
        self
    }

    /// The reason, about this seat.
    const fn about(mut self, seat: Seat) -> AdviceReason {
        self.seat = Some(seat);
        self
    }

    /// The reason, about this card.
    pub(super) const fn with_card(mut self, card: Card) -> AdviceReason {
        self.card = Some(card);
        self
    }
}

/// Completes the reasons of the first [`EXPLAINED`] suggestions, which so far have only those that
/// the search found.
pub(super) fn explain(view: &SeatView, suggestions: &mut [Suggestion]) {
    let kept = KeptCards::new(suggestions);
    let moves = MoveReasons::new(view);
    for place in 0..suggestions.len().min(EXPLAINED) {
        let suggestion = &suggestions[place];
        let is_clear = !suggestion.reasons.is_empty() && may_be_only_use(suggestion, suggestions);
        let suggestion = &mut suggestions[place];
        let reasons = &mut suggestion.reasons;
        reasons.retain(|reason| reason.code != AdviceReasonCode::OnlyUse || is_clear);
        match (suggestion.choice, &suggestion.outcome) {
            (Choice::Play(mv), Some(outcome)) => {
                moves.add(outcome, reasons);
                reasons.extend(exposes(suggestion.risk));
                reasons.extend(kept.reason(&mv, suggestion.win_probability));
            }
            (Choice::Offer(card), _) => exchange::add(view, card, reasons),
            _ => {}
        }
        reasons.sort_by_key(|reason| reason.code);
        reasons.truncate(MAX_REASONS);
        if reasons.is_empty() {
            reasons.push(AdviceReason::new(AdviceReasonCode::NoBetter));
        }
        for reason in reasons {
            reason.text = reason.to_string();
            reason.probability = reason.probability.map(rounded);
        }
    }
}

fn exposes(risk: Option<f64>) -> Option<AdviceReason> {
    let reason = AdviceReason::new(AdviceReasonCode::Exposes);
    risk.filter(|&risk| risk >= EXPOSED)
        .map(|risk| AdviceReason {
            probability: Some(risk),
            ..reason
        })
}

/// Whether the chances of the list allow [`AdviceReasonCode::OnlyUse`]: the other boards that the
/// card leads to have lower chances, and none may be the best.
fn may_be_only_use(suggestion: &Suggestion, all: &[Suggestion]) -> bool {
    let Some((card, board)) = card_and_board(suggestion) else {
        return false;
    };
    all.iter().enumerate().all(|(place, other)| {
        let is_other_use =
            card_and_board(other).is_some_and(|(played, after)| played == card && after != board);
        let is_worse = other.win_probability < suggestion.win_probability;
        !is_other_use || is_worse && !may_be_best(all, place)
    })
}

/// The card that a suggestion plays and the board after it; none in the exchange and for a fold.
fn card_and_board(suggestion: &Suggestion) -> Option<(Card, Board)> {
    match (suggestion.choice, &suggestion.outcome) {
        (Choice::Play(mv), Some(outcome)) => Some((mv.card()?, outcome.board)),
        _ => None,
    }
}

/// Whether the suggestion at this place is the best, or equal to it, or the search had no time for
/// it.
fn may_be_best(all: &[Suggestion], place: usize) -> bool {
    let suggestion = &all[place];
    place == 0 || suggestion.guessed || suggestion.equals(all[0].win_probability)
}

/// The cards that are worth keeping, the most valuable first.
const VALUABLE: [Card; 4] = [Card::Joker, Card::Seven, Card::Ace, Card::King];

/// The highest chance to win with a move of each valuable card; none if it cannot be played, or if
/// one of its moves may be the best.
struct KeptCards([Option<f64>; VALUABLE.len()]);

impl KeptCards {
    fn new(suggestions: &[Suggestion]) -> KeptCards {
        KeptCards(VALUABLE.map(|card| {
            let mut highest: Option<f64> = None;
            for (place, suggestion) in suggestions.iter().enumerate() {
                if card_and_board(suggestion).is_none_or(|(played, _)| played != card) {
                    continue;
                }
                if may_be_best(suggestions, place) {
                    return None;
                }
                let chance = suggestion.win_probability;
                highest = Some(highest.map_or(chance, |highest| highest.max(chance)));
            }
            highest
        }))
    }

    /// Whether a move with this chance keeps a card whose best move has a lower one.
    fn reason(&self, mv: &Move, win_probability: f64) -> Option<AdviceReason> {
        mv.card()?;
        let mut cards = VALUABLE.into_iter().zip(self.0);
        let (card, _) = cards.find(|&(_, best)| best.is_some_and(|best| best < win_probability))?;
        Some(AdviceReason::new(AdviceReasonCode::KeepsCard).with_card(card))
    }
}
