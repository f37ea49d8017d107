//! The OpenAPI document, generated from the routes and the table of errors.

use std::collections::BTreeMap;

use serde_json::json;
use utoipa::{
    OpenApi as _, PartialSchema, ToSchema,
    openapi::{
        Content, HttpMethod, OpenApi, Ref, RefOr, Required, Response, ResponseBuilder, Tag,
        link::Link,
        path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem},
        schema::{ObjectBuilder, Schema, Type},
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use super::{
    problem::{Code, ProblemDetails},
    routes::Operations,
};

/// What every answer of a route can be if something is wrong, by operation id.
///
/// Beside these every operation may answer those that any request may get.
fn errors(operation: &str) -> Vec<Code> {
    use Code::*;
    const READ: &[Code] = &[GameNotFound, Unauthorized];
    const BODY: &[Code] = &[
        MalformedJson,
        BodyTooLarge,
        RequestTimeout,
        UnsupportedMediaType,
        InvalidRequest,
    ];
    const KEYED: &[Code] = &[InvalidIdempotencyKey, IdempotencyKeyReused, DatabaseFull];
    const IN_TURN: &[Code] = &[GameOver, WrongPhase, NotYourTurn];
    const TOKENS: &[Code] = &[WeakIdempotencyKey];
    const POSITION: &[Code] = &[
        InvalidRules,
        InvalidBoard,
        InvalidHand,
        UnknownCard,
        FinishedPosition,
    ];
    let write = [READ, BODY, KEYED, &[StaleVersion]].concat();
    let seated = [&write[..], &[Forbidden, GameOver]].concat();
    let play = [&seated[..], IN_TURN, &[TooManyVersions]].concat();
    let groups: &[&[Code]] = match operation {
        "create_game" => &[BODY, KEYED, TOKENS, &[InvalidRules, InvalidSeed]],
        "list_games" | "list_rules" => &[&[InvalidRequest]],
        "get_game" => &[READ, &[InvalidRequest]],
        "get_board_picture" => &[READ, &[InvalidRequest, GameOver, WrongPhase, IllegalMove]],
        "delete_game" => &[&write, &[Forbidden]],
        "reissue_token" => &[&seated, TOKENS, &[SeatNotFound, NoHuman, TooManyChanges]],
        "get_history" => &[READ, &[InvalidRequest, WrongPhase]],
        "import_game" => &[BODY, KEYED, TOKENS, &[InvalidRecord]],
        "stream_events" => &[READ, &[InvalidRequest]],
        "create_ticket" => &[&write, TOKENS],
        "hand_over_seat" => &[&seated, &[SeatNotFound, TooManyChanges]],
        "deal_cards" => &[&play],
        "swap_cards" => &[&play, &[UnknownCard, CardNotInHand, IllegalExchange]],
        "play_move" => &[&play, &[IllegalMove]],
        "list_legal_moves" | "suggest_move" => &[READ, IN_TURN, &[Forbidden, InvalidRequest]],
        "analyse_legal_moves" => &[BODY, POSITION, &[IllegalMove]],
        "analyse_suggest_move" => &[BODY, POSITION, &[InvalidKnowledge]],
        _ => &[],
    };
    let everywhere = [
        BadRequest,
        NotAcceptable,
        UriTooLong,
        HeadersTooLarge,
        Internal,
        Unavailable,
    ];
    let mut codes: Vec<Code> = groups.concat();
    codes.extend(everywhere);
    if !UNLIMITED.contains(&operation) {
        codes.push(TooManyRequests);
    }
    codes.sort();
    codes.dedup();
    codes
}

/// Operations that nobody can ask too often.
const UNLIMITED: [&str; 2] = ["get_health", "get_readiness"];

/// Operations whose body may be left out.
const BODY_MAY_BE_EMPTY: [&str; 4] = [
    "create_game",
    "deal_cards",
    "reissue_token",
    "create_ticket",
];

/// The whole document.
pub fn document() -> OpenApi {
    let mut api = Operations::openapi();
    api.info.title = "dog-server".to_owned();
    api.info.description = Some(
        "The game of DOG as a service: rules, games and advice. Seats, the host and spectators \
         see what they would see at the table; a token, sent as `Authorization: Bearer …`, says \
         who calls. Every error is a problem document with a stable `code`."
            .to_owned(),
    );
    api.info.contact = None;
    let tag = |(name, about)| Tag::builder().name(name).description(Some(about)).build();
    let tags = [
        ("games", "Create, list, look at and remove games."),
        ("play", "Deal, swap, list moves, play, and ask for advice."),
        (
            "analysis",
            "Moves and advice for any position; nothing is stored.",
        ),
        ("rules", "The rule sheets and their options."),
        ("server", "Is it alive, and what does it serve."),
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
        for (method, operation) in operations(item) {
            complete(method, operation);
            add_links(operation);
        }
    }
    api
}

/// The document as it is served and kept in `openapi/openapi.json`.
///
/// # Errors
/// None that can happen: the document has a JSON form.
pub fn json() -> Result<String, serde_json::Error> {
    Ok(document().to_pretty_json()? + "\n")
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (HttpMethod, &mut Operation)> {
    [
        (HttpMethod::Get, &mut item.get),
        (HttpMethod::Post, &mut item.post),
        (HttpMethod::Put, &mut item.put),
        (HttpMethod::Delete, &mut item.delete),
    ]
    .into_iter()
    .filter_map(|(method, operation)| operation.as_mut().map(|operation| (method, operation)))
}

/// Adds what an operation has by its method and its errors.
fn complete(method: HttpMethod, operation: &mut Operation) {
    let id = operation.operation_id.clone().unwrap_or_default();
    let game = operation
        .tags
        .iter()
        .flatten()
        .any(|tag| tag == "games" || tag == "play");
    if game && method != HttpMethod::Get {
        let parameters = operation.parameters.get_or_insert_default();
        parameters.push(header(
            "Idempotency-Key",
            "The client's name for this write: a retry with the same key and body gets the same \
             answer again, for 24 hours. Where the answer holds tokens it must carry 128 random bits.",
            Some("^[!-~]{1,255}$"),
        ));
        if id != "create_game" && id != "import_game" {
            parameters.push(header(
                "If-Match",
                "An ETag, or a version in quotes: refused with 412 if the game has moved on, and with 400 \
                 if it cannot be read.",
                None,
            ));
        }
    }
    if let Some(RefOr::T(body)) = &mut operation.request_body
        && BODY_MAY_BE_EMPTY.contains(&id.as_str())
    {
        body.required = Some(Required::False);
    }
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in errors(&id) {
        let codes = by_status.entry(code.status().as_u16()).or_default();
        codes.push(code);
    }
    for (status, codes) in by_status {
        let responses = &mut operation.responses.responses;
        responses.insert(status.to_string(), problem(&codes).into());
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

fn problem(codes: &[Code]) -> Response {
    let lines: Vec<String> = codes
        .iter()
        .map(|code| format!("* `{}`: {}", code.name(), code.meaning()))
        .collect();
    let schema: RefOr<Schema> = RefOr::Ref(Ref::from_schema_name(ProblemDetails::name()));
    ResponseBuilder::new()
        .description(lines.join("\n"))
        .content("application/problem+json", Content::new(Some(schema)))
        .build()
}

/// From the good answers of some operations to others: how what was answered leads to the next
/// request, for programs that follow links.
struct Lead {
    from: &'static [&'static str],
    to: &'static [&'static str],
    /// The parameters that the answer, or the request before it, holds.
    parameters: &'static [(&'static str, &'static str)],
    /// The field of the body that the answer holds.
    body: Option<(&'static str, &'static str)>,
}

/// The game that was created.
const CREATED: (&str, &str) = ("id", "$response.body#/id");

/// The game that was asked about.
const SAME: (&str, &str) = ("id", "$request.path.id");

/// Where a seat is to be named, it is the first.
const FIRST_SEAT: (&str, &str) = ("seat", "0");

const LEADS: &[Lead] = &[
    Lead::new(
        &["create_game", "import_game"],
        &[
            "get_game",
            "get_board_picture",
            "get_history",
            "stream_events",
            "delete_game",
        ],
        &[CREATED],
    ),
    Lead::new(
        &["create_game"],
        &[
            "deal_cards",
            "swap_cards",
            "list_legal_moves",
            "suggest_move",
            "play_move",
            "create_ticket",
        ],
        &[CREATED],
    ),
    Lead::new(
        &["create_game"],
        &["hand_over_seat", "reissue_token"],
        &[CREATED, FIRST_SEAT],
    ),
    Lead::new(
        &["list_games"],
        &["get_game"],
        &[("id", "$response.body#/games/0/id")],
    ),
    Lead::new(
        &["list_games"],
        &["list_games"],
        &[("cursor", "$response.body#/next")],
    ),
    Lead::new(&["deal_cards"], &["swap_cards", "suggest_move"], &[SAME]),
    Lead::new(
        &["swap_cards"],
        &["swap_cards", "suggest_move", "list_legal_moves"],
        &[SAME],
    ),
    Lead::new(
        &["play_move"],
        &["list_legal_moves", "suggest_move", "deal_cards"],
        &[SAME],
    ),
    Lead {
        body: Some(("move", "$response.body#/moves/0/id")),
        ..Lead::new(&["list_legal_moves"], &["play_move"], &[SAME])
    },
    Lead {
        body: Some(("move", "$response.body#/suggestions/0/move/id")),
        ..Lead::new(&["suggest_move"], &["play_move"], &[SAME])
    },
    Lead {
        body: Some(("card", "$response.body#/suggestions/0/swap/card")),
        ..Lead::new(&["suggest_move"], &["swap_cards"], &[SAME])
    },
    Lead::new(
        &["create_ticket"],
        &["stream_events"],
        &[SAME, ("ticket", "$response.body#/ticket")],
    ),
    Lead::new(&["delete_game"], &["get_game"], &[SAME]),
];

impl Lead {
    const fn new(
        from: &'static [&'static str],
        to: &'static [&'static str],
        parameters: &'static [(&'static str, &'static str)],
    ) -> Lead {
        Lead {
            from,
            to,
            parameters,
            body: None,
        }
    }

    /// The link to one of its operations.
    fn link(&self, to: &str) -> Link {
        let mut link = Link::builder().operation_id(to);
        for &(name, value) in self.parameters {
            // What is no expression stands for itself; only seats are that, and they are numbers.
            let value = value.parse::<u8>().map_or(json!(value), |seat| json!(seat));
            link = link.parameter(name, value);
        }
        let body = self.body.map(|(name, value)| json!({ name: value }));
        link.request_body(body).build()
    }
}

/// Adds its links to an operation's good answers.
fn add_links(operation: &mut Operation) {
    let id = operation.operation_id.as_deref().unwrap_or_default();
    let mut responses = operation.responses.responses.iter_mut();
    let good = responses.find_map(|(status, response)| match response {
        RefOr::T(response) if status.starts_with('2') => Some(response),
        _ => None,
    });
    let Some(response) = good else { return };
    for lead in LEADS.iter().filter(|lead| lead.from.contains(&id)) {
        for &to in lead.to {
            response.links.insert(to.to_owned(), lead.link(to).into());
        }
    }
}
