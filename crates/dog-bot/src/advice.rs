//! Advice: everything that a seat may choose, ranked by a level, and the effects of a move.

use std::{collections::HashMap, time::Duration};

use dog_rules::{Board, Card, Generator, LegalMove, Level, Move, Outcome, SeatView};
use rand::{Rng, seq::SliceRandom};
use serde::Serialize;

use super::{
    greedy::{self, Choice, Scored, chance_to_win},
    net::nets::Nets,
    player_model::PlayerModels,
    reasons::{self, AdviceReason, AdviceReasonCode},
    search::{
        Budget, Candidate, CandidateStats, Checkpoint, Estimate, LinePlay, SearchConfig, Searcher,
    },
};

/// The version of [`Level::Greedy`]. Strength is measured against it. Any change of its decisions
/// raises this number and invalidates figures that name the old one.
pub const GREEDY_VERSION: u32 = 2;

/// The delay between the start of a bot's search and its move, however fast the search was.
/// Otherwise the time would show how many choices there were, and so something about the hand.
pub const fn reply_delay(level: Level) -> Duration {
    match level {
        Level::Random | Level::Greedy => Duration::from_millis(1),
        Level::Fast => Duration::from_millis(5),
        Level::Strong => Duration::from_millis(205),
    }
}

/// A choice, as a bot advises it.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    pub choice: Choice,
    /// The chance that the seat's team wins after it, and how far it is below the best's.
    pub estimate: Estimate,
    /// The number of playouts behind the estimate.
    pub samples: u32,
    /// Whether the search had no time for it: the chance is that of another choice.
    pub guessed: bool,
    /// The card with which the seat wins at its next turn in most of the playouts that it wins then,
    /// and the share of these among all playouts, 0 to 1.
    pub next_win: Option<(Card, f64)>,
    /// The share of these playouts, 0 to 1, in which a piece moved by this move is captured before
    /// the seat's next turn.
    pub risk: Option<f64>,
    /// What the move does; none in the exchange.
    pub outcome: Option<Outcome>,
    /// What speaks for or against it: one to [`reasons::MAX_REASONS`], the most important first.
    /// Only [`advise`] gives reasons, and only for the first [`reasons::EXPLAINED`] suggestions.
    pub reasons: Vec<AdviceReason>,
    /// Up to three plays of this round that followed most often in the playouts: the most frequent
    /// next one, then the most frequent after that one, and so on; of equally frequent ones, the
    /// first that occurred. They are plays of sampled hands. Only [`advise`] gives them. Empty
    /// without playouts and in the exchange.
    pub line: Vec<LinePlay>,
}

/// A chance or its error, rounded to four digits, as it is shown.
pub fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

impl Suggestion {
    /// A choice with nothing known of it but these numbers and its outcome.
    fn new(choice: Choice, estimate: Estimate, outcome: Option<Outcome>) -> Suggestion {
        Suggestion {
            choice,
            estimate,
            samples: 0,
            guessed: false,
            next_win: None,
            risk: None,
            outcome,
            reasons: Vec::new(),
            line: Vec::new(),
        }
    }

    /// The card that it plays and the board after it; none in the exchange and for a fold.
    pub fn card_and_board(&self) -> Option<(Card, Board)> {
        match (self.choice, &self.outcome) {
            (Choice::Play(mv), Some(outcome)) => Some((mv.card()?, outcome.board)),
            _ => None,
        }
    }
}

/// Everything that the seat may choose, best first. In play this is each listed move (RULES §9)
/// once; in the exchange, each different card of the hand and the other answers, as far as
/// the seat may give them. Empty only in an exchange without cards, which does not occur in a game.
///
/// A level that searches uses its own default time if no budget is given; the others need none. Its
/// choices that were searched to the end come first, then those that were dropped on the way, then
/// those that were not searched. Chances never rise down the list.
pub fn advise(
    nets: &Nets,
    level: Level,
    budget: Option<Budget>,
    view: &SeatView,
    models: &PlayerModels,
    checkpoint: Checkpoint,
    rng: &mut impl Rng,
) -> Vec<Suggestion> {
    let config = SearchConfig {
        explains: true,
        ..SearchConfig::default()
    };
    let searcher = Searcher::new(nets, config, *models).with_checkpoint(checkpoint);
    let mut suggestions = advise_with(searcher, level, budget, view, rng);
    reasons::explain(view, &mut suggestions);
    suggestions
}

