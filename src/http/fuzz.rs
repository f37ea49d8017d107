//! Where the fuzz targets come in: requests read and checked as the handlers do it, without a server.

use actix_web::http::header::{self, HeaderMap, HeaderValue};
use dog_rules::{Action, Game, Seat, Seed};
use serde_json::Value;

use super::{
    caller::{Caller, IDEMPOTENCY_KEY, IdempotencyKey},
    headers::{Tags, is_known, preferred},
    problem::{Code, Problem},
    request::etag,
    routes::history::replay,
    wire::{
        advice::AdviceParams,
        analysis::{AdvicePosition, Position},
        game::Role,
        picture::{self, AnalysisParams, PictureParams},
        request::{
            DealRequest, EventsParams, GameParams, HandOverRequest, ImportRequest, ListParams,
            MovesParams, NewGame, NoQuery, PlayRequest, SwapRequest, query, shape,
        },
    },
};
use crate::store::{Cursor, GameId};

/// How many kinds of bodies there are.
pub const BODIES: u8 = 8;

/// Reads a body of that kind and carries it out as far as no store is needed; for a route that changes
/// a game, the action that this seat asks for.
///
/// # Errors
/// What the client would be told; never `internal`.
pub fn body(kind: u8, bytes: &[u8], game: &Game, seat: Seat) -> Result<Option<Action>, Problem> {
    let json = || {
        let malformed = |error| Problem::new(Code::MalformedJson, error);
        serde_json::from_slice::<Value>(bytes).map_err(malformed)
    };
    Ok(match kind {
        0 => {
            Game::new(NewGame::read(json()?, Seed::new([7; 32]))?.setup);
            None
        }
        1 => {
            let position = Position::read(json()?)?;
            let moves = position.legal_moves(true)?;
            position.picture(moves.first())?;
            None
        }
        2 => {
            let position = AdvicePosition::read(json()?)?;
            position.view()?;
            position.params.thinking()?;
            None
        }
        3 => {
            replay(&shape::<ImportRequest>(json()?)?.record)?;
            None
        }
        4 => Some(shape::<SwapRequest>(json()?)?.action(seat)?),
        5 => Some(shape::<PlayRequest>(json()?)?.action(seat)?),
        6 => {
            let request: HandOverRequest = shape(json()?)?;
            let player = request.player(seat, game.player(seat))?;
            Some(Action::HandOver { seat, player })
        }
        _ => {
            shape::<DealRequest>(json()?)?;
            Some(Action::Deal { by: Some(seat) })
        }
    })
}

/// Reads a text as the query of every route that takes one, and as what a path may hold.
pub fn line(text: &str, game: &Game) {
    let _ = text.parse::<GameId>();
    let _ = query::<NoQuery>(text);
    let _ = query::<GameParams>(text);
    let _ = query::<EventsParams>(text);
    let _ = query::<MovesParams>(text).map(|params| params.boards());
    let _ = query::<AdviceParams>(text).map(|params| params.thinking().is_ok());
    let _ = query::<AnalysisParams>(text).map(|params| params.boards().is_ok());
    if let Ok(params) = query::<ListParams>(text) {
        let _ = (params.phase(), params.limit());
        if let Some(Ok(place)) = params.cursor.map(|text| text.parse::<Cursor>()) {
            assert_eq!(place.to_string().parse(), Ok(place), "a place in the list");
        }
    }
    if let Ok(params) = query::<PictureParams>(text)
        && let Ok(preview) = params.preview(game)
    {
        picture::of_game(game, preview.as_ref());
    }
}

/// Reads bytes as the value of each header that is read by hand.
pub fn headers(bytes: &[u8]) {
    let Ok(value) = HeaderValue::from_bytes(bytes) else {
        return;
    };
    let mut headers = HeaderMap::new();
    for name in [
        header::ACCEPT,
        header::AUTHORIZATION,
        header::IF_MATCH,
        header::IF_NONE_MATCH,
        IDEMPOTENCY_KEY,
    ] {
        headers.append(name, value.clone());
    }
    let offers = ["application/json", "image/svg+xml", "text/plain"];
    if let Ok(form) = preferred(&headers, &offers) {
        assert!(offers.contains(&form), "an offer is chosen");
    }
    if let Ok(Some(tags)) = Tags::of(&headers, &header::IF_MATCH) {
        let stale = tags.match_strongly(&["17"]) && !tags.match_weakly("17");
        assert!(!stale, "what matches strongly matches weakly");
    }
    is_known(&headers, &etag(17, Role::Host));
    Caller::of(&headers);
    if let Ok(Some(key)) = IdempotencyKey::of(&headers) {
        assert!((1..=255).contains(&key.as_bytes().len()));
        key.is_strong();
    }
}
