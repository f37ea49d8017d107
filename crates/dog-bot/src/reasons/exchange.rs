//! The reasons of an offer in the exchange.

use dog_rules::{Card, Generator, SeatView};

use super::{AdviceReason, AdviceReasonCode, moves};
use crate::evaluate::leaves_kennel;

/// Adds what speaks for offering this card.
pub(super) fn add(view: &SeatView, card: Card, reasons: &mut Vec<AdviceReason>) {
    use AdviceReasonCode::{GivesExit, GivesFittingCard};
    let partner = view.seat.partner(view.rules.seats);
    let mut give = |code| reasons.push(AdviceReason::new(code).about(partner).with_card(card));
    // A partner that is at home would bring out the seat's pieces.
    let mover = view.board.mover(view.rules, partner);
    if leaves_kennel(card) && view.board.track(partner) == 0 && view.board.track(mover) == 0 {
        give(GivesExit);
    }
    if fits(view, card) {
        give(GivesFittingCard);
    }
}

/// Whether the partner could bring a piece into the goal or capture an opponent's piece with the
/// card on this board.
fn fits(view: &SeatView, card: Card) -> bool {
    let (rules, partner) = (view.rules, view.seat.partner(view.rules.seats));
    let mut fits = false;
    Generator::new().each_of_card(rules, &view.board, partner, card, |found| {
        fits = fits || {
            let outcome = found.outcome();
            let mut captures = outcome.captures.iter();
            outcome.parts.iter().any(moves::brings_home)
                || captures
                    .any(|capture| capture.seat.team(rules.seats) != partner.team(rules.seats))
        };
    });
    fits
}
