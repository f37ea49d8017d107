//! A game as text that a person can read and anyone can replay, like PGN in chess.
//!
//! ```text
//! [Dog "1"]
//! [Rules "hausregeln"]
//! [Seat0 "Anna"]
//! …
//!
//! deal 1 by 3: A 4 5 7 9 K | 2 3 3 6 8 10 | 2 4 8 J Q joker | A 6 7 9 10 Q
//! 0 offers 9
//! 2 asks
//! …
//! 0 K:out
//! 1 fold
//! ```
//!
//! `docs/record.md` describes the format. A [`Transcript`] is written as such a text. Reading gives
//! a [`ParsedRecord`], which also has the line of each part, so that errors can name it. The times
//! of single moves are not recorded.

use std::fmt;

use thiserror::Error;

use super::{
    card::{Card, Cards},
    event::{Action, By, Event, EventKind},
    game::{ActionRefusal, Game, Phase, Setup},
    notation::NotationError,
    options::RulesTextError,
    player::SeatKind,
    seat::{MAX_SEATS, Seat},
    shuffle::SeedError,
};

mod read;
mod write;

use self::write::DisplayStep;
pub use self::write::StepWriter;

/// The formats of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordFormat {
    /// For games in which the same people have the seats from the beginning to the end.
    #[default]
    One,
    /// For games in which people came, went or were away, or settings were changed. It also says
    /// who took an action that the seat's person did not take.
    Two,
}

impl RecordFormat {
    const ALL: [RecordFormat; 2] = [RecordFormat::One, RecordFormat::Two];

    /// The format of a game's record.
    pub fn for_game(game: &Game) -> RecordFormat {
        if game.seats_changed() {
            RecordFormat::Two
        } else {
            RecordFormat::One
        }
    }

    const fn name(self) -> &'static str {
        match self {
            RecordFormat::One => "1",
            RecordFormat::Two => "2",
        }
    }
}

/// The headers with the seats' names.
const SEATS: [&str; MAX_SEATS] = ["Seat0", "Seat1", "Seat2", "Seat3", "Seat4", "Seat5"];

/// The largest size of a record in bytes: fifty times what a long game needs.
pub const MAX_LENGTH: usize = 1 << 20;

/// The largest size of a line in bytes.
const MAX_LINE: usize = 4096;

/// A game from its set-up to its last action, with nothing hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    pub format: RecordFormat,
    pub about: RecordHeaders,
    /// What the game was made from. If no first dealer is named, it is drawn from the seed.
    pub setup: Setup,
    /// The published SHA-256 of the seed, in hex digits.
    pub commitment: String,
    /// The actions, in order.
    pub steps: Vec<RecordStep>,
    /// The winning team; none if the transcript ends before the game does.
    pub winner: Option<u8>,
}

/// What a transcript may say about its game. The rules do not use these texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordHeaders {
    /// The name of the game, such as its id on the server.
    pub game: Option<String>,
    /// When it was created.
    pub created: Option<String>,
    /// When it ended.
    pub ended: Option<String>,
}

/// An action and, for a deal, the cards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordStep {
    pub action: Action,
    /// Who took the action, if the seat's person did not. Only in [`RecordFormat::Two`].
    pub by: Option<By>,
    /// Each seat's hand, if this is a deal that lists them.
    pub hands: Option<Vec<Cards>>,
}

/// The game is not over, so its seed and its cards are still secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the game is not over")]
pub struct GameNotOver;

impl Transcript {
    /// The transcript of a finished game, without its steps.
    ///
    /// # Errors
    /// If the game is not over.
    pub fn without_steps(game: &Game, about: RecordHeaders) -> Result<Transcript, GameNotOver> {
        if game.phase() != Phase::Finished {
            return Err(GameNotOver);
        }
        Ok(Transcript {
            format: RecordFormat::for_game(game),
            about,
            setup: game.setup(),
            commitment: game.commitment(),
            steps: Vec::new(),
            winner: game.winner(),
        })
    }
}

impl RecordStep {
    /// The step of one version in a game's log, from its action and the events that followed. None
    /// for the creation, which has no action.
    pub fn from_entry(
        format: RecordFormat,
        action: Option<&Action>,
        events: &[Event],
    ) -> Option<RecordStep> {
        let by = events.first().and_then(|event| event.by);
        Some(RecordStep {
            action: action?.clone(),
            by: by.filter(|_| format == RecordFormat::Two),
            hands: events.iter().find_map(dealt),
        })
    }
}

