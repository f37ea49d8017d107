//! The exchange (RULES §7.3): each seat offers its partner a card or, unless the exchange is
//! mandatory, asks, declines or passes.

use serde::Serialize;

use crate::{
    ActionRefusal, Card, Event, EventKind, Exchange, ExchangeAnswer, ExchangeState, Game,
    OfferedCard, Phase, Seat,
};

/// What a seat may do in the exchange: offer its partner a card, ask, decline or pass.
// RULES §7.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExchangeChoice {
    /// Offer its partner a card.
    Card,
    /// Say "help!".
    Ask,
    /// Offer no card.
    Decline,
    /// Do without asking.
    Pass,
}

/// What a seat may do in the state `own` of the exchange, with its partner in the state `partner`
/// (RULES §7.3).
pub(super) fn choices(
    exchange: Exchange,
    own: ExchangeState,
    partner: ExchangeState,
) -> &'static [ExchangeChoice] {
    use Exchange::{Mandatory, OnRequest, Optional};
    use ExchangeChoice::{Ask, Card, Decline, Pass};
    use ExchangeState::{Asked, Offered, Pending};
    match (exchange, own, partner) {
        (Mandatory, Pending, _) => &[Card],
        (Optional, Pending, _) => &[Card, Ask, Decline],
        (Optional, Asked, _) | (OnRequest, Pending, Asked) => &[Card, Decline],
        (OnRequest, Pending, _) => &[Ask, Pass],
        (OnRequest, Asked, Offered) => &[Card],
        _ => &[],
    }
}

/// Whether two partners can be in these states of the exchange in a game (RULES §7.3).
pub fn is_possible(exchange: Exchange, pair: [ExchangeState; 2]) -> bool {
    use Exchange::{Mandatory, OnRequest, Optional};
    use ExchangeState::{Asked, Declined, Kept, Offered, Passed, Pending, Swapped};
    let [one, other] = pair;
    let is_one_way = |pair| {
        matches!(
            (exchange, pair),
            (_, (Pending, Pending) | (Swapped, Swapped))
                | (Mandatory | Optional, (Pending, Offered))
                | (Optional, (Asked, Pending | Asked | Offered))
                | (OnRequest, (Passed | Asked, Pending))
                | (OnRequest, (Asked, Offered) | (Kept, Kept))
                | (Optional | OnRequest, (Declined, Kept))
        )
    };
    is_one_way((one, other)) || is_one_way((other, one))
}

impl Game {
    /// As [`Game::check_deal`], for the exchange.
    ///
    /// # Errors
    /// The game is over or in another phase, or the seat has nothing to answer now.
    pub fn check_exchange(&self, seat: Seat) -> Result<(), ActionRefusal> {
        self.check_phase(Phase::Exchange)?;
        if self.rules().exchange == Exchange::OnRequest {
            return self.check_request(seat);
        }
        if self.state(seat).answer.is_some() {
            return Err(ActionRefusal::AlreadyAnswered(seat));
        }
        if self.pair_done(seat) {
            return Err(ActionRefusal::PairDone(seat));
        }
        Ok(())
    }

    /// Whose turn it is in an exchange on request.
    fn check_request(&self, seat: Seat) -> Result<(), ActionRefusal> {
        use ExchangeState::{Asked, Declined, Kept, Offered, Passed, Pending, Swapped};
        let partner = seat.partner(self.rules().seats);
        match (self.exchange_state(seat), self.exchange_state(partner)) {
            (Swapped | Declined | Kept, _) => Err(ActionRefusal::PairDone(seat)),
            (Offered | Passed, _) => Err(ActionRefusal::AlreadyAnswered(seat)),
            (Asked, Pending) => Err(ActionRefusal::PartnerAnswers(partner)),
            (Asked | Pending, _) => Ok(()),
        }
    }

