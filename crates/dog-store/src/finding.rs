//! What is found where a server is to start.

use std::fmt;

use crate::StoreError;

/// What is thought of something that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Good,
    /// A server starts, but perhaps not as it is meant.
    Doubtful,
    /// A server does not start, or cannot write.
    Bad,
}

/// What was looked at: the verdict, and in words what it is about and what to do.
#[derive(Debug, Default)]
pub struct Findings(pub Vec<(Verdict, String)>);

impl Findings {
    /// Adds what was looked at; what is doubtful or bad, with what to do.
    pub fn add(&mut self, verdict: Verdict, text: impl fmt::Display) {
        self.0.push((verdict, text.to_string()));
    }

    /// Adds something that is good, or else bad for this reason.
    pub fn add_result(&mut self, subject: &str, result: Result<impl Sized, impl fmt::Display>) {
        match result {
            Ok(_) => self.add(Verdict::Good, subject),
            Err(error) => self.add(Verdict::Bad, format!("{subject}: {error:#}")),
        }
    }

    /// Adds the schema version that a database has, or why no server can use it.
    pub(super) fn add_schema(&mut self, checked: Result<(), StoreError>) {
        match checked {
            Err(StoreError::Older { found, needed }) if found > 0 => self.add(
                Verdict::Doubtful,
                format!(
                    "schema: {found}, which a server migrates to {needed}; make a backup first"
                ),
            ),
            Ok(()) | Err(StoreError::Older { .. }) => self.add(Verdict::Good, "schema"),
            Err(error) => self.add(Verdict::Bad, format!("schema: {error}")),
        }
    }
}
