//! What each viewer may see of a game, and who is to act.

use serde::Serialize;

use crate::{
    Action, ActionRefusal, Board, BySeat, Card, Cards, Event, EventKind, Exchange, ExchangeChoice,
    ExchangeState, Game, Generator, LegalMove, Phase, Player, Rules, Seat, Viewer,
    exchange::choices, round_history::PastMove,
};

/// One seat as a viewer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleSeat {
    pub seat: Seat,
    pub team: u8,
    pub cards: u8,
    pub folded: bool,
    pub exchange: Option<ExchangeState>,
    /// Whether its person gives up. Only a viewer of its team sees that, while the team may give up.
    pub gives_up: Option<bool>,
    /// What only the seat itself may see.
    pub own: Option<OwnCards>,
}

/// A seat's own secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnCards {
    pub hand: Cards,
    /// The card it offered its partner in this round's exchange.
    pub offered: Option<Card>,
    /// The card it received from its partner.
    pub received: Option<Card>,
}

crate::named! {
    /// What a seat may do now.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema), schema(as = ActionRoute, description =
        "What a seat may do: the last part of the route that does it."))]
    pub enum PendingAction {
        Deal = "deal",
        Swap = "swap",
        Play = "play",
    }
}

impl Game {
    /// Each seat as this viewer may see it.
    pub fn seats_visible_to(&self, viewer: Viewer) -> Vec<VisibleSeat> {
        let seats = self.rules().seats;
        Seat::all(seats)
            .map(|seat| VisibleSeat {
                seat,
                team: seat.team(seats),
                cards: self.cards(seat),
                folded: self.folded(seat),
                exchange: self.exchange(seat),
                gives_up: self.gives_up_to(viewer, seat),
                own: self.owns_hand(viewer, seat).then(|| OwnCards {
                    hand: self.hand(seat),
                    offered: self.offered(seat),
                    received: self.received(seat),
                }),
            })
            .collect()
    }

    /// Whether the seat's hand is the viewer's own. Between the rounds, when hands are empty, it
    /// belongs to the person who has the seat, unless a bot stands in until the next deal.
    fn owns_hand(&self, viewer: Viewer, seat: Seat) -> bool {
        let Viewer::Seat(own, person) = viewer else {
            return false;
        };
        own == seat
            && match self.phase() {
                Phase::Seating | Phase::Deal => {
                    self.person(seat) == person && !self.has_stand_in(seat)
                }
                _ => self.state(seat).dealt_to == Some(person),
            }
    }

    /// What this seat may do now.
    pub fn pending_action(&self, seat: Seat) -> Option<PendingAction> {
        match self.phase() {
            Phase::Seating => None,
            Phase::Deal => (self.dealer() == seat).then_some(PendingAction::Deal),
            Phase::Exchange => self.check_exchange(seat).ok().map(|()| PendingAction::Swap),
            Phase::Play => (self.turn() == Some(seat)).then_some(PendingAction::Play),
            Phase::Finished => None,
        }
    }

    /// Whether a person plays who is not away.
    pub fn is_attended(&self) -> bool {
        let mut seats = Seat::all(self.rules().seats);
        seats.any(|seat| self.player(seat).is_human() && !self.is_away(seat))
    }

    /// Whether a human plays any seat.
    pub fn has_human(&self) -> bool {
        self.players().iter().any(Player::is_human)
    }

    /// Whether the server plays the seat at the pace of a bot: for a bot, or for a person who is
    /// away.
    pub fn server_plays(&self, seat: Seat) -> bool {
        self.bot_plays(seat) || self.is_away(seat)
    }

    /// Whether a round is on in which the server plays every seat that has cards, so that people
    /// can only watch until the next deal.
    pub fn is_left_to_server(&self) -> bool {
        let mut seats = Seat::all(self.rules().seats);
        matches!(self.phase(), Phase::Exchange | Phase::Play)
            && seats.all(|seat| self.cards(seat) == 0 || self.server_plays(seat))
    }

