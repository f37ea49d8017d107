//! Who is present at a game.

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Path},
};
use dog_rules::{BySeat, Game, Seat, SeatKind};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    example,
    openapi::errors::errors,
    parameters::{GamePath, NoQuery, load_game},
};
use crate::{
    access::Caller,
    app::App,
    http::{headers::private_response, json::from_query, problem::Problem},
};

errors! {
    PresenceErrors: [READ], [InvalidRequest];
}

/// Which people are present at a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Presence, example = example::presence)]
pub struct PresenceView {
    /// One entry per seat: whether its person is connected. Null for bots and for open seats.
    #[schema(required)]
    present: Vec<Option<bool>>,
}

impl PresenceView {
    /// The view of a game, with somebody connected as these seats.
    pub fn new(game: &Game, connected: &BySeat<bool>) -> PresenceView {
        let seats = Seat::all(game.rules().seats);
        let present = seats.map(|seat| match game.player(seat).kind {
            SeatKind::Human => Some(connected[seat]),
            SeatKind::Bot | SeatKind::Open => None,
        });
        PresenceView {
            present: present.collect(),
        }
    }

    /// Whether any person has a seat.
    pub fn has_people(&self) -> bool {
        self.present.iter().any(Option::is_some)
    }
}

/// Who is present: the people with an open stream or long poll.
///
/// A seat is present for 5 seconds after its last connection has ended. The view of a game and its
/// ETag do not depend on it.
#[utoipa::path(get, path = "/v1/games/{id}/presence", tag = "seats",
    params(GamePath),
    responses((status = 200, description = "Who is present.", body = PresenceView),
        PresenceErrors),
    security((), ("token" = [])))]
pub async fn get_presence(
    app: Data<App>,
    path: Path<GamePath>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let record = load_game(&app.store, &path.id).await?;
    caller.role(&record)?;
    let NoQuery {} = from_query(request.query_string())?;
    let connected = app.presence.connected(&record.id).await?;
    let presence = PresenceView::new(&record.game, &connected);
    Ok(private_response(StatusCode::OK).json(presence))
}
