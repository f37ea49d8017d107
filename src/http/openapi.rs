//! The OpenAPI document, generated from the routes and the table of errors.

use std::collections::BTreeMap;

use serde_json::json;
use utoipa::{
    OpenApi as _, PartialSchema, ToSchema,
    openapi::{
        Content, HttpMethod, OpenApi, Ref, RefOr, Required, Response, ResponseBuilder, Tag,
        link::{Link, LinkBuilder},
        path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem},
        schema::{ObjectBuilder, Schema, Type},
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use super::{
    problem::{Code, ProblemDetails},
    routes::Operations,
};

/// The errors of an operation, including those that any request may get.
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
        "list_legal_moves" => &[READ, IN_TURN, &[Forbidden, InvalidRequest, UnknownCard]],
        "list_seven_parts" => &[READ, IN_TURN, &[Forbidden, InvalidRequest, IllegalMove]],
        "suggest_move" => &[READ, IN_TURN, &[Forbidden, InvalidRequest]],
        "analyse_legal_moves" | "analyse_seven_parts" => &[BODY, POSITION, &[IllegalMove]],
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

/// Operations without a rate limit.
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
        "The board and card game DOG as a service: rules, games and advice. Seats, the host and \
         spectators see what they would see at the table. A token, sent as \
         `Authorization: Bearer …`, identifies the caller. Every error is a problem document with \
         a stable `code`."
            .to_owned(),
    );
    api.info.contact = None;
    let tag = |(name, about)| Tag::builder().name(name).description(Some(about)).build();
    let tags = [
        ("games", "Create, list, read and remove games."),
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
        for (method, operation) in operations(item) {
            add_headers_and_errors(method, operation);
            add_links(operation);
        }
    }
    api
}

/// The document as it is served, and as it is in `openapi/openapi.json`.
///
/// # Errors
/// None in practice: the document can always be written as JSON.
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

/// Adds the headers and the error responses of an operation.
fn add_headers_and_errors(method: HttpMethod, operation: &mut Operation) {
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
            "The client's key for this write. For 24 hours, a retry with the same key and body gets \
             the same response. If the response contains secrets, the key must carry 128 random \
             bits.",
            Some("^[!-~]{1,255}$"),
        ));
        if id != "create_game" && id != "import_game" {
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

/// Links from the successful responses of an operation to the next requests.
fn links(operation: &str) -> Vec<LinkBuilder> {
    let link = |to| Link::builder().operation_id(to);
    let created = |to| link(to).parameter("id", "$response.body#/id");
    let same = |to| link(to).parameter("id", "$request.path.id");
    let body = |name: &str, value: &str| Some(json!({ name: value }));
    let read = [
        "get_game",
        "get_board_picture",
        "get_history",
        "stream_events",
        "delete_game",
    ];
    let play = [
        "deal_cards",
        "swap_cards",
        "play_move",
        "list_legal_moves",
        "suggest_move",
        "create_ticket",
    ];
    let seats = ["hand_over_seat", "reissue_token"];
    match operation {
        "create_game" => {
            let seats = seats.map(|to| created(to).parameter("seat", 0));
            let others = read.map(created).into_iter().chain(play.map(created));
            others.chain(seats).collect()
        }
        "import_game" => read.map(created).into(),
        "list_games" => vec![
            link("get_game").parameter("id", "$response.body#/games/0/id"),
            link("list_games").parameter("cursor", "$response.body#/next"),
        ],
        "deal_cards" => vec![same("swap_cards"), same("suggest_move")],
        "swap_cards" => vec![
            same("swap_cards"),
            same("suggest_move"),
            same("list_legal_moves"),
        ],
        "play_move" => vec![
            same("list_legal_moves"),
            same("suggest_move"),
            same("deal_cards"),
        ],
        "list_legal_moves" => {
            let first = body("move", "$response.body#/moves/0/id");
            vec![same("play_move").request_body(first)]
        }
        "list_seven_parts" => {
            let next = "$response.body#/next/0/id";
            vec![same("list_seven_parts").parameter("begun", next)]
        }
        "suggest_move" => {
            let mv = body("move", "$response.body#/suggestions/0/move/id");
            let card = body("card", "$response.body#/suggestions/0/swap/card");
            vec![
                same("play_move").request_body(mv),
                same("swap_cards").request_body(card),
            ]
        }
        "create_ticket" => {
            vec![same("stream_events").parameter("ticket", "$response.body#/ticket")]
        }
        "delete_game" => vec![same("get_game")],
        _ => Vec::new(),
    }
}

/// Adds the links to the successful response of an operation.
fn add_links(operation: &mut Operation) {
    let id = operation.operation_id.as_deref().unwrap_or_default();
    let mut responses = operation.responses.responses.iter_mut();
    let success = responses.find_map(|(status, response)| match response {
        RefOr::T(response) if status.starts_with('2') => Some(response),
        _ => None,
    });
    if let Some(response) = success {
        let links = links(id).into_iter().map(LinkBuilder::build);
        let named = links.map(|link| (link.operation_id.clone(), link.into()));
        response.links.extend(named);
    }
}
