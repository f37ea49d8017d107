//! The moments of a game to look at first.

use dog_rules::{By, Seat};
use serde::Serialize;

use crate::{JudgedDecision, Judgement, Review};

dog_rules::named! {
    /// What makes a moment.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
    pub enum MomentKind {
        /// The deal or decision that changed the chances most.
        TurningPoint = "turning_point",
        /// The best choice, clearly better than the second best, where `greedy` chooses otherwise.
        BestFind = "best_find",
        /// The decision with the largest loss.
        Costliest = "costliest",
    }
}

/// A moment of a game.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct Moment {
    pub kind: MomentKind,
    #[cfg_attr(feature = "utoipa", schema(minimum = 1))]
    pub round: u32,
    /// The version that the decision led to; absent where the moment is a deal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "utoipa", schema(minimum = 1))]
    pub version: Option<u64>,
    /// Who decided; absent where the moment is a deal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<Seat>,
}

impl Review {
    /// At most one moment of each kind; none before the review is complete.
    pub fn moments(&self) -> Vec<Moment> {
        if self.winner.is_none() {
            return Vec::new();
        }
        let deals = self.deals.iter().map(|deal| {
            let luck = deal.luck.iter().map(|luck| luck.abs());
            let moment = Moment {
                kind: MomentKind::TurningPoint,
                round: deal.round,
                version: None,
                seat: None,
            };
            (luck.fold(0.0, f64::max), moment)
        });
        let turning = |made: &JudgedDecision| Some(made.difference.abs());
        let turning = self.sized(MomentKind::TurningPoint, turning).chain(deals);
        let find = |made: &JudgedDecision| {
            made.find
                .filter(|_| matches!(made.by, None | Some(By::Bot)))
        };
        let costly =
            |made: &JudgedDecision| (made.judgement() > Judgement::Good).then(|| made.loss());
        let largest = [
            largest(turning),
            largest(self.sized(MomentKind::BestFind, find)),
            largest(self.sized(MomentKind::Costliest, costly)),
        ];
        largest.into_iter().flatten().collect()
    }

    /// The decisions that have a size, as moments of this kind.
    fn sized(
        &self,
        kind: MomentKind,
        size: impl Fn(&JudgedDecision) -> Option<f64>,
    ) -> impl Iterator<Item = (f64, Moment)> {
        self.decisions.iter().filter_map(move |made| {
            let mut deals = self.deals.iter().rev();
            let moment = Moment {
                kind,
                round: deals.find(|deal| deal.version < made.version)?.round,
                version: Some(made.version),
                seat: Some(made.seat),
            };
            Some((size(made)?, moment))
        })
    }
}

/// The largest one; of several, the first.
fn largest(moments: impl Iterator<Item = (f64, Moment)>) -> Option<Moment> {
    let largest = moments.reduce(|most, next| if next.0 > most.0 { next } else { most });
    largest.map(|(_, moment)| moment)
}
