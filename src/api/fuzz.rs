//! Where the fuzz targets come in: requests read and checked as the handlers do it, without a server.

use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use dog_rules::{
    event::Action, game::Game, judge::Refusal, moves::Generator, record::Written, seat::Seat,
    shuffle::Seed,
};
use serde_json::Value;

use super::{
    accept::preferred,
    problem::{Code, Problem},
    request::{Caller, IdempotencyKey, etag, is_known},
    tags::Tags,
    wire::{
        analysis::{AdvicePosition, Position},
        game::Role,
        moves::LegalMoves,
        picture::{self, AnalysisParams, PictureParams, Preview},
        query::{AdviceParams, EventsParams, GameParams, ListParams, MovesParams, NoQuery, query},
        request::{
            DealRequest, HandOverRequest, ImportRequest, NewGame, PlayRequest, Swap, SwapRequest,
            shape,
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
            let Position {
                rules,
                board,
                seat,
                hand,
            } = Position::read(json()?)?;
            let moves = Generator::new().legal_moves(&rules, &board, seat, hand);
            LegalMoves::new(None, &rules, &board, seat, &moves, true)?;
            let first = moves.first().map(|legal| legal.mv.to_string());
            let preview = |id: &String| Preview::of_hand(&rules, &board, seat, hand, id);
            let preview = first.as_ref().map(preview).transpose()?;
            picture::of_position(&rules, &board, seat, preview.as_ref());
            None
        }
        2 => {
            let position = AdvicePosition::read(json()?)?;
            position.view()?;
            position.params.thinking()?;
            None
        }
        3 => {
            let import: ImportRequest = shape(json()?)?;
            let wrong = |error: &dyn std::fmt::Display| Problem::new(Code::InvalidRecord, error);
            let written = Written::read(&import.record).map_err(|error| wrong(&error))?;
            let replayed = written.replay().map_err(|error| wrong(&error))?;
            replayed.check_finished().map_err(|error| wrong(&error))?;
            None
        }
        4 => Some(match shape::<SwapRequest>(json()?)?.swap()? {
            Swap::Card(card) => Action::Offer { seat, card },
            Swap::Decline => Action::Decline { seat },
            Swap::Ask => Action::Ask { seat },
        }),
        5 => {
            let id = shape::<PlayRequest>(json()?)?.id;
            let illegal = |error| Problem::new(Code::IllegalMove, Refusal::Notation(error));
            let mv = id.parse().map_err(illegal)?;
            Some(Action::Play { seat, mv })
        }
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
        HeaderName::from_static("idempotency-key"),
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
