//! Reading a match.

use super::Store;
use crate::{
    GameId, MatchPair, StoreError, StoredMatch, TableResult, TokenHash, matches::NO_RESULT,
    postgres::Purpose, row::Cell,
};

impl Store {
    /// A match, or `None` if it does not exist.
    ///
    /// # Errors
    /// The store cannot be read, or the match cannot be parsed.
    pub async fn find_match(&self, id: &GameId) -> Result<Option<StoredMatch>, StoreError> {
        let unreadable = |error| StoreError::unreadable(*id, &error);
        let text = id.to_string();
        let params = [Cell::Text(&text)];
        let sql = "SELECT host_token, ended, setup FROM matches WHERE id = $1";
        let found = self.first(sql, &params, |row| {
            Ok(StoredMatch {
                id: *id,
                host: TokenHash(row.get(0)?),
                ended: row.get(1)?,
                setup: serde_json::from_str(row.get(2)?).map_err(unreadable)?,
                pairs: Vec::new(),
            })
        });
        let Some(mut found) = found.await? else {
            return Ok(None);
        };
        let sql = "SELECT seed, game, result FROM match_tables WHERE match_id = $1 ORDER BY number";
        let tables = self.rows(Purpose::Requests, sql, &params, |row| {
            let result: Option<&str> = row.get(2)?;
            let result = serde_json::from_str(result.unwrap_or(NO_RESULT)).map_err(unreadable)?;
            Ok((row.get(0)?, row.get(1)?, result))
        });
        let tables: Vec<(String, GameId, Option<TableResult>)> = tables.await?;
        let (pairs, _) = tables.as_chunks();
        let pairs = pairs.iter().map(|[first, second]| MatchPair {
            seed: first.0.clone(),
            games: [first.1, second.1],
            results: [first.2, second.2],
        });
        found.pairs = pairs.collect();
        Ok(Some(found))
    }
}
