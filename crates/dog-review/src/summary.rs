//! The sums of a review, by seat, round and team.

use dog_rules::{By, Rules, Seat};
use serde::Serialize;

use crate::{JudgedDecision, Judgement, Review, accuracy, rounded, tidy};

/// How many of the costliest decisions the review of a seat lists.
const COSTLIEST: usize = 3;

/// How well a seat's person decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct SeatReview {
    pub seat: Seat,
    /// The decisions of the seat's person.
    pub decisions: u32,
    /// Null without decisions.
    #[cfg_attr(feature = "utoipa", schema(required, minimum = 0, maximum = 1))]
    pub mean_loss: Option<f64>,
    pub judgements: JudgementCounts,
    /// The share of what choices at random would have lost that these did not lose. Null with fewer
    /// than ten decisions that matter, and in reviews made before 0.3.0.
    #[cfg_attr(feature = "utoipa", schema(required, minimum = 0, maximum = 100))]
    pub accuracy: Option<f64>,
    pub accuracy_of: AccuracyOf,
    /// The accuracy of the decisions that a bot made for the seat.
    #[cfg_attr(feature = "utoipa", schema(required, minimum = 0, maximum = 100))]
    pub bot_accuracy: Option<f64>,
    /// The versions of the costliest decisions that were worse than good, the costliest first.
    #[cfg_attr(feature = "utoipa", schema(max_items = 3))]
    pub costliest: Vec<u64>,
}

/// What an accuracy is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccuracyOf {
    /// By what choices at random would have lost.
    Random,
}

/// The number of decisions with each judgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct JudgementCounts {
    pub best: u32,
    pub good: u32,
    pub inaccuracy: u32,
    pub mistake: u32,
    pub blunder: u32,
}

/// A round: what changed the chances of the teams. The lists have one number per team.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct RoundReview {
    #[cfg_attr(feature = "utoipa", schema(minimum = 1))]
    pub round: u32,
    /// The version of the deal.
    #[cfg_attr(feature = "utoipa", schema(minimum = 1))]
    pub version: u64,
    /// The chance before the deal.
    pub before: Vec<f64>,
    /// What the hands added.
    pub luck: Vec<f64>,
    pub luck_standard_error: Vec<f64>,
    /// What the decisions added.
    pub decisions: Vec<f64>,
    /// What is left. Null for the round in which a team gave up, because it was not played to its
    /// end.
    // Luck of hidden cards, players unlike the policy, errors of estimate.
    #[cfg_attr(feature = "utoipa", schema(required))]
    pub rest: Option<Vec<f64>>,
    /// The chance before the next deal; after the last round 1 or 0.
    pub end: Vec<f64>,
}

/// A team's game: `start`, `luck`, `decisions` and `rest` add up to `result`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct TeamReview {
    pub team: u8,
    pub start: f64,
    pub luck: f64,
    pub decisions: f64,
    /// Of a game that was given up, also what that has changed.
    pub rest: f64,
    // 1 for the winner, 0 for the others.
    pub result: f64,
}

impl Review {
    /// Each seat, with those of its decisions that are reviewed.
    pub fn seats(&self, rules: &Rules) -> Vec<SeatReview> {
        Seat::all(rules.seats)
            .map(|seat| {
                let made_by = |by| {
                    let decisions = self.decisions.iter();
                    decisions.filter(move |found| found.seat == seat && found.by == by)
                };
                SeatReview {
                    bot_accuracy: accuracy(made_by(Some(By::Bot))),
                    ..SeatReview::new(seat, made_by(None).collect())
                }
            })
            .collect()
    }

