//! Events as a viewer may see them, each type with its own schema.

use dog_rules::{
    card::{Card, Cards},
    event::{Event, Given, Viewer},
    options::Rules,
    player::Level,
    seat::Seat,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{game::SeatKind, moves::MoveView};

/// Something that happened in a game, as this viewer may see it.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = Event)]
pub enum EventView {
    /// The game was set up.
    #[schema(title = "GameCreated")]
    GameCreated {
        /// Who deals the first round.
        dealer: Seat,
    },
    /// A round was dealt.
    #[schema(title = "CardsDealt")]
    CardsDealt {
        /// The round, from 1.
        round: u32,
        dealer: Seat,
        /// Who begins the round.
        beginner: Seat,
        /// Cards each seat got.
        size: u8,
        /// Whether the discard pile was shuffled to have enough cards.
        reshuffled: bool,
        /// One entry a seat: the viewer's own hand, null for the others.
        hands: Vec<Option<Vec<Card>>>,
    },
    /// A seat said "help!".
    #[schema(title = "HelpAsked")]
    HelpAsked { seat: Seat },
    /// A seat laid down a card for its partner.
    #[schema(title = "CardOffered")]
    CardOffered {
        seat: Seat,
        /// Null to all but the seat itself.
        card: Option<Card>,
    },
    /// A seat declined the exchange.
    #[schema(title = "ExchangeDeclined")]
    ExchangeDeclined { seat: Seat },
    /// A pair swapped.
    #[schema(title = "CardsSwapped")]
    CardsSwapped {
        /// What each of the pair gave.
        given: Vec<GivenView>,
    },
    /// Every pair is done with the exchange.
    #[schema(title = "PlayBegan")]
    PlayBegan {
        /// The seat to move.
        turn: Seat,
    },
    /// A card was played.
    #[schema(title = "CardPlayed")]
    CardPlayed {
        seat: Seat,
        #[serde(rename = "move")]
        mv: MoveView,
    },
    /// A seat could play nothing and laid its hand open.
    #[schema(title = "HandFolded")]
    HandFolded { seat: Seat, cards: Vec<Card> },
    /// Every hand is empty.
    #[schema(title = "RoundEnded")]
    RoundEnded { round: u32 },
    /// A team has won.
    #[schema(title = "GameWon")]
    GameWon {
        team: u8,
        /// The seed, as 64 hex digits: now anyone can check the shuffles.
        shuffle_seed: String,
    },
    /// The host gave a seat a fresh token.
    #[schema(title = "TokenReissued")]
    TokenReissued { seat: Seat },
    /// The host handed a seat to a bot, or back to a human.
    #[schema(title = "SeatHandedOver")]
    SeatHandedOver {
        seat: Seat,
        name: String,
        kind: SeatKind,
        level: Level,
    },
}

/// The card a seat gave to its partner.
#[derive(Serialize, ToSchema)]
#[schema(as = Given)]
pub struct GivenView {
    seat: Seat,
    /// Null to all but the pair.
    card: Option<Card>,
}

impl EventView {
    /// The event as this viewer may see it while the game is on.
    pub fn new(rules: &Rules, event: Event, viewer: Viewer) -> EventView {
        EventView::in_full(rules, event.seen_by(viewer))
    }

    /// All that the event tells: of a finished game, whatever happened in it.
    pub fn in_full(rules: &Rules, event: Event) -> EventView {
        let sorted = |cards: Cards| cards.sorted().collect();
        match event {
            Event::GameCreated { dealer } => EventView::GameCreated { dealer },
            Event::CardsDealt {
                round,
                dealer,
                beginner,
                size,
                reshuffled,
                hands,
            } => {
                let hands = hands.into_iter().map(|hand| hand.map(sorted)).collect();
                EventView::CardsDealt {
                    round,
                    dealer,
                    beginner,
                    size,
                    reshuffled,
                    hands,
                }
            }
            Event::HelpAsked { seat } => EventView::HelpAsked { seat },
            Event::CardOffered { seat, card } => EventView::CardOffered { seat, card },
            Event::ExchangeDeclined { seat } => EventView::ExchangeDeclined { seat },
            Event::CardsSwapped { given } => EventView::CardsSwapped {
                given: given
                    .into_iter()
                    .map(|Given { seat, card }| GivenView { seat, card })
                    .collect(),
            },
            Event::PlayBegan { turn } => EventView::PlayBegan { turn },
            Event::CardPlayed {
                seat,
                mv,
                kind,
                parts,
                captures,
                board,
            } => {
                let board = Some(super::board::view(rules, &board));
                let mv = MoveView::new(&mv, kind, seat, parts, captures, board);
                EventView::CardPlayed { seat, mv }
            }
            Event::HandFolded { seat, cards } => EventView::HandFolded {
                seat,
                cards: sorted(cards),
            },
            Event::RoundEnded { round } => EventView::RoundEnded { round },
            Event::GameWon { team, shuffle_seed } => EventView::GameWon { team, shuffle_seed },
            Event::TokenReissued { seat } => EventView::TokenReissued { seat },
            Event::SeatHandedOver { seat, player } => EventView::SeatHandedOver {
                seat,
                kind: SeatKind::of(&player),
                level: player.level,
                name: player.name,
            },
        }
    }
}
