//! What the store holds, in numbers, for whoever watches the server.

use std::{fs, path::PathBuf};

use dog_rules::game::Phase;
use jiff::Timestamp;

use super::{Store, StoreError, migrations};

/// How many games there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    /// By phase.
    pub games: [(Phase, u64); Phase::ALL.len()],
    /// Those in which the server is to act by now.
    pub due: u64,
    /// The version of the file's schema.
    pub schema_version: u32,
}

/// Bytes of the files; 0 for one that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The database.
    pub database: u64,
    /// Its write-ahead log.
    pub log: u64,
}

impl Store {
    /// Counts the games: reads through an index, which takes some 10 ms for 100,000 games.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn census(&self, now: Timestamp) -> Result<Census, StoreError> {
        self.read(|reader| {
            let mut games = Phase::ALL.map(|phase| (phase, 0));
            // SQLite reads the index of the public list for this, not the games themselves.
            let sql = "SELECT phase, count(*) FROM games GROUP BY phase";
            let mut statement = reader.connection.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (name, count): (String, i64) = (row.get(0)?, row.get(1)?);
                let known = games.iter_mut().find(|(phase, _)| phase.name() == name);
                if let Some((_, games)) = known {
                    *games = count.unsigned_abs();
                }
            }
            let sql = "SELECT count(*) FROM games WHERE due_at IS NOT NULL AND attended IN (0, 1) \
                       AND due_at <= ?1";
            let mut statement = reader.connection.prepare_cached(sql)?;
            let due: i64 = statement.query_row([now.as_microsecond()], |row| row.get(0))?;
            Ok(Census {
                games,
                due: due.unsigned_abs(),
                schema_version: migrations::version(reader.connection)?,
            })
        })
    }

    /// How large the files are.
    pub fn sizes(&self) -> Sizes {
        let path = self.0.readers.path();
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let size = |path: PathBuf| fs::metadata(path).map_or(0, |file| file.len());
        Sizes {
            database: size(path.to_owned()),
            log: size(log.into()),
        }
    }
}
