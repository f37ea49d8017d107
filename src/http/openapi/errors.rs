//! The errors of each operation, with an example of each.

use std::collections::BTreeMap;

use dog_rules::Card;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::operations;
use crate::http::problem::{
    Code::{self, *},
    ProblemDetails, Reason,
};

/// Operations without a rate limit.
const UNLIMITED: [&str; 2] = ["get_health", "get_readiness"];

/// The errors of an operation, including those that any request may get.
fn errors(operation: &str) -> Vec<Code> {
    const READ: &[Code] = &[GameNotFound, Unauthorized, TokenReplaced];
    const BODY: &[Code] = &[
        MalformedJson,
        BodyTooLarge,
        RequestTimeout,
        UnsupportedMediaType,
        InvalidRequest,
    ];
    const KEYED: &[Code] = &[InvalidIdempotencyKey, IdempotencyKeyReused, DatabaseFull];
    const IN_TURN: &[Code] = &[GameOver, WrongPhase, NotYourTurn];
    const CLOSED: &[Code] = &[TooManyVersions];
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
    let play = [&seated[..], IN_TURN, CLOSED].concat();
    let groups: &[&[Code]] = match operation {
        "create_game" => &[BODY, KEYED, TOKENS, &[InvalidRules, InvalidSeed]],
        "quick_join" => &[BODY, KEYED, TOKENS, &[InvalidRules]],
        "get_openapi" => &[&[StaleVersion]],
        "list_rules" | "list_addresses" => &[&[InvalidRequest]],
        "list_games" | "get_layout" => &[&[InvalidRequest, StaleVersion]],
        "get_game" => &[READ, &[InvalidRequest, StaleVersion]],
        "get_board_picture" => &[
            READ,
            &[
                InvalidRequest,
                StaleVersion,
                GameOver,
                WrongPhase,
                IllegalMove,
            ],
        ],
        "delete_game" => &[&write, &[Forbidden]],
        "reissue_token" => &[
            &seated,
            TOKENS,
            CLOSED,
            &[SeatNotFound, NoHuman, TooManyChanges],
        ],
        "get_history" => &[READ, &[InvalidRequest, WrongPhase]],
        "import_game" => &[BODY, KEYED, TOKENS, &[InvalidRecord]],
        "stream_events" => &[READ, &[InvalidRequest, DatabaseFull]],
        "create_ticket" => &[&write, TOKENS],
        "hand_over_seat" => &[&seated, TOKENS, CLOSED, &[SeatNotFound, TooManyChanges]],
        "join_game" => &[
            BODY,
            KEYED,
            TOKENS,
            CLOSED,
            &[GameNotFound, SeatNotFound, StaleVersion, GameOver],
            &[
                InvitationNeeded,
                WrongInvitation,
                SeatTaken,
                NoOpenSeat,
                TooManyChanges,
            ],
        ],
        "renew_host_token" => &[&write, TOKENS, &[Forbidden, TooManyChanges]],
        "change_settings" => &[&seated, CLOSED, &[TooManyChanges]],
        "ask_rematch" => &[&write, &[Forbidden, GameNotOver, TooManyChanges]],
        "get_presence" => &[READ, &[InvalidRequest]],
        "get_rematch" => &[READ, &[InvalidRequest, NoRematch, StaleVersion]],
        "deal_cards" => &[&play, &[SeatsOpen]],
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

/// Adds the error responses of each operation. A response of several operations is a component.
pub fn add(document: &mut Value) {
    let mut uses: BTreeMap<Vec<Code>, u32> = BTreeMap::new();
    for operation in operations(document) {
        for codes in by_status(operation).into_values() {
            *uses.entry(codes).or_default() += 1;
        }
    }
    for operation in operations(document) {
        for (status, codes) in by_status(operation) {
            let response = if uses[&codes] > 1 {
                json!({"$ref": format!("#/components/responses/{}", name(&codes))})
            } else {
                response(&codes)
            };
            operation["responses"][status.to_string()] = response;
        }
    }
    let shared = uses.into_iter().filter(|(_, uses)| *uses > 1);
    let shared = shared.map(|(codes, _)| (name(&codes), response(&codes)));
    document["components"]["responses"] = shared.collect::<Map<_, _>>().into();
}

/// The errors of an operation, by status.
fn by_status(operation: &Value) -> BTreeMap<u16, Vec<Code>> {
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in errors(operation["operationId"].as_str().unwrap_or_default()) {
        let codes = by_status.entry(code.status().as_u16()).or_default();
        codes.push(code);
    }
    by_status
}

/// The name of the component with these errors.
fn name(codes: &[Code]) -> String {
    let names: Vec<String> = codes.iter().map(|code| format!("{code:?}")).collect();
    names.join("Or")
}

/// The response with one of these errors.
fn response(codes: &[Code]) -> Value {
    let line = |code: &Code| format!("* `{}`: {}", code.name(), code.meaning());
    let lines: Vec<String> = codes.iter().map(line).collect();
    let example = |&code: &Code| {
        let named = json!({"summary": code.title(), "value": example(code)});
        (code.name().to_owned(), named)
    };
    let examples: Map<String, Value> = codes.iter().map(example).collect();
    let schema = format!("#/components/schemas/{}", ProblemDetails::name());
    json!({
        "description": lines.join("\n"),
        "content": {
            "application/problem+json": {"schema": {"$ref": schema}, "examples": examples}
        }
    })
}

/// The problem document of a typical error of this code.
fn example(code: Code) -> Value {
    let (detail, members) = typical(code).unwrap_or((code.meaning(), json!({})));
    let mut problem = json!({
        "type": format!("urn:dog:problem:{}", code.name()),
        "title": code.title(),
        "status": code.status().as_u16(),
        "detail": detail,
        "code": code.name(),
    });
    if let (Value::Object(problem), Value::Object(members)) = (&mut problem, members) {
        problem.extend(members);
    }
    problem
}

/// The detail of a typical error of this code, and what else it says for programs. None of an error
/// that says no more than its code.
fn typical(code: Code) -> Option<(&'static str, Value)> {
    let because = |reason: Reason| json!({"reason": reason.name()});
    let mistake = |pointer: &str, allowed: &[&str]| {
        json!({
            "reason": Reason::WrongValue.name(),
            "errors": [{"pointer": pointer, "allowed": allowed}]
        })
    };
    Some(match code {
        Unauthorized => ("this needs a token of this game", because(Reason::NoToken)),
        Forbidden => ("only the host may do this", because(Reason::HostOnly)),
        MalformedJson => ("the body is not JSON at line 1, column 9", json!({})),
        NotAcceptable => ("this is available as application/json", json!({})),
        GameNotFound => ("no game has this id", json!({})),
        SeatNotFound => ("the game has no such seat", json!({})),
        GameOver => ("the game is over", json!({})),
        WrongPhase => (
            "this is for the play phase, the game is in the exchange phase",
            json!({"phase": "exchange", "expected": "play"}),
        ),
        NotYourTurn => (
            "seat 2 is to move",
            json!({"reason": Reason::AnotherSeatMoves.name(), "seat": 2}),
        ),
        SeatTaken => ("seat 2 is taken", json!({"seat": 2})),
        NoHuman => (
            "a bot plays seat 3: hand it to a human first",
            json!({"seat": 3}),
        ),
        StaleVersion => ("the game is at version 19", json!({"version": 19})),
        InvalidRequest => ("/seats/0/kind must be one of human, bot, open", {
            mistake("/seats/0/kind", &["human", "bot", "open"])
        }),
        InvalidRules => ("/rules/exchange must be one of mandatory, optional", {
            mistake("/rules/exchange", &["mandatory", "optional"])
        }),
        InvalidBoard => (
            "two pieces stand on track field 17",
            json!({"reason": Reason::FieldTwice.name(), "place": "17"}),
        ),
        InvalidHand => (
            "the deck has only 8 K",
            json!({"reason": Reason::MoreThanDeck.name(), "card": "K"}),
        ),
        InvalidKnowledge => (
            "counts must have 4 entries",
            json!({"errors": [{"pointer": "/known/counts", "allowed": null}]}),
        ),
        UnknownCard => (
            "there is no card of that name: the cards are A 2 3 4 5 6 7 8 9 10 J Q K joker",
            json!({"errors": [{"pointer": "/card", "allowed": Card::ALL.map(Card::name)}]}),
        ),
        CardNotInHand => ("there is no K in the hand", json!({"card": "K"})),
        IllegalMove => (
            "field 16 is blocked: seat 1's fresh piece",
            json!({"reason": Reason::Blocked.name(), "seat": 1, "place": "16"}),
        ),
        IllegalExchange => (
            "by these rules the exchange is mandatory: each seat lays down a card",
            because(Reason::ExchangeMandatory),
        ),
        InvalidRecord => ("line 12: there is no 7 in the hand", json!({"line": 12})),
        Internal => ("the server failed; nothing was changed", json!({})),
        Unavailable => ("the store is unavailable at present", json!({})),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_give_reasons_of_their_codes() {
        for &code in Code::ALL {
            let names = code.reasons().iter().map(|reason| reason.name());
            let mut names = names.map(Value::from);
            if let Some(reason) = example(code).get("reason") {
                assert!(names.any(|name| name == *reason), "{code:?}: {reason}");
            }
        }
    }
}
