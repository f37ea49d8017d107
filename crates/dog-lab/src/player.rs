//! Players, and the parser of player specifications.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use dog_bot::{
    Choice, Level, Suggestion, advise_by_search,
    net::{
        evaluator::{NetEvaluator, Scratch},
        nets::{NetVariant, Nets},
    },
    player_model::{PlayerModels, PlayoutPolicy},
    search::{Budget, Candidate, PlayoutPolicies, SearchConfig, Searcher},
    static_advice,
};
use dog_rules::{BySeat, Game, Playout, Seat, SeatView};
use rand::{RngExt, rngs::ChaCha8Rng};
use thiserror::Error;

use crate::net_file::{self, NetError};

/// A seat that is to act.
pub struct SeatDecision<'a> {
    /// What the seat knows.
    pub view: SeatView<'a>,
    /// How the seats have played in earlier rounds.
    pub models: PlayerModels,
    /// The whole game. Only `oracle` looks at it.
    pub game: &'a Game,
}

impl<'a> SeatDecision<'a> {
    pub fn new(game: &'a Game, seat: Seat, models: PlayerModels) -> SeatDecision<'a> {
        SeatDecision {
            view: game.seen_from(seat),
            models,
            game,
        }
    }
}

/// Decides for a seat, from what the seat knows and nothing else.
pub trait Policy {
    /// The choice of a seat that is to act: a legal move, or an answer in the exchange.
    fn choose(&mut self, decision: &SeatDecision, rng: &mut ChaCha8Rng) -> Choice;
}

/// A level that does not search, as it plays for the API's clients.
pub struct LevelPlayer(pub Level);

impl Policy for LevelPlayer {
    fn choose(&mut self, decision: &SeatDecision, rng: &mut ChaCha8Rng) -> Choice {
        static_advice(self.0, &decision.view, rng)[0].choice
    }
}

/// How often a beginner plays any legal move.
const BLUNDERS: f64 = 0.3;

/// A weak player: `greedy`, but sometimes any legal move or answer, all equally likely.
pub struct BeginnerPlayer;

impl Policy for BeginnerPlayer {
    fn choose(&mut self, decision: &SeatDecision, rng: &mut ChaCha8Rng) -> Choice {
        let choices = static_advice(Level::Greedy, &decision.view, rng);
        let place = if rng.random_bool(BLUNDERS) {
            rng.random_range(0..choices.len())
        } else {
            0
        };
        choices[place].choice
    }
}

/// The net alone: its best choice one ply ahead.
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
    fn choose(&mut self, decision: &SeatDecision, _: &mut ChaCha8Rng) -> Choice {
        let view = &decision.view;
        let evaluator = self.nets.for_rules(view.rules);
        if view.exchanging {
            return evaluator.best_answer(view, &mut self.scratch).0;
        }
        // The first of those with the highest logit.
        let (mut best, mut highest) = (Candidate::Fold, f32::NEG_INFINITY);
        evaluator.plays(view, &mut self.scratch, |card, board, logit| {
            if logit > highest {
                (best, highest) = (Candidate::Play(card, *board), logit);
            }
            true
        });
        best.choice(view)
    }
}

/// Which decisions are searched. The others are left to the net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decisions {
    All,
    /// Those of the exchange.
    Exchange,
    /// Those with this many cards in the hand.
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

/// How often a seat errs in the playouts of `oracle`, in percent. Without errors, all playouts of
/// one known deal are the same, so that their mean is the value of a single line.
const ORACLE_ERRORS: u32 = 15;

/// The net's policy with errors in this percentage of the decisions.
fn erring(percent: u32) -> PlayoutPolicy {
    PlayoutPolicy {
        errors: percent as f32 / 100.0,
        ..PlayoutPolicy::NET
    }
}

/// What a player that searches sees besides its own cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// What its seat sees.
    View,
    /// All hands.
    Hands,
    /// All hands, and the order of the stock.
    Stock,
}

/// The parameters of a player that searches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchPlan {
    config: SearchConfig,
    budget: Budget,
    about: Decisions,
    sight: Sight,
}

/// A player that searches.
pub struct SearchPlayer {
    plan: SearchPlan,
    by_net: NetPlayer,
}

impl SearchPlayer {
    pub fn new(nets: Arc<Nets>, plan: SearchPlan) -> SearchPlayer {
        SearchPlayer {
            plan,
            by_net: NetPlayer::new(nets),
        }
    }