/// The hands of a deal, if the event has them all.
fn dealt(event: &Event) -> Option<Vec<Cards>> {
    match &event.what {
        EventKind::CardsDealt { hands, .. } => hands.iter().copied().collect(),
        _ => None,
    }
}

/// A transcript and the lines that its parts were read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedRecord {
    pub transcript: Transcript,
    lines: Lines,
}

/// Line numbers, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lines {
    commitment: usize,
    /// The line of the winner or, if no header names one, the last line.
    winner: usize,
    /// One per step.
    steps: Vec<usize>,
    /// The last line that is not blank.
    last: usize,
}

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct TextError {
    /// Counted from 1.
    pub line: usize,
    pub problem: TextErrorKind,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TextErrorKind {
    #[error("the text is too long: a record has {MAX_LENGTH} bytes at most")]
    TooLong,
    #[error("the line is too long: a line has {MAX_LINE} bytes at most")]
    LineTooLong,
    #[error("a record begins with [Dog \"1\"] or [Dog \"2\"]")]
    NoRecord,
    #[error("this is a record of format {0:?}, and only \"1\" and \"2\" are supported")]
    Format(String),
    #[error("a header is written [Name \"value\"]")]
    Header,
    #[error("there is no header {0:?}")]
    UnknownHeader(String),
    #[error("the header {0} appears twice")]
    HeaderTwice(&'static str),
    #[error("the headers end here, and {0} is missing")]
    HeaderMissing(&'static str),
    #[error("headers must come before the first step")]
    HeaderLate,
    #[error("{header} must be {expected}")]
    Value {
        header: &'static str,
        expected: &'static str,
    },
    #[error("{0}")]
    Rules(#[from] RulesTextError),
    #[error("{0}")]
    Seed(#[from] SeedError),
    #[error("a step begins with deal, host, server or a seat's number, not with {0:?}")]
    Step(String),
    #[error("such a step is possible in records of format 2 only")]
    Format2Only,
    #[error("(bot) and (clock) come before a step of a seat")]
    Mark,
    #[error("there is no seat {0} at this table")]
    Seat(u8),
    #[error("a deal is written \"deal 1 by 0: \" or \"deal 1 by host: \" and a hand for each seat")]
    Deal,
    #[error("this is deal {round}, not {number}")]
    DealNumber { number: String, round: usize },
    #[error("there is no card {0:?}")]
    Card(String),
    #[error("the hands hold more of {0} than the deck")]
    TooMany(Card),
    #[error("there must be {seats} hands, not {found}")]
    Hands { found: usize, seats: u8 },
    #[error("the host \"reissues token 0\" or \"hands 0 to bot fast\" and a name in quotes")]
    Host,
    #[error("the server \"hands 0 to bot fast\" and a name in quotes")]
    Server,
    #[error("the host \"sets turn_seconds 30 bot_pace_ms 250 listed yes\"")]
    Settings,
    #[error("a seat \"joins\" with a name in quotes, or \"becomes bot fast\" with one")]
    Joins,
    #[error("{id:?}: {problem}")]
    Move { id: String, problem: NotationError },
    #[error("{0}")]
    Difference(#[from] Mismatch),
}

impl TextErrorKind {
    /// This problem, on this line.
    const fn at(self, line: usize) -> TextError {
        TextError {
            line,
            problem: self,
        }
    }
}

/// How a transcript differs from what its seed and the rules give.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Mismatch {
    #[error("SHA-256 of the seed is {computed}, not what the commitment says")]
    Commitment { computed: String },
    #[error("{step:?} is refused: {refusal}")]
    Refused {
        step: String,
        refusal: ActionRefusal,
    },
    #[error("{step:?} was taken by {found}, not by {written}")]
    By {
        step: String,
        found: &'static str,
        written: &'static str,
    },
    #[error("by the seed {seat} is dealt {}, not {}", DisplayHand(*.dealt), DisplayHand(*.written))]
    Hand {
        seat: Seat,
        dealt: Cards,
        written: Cards,
    },
    #[error("by the moves team {by_moves} has won, not team {written}")]
    Winner { by_moves: u8, written: u8 },
    #[error("team {0} has won, but no header says so")]
    WinnerNotTold(u8),
    #[error(
        "the record ends here, but no team has won yet, although a header says that team {0} has"
    )]
    NotWon(u8),
}

/// The cards of a hand as a line shows them.
struct DisplayHand(Cards);

impl fmt::Display for DisplayHand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cards: Vec<&str> = self.0.sorted().map(Card::name).collect();
        f.write_str(&cards.join(" "))
    }
}

/// A replayed game and its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    pub game: Game,
    /// One entry per version.
    pub log: Vec<ReplayedEntry>,
}

