//! Schema versions.

use super::StoreError;

/// The scripts of a kind of database. The first creates the tables, and each of the others migrates
/// them from the version before. Released scripts are never changed: a change of the schema is
/// another script.
pub(super) struct Schema {
    /// The version that the first script creates. Lower ones were never released.
    pub first_version: u32,
    pub scripts: &'static [&'static str],
    /// What an operator creates in place of an unreleased database.
    pub begin_with: &'static str,
}

impl Schema {
    /// The version after the last script.
    pub const fn version(&self) -> u32 {
        self.first_version + self.scripts.len() as u32 - 1
    }

    /// Checks that this program can read a database of this version, or migrate it; version 0 has
    /// no tables yet.
    ///
    /// # Errors
    /// [`StoreError::Unreleased`] or [`StoreError::Newer`].
    pub fn check(&self, found: u32) -> Result<(), StoreError> {
        let known = self.version();
        match found {
            0 => Ok(()),
            _ if found < self.first_version => Err(StoreError::Unreleased {
                found,
                begin_with: self.begin_with,
            }),
            _ if found > known => Err(StoreError::Newer { found, known }),
            _ => Ok(()),
        }
    }

    /// Checks that a database of this version need not be migrated.
    ///
    /// # Errors
    /// As [`Schema::check`], or [`StoreError::Older`].
    pub fn check_current(&self, found: u32) -> Result<(), StoreError> {
        self.check(found)?;
        let needed = self.version();
        if found < needed {
            return Err(StoreError::Older { found, needed });
        }
        Ok(())
    }

    /// The scripts that a database of this version lacks, each with the version after it.
    pub fn missing(&self, found: u32) -> impl Iterator<Item = (u32, &'static str)> {
        let scripts = self.scripts.iter().copied();
        let versions = self.first_version..;
        versions
            .zip(scripts)
            .filter(move |&(version, _)| version > found)
    }
}
