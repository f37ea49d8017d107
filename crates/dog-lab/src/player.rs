//! Somebody who plays, and players by name: the one place where a text becomes somebody who plays.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use dog_bot::{
    Choice, Level, at_once,
    net::{
        evaluator::{NetEvaluator, Scratch},
        nets::{self, NetError, NetVariant, Nets, NetsError},
    },
    search::{Budget, Candidate, SearchConfig, Searcher},
};
use dog_rules::{Board, Card, Generator, Move, SeatView};
use rand::rngs::ChaCha8Rng;
use thiserror::Error;

use crate::planner::Planner;

/// Somebody who decides for a seat, from what the seat knows and nothing else.
pub trait Policy {
    /// What the seat that is to act does: a move it may play, or an answer it may give in the
    /// exchange.
    fn choose(&mut self, view: &SeatView, rng: &mut ChaCha8Rng) -> Choice;
}

/// A level that does not think ahead, as it plays for the API's clients.
pub struct LevelPlayer(pub Level);

impl Policy for LevelPlayer {
    fn choose(&mut self, view: &SeatView, rng: &mut ChaCha8Rng) -> Choice {
        at_once(self.0, view, rng)[0].choice
    }
}

impl Policy for Planner {
    fn choose(&mut self, view: &SeatView, rng: &mut ChaCha8Rng) -> Choice {
        Planner::choose(self, view, rng)
    }
}

/// The net alone: what it likes best one ply ahead.
pub struct NetPlayer {
    nets: Arc<Nets>,
    scratch: Scratch,
}

impl NetPlayer {
    pub fn new(nets: Arc<Nets>) -> NetPlayer {
        NetPlayer {
            nets,
            scratch: Scratch::default(),
        }
    }
}

impl Policy for NetPlayer {
    fn choose(&mut self, view: &SeatView, _: &mut ChaCha8Rng) -> Choice {
        let evaluator = self.nets.of(view.rules);
        if view.exchanging {
            return evaluator.best_answer(view, &mut self.scratch).0;
        }
        match evaluator.best_play(view, &mut self.scratch) {
            Some((card, board, _)) => Choice::Play(a_move(view, card, &board)),
            None => Choice::Play(Move::Fold),
        }
    }
}

/// Which decisions are thought about; the others are left to the net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decisions {
    All,
    /// Those of the exchange.
    Exchange,
    /// Those with so many cards in the hand.
    Cards(u8),
}

impl Decisions {
    fn include(self, view: &SeatView) -> bool {
        match self {
            Decisions::All => true,
            Decisions::Exchange => view.exchanging,
            Decisions::Cards(cards) => !view.exchanging && view.hand.len() == cards,
        }
    }
}

/// Somebody who thinks ahead.
pub struct SearchPlayer {
    method: SearchConfig,
    budget: Budget,
    about: Decisions,
    by_net: NetPlayer,
}

impl SearchPlayer {
    pub fn new(
        nets: Arc<Nets>,
        method: SearchConfig,
        budget: Budget,
        about: Decisions,
    ) -> SearchPlayer {
        SearchPlayer {
            method,
            budget,
            about,
            by_net: NetPlayer::new(nets),
        }
    }
}

impl Policy for SearchPlayer {
    fn choose(&mut self, view: &SeatView, rng: &mut ChaCha8Rng) -> Choice {
        if !self.about.include(view) {
            return self.by_net.choose(view, rng);
        }
        let mut searcher = Searcher::new(&self.by_net.nets, self.method);
        match searcher.think(view, self.budget, rng)[0].candidate {
            Candidate::Play(card, board) => Choice::Play(a_move(view, card, &board)),
            Candidate::Answer(choice) => choice,
            Candidate::Fold => Choice::Play(Move::Fold),
        }
    }
}

/// A move that plays this card and leads to this board, the first that the rules list.
fn a_move(view: &SeatView, card: Card, board: &Board) -> Move {
    let mut first = None;
    Generator::new().each_of_card(view.rules, &view.board, view.seat, card, |found| {
        if first.is_none() && found.board == board {
            first = Some(found.mv());
        }
    });
    first.expect("a board that the card leads to")
}

/// A player as it is named on the command line: a name, then parameters, each after a colon.
///
/// Whatever can fail, such as reading a file, fails when the text is read, so that
/// [`PlayerSpec::build`] cannot: it is called once a thread and side.
#[derive(Clone, Debug)]
pub struct PlayerSpec {
    /// The text it was made from.
    text: String,
    kind: PlayerKind,
}

#[derive(Clone, Debug)]
enum PlayerKind {
    /// A level of the API that needs no time: `random`, `greedy`.
    Level(Level),
    /// Plans its whole hand, the others standing still: `planner`.
    Planner,
    /// The net alone: `net`.
    Net(Arc<Nets>),
    /// The search: `fast`, `strong`, `strong:200ms`, `strong:samples=400`.
    Search(Arc<Nets>, SearchConfig, Budget, Decisions),
}

impl PlayerSpec {
    /// A player of this kind. It sits at every seat of its side, game after game, and is to keep
    /// nothing that a view told it from one decision to the next: that would be peeking at the
    /// partner's cards, and make results depend on which thread plays which game.
    pub fn build(&self) -> Box<dyn Policy> {
        match &self.kind {
            PlayerKind::Level(level) => Box::new(LevelPlayer(*level)),
            PlayerKind::Planner => Box::new(Planner::new()),
            PlayerKind::Net(nets) => Box::new(NetPlayer::new(nets.clone())),
            PlayerKind::Search(nets, method, budget, about) => {
                Box::new(SearchPlayer::new(nets.clone(), *method, *budget, *about))
            }
        }
    }

