//! Lists of games: the public one, and that of all games.

use std::{collections::HashMap, mem};

use dog_rules::Phase;

use super::{Backend, Store};
use crate::{
    Creator, Cursor, GameId, GamePage, ListQuery, StoreError, StoredGame,
    list::{LIST_BATCH, WINDOW, others_first, page, page_start},
    postgres::Purpose,
    row::{Cell, Row},
};

impl Store {
    /// A page of the public list of games, newest first, but with at most five tables of a creator
    /// before those of others. A game that cannot be parsed is skipped and logged as an error.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn games(&self, query: &ListQuery) -> Result<GamePage, StoreError> {
        let limit = query.limit.max(1) as usize;
        let (shown, before) = page_start(query.after);
        let read = async |window: usize| {
            let limit = window as i64 + 1;
            dispatch!(self, read_one listed_rows(query, before, limit))
        };
        let (mut window, mut rows) = (limit, read(limit).await?);
        if shown > 0 || others_first(&mut rows.iter().copied().take(limit).collect()) {
            window = limit.max(WINDOW);
            rows = read(window).await?;
        }
        let (page, next) = page(rows, window, shown, limit);
        let games = self.readable_games(&page).await?;
        Ok(GamePage { games, next })
    }

    /// A page of all games, also of those that are in no list, newest first, with the bytes that
    /// each takes: only those of this creator, if one is given. For the operator.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn all_games(
        &self,
        query: &ListQuery,
        creator: Option<Creator>,
    ) -> Result<(GamePage, HashMap<GameId, u64>), StoreError> {
        macro_rules! select {
            ($and:literal, $limit:literal) => {
                concat!(
                    "SELECT row_id, id, octet_length(snapshot) + coalesce((SELECT \
                     sum(octet_length(events) + coalesce(octet_length(action), 0)) \
                     FROM log WHERE game = row_id), 0) + coalesce((SELECT \
                     sum(octet_length(entries)) FROM packed_log WHERE game = row_id), 0) \
                     FROM games WHERE row_id < $1 AND phase <> 'removed' \
                     AND $2 IN ('', phase) ",
                    $and,
                    " ORDER BY row_id DESC LIMIT $",
                    $limit
                )
            };
        }
        let limit = query.limit.max(1);
        let Cursor(before) = query.after.unwrap_or(Cursor(i64::MAX));
        let phase = Cell::Text(query.phase.map_or("", Phase::name));
        let (before, most) = (Cell::Int(before), Cell::Int(limit.into()));
        let (sql, params) = match &creator {
            None => (select!("", 3), vec![before, phase, most]),
            Some(Creator(creator)) => {
                let params = vec![before, phase, Cell::Bytes(creator), most];
                (select!("AND creator = $3", 4), params)
            }
        };
        let read = |row: Row<'_>| Ok((row.get::<i64>(0)?, (row.get::<GameId>(1)?, row.get(2)?)));
        let rows = self.rows(Purpose::Requests, sql, &params, read).await?;
        let (rows, sizes): (Vec<_>, HashMap<_, _>) = rows.into_iter().unzip();
        let next = rows.last().filter(|_| rows.len() == limit as usize);
        let (next, games) = (next.copied().map(Cursor), self.readable_games(&rows).await?);
        Ok((GamePage { games, next }, sizes))
    }

    /// The games in these rows, without those that cannot be parsed, which are logged.
    async fn readable_games(&self, rows: &[i64]) -> Result<Vec<StoredGame>, StoreError> {
        let mut unreadable = Vec::new();
        let games = dispatch!(self, read_one games_of_rows(rows))?.into_iter();
        let games = games.filter_map(|stored| stored.map_err(|error| unreadable.push(error)).ok());
        let games = games.collect();
        if let Some(first) = unreadable.first() {
            let many = unreadable.len();
            log::error!(
                "{many} games are not listed because they cannot be read; the first: {first}"
            );
        }
        Ok(games)
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
