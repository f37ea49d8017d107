//! What the playouts show about a candidate, beyond numbers.

use dog_rules::{Card, SeatView};

use super::{
    Candidate, CandidateStats, Searcher,
    line::{self, LinePlay},
};

/// What the playouts show about a candidate.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlayoutFindings {
    /// The plays that followed most often.
    pub(crate) line: Vec<LinePlay>,
    /// The card, if this is the only good use of it.
    pub(crate) only_use: Option<Card>,
}

/// By how much every other use of a card is worse than the only good one, at least.
pub(crate) const CLEARLY: f64 = 0.03;

/// The candidate's card, if it leads to other boards too, and all of these are worse by more than
/// two standard errors of the difference, and by [`CLEARLY`]. A board without playouts is not known
/// to be worse.
fn only_use(stats: &CandidateStats, candidates: &[CandidateStats]) -> Option<Card> {
    let Candidate::Play(card, board) = stats.candidate else {
        return None;
    };
    let others = candidates.iter().filter(|other| {
        matches!(other.candidate, Candidate::Play(same, after) if same == card && after != board)
    });
    let mut worse = others.map(|other| {
        let difference = other.difference(stats);
        difference.is_some_and(|(mean, error)| mean > CLEARLY.max(2.0 * error))
    });
    (worse.next()? && worse.all(|worse| worse)).then_some(card)
}

impl Searcher<'_> {
    /// What the playouts show about each candidate, beyond numbers. Nothing unless the search
    /// explains.
    pub(crate) fn findings(
        &self,
        view: &SeatView,
        candidates: &[CandidateStats],
    ) -> Vec<PlayoutFindings> {
        candidates
            .iter()
            .map(|stats| {
                if !self.config.explains || stats.samples == 0 {
                    return PlayoutFindings::default();
                }
                PlayoutFindings {
                    line: stats.line(view),
                    only_use: only_use(stats, candidates),
                }
            })
            .collect()
    }
}

impl CandidateStats {
    /// The plays that followed most often in the playouts of a play.
    fn line(&self, view: &SeatView) -> Vec<LinePlay> {
        let board = match self.candidate {
            Candidate::Play(_, board) => board,
            Candidate::Fold => view.board,
            Candidate::Answer(_) => return Vec::new(),
        };
        line::most_frequent(view.rules, board, &self.first_plays)
    }
}
