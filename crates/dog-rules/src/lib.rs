//! The game of DOG as a library. DOG is a partnership board game from Switzerland: like Ludo, but
//! pieces move by cards, partners sit opposite each other, and partners swap a card each round.
//!
//! The library is pure. It has no input or output, no clock and no global randomness: a game
//! follows from its rules, a seed and the actions of its players, and is the same on every machine.
//! The five published rule sheets are presets ([`Preset`]) of one set of options, and every option
//! can be set on its own. "RULES §7.3" here and in the rest of the repository means section 7.3 of
//! `docs/rules.md`.
//!
//! # A whole game
//!
//! [`Game::apply_by`] is the only way to change a game, [`Game::legal_actions`] lists what a seat
//! may do, and [`Game::step`] lets the next seat act.
//!
//! ```
//! use dog_rules::{Game, Player, Preset, Seed, Setup};
//!
//! let rules = Preset::DogspielIt.rules();
//! let mut game = Game::new(Setup {
//!     players: vec![Player::human("somebody"); rules.seats.into()],
//!     first_dealer: None,
//!     seed: Seed::new([7; 32]),
//!     seed_given: true,
//!     rules,
//!     must_confirm: Vec::new(),
//! });
//! let mut number = 1;
//! // Any legal action will do: to offer the partner a card, to play or to fold.
//! let mut choose = |game: &Game, seat| {
//!     let actions = game.legal_actions(seat);
//!     number = number * 5 % 1_000_003;
//!     actions[number % actions.len()].clone()
//! };
//! while game.step(&mut choose)?.is_some() {}
//! assert!(game.winner().is_some());
//! # Ok::<(), dog_rules::ActionRefusal>(())
//! ```
//!
//! # Counting moves
//!
//! Perft, a term of chess engines, counts the sequences of moves of a given length. Equal counts
//! are strong evidence of equal rules.
//!
//! ```
//! use dog_rules::perft::{PerftCase, perft};
//!
//! let case: PerftCase = "rules dogspiel-it\n\
//!     board 5 20 / 7 / - / 50\n\
//!     hands A K / J / 4 / K\n\
//!     turn 0"
//!     .parse()?;
//! // The ace leaves the kennel or walks 1 or 11 with either piece; the king leaves it or walks 13.
//! assert_eq!(perft(&case.position, 1), 5 + 3);
//! # Ok::<(), dog_rules::perft::CaseError>(())
//! ```
//!
//! # Modules
//!
//! The types that most users need are at the root. The modules hold the rest.
//!
//! * [`options`]: the options of the rules, the presets, and the checks of both.
//! * [`seat`], [`ring`], [`pieces`], [`board`], [`card`]: the parts of the table.
//! * [`position`]: boards as a person types them.
//! * [`notation`]: moves as a person types them.
//! * [`movement`]: how one piece walks.
//! * [`judge`]: what one move does, or why it is refused.
//! * [`moves`]: the list of legal moves, and why a card has none.
//! * [`begun_seven`]: a seven chosen part by part.
//! * [`event`], [`game`], [`exchange`], [`round_history`]: a game, what changes it and what happens
//!   in it.
//! * [`player`]: who plays a seat.
//! * [`name`]: what may be a player's name.
//! * [`view`]: what one seat may see of a game, and what it may do.
//! * [`shuffle`]: shuffles that anyone can recompute.
//! * [`playout`]: a small, fast game for playouts.
//! * [`record`]: a finished game as a text, read and replayed.
//! * [`perft`]: counts of move sequences.

pub mod begun_seven;
pub mod board;
pub mod card;
pub mod event;
pub mod exchange;
mod forfeit;
pub mod game;
pub mod judge;
pub mod movement;
pub mod moves;
pub mod name;
mod named;
pub mod notation;
pub mod options;
pub mod perft;
pub mod pieces;
pub mod player;
pub mod playout;
pub mod position;
pub mod record;
pub mod ring;
pub mod round_history;
#[cfg(feature = "utoipa")]
mod schema;
pub mod seat;
mod seating;
mod seven;
pub mod shuffle;
mod unplayable;
pub mod view;

pub use begun_seven::BegunSeven;
pub use board::{Board, BoardError, Field, Placement};
pub use card::{Card, Cards, ParseCardError};
pub use event::{
    Action, Actor, By, Event, EventKind, ExchangeAnswer, ExchangeState, OfferedCard, Person,
    TableSettings, Viewer,
};
pub use exchange::ExchangeChoice;
pub use game::{ActionRefusal, Game, Phase, Setup};
pub use judge::{Outcome, Refusal};
pub use moves::{Generator, LegalMove};
pub use notation::Move;
pub use options::{
    DealSizes, Dealer, Exchange, GoalEntry, JackWithoutEffectWhen, Options, Preset, Protection,
    Reshuffle, Rules, RulesError, SevenLanding, SevenPartner, SevenRest, SevenSurplus,
};
pub use player::{Level, Player, SeatKind};
pub use playout::Playout;
pub use seat::{BySeat, Seat};
pub use shuffle::Seed;
pub use view::SeatView;

/// The parts or the captures of a move, in order, as one value to copy. There are no more than a
/// seven has steps (RULES §5).
pub type ShortList<T> = tinyvec::ArrayVec<[T; 7]>;
