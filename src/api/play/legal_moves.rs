//! The legal moves of the seat to move.

use actix_web::HttpResponse;
use dog_rules::{Board, Card, Cards, Generator, Refusal, Rules, Seat};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    api::{
        errors::errors,
        parameters::{GamePath, GameRequest, card_of},
    },
    pool::SHORT_JOB_COST,
    problem::{Problem, Reason},
    view::moves::{MoveView, MovesOptions, list_moves},
};

errors! {
    MovesErrors: [READ, IN_TURN], [InvalidRequest, UnknownCard];
}

/// List the legal moves.
///
/// Every legal move of the seat to move, or those of one card, ready to be posted back.
///
/// The list of all moves is never empty: a seat that can play no card has one move, a fold.
/// `unplayable` tells why a card has no move.
#[utoipa::path(get, path = "/v1/games/{id}/legal-moves", tag = "play",
    params(GamePath, MovesParams),
    responses((status = 200, description = "The moves, in a stable order.", body = LegalMoves),
        MovesErrors),
    security(("token" = [])))]
pub async fn list_legal_moves(read: GameRequest) -> Result<HttpResponse, Problem> {
    let (stored, seat) = read.game_of_holder().await?;
    stored.game.check_play(seat)?;
    let options = read.query::<MovesParams>()?.options()?;
    let pool = &read.app.move_pool;
    pool.answer(&read.request, SHORT_JOB_COST, move || {
        let game = &stored.game;
        let (version, rules, board) = (Some(game.version()), game.rules(), game.board());
        LegalMoves::new(version, rules, board, seat, game.hand(seat), options)
    })
    .await
}

/// Parameters of a list of moves.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MovesParams {
    /// Whether each move includes the board after it; true by default. A seven can have thousands
    /// of outcomes.
    board: Option<bool>,
    /// List the moves of this card only. The list is empty if the hand does not have the card, or
    /// if the card has no legal move.
    #[param(value_type = Option<Card>)]
    card: Option<String>,
}

impl MovesParams {
    /// What to list.
    ///
    /// # Errors
    /// `unknown_card`.
    pub fn options(&self) -> Result<MovesOptions, Problem> {
        moves_options(self.board, self.card.as_deref())
    }
}

/// What to list by these parameters.
///
/// # Errors
/// `unknown_card`.
pub fn moves_options(board: Option<bool>, card: Option<&str>) -> Result<MovesOptions, Problem> {
    let card = card.map(|name| card_of(name, "/card".to_owned()));
    Ok(MovesOptions {
        card: card.transpose()?,
        with_boards: board.unwrap_or(true),
    })
}

/// The legal moves of a seat.
#[derive(Serialize, ToSchema)]
pub struct LegalMoves {
    /// The game's version; absent in an analysis.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    seat: Seat,
    /// With `card` the moves of that card, which may be none. Without it never empty: if no card
    /// can be played, it has one fold.
    moves: Vec<MoveView>,
    /// The cards of the hand that have no legal move, each once, in the sorting order of the cards.
    /// With `card` at most that card.
    unplayable: Vec<UnplayableCard>,
}

/// A card that has no legal move, and why. If there are several reasons, it is the one that tells a
/// player most: a piece in the way rather than the lack of a piece.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"card": "5", "reason": "blocked", "seat": 1, "place": "16"}))]
pub struct UnplayableCard {
    card: Card,
    /// A reason of `illegal_move`. The other members are those of such an error.
    reason: Reason,
    /// The seat that the reason is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    seat: Option<Seat>,
    /// The place that the reason is about, as in the parts of a move.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^([0-9]{1,2}|goal:[0-3])$")]
    place: Option<String>,
}

impl UnplayableCard {
    fn new(card: Card, refusal: Refusal) -> Result<UnplayableCard, Problem> {
        let details = Problem::from(refusal).details;
        let reason = details.reason;
        Ok(UnplayableCard {
            card,
            reason: reason.ok_or_else(|| Problem::internal("a refusal without a reason"))?,
            seat: details.seat,
            place: details.place,
        })
    }
}

impl LegalMoves {
    /// The legal moves of a seat with this hand, of one card or of all, and the cards that have
    /// none; `version` in a game only.
    pub fn new(
        version: Option<u64>,
        rules: &Rules,
        board: &Board,
        seat: Seat,
        hand: Cards,
        options: MovesOptions,
    ) -> Result<LegalMoves, Problem> {
        let mut generator = Generator::new();
        let moves = list_moves(&mut generator, rules, board, seat, hand, options);
        let unplayable = hand
            .ranks()
            .filter(|card| options.card.is_none_or(|asked| asked == *card))
            .filter_map(|card| {
                let refusal = generator.why_unplayable(rules, board, seat, card)?;
                Some(UnplayableCard::new(card, refusal))
            })
            .collect::<Result<_, _>>()?;
        Ok(LegalMoves {
            version,
            seat,
            moves,
            unplayable,
        })
    }
}
