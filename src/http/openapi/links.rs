//! Links from the response of an operation to the requests that usually come next.

use serde_json::json;
use utoipa::openapi::{
    RefOr,
    link::{Link, LinkBuilder},
    path::Operation,
};

/// The links of an operation.
fn links(operation: &str) -> Vec<LinkBuilder> {
    let link = |to| Link::builder().operation_id(to);
    let created = |to| link(to).parameter("id", "$response.body#/id");
    let same = |to| link(to).parameter("id", "$request.path.id");
    let body = |name: &str, value: &str| Some(json!({ name: value }));
    match operation {
        "create_game" => vec![created("deal_cards"), created("stream_events")],
        "join_game" => vec![same("get_game"), same("stream_events")],
        "quick_join" | "ask_rematch" | "get_rematch" => {
            vec![created("get_game"), created("stream_events")]
        }
        "import_game" => vec![created("get_game"), created("get_history")],
        "list_games" => vec![
            link("get_game").parameter("id", "$response.body#/games/0/id"),
            link("list_games").parameter("cursor", "$response.body#/next"),
        ],
        "deal_cards" => vec![same("swap_cards"), same("suggest_move")],
        "swap_cards" => vec![same("list_legal_moves"), same("suggest_move")],
        "play_move" => vec![same("list_legal_moves"), same("deal_cards")],
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
        _ => Vec::new(),
    }
}

/// Adds the links to the successful response of an operation.
pub fn add(operation: &mut Operation) {
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
