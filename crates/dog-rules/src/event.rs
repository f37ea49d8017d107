//! What happens in a game: the actions that change it, the events they cause, and the words for the
//! exchange.

use serde::{Deserialize, Serialize};

use crate::{
    Board, Card, Cards, Move, Player, Seat, ShortList,
    judge::{Capture, MoveKind, PlayedPart},
};

/// A change that somebody asks of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// Deal the round (RULES §7.2): by the dealer's seat, or by nobody if the host has it dealt.
    Deal { by: Option<Seat> },
    /// Offer a card to the partner.
    Offer { seat: Seat, card: Card },
    /// Decline the exchange.
    Decline { seat: Seat },
    /// Say "help!" in the exchange.
    Ask { seat: Seat },
    /// Do without asking, in an exchange on request.
    Pass { seat: Seat },
    /// Play a card, or fold.
    Play {
        seat: Seat,
        #[serde(rename = "move")]
        mv: Move,
    },
    /// The host gives a seat a new token. The game only records it.
    ReissueToken { seat: Seat },
    /// The host, or the server, hands a seat to a bot or a human, or opens it.
    HandOver { seat: Seat, player: Player },
    /// Somebody takes an open seat.
    Join { seat: Seat, name: String },
    /// The seat's own person leaves, comes back, gives the seat up or takes another name.
    ChangeSeat { seat: Seat, player: Player },
    /// The seat's person renews its token for the first time, and so alone has it. The game only
    /// records it.
    RenewToken { seat: Seat },
    /// A seat's person asks for the rematch.
    AskRematch { seat: Seat },
    /// A seat's person gives up, or no longer does. The team has lost once all its people do.
    Forfeit { seat: Seat, offered: bool },
    /// The host changes settings. The game only records it.
    ChangeSettings { settings: TableSettings },
}

impl Action {
    /// The seat that acts or is changed; none if it is the host's or the server's.
    pub fn seat(&self) -> Option<Seat> {
        match *self {
            Action::Deal { by } => by,
            Action::ChangeSettings { .. } => None,
            Action::Offer { seat, .. }
            | Action::Decline { seat }
            | Action::Ask { seat }
            | Action::Pass { seat }
            | Action::Play { seat, .. }
            | Action::ReissueToken { seat }
            | Action::HandOver { seat, .. }
            | Action::Join { seat, .. }
            | Action::ChangeSeat { seat, .. }
            | Action::RenewToken { seat }
            | Action::AskRematch { seat }
            | Action::Forfeit { seat, .. } => Some(seat),
        }
    }

    /// Whether it is play: dealing, the exchange, or a card. All others change who plays, or how.
    pub fn is_play(&self) -> bool {
        matches!(
            self,
            Action::Deal { .. }
                | Action::Offer { .. }
                | Action::Decline { .. }
                | Action::Ask { .. }
                | Action::Pass { .. }
                | Action::Play { .. }
        )
    }
}

/// What a host may change while a game is on. The rules do not use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSettings {
    /// Seconds that a seat has to act; none without a clock.
    pub turn_seconds: Option<u32>,
    /// Milliseconds between a change and a bot's next action.
    pub bot_pace_ms: u32,
    /// Whether the game is in the public list.
    pub listed: bool,
    /// Whether people may react.
    pub reactions: bool,
}

/// Who takes an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Actor {
    /// Whoever plays the seat: its person, or a bot. For actions without a seat, the host.
    #[default]
    Player,
    /// The server for a person whose time was up or who is away.
    Clock,
    /// The server for nobody: it deals, or fills a seat.
    Server,
}

crate::named! {
    /// Who did something that the seat's person did not do.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema), schema(description =
        "Who did something that the seat's person did not do: the server for a person whose time was \
         up or who is away, the bot that plays the seat or stands in, or the server."))]
    pub enum By {
        /// The server, for a person whose time was up or who is away.
        Clock = "clock",
        /// The bot that plays the seat or stands in.
        Bot = "bot",
        /// The server.
        Server = "server",
    }
}

impl From<Option<By>> for Actor {
    /// Who took an action whose first event says this.
    fn from(by: Option<By>) -> Actor {
        match by {
            Some(By::Clock) => Actor::Clock,
            Some(By::Server) => Actor::Server,
            Some(By::Bot) | None => Actor::Player,
        }
    }
}

/// The number of a person who has had a seat, from 0. A hand belongs to the person it was dealt to.
pub type Person = u32;

/// The person that is left out of what is stored, since most seats never have another.
pub(super) fn first_person() -> Option<Person> {
    Some(0)
}

pub(super) fn is_first_person(holder: &Option<Person>) -> bool {
    *holder == first_person()
}

/// Something that happened, and who did it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub what: EventKind,
    /// Who did it, if the seat's person did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
}

