//! Who has the seats of a game: joins, hand-overs, absence, and the people whom a rematch waits
//! for.

use serde::{Deserialize, Serialize};

use crate::{
    Action, ActionRefusal, By, Event, EventKind, Game, Person, Phase, Player, Seat, SeatKind,
};

/// What a game knows of the person at a seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Occupant {
    /// Which person has the seat, or had it last.
    pub(super) person: Person,
    /// A bot plays for the person until the next deal: the hand was dealt to somebody else.
    pub(super) stand_in: bool,
    /// How often in a row the clock has acted for the seat.
    clock_acts: u8,
    /// Whether the person gives up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) gives_up: bool,
}

/// How often in a row the clock acts for a seat before the seat is away.
const CLOCK_ACTS: u8 = 2;

impl Game {
    /// Counts how often the clock has acted for a seat in a row. Returns the event if the seat is
    /// away from now on, or is back.
    pub(super) fn note_absence(
        &mut self,
        seat: Seat,
        action: &Action,
        by: Option<By>,
    ) -> Option<Event> {
        let was_away = self.is_away(seat);
        let own = matches!(
            action,
            Action::ChangeSeat { .. }
                | Action::Join { .. }
                | Action::AskRematch { .. }
                | Action::Forfeit { .. }
        ) || action.is_play();
        let is_human = self.player(seat).is_human();
        let occupant = &mut self.occupants[seat];
        if by == Some(By::Clock) {
            // A person who lets the time pass has not asked for help, and may well be there (RULES
            // §7.3).
            if matches!(action, Action::Pass { .. }) {
                return None;
            }
            occupant.clock_acts = CLOCK_ACTS.min(occupant.clock_acts + 1);
        } else if own || !is_human {
            occupant.clock_acts = 0;
        }
        let is_away = self.is_away(seat);
        if is_away {
            self.seats_changed = true;
        }
        match (was_away, is_away) {
            (false, true) => Some(EventKind::SeatAway { seat }.into()),
            (true, false) if is_human => Some(EventKind::SeatBack { seat }.into()),
            _ => None,
        }
    }

    /// Somebody else plays the seat from now on, or the same player by another name. A person plays
    /// the hand only if it was dealt to that person; until the next deal a bot stands in.
    pub(super) fn change_player(&mut self, seat: Seat, player: &Player) -> Vec<Event> {
        if self.first_players.is_none() {
            self.first_players = Some(self.players.clone());
        }
        // Somebody who only changes the name has not asked for the rematch.
        let stays = self.player(seat).is_human() && player.is_human();
        self.players[usize::from(seat.number())] = player.clone();
        let in_round = matches!(self.phase, Phase::Exchange | Phase::Play);
        let dealt_to = self.state(seat).dealt_to;
        let occupant = &mut self.occupants[seat];
        occupant.gives_up &= stays;
        match player.kind {
            SeatKind::Human => {
                occupant.stand_in |= in_round;
                occupant.stand_in &= dealt_to != Some(occupant.person);
            }
            SeatKind::Bot => occupant.stand_in = false,
            SeatKind::Open => {
                *occupant = Occupant {
                    person: occupant.person + 1,
                    ..Occupant::default()
                }
            }
        }
        if !stays && self.awaits_confirmation(seat) {
            self.confirmed.push(seat);
        }
        self.update_seating();
        let player = player.clone();
        vec![EventKind::SeatHandedOver { seat, player }.into()]
    }

    /// Somebody takes an open seat.
    pub(super) fn join(&mut self, seat: Seat, name: &str) -> Result<Vec<Event>, ActionRefusal> {
        self.check_not_over()?;
        let Player { kind, level, .. } = *self.player(seat);
        if kind != SeatKind::Open {
            return Err(ActionRefusal::SeatTaken(seat));
        }
        self.seats_changed = true;
        let (kind, name) = (SeatKind::Human, name.to_owned());
        let player = Player {
            name: name.clone(),
            kind,
            level,
        };
        self.change_player(seat, &player);
        Ok(vec![EventKind::SeatTaken { seat, name }.into()])
    }

