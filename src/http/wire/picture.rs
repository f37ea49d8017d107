//! Parameters of pictures, and the picture of a game or a position.

use dog_rules::{
    Board, Cards, Event, Game, Move, Outcome, Phase, Refusal, Rules, Seat,
    judge::{self, MoveKind},
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{moves::outcome, request::seat_of};
use crate::{
    http::problem::Problem,
    picture::{self, Picture, Shown},
};

/// Parameters of the picture of a game.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PictureParams {
    /// The id of a move to preview, such as `Q:17>29`: any that the board allows, regardless of the
    /// hand. By default the last move is shown.
    #[serde(rename = "move")]
    mv: Option<String>,
    /// The seat that would play it; by default the seat to move. Only with `move`.
    #[param(maximum = 5)]
    seat: Option<u8>,
}

/// Parameters of an analysis of moves.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AnalysisParams {
    /// Whether each move includes the board after it; true by default. A seven can have thousands of
    /// outcomes.
    board: Option<bool>,
    /// The id of a legal move to preview, such as `Q:17>29`. Only for a picture.
    #[serde(rename = "move")]
    mv: Option<String>,
}

/// A move that is not played, with its outcome.
pub struct Preview {
    pub seat: Seat,
    pub mv: Move,
    pub outcome: Outcome,
}

impl Preview {
    /// The move with that id, if a seat with this hand may play it; else `illegal_move`.
    pub fn of_hand(
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

    /// The move with that id, if the board allows it. It is checked as if the seat held the whole
    /// deck, and a fold is always allowed, so that the result does not depend on any hand.
    fn of_board(rules: &Rules, board: &Board, seat: Seat, id: &str) -> Result<Preview, Problem> {
        if id.parse() == Ok(Move::Fold) {
            let mv = Move::Fold;
            let outcome = outcome(rules, board, seat, &mv)?;
            return Ok(Preview { seat, mv, outcome });
        }
        Preview::of_hand(rules, board, seat, rules.deck(), id)
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
                let nobody = || Problem::internal("nobody is to move");
                (id, game.turn().ok_or_else(nobody)?)
            }
            (Some(id), Some(number)) => {
                game.check_not_over()?;
                (id, seat_of(number, rules, "seat")?)
            }
        };
        Preview::of_board(rules, game.board(), seat, id).map(Some)
    }
}

impl AnalysisParams {
    /// Whether a list of moves is to have boards.
    ///
    /// # Errors
    /// `invalid_request`, if there is a move to preview, which only pictures show.
    pub fn boards(&self) -> Result<bool, Problem> {
        if self.mv.is_some() {
            let detail = "move is previewed in a picture only: accept image/svg+xml";
            return Err(Problem::wrong_combination(detail));
        }
        Ok(self.board.unwrap_or(true))
    }

    /// The id of the move to preview, if one is asked for.
    pub fn preview(&self) -> Option<&str> {
        self.mv.as_deref()
    }
}

/// The picture of a game, with this preview or else with its last move. Everybody may see it.
pub fn of_game(game: &Game, preview: Option<&Preview>) -> String {
    let players = game.players().iter();
    let names: Vec<&str> = players.map(|player| player.name.as_str()).collect();
    picture::svg(&Picture {
        rules: game.rules(),
        board: preview.map_or(game.board(), |preview| &preview.outcome.board),
        names: &names,
        turn: game.turn(),
        shown: match preview {
            Some(preview) => Some(preview.shown()),
            None => last_move(game.last_event()),
        },
    })
}

/// The picture of a position in which this seat is to move, perhaps with a preview.
pub fn of_position(rules: &Rules, board: &Board, seat: Seat, preview: Option<&Preview>) -> String {
    picture::svg(&Picture {
        rules,
        board: preview.map_or(board, |preview| &preview.outcome.board),
        names: &[],
        turn: Some(seat),
        shown: preview.map(Preview::shown),
    })
}

/// The last action, if it was a move.
fn last_move(event: &Event) -> Option<Shown<'_>> {
    match event {
        Event::CardPlayed {
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
        Event::HandFolded { seat, .. } => Some(Shown {
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
