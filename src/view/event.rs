//! What happened in a game, as a viewer may see it. In a finished game nothing is hidden, so that
//! anyone can replay and check it.

use dog_rules::{
    By, Card, Cards, Event, EventKind, Level, OfferedCard, Outcome, Player, Rules, Seat, SeatKind,
    Viewer,
};
use dog_store::{LogEntry, StoredGame, Timing};
use serde::Serialize;
use utoipa::ToSchema;

use super::{message::message_type, moves::MoveView};

/// Something that happened in a game, as this viewer may see it.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = Event)]
pub enum EventView {
    /// The game was set up.
    #[schema(title = "GameCreated")]
    GameCreated {
        /// Who deals the first round; null if that is drawn when the seating ends.
        #[schema(required)]
        dealer: Option<Seat>,
    },
    /// A round was dealt.
    #[schema(title = "CardsDealt")]
    CardsDealt {
        /// The round, from 1.
        round: u32,
        dealer: Seat,
        /// Who begins the round.
        beginner: Seat,
        /// Cards dealt to each seat.
        size: u8,
        /// Whether the discard pile was shuffled to have enough cards.
        reshuffled: bool,
        /// One entry per seat: the viewer's own hand, null for the others.
        hands: Vec<Option<Vec<Card>>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        by: Option<By>,
    },
    /// A seat asked its partner to exchange cards ("help!").
    #[schema(title = "HelpAsked")]
    HelpAsked {
        seat: Seat,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        by: Option<By>,
    },
    /// A seat does without asking for help.
    #[schema(title = "ExchangePassed")]
    ExchangePassed {
        seat: Seat,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        by: Option<By>,
    },
    /// A seat offered a card to its partner.
    #[schema(title = "CardOffered")]
    CardOffered {
        seat: Seat,
        /// Null for all but the seat itself.
        #[schema(required)]
        card: Option<Card>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        by: Option<By>,
    },
    /// A seat declined the exchange.
    #[schema(title = "ExchangeDeclined")]
    ExchangeDeclined {
        seat: Seat,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        by: Option<By>,
    },
    /// Two partners exchanged cards.
    #[schema(title = "CardsSwapped")]
    CardsSwapped {
        /// The card that each of them gave.
        given: Vec<GivenView>,
    },
    /// All pairs have finished the exchange.
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
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        by: Option<By>,
    },
    /// A seat had no legal move and laid its hand open.
    #[schema(title = "HandFolded")]
    HandFolded {
        seat: Seat,
        cards: Vec<Card>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        by: Option<By>,
    },
    /// Every hand is empty.
    #[schema(title = "RoundEnded")]
    RoundEnded { round: u32 },
    /// A team has won.
    #[schema(title = "GameWon")]
    GameWon {
        team: u8,
        /// The seed, as 64 hex digits: now anyone can check the shuffles.
        #[schema(pattern = "^[0-9a-f]{64}$")]
        shuffle_seed: String,
    },
    /// A team has won at a table of a match. The seed stays a secret until both tables of the pair
    /// have ended.
    #[schema(title = "TableWon")]
    TableWon { team: u8 },
    /// The host gave a seat a fresh token.
    #[schema(title = "TokenReissued")]
    TokenReissued { seat: Seat },
    /// A seat has another player, or its player another name or level. The seat's person left, came
    /// back or gave the seat up, or the host or the server did it.
    #[schema(title = "SeatHandedOver")]
    SeatHandedOver {
        seat: Seat,
        name: String,
        kind: SeatKind,
        /// How the server plays for the seat: for a bot always, for a human only if a turn clock
        /// runs out, for an open seat until somebody takes it.
        level: Level,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        by: Option<By>,
    },
    /// Somebody took an open seat.
    #[schema(title = "SeatTaken")]
    SeatTaken { seat: Seat, name: String },
    /// A seat's person renewed its token for the first time, and alone has it now.
    #[schema(title = "TokenRenewed")]
    TokenRenewed { seat: Seat },
    /// A seat's person asked for this rematch.
    #[schema(title = "RematchAsked")]
    RematchAsked { seat: Seat },
    /// The host changed settings. These are all as they are now.
    #[schema(title = "SettingsChanged")]
    SettingsChanged {
        /// Seconds that a seat has to act; null without a turn clock.
        #[schema(required)]
        turn_seconds: Option<u32>,
        bot_pace_ms: u32,
        listed: bool,
        reactions: bool,
    },
    /// The clock acted twice in a row for the seat. The server plays it until its person is back.
    #[schema(title = "SeatAway")]
    SeatAway { seat: Seat },
    /// The person of a seat that was away is back.
    #[schema(title = "SeatBack")]
    SeatBack { seat: Seat },
    /// A seat's person gives up, or takes that back. Until the game is over only the person's team
    /// sees it; for all others the change has no events.
    #[schema(title = "ForfeitOffered")]
    ForfeitOffered {
        seat: Seat,
        /// Whether the person gives up.
        offered: bool,
    },
    /// A team has given up: the other one has won.
    #[schema(title = "TeamForfeited")]
    TeamForfeited { team: u8 },
}

/// The card a seat gave to its partner.
#[derive(Serialize, ToSchema)]
#[schema(as = Given)]
pub struct GivenView {
    seat: Seat,
    /// Null for all but the pair.
    #[schema(required)]
    card: Option<Card>,
}

impl EventView {
    /// These events of one action as this viewer may see them while the game is on.
    fn redacted(rules: &Rules, events: &[Event], viewer: Viewer) -> Vec<EventView> {
        let events = events.iter().cloned();
        let seen = events.filter_map(|event| event.redacted_for(viewer));
        seen.map(|event| EventView::in_full(rules, event)).collect()
    }

