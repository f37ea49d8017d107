//! What happened in a game, as a viewer may see it. In a finished game nothing is hidden, so that
//! anyone can replay and check it.

use dog_rules::{
    By, Card, Cards, Event, Game, Level, OfferedCard, Outcome, Phase, Player, Rules, Seat,
    SeatKind, TableSettings, Viewer,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{moves::MoveView, rules::RulesView};
use crate::store::{LogEntry, StoredGame, Timing};

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
    },
    /// The clock acted twice in a row for the seat. The server plays it until its person is back.
    #[schema(title = "SeatAway")]
    SeatAway { seat: Seat },
    /// The person of a seat that was away is back.
    #[schema(title = "SeatBack")]
    SeatBack { seat: Seat },
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
    /// The event as this viewer may see it while the game is on.
    pub fn new(rules: &Rules, event: Event, viewer: Viewer) -> EventView {
        EventView::in_full(rules, event.redacted_for(viewer))
    }

    /// The event with nothing hidden, for finished games.
    fn in_full(rules: &Rules, event: Event) -> EventView {
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
                holders: _,
                by,
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
            Event::HelpAsked { seat, by } => EventView::HelpAsked { seat, by },
            Event::CardOffered {
                seat,
                card,
                holder: _,
                by,
            } => EventView::CardOffered { seat, card, by },
            Event::ExchangeDeclined { seat, by } => EventView::ExchangeDeclined { seat, by },
            Event::CardsSwapped { given } => EventView::CardsSwapped {
                given: given
                    .into_iter()
                    .map(|OfferedCard { seat, card, .. }| GivenView { seat, card })
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
                by,
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
            Event::HandFolded { seat, cards, by } => EventView::HandFolded {
                seat,
                cards: sorted(cards),
                by,
            },
            Event::RoundEnded { round } => EventView::RoundEnded { round },
            Event::GameWon { team, shuffle_seed } => EventView::GameWon { team, shuffle_seed },
            Event::TokenReissued { seat } => EventView::TokenReissued { seat },
            Event::SeatHandedOver { seat, player, by } => EventView::SeatHandedOver {
                seat,
                kind: player.kind,
                level: player.level,
                name: player.name,
                by,
            },
            Event::SeatTaken { seat, name } => EventView::SeatTaken { seat, name },
            Event::TokenRenewed { seat } => EventView::TokenRenewed { seat },
            Event::RematchAsked { seat } => EventView::RematchAsked { seat },
            Event::SettingsChanged { settings } => {
                let TableSettings {
                    turn_seconds,
                    bot_pace_ms,
                    listed,
                } = settings;
                EventView::SettingsChanged {
                    turn_seconds,
                    bot_pace_ms,
                    listed,
                }
            }
            Event::SeatAway { seat } => EventView::SeatAway { seat },
            Event::SeatBack { seat } => EventView::SeatBack { seat },
        }
    }
}

/// How the server plays for a seat; none if it never does.
pub fn level_of(player: &Player, timing: Timing) -> Option<Level> {
    (!player.is_human() || timing.turn_seconds.is_some()).then_some(player.level)
}

/// The change that led to one version of a game.
#[derive(Serialize, ToSchema)]
#[schema(as = LogEntry)]
pub struct LogEntryView {
    /// The version that the action led to; creation is 1.
    #[schema(minimum = 1)]
    pub(super) version: u64,
    #[schema(format = DateTime)]
    pub(super) at: String,
    /// The events of the action, as the viewer may see them; in the history of a finished game nothing
    /// is hidden.
    #[schema(min_items = 1)]
    pub(super) events: Vec<EventView>,
}

impl LogEntryView {
    /// The entry as this viewer may see it while the game is on.
    pub fn new(rules: &Rules, entry: &LogEntry, viewer: Viewer) -> LogEntryView {
        LogEntryView::with(entry, |event| EventView::new(rules, event, viewer))
    }

    /// An entry of this game's log as this viewer may see it: in full once the game is over.
    pub fn of(game: &Game, entry: &LogEntry, viewer: Viewer) -> LogEntryView {
        match game.phase() {
            Phase::Finished => {
                LogEntryView::with(entry, |event| EventView::in_full(game.rules(), event))
            }
            _ => LogEntryView::new(game.rules(), entry, viewer),
        }
    }

    fn with(entry: &LogEntry, view: impl Fn(Event) -> EventView) -> LogEntryView {
        LogEntryView {
            version: entry.version,
            at: entry.at.to_string(),
            events: entry.events.iter().cloned().map(view).collect(),
        }
    }
}

/// The whole log of a game, as this viewer may see it.
#[derive(Serialize, ToSchema)]
#[schema(as = History)]
pub struct HistoryView {
    #[serde(flatten)]
    head: HistoryHead,
    /// One entry per version, the first being the creation.
    #[schema(min_items = 1)]
    entries: Vec<LogEntryView>,
}