    /// The rounds whose end is known.
    pub fn rounds(&self, rules: &Rules) -> Vec<RoundReview> {
        let teams = rules.seats / 2;
        let result = self.winner.map(|winner| {
            let won = |team| f64::from(u8::from(team == winner));
            (u64::MAX, (0..teams).map(won).collect::<Vec<f64>>())
        });
        let ends = self.deals.iter().skip(1);
        let ends = ends.map(|deal| (deal.version, deal.before.clone()));
        let rounds = self.deals.iter().zip(ends.chain(result));
        rounds
            .map(|(deal, (until, end))| {
                let is_given_up = self.forfeited && until == u64::MAX;
                let made = self.decisions.iter();
                let made = made.filter(|made| (deal.version..until).contains(&made.version));
                let decisions = effect(made, rules);
                let rest = (0..usize::from(teams)).map(|team| {
                    tidy(end[team] - deal.before[team] - deal.luck[team] - decisions[team])
                });
                RoundReview {
                    round: deal.round,
                    version: deal.version,
                    before: deal.before.clone(),
                    luck: deal.luck.clone(),
                    luck_standard_error: deal.luck_standard_error.clone(),
                    rest: (!is_given_up).then(|| rest.collect()),
                    decisions,
                    end,
                }
            })
            .collect()
    }

    /// Each team's whole game; none before the review is complete.
    pub fn teams(&self, rules: &Rules) -> Vec<TeamReview> {
        let rounds = self.rounds(rules);
        let (Some(winner), Some(first)) = (self.winner, rounds.first()) else {
            return Vec::new();
        };
        (0..rules.seats / 2)
            .map(|team| {
                let sum = |part: fn(&RoundReview) -> &[f64]| {
                    let parts = rounds.iter().map(|round| part(round)[usize::from(team)]);
                    tidy(parts.sum())
                };
                let start = first.before[usize::from(team)];
                let (luck, decisions) = (sum(|round| &round.luck), sum(|round| &round.decisions));
                let result = f64::from(u8::from(team == winner));
                TeamReview {
                    team,
                    start,
                    luck,
                    decisions,
                    rest: tidy(result - start - luck - decisions),
                    result,
                }
            })
            .collect()
    }
}

impl SeatReview {
    fn new(seat: Seat, mut decisions: Vec<&JudgedDecision>) -> SeatReview {
        let total = decisions.len();
        let lost: f64 = decisions.iter().map(|decision| decision.loss()).sum();
        let mean_loss = (total > 0).then(|| rounded(lost / total as f64));
        let accuracy = accuracy(decisions.iter().copied());
        let count = |judgement| {
            let judged = decisions.iter().map(|decision| decision.judgement());
            judged.filter(|&judged| judged == judgement).count() as u32
        };
        let judgements = JudgementCounts {
            best: count(Judgement::Best),
            good: count(Judgement::Good),
            inaccuracy: count(Judgement::Inaccuracy),
            mistake: count(Judgement::Mistake),
            blunder: count(Judgement::Blunder),
        };
        decisions.retain(|decision| decision.judgement() > Judgement::Good);
        decisions.sort_by(|a, b| b.loss().total_cmp(&a.loss()));
        decisions.truncate(COSTLIEST);
        SeatReview {
            seat,
            decisions: total as u32,
            mean_loss,
            judgements,
            accuracy,
            accuracy_of: AccuracyOf::Random,
            bot_accuracy: None,
            costliest: decisions.iter().map(|decision| decision.version).collect(),
        }
    }
}

/// What decisions add to the chance of each team: each takes its difference from its own team and
/// gives the others equal shares of it.
fn effect<'a>(decisions: impl Iterator<Item = &'a JudgedDecision>, rules: &Rules) -> Vec<f64> {
    let teams = rules.seats / 2;
    let mut sums = vec![0.0; usize::from(teams)];
    for decision in decisions {
        let own = decision.seat.team(rules.seats);
        for (team, sum) in (0..teams).zip(&mut sums) {
            *sum += if team == own {
                -decision.difference
            } else {
                decision.difference / f64::from(teams - 1)
            };
        }
    }
    sums.into_iter().map(tidy).collect()
}
