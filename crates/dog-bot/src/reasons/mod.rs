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

use dog_rules::{Card, Field, Move, Seat, SeatView};
use serde::{Deserialize, Serialize};

use self::moves::MoveReasons;
use crate::{Choice, Suggestion, rounded, search::CLEARLY};

/// The largest number of reasons of a suggestion.
pub const MAX_REASONS: usize = 4;
/// The number of suggestions, from the first, that get reasons. A list with a seven may have
/// thousands.
pub const EXPLAINED: usize = 100;

dog_rules::named! {
    /// What speaks for or against a suggestion. A piece of the team is the seat's or its
    /// partner's; opponents are the seats of other teams. The most important code comes first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema), schema(description =
        "What kind of reason it is."))]
    pub enum AdviceReasonCode {
        /// Every choice is the same card with the same board. It stands alone.
        OnlyMove = "only_move",
        /// The play ends the game.
        Wins = "wins",
        /// In at least [`LIKELY`] of the playouts, or if it is proved in all, a card that stays in the
        /// hand ends the game at the seat's next turn: the card. The probability is the share of the
        /// playouts.
        WinsNext = "wins_next",
        /// One card of an opponent would have ended the game with a piece, and now none would: whose
        /// piece, and where it stood.
        StopsWin = "stops_win",
        /// A piece of the team enters its goal: whose, and where.
        BringsHome = "brings_home",
        /// An opponent's piece is captured: whose, and where it stood. Of several, the first.
        Captures = "captures",
        /// The next suggestion that is not equal to the best captures a piece of the partner, and this
        /// one does not: where that piece stands.
        SavesPartner = "saves_partner",
        /// A single walk with one card would have brought an opponent's piece into its goal, and now
        /// none would: whose, and where it stood. Not together with `stops_win`.
        StopsHome = "stops_home",
        /// A piece leaves its kennel: whose, and to where.
        LeavesKennel = "leaves_kennel",
        /// One card of an opponent could have captured a moved piece; now none could. The seat is that
        /// opponent, the place the one that the piece leaves.
        Escapes = "escapes",
        /// A card that stays in the hand brings in a piece by a single walk from this board, and could
        /// not bring it in before: the card, whose piece, and where it stands.
        ThenHome = "then_home",
        /// A piece of the team goes deeper into its goal.
        ClearsGoal = "clears_goal",
        /// A block of the team appears, with an opponent's piece 1 to 13 fields behind it: the opponent
        /// with the nearest one, and the place of the block.
        Blocks = "blocks",
        /// A moved piece can now reach a free goal field by a single walk with one card, and could not
        /// before: whose, and where it stands.
        NearGoal = "near_goal",
        /// A four played backward reaches the goal or such a place.
        BackwardShortcut = "backward_shortcut",
        /// In the exchange: a card that leaves the kennel, to a partner with no piece on the ring.
        GivesExit = "gives_exit",
        /// In the exchange: on this board the partner could bring a piece into the goal or capture an
        /// opponent's piece with the card.
        GivesFittingCard = "gives_fitting_card",
        /// The card leads to several boards, and all others are worse by more than two standard errors
        /// of the difference in playouts with the same cards, and by 0.03 or more.
        OnlyUse = "only_use",
        /// An ace, a king, a seven or a joker could be played and is kept, and every suggestion that
        /// plays it has a lower chance to win, and is not the best. Of several, the one worth the
        /// most.
        KeepsCard = "keeps_card",
        /// The team's pieces get nearer to their goals, in sum, and by no suggestion more.
        Farthest = "farthest",
        /// The partner's pieces have fewer steps to their goal, in sum, than before.
        HelpsPartner = "helps_partner",
        /// An opponent's pieces have more. Of several opponents, the one that loses the most.
        DelaysOpponent = "delays_opponent",
        /// A piece of the partner is captured.
        CapturesPartner = "captures_partner",
        /// A piece of the seat itself is captured.
        CapturesOwn = "captures_own",
        /// In at least [`EXPOSED`] of the playouts, a moved piece is captured before the seat's next
        /// turn. The probability is the share of the playouts.
        Exposes = "exposes",
        /// A block of the team disappears, as `blocks` says it.
        Unblocks = "unblocks",
        /// The partner's pieces have more steps to their goal.
        HarmsPartner = "harms_partner",
        /// No other reason holds.
        NoBetter = "no_better",
    }
}

impl AdviceReasonCode {
    /// Whether it speaks against the suggestion.
    pub const fn is_against(self) -> bool {
        use AdviceReasonCode::*;
        matches!(
            self,
            CapturesPartner | CapturesOwn | Exposes | Unblocks | HarmsPartner
        )
    }
}

/// The smallest risk that is a reason.
pub const EXPOSED: f64 = 0.15;

/// The smallest share of playouts in which the seat wins at its next turn that is a reason.
pub const LIKELY: f64 = 0.8;

/// What speaks for or against a suggestion, by the board or by counting playouts.
// `AdviceReasonCode` says for each code what it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema), schema(example = json!({
    "code": "captures",
    "seat": 1,
    "place": "29",
    "text": "The piece of seat 1 on field 29 is captured."
})))]
pub struct AdviceReason {
    pub code: AdviceReasonCode,
    /// True if it speaks against the suggestion; else absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub against: bool,
    /// Whose piece it is about; for `escapes` the seat that could have captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<Seat>,
    /// Where that piece is, or was captured; for `blocks` and `unblocks` the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(value_type = Option<String>, pattern = "^([0-9]{1,2}|goal:[0-3])$"))]
    pub place: Option<Field>,
    /// The card that is kept, given, or played next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// The share of the playouts, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 0, maximum = 1))]
    pub probability: Option<f64>,
    /// The reason as an English sentence.
    #[serde(default)]
    pub text: String,
}

