//! The OpenAPI document, generated from the routes and the table of errors.

mod links;

use std::collections::BTreeMap;

use utoipa::{
    OpenApi as _, PartialSchema, ToSchema,
    openapi::{
        Content, HttpMethod, OpenApi, Ref, RefOr, Required, Response, ResponseBuilder, Tag,
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
    const SEATED: &[Code] = &[Forbidden];
    const ACTING: &[Code] = &[StaleVersion, GameOver];
    const IN_TURN: &[Code] = &[GameOver, WrongPhase, NotYourTurn];
    const PLAYED: &[Code] = &[TooManyVersions];
    const POSITION: &[Code] = &[
        InvalidRules,
        InvalidBoard,
        InvalidHand,
        UnknownCard,
        FinishedPosition,
    ];
    let groups: &[&[Code]] = match operation {
        "create_game" => &[
            BODY,
            KEYED,
            &[InvalidRules, InvalidSeed, WeakIdempotencyKey],
        ],
        "list_games" | "list_rules" => &[&[InvalidRequest]],
        "get_game" => &[READ, &[InvalidRequest]],
        "get_board_picture" => &[READ, &[InvalidRequest, GameOver, WrongPhase, IllegalMove]],
        "delete_game" => &[READ, BODY, KEYED, SEATED, &[StaleVersion]],
        "reissue_token" => &[
            READ,
            BODY,
            KEYED,
            SEATED,
            ACTING,
            &[SeatNotFound, NoHuman, TooManyChanges, WeakIdempotencyKey],
        ],
        "get_history" => &[READ, &[InvalidRequest, WrongPhase]],
        "import_game" => &[BODY, KEYED, &[InvalidRecord, WeakIdempotencyKey]],
        "stream_events" => &[READ, &[InvalidRequest]],
        "create_ticket" => &[READ, BODY, KEYED, &[StaleVersion, WeakIdempotencyKey]],
        "hand_over_seat" => &[
            READ,
            BODY,
            KEYED,
            SEATED,
            ACTING,
            &[SeatNotFound, TooManyChanges],
        ],
        "deal_cards" => &[READ, BODY, KEYED, SEATED, ACTING, IN_TURN, PLAYED],
        "swap_cards" => &[
            READ,
            BODY,
            KEYED,
            SEATED,
            ACTING,
            IN_TURN,
            PLAYED,
            &[UnknownCard, CardNotInHand, IllegalExchange],
        ],
        "play_move" => &[
            READ,
            BODY,
            KEYED,
            SEATED,
            ACTING,
            IN_TURN,
            PLAYED,
            &[IllegalMove],
        ],
        "list_legal_moves" | "suggest_move" => &[READ, SEATED, IN_TURN, &[InvalidRequest]],
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
    api.tags = Some(
        [
            ("games", "Create, list, look at and remove games."),
            ("play", "Deal, swap, list moves, play, and ask for advice."),
            (
                "analysis",
                "Moves and advice for any position; nothing is stored.",
            ),
            ("rules", "The rule sheets and their options."),
            ("server", "Is it alive, and what does it serve."),
        ]
        .map(|(name, description)| {
            Tag::builder()
                .name(name)
                .description(Some(description))
                .build()
        })
        .into(),
    );
    let components = api.components.get_or_insert_default();
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    components
        .security_schemes
        .insert("token".to_owned(), bearer.into());
    let mut schemas = Vec::new();
    ProblemDetails::schemas(&mut schemas);
    schemas.push((
        ProblemDetails::name().into_owned(),
        ProblemDetails::schema(),
    ));
    components.schemas.extend(schemas);
    for item in api.paths.paths.values_mut() {
        for (method, operation) in operations(item) {
            complete(method, operation);
            links::add(operation);
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
        by_status
            .entry(code.status().as_u16())
            .or_default()
            .push(code);
    }
    for (status, codes) in by_status {
        let response = RefOr::T(problem(&codes));
        operation
            .responses
            .responses
            .insert(status.to_string(), response);
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
