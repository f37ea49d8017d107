//! What clients attach to a game and to its seats, which the server does not read.

use dog_rules::{BySeat, Game, Person, Seat};
use serde::{Deserialize, Serialize};

/// Objects of JSON, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientData {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
    pub seats: BySeat<Option<SeatData>>,
}

/// The object of the person at a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatData {
    pub person: Person,
    pub text: String,
}

impl ClientData {
    /// The object of the person who has this seat, or had it last. That of a person before shows to
    /// nobody.
    pub fn of_seat(&self, game: &Game, seat: Seat) -> Option<&str> {
        let data = self.seats[seat].as_ref()?;
        (data.person == game.person(seat)).then_some(&data.text)
    }

    /// Without the objects of people who have given up their seats in this game.
    pub fn of_present_people(&self, game: &Game) -> ClientData {
        let mut data = self.clone();
        for seat in Seat::all(game.rules().seats) {
            if self.of_seat(game, seat).is_none() {
                data.seats[seat] = None;
            }
        }
        data
    }
}
