//! The OpenAPI document. `tests/openapi` makes it from what the routes say of themselves.

use utoipa::openapi::OpenApi;

use super::routes::routes;
pub use crate::http::range::{MAX_INTEGER, largest};

/// The document, as it is served.
pub const DOCUMENT: &str = include_str!("../../openapi/openapi.json");

/// Adds all operations to a document, with the schemas that they refer to. Their errors are only
/// named.
pub fn describe(document: &mut OpenApi) {
    for route in routes() {
        route.describe(document);
    }
}
