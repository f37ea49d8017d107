//! Giving up: one of two teams has lost once every person of it has said so.

use crate::{ActionRefusal, Event, EventKind, Game, Seat, Viewer};

/// The seats of a table of two teams. With three, nobody could say who has won.
const SEATS: u8 = 4;

impl Game {
    /// Checks that a team may give up now: one of two, from the first deal to the end.
    ///
    /// # Errors
    /// The game is over, was not dealt yet, or has three teams.
    pub fn check_forfeit(&self) -> Result<(), ActionRefusal> {
        self.check_not_over()?;
        let phase = self.phase();
        match self.rules().seats {
            SEATS if self.is_dealt() => Ok(()),
            SEATS => Err(ActionRefusal::NotDealt(phase)),
            _ => Err(ActionRefusal::ThreeTeams(phase)),
        }
    }

    /// A seat's person gives up, or no longer does.
    pub(super) fn forfeit(
        &mut self,
        seat: Seat,
        offered: bool,
    ) -> Result<Vec<Event>, ActionRefusal> {
        self.check_forfeit()?;
        self.seats_changed = true;
        self.occupants[seat].gives_up = offered;
        Ok(vec![EventKind::ForfeitOffered { seat, offered }.into()])
    }

    /// Ends the game if a team has given up: a person of it has said so, and the partner agrees, who
    /// may have left or gone away since. Returns what follows.
    pub(super) fn end_if_given_up(&mut self) -> Option<[Event; 2]> {
        self.check_forfeit().ok()?;
        let mut seats = Seat::all(SEATS);
        let seat = seats.find(|&seat| self.gives_up(seat) && self.agrees(seat.partner(SEATS)))?;
        let team = seat.team(SEATS);
        let winner = seat.next(SEATS).team(SEATS);
        Some([EventKind::TeamForfeited { team }.into(), self.win(winner)])
    }

    /// Whether nobody at the seat wants to play on: its person gives up or is away, or a bot has it.
    fn agrees(&self, seat: Seat) -> bool {
        !self.player(seat).is_human() || self.is_away(seat) || self.gives_up(seat)
    }

    fn gives_up(&self, seat: Seat) -> bool {
        self.player(seat).is_human() && self.occupants[seat].gives_up
    }

    /// Whether the seat's person gives up, for a viewer of its team while that may give up.
    pub(super) fn gives_up_to(&self, viewer: Viewer, seat: Seat) -> Option<bool> {
        let is_seen = self.check_forfeit().is_ok() && viewer.is_of_team(seat);
        is_seen.then(|| self.gives_up(seat))
    }
}

impl Viewer {
    /// Whether the viewer has a seat of this seat's team, of two.
    pub(super) fn is_of_team(self, seat: Seat) -> bool {
        matches!(self, Viewer::Seat(own, _) if own.team(SEATS) == seat.team(SEATS))
    }
}
