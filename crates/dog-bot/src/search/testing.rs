//! A search of a seat that sees all cards, for tests and for the lab.

use dog_rules::{Playout, SeatView};
use rand::{Rng, RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

use super::{Budget, CandidateStats, Searcher};

impl Searcher<'_> {
    /// As [`Searcher::think`], where `world` has dealt the cards that the seat does not see.
    pub fn think_in<'v, R: Rng>(
        &mut self,
        view: &SeatView<'v>,
        budget: Budget,
        rng: &mut R,
        mut world: impl FnMut(&mut R) -> Playout<'v>,
    ) -> Vec<CandidateStats> {
        let clock = self.start_clock(budget);
        let (mut candidates, searched) = self.candidates(view, &clock);
        if searched > 1 {
            let left = self.search(view, &mut candidates, searched, &clock, rng, |rng| {
                let world = world(rng);
                (world, Xoshiro256PlusPlus::seed_from_u64(rng.random()))
            });
            self.rank(&mut candidates[..left]);
        }
        candidates
    }
}
