//! Queries. Each is one statement, so it sees one state of the database.

use dog_rules::{BySeat, Seat, seat::MAX_SEATS};
use jiff::{SignedDuration, Timestamp};

use super::{
    columns::{all, first, micros, one, owned},
    connection::{Purpose, params},
    database::PgDatabase,
    sql::{NOW, expiry, latest_end, latest_now, sql},
    tasks::CLAIM,
};
use crate::{
    Creator, DueByCreator, GameCounts, GameId, LEASE, ListQuery, LogPage, REACTION_TIME,
    REVIEW_CLAIM, RecentReaction, ReviewStatus, SavedResponse, Scope, StoreError, StoredGame,
    StoredReview, TICKET_TTL, TokenHash,
    game_log::{LogForm, LogRow},
    game_row::{int, select_games, stored_game},
    list::ListedRow,
    row::{Cell, Row},
    stored_game::now,
};

impl PgDatabase {
    /// A game, or `None` if it does not exist. If the cache has it, only the state of its row is
    /// read.
    ///
    /// # Errors
    /// The database cannot be read, or the game cannot be parsed. The same applies to all queries.
    pub async fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        if let Some(cached) = self.cached(id) {
            match self.row_state(id).await? {
                None => return Ok(None),
                Some(state) if state.is_unchanged(&cached) => return Ok(Some(cached)),
                Some(_) => {}
            }
        }
        let sql = select_games!("WHERE id = $1");
        let rows = self.query(sql, params![id.to_string()]).await?;
        let stored = first(&rows, |row| stored_game(row, |_| None))?;
        if let Some(stored) = &stored {
            self.cache(stored);
        }
        Ok(stored)
    }

    /// What `read` makes of the rows of a query, which may take long if it is for the background.
    pub async fn rows<T>(
        &self,
        purpose: Purpose,
        sql: &'static str,
        params: &[Cell<'_>],
        read: impl FnMut(Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = match purpose {
            Purpose::Background => self.query_in_background(sql, owned(params)).await?,
            _ => self.query(sql, owned(params)).await?,
        };
        all(&rows, read)
    }

    /// At which seats of a game somebody is present by a lease that lasts, or that ended at most
    /// `ended` ago. A lease that ends later than any that is made now was made before the clock was
    /// set back.
    pub async fn present(
        &self,
        id: &GameId,
        ended: SignedDuration,
    ) -> Result<BySeat<bool>, StoreError> {
        let sql = sql!(
            "SELECT seat FROM presence JOIN processes USING (process) \
             WHERE game = $1 AND lease_until > {NOW} - $2 AND lease_until <= {}",
            latest_end(LEASE)
        );
        let params = params![id.to_string(), micros(ended)];
        let mut present = BySeat::default();
        for row in self.query(sql, params).await? {
            let number = u8::try_from(row.try_get::<_, i64>(0)?).unwrap_or(u8::MAX);
            if let Some(seat) = Seat::new(number, MAX_SEATS as u8) {
                present[seat] = true;
            }
        }
        Ok(present)
    }

    /// The recent reactions in a game, with their ages.
    pub async fn reactions(&self, id: &GameId) -> Result<Vec<RecentReaction>, StoreError> {
        let sql = sql!(
            "SELECT seat, reaction, at, {NOW} FROM reactions WHERE game = $1 \
             AND at > {NOW} - $2 AND at <= {} AND reaction IS NOT NULL ORDER BY at",
            latest_now()
        );
        let params = params![id.to_string(), micros(REACTION_TIME)];
        let reactions = all(&self.query(sql, params).await?, |row| {
            let seat = u8::try_from(row.get::<i64>(0)?).unwrap_or(u8::MAX);
            let (name, at, now) = (row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(RecentReaction::new(seat, name, at, now))
        })?;
        Ok(reactions.into_iter().flatten().collect())
    }

    /// See [`Store::review`](crate::Store::review).
    pub async fn review(&self, id: &GameId) -> Result<Option<StoredReview>, StoreError> {
        let sql = sql!(
            "SELECT status, claimed_until > {NOW} AND claimed_until <= {}, content \
             FROM reviews JOIN games ON game = row_id WHERE id = $1",
            latest_end(REVIEW_CLAIM)
        );
        let rows = self.query(sql, params![id.to_string()]).await?;
        first(&rows, |row| {
            Ok(StoredReview {
                status: ReviewStatus::from_row(row.get(0)?, row.get(1)?),
                packed: row.get(2)?,
            })
        })
    }

    /// The first entries of a game's log after the version `after`, at most `limit`. Of a packed
    /// log only the entries of one page are returned. Empty if there is no such game.
    pub async fn log_page(
        &self,
        id: &GameId,
        after: u64,
        limit: u32,
    ) -> Result<LogPage, StoreError> {
        let sql = "WITH game AS (SELECT row_id FROM games WHERE id = $1 AND version > $2), \
                   page AS (\
                       SELECT (SELECT entries FROM packed_log \
                               WHERE game = row_id AND first_version <= $4 \
                               ORDER BY first_version DESC LIMIT 1) AS entries FROM game) \
                   SELECT page.entries, log.version, at, action, events \
                   FROM game LEFT JOIN page ON true LEFT JOIN log ON page.entries IS NULL \
                   AND log.game = row_id AND log.version > $2 \
                   ORDER BY log.version LIMIT $3";
        let first = int(after.saturating_add(1));
        let params = params![id.to_string(), int(after), i64::from(limit), first];
        let rows = self.query(sql, params).await?;
        Ok(LogPage {
            game: *id,
            after,
            limit: limit as usize,
            form: log_form(&rows)?,
        })
    }

    /// The newest `limit` games that the list has before this row.
    pub async fn listed_rows(
        &self,
        query: &ListQuery,
        before: i64,
        limit: i64,
    ) -> Result<Vec<ListedRow>, StoreError> {
        macro_rules! listed {
            ($and:literal) => {
                sql!(
                    "SELECT row_id, creator FROM games WHERE listed AND listed_until > {NOW} \
                     AND row_id < $1 {} ORDER BY row_id DESC LIMIT $2",
                    $and
                )
            };
        }
        let sql = match (query.open, query.phase) {
            (false, None) => listed!(""),
            (false, Some(_)) => listed!("AND phase = $3"),
            (true, None) => listed!("AND anyone_may_join"),
            (true, Some(_)) => listed!("AND anyone_may_join AND phase = $3"),
        };
        let mut params = params![before, limit];
        if let Some(phase) = query.phase {
            params.extend(params![phase.name()]);
        }
        let rows = self.query(sql, params).await?;
        all(&rows, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// The games in these rows, in this order, without those that were removed meanwhile.
    pub async fn games_of_rows(
        &self,
        row_ids: &[i64],
    ) -> Result<Vec<Result<StoredGame, StoreError>>, StoreError> {
        let sql = select_games!("WHERE row_id = ANY ($1) ORDER BY array_position($1, row_id)");
        let rows = self.query(sql, params![row_ids.to_vec()]).await?;
        all(&rows, |row| Ok(stored_game(row, |_| None)))
    }

    /// The token that a ticket for this game stands for, or `None` if there is no such ticket or it
    /// has expired.
    pub async fn ticket(
        &self,
        id: &GameId,
        ticket: &TokenHash,
    ) -> Result<Option<TokenHash>, StoreError> {
        let sql = sql!(
            "SELECT token_hash FROM tickets WHERE ticket_hash = $2 \
             AND game = (SELECT row_id FROM games WHERE id = $1) \
             AND expires_at > {NOW} AND expires_at <= {}",
            latest_end(TICKET_TTL)
        );
        let params = params![id.to_string(), ticket.0.to_vec()];
        let rows = self.query(sql, params).await?;
        first(&rows, |row| row.get(0).map(TokenHash))
    }

    /// The response saved for this scope in the last 24 hours.
    pub async fn saved_response(&self, scope: &Scope) -> Result<Option<SavedResponse>, StoreError> {
        let sql = sql!(
            "SELECT body_hash, response FROM idempotency WHERE scope = $1 AND created_at > {}",
            expiry()
        );
        let rows = self.query(sql, params![scope.0.to_vec()]).await?;
        first(&rows, SavedResponse::read)
    }

    /// Due games and their creators, the longest due first, without those that a node has claimed.
    /// A game is due when it is by the database's clock and by this node's.
    pub async fn due(
        &self,
        is_for_people: bool,
        limit: u32,
    ) -> Result<Vec<(GameId, Option<Creator>)>, StoreError> {
        let sql = sql!(
            "SELECT id, creator FROM games WHERE due_at IS NOT NULL AND is_for_people = $1 \
             AND due_at <= least({NOW}, $3) AND {} ORDER BY due_at LIMIT $2",
            unclaimed()
        );
        let params = params![is_for_people, i64::from(limit), now().as_microsecond()];
        let rows = self.query(sql, params).await?;
        all(&rows, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// See [`Store::due_from_future`](crate::Store::due_from_future).
    pub async fn due_from_future(
        &self,
        is_for_people: bool,
        limit: u32,
    ) -> Result<Vec<(GameId, Option<Creator>)>, StoreError> {
        let sql = sql!(
            "SELECT id, creator FROM games WHERE due_at IS NOT NULL AND is_for_people = $1 \
             AND due_at > {latest} AND updated_at > {latest} AND {} LIMIT $2",
            unclaimed(),
            latest = latest_now(),
        );
        let params = params![is_for_people, i64::from(limit)];
        let rows = self.query(sql, params).await?;
        all(&rows, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// See [`Store::due_by_creator`](crate::Store::due_by_creator).
    pub async fn due_by_creator(
        &self,
        is_for_people: bool,
        after: Option<Creator>,
        limit: u32,
    ) -> Result<DueByCreator, StoreError> {
        let without_creator = sql!(
            "SELECT id FROM games WHERE due_at IS NOT NULL AND is_for_people = $1 \
             AND creator IS NULL AND due_at <= least({NOW}, $3) AND {} ORDER BY due_at LIMIT $2",
            unclaimed()
        );
        // Two index lookups per creator, however many games it has.
        let by_creator = sql!(
            "WITH RECURSIVE creators AS (\
                 (SELECT ({}) AS creator, 1 AS number) UNION ALL \
                 SELECT ({}), number + 1 FROM creators AS last \
                 WHERE last.creator IS NOT NULL AND number < $3) \
             SELECT creator, (\
                 SELECT id FROM games WHERE due_at IS NOT NULL AND is_for_people = $1 \
                 AND creator = creators.creator AND due_at <= least({NOW}, $4) AND {} \
                 ORDER BY due_at LIMIT 1) \
             FROM creators WHERE creator IS NOT NULL ORDER BY creator",
            next_creator("$2"),
            next_creator("last.creator"),
            unclaimed()
        );
        let (limit, own_now) = (i64::from(limit), now().as_microsecond());
        let params = params![is_for_people, limit, own_now];
        let rows = self.query(without_creator, params).await?;
        let mut games = all(&rows, |row| Ok((row.get(0)?, None)))?;
        let after = after.map_or(Vec::new(), |creator| creator.0.to_vec());
        let params = params![is_for_people, after, limit as i32, own_now];
        let rows = self.query(by_creator, params).await?;
        let due: Vec<(Creator, Option<GameId>)> = all(&rows, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let last = due.last().map(|&(creator, _)| creator);
        let next = last.filter(|_| due.len() as i64 == limit);
        let due = due.into_iter();
        games.extend(due.filter_map(|(creator, id)| Some((id?, Some(creator)))));
        Ok((games, next))
    }

    /// See [`Store::next_due`](crate::Store::next_due). By the database's clock it may be earlier.
    pub async fn next_due(&self, after: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let sql = sql!(
            "WITH start AS (SELECT least({NOW}, $1) AS at) SELECT least(\
                 (SELECT min(due_at) FROM games \
                  WHERE due_at IS NOT NULL AND is_for_people AND due_at > (SELECT at FROM start)), \
                 (SELECT min(due_at) FROM games \
                  WHERE due_at IS NOT NULL AND NOT is_for_people \
                  AND due_at > (SELECT at FROM start)))"
        );
        let row = one(self.query(sql, params![after.as_microsecond()]).await?)?;
        let next: Option<i64> = row.try_get(0)?;
        Ok(next.and_then(|next| Timestamp::from_microsecond(next).ok()))
    }

    /// The number of games by phase.
    pub async fn game_counts(&self) -> Result<GameCounts, StoreError> {
        let sql = "SELECT phase, count(*) FROM games GROUP BY phase";
        let rows = self.query_in_background(sql, params![]).await?;
        let games = all(&rows, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let sql = sql!(
            "SELECT count(*), coalesce({NOW} - min(due_at), 0), (SELECT count(*) FROM reviews \
             WHERE status <> 'done' AND status = 'waiting'), (SELECT version FROM schema_version) \
             FROM games WHERE due_at IS NOT NULL AND due_at <= {NOW}"
        );
        let row = one(self.query_in_background(sql, params![]).await?)?;
        let others = [row.try_get(0)?, row.try_get(1)?, row.try_get(2)?];
        let version: i32 = row.try_get(3)?;
        Ok(GameCounts::new(&games, others, version.unsigned_abs()))
    }
}

/// The query of the first creator of due games after this one.
fn next_creator(after: &str) -> String {
    format!(
        "SELECT creator FROM games WHERE due_at IS NOT NULL AND is_for_people = $1 \
         AND creator > {after} ORDER BY creator LIMIT 1"
    )
}

/// The condition that no node has claimed the present version of a game.
fn unclaimed() -> String {
    format!(
        "NOT EXISTS (SELECT FROM due_claims AS claim \
         WHERE claim.game = games.row_id AND claim.version = games.version \
         AND claim.until > {NOW} AND claim.until <= {})",
        latest_end(CLAIM)
    )
}

/// The log in rows of the columns entries (of a packed page), version, at, action and events.
pub(super) fn log_form(rows: &[tokio_postgres::Row]) -> Result<LogForm, StoreError> {
    if let Some(packed) = first(rows, |row| row.get(0))?.flatten() {
        return Ok(LogForm::Packed(packed));
    }
    // Of an empty log there is a row without an entry.
    let entries = all(rows, |row| match row.get(1)? {
        Some::<u64>(_) => LogRow::read(row, 1).map(Some),
        None => Ok(None),
    })?;
    Ok(LogForm::Rows(entries.into_iter().flatten().collect()))
}
