//! Goes through a finished game, one action at a time.

use std::collections::BTreeMap;

use dog_bot::{
    Choice, Level,
    net::nets::Nets,
    search::{Candidate, CandidateStats, Checkpoint, TeamChance},
    static_advice,
};
use dog_rules::{Action, ActionRefusal, Actor, BySeat, Card, Game, Playout, Seat, SeatView};
use rand::{SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use crate::{JudgedDecision, ReviewSearch, ReviewSettings, decision::ERRORS, rounded};

/// The most boards of a whole review: about as many as an idle core evaluates in ten minutes. All
/// its searches have equal shares, so that the review is the same on every machine.
const MAX_BOARDS: usize = 300_000_000;

/// Searches of an action at most.
const SEARCHES: usize = 2;

/// A game that is over: how it was set up, and every action.
#[derive(Clone, Debug)]
pub struct FinishedGame {
    pub start: Game,
    /// The actions in order, and who took each.
    pub actions: Vec<(Action, Actor)>,
}

/// What a review has found so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// The version of the game up to which it is reviewed; 0 at first.
    pub version: u64,
    pub decisions: Vec<JudgedDecision>,
    pub deals: Vec<DealValue>,
    /// The winner, once the end is reached.
    pub winner: Option<u8>,
    /// Whether the other team has given up.
    #[serde(default)]
    pub forfeited: bool,
}

impl Review {
    /// Whether it was made before reviews knew what a choice at random would have lost.
    pub fn is_old(&self) -> bool {
        let mut decisions = self.decisions.iter();
        decisions.any(|decision| decision.random_loss.is_none())
    }
}

/// What a deal was worth. The lists have one number per team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DealValue {
    pub round: u32,
    /// The version of the game after it.
    pub version: u64,
    /// The mean chance over hands dealt at random.
    pub before: Vec<f64>,
    /// The chance with the hands that were dealt, less `before`.
    pub luck: Vec<f64>,
    pub luck_standard_error: Vec<f64>,
}

/// Reviews a game.
pub struct Reviewer<'n> {
    seed: u64,
    checkpoint: Checkpoint<'n>,
    pub(super) search: ReviewSearch<'n>,
    game: Game,
    actions: std::vec::IntoIter<(Action, Actor)>,
    review: Review,
}