    /// The seat that the server is to play now: a bot's, or that of a person who is away. Unless
    /// the exchange is mandatory, a bot lets its human partner act first, and of two bots the one
    /// with the lower number acts first (RULES §7.3).
    pub fn bot_to_act(&self) -> Option<Seat> {
        let mut bots = self.seats_to_act().filter(|&seat| self.server_plays(seat));
        bots.find(|&seat| self.phase() != Phase::Exchange || !self.waits_for_partner(seat))
    }

    /// Whether the turn clock starts again after these events of one action: the game now waits for
    /// other seats, or for the other seat of a pair in an exchange on request.
    pub fn restarts_clock(&self, events: &[Event]) -> bool {
        let on_request = self.rules().exchange == Exchange::OnRequest;
        events.iter().any(|event| match event.what {
            EventKind::GameCreated { .. }
            | EventKind::CardsDealt { .. }
            | EventKind::PlayBegan { .. }
            | EventKind::CardPlayed { .. }
            | EventKind::HandFolded { .. } => true,
            EventKind::HelpAsked { .. } => on_request,
            // Of the two offers of a pair, the first.
            EventKind::CardOffered { .. } => on_request && events.len() == 1,
            _ => false,
        })
    }

    /// The seat to act for when the time is up: the lowest of those that may act.
    pub fn timed_out_seat(&self) -> Option<Seat> {
        self.seats_to_act().next()
    }

    /// What the server does for a person whose time is up or who is away, where the level of the
    /// seat does not choose it: it never asks for help, and does not promise any (RULES §7.3).
    pub fn clock_action(&self, seat: Seat) -> Option<Action> {
        use ExchangeChoice::{Ask, Card, Decline, Pass};
        match (self.rules().exchange, self.exchange_choices(seat)) {
            (Exchange::OnRequest, [Ask, Pass]) => Some(Action::Pass { seat }),
            (Exchange::OnRequest, [Card, Decline]) => Some(Action::Decline { seat }),
            _ => None,
        }
    }

    /// Every seat that may act now, the lowest first: the dealer, those that may answer in the
    /// exchange, or the seat to move (RULES §7). None once the game is over.
    pub fn seats_to_act(&self) -> impl Iterator<Item = Seat> {
        Seat::all(self.rules().seats).filter(|&seat| self.pending_action(seat).is_some())
    }

    /// Every action that this seat may take now, each of which [`Game::apply`] accepts: to deal,
    /// each answer in the exchange (RULES §7.3), or each listed move (RULES §9).
    pub fn legal_actions(&self, seat: Seat) -> Vec<Action> {
        let hand = self.hand(seat);
        match self.pending_action(seat) {
            None => Vec::new(),
            Some(PendingAction::Deal) => vec![Action::Deal { by: Some(seat) }],
            Some(PendingAction::Swap) => {
                let mut actions = Vec::new();
                for choice in self.exchange_choices(seat) {
                    match choice {
                        ExchangeChoice::Card => {
                            actions.extend(hand.ranks().map(|card| Action::Offer { seat, card }));
                        }
                        ExchangeChoice::Ask => actions.push(Action::Ask { seat }),
                        ExchangeChoice::Decline => actions.push(Action::Decline { seat }),
                        ExchangeChoice::Pass => actions.push(Action::Pass { seat }),
                    }
                }
                actions
            }
            Some(PendingAction::Play) => {
                let moves = Generator::new().legal_moves(self.rules(), self.board(), seat, hand);
                moves
                    .into_iter()
                    .map(|LegalMove { mv, .. }| Action::Play { seat, mv })
                    .collect()
            }
        }
    }

    /// Lets the lowest seat that may act do so: it deals, or takes the action that `choose`
    /// returns. Returns the action and its events in full. None, with nothing done, if the game is
    /// over.
    ///
    /// # Errors
    /// Why the chosen action is refused. The game stays as it was.
    pub fn step(
        &mut self,
        choose: impl FnOnce(&Game, Seat) -> Action,
    ) -> Result<Option<(Action, Vec<Event>)>, ActionRefusal> {
        let Some(seat) = self.seats_to_act().next() else {
            return Ok(None);
        };
        let action = match self.phase() {
            Phase::Deal => Action::Deal { by: Some(seat) },
            _ => choose(self, seat),
        };
        let events = self.apply(&action)?;
        Ok(Some((action, events)))
    }

