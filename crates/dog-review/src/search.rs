//! The searches behind a review: the best choice on some worlds, and values on others.

use dog_bot::{
    net::nets::Nets,
    player_model::{PlayerModels, PlayoutPolicy},
    search::{
        Budget, Candidate, CandidateStats, Checkpoint, PlayoutPolicies, SearchConfig, SearchLimit,
        Searcher, TeamChance,
    },
};
use dog_rules::{Phase, Playout, Rules, SeatView};
use rand::rngs::ChaCha8Rng;

/// A choice that is valued in fewer worlds is not judged: the error could not be estimated.
const FEWEST_WORLDS: u32 = 20;

/// How many playouts a review makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewSettings {
    /// Playouts to find the best choice.
    pub finding: u32,
    /// Other worlds, in each of which the best choice, the one that was played and one at random are
    /// valued.
    pub valuing: u32,
    /// Playouts of a round with hands dealt anew.
    pub rounds: u32,
    /// The most boards of a search.
    pub boards: u32,
}

impl Default for ReviewSettings {
    fn default() -> ReviewSettings {
        ReviewSettings {
            finding: 400,
            valuing: 200,
            rounds: 800,
            boards: 2_500_000,
        }
    }
}

impl ReviewSettings {
    /// These settings with this percentage of the playouts.
    pub fn scaled(self, percent: u32) -> ReviewSettings {
        let scaled = |playouts: u32| (playouts * percent / 100).max(2);
        ReviewSettings {
            finding: scaled(self.finding),
            valuing: scaled(self.valuing),
            rounds: scaled(self.rounds),
            ..self
        }
    }
}

/// The value of the best choice, and how far it exceeds those of another one and of one at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChoiceValues {
    pub win_probability: f64,
    pub difference: f64,
    pub standard_error: f64,
    pub random_loss: f64,
}

/// Searches for a review. In playouts everybody plays by the net, from its own view, to the end of
/// the round.
pub struct ReviewSearch<'n> {
    pub(super) settings: ReviewSettings,
    finder: Searcher<'n>,
    valuer: Searcher<'n>,
}

impl<'n> ReviewSearch<'n> {
    pub fn new(
        nets: &'n Nets,
        settings: ReviewSettings,
        checkpoint: Checkpoint<'n>,
    ) -> ReviewSearch<'n> {
        let config = SearchConfig {
            plies: Some(u32::MAX),
            playout_policies: PlayoutPolicies::All(PlayoutPolicy::NET),
            limit: SearchLimit::Boards(settings.boards),
            ..SearchConfig::for_play()
        };
        let searcher = |config| {
            Searcher::new(nets, config, PlayerModels::default()).with_checkpoint(checkpoint)
        };
        ReviewSearch {
            settings,
            finder: searcher(config),
            valuer: searcher(config.for_comparison()),
        }
    }

    /// All choices of a seat, the best first.
    pub fn find(&mut self, view: &SeatView, rng: &mut ChaCha8Rng) -> Vec<CandidateStats> {
        let budget = Budget::Samples(self.settings.finding);
        self.finder.think(view, budget, rng)
    }

    /// Values the best choice, another one (or the same) and one at random on worlds of their own,
    /// common to all; none if there are too few of them within the limit of boards.
    pub fn values(
        &mut self,
        view: &SeatView,
        best: Candidate,
        other: Candidate,
        rng: &mut ChaCha8Rng,
    ) -> Option<ChoiceValues> {
        let mut choices = vec![Some(best), Some(other), None];
        choices.dedup();
        let budget = Budget::Samples(self.settings.valuing * choices.len() as u32);
        let values = self.valuer.compare(view, &choices, budget, rng);
        let fewest = FEWEST_WORLDS.min(self.settings.valuing);
        if values.iter().any(|choice| choice.samples < fewest) {
            return None;
        }
        let best = &values[0];
        let loss = |choice: &CandidateStats| choice.difference(best).unwrap_or_default();
        let (random_loss, _) = loss(&values[values.len() - 1]);
        let (difference, standard_error) = loss(&values[values.len() - 2]);
        Some(ChoiceValues {
            win_probability: best.mean().unwrap_or_default(),
            difference,
            standard_error,
            random_loss,
        })
    }

    /// The chance of each team on this table, before or after a deal.
    pub fn chances(
        &mut self,
        rules: &Rules,
        table: &Playout,
        rng: &mut ChaCha8Rng,
    ) -> Vec<TeamChance> {
        // The policy leaves nothing to chance from one deal to the next, so after a deal one
        // playout is enough.
        let playouts = match table.phase() {
            Phase::Deal => self.settings.rounds,
            _ => 1,
        };
        self.valuer
            .team_chances(rules, playouts, rng, |_| table.clone())
    }
}