impl<'n> Reviewer<'n> {
    /// Begins a review, or continues where `review` ended. Once the checkpoint, which is called
    /// about every millisecond, returns false, nothing more is found.
    ///
    /// # Errors
    /// If the game cannot be replayed up to there.
    pub fn new(
        nets: &'n Nets,
        settings: ReviewSettings,
        seed: u64,
        game: FinishedGame,
        review: Review,
        checkpoint: Checkpoint<'n>,
    ) -> Result<Reviewer<'n>, ActionRefusal> {
        let share = MAX_BOARDS / (SEARCHES * game.actions.len()).max(1);
        let settings = ReviewSettings {
            boards: settings.boards.min(share as u32),
            ..settings
        };
        let mut reviewer = Reviewer {
            seed,
            checkpoint,
            search: ReviewSearch::new(nets, settings, checkpoint),
            game: game.start,
            actions: game.actions.into_iter(),
            review,
        };
        while reviewer.game.version() < reviewer.review.version {
            let Some((action, actor)) = reviewer.actions.next() else {
                break;
            };
            reviewer.game.apply_by(&action, actor)?;
        }
        Ok(reviewer)
    }

    /// What has been found so far.
    pub fn review(&self) -> &Review {
        &self.review
    }

    /// Reviews the next action. Returns whether there was one, and it was reviewed to its end.
    ///
    /// # Errors
    /// If the game refuses the action. The log of a finished game has none that it refuses.
    pub fn step(&mut self) -> Result<bool, ActionRefusal> {
        let Some((action, actor)) = self.actions.next() else {
            return Ok(false);
        };
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(self.game.version());
        let (mut deal, mut decision) = (None, None);
        if let Action::Deal { .. } = action {
            deal = Some(self.value_deal(&action, actor, &mut rng)?);
        } else {
            let judged = self.judge(&action, &mut rng);
            let events = self.game.apply_by(&action, actor)?;
            let by = events.first().and_then(|event| event.by);
            decision = judged.map(|judged| JudgedDecision { by, ..judged });
        }
        if !(self.checkpoint)() {
            return Ok(false);
        }
        self.review.deals.extend(deal);
        self.review.decisions.extend(decision);
        self.review.version = self.game.version();
        self.review.winner = self.game.winner();
        self.review.forfeited = self.game.winner() != self.game.board().winner(self.game.rules());
        Ok(true)
    }

    /// Reviews all that is left.
    ///
    /// # Errors
    /// As [`Reviewer::step`].
    pub fn finish(mut self) -> Result<Review, ActionRefusal> {
        while self.step()? {}
        Ok(self.review)
    }

    /// Carries out a deal and values it.
    fn value_deal(
        &mut self,
        action: &Action,
        actor: Actor,
        rng: &mut ChaCha8Rng,
    ) -> Result<DealValue, ActionRefusal> {
        let round = self.game.round();
        let before = self.chances(rng);
        self.game.apply_by(action, actor)?;
        let after = self.chances(rng);
        let values = |value: fn(&TeamChance, &TeamChance) -> f64| {
            let teams = before.iter().zip(&after);
            teams.map(|(before, after)| value(before, after)).collect()
        };
        Ok(DealValue {
            round,
            version: self.game.version(),
            before: values(|before, _| rounded(before.mean)),
            luck: values(|before, after| rounded(after.mean - before.mean)),
            luck_standard_error: values(|before, after| {
                rounded(before.standard_error.hypot(after.standard_error))
            }),
        })
    }

    /// The chance of each team on this table, before a deal or after it. The stock is always drawn
    /// anew.
    fn chances(&mut self, rng: &mut ChaCha8Rng) -> Vec<TeamChance> {
        let (game, rules) = (&self.game, self.game.rules());
        let hands = BySeat::of_seats(rules.seats, |seat| game.hand(seat));
        let table = Playout::from_view(&game.seen_from(game.beginner()), hands, rng);
        self.search.chances(rules, &table, rng)
    }

    /// Judges a decision; none if there was nothing to decide, or it cannot be valued.
    fn judge(&mut self, action: &Action, rng: &mut ChaCha8Rng) -> Option<JudgedDecision> {
        let (seat, choice) = choice(action)?;
        let view = self.game.seen_from(seat);
        let played = Candidate::from_choice(&view, choice)?;
        let found = self.search.find(&view, rng);
        if found.len() < 2 {
            return None;
        }
        let best = found[0].candidate;
        let is_best = best == played;
        let other = if is_best {
            rival(&view, &found, self.seed)
        } else {
            Some(played)
        };
        let values = self
            .search
            .values(&view, best, other.unwrap_or(best), rng)?;
        let (difference, standard_error) = (values.difference, values.standard_error);
        let is_find = is_best && difference > ERRORS * standard_error;
        let if_other = |value| if is_best { 0.0 } else { rounded(value) };
        Some(JudgedDecision {
            version: self.game.version() + 1,
            seat,
            by: None,
            played: action.clone(),
            best: if is_best {
                action.clone()
            } else {
                best.choice(&view).action(seat)
            },
            win_probability: rounded(values.win_probability),
            difference: if_other(difference),
            standard_error: if_other(standard_error),
            random_loss: Some(rounded(values.random_loss)),
            net_random_loss: Some(rounded(net_random_loss(&found))),
            find: is_find.then(|| rounded(difference)),
        })
    }
}

/// The second best choice, if the best one is worth a comparison: `greedy` prefers another one, and
/// there are at least two boards.
fn rival(view: &SeatView, found: &[CandidateStats], seed: u64) -> Option<Candidate> {
    let board = |stats: &CandidateStats| match stats.candidate {
        Candidate::Play(_, board) => Some(board),
        _ => None,
    };
    let first = board(&found[0])?;
    let is_choice = found.iter().any(|stats| board(stats) != Some(first));
    let greedy = static_advice(Level::Greedy, view, &mut ChaCha8Rng::seed_from_u64(seed));
    let greedy = Candidate::from_choice(view, greedy.first()?.choice)?;
    (is_choice && greedy != found[0].candidate).then_some(found[1].candidate)
}

/// What a choice at random loses on average by the net's first values: each card of the hand that
/// can be played is equally likely, then each board that it leads to; in the exchange each answer.
fn net_random_loss(found: &[CandidateStats]) -> f64 {
    let (mut best, mut by_card) = (0.0, BTreeMap::<Option<Card>, Vec<f64>>::new());
    for stats in found {
        let card = match stats.candidate {
            Candidate::Play(card, _) => Some(card),
            _ => None,
        };
        let chance = stats.net_probability();
        best = f64::max(best, chance);
        by_card.entry(card).or_default().push(chance);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let cards: Vec<f64> = by_card.values().map(|chances| mean(chances)).collect();
    best - mean(&cards)
}

/// The seat and the choice of an action that plays or exchanges.
fn choice(action: &Action) -> Option<(Seat, Choice)> {
    Some(match *action {
        Action::Play { seat, mv } => (seat, Choice::Play(mv)),
        Action::Offer { seat, card } => (seat, Choice::Offer(card)),
        Action::Decline { seat } => (seat, Choice::Decline),
        Action::Ask { seat } => (seat, Choice::Ask),
        Action::Pass { seat } => (seat, Choice::Pass),
        _ => return None,
    })
}
