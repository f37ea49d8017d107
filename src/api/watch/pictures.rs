//! Parameters of pictures, and the picture of a game or a position.

use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, http::header};
use dog_picture::{self, Picture, PictureOptions, Shown, Theme};
use dog_rules::{
    BegunSeven, Board, Cards, Event, EventKind, Game, Move, Outcome, Phase, Refusal, Rules, Seat,
    begun_seven::SevenSoFar,
    judge::{self, MoveKind},
};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::{
    api::{
        errors::errors,
        parameters::{GamePath, GameRequest, ReadHeaders, seat_of},
    },
    http::content::send_content,
    problem::Problem,
    view::moves::outcome,
};

errors! {
    PictureErrors: [READ], [InvalidRequest, StaleVersion, GameOver, WrongPhase, IllegalMove];
}

/// Parameters of the picture of a game.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PictureParams {
    /// The id of a move to preview, such as `Q:17>29`, or of a begun seven, such as `7:17>20`: any
    /// that the board allows, regardless of the hand. By default the last move is shown.
    #[serde(rename = "move")]
    #[param(value_type = Option<Move>)]
    mv: Option<String>,
    /// The seat that would play it; by default the seat to move. Only with `move`.
    #[param(maximum = 5)]
    seat: Option<u8>,
    /// The seat whose kennel is at the bottom; 0 by default.
    #[param(maximum = 5)]
    bottom: Option<u8>,
    /// Whether the picture is for a light or a dark page; `light` by default.
    #[param(inline)]
    theme: Option<ThemeName>,
    /// Whether the names and the move are below the board; true by default.
    legend: Option<bool>,
}

/// The name of a theme.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThemeName {
    Light,
    Dark,
}

/// The theme of this name; light by default.
pub fn theme_named(theme: Option<ThemeName>) -> Theme {
    match theme {
        None | Some(ThemeName::Light) => Theme::Light,
        Some(ThemeName::Dark) => Theme::Dark,
    }
}

/// How to draw, after the parameters of a request for a picture.
///
/// # Errors
/// `invalid_request`, for a seat that is not there.
pub fn options(
    rules: &Rules,
    bottom: Option<u8>,
    theme: Option<ThemeName>,
    legend: Option<bool>,
) -> Result<PictureOptions, Problem> {
    let bottom = seat_of(bottom.unwrap_or(0), rules, "bottom")?;
    Ok(PictureOptions {
        bottom: bottom.number(),
        theme: theme_named(theme),
        legend: legend.unwrap_or(true),
    })
}

/// A move that is not played, with its outcome.
pub struct Preview {
    pub seat: Seat,
    pub mv: Move,
    pub outcome: Outcome,
}

impl Preview {
    /// The move with that id, if a seat with this hand may play it; else `illegal_move`.
    pub fn with_hand(
        rules: &Rules,
        board: &Board,
        seat: Seat,
        hand: Cards,
        id: &str,
    ) -> Result<Preview, Problem> {
        let mv = id.parse().map_err(Refusal::Notation)?;
        let outcome = judge::judge(rules, board, seat, hand, &mv)?;
        Ok(Preview { seat, mv, outcome })
    }

    /// The move with that id, or the begun seven, if the board allows it. It is checked as if the
    /// seat held the whole deck, and a fold is always allowed, so that the result does not depend
    /// on any hand.
    fn without_hand(
        rules: &Rules,
        board: &Board,
        seat: Seat,
        id: &str,
    ) -> Result<Preview, Problem> {
        if id.parse() == Ok(Move::Fold) {
            let mv = Move::Fold;
            let outcome = outcome(rules, board, seat, &mv)?;
            return Ok(Preview { seat, mv, outcome });
        }
        if let Ok(begun) = id.parse::<BegunSeven>() {
            let SevenSoFar { outcome, .. } = begun.judge(rules, board, seat, rules.deck())?;
            let mv = begun.into();
            return Ok(Preview { seat, mv, outcome });
        }
        Preview::with_hand(rules, board, seat, rules.deck(), id)
    }

    fn shown(&self) -> Shown<'_> {
        Shown {
            seat: self.seat,
            mv: self.mv,
            kind: self.outcome.kind,
            parts: &self.outcome.parts,
            captures: &self.outcome.captures,
            preview: true,
        }
    }
}

