//! All routes.

use actix_web::http::Method;

use super::{
    guide, page,
    route::{RouteDef, route},
};
use crate::limits::Cost;

/// All routes, in the order of the OpenAPI document.
pub fn routes() -> Vec<RouteDef> {
    vec![
        route!(Request, games::list_games),
        route!(NewGame, create::create_game),
        route!(Import, import::import_game),
        route!(Request, games::get_game),
        route!(Write, play::deal_cards),
        route!(Write, play::swap_cards),
        route!(Request, legal_moves::list_legal_moves),
        route!(Request, seven::list_seven_parts),
        route!(Write, play::play_move),
        route!(Advice, advice::suggest_move),
        route!(Request, events::stream_events),
        route!(Write, tokens::create_ticket),
        route!(Request, presence::get_presence),
        route!(Request, reactions::send_reaction),
        route!(Request, pictures::get_board_picture),
        route!(Request, history::get_history),
        route!(Write, review::ask_review),
        route!(Request, review::get_review),
        route!(Request, review::get_review_picture),
        route!(Write, settings::change_settings),
        route!(Write, games::delete_game),
        route!(Write, tokens::renew_host_token),
        route!(Join, join::join_game),
        route!(Write, seats::hand_over_seat),
        route!(Write, tokens::reissue_token),
        route!(NewGame, rematch::ask_rematch),
        route!(Request, rematch::get_rematch),
        route!(NewGame, join::quick_join),
        route!(Request, rules::list_rules),
        route!(Request, layout::get_layout),
        route!(Advice, analysis::analyse_legal_moves),
        route!(Advice, analysis::analyse_seven_parts),
        route!(Advice, analysis::analyse_suggest_move),
        route!(Advice, by_address::suggest_move_by_address),
        route!(Request, by_address::get_position_picture),
        route!(Request, operations::list_addresses),
        route!(Free, operations::get_health),
        route!(Free, operations::get_readiness),
        route!(Request, operations::get_metrics),
        route!(Request, operations::get_openapi),
        page_file("/"),
        page_file("/colours.css"),
        page_file("/style.css"),
        page_file("/icon.svg"),
        page_file("/icon-turn.svg"),
        page_file("/icon-180.png"),
        page_file("/manifest.webmanifest"),
        page_file("/sw.js"),
        page_file("/start.js"),
        page_file("/page/{file:.*}"),
        page_file("/src/{file:.*}"),
        page_file("/vendor/{file:.*}"),
        page_file("/lang/{file:.*}"),
        page_file("/lessons/{file:.*}"),
        RouteDef::new(Method::GET, "/docs", Cost::Request, page::add_slash),
        RouteDef::new(Method::GET, "/docs/guide", Cost::Request, page::add_slash),
        RouteDef::new(
            Method::GET,
            "/docs/guide/{name:.*}",
            Cost::Request,
            guide::get_guide,
        ),
        RouteDef::new(
            Method::GET,
            "/docs/{file:.*}",
            Cost::Request,
            page::get_docs,
        ),
    ]
}

/// The route of files of the page for players.
fn page_file(path: &str) -> RouteDef {
    RouteDef::new(Method::GET, path, Cost::Request, page::get_page)
}