    /// The best choice of a search.
    fn search(&self, decision: &SeatDecision, rng: &mut ChaCha8Rng) -> Candidate {
        let SearchPlan {
            config,
            budget,
            sight,
            ..
        } = self.plan;
        let SeatDecision { view, models, game } = decision;
        let mut searcher = Searcher::new(&self.by_net.nets, config, *models);
        if sight == Sight::View {
            return searcher.think(view, budget, rng)[0].candidate;
        }
        let mut hands = BySeat::default();
        for seat in view.rules.ring().seats() {
            hands[seat] = game.hand(seat);
        }
        let candidates = searcher.think_in(view, budget, rng, |rng| {
            let world = Playout::from_view(view, hands, rng);
            match sight {
                Sight::Stock => world.with_stock(game.stock()),
                _ => world,
            }
        });
        candidates[0].candidate
    }
}

impl Policy for SearchPlayer {
    fn choose(&mut self, decision: &SeatDecision, rng: &mut ChaCha8Rng) -> Choice {
        if !self.plan.about.include(&decision.view) {
            return self.by_net.choose(decision, rng);
        }
        self.search(decision, rng).choice(&decision.view)
    }
}

/// A player as it is specified on the command line: a name, then parameters, each after a colon.
///
/// Everything that can fail, such as reading a file, fails when the text is parsed. So
/// [`PlayerSpec::build`], which is called once for each thread and side, cannot fail.
#[derive(Clone, Debug)]
pub struct PlayerSpec {
    /// The text it was made from.
    text: String,
    kind: PlayerKind,
}

#[derive(Clone, Debug)]
enum PlayerKind {
    /// A level of the API that does not search: `random`, `greedy`.
    Level(Level),
    /// `greedy` that often errs: `beginner`.
    Beginner,
    /// The net alone: `net`.
    Net(Arc<Nets>),
    /// The search: `fast`, `strong`, `strong:200ms`, `strong:samples=400`, `oracle`.
    Search(Arc<Nets>, SearchPlan),
}

impl PlayerSpec {
    /// A player of this kind. It sits at any seat, game after game, and must not keep anything of a
    /// view from one decision to the next. That would be peeking at other hands, and results would
    /// depend on which thread plays which game.
    pub fn build(&self) -> Box<dyn Policy> {
        match &self.kind {
            PlayerKind::Level(level) => Box::new(LevelPlayer(*level)),
            PlayerKind::Beginner => Box::new(BeginnerPlayer),
            PlayerKind::Net(nets) => Box::new(NetPlayer::new(nets.clone())),
            PlayerKind::Search(nets, plan) => Box::new(SearchPlayer::new(nets.clone(), *plan)),
        }
    }

    /// The nets of a player that searches.
    pub fn nets(&self) -> Option<&Nets> {
        match &self.kind {
            PlayerKind::Search(nets, ..) => Some(nets),
            _ => None,
        }
    }

    /// Whether the player gives advice.
    pub fn advises(&self) -> bool {
        matches!(&self.kind, PlayerKind::Level(_) | PlayerKind::Search(..))
    }

    /// What the player advises, best first.
    ///
    /// # Panics
    /// If the player gives no advice.
    pub fn advise(
        &self,
        view: &SeatView,
        models: &PlayerModels,
        rng: &mut ChaCha8Rng,
    ) -> Vec<Suggestion> {
        match &self.kind {
            PlayerKind::Level(level) => static_advice(*level, view, rng),
            PlayerKind::Search(nets, plan) => {
                let config = SearchConfig {
                    stop_errors: f64::INFINITY,
                    ..plan.config
                };
                advise_by_search(Searcher::new(nets, config, *models), plan.budget, view, rng)
            }
            _ => panic!("{self} gives no advice"),
        }
    }

    /// The search that compares given choices as this player does, and its budget; none if it does
    /// not search.
    pub fn searcher(&self) -> Option<(Searcher<'_>, Budget)> {
        match &self.kind {
            PlayerKind::Search(nets, plan) => {
                let config = plan.config.for_comparison();
                let searcher = Searcher::new(nets, config, PlayerModels::default());
                Some((searcher, plan.budget))
            }
            _ => None,
        }
    }
}

/// Why a text is not a player.
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
}

