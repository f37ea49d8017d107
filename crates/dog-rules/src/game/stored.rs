//! How a game is stored and read back: as what [`Game`] is made of, if that fits together.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Game, Phase};
use crate::{
    plays::Played,
    seat::{BySeat, Seat},
};

// The derived functions do the work (`remote = "Self"`), so that what is read can be checked.

impl Serialize for Game {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Game::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Game {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Game, D::Error> {
        let game = Game::deserialize(deserializer)?;
        if game.fits_together() {
            Ok(game)
        } else {
            Err(de::Error::custom("no game has come to this"))
        }
    }
}

impl Game {
    /// Whether the game is one that can go on, and its record one that can have led to it.
    fn fits_together(&self) -> bool {
        let seats = self.rules.seats;
        let sits = |seat: Seat| seat.number() < seats;
        self.players.len() == usize::from(seats)
            && self.first_players().len() == usize::from(seats)
            && self.seats.len() == usize::from(seats)
            && sits(self.first_dealer)
            && self.turn.is_none_or(sits)
            && self.turn.is_some() == (self.phase == Phase::Play)
            && self.round > 0
            && self.board.fits(&self.rules)
            && self.record_fits()
    }

    fn record_fits(&self) -> bool {
        let Some(record) = &self.record else {
            return true;
        };
        let of_this_round = [Phase::Play, Phase::Finished].contains(&self.phase);
        let plays = record.plays(&self.rules).filter(|_| of_this_round);
        plays.is_some_and(|plays| {
            plays.last().is_some_and(|last| last.after == self.board)
                && self.lie_open(&plays)
                && self.take_turns(&plays)
        })
    }

    /// Whether all that was laid open in these turns lies on the discard pile.
    fn lie_open(&self, plays: &[Played]) -> bool {
        let mut pile = self.discards;
        plays.iter().all(|play| {
            let there = pile.includes(play.laid);
            if there {
                pile = pile.without(play.laid);
            }
            there
        })
    }

    /// Whether after each of these turns came that of the next seat with cards.
    fn take_turns(&self, plays: &[Played]) -> bool {
        let mut cards = BySeat::default();
        for seat in Seat::all(self.rules.seats) {
            cards[seat] = self.cards(seat);
        }
        let mut next = self.turn;
        plays.iter().rev().all(|play| {
            let has_cards = |seat: Seat| cards[seat] > 0;
            let follows = play.seat.next_of(self.rules.seats, has_cards);
            let fits = (next.is_none() || next == follows)
                && (play.card.is_some() || cards[play.seat] == 0);
            next = Some(play.seat);
            cards[play.seat] = cards[play.seat].saturating_add(play.laid.len());
            fits
        })
    }
}