/// What happened. Hidden facts are optional: the full event has them, an event as a viewer sees it
/// may not (see [`Event::redacted_for`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The game was set up.
    GameCreated {
        /// Who deals the first round; none if that is drawn when the seating ends.
        dealer: Option<Seat>,
    },
    /// A round was dealt.
    CardsDealt {
        round: u32,
        dealer: Seat,
        beginner: Seat,
        /// Cards dealt to each seat.
        size: u8,
        /// Whether the discard pile was shuffled during the deal (RULES §7.2).
        reshuffled: bool,
        /// Each seat's hand, a secret of that seat.
        hands: Vec<Option<Cards>>,
        /// The person whose hand it is, for each seat; none for a bot's. Empty if each is the first
        /// person's.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        holders: Vec<Option<Person>>,
    },
    /// A seat said "help!".
    HelpAsked { seat: Seat },
    /// A seat does not ask for help.
    ExchangePassed { seat: Seat },
    /// A seat offered its partner a card, a secret of that seat.
    CardOffered {
        seat: Seat,
        card: Option<Card>,
        /// The person whose card it is; none if a bot has laid it down.
        #[serde(default = "first_person", skip_serializing_if = "is_first_person")]
        holder: Option<Person>,
    },
    /// A seat declined the exchange. The pair keeps its cards.
    ExchangeDeclined { seat: Seat },
    /// A pair swapped cards. Which ones is a secret of the pair.
    CardsSwapped { given: Vec<OfferedCard> },
    /// The exchange is over. This seat begins.
    PlayBegan { turn: Seat },
    /// A card was played.
    CardPlayed {
        seat: Seat,
        #[serde(rename = "move")]
        mv: Move,
        kind: MoveKind,
        parts: ShortList<PlayedPart>,
        captures: ShortList<Capture>,
        board: Board,
    },
    /// A seat could play no card and folded: its hand is laid open.
    HandFolded { seat: Seat, cards: Cards },
    /// Every hand is empty.
    RoundEnded { round: u32 },
    /// A team has won; the seed is published.
    GameWon { team: u8, shuffle_seed: String },
    /// A team has won a duplicate. The seed stays a secret: another table may still play its cards.
    TableWon { team: u8 },
    /// The host gave a seat a new token.
    TokenReissued { seat: Seat },
    /// The seat has another player from now on, or its player has another name or level.
    SeatHandedOver { seat: Seat, player: Player },
    /// Somebody took an open seat.
    SeatTaken { seat: Seat, name: String },
    /// A seat's person has renewed its token for the first time.
    TokenRenewed { seat: Seat },
    /// A seat's person asks for the rematch.
    RematchAsked { seat: Seat },
    /// The host has changed settings.
    SettingsChanged { settings: TableSettings },
    /// The clock has acted twice in a row for the seat. The server plays it until its person is
    /// back.
    SeatAway { seat: Seat },
    /// The person of a seat that was away is back.
    SeatBack { seat: Seat },
    /// A seat's person gives up, or no longer does: a secret of the team until the game is over.
    ForfeitOffered { seat: Seat, offered: bool },
    /// A team has given up.
    TeamForfeited { team: u8 },
}

/// A card that a seat offered and its partner received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedCard {
    pub seat: Seat,
    pub card: Option<Card>,
    /// The person whose card it was; none for a bot.
    #[serde(default = "first_person", skip_serializing_if = "is_first_person")]
    pub holder: Option<Person>,
}

/// A seat's answer in the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeAnswer {
    Offered(Card),
    Declined,
    /// It does not ask; its partner still may.
    Passed,
}

/// A seat's part in this round's exchange, as all can see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExchangeState {
    /// It has not answered.
    #[default]
    Pending,
    /// It does not ask for help; its partner still may.
    Passed,
    /// It said "help!" and has not laid down a card.
    Asked,
    /// It has offered a card.
    Offered,
    /// It declined.
    Declined,
    /// The pair swapped.
    Swapped,
    /// The pair is done without a swap: the other seat declined, or neither has asked.
    Kept,
}

/// Somebody who looks at a game. The host sees what a spectator sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Viewer {
    /// A person who has this seat, or has had it.
    Seat(Seat, Person),
    Spectator,
}

impl Viewer {
    /// Whether a card of this seat, dealt to this person, is the viewer's own.
    fn owns(self, seat: Seat, holder: Option<Person>) -> bool {
        matches!(self, Viewer::Seat(own, person) if own == seat && Some(person) == holder)
    }
}

impl From<EventKind> for Event {
    /// What a seat's person, or nobody in particular, did.
    fn from(what: EventKind) -> Event {
        Event { what, by: None }
    }
}

impl Event {
    /// The event as this viewer may see it while the game is on; none if the viewer may not know of
    /// it.
    pub fn redacted_for(mut self, viewer: Viewer) -> Option<Event> {
        match &mut self.what {
            EventKind::ForfeitOffered { seat, .. } if !viewer.is_of_team(*seat) => return None,
            EventKind::CardsDealt { hands, holders, .. } => {
                for (number, hand) in hands.iter_mut().enumerate() {
                    let holder = holders.get(number).copied().unwrap_or_else(first_person);
                    if !viewer.owns(Seat::from_number(number as u8), holder) {
                        *hand = None;
                    }
                }
            }
            EventKind::CardOffered {
                seat, card, holder, ..
            } => {
                if !viewer.owns(*seat, *holder) {
                    *card = None;
                }
            }
            EventKind::CardsSwapped { given } => {
                let is_in_pair = given
                    .iter()
                    .any(|given| viewer.owns(given.seat, given.holder));
                if !is_in_pair {
                    for given in given {
                        given.card = None;
                    }
                }
            }
            EventKind::GameCreated { .. }
            | EventKind::HelpAsked { .. }
            | EventKind::ExchangePassed { .. }
            | EventKind::ExchangeDeclined { .. }
            | EventKind::PlayBegan { .. }
            | EventKind::CardPlayed { .. }
            | EventKind::HandFolded { .. }
            | EventKind::RoundEnded { .. }
            | EventKind::GameWon { .. }
            | EventKind::TableWon { .. }
            | EventKind::TokenReissued { .. }
            | EventKind::SeatHandedOver { .. }
            | EventKind::SeatTaken { .. }
            | EventKind::TokenRenewed { .. }
            | EventKind::RematchAsked { .. }
            | EventKind::SettingsChanged { .. }
            | EventKind::SeatAway { .. }
            | EventKind::SeatBack { .. }
            | EventKind::ForfeitOffered { .. }
            | EventKind::TeamForfeited { .. } => {}
        }
        Some(self)
    }

    /// Who took the action with this first event.
    pub fn actor(&self) -> Actor {
        self.by.into()
    }
}
