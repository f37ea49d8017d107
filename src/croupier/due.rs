//! Looks for games that are due, so that those of every creator are found.

use std::time::{Duration, Instant};

use crate::store::{Creator, GameId, Store, StoreError, now};

/// Games that one look finds, the longest due first.
const LOOK: usize = 64;

/// Creators that a wider look asks for.
const CREATORS: u32 = 256;

/// How long what a wider look has found is used.
const WIDER_EVERY: Duration = Duration::from_millis(100);

/// What was found lately by wider looks: for games with people and for those without.
#[derive(Debug, Default)]
pub(super) struct Due([Wider; 2]);

/// A look at one game of each creator, for when very many games of one creator are due.
#[derive(Debug, Default)]
struct Wider {
    at: Option<Instant>,
    games: Vec<(GameId, Option<Creator>)>,
    /// The last creator that was asked for, if there are more.
    after: Option<Creator>,
}

impl Due {
    /// Games in which the server is to act now, with people or without. Of each creator they are in
    /// the order in which they are due; so many of them at most are not to be taken.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn look(
        &mut self,
        store: &Store,
        attended: bool,
        busy: usize,
    ) -> Result<Vec<(GameId, Option<Creator>)>, StoreError> {
        let limit = u32::try_from(busy + LOOK).unwrap_or(u32::MAX);
        let mut due = store.read(|reader| reader.due(attended, now(), limit))?;
        if due.len() >= limit as usize {
            let wider = &mut self.0[usize::from(attended)];
            wider.refresh(store, attended)?;
            due.extend(wider.games.iter().copied());
        }
        Ok(due)
    }
}

impl Wider {
    fn refresh(&mut self, store: &Store, attended: bool) -> Result<(), StoreError> {
        if self.at.is_some_and(|at| at.elapsed() < WIDER_EVERY) {
            return Ok(());
        }
        let (games, after) =
            store.read(|reader| reader.due_by_creator(attended, now(), self.after, CREATORS))?;
        *self = Wider {
            at: Some(Instant::now()),
            games,
            after,
        };
        Ok(())
    }
}