    /// A person asks for the rematch, which begins when all have asked.
    pub(super) fn ask_rematch(&mut self, seat: Seat) -> Result<Vec<Event>, ActionRefusal> {
        self.check_phase(Phase::Seating)?;
        if self.is_kept(seat) {
            let player = Player {
                kind: SeatKind::Human,
                ..self.player(seat).clone()
            };
            self.change_player(seat, &player);
        } else if self.awaits_confirmation(seat) {
            self.confirmed.push(seat);
        }
        self.update_seating();
        Ok(vec![EventKind::RematchAsked { seat }.into()])
    }

    /// The first deal leaves the seats to bots that are still kept for people.
    pub(super) fn release_kept(&mut self) -> Vec<Event> {
        let seats = Seat::all(self.rules().seats);
        let kept: Vec<Seat> = seats.filter(|&seat| self.is_kept(seat)).collect();
        self.confirmed.extend(&kept);
        let handed_over = |seat: Seat| {
            let player = self.player(seat).clone();
            EventKind::SeatHandedOver { seat, player }.into()
        };
        kept.into_iter().map(handed_over).collect()
    }

    /// Before the first deal, the seating lasts as long as somebody is missing.
    fn update_seating(&mut self) {
        if self.is_dealt() {
            return;
        }
        let awaits_any = self
            .must_confirm
            .iter()
            .any(|&seat| self.awaits_confirmation(seat));
        self.phase = if self.has_open_seat() || awaits_any {
            Phase::Seating
        } else {
            Phase::Deal
        };
    }

    /// Whether anybody may take a seat.
    pub fn has_open_seat(&self) -> bool {
        self.players.iter().any(Player::is_open)
    }

    /// Whether a seat's person must still ask for the rematch.
    pub fn awaits_confirmation(&self, seat: Seat) -> bool {
        self.must_confirm.contains(&seat) && !self.confirmed.contains(&seat)
    }

    /// Whether a bot has the seat unless its person, who had left the game before, asks for the
    /// rematch.
    pub fn is_kept(&self, seat: Seat) -> bool {
        self.awaits_confirmation(seat) && !self.player(seat).is_human()
    }

    /// What plays the seat, as all see it: a seat that is kept for a person is that person's.
    pub fn kind(&self, seat: Seat) -> SeatKind {
        match self.is_kept(seat) {
            true => SeatKind::Human,
            false => self.player(seat).kind,
        }
    }

    /// Whether the game is a rematch to which nobody has come yet, or all have left again.
    pub fn awaits_first_person(&self) -> bool {
        let mut seats = Seat::all(self.rules().seats);
        self.needs_confirmations()
            && !self.is_dealt()
            && seats.all(|seat| !self.player(seat).is_human() || self.awaits_confirmation(seat))
    }

    /// Whether the game is a rematch whose people have to ask for it.
    pub fn needs_confirmations(&self) -> bool {
        !self.must_confirm.is_empty()
    }

    /// The person that has the seat, or had it last.
    pub fn person(&self, seat: Seat) -> Person {
        self.occupants[seat].person
    }

    /// Whether the seat's hand was dealt to the person who has the seat.
    pub fn holds_own_hand(&self, seat: Seat) -> bool {
        self.state(seat).dealt_to == Some(self.person(seat))
    }

    /// Whether a bot stands in for the seat's person until the next deal, because the hand was
    /// dealt to somebody else.
    pub fn has_stand_in(&self, seat: Seat) -> bool {
        self.occupants[seat].stand_in
    }

    /// Whether the clock acts for the seat's person at once, until the person is back.
    pub fn is_away(&self, seat: Seat) -> bool {
        self.player(seat).is_human() && self.occupants[seat].clock_acts >= CLOCK_ACTS
    }

    /// Whether a bot plays the seat, for good or for its person.
    pub fn bot_plays(&self, seat: Seat) -> bool {
        !self.player(seat).is_human() || self.has_stand_in(seat)
    }
}