impl PictureParams {
    /// The move to preview, if one is asked for.
    ///
    /// # Errors
    /// `game_over`; `wrong_phase`, if no seat is named and none is to move; `invalid_request`, for
    /// a seat that is not there, or without a move; `illegal_move`.
    pub fn preview(&self, game: &Game) -> Result<Option<Preview>, Problem> {
        let rules = game.rules();
        let (id, seat) = match (&self.mv, self.seat) {
            (None, None) => return Ok(None),
            (None, Some(_)) => {
                let detail = "seat says whose move is previewed: send move with it";
                return Err(Problem::wrong_combination(detail));
            }
            (Some(id), None) => {
                game.check_phase(Phase::Play)?;
                let turn = game.turn();
                (
                    id,
                    turn.ok_or_else(|| Problem::internal("nobody is to move"))?,
                )
            }
            (Some(id), Some(number)) => {
                game.check_not_over()?;
                (id, seat_of(number, rules, "seat")?)
            }
        };
        Preview::without_hand(rules, game.board(), seat, id).map(Some)
    }

    /// How to draw.
    ///
    /// # Errors
    /// `invalid_request`, for a seat that is not there.
    pub fn options(&self, rules: &Rules) -> Result<PictureOptions, Problem> {
        options(rules, self.bottom, self.theme, self.legend)
    }
}

/// The picture of a game, with this preview or else with its last move. Everybody may see it.
pub fn game_picture(game: &Game, preview: Option<&Preview>, options: PictureOptions) -> String {
    let players = game.players().iter();
    let names: Vec<&str> = players.map(|player| player.name.as_str()).collect();
    dog_picture::svg(&Picture {
        rules: game.rules(),
        board: preview.map_or(game.board(), |preview| &preview.outcome.board),
        names: &names,
        turn: game.turn(),
        shown: match preview {
            Some(preview) => Some(preview.shown()),
            None => last_move(game.last_event()),
        },
        options,
    })
}

/// The picture of a position in which this seat is to move, perhaps with a preview.
pub fn position_picture(
    rules: &Rules,
    board: &Board,
    seat: Seat,
    preview: Option<&Preview>,
    options: PictureOptions,
) -> String {
    dog_picture::svg(&Picture {
        rules,
        board: preview.map_or(board, |preview| &preview.outcome.board),
        names: &[],
        turn: Some(seat),
        shown: preview.map(Preview::shown),
        options,
    })
}

/// The last action, if it was a move.
fn last_move(event: &Event) -> Option<Shown<'_>> {
    match &event.what {
        EventKind::CardPlayed {
            seat,
            mv,
            kind,
            parts,
            captures,
            ..
        } => Some(Shown {
            seat: *seat,
            mv: *mv,
            kind: *kind,
            parts,
            captures,
            preview: false,
        }),
        EventKind::HandFolded { seat, .. } => Some(Shown {
            seat: *seat,
            mv: Move::Fold,
            kind: MoveKind::Fold,
            parts: &[],
            captures: &[],
            preview: false,
        }),
        _ => None,
    }
}

/// Draw the board.
///
/// The board as a picture, with the last move on it or a preview of another.
///
/// It shows only what everybody at the table sees, so it is the same for all. A preview depends on
/// the board alone, so it reveals nothing about a hand.
#[utoipa::path(get, path = "/v1/games/{id}/board.svg", tag = "games",
    params(GamePath, PictureParams,
        ReadHeaders),
    responses(
        (status = 200, description = "The picture, an SVG document of 40 KiB at \
            most.",
            content((String = "image/svg+xml", example = json!(PICTURE))),
            headers(("ETag" = String, description = "A hash of the picture."))),
        (status = 304, description = "The picture is still the one of If-None-Match."),
        PictureErrors),
    security((), ("token" = [])))]
pub async fn get_board_picture(read: GameRequest) -> Result<HttpResponse, Problem> {
    let (stored, _) = read.game().await?;
    let params: PictureParams = read.query()?;
    let game = &stored.game;
    let preview = params.preview(game)?;
    let options = params.options(game.rules())?;
    // Drawing takes less time than passing it to another thread.
    let svg = game_picture(game, preview.as_ref(), options);
    // A later build may draw the same board otherwise, so the version does not identify a picture.
    send_picture(&read.request, svg)
}

/// The media type of a picture.
pub const SVG: &str = "image/svg+xml";

/// The response for a picture, which may run nothing in a browser, because it contains users'
/// names.
pub fn picture_response(mut response: HttpResponseBuilder) -> HttpResponseBuilder {
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    response
        .content_type(SVG)
        .insert_header((header::CONTENT_SECURITY_POLICY, policy));
    response
}

/// The response for a picture of a game, which a browser may keep but must ask for again.
pub fn send_picture(request: &HttpRequest, svg: String) -> Result<HttpResponse, Problem> {
    let mut response = picture_response(HttpResponse::Ok());
    response
        .insert_header((header::VARY, "Authorization, Accept-Encoding"))
        .insert_header((header::CACHE_CONTROL, "no-cache"));
    send_content(request, &mut response, svg.into_bytes())
}

/// The start of a picture, for the OpenAPI document; a whole one is too long to show.
pub const PICTURE: &str =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 1100\">…</svg>";