/// What a bot of this level does: the best advice, without searching longer than it takes to be
/// sure.
///
/// # Panics
/// In an exchange without cards, which does not occur in a game.
pub fn choose(
    nets: &Nets,
    level: Level,
    budget: Option<Budget>,
    view: &SeatView,
    models: &PlayerModels,
    rng: &mut impl Rng,
) -> Choice {
    let searcher = Searcher::new(nets, SearchConfig::for_play(), *models);
    advise_with(searcher, level, budget, view, rng)
        .first()
        .expect("a seat that is to act has a choice")
        .choice
}

/// The advice of a level, by this search if it searches.
fn advise_with(
    searcher: Searcher,
    level: Level,
    budget: Option<Budget>,
    view: &SeatView,
    rng: &mut impl Rng,
) -> Vec<Suggestion> {
    match Budget::for_level(level) {
        None => static_advice(level, view, rng),
        Some(default) => advise_by_search(searcher, budget.unwrap_or(default), view, rng),
    }
}

/// The advice of the levels that do not search.
pub fn static_advice(level: Level, view: &SeatView, rng: &mut impl Rng) -> Vec<Suggestion> {
    let mut scored = greedy::scored(view);
    if level == Level::Random {
        shuffle_by_card(&mut scored, rng);
    } else {
        // The sort is stable, so exact ties stay in random order.
        scored.shuffle(rng);
        scored.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
    let chance = |scored: &Scored| chance_to_win(view.rules, &view.board, scored.score);
    let best = scored.first().map_or(0.0, chance);
    let mut suggestions: Vec<Suggestion> = Vec::with_capacity(scored.len());
    for scored in scored {
        let before = suggestions.last().map(|before| &before.estimate);
        let estimate = Estimate::below(best, before, best - chance(&scored));
        suggestions.push(Suggestion::new(scored.choice, estimate, scored.outcome));
    }
    mark_same_board(&mut suggestions);
    suggestions
}

/// Whatever plays the card of the best to its board is equal to it.
fn mark_same_board(suggestions: &mut [Suggestion]) {
    let Some((best, others)) = suggestions.split_first_mut() else {
        return;
    };
    let best = best.card_and_board();
    for other in others {
        other.estimate.equal |= best.is_some() && other.card_and_board() == best;
    }
}

/// The advice of a search. It ranks boards, and each is listed with every move that leads to it.
pub fn advise_by_search(
    mut searcher: Searcher,
    budget: Budget,
    view: &SeatView,
    rng: &mut impl Rng,
) -> Vec<Suggestion> {
    let candidates = searcher.think(view, budget, rng);
    suggestions(&searcher, view, &candidates)
}

/// Each candidate with every move that leads to its board.
fn suggestions(
    searcher: &Searcher,
    view: &SeatView,
    candidates: &[CandidateStats],
) -> Vec<Suggestion> {
    let mut places = HashMap::with_capacity(candidates.len());
    let findings = searcher.findings(view, candidates);
    let estimates = searcher.estimates(view, candidates);
    let suggestion = |place: usize, choice, outcome| Suggestion {
        samples: candidates[place].samples,
        next_win: candidates[place].next_win(),
        risk: candidates[place].risk(),
        line: findings[place].line.clone(),
        ..Suggestion::new(choice, estimates[place], outcome)
    };
    let mut suggestions = Vec::new();
    for (place, stats) in candidates.iter().enumerate() {
        let (choice, outcome) = match stats.candidate {
            Candidate::Play(card, board) => {
                places.insert((card, board), place);
                continue;
            }
            Candidate::Answer(choice) => (choice, None),
            Candidate::Fold => (Choice::Play(Move::Fold), Some(Outcome::fold(&view.board))),
        };
        suggestions.push(suggestion(place, choice, outcome));
    }
    if places.is_empty() {
        return suggestions;
    }
    // Choices that the search had no time for come last, with the estimate of the last one.
    let last = candidates.len() - 1;
    let mut ranked: Vec<(Option<usize>, LegalMove)> = Generator::new()
        .legal_moves(view.rules, &view.board, view.seat, view.hand)
        .into_iter()
        .map(|legal| {
            let card = legal.mv.card();
            let place = card.and_then(|card| places.get(&(card, legal.outcome.board)));
            (place.copied(), legal)
        })
        .collect();
    ranked.sort_by_key(|&(place, _)| place.unwrap_or(last));
    let ranked = ranked
        .into_iter()
        .map(|(found, LegalMove { mv, outcome })| {
            let (choice, place) = (Choice::Play(mv), found.unwrap_or(last));
            let only_use = findings[place].only_use.iter();
            let only_use =
                only_use.map(|&card| AdviceReason::new(AdviceReasonCode::OnlyUse).with_card(card));
            Suggestion {
                guessed: found.is_none(),
                reasons: only_use.collect(),
                ..suggestion(place, choice, Some(outcome))
            }
        });
    let mut suggestions: Vec<Suggestion> = ranked.collect();
    mark_same_board(&mut suggestions);
    suggestions
}

/// A random order: first of the cards, then of the moves of each, so that a seven with a hundred
/// moves comes first no more often than a two.
fn shuffle_by_card(scored: &mut [Scored], rng: &mut impl Rng) {
    let mut order = Card::ALL;
    order.shuffle(rng);
    scored.shuffle(rng);
    scored.sort_by_key(|scored| match scored.choice {
        Choice::Play(Move::Play { card, .. }) => order.iter().position(|&other| other == card),
        _ => None,
    });
}

/// What a move does, in numbers. The fields are in the move itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema), schema(as = Effect))]
pub struct MoveEffect {
    pub captured: Captured,
    /// Pieces of the seat's team that enter their goals.
    pub pieces_home: u8,
    /// Whether a piece leaves its kennel.
    pub leaves_kennel: bool,
    /// Steps in total, forward or backward.
    pub steps: u8,
    /// The probability, 0 to 1, that a piece of the team moved by this move is captured before the
    /// seat's next turn: the fraction of playouts in which one was; null without playouts.
    #[cfg_attr(feature = "utoipa", schema(required, minimum = 0, maximum = 1))]
    pub risk: Option<f64>,
}

/// How many pieces are sent to their kennels, by owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Captured {
    /// The seat's own.
    pub own: u8,
    /// Its partner's.
    pub partner: u8,
    /// The other teams'.
    pub others: u8,
}

impl MoveEffect {
    /// The effects of a move with this outcome and risk, for the seat that plays it.
    pub fn new(view: &SeatView, outcome: &Outcome, risk: Option<f64>) -> MoveEffect {
        let partner = view.seat.partner(view.rules.seats);
        let mut captured = Captured::default();
        for capture in outcome.captures.iter() {
            if capture.seat == view.seat {
                captured.own += 1;
            } else if capture.seat == partner {
                captured.partner += 1;
            } else {
                captured.others += 1;
            }
        }
        // No piece leaves a goal, so the number never falls.
        let pieces_home = [view.seat, partner]
            .map(|seat| outcome.board.pieces(seat).in_goal() - view.board.pieces(seat).in_goal())
            .iter()
            .sum();
        MoveEffect {
            captured,
            pieces_home,
            leaves_kennel: outcome.parts.iter().any(|part| part.from.is_none()),
            steps: outcome.parts.iter().map(|part| part.steps).sum(),
            risk: risk.map(rounded),
        }
    }
}