/// How one version of a game came to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedEntry {
    /// The version the action led to.
    pub version: u64,
    /// None for the creation.
    pub action: Option<Action>,
    /// The events that followed, in full.
    pub events: Vec<Event>,
}

impl ParsedRecord {
    /// Gives each player the name that this function makes of the one in the record.
    pub fn rename(&mut self, renamed: impl Fn(&str, Seat, SeatKind) -> String) {
        let Setup { players, rules, .. } = &mut self.transcript.setup;
        for (seat, player) in Seat::all(rules.seats).zip(players) {
            player.name = renamed(&player.name, seat, player.kind);
        }
        for step in &mut self.transcript.steps {
            match &mut step.action {
                Action::Join { seat, name } => *name = renamed(name, *seat, SeatKind::Human),
                Action::HandOver { seat, player } | Action::ChangeSeat { seat, player } => {
                    player.name = renamed(&player.name, *seat, player.kind);
                }
                _ => {}
            }
        }
    }

    /// Replays the game: sets it up from its seed and applies every action with [`Game::apply`].
    ///
    /// # Errors
    /// The line where the transcript differs from what the seed and the rules give: the commitment,
    /// a hand, a refused action, or the winner.
    pub fn replay(&self) -> Result<Replayed, TextError> {
        let transcript = &self.transcript;
        let computed = transcript.setup.seed.commitment();
        if computed != transcript.commitment {
            let difference = Mismatch::Commitment { computed };
            return Err(TextErrorKind::from(difference).at(self.lines.commitment));
        }
        let mut game = Game::new(transcript.setup.clone());
        let mut log = vec![ReplayedEntry {
            version: game.version(),
            action: None,
            events: vec![game.last_event().clone()],
        }];
        for (step, &line) in transcript.steps.iter().zip(&self.lines.steps) {
            let events = step
                .replay(&mut game)
                .map_err(|difference| TextErrorKind::from(difference).at(line))?;
            log.push(ReplayedEntry {
                version: game.version(),
                action: Some(step.action.clone()),
                events,
            });
        }
        let (line, difference) = match (transcript.winner, game.winner()) {
            (Some(written), Some(by_moves)) if written != by_moves => {
                (self.lines.winner, Mismatch::Winner { by_moves, written })
            }
            (Some(written), None) => (self.lines.last, Mismatch::NotWon(written)),
            (None, Some(team)) => (self.lines.last, Mismatch::WinnerNotTold(team)),
            _ => return Ok(Replayed { game, log }),
        };
        Err(TextErrorKind::from(difference).at(line))
    }
}

impl RecordStep {
    /// Carries out the step and compares the hands.
    fn replay(&self, game: &mut Game) -> Result<Vec<Event>, Mismatch> {
        let round = game.round() as usize;
        let step = DisplayStep { step: self, round };
        let events = game
            .apply_by(&self.action, self.by.into())
            .map_err(|refusal| Mismatch::Refused {
                step: step.to_string(),
                refusal,
            })?;
        let found = events.first().and_then(|event| event.by);
        if self.by.is_some() && found != self.by {
            return Err(Mismatch::By {
                step: step.to_string(),
                found: found.map_or("its person", By::name),
                written: self.by.map_or("its person", By::name),
            });
        }
        if let (Some(written), Some(dealt)) = (&self.hands, events.iter().find_map(dealt)) {
            let hands = Seat::all(game.rules().seats).zip(dealt).zip(written);
            for ((seat, dealt), &written) in hands {
                if dealt != written {
                    return Err(Mismatch::Hand {
                        seat,
                        dealt,
                        written,
                    });
                }
            }
        }
        Ok(events)
    }
}

impl Replayed {
    /// Checks that the game was played to its end.
    ///
    /// # Errors
    /// If it was not.
    pub fn check_finished(&self) -> Result<(), GameNotOver> {
        match self.game.phase() {
            Phase::Finished => Ok(()),
            _ => Err(GameNotOver),
        }
    }
}
