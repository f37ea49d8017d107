//! The hidden cards, dealt out in ways that fit what a seat has seen.

use rand::Rng;

use super::net::judge::{Judge, Scratch};
use crate::rules::{card::Cards, playout::unseen_hands, seat::BySeat, view::SeatView};

/// Deals the hidden cards of one view, again and again.
pub struct Worlds<'a> {
    view: &'a SeatView<'a>,
}

impl<'a> Worlds<'a> {
    pub fn new(
        _judge: &Judge,
        view: &'a SeatView<'a>,
        _weighing: u32,
        _scratch: &mut Scratch,
    ) -> Worlds<'a> {
        Worlds { view }
    }

    /// All hands, the seat's own among them.
    pub fn deal(&mut self, rng: &mut impl Rng) -> BySeat<Cards> {
        unseen_hands(self.view, rng)
    }
}