    /// Checks that a seat which is to act may do this.
    fn check_choice(&self, seat: Seat, choice: ExchangeChoice) -> Result<(), ActionRefusal> {
        use ExchangeChoice::{Ask, Card, Decline, Pass};
        self.check_exchange(seat)?;
        match (self.rules().exchange, choice) {
            (Exchange::Mandatory, Ask | Decline) => Err(ActionRefusal::ExchangeMandatory),
            (Exchange::Mandatory | Exchange::Optional, Pass) => Err(ActionRefusal::NoPass),
            (Exchange::Optional, Ask) if self.asked(seat) => Err(ActionRefusal::AlreadyAsked(seat)),
            (Exchange::Mandatory | Exchange::Optional, _) => Ok(()),
            (Exchange::OnRequest, choice) => {
                let partner = seat.partner(self.rules().seats);
                match (
                    self.exchange_state(seat),
                    self.exchange_state(partner),
                    choice,
                ) {
                    (ExchangeState::Asked, _, Card) => Ok(()),
                    (ExchangeState::Asked, ..) => Err(ActionRefusal::MustOffer),
                    (_, ExchangeState::Asked, Card | Decline) => Ok(()),
                    (_, ExchangeState::Asked, _) => Err(ActionRefusal::PartnerAsked(partner)),
                    (.., Ask | Pass) => Ok(()),
                    _ => Err(ActionRefusal::NotAsked),
                }
            }
        }
    }

    /// RULES §7.3: a seat offers its partner a card.
    pub(super) fn offer(&mut self, seat: Seat, card: Card) -> Result<Vec<Event>, ActionRefusal> {
        self.check_choice(seat, ExchangeChoice::Card)?;
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

    /// RULES §7.3: a seat declines, and the pair keeps its cards.
    pub(super) fn decline(&mut self, seat: Seat) -> Result<Vec<Event>, ActionRefusal> {
        self.check_choice(seat, ExchangeChoice::Decline)?;
        self.state_mut(seat).answer = Some(ExchangeAnswer::Declined);
        let mut events = vec![EventKind::ExchangeDeclined { seat }.into()];
        events.extend(self.begin_play());
        Ok(events)
    }

    /// RULES §7.3: a seat says "help!" once, before it answers.
    pub(super) fn ask(&mut self, seat: Seat) -> Result<Vec<Event>, ActionRefusal> {
        self.check_choice(seat, ExchangeChoice::Ask)?;
        self.state_mut(seat).asked = true;
        Ok(vec![EventKind::HelpAsked { seat }.into()])
    }

    /// RULES §7.3, `on_request`: a seat does without asking.
    pub(super) fn pass(&mut self, seat: Seat) -> Result<Vec<Event>, ActionRefusal> {
        self.check_choice(seat, ExchangeChoice::Pass)?;
        self.state_mut(seat).answer = Some(ExchangeAnswer::Passed);
        let mut events = vec![EventKind::ExchangePassed { seat }.into()];
        events.extend(self.begin_play());
        Ok(events)
    }

    /// What this seat may do in the exchange now. Empty if it may do nothing.
    pub fn exchange_choices(&self, seat: Seat) -> &'static [ExchangeChoice] {
        if self.phase() != Phase::Exchange {
            return &[];
        }
        let partner = seat.partner(self.rules().seats);
        choices(
            self.rules().exchange,
            self.exchange_state(seat),
            self.exchange_state(partner),
        )
    }

    /// What a seat has done in the exchange that is going on.
    fn exchange_state(&self, seat: Seat) -> ExchangeState {
        self.exchange(seat).unwrap_or_default()
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

    /// A team is done when both have answered or one has declined.
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
            // It is asked, and so has something to answer after all.
            Some(ExchangeAnswer::Passed) if self.asked(seat.partner(self.rules().seats)) => {
                ExchangeState::Pending
            }
            Some(ExchangeAnswer::Passed) => ExchangeState::Passed,
            None if state.asked => ExchangeState::Asked,
            None => ExchangeState::Pending,
        })
    }
}
