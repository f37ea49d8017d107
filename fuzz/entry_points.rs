//! Entry points of the fuzz targets, a module of `dog-server` with the feature `fuzz`: requests are parsed and checked as in the handlers, without a
//! server.

use actix_web::http::header::{self, HeaderMap, HeaderValue};
use dog_picture::{PictureOptions, Theme};
use dog_rules::{Action, Game, Seat};
use dog_store::{Cursor, GameId};
use serde_json::json;

use super::{
    analysis::{
        by_address::{AdviceByAddressParams, PositionPictureParams},
        by_body::{AdviceAnalysisParams, AnalysisParams},
        position::{AdviceAnalysis, AdvicePosition, MovesAnalysis, SevenAnalysis},
    },
    games::{
        create::CreateGame,
        game::{GameParams, ListParams},
        history::HistoryParams,
        import::{ImportRequest, replay_record},
        settings::SettingsRequest,
    },
    parameters::VersionRequest,
    play::{
        actions::{PlayRequest, SwapRequest},
        advice::AdviceParams,
        legal_moves::MovesParams,
        seven::SevenParams,
    },
    reviews::review::ReviewPictureParams,
    seats::{
        hand_over::HandOverRequest,
        join::{JoinRequest, QuickJoinRequest},
        rematch::RematchBody,
    },
    site::layout::{LayoutParams, LayoutView},
    watch::{
        events::EventsParams,
        pictures::{PictureParams, game_picture},
        reactions::ReactionRequest,
    },
};
use crate::{
    headers::{
        IDEMPOTENCY_KEY,
        negotiation::preferred,
        token::{TOKEN_HEADERS, caller},
    },
    http::{
        etag::{condition, is_known, is_not_modified},
        json::{check_body, from_body, from_query},
        request::{NoQuery, idempotency_key},
    },
    problem::Problem,
    view::moves::MovesOptions,
};

/// How many kinds of bodies there are.
pub const BODIES: u8 = 14;

/// Parses a body of that kind and processes it as far as possible without a store. Returns the
/// action of this seat, for a route that changes a game.
///
/// # Errors
/// The problem that the client would get; never `internal`.
pub fn body(kind: u8, bytes: &[u8], game: &Game, seat: Seat) -> Result<Option<Action>, Problem> {
    check_body(bytes)?;
    Ok(match kind {
        0 => {
            Game::new(from_body::<CreateGame>(bytes)?.table()?.setup);
            None
        }
        1 => {
            let position = from_body::<MovesAnalysis>(bytes)?.take_position()?;
            let moves = json!(position.legal_moves(MovesOptions {
                card: None,
                with_boards: true,
            })?);
            let options = PictureOptions {
                bottom: 0,
                theme: Theme::Light,
                legend: true,
            };
            position.picture(moves["moves"][0]["id"].as_str(), options)?;
            None
        }
        2 => {
            let analysis: AdviceAnalysis = from_body(bytes)?;
            analysis.settings()?;
            AdvicePosition::read(analysis)?.view()?;
            None
        }
        3 => {
            replay_record(&from_body::<ImportRequest>(bytes)?.record)?;
            None
        }
        4 => Some(from_body::<SwapRequest>(bytes)?.action(seat)?),
        5 => Some(from_body::<PlayRequest>(bytes)?.action(seat)?),
        6 => {
            let player = from_body::<HandOverRequest>(bytes)?.player(game, seat, false)?;
            Some(Action::HandOver { seat, player })
        }
        7 => {
            let mut analysis: SevenAnalysis = from_body(bytes)?;
            let position = analysis.take_position()?;
            let parts = json!(position.next_parts(&analysis.begun)?);
            if let Some(id) = parts["next"][0]["id"].as_str() {
                position.next_parts(id)?;
            }
            None
        }
        8 => {
            from_body::<VersionRequest>(bytes)?;
            Some(Action::Deal { by: Some(seat) })
        }
        9 => from_body::<JoinRequest>(bytes).map(|_| None)?,
        10 => from_body::<QuickJoinRequest>(bytes).map(|_| None)?,
        11 => from_body::<SettingsRequest>(bytes).map(|_| None)?,
        12 => from_body::<ReactionRequest>(bytes).map(|_| None)?,
        _ => from_body::<RematchBody>(bytes).map(|_| None)?,
    })
}

/// Parses a text as the query of every route with one, and as a part of a path.
pub fn line(text: &str, game: &Game) {
    let _ = text.parse::<GameId>();
    let _ = from_query::<NoQuery>(text);
    let _ = from_query::<GameParams>(text);
    let _ = from_query::<EventsParams>(text);
    let _ = from_query::<MovesParams>(text).map(|params| params.options().is_ok());
    let _ = from_query::<SevenParams>(text);
    let _ = from_query::<AdviceByAddressParams>(text).map(|params| params.position().is_ok());
    let _ = from_query::<PositionPictureParams>(text);
    let _ = from_query::<HistoryParams>(text);
    let _ = from_query::<ReviewPictureParams>(text);
    let _ = from_query::<AdviceAnalysisParams>(text);
    let _ = from_query::<AdviceParams>(text).map(|params| params.settings().is_ok());
    let _ = from_query::<AnalysisParams>(text).map(|params| params.moves_options().is_ok());
    if let Ok(params) = from_query::<ListParams>(text) {
        let _ = params.limit();
        if let Some(Ok(cursor)) = params.cursor.map(|text| text.parse::<Cursor>()) {
            assert_eq!(
                cursor.to_string().parse(),
                Ok(cursor),
                "a cursor of the list"
            );
        }
    }
    if let Ok(params) = from_query::<LayoutParams>(text) {
        let _ = params.layout().map(|layout| LayoutView::new(&layout));
    }
    if let Ok(params) = from_query::<PictureParams>(text)
        && let Ok(preview) = params.preview(game)
        && let Ok(options) = params.options(game.rules())
    {
        game_picture(game, preview.as_ref(), options);
    }
}

/// Parses bytes as the value of each header that has a grammar and that a handler parses itself.
pub fn headers(bytes: &[u8]) {
    let Ok(value) = HeaderValue::from_bytes(bytes) else {
        return;
    };
    let mut headers = HeaderMap::new();
    let names = [
        header::ACCEPT,
        header::IF_MATCH,
        header::IF_NONE_MATCH,
        IDEMPOTENCY_KEY,
    ];
    for name in names.into_iter().chain(TOKEN_HEADERS) {
        headers.append(name, value.clone());
    }
    let offers = ["application/json", "image/svg+xml", "text/plain"];
    if let Ok(media_type) = preferred(&headers, &offers) {
        assert!(offers.contains(&media_type), "an offer is chosen");
    }
    if let Ok(Some(strong)) = condition(&headers, &header::IF_MATCH)
        && let Ok(Some(weak)) = condition(&headers, &header::IF_NONE_MATCH)
    {
        let is_weak_match = weak.include("17");
        assert!(
            is_weak_match || !strong.include("17"),
            "a strong match is also a weak match"
        );
    }
    is_known(&headers, "\"17-host\"").ok();
    is_not_modified(&headers, "\"17-host\"").ok();
    caller(&headers);
    headers.remove(&TOKEN_HEADERS[0]);
    caller(&headers);
    if let Ok(Some(key)) = idempotency_key(&headers) {
        key.is_strong();
    }
}
