//! Duplicate matches: pairs of tables that play the same cards, with the sides changed.
//!
//! A table is closed from its first deal until both tables of its pair have ended: in that time only
//! its own seats see it. The write that ends a table also decides whether its pair opens.

use dog_rules::{Level, Phase, Rules, Seat, SeatKind, Seed};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{GameId, StoreError, StoredGame, TokenHash, row::Row};

/// The table of a match that a game is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchTable {
    pub match_id: GameId,
    /// Twice the number of its pair and, for the second table of the pair, one more.
    pub number: u32,
    pub closed: bool,
}

impl MatchTable {
    /// The table in three columns of a row, from this one on; none if the game is no such table.
    ///
    /// # Errors
    /// A column is not valid.
    pub(super) fn read(row: Row<'_>, column: usize) -> Result<Option<MatchTable>, StoreError> {
        let Some(match_id) = row.get(column)? else {
            return Ok(None);
        };
        Ok(Some(MatchTable {
            match_id,
            number: row.get(column + 1)?,
            closed: row.get(column + 2)?,
        }))
    }

    /// The side of this team. The sides change seats between the tables of a pair.
    fn side(self, team: u8) -> usize {
        (usize::from(team) + self.number as usize) % 2
    }
}

/// How a table ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableResult {
    /// The side that has won.
    pub winner: usize,
    /// The pieces of each side in their goals.
    pub pieces: [u32; 2],
}

impl StoredGame {
    /// Whether only its own seats may see it, as it is a table of a match.
    pub fn is_match_closed(&self) -> bool {
        self.table.is_some_and(|table| table.closed)
    }

    /// Whether the game is over, and nothing in it is hidden any more.
    pub fn is_laid_open(&self) -> bool {
        self.game.phase() == Phase::Finished && !self.is_match_closed()
    }

    /// The shuffle seed, once the game is laid open.
    pub fn published_seed(&self) -> Option<String> {
        self.game.seed_at_end().filter(|_| self.is_laid_open())
    }

    /// The result of a table of a match that has ended: none if nobody has won.
    pub(super) fn table_result(&self, table: MatchTable) -> Option<TableResult> {
        let (game, mut pieces) = (&self.game, [0; 2]);
        for seat in Seat::all(game.rules().seats) {
            let side = table.side(seat.team(game.rules().seats));
            pieces[side] += game.board().goal(seat).count_ones();
        }
        let winner = table.side(game.winner()?);
        Some(TableResult { winner, pieces })
    }
}

/// The result in the column of a table that has ended without a winner, or was removed.
pub(super) const NO_RESULT: &str = "null";

/// What a match is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchSetup {
    pub rules: Rules,
    pub sides: [MatchSide; 2],
}

/// A side of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchSide {
    pub name: String,
    /// Open, or a bot.
    pub kind: SeatKind,
    pub level: Level,
}

/// A match to add with its tables.
pub struct NewMatch {
    pub id: GameId,
    pub created_at: Timestamp,
    pub host: TokenHash,
    pub setup: MatchSetup,
    /// One per pair.
    pub seeds: Vec<Seed>,
}

/// A match.
pub struct StoredMatch {
    pub id: GameId,
    pub host: TokenHash,
    /// Whether its host has ended it.
    pub ended: bool,
    pub setup: MatchSetup,
    pub pairs: Vec<MatchPair>,
}

/// A pair of tables.
pub struct MatchPair {
    /// The shuffle seed of both, as hex digits.
    pub seed: String,
    pub games: [GameId; 2],
    /// None while a table has not ended, or if it has no result.
    pub results: [Option<TableResult>; 2],
}

impl MatchPair {
    /// The results of both tables, once it is complete.
    pub fn complete(&self) -> Option<[TableResult; 2]> {
        let [first, second] = self.results;
        Some([first?, second?])
    }
}
