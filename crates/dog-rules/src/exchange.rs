//! The exchange (RULES §7.3): each seat offers its partner a card or, if the exchange is optional,
//! asks or declines.

use serde::Serialize;

use crate::{
    ActionRefusal, Card, Event, EventKind, Exchange, ExchangeAnswer, ExchangeState, Game,
    OfferedCard, Phase, Seat,
};

/// What a seat may do in the exchange (RULES §7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeChoice {
    /// Offer its partner a card.
    Card,
    /// Say "help!".
    Ask,
    /// Offer no card.
    Decline,
}

impl Game {
    /// As [`Game::check_deal`], for the exchange.
    ///
    /// # Errors
    /// The game is over or in another phase, or the seat has nothing left to answer.
    pub fn check_exchange(&self, seat: Seat) -> Result<(), ActionRefusal> {
        self.check_phase(Phase::Exchange)?;
        if self.state(seat).answer.is_some() {
            return Err(ActionRefusal::AlreadyAnswered(seat));
        }
        if self.pair_done(seat) {
            return Err(ActionRefusal::PairDone(seat));
        }
        Ok(())
    }

    /// RULES §7.3: a seat offers its partner a card.
    pub(super) fn offer(&mut self, seat: Seat, card: Card) -> Result<Vec<Event>, ActionRefusal> {
        self.check_exchange(seat)?;
        if !self.state(seat).hand.contains(card) {
            return Err(ActionRefusal::NotInHand(card));
        }
        self.state_mut(seat).answer = Some(ExchangeAnswer::Offered(card));
        let mut events = vec![Event::from(EventKind::CardOffered {
            seat,
            card: Some(card),
            holder: self.state(seat).dealt_to,
        })];
        let partner = seat.partner(self.rules().seats);
        if let Some(ExchangeAnswer::Offered(theirs)) = self.state(partner).answer {
            let mut given = vec![(seat, card), (partner, theirs)];
            given.sort_by_key(|&(seat, _)| seat);
            let given = given
                .into_iter()
                .map(|(seat, card)| OfferedCard {
                    seat,
                    card: Some(card),
                    holder: self.state(seat).dealt_to,
                })
                .collect();
            events.push(EventKind::CardsSwapped { given }.into());
            for (giver, taker, card) in [(seat, partner, card), (partner, seat, theirs)] {
                self.state_mut(giver).hand.remove(card);
                let taker = self.state_mut(taker);
                taker.hand.add(card);
                taker.received = Some(card);
                taker.holds_received = true;
            }
        }
        events.extend(self.begin_play());
        Ok(events)
    }

    /// RULES §7.3, `optional`.
    pub(super) fn decline(&mut self, seat: Seat) -> Result<Vec<Event>, ActionRefusal> {
        self.check_exchange(seat)?;
        self.check_optional()?;
        self.state_mut(seat).answer = Some(ExchangeAnswer::Declined);
        let mut events = vec![EventKind::ExchangeDeclined { seat }.into()];
        events.extend(self.begin_play());
        Ok(events)
    }

    /// RULES §7.3, `optional`: a seat says "help!" once, before it answers.
    pub(super) fn ask(&mut self, seat: Seat) -> Result<Vec<Event>, ActionRefusal> {
        self.check_exchange(seat)?;
        self.check_optional()?;
        if self.state(seat).asked {
            return Err(ActionRefusal::AlreadyAsked(seat));
        }
        self.state_mut(seat).asked = true;
        Ok(vec![EventKind::HelpAsked { seat }.into()])
    }

    /// What this seat may do in the exchange now. Empty if it may do nothing.
    pub fn exchange_choices(&self, seat: Seat) -> Vec<ExchangeChoice> {
        use ExchangeChoice::{Ask, Card, Decline};
        if self.check_exchange(seat).is_err() {
            return Vec::new();
        }
        match self.rules().exchange {
            Exchange::Mandatory => vec![Card],
            Exchange::Optional if self.asked(seat) => vec![Card, Decline],
            Exchange::Optional => vec![Card, Ask, Decline],
        }
    }

    fn check_optional(&self) -> Result<(), ActionRefusal> {
        match self.rules().exchange {
            Exchange::Optional => Ok(()),
            Exchange::Mandatory => Err(ActionRefusal::ExchangeMandatory),
        }
    }

    /// Play begins when every team is done.
    fn begin_play(&mut self) -> Option<Event> {
        let done = self.rules().ring().seats().all(|seat| self.pair_done(seat));
        done.then(|| {
            let turn = self.beginner();
            self.begin_turns(turn);
            EventKind::PlayBegan { turn }.into()
        })
    }

    /// A team is done when both have offered or one has declined.
    fn pair_done(&self, seat: Seat) -> bool {
        let pair = [seat, seat.partner(self.rules().seats)].map(|seat| self.state(seat).answer);
        pair.contains(&Some(ExchangeAnswer::Declined)) || pair.iter().all(Option::is_some)
    }

    /// Whether a seat has said "help!" in this round.
    pub fn asked(&self, seat: Seat) -> bool {
        self.state(seat).asked
    }

    /// The card that a seat offered in this round's exchange: its own secret.
    pub fn offered(&self, seat: Seat) -> Option<Card> {
        match self.state(seat).answer {
            Some(ExchangeAnswer::Offered(card)) => Some(card),
            _ => None,
        }
    }

    /// The card that a seat received from its partner in this round: a secret of the pair.
    pub fn received(&self, seat: Seat) -> Option<Card> {
        self.state(seat).received
    }

    /// The card that a seat received and, as far as its partner can tell, still holds.
    pub fn known_to_partner(&self, seat: Seat) -> Option<Card> {
        let state = self.state(seat);
        state.received.filter(|_| state.holds_received)
    }

    /// A seat's part in this round's exchange, as everybody can see it. None before the deal.
    pub fn exchange(&self, seat: Seat) -> Option<ExchangeState> {
        let state = self.state(seat);
        let done = self.pair_done(seat);
        let dealt = !matches!(self.phase(), Phase::Seating | Phase::Deal);
        dealt.then_some(match state.answer {
            _ if state.received.is_some() => ExchangeState::Swapped,
            Some(ExchangeAnswer::Declined) => ExchangeState::Declined,
            _ if done => ExchangeState::Kept,
            Some(ExchangeAnswer::Offered(_)) => ExchangeState::Offered,
            None if state.asked => ExchangeState::Asked,
            None => ExchangeState::Pending,
        })
    }
}