/// A line of a history as NDJSON: the first is a HistoryHead, each later one a LogEntry, from version
/// 1 on.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(
    dead_code,
    reason = "it is written piece by piece; only its schema is used"
)]
pub enum HistoryLine {
    Head(Box<HistoryHead>),
    Entry(LogEntryView),
}

/// The setup of a game and its present state. In NDJSON it is the first line of a history, before
/// the entries.
#[derive(Serialize, ToSchema)]
pub struct HistoryHead {
    #[schema(examples("06zgrb0wmrqk9y7ttx2vbkhq1r"))]
    id: String,
    /// Changes so far; creation is 1.
    #[schema(minimum = 1)]
    version: u64,
    rules: RulesView,
    /// Who played when the game was created, one entry a seat.
    players: Vec<PlayerView>,
    /// Who deals the first round; null until that is drawn.
    #[schema(required)]
    first_dealer: Option<Seat>,
    /// SHA-256 of the shuffle seed, as 64 hex digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    shuffle_commitment: String,
    /// The shuffle seed as 64 hex digits, once the game is over.
    #[schema(required, pattern = "^[0-9a-f]{64}$")]
    shuffle_seed: Option<String>,
    /// Whether the creator chose the seed, and so could know every card.
    shuffle_seed_given: bool,
    /// The winning team, once there is one.
    #[schema(required)]
    winner: Option<u8>,
    #[schema(format = DateTime)]
    created_at: String,
    /// Time of the last change.
    #[schema(format = DateTime)]
    updated_at: String,
}

/// Who plays a seat.
#[derive(Serialize, ToSchema)]
#[schema(as = Player)]
pub struct PlayerView {
    seat: Seat,
    name: String,
    kind: SeatKind,
    /// How the server plays for the seat: for a bot always, for a human when the time is up. Null for
    /// a human in a game without a turn clock.
    #[schema(required)]
    level: Option<Level>,
}

impl HistoryHead {
    /// The head of a game's history; the seed is hidden until the game is over.
    pub fn of(record: &StoredGame) -> HistoryHead {
        let game = &record.game;
        let player = |(seat, player): (Seat, &Player)| PlayerView {
            seat,
            name: player.name.clone(),
            kind: player.kind,
            level: level_of(player, record.timing),
        };
        let players = Seat::all(game.rules().seats).zip(game.first_players());
        HistoryHead {
            id: record.id.to_string(),
            version: game.version(),
            rules: RulesView::from(game.rules().options()),
            players: players.map(player).collect(),
            first_dealer: game.dealer_known().then(|| game.first_dealer()),
            shuffle_commitment: game.commitment(),
            shuffle_seed: game.published_seed(),
            shuffle_seed_given: game.seed_given(),
            winner: game.winner(),
            created_at: record.created_at.to_string(),
            updated_at: record.updated_at.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use dog_rules::{Action, Actor};
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        access::Role,
        store::Draft,
        testing::{creation, new_game},
    };

    /// A game that was dealt, and its log.
    fn dealt() -> (StoredGame, Vec<LogEntry>) {
        let mut record = new_game();
        let mut log = vec![creation(&record)];
        let seat = Seat::default();
        let player = Player::bot("Bot", Level::Fast);
        for action in [Action::HandOver { seat, player }, Action::Deal { by: None }] {
            let draft = Draft::new(&record, &action, Actor::Player).expect("it is in order");
            record = draft.next;
            log.push(LogEntry {
                version: record.game.version(),
                at: record.updated_at,
                action: Some(action),
                events: draft.events,
            });
        }
        (record, log)
    }

    #[test]
    fn while_a_game_is_on_its_history_keeps_its_secrets() {
        let (record, log) = dealt();
        let seen = |role: Role| {
            let entry = |entry| LogEntryView::of(&record.game, entry, role.viewer(&record.game));
            json!(HistoryView {
                head: HistoryHead::of(&record),
                entries: log.iter().map(entry).collect(),
            })
        };
        let nobody = seen(Role::Host);
        assert_eq!(nobody["version"], 3);
        assert_eq!(nobody["players"][0]["name"], "player 0");
        assert_eq!(nobody["players"][0]["kind"], "human");
        assert_eq!(nobody["shuffle_seed"], Value::Null);
        let hands = |history: &Value| history["entries"][2]["events"][0]["hands"].clone();
        assert_eq!(hands(&nobody), json!([null, null, null, null]));
        assert_eq!(nobody, seen(Role::Spectator));
        let own = hands(&seen(Role::Seat(Seat::default().next(4))));
        assert!(own[0].is_null() && own[1].as_array().is_some_and(|hand| hand.len() == 6));
    }
}
