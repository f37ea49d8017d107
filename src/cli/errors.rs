//! `dog errors`: prints the table of errors, as `docs/errors.md` holds it.

use std::io::Write;

/// Prints the table.
pub fn run() -> anyhow::Result<()> {
    Ok(std::io::stdout().write_all(crate::api::problem::markdown().as_bytes())?)
}
