//! Advice: everything that a seat may choose, ranked by a level, and what a move does.

use std::{collections::HashMap, time::Duration};

use dog_rules::{Board, Card, Generator, LegalMove, Level, Move, Outcome, Seat, SeatView};
use rand::{Rng, seq::SliceRandom};

use super::{
    greedy::{self, Choice, Scored, chance_to_win},
    net::nets::Nets,
    search::{Budget, Candidate, CandidateStats, SearchConfig, Searcher},
};

/// The version of [`Level::Greedy`]. Strength is measured against it, so whoever changes how it
/// decides raises this number, and every figure that names the old one is void.
pub const GREEDY_VERSION: u32 = 1;

/// How long after a bot of this level has begun to think its move is known, however soon it knew
/// itself: otherwise the time would tell how much there was to choose from, and so of the hand.
pub const fn reply_delay(level: Level) -> Duration {
    match level {
        Level::Random | Level::Greedy => Duration::from_millis(1),
        Level::Fast => Duration::from_millis(5),
        Level::Strong => Duration::from_millis(205),
    }
}

/// A choice as a bot advises it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suggestion {
    pub choice: Choice,
    /// The estimated chance that the seat's team wins after this choice, 0 to 1.
    pub win_probability: f64,
    /// The standard error of that estimate, as far as it comes from playouts.
    pub standard_error: Option<f64>,
    /// Playouts that the estimate rests on.
    pub samples: u32,
    /// In how many of these playouts, 0 to 1, a piece that the move has moved is captured before
    /// the seat's next turn.
    pub risk: Option<f64>,
    /// What the move does; none in the exchange.
    pub outcome: Option<Outcome>,
}

/// Everything that the seat may choose, best first: in play each listed move (RULES §9) once, in
/// the exchange each different card of the hand and, where it is optional, the other answers.
/// Empty only in an exchange without cards, which no game has. A level that thinks ahead does so
/// for the time it has of itself if no budget is given; the others need none.
pub fn advise(
    nets: &Nets,
    level: Level,
    budget: Option<Budget>,
    view: &SeatView,
    rng: &mut impl Rng,
) -> Vec<Suggestion> {
    suggestions(nets, level, SearchConfig::default(), budget, view, rng)
}

/// What a bot of this level does: the best that there is to advise, without looking longer than it
/// takes to be sure of that.
///
/// # Panics
/// In an exchange without cards, which no game has.
pub fn choose(
    nets: &Nets,
    level: Level,
    budget: Option<Budget>,
    view: &SeatView,
    rng: &mut impl Rng,
) -> Choice {
    let suggestions = suggestions(nets, level, SearchConfig::for_play(), budget, view, rng);
    let best = suggestions.into_iter().next();
    best.expect("a seat that is to act has a choice").choice
}