    /// These events of one action in this game as this viewer may see them: in full once it is
    /// laid open.
    pub fn list(stored: &StoredGame, events: &[Event], viewer: Viewer) -> Vec<EventView> {
        let rules = stored.game.rules();
        match stored.is_laid_open() {
            true => {
                let events = events.iter().cloned();
                events
                    .map(|event| EventView::in_full(rules, event))
                    .collect()
            }
            false => EventView::redacted(rules, events, viewer),
        }
    }

    /// The event with nothing hidden, for finished games.
    fn in_full(rules: &Rules, event: Event) -> EventView {
        let sorted = |cards: Cards| cards.sorted().collect();
        let Event { what, by } = event;
        match what {
            EventKind::GameCreated { dealer } => EventView::GameCreated { dealer },
            EventKind::CardsDealt {
                round,
                dealer,
                beginner,
                size,
                reshuffled,
                hands,
                holders: _,
            } => {
                let hands = hands.into_iter().map(|hand| hand.map(sorted)).collect();
                EventView::CardsDealt {
                    round,
                    dealer,
                    beginner,
                    size,
                    reshuffled,
                    hands,
                    by,
                }
            }
            EventKind::HelpAsked { seat } => EventView::HelpAsked { seat, by },
            EventKind::ExchangePassed { seat } => EventView::ExchangePassed { seat, by },
            EventKind::CardOffered { seat, card, .. } => EventView::CardOffered { seat, card, by },
            EventKind::ExchangeDeclined { seat } => EventView::ExchangeDeclined { seat, by },
            EventKind::CardsSwapped { given } => EventView::CardsSwapped {
                given: given
                    .into_iter()
                    .map(|OfferedCard { seat, card, .. }| GivenView { seat, card })
                    .collect(),
            },
            EventKind::PlayBegan { turn } => EventView::PlayBegan { turn },
            EventKind::CardPlayed {
                seat,
                mv,
                kind,
                parts,
                captures,
                board,
            } => {
                let outcome = Outcome {
                    kind,
                    parts,
                    captures,
                    board,
                };
                let mv = MoveView::new(rules, &mv, seat, outcome, true);
                EventView::CardPlayed { seat, mv, by }
            }
            EventKind::HandFolded { seat, cards } => EventView::HandFolded {
                seat,
                cards: sorted(cards),
                by,
            },
            EventKind::RoundEnded { round } => EventView::RoundEnded { round },
            EventKind::GameWon { team, shuffle_seed } => EventView::GameWon { team, shuffle_seed },
            EventKind::TableWon { team } => EventView::TableWon { team },
            EventKind::TokenReissued { seat } => EventView::TokenReissued { seat },
            EventKind::SeatHandedOver { seat, player } => EventView::SeatHandedOver {
                seat,
                kind: player.kind,
                level: player.level,
                name: player.name,
                by,
            },
            EventKind::SeatTaken { seat, name } => EventView::SeatTaken { seat, name },
            EventKind::TokenRenewed { seat } => EventView::TokenRenewed { seat },
            EventKind::RematchAsked { seat } => EventView::RematchAsked { seat },
            EventKind::SettingsChanged { settings } => EventView::SettingsChanged {
                turn_seconds: settings.turn_seconds,
                bot_pace_ms: settings.bot_pace_ms,
                listed: settings.listed,
                reactions: settings.reactions,
            },
            EventKind::SeatAway { seat } => EventView::SeatAway { seat },
            EventKind::SeatBack { seat } => EventView::SeatBack { seat },
            EventKind::ForfeitOffered { seat, offered } => {
                EventView::ForfeitOffered { seat, offered }
            }
            EventKind::TeamForfeited { team } => EventView::TeamForfeited { team },
        }
    }
}

/// How the server plays for a seat; none if it never does.
pub fn level_of(player: &Player, timing: Timing) -> Option<Level> {
    (!player.is_human() || timing.turn_seconds.is_some()).then_some(player.level)
}

message_type!(EntryType, Entry);

/// The change that led to one version of a game.
#[derive(Serialize, ToSchema)]
#[schema(as = LogEntry)]
pub struct LogEntryView {
    #[serde(rename = "type")]
    #[schema(inline)]
    type_: EntryType,
    /// The version that the action led to; creation is 1.
    #[schema(minimum = 1)]
    pub(super) version: u64,
    #[schema(format = DateTime)]
    pub(super) at: String,
    /// The events of the action, as the viewer may see them: none of one that only the other team
    /// may know of. In the history of a finished game nothing is hidden.
    pub(super) events: Vec<EventView>,
}

impl LogEntryView {
    /// The entry as this viewer may see it while the game is on.
    pub fn new(rules: &Rules, entry: &LogEntry, viewer: Viewer) -> LogEntryView {
        LogEntryView::with(entry, EventView::redacted(rules, &entry.events, viewer))
    }

    /// An entry of this game's log as this viewer may see it: in full once the game is over.
    pub fn for_game(stored: &StoredGame, entry: &LogEntry, viewer: Viewer) -> LogEntryView {
        LogEntryView::with(entry, EventView::list(stored, &entry.events, viewer))
    }

    fn with(entry: &LogEntry, events: Vec<EventView>) -> LogEntryView {
        LogEntryView {
            type_: EntryType::Entry,
            version: entry.version,
            at: entry.at.to_string(),
            events,
        }
    }
}