/// The names of all players.
const KNOWN: [&str; 7] = [
    "random", "beginner", "greedy", "net", "fast", "strong", "oracle",
];

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
        let mut nets = Nets::built_in();
        let level = Level::by_name(name);
        let is_oracle = name == "oracle";
        let like = if is_oracle {
            Some(Level::Strong)
        } else {
            level
        };
        let own = like.and_then(Budget::for_level);
        let thinks = own.is_some();
        let mut plan = SearchPlan {
            config: SearchConfig::for_play(),
            budget: own.unwrap_or(Budget::Samples(0)),
            about: Decisions::All,
            sight: if is_oracle { Sight::Stock } else { Sight::View },
        };
        let config = &mut plan.config;
        if is_oracle {
            // The cards of the next round say nothing about this one.
            config.rounds = 2;
            config.playout_policies = PlayoutPolicies::All(erring(ORACLE_ERRORS));
        }
        for parameter in parameters {
            let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let number = |text: &str| text.parse::<u32>().map_err(|_| refuse(parameter));
            match key {
                "net" if thinks || name == "net" => {
                    let (variant, evaluator) = read(value)?;
                    nets.replace(variant, evaluator);
                }
                "samples" if thinks => plan.budget = Budget::Samples(number(value)?),
                "plies" if thinks => config.plies = Some(number(value)?),
                "candidates" if thinks => config.candidates = number(value)? as usize,
                "weighing" if thinks => config.deal_candidates = number(value)?,
                "prior" if thinks => config.prior = number(value)? as f32,
                "margin" if thinks => config.margin = number(value)? as f32 / 10.0,
                "sure" if thinks => config.stop_errors = f64::from(number(value)?) / 10.0,
                "whole" if thinks => config.stop_errors = f64::INFINITY,
                "at" if thinks && value == "exchange" => plan.about = Decisions::Exchange,
                "at" if thinks => {
                    let cards = value.parse().map_err(|_| refuse(parameter))?;
                    plan.about = Decisions::Cards(cards);
                }
                "on" if thinks => config.rounds = u32::MAX,
                "rounds" if thinks => config.rounds = number(value)?,
                "sees" if is_oracle && value == "hands" => {
                    plan.sight = Sight::Hands;
                    config.rounds = 1;
                }
                "even" if thinks => config.halving = false,
                "unproved" if thinks => config.proves = false,
                "errors" if thinks => {
                    let percent = number(value)?;
                    config.playout_policies = PlayoutPolicies::All(erring(percent));
                }
                "partner" if thinks && value == "net" => {
                    config.playout_policies = PlayoutPolicies::All(PlayoutPolicy::NET);
                }
                time if thinks && value.is_empty() => {
                    let millis = time.strip_suffix("ms").ok_or_else(|| refuse(parameter))?;
                    plan.budget = Budget::Time(Duration::from_millis(number(millis)?.into()));
                }
                _ => return Err(refuse(parameter)),
            }
        }
        let nets = Arc::new(nets);
        let kind = match (level, name) {
            _ if thinks => PlayerKind::Search(nets, plan),
            (Some(level), _) => PlayerKind::Level(level),
            (None, "net") => PlayerKind::Net(nets),
            (None, _) => PlayerKind::Beginner,
        };
        let text = text.to_owned();
        Ok(PlayerSpec { text, kind })
    }
}

impl PartialEq for PlayerSpec {
    /// Whether the texts are equal.
    fn eq(&self, other: &PlayerSpec) -> bool {
        self.text == other.text
    }
}

/// The players of a team: one for both seats, or two, such as `fast+random`.
#[derive(Clone, Debug)]
pub struct TeamSpec {
    text: String,
    pub players: [PlayerSpec; 2],
}

impl TeamSpec {
    /// The nets of the first player that searches.
    pub fn nets(&self) -> Option<&Nets> {
        self.players.iter().find_map(PlayerSpec::nets)
    }

    /// Whether the players differ.
    pub fn is_mixed(&self) -> bool {
        self.players[0] != self.players[1]
    }
}

impl FromStr for TeamSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<TeamSpec, SpecError> {
        let (first, second) = text.split_once('+').unwrap_or((text, text));
        Ok(TeamSpec {
            text: text.to_owned(),
            players: [first.parse()?, second.parse()?],
        })
    }
}

impl fmt::Display for TeamSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Reads a net from a file.
fn read(file: &str) -> Result<(NetVariant, NetEvaluator), SpecError> {
    let bytes = std::fs::read(file).map_err(|error| SpecError::File {
        file: file.to_owned(),
        error,
    })?;
    let (evaluator, header) = net_file::read(&bytes).map_err(|error| SpecError::Net {
        file: file.to_owned(),
        error,
    })?;
    Ok((header.variant, evaluator))
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
    fn decisions_are_selected() {
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
            "net",
            "fast",
            "strong:samples=40:plies=4",
            "fast:at=exchange:sure=20",
            "fast:at=3:whole",
            "oracle:sees=hands:rounds=2",
            "strong:errors=15",
        ] {
            assert_eq!(text.parse::<PlayerSpec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn unknown_players_are_refused() {
        let refused = |text: &str| text.parse::<PlayerSpec>().expect_err(text).to_string();
        assert_eq!(
            refused("best:3"),
            "there is no player \"best\"; there are random, beginner, greedy, net, fast, strong, oracle"
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
        refused("strong:sees=hands");
        refused("strong:samples=many");
        refused("strong:200");
        refused("net:net=/no/such/file");
        refused("");
    }
}
