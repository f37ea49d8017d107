//! `dog openapi`: prints the OpenAPI document, as `openapi/openapi.json` holds it.

use std::io::Write;

/// Prints the document.
pub fn run() -> anyhow::Result<()> {
    let document = crate::api::openapi::json()?;
    Ok(std::io::stdout().write_all(document.as_bytes())?)
}
