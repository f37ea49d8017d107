//! Who is to act, where bots play: the order in which those act who could act at once.

use super::{
    event::Event,
    exchange::ExchangeState,
    game::{Game, Phase},
    options::Exchange,
    seat::Seat,
};

impl Game {
    /// Whether a human plays any seat.
    pub fn attended(&self) -> bool {
        self.players().iter().any(|player| !player.bot)
    }

    /// The bot that is to act now. In an optional exchange (RULES §7.3) a bot lets its human partner
    /// ask, offer or decline first, and of two bots the lower seat speaks first.
    pub fn bot_to_act(&self) -> Option<Seat> {
        let mut bots = self.seats_to_act().filter(|&seat| self.player(seat).bot);
        bots.find(|&seat| self.phase() != Phase::Exchange || !self.waits_for_partner(seat))
    }

    /// Who is played for when the time is up: the lowest seat of those that may act.
    pub fn late_seat(&self) -> Option<Seat> {
        self.seats_to_act().next()
    }

    /// Every seat that may act now.
    fn seats_to_act(&self) -> impl Iterator<Item = Seat> {
        Seat::all(self.rules().seats).filter(|&seat| self.possible(seat).is_some())
    }

    /// Whether a bot that may answer in the exchange leaves the first word to its partner.
    fn waits_for_partner(&self, seat: Seat) -> bool {
        let partner = seat.partner(self.rules().seats);
        let state = |seat| self.exchange(seat).unwrap_or_default();
        self.rules().exchange == Exchange::Optional
            && state(partner) == ExchangeState::Pending
            && (!self.player(partner).bot || partner < seat || state(seat) == ExchangeState::Asked)
    }
}

impl Event {
    /// Whether others are awaited from here on, whose time begins anew.
    pub fn passes_the_turn(&self) -> bool {
        match self {
            Event::GameCreated { .. }
            | Event::CardsDealt { .. }
            | Event::PlayBegan { .. }
            | Event::CardPlayed { .. }
            | Event::HandFolded { .. } => true,
            Event::HelpAsked { .. }
            | Event::CardOffered { .. }
            | Event::ExchangeDeclined { .. }
            | Event::CardsSwapped { .. }
            | Event::RoundEnded { .. }
            | Event::GameWon { .. }
            | Event::TokenReissued { .. }
            | Event::SeatHandedOver { .. } => false,
        }
    }
}