    /// Whether a bot in the exchange lets its partner answer first.
    fn waits_for_partner(&self, seat: Seat) -> bool {
        let partner = seat.partner(self.rules().seats);
        self.rules().exchange != Exchange::Mandatory
            && self.exchange(partner) == Some(ExchangeState::Pending)
            && (!self.server_plays(partner)
                || partner < seat
                || self.exchange(seat) == Some(ExchangeState::Asked))
    }

    /// What this seat knows: all that its player or bot may use to decide.
    pub fn seen_from(&self, seat: Seat) -> SeatView<'_> {
        let seats = self.rules().seats;
        let partner = seat.partner(seats);
        let mut known: BySeat<Cards> = BySeat::default();
        known[partner] = self.known_to_partner(partner).into_iter().collect();
        SeatView {
            exchanging: self.phase() == Phase::Exchange,
            counts: BySeat::of_seats(seats, |seat| self.cards(seat)),
            known,
            discards: self.discards(),
            folded: BySeat::of_seats(seats, |seat| self.folded(seat)),
            asked: BySeat::of_seats(seats, |seat| self.asked(seat)),
            exchange: BySeat::of_seats(seats, |seat| self.exchange(seat).unwrap_or_default()),
            offered: self.offered(seat),
            received: self.received(seat),
            holds_received: self.known_to_partner(seat).is_some(),
            round: self.round(),
            beginner: self.beginner(),
            past_moves: self.past_moves(),
            ..SeatView::to_play(self.rules(), *self.board(), seat, self.hand(seat))
        }
    }
}

/// What one seat knows. Bots and advisers get only this, so they cannot peek.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatView<'a> {
    pub rules: &'a Rules,
    pub board: Board,
    pub seat: Seat,
    pub hand: Cards,
    /// Whether the seat is to answer in the exchange, rather than to play a card.
    pub exchanging: bool,
    /// The number of cards that each seat holds.
    pub counts: BySeat<u8>,
    /// Cards known to be in other seats' hands, such as one that was offered and swapped but not
    /// yet played.
    pub known: BySeat<Cards>,
    /// The discard pile, which is face up.
    pub discards: Cards,
    pub folded: BySeat<bool>,
    /// Who said "help!" in this round.
    pub asked: BySeat<bool>,
    /// What all can see of each seat's part in this round's exchange.
    pub exchange: BySeat<ExchangeState>,
    /// The card it offered its partner in this round's exchange.
    pub offered: Option<Card>,
    /// The card it received from its partner.
    pub received: Option<Card>,
    /// Whether it has played no card equal to the one it received, so its partner knows that it
    /// still holds one.
    pub holds_received: bool,
    pub round: u32,
    /// Who begins this round.
    pub beginner: Seat,
    /// The moves of this round, in order. A playout, or a position without a past, has none.
    pub past_moves: Vec<PastMove>,
}

impl<'a> SeatView<'a> {
    /// What the seat may do in the exchange, as [`Game::exchange_choices`] says it.
    pub fn exchange_choices(&self) -> &'static [ExchangeChoice] {
        if !self.exchanging {
            return &[];
        }
        let partner = self.seat.partner(self.rules.seats);
        let (own, partner) = (self.exchange[self.seat], self.exchange[partner]);
        choices(self.rules.exchange, own, partner)
    }

    /// The view of a seat that is to play with this hand and begins the first round. It knows no
    /// other cards, and the others hold as many cards as it does.
    pub fn to_play(rules: &'a Rules, board: Board, seat: Seat, hand: Cards) -> SeatView<'a> {
        SeatView {
            rules,
            board,
            seat,
            hand,
            exchanging: false,
            counts: BySeat::from_fn(|_| hand.len()),
            known: BySeat::default(),
            discards: Cards::EMPTY,
            folded: BySeat::default(),
            asked: BySeat::default(),
            exchange: BySeat::default(),
            offered: None,
            received: None,
            holds_received: false,
            round: 1,
            beginner: seat,
            past_moves: Vec::new(),
        }
    }
}
