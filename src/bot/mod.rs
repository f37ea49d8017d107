//! Players and advisers. They know the rules and, of a game, one seat's view of it and nothing
//! else, so that they cannot peek.
//!
//! Advice depends only on the view and on the generator given. With `rand::rngs::ChaCha8Rng`,
//! whose stream is fixed on every platform, the same seed gives the same advice on every machine.

use rand::{Rng, seq::SliceRandom};

use crate::rules::{
    board::Board, card::Card, event::Action, notation::Move, seat::Seat, view::SeatView,
};

mod chance;
pub mod evaluate;
mod exchange;
mod greedy;
mod hand;
pub mod planner;
pub mod player;

use greedy::Scored;

/// The version of [`Level::Greedy`]. Strength is measured against it, so whoever changes how it
/// decides raises this number, and every figure that names the old one is void.
pub const GREEDY_VERSION: u32 = 1;

/// How a bot plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// Any card that can be played, then any way to play it, with equal chances.
    Random,
    /// The move that leads to the best board and hand at once. It is frozen: the yardstick that
    /// the others are measured with (see [`GREEDY_VERSION`]).
    Greedy,
}

impl Level {
    /// Every level, the weakest first.
    pub const ALL: [Level; 2] = [Level::Random, Level::Greedy];

    /// The name a client uses.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Random => "random",
            Level::Greedy => "greedy",
        }
    }

    /// The level of that name, if there is one.
    pub fn by_name(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// Something that a seat may do when it is asked to move or to answer in the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Play a card, or fold.
    Play(Move),
    /// Lay this card down for the partner.
    Give(Card),
    /// Decline the optional exchange.
    Decline,
    /// Say "help!" in the optional exchange.
    Ask,
}

impl Choice {
    /// The choice as what it asks of the game.
    pub const fn action(self, seat: Seat) -> Action {
        match self {
            Choice::Play(mv) => Action::Play { seat, mv },
            Choice::Give(card) => Action::Offer { seat, card },
            Choice::Decline => Action::Decline { seat },
            Choice::Ask => Action::Ask { seat },
        }
    }
}

/// A choice as a bot advises it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suggestion {
    pub choice: Choice,
    /// The estimated chance that the seat's team wins after this choice, 0 to 1.
    pub win_probability: f64,
    /// The board after the move; none in the exchange.
    pub board: Option<Board>,
}

/// Everything that the seat may choose, best first: in play each listed move (RULES §9) once, in
/// the exchange each different card of the hand and, where it is optional, the other answers.
/// Empty only in an exchange without cards, which no game has.
pub fn advise(level: Level, view: &SeatView, rng: &mut impl Rng) -> Vec<Suggestion> {
    let mut scored = greedy::scored(view);
    match level {
        Level::Random => by_card(&mut scored, rng),
        Level::Greedy => {
            // A stable sort leaves the order of exact ties to chance.
            scored.shuffle(rng);
            scored.sort_by(|a, b| b.score.total_cmp(&a.score));
        }
    }
    let suggestion = |scored: Scored| Suggestion {
        choice: scored.choice,
        win_probability: chance::to_win(view.rules, &view.board, scored.score),
        board: scored.board,
    };
    scored.into_iter().map(suggestion).collect()
}

/// What a bot of this level does: the best of [`advise`].
///
/// # Panics
/// In an exchange without cards, which no game has.
pub fn choose(level: Level, view: &SeatView, rng: &mut impl Rng) -> Choice {
    let best = advise(level, view, rng).into_iter().next();
    best.expect("a seat that is to act has a choice").choice
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

#[cfg(test)]
mod tests;
