//! The OpenAPI document, generated from the routes and the table of errors.

mod errors;
mod examples;
mod links;
mod schemas;

use serde_json::{Value, json};
use utoipa::{
    OpenApi as _, PartialSchema, ToSchema,
    openapi::{
        ContactBuilder, HttpMethod, OpenApi, RefOr, Required, Server, Tag,
        path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem},
        schema::{ObjectBuilder, Type},
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use super::{problem::ProblemDetails, routes::Operations};

/// Operations whose body may be left out.
const BODY_MAY_BE_EMPTY: [&str; 8] = [
    "create_game",
    "quick_join",
    "deal_cards",
    "ask_rematch",
    "join_game",
    "reissue_token",
    "renew_host_token",
    "create_ticket",
];

/// The document as it is served, and as it is in `openapi/openapi.json`.
///
/// # Errors
/// None in practice: the document can always be written as JSON.
pub fn json() -> Result<String, serde_json::Error> {
    let mut document = serde_json::to_value(described())?;
    schemas::complete(&mut document);
    for operation in operations(&mut document) {
        // Says that no token is needed, where the routes name none.
        if operation.get("security").is_none() {
            operation["security"] = json!([]);
        }
    }
    errors::add(&mut document);
    examples::add(&mut document);
    Ok(format!("{document:#}\n"))
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
    let mut api = Operations::openapi();
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
    for item in api.paths.paths.values_mut() {
        for (method, operation) in described_operations(item) {
            add_headers(method, operation);
            links::add(operation);
        }
    }
    api
}

fn described_operations(item: &mut PathItem) -> impl Iterator<Item = (HttpMethod, &mut Operation)> {
    [
        (HttpMethod::Get, &mut item.get),
        (HttpMethod::Post, &mut item.post),
        (HttpMethod::Put, &mut item.put),
        (HttpMethod::Patch, &mut item.patch),
        (HttpMethod::Delete, &mut item.delete),
    ]
    .into_iter()
    .filter_map(|(method, operation)| operation.as_mut().map(|operation| (method, operation)))
}

/// Adds the headers of a write, and says whether its body may be left out.
fn add_headers(method: HttpMethod, operation: &mut Operation) {
    let id = operation.operation_id.clone().unwrap_or_default();
    let game = operation
        .tags
        .iter()
        .flatten()
        .any(|tag| ["games", "seats", "play"].contains(&tag.as_str()));
    if game && method != HttpMethod::Get {
        let parameters = operation.parameters.get_or_insert_default();
        parameters.push(header(
            "Idempotency-Key",
            "The client's key for this write. For 24 hours, a retry with the same key and body gets \
             the same response. If the response contains secrets, the key must carry 128 random \
             bits.",
            Some("^[!-~]{1,255}$"),
        ));
        if !["create_game", "quick_join", "import_game"].contains(&id.as_str()) {
            parameters.push(header(
                "If-Match",
                "An ETag, or a version in quotes. The write is refused with 412 if the game is at \
                 another version, and with 400 if the header is malformed.",
                None,
            ));
        }
    }
    if let Some(RefOr::T(body)) = &mut operation.request_body
        && BODY_MAY_BE_EMPTY.contains(&id.as_str())
    {
        body.required = Some(Required::False);
    }
}

fn header(name: &str, description: &str, pattern: Option<&str>) -> RefOr<Parameter> {
    let text = ObjectBuilder::new().schema_type(Type::String);
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(text.pattern(pattern)))
        .build()
        .into()
}
