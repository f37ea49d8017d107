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
    /// Decline the optional exchange.
    Decline { seat: Seat },
    /// Say "help!" in the optional exchange.
    Ask { seat: Seat },
    /// Play a card, or fold.
    Play {
        seat: Seat,
        #[serde(rename = "move")]
        mv: Move,
    },
    /// The host gives a seat a new token. The game only records it.
    ReissueToken { seat: Seat },
    /// The host hands a seat to a bot, or back to a human.
    HandOver { seat: Seat, player: Player },
}

/// Something that happened. Hidden facts are optional: the full event has them, an event as a
/// viewer sees it may not (see [`Event::redacted_for`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The game was set up.
    GameCreated { dealer: Seat },
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
    },
    /// A seat said "help!".
    HelpAsked { seat: Seat },
    /// A seat offered its partner a card, a secret of that seat.
    CardOffered { seat: Seat, card: Option<Card> },
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
    /// The host gave a seat a new token.
    TokenReissued { seat: Seat },
    /// The seat has another player from now on.
    SeatHandedOver { seat: Seat, player: Player },
}

/// A card that a seat offered and its partner received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedCard {
    pub seat: Seat,
    pub card: Option<Card>,
}

/// A seat's answer in the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeAnswer {
    Offered(Card),
    Declined,
}

/// A seat's part in the exchange, as everybody can see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeState {
    /// It has not answered.
    #[default]
    Pending,
    /// It said "help!" and has not answered.
    Asked,
    /// It has offered a card.
    Offered,
    /// It declined.
    Declined,
    /// The pair swapped.
    Swapped,
    /// The pair is done without a swap: the other seat declined.
    Kept,
}

/// Somebody who looks at a game. The host sees what a spectator sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    Seat(Seat),
    Spectator,
}

impl Event {
    /// The event as this viewer may see it while the game is on.
    pub fn redacted_for(mut self, viewer: Viewer) -> Event {
        match &mut self {
            Event::CardsDealt { hands, .. } => {
                for (number, hand) in hands.iter_mut().enumerate() {
                    let own = matches!(viewer, Viewer::Seat(seat) if usize::from(seat.number()) == number);
                    if !own {
                        *hand = None;
                    }
                }
            }
            Event::CardOffered { seat, card } => {
                if viewer != Viewer::Seat(*seat) {
                    *card = None;
                }
            }
            Event::CardsSwapped { given } => {
                let of_the_pair = matches!(viewer, Viewer::Seat(seat) if given.iter().any(|given| given.seat == seat));
                if !of_the_pair {
                    for given in given {
                        given.card = None;
                    }
                }
            }
            Event::GameCreated { .. }
            | Event::HelpAsked { .. }
            | Event::ExchangeDeclined { .. }
            | Event::PlayBegan { .. }
            | Event::CardPlayed { .. }
            | Event::HandFolded { .. }
            | Event::RoundEnded { .. }
            | Event::GameWon { .. }
            | Event::TokenReissued { .. }
            | Event::SeatHandedOver { .. } => {}
        }
        self
    }

    /// Whether the turn clock starts again: the game now waits for other seats.
    pub fn restarts_clock(&self) -> bool {
        matches!(
            self,
            Event::GameCreated { .. }
                | Event::CardsDealt { .. }
                | Event::PlayBegan { .. }
                | Event::CardPlayed { .. }
                | Event::HandFolded { .. }
        )
    }
}
