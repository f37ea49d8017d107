//! The OpenAPI document, generated from the routes and the table of errors.

mod schemas;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa::{
    OpenApi as _, PartialSchema, ToSchema,
    openapi::{
        ContactBuilder, OpenApi, Server, Tag,
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use super::{example::examples, routes::routes};
use crate::http::problem::{Code, ProblemDetails};

/// The document before the routes are in it, with version and licence.
#[derive(utoipa::OpenApi)]
struct Document;

/// The document as it is served, and as it is in `openapi/openapi.json`.
///
/// # Errors
/// None in practice: the document can always be written as JSON.
pub fn json() -> Result<String, serde_json::Error> {
    let mut document = serde_json::to_value(described())?;
    schemas::complete(&mut document);
    for (name, example) in examples() {
        document["components"]["schemas"][&*name]["example"] = example;
    }
    let schemas = document["components"]["schemas"].clone();
    for operation in operations(&mut document) {
        // Says that no token is needed, where the routes name none.
        if operation.get("security").is_none() {
            operation["security"] = json!([]);
        }
        let reference = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let name = reference.as_str().and_then(|to| to.rsplit('/').next());
        if name.is_some_and(|name| may_be_empty(&schemas[name])) {
            operation["requestBody"]["required"] = json!(false);
        }
    }
    share_errors(&mut document);
    Ok(format!("{document:#}\n"))
}

/// Whether a body of this schema may be an empty object, and so may be left out.
fn may_be_empty(schema: &Value) -> bool {
    schema["required"].is_null() && schema["minProperties"].is_null() && schema["oneOf"].is_null()
}

/// The operations of a document.
fn operations(document: &mut Value) -> impl Iterator<Item = &mut Value> {
    let paths = document["paths"].as_object_mut().into_iter();
    let items = paths.flat_map(|paths| paths.values_mut());
    let operations = items.filter_map(Value::as_object_mut);
    operations.flat_map(|item| item.values_mut())
}

/// What the routes say of themselves, without the errors and the examples.
fn described() -> OpenApi {
    let mut api = Document::openapi();
    api.info.title = "dog-server".to_owned();
    api.info.description = Some(
        "The board and card game DOG as a service: rules, games and advice. Seats, the host and \
         spectators see what they would see at the table. A token, sent as \
         `Authorization: Bearer …`, identifies the caller. Every error is a problem document with \
         a stable `code`."
            .to_owned(),
    );
    api.info.contact = Some(ContactBuilder::new().name(Some("dog-server")).build());
    let mut here = Server::new("/");
    here.description = Some("The server that this document comes from.".to_owned());
    api.servers = Some(vec![here]);
    let tag = |(name, about)| Tag::builder().name(name).description(Some(about)).build();
    let tags = [
        (
            "games",
            "Create, list, read and remove games, and change their settings.",
        ),
        (
            "seats",
            "Join a game, leave it, come back, and play again with the same people.",
        ),
        ("play", "Deal, swap, list moves, play, and ask for advice."),
        (
            "analysis",
            "Moves and advice for any position; nothing is stored.",
        ),
        ("rules", "The rule sheets and their options."),
        (
            "server",
            "The state of the server, its metrics and its documentation.",
        ),
    ];
    api.tags = Some(tags.map(tag).into());
    let components = api.components.get_or_insert_default();
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    components
        .security_schemes
        .insert("token".to_owned(), bearer.into());
    let mut schemas = Vec::new();
    ProblemDetails::schemas(&mut schemas);
    schemas.push((ProblemDetails::name().into(), ProblemDetails::schema()));
    components.schemas.extend(schemas);
    for route in routes() {
        route.describe(&mut api);
    }
    api
}

/// Makes a component of each error response that several operations have.
fn share_errors(document: &mut Value) {
    let mut uses: BTreeMap<String, u32> = BTreeMap::new();
    each_error(document, |_, name| *uses.entry(name).or_default() += 1);
    let mut shared = Map::new();
    each_error(document, |response, name| {
        if uses[&name] > 1 {
            let reference = json!({"$ref": format!("#/components/responses/{name}")});
            shared.insert(name, std::mem::replace(response, reference));
        }
    });
    shared.sort_keys();
    document["components"]["responses"] = shared.into();
}

/// Calls the function with each error response, and with a name that is made of its codes.
fn each_error(document: &mut Value, mut call: impl FnMut(&mut Value, String)) {
    for operation in operations(document) {
        for response in operation["responses"].as_object_mut().into_iter().flatten() {
            let examples = &response.1["content"]["application/problem+json"]["examples"];
            let Some(examples) = examples.as_object() else {
                continue;
            };
            let names: Vec<String> = (Code::ALL.iter())
                .filter(|code| examples.contains_key(code.name()))
                .map(|code| format!("{code:?}"))
                .collect();
            call(response.1, names.join("Or"));
        }
    }
}