impl AdviceReason {
    /// A reason about nothing in particular.
    pub const fn new(code: AdviceReasonCode) -> AdviceReason {
        AdviceReason {
            code,
            against: code.is_against(),
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
    let boards = |suggestion: &Suggestion| suggestion.card_and_board();
    let is_only = suggestions
        .windows(2)
        .all(|pair| boards(&pair[0]).is_some() && boards(&pair[0]) == boards(&pair[1]));
    let kept = KeptCards::new(suggestions);
    let mut moves = MoveReasons::new(view);
    let outcomes = suggestions
        .iter()
        .filter_map(|suggestion| suggestion.outcome.as_ref());
    let farthest = outcomes.map(|outcome| moves.advance(outcome)).max();
    // From the last to the first, so that it is known which suggestion comes next.
    let mut saved: Option<AdviceReason> = None;
    for place in (0..suggestions.len()).rev() {
        let suggestion = &suggestions[place];
        let captured = suggestion
            .outcome
            .and_then(|outcome| moves.partner_captured(&outcome));
        let saves = saved.clone().filter(|_| captured.is_none());
        if place > 0 && !suggestion.estimate.equal {
            saved = captured;
        }
        if place >= EXPLAINED {
            continue;
        }
        let is_clear = !suggestion.reasons.is_empty() && may_be_only_use(suggestion, suggestions);
        let suggestion = &mut suggestions[place];
        let reasons = &mut suggestion.reasons;
        reasons.retain(|reason| reason.code != AdviceReasonCode::OnlyUse || is_clear);
        match (suggestion.choice, &suggestion.outcome) {
            _ if is_only => {
                *reasons = vec![AdviceReason::new(AdviceReasonCode::OnlyMove)];
            }
            (Choice::Play(mv), Some(outcome)) => {
                moves.add(&mv, outcome, reasons);
                reasons.extend(saves.map(|reason| AdviceReason {
                    code: AdviceReasonCode::SavesPartner,
                    against: false,
                    ..reason
                }));
                reasons.extend(wins_next(suggestion.next_win));
                reasons.extend(exposes(suggestion.risk));
                reasons.extend(kept.reason(&mv, suggestion.estimate.win_probability));
                let advance = moves.advance(outcome);
                if advance > 0 && Some(advance) == farthest {
                    reasons.push(AdviceReason::new(AdviceReasonCode::Farthest));
                }
            }
            (Choice::Offer(card), _) => exchange::add(view, card, reasons),
            _ => {}
        }
        most_important(reasons);
        for reason in reasons {
            reason.text = reason.sentence();
            reason.probability = reason.probability.map(rounded);
        }
    }
}

/// Keeps the most important reasons: those for it first, then those against it. One against it is
/// always left, if there is one.
fn most_important(reasons: &mut Vec<AdviceReason>) {
    reasons.sort_by_key(|reason| reason.code);
    let first_against = reasons.partition_point(|reason| !reason.against);
    let room = MAX_REASONS - usize::from(first_against < reasons.len());
    if first_against > room {
        reasons.drain(room..first_against);
    }
    reasons.truncate(MAX_REASONS);
    if reasons.is_empty() {
        reasons.push(AdviceReason::new(AdviceReasonCode::NoBetter));
    }
}

fn wins_next(next_win: Option<(Card, f64)>) -> Option<AdviceReason> {
    let (card, share) = next_win.filter(|&(_, share)| share >= LIKELY)?;
    Some(AdviceReason {
        probability: Some(share),
        ..AdviceReason::new(AdviceReasonCode::WinsNext).with_card(card)
    })
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
/// card leads to have clearly lower chances, and none may be the best.
fn may_be_only_use(suggestion: &Suggestion, all: &[Suggestion]) -> bool {
    let Some((card, board)) = suggestion.card_and_board() else {
        return false;
    };
    let chance = suggestion.estimate.win_probability;
    all.iter().enumerate().all(|(place, other)| {
        let played = other.card_and_board();
        let is_other_use = played.is_some_and(|(played, after)| played == card && after != board);
        let is_worse = rounded(chance - other.estimate.win_probability) >= CLEARLY;
        !is_other_use || is_worse && !may_be_best(all, place)
    })
}

/// Whether the suggestion at this place is the best, or equal to it, or the search had no time for
/// it.
fn may_be_best(all: &[Suggestion], place: usize) -> bool {
    let suggestion = &all[place];
    place == 0 || suggestion.guessed || suggestion.estimate.equal
}

/// The cards that are worth keeping, the most valuable first.
const VALUABLE: [Card; 4] = [Card::Joker, Card::Seven, Card::Ace, Card::King];

/// The highest chance to win with a move of each valuable card; none if it cannot be played, or if
/// one of its moves is the best, or the search had no time for it.
struct KeptCards([Option<f64>; VALUABLE.len()]);

impl KeptCards {
    fn new(suggestions: &[Suggestion]) -> KeptCards {
        KeptCards(VALUABLE.map(|card| {
            let mut highest: Option<f64> = None;
            for (place, suggestion) in suggestions.iter().enumerate() {
                if suggestion
                    .card_and_board()
                    .is_none_or(|(played, _)| played != card)
                {
                    continue;
                }
                if place == 0 || suggestion.guessed {
                    return None;
                }
                let chance = suggestion.estimate.win_probability;
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