/// The advice of the levels that do not think ahead.
pub fn at_once(level: Level, view: &SeatView, rng: &mut impl Rng) -> Vec<Suggestion> {
    let mut scored = greedy::scored(view);
    if level == Level::Random {
        by_card(&mut scored, rng);
    } else {
        // A stable sort leaves the order of exact ties to chance.
        scored.shuffle(rng);
        scored.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
    let suggestion = |scored: Scored| Suggestion {
        choice: scored.choice,
        win_probability: chance_to_win(view.rules, &view.board, scored.score),
        standard_error: None,
        samples: 0,
        risk: None,
        outcome: scored.outcome,
    };
    scored.into_iter().map(suggestion).collect()
}

/// What a level advises. What the search of a level that thinks ahead ranks is listed with every
/// move that leads there.
fn suggestions(
    nets: &Nets,
    level: Level,
    method: SearchConfig,
    budget: Option<Budget>,
    view: &SeatView,
    rng: &mut impl Rng,
) -> Vec<Suggestion> {
    let Some(own) = Budget::of(level) else {
        return at_once(level, view, rng);
    };
    let mut searcher = Searcher::new(nets, method);
    let budget = budget.unwrap_or(own);
    let thoughts = searcher.think(view, budget, rng);
    let mut suggestions = listed(&searcher, view, &thoughts);
    // Of choices that were left out early the net may have said more than thinking left of the
    // better ones: no choice is said to be better than one that is ranked before it.
    let mut most = 1.0f64;
    for suggestion in &mut suggestions {
        most = most.min(suggestion.win_probability);
        suggestion.win_probability = most;
    }
    suggestions
}

/// Each thought with every move that leads to its board.
fn listed(searcher: &Searcher, view: &SeatView, thoughts: &[CandidateStats]) -> Vec<Suggestion> {
    let suggestion = |thought: &CandidateStats, choice, outcome| Suggestion {
        choice,
        win_probability: searcher.win_probability(thought),
        standard_error: thought.standard_error(),
        samples: thought.samples,
        risk: thought.risk(),
        outcome,
    };
    let Some(Candidate::Play(..)) = thoughts.first().map(|thought| thought.candidate) else {
        let of_thought = |thought: &CandidateStats| match thought.candidate {
            Candidate::Answer(choice) => suggestion(thought, choice, None),
            _ => {
                let outcome = Outcome::fold(&view.board);
                suggestion(thought, Choice::Play(Move::Fold), Some(outcome))
            }
        };
        return thoughts.iter().map(of_thought).collect();
    };
    let mut places = HashMap::with_capacity(thoughts.len());
    for (place, thought) in thoughts.iter().enumerate() {
        if let Candidate::Play(card, board) = thought.candidate {
            places.insert((card, board), place);
        }
    }
    let legal = Generator::new().legal_moves(view.rules, &view.board, view.seat, view.hand);
    // What the search had no time to look at comes last, with the last one's estimate.
    let last = thoughts.len() - 1;
    let place = |legal: LegalMove| {
        let card = legal.mv.card();
        let place = card.and_then(|card| places.get(&(card, legal.outcome.board)));
        (place.copied().unwrap_or(last), legal)
    };
    let mut ranked: Vec<_> = legal.into_iter().map(place).collect();
    ranked.sort_by_key(|&(place, _)| place);
    let suggested = |(place, LegalMove { mv, outcome }): (usize, LegalMove)| {
        suggestion(&thoughts[place], Choice::Play(mv), Some(outcome))
    };
    ranked.into_iter().map(suggested).collect()
}

/// A random order: first of the cards, then of what each can do, so that a seven with a hundred
/// ways to be played comes first no more often than a two.
fn by_card(scored: &mut [Scored], rng: &mut impl Rng) {
    let mut order = Card::ALL;
    order.shuffle(rng);
    scored.shuffle(rng);
    scored.sort_by_key(|scored| match scored.choice {
        Choice::Play(Move::Play { card, .. }) => order.iter().position(|&other| other == card),
        _ => None,
    });
}

/// What a move does, in numbers, for somebody who looks at the board from the seat that plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveEffect {
    pub captured: Captured,
    /// Pieces of the seat's team that come into their goals.
    pub pieces_home: u8,
    /// Whether a piece leaves its kennel.
    pub leaves_kennel: bool,
    /// Steps walked in all, forward or back.
    pub steps: u8,
}

/// Pieces sent to their kennels, by whose they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The seat's that plays.
    pub own: u8,
    /// Its partner's.
    pub partner: u8,
    /// Everybody else's.
    pub others: u8,
}

impl MoveEffect {
    /// What a move with this outcome does, for the seat that plays it.
    pub fn of(view: &SeatView, outcome: &Outcome) -> MoveEffect {
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
        let home = |board: &Board| {
            let of_seat = |seat: Seat| board.pieces(seat).in_goal();
            of_seat(view.seat) + of_seat(partner)
        };
        MoveEffect {
            captured,
            // No piece leaves a goal, so there are never fewer.
            pieces_home: home(&outcome.board) - home(&view.board),
            leaves_kennel: outcome.parts.iter().any(|part| part.from.is_none()),
            steps: outcome.parts.iter().map(|part| part.steps).sum(),
        }
    }
}
