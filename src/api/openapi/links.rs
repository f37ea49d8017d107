//! The links of the OpenAPI document: how what was answered leads to the next request, for programs
//! that follow them.

use serde_json::{Value, json};
use utoipa::openapi::{RefOr, link::Link, path::Operation};

/// From the good answers of these operations to another operation.
struct Lead {
    from: &'static [&'static str],
    to: &'static [&'static str],
    /// The parameters that the answer, or the request before it, holds.
    parameters: &'static [(&'static str, &'static str)],
    /// The body, if the answer holds it.
    body: Option<fn() -> Value>,
}

/// What a created game is for, its seat 0 where a seat is to be named.
const LOOK: &[&str] = &[
    "get_game",
    "get_board_picture",
    "get_history",
    "stream_events",
];
const ACT: &[&str] = &[
    "deal_cards",
    "swap_cards",
    "list_legal_moves",
    "suggest_move",
];
const SEATS: &[&str] = &["hand_over_seat", "reissue_token"];

const LEADS: &[Lead] = &[
    Lead::new(&["create_game", "import_game"], LOOK, &[CREATED]),
    Lead::new(&["create_game"], ACT, &[CREATED]),
    Lead::new(&["create_game"], SEATS, &[CREATED, ("seat", "0")]),
    Lead::new(
        &["create_game"],
        &["play_move", "create_ticket"],
        &[CREATED],
    ),
    Lead::new(
        &["create_game", "import_game"],
        &["delete_game"],
        &[CREATED],
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
        body: Some(|| json!({"move": "$response.body#/moves/0/id"})),
        ..Lead::new(&["list_legal_moves"], &["play_move"], &[SAME])
    },
    Lead {
        body: Some(|| json!({"move": "$response.body#/suggestions/0/move/id"})),
        ..Lead::new(&["suggest_move"], &["play_move"], &[SAME])
    },
    Lead {
        body: Some(|| json!({"card": "$response.body#/suggestions/0/swap/card"})),
        ..Lead::new(&["suggest_move"], &["swap_cards"], &[SAME])
    },
    Lead::new(
        &["create_ticket"],
        &["stream_events"],
        &[SAME, ("ticket", "$response.body#/ticket")],
    ),
    Lead::new(&["delete_game"], &["get_game"], &[SAME]),
];

/// The game that was created.
const CREATED: (&str, &str) = ("id", "$response.body#/id");

/// The game that was asked about.
const SAME: (&str, &str) = ("id", "$request.path.id");

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
        link.request_body(self.body.map(|body| body())).build()
    }
}

/// Adds its links to an operation's good answers.
pub fn add(operation: &mut Operation) {
    let id = operation.operation_id.clone().unwrap_or_default();
    let good =
        operation
            .responses
            .responses
            .iter_mut()
            .find_map(|(status, response)| match response {
                RefOr::T(response) if status.starts_with('2') => Some(response),
                _ => None,
            });
    let Some(response) = good else { return };
    for lead in LEADS.iter().filter(|lead| lead.from.contains(&id.as_str())) {
        for &to in lead.to {
            response.links.insert(to.to_owned(), lead.link(to).into());
        }
    }
}
