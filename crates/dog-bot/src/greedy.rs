//! What each choice is worth one ply ahead: the board it leads to and the cards it leaves.

use dog_rules::{
    board::Board,
    card::Cards,
    moves::{Generator, LegalMove},
    notation::Move,
    view::SeatView,
};

use super::{Choice, evaluate, exchange, hand};

/// A choice and its worth.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    pub choice: Choice,
    /// The board after the move; none in the exchange.
    pub board: Option<Board>,
    /// In steps: see [`evaluate::value`] and [`hand::worth`].
    pub score: f64,
}

/// Every choice that the seat has, in the order in which the rules list them.
pub fn scored(view: &SeatView) -> Vec<Scored> {
    if view.exchanging {
        exchange::scored(view)
    } else {
        moves(view)
    }
}

fn moves(view: &SeatView) -> Vec<Scored> {
    let legal = Generator::new().legal_moves(view.rules, &view.board, view.seat, view.hand);
    let score = |LegalMove { mv, board }| Scored {
        choice: Choice::Play(mv),
        board: Some(board),
        score: evaluate::value(view.rules, &board, view.seat)
            + hand::worth(view.rules, &board, view.seat, kept(view.hand, &mv)),
    };
    legal.into_iter().map(score).collect()
}

/// The cards left after this move.
fn kept(mut hand: Cards, mv: &Move) -> Cards {
    match *mv {
        Move::Fold => Cards::EMPTY,
        Move::Play { card, .. } => {
            hand.remove(card);
            hand
        }
    }
}