    /// How a player that thinks ahead compares choices that are given to it, and for how long;
    /// nothing if it does not think ahead.
    pub fn searcher(&self) -> Option<(Searcher<'_>, Budget)> {
        match &self.kind {
            PlayerKind::Search(nets, method, budget, _) => {
                Some((Searcher::new(nets, method.for_comparison()), *budget))
            }
            _ => None,
        }
    }
}

/// Why a text names no player.
#[derive(Debug, Error)]
pub enum SpecError {
    #[error("there is no player {name:?}; there are {known}", known = KNOWN.join(", "))]
    Unknown { name: String },
    #[error("{name} takes no such parameter: {parameter:?}")]
    Parameter { name: String, parameter: String },
    #[error("{file}: {error}")]
    File { file: String, error: std::io::Error },
    #[error("{file}: {error}")]
    Net { file: String, error: NetError },
    #[error(transparent)]
    Nets(#[from] NetsError),
}

/// The names of all players.
const KNOWN: [&str; 6] = ["random", "greedy", "planner", "net", "fast", "strong"];

impl FromStr for PlayerSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, SpecError> {
        let mut parameters = text.split(':');
        let name = parameters.next().unwrap_or_default();
        if !KNOWN.contains(&name) {
            let name = name.to_owned();
            return Err(SpecError::Unknown { name });
        }
        let refuse = |parameter: &str| SpecError::Parameter {
            name: name.to_owned(),
            parameter: parameter.to_owned(),
        };
        let mut nets = Nets::built_in()?;
        let mut method = SearchConfig::for_play();
        let mut about = Decisions::All;
        let level = Level::by_name(name);
        let own = level.and_then(Budget::of);
        let thinks = own.is_some();
        let mut budget = own.unwrap_or(Budget::Samples(0));
        for parameter in parameters {
            let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let number = |text: &str| text.parse::<u32>().map_err(|_| refuse(parameter));
            match key {
                "net" if thinks || name == "net" => {
                    let (setting, evaluator) = read(value)?;
                    nets.replace(setting, evaluator);
                }
                "samples" if thinks => budget = Budget::Samples(number(value)?),
                "plies" if thinks => method.plies = Some(number(value)?),
                "candidates" if thinks => method.candidates = number(value)? as usize,
                "weighing" if thinks => method.weighing = number(value)?,
                "prior" if thinks => method.prior = number(value)? as f32,
                "margin" if thinks => method.margin = number(value)? as f32 / 10.0,
                "sure" if thinks => method.sure = f64::from(number(value)?) / 10.0,
                "whole" if thinks => method.sure = f64::INFINITY,
                "at" if thinks && value == "exchange" => about = Decisions::Exchange,
                "at" if thinks => {
                    let cards = value.parse().map_err(|_| refuse(parameter))?;
                    about = Decisions::Cards(cards);
                }
                "on" if thinks => method.to_round_end = false,
                "apart" if thinks => method.common = false,
                "even" if thinks => method.halving = false,
                time if thinks && value.is_empty() => {
                    let millis = time.strip_suffix("ms").ok_or_else(|| refuse(parameter))?;
                    budget = Budget::Time(Duration::from_millis(number(millis)?.into()));
                }
                _ => return Err(refuse(parameter)),
            }
        }
        let nets = Arc::new(nets);
        let kind = match (level, name) {
            (Some(_), _) if thinks => PlayerKind::Search(nets, method, budget, about),
            (Some(level), _) => PlayerKind::Level(level),
            (None, "net") => PlayerKind::Net(nets),
            (None, _) => PlayerKind::Planner,
        };
        let text = text.to_owned();
        Ok(PlayerSpec { text, kind })
    }
}

/// Reads a net from a file.
fn read(file: &str) -> Result<(NetVariant, NetEvaluator), SpecError> {
    let named = |error| SpecError::File {
        file: file.to_owned(),
        error,
    };
    let bytes = std::fs::read(file).map_err(named)?;
    let (evaluator, header) = nets::read(&bytes).map_err(|error| SpecError::Net {
        file: file.to_owned(),
        error,
    })?;
    Ok((header.setting, evaluator))
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use dog_bot::testing::view;
    use dog_rules::Preset;

    use super::*;

    #[test]
    fn decisions_are_told_apart() {
        let rules = Preset::DogspielIt.rules();
        let mut view = view(&rules, &["20", "", "", ""], "2 3 3");
        let included = |view: &SeatView| {
            [
                Decisions::All,
                Decisions::Exchange,
                Decisions::Cards(3),
                Decisions::Cards(2),
            ]
            .map(|decisions| decisions.include(view))
        };
        assert_eq!(included(&view), [true, false, true, false]);
        view.exchanging = true;
        assert_eq!(included(&view), [true, true, false, false]);
    }

    #[test]
    fn specs_round_trip() {
        for text in [
            "random",
            "greedy",
            "planner",
            "net",
            "fast",
            "strong:samples=40:plies=4",
            "fast:at=exchange:sure=20",
            "fast:at=3:whole",
        ] {
            assert_eq!(text.parse::<PlayerSpec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_names_no_player_is_refused() {
        let refused = |text: &str| text.parse::<PlayerSpec>().expect_err(text).to_string();
        assert_eq!(
            refused("oracle:3"),
            "there is no player \"oracle\"; there are random, greedy, planner, net, fast, strong"
        );
        assert_eq!(
            refused("greedy:200ms"),
            "greedy takes no such parameter: \"200ms\""
        );
        assert_eq!(
            refused("net:samples=3"),
            "net takes no such parameter: \"samples=3\""
        );
        refused("net:at=exchange");
        refused("fast:at=night");
        refused("fast:sure");
        refused("strong:samples=many");
        refused("strong:200");
        refused("net:net=/no/such/file");
        refused("");
    }
}
