//! The order of the public list of games, and when a game leaves it.

use std::{collections::HashMap, mem};

use dog_rules::Phase;
use jiff::SignedDuration;

use super::{Creator, Cursor, StoredGame};

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
pub(super) const WINDOW: usize = 500;

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

/// How many games of a window were shown before a page, and the row before which the window begins.
pub(super) fn page_start(after: Option<Cursor>) -> (usize, i64) {
    let Cursor(after) = after.unwrap_or(Cursor((1 << ROW_BITS) - 1));
    ((after >> ROW_BITS) as usize, after & ((1 << ROW_BITS) - 1))
}

/// A page of a window of rows, and where the next one begins. There is one more row if more than
/// the window are listed.
pub(super) fn page(
    mut rows: Vec<ListedRow>,
    window: usize,
    shown: usize,
    limit: usize,
) -> (Vec<i64>, Option<Cursor>) {
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
    (page.map(|(row, _)| row).collect(), next)
}

/// Moves all but the first tables of each creator behind those of others. Returns whether there
/// are any.
pub(super) fn others_first(rows: &mut Vec<ListedRow>) -> bool {
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
