//! The public list of games, and when a game leaves it.

use std::{collections::HashMap, mem};

use dog_rules::Phase;
use jiff::SignedDuration;

use super::{
    Creator, Cursor, GameId, GamePage, ListQuery, Store, StoreError, StoredGame,
    store::{Backend, dispatch},
};

/// How long a game that is not over stays in lists after its creation, and after somebody with a
/// token has used it.
pub(super) const LISTED_TIME: SignedDuration = SignedDuration::from_mins(10);

/// How much longer, so that a game in use is written once a minute at most.
pub(super) const LISTED_SLACK: SignedDuration = SignedDuration::from_mins(1);

/// In microseconds since 1970: when games that are over leave the lists.
const NEVER: i64 = i64::MAX / 2;

/// The number of games written at once.
pub(super) const LIST_BATCH: usize = 500;

/// The tables of one creator that come before those of others.
const TABLES_OF_CREATOR: usize = 5;

/// The number of games in which those of others are looked for.
const WINDOW: usize = 500;

/// A cursor has the number of a row, and above these bits how many games after it were listed.
const ROW_BITS: u32 = 48;

/// The number of a row in the list, and who created the game.
pub(super) type ListedRow = (i64, Option<Creator>);

impl StoredGame {
    /// Until when it is in lists whoever uses it, in microseconds since 1970: until its turn clock
    /// runs out, and for good once it is over.
    pub(super) fn listed_by_itself(&self) -> Option<i64> {
        match self.game.phase() {
            Phase::Finished => Some(NEVER),
            _ => self.deadline.map(|deadline| deadline.as_microsecond()),
        }
    }

    /// The same for a new game.
    pub(super) fn first_listed_until(&self) -> i64 {
        let until = (self.updated_at + LISTED_TIME + LISTED_SLACK).as_microsecond();
        self.listed_by_itself().map_or(until, |at| at.max(until))
    }
}

impl Store {
    /// A page of the public list of games, newest first, but with at most five tables of a creator
    /// before those of others. A game that cannot be parsed is skipped and logged as an error.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn games(&self, query: &ListQuery) -> Result<GamePage, StoreError> {
        let limit = query.limit.max(1) as usize;
        let Cursor(after) = query.after.unwrap_or(Cursor((1 << ROW_BITS) - 1));
        let (shown, before) = ((after >> ROW_BITS) as usize, after & ((1 << ROW_BITS) - 1));
        let read = async |window: usize| {
            let limit = window as i64 + 1;
            dispatch!(self, read_one listed_rows(query, before, limit))
        };
        let (mut window, mut rows) = (limit, read(limit).await?);
        if shown > 0 || others_first(&mut rows.iter().copied().take(limit).collect()) {
            window = limit.max(WINDOW);
            rows = read(window).await?;
        }
        let end = rows.get(window - 1).filter(|_| rows.len() > window);
        let (first, end) = (rows.first().copied(), end.map(|&(row, _)| Cursor(row)));
        rows.truncate(window);
        others_first(&mut rows);
        let next = match first {
            Some((first, _)) if shown + limit < rows.len() => {
                Some(Cursor(((shown + limit) as i64) << ROW_BITS | (first + 1)))
            }
            _ => end,
        };
        let page = rows.into_iter().skip(shown).take(limit);
        let page: Vec<i64> = page.map(|(row, _)| row).collect();
        let (mut games, mut unreadable) = (Vec::new(), Vec::new());
        for stored in dispatch!(self, read_one games_of_rows(&page))? {
            match stored {
                Ok(stored) => games.push(stored),
                Err(error) => unreadable.push(error),
            }
        }
        if let Some(first) = unreadable.first() {
            let many = unreadable.len();
            log::error!(
                "{many} games are not listed because they cannot be read; the first: {first}"
            );
        }
        Ok(GamePage { games, next })
    }

    /// Notes that somebody with a token uses the game, which so stays in the lists.
    pub fn note_use(&self, stored: &StoredGame) {
        if stored.listed && stored.game.phase() != Phase::Finished {
            self.used.lock().insert(stored.id);
        }
    }

    /// Keeps those games in the lists that were used since the last call, or at which somebody is
    /// `present`. With `sweep`, takes those out that nobody has used for a while.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn renew_lists(
        &self,
        present: impl IntoIterator<Item = GameId>,
        sweep: bool,
    ) -> Result<(), StoreError> {
        let mut used = mem::take(&mut *self.used.lock());
        used.extend(present);
        let used: Vec<GameId> = used.into_iter().collect();
        for batch in used.chunks(LIST_BATCH) {
            let batch = batch.to_vec();
            dispatch!(self, write keep_listed(&batch))?;
        }
        while sweep && dispatch!(self, write sweep_lists())? {}
        Ok(())
    }
}

/// Moves all but the first tables of each creator behind those of others. Returns whether there
/// are any.
fn others_first(rows: &mut Vec<ListedRow>) -> bool {
    let mut tables = HashMap::<Creator, usize>::new();
    let beyond = |&(_, creator): &ListedRow| {
        creator.is_some_and(|creator| {
            let tables = tables.entry(creator).or_default();
            *tables += 1;
            *tables > TABLES_OF_CREATOR
        })
    };
    let (later, first): (Vec<_>, Vec<_>) = mem::take(rows).into_iter().partition(beyond);
    let any = !later.is_empty();
    *rows = [first, later].concat();
    any
}
