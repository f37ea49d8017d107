//! What a stream sends of a game: first the game, then each change with the game after it.

use dog_rules::{Generator, Phase, Seat};
use dog_store::StoredGame;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{
    event::{EventView, LogEntryView},
    game::{GameView, to_act},
    message::message_type,
    moves::{MovesOptions, list_moves, moves_or_null},
};
use crate::{access::Role, problem::Problem};

/// Maximum bytes of the list of moves in a change.
const MAX_MOVES_BYTES: usize = 256 << 10;

/// What the newest change includes besides its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, ToSchema)]
pub enum Include {
    /// The game after the change.
    #[serde(rename = "game")]
    Game,
    /// The game after the change and, if it is the viewer's turn, the legal moves.
    #[serde(rename = "game,moves")]
    GameAndMoves,
}

message_type!(ChangeType, Change);

/// A change of a game.
#[derive(Serialize, ToSchema)]
#[schema(as = Change)]
pub struct ChangeView {
    #[serde(rename = "type")]
    #[schema(inline)]
    type_: ChangeType,
    /// The version that the action led to.
    #[schema(minimum = 1)]
    version: u64,
    #[schema(format = DateTime)]
    at: String,
    /// The events of the action, as the viewer may see them: none of one that only the other team
    /// may know of.
    events: Vec<EventView>,
    /// The phase after the change; null in all but the newest change.
    #[schema(required)]
    phase: Option<Phase>,
    /// The seat to move after the change; null if there is none, and in all but the newest change.
    #[schema(required)]
    turn: Option<Seat>,
    /// The seats that the game waits for after the change; null in all but the newest change.
    #[schema(required, max_items = 6)]
    to_act: Option<Vec<Seat>>,
    /// The deadline after the change; null if there is none, and in all but the newest change.
    #[schema(required, format = DateTime)]
    deadline: Option<String>,
    /// The game after the change, as the viewer may see it. Only in the newest change, and only
    /// with `include=game` or `include=game,moves`.
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<GameView>,
    /// The legal moves, without boards; null if they take more than 256 KiB. Only in the newest
    /// change, only if it is the viewer's turn, and only with `include=game,moves`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = moves_or_null)]
    moves: Option<Box<RawValue>>,
}

impl ChangeView {
    /// A change that is not the newest.
    pub fn earlier(entry: LogEntryView) -> ChangeView {
        ChangeView {
            type_: ChangeType::Change,
            version: entry.version,
            at: entry.at,
            events: entry.events,
            phase: None,
            turn: None,
            to_act: None,
            deadline: None,
            game: None,
            moves: None,
        }
    }

    /// The newest change, which led to this game.
    pub fn last(
        entry: LogEntryView,
        stored: &StoredGame,
        include: Option<Include>,
        role: Role,
    ) -> Result<ChangeView, Problem> {
        let game = &stored.game;
        let view = include.map(|_| GameView::new(stored, role));
        Ok(ChangeView {
            phase: Some(game.phase()),
            turn: game.turn(),
            to_act: Some(to_act(stored)),
            deadline: stored.deadline.map(|deadline| deadline.to_string()),
            game: view,
            moves: moves(stored, include, role)?,
            ..ChangeView::earlier(entry)
        })
    }
}

/// The game as a stream begins with it.
pub fn first_view(
    stored: &StoredGame,
    include: Option<Include>,
    role: Role,
) -> Result<GameView, Problem> {
    let mut view = GameView::new(stored, role);
    view.moves = moves(stored, include, role)?;
    Ok(view)
}

/// The legal moves of the seat that this role plays, as JSON; none if it is not to move, or they are
/// not to be included.
fn moves(
    stored: &StoredGame,
    include: Option<Include>,
    role: Role,
) -> Result<Option<Box<RawValue>>, Problem> {
    let game = &stored.game;
    let (Some(Include::GameAndMoves), Role::Seat(seat)) = (include, role) else {
        return Ok(None);
    };
    if game.bot_plays(seat) || game.check_play(seat).is_err() {
        return Ok(None);
    }
    let (rules, board, hand) = (game.rules(), game.board(), game.hand(seat));
    let options = MovesOptions {
        card: None,
        with_boards: false,
    };
    let moves = list_moves(&mut Generator::new(), rules, board, seat, hand, options);
    let json = serde_json::to_string(&moves).map_err(Problem::internal)?;
    Ok(Some(at_most(MAX_MOVES_BYTES, json)?))
}

/// The JSON, or null if it is longer than that.
fn at_most(bytes: usize, json: String) -> Result<Box<RawValue>, Problem> {
    let json = Some(json).filter(|json| json.len() <= bytes);
    let json = json.unwrap_or_else(|| "null".to_owned());
    RawValue::from_string(json).map_err(Problem::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_null() {
        let list = || "[1,2]".to_owned();
        assert_eq!(at_most(5, list()).unwrap().get(), "[1,2]");
        assert_eq!(at_most(4, list()).unwrap().get(), "null");
    }
}
