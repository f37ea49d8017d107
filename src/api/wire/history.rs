//! The log of a game as a viewer may see it; of a finished one with nothing hidden, so that anyone
//! can replay and check it.

use dog_rules::{
    game::Game,
    player::{Level, Player},
    seat::Seat,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{game::SeatKind, log::LogEntryView, rules::RulesView};
use crate::store::Record;

/// The whole log of a game, as this viewer may see it.
#[derive(Serialize, ToSchema)]
#[schema(as = History)]
pub struct HistoryView {
    #[serde(flatten)]
    head: HistoryHead,
    /// One entry a version, the first being the creation.
    #[schema(min_items = 1)]
    entries: Vec<LogEntryView>,
}

/// What a game is made of, and how it stands. As NDJSON it is the first line of a history, which
/// the entries follow.
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
    /// Who dealt the first round.
    first_dealer: Seat,
    /// SHA-256 of the shuffle seed, as 64 hex digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    shuffle_commitment: String,
    /// The shuffle seed as 64 hex digits, once the game is over.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    shuffle_seed: Option<String>,
    /// Whether the creator chose the seed, and so could know every card.
    shuffle_seed_given: bool,
    /// The winning team, once there is one.
    winner: Option<u8>,
    #[schema(format = DateTime)]
    created_at: String,
    /// When the last version came to be.
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
    /// How the server plays for the seat: a bot always, a human whose time is up.
    level: Level,
}

impl HistoryHead {
    /// The head of a game's history, which hides its seed as long as the game does.
    pub fn of(record: &Record) -> HistoryHead {
        HistoryHead::new(
            &record.game,
            record.id.to_string(),
            record.created_at.to_string(),
            record.updated_at.to_string(),
        )
    }

    /// As [`HistoryHead::of`], for a game that is in no store.
    pub fn new(game: &Game, id: String, created_at: String, updated_at: String) -> HistoryHead {
        let players = Seat::all(game.rules().seats).zip(game.first_players());
        HistoryHead {
            id,
            version: game.version(),
            rules: RulesView::from(game.rules().options()),
            players: players
                .map(|(seat, player)| PlayerView::new(seat, player))
                .collect(),
            first_dealer: game.first_dealer(),
            shuffle_commitment: game.commitment(),
            shuffle_seed: game.published_seed(),
            shuffle_seed_given: game.seed_given(),
            winner: game.winner(),
            created_at,
            updated_at,
        }
    }
}

impl PlayerView {
    fn new(seat: Seat, player: &Player) -> PlayerView {
        PlayerView {
            seat,
            name: player.name.clone(),
            kind: SeatKind::of(player),
            level: player.level,
        }
    }
}

#[cfg(test)]
mod tests {
    use dog_rules::{event::Action, game::Setup, options::Preset, seat::BySeat, shuffle::Seed};
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        api::wire::game::Role,
        store::{GameId, LogEntry, TableChanges, Tempo, TokenHash, Tokens, now},
    };

    /// A game that was dealt, and its log.
    fn dealt() -> (Record, Vec<LogEntry>) {
        let mut game = Game::new(Setup {
            rules: Preset::Hausregeln.rules(),
            players: vec![Player::human("Anna"); 4],
            first_dealer: None,
            seed: Seed::new([7; 32]),
            seed_given: false,
        });
        let at = now();
        let mut log = vec![LogEntry {
            version: 1,
            at,
            action: None,
            events: vec![game.last_event().clone()],
        }];
        let seat = Seat::default();
        let player = Player::bot("Bot", Level::Fast);
        for action in [Action::HandOver { seat, player }, Action::Deal { by: None }] {
            let events = game.apply(&action).expect("it is in order");
            log.push(LogEntry {
                version: game.version(),
                at,
                action: Some(action),
                events,
            });
        }
        let record = Record {
            id: GameId::random(),
            listed: true,
            imported: false,
            creator: None,
            created_at: at,
            updated_at: at,
            tokens: Tokens {
                host: TokenHash([0; 32]),
                seats: BySeat::default(),
            },
            tempo: Tempo::default(),
            changes: TableChanges::default(),
            deadline: None,
            game: game.into(),
        };
        (record, log)
    }

    #[test]
    fn while_a_game_is_on_its_history_keeps_its_secrets() {
        let (record, log) = dealt();
        let seen = |role: Role| {
            let entry = |entry| LogEntryView::of(&record.game, entry, role.viewer());
            json!(HistoryView {
                head: HistoryHead::of(&record),
                entries: log.iter().map(entry).collect(),
            })
        };
        let nobody = seen(Role::Host);
        assert_eq!(nobody["version"], 3);
        assert_eq!(nobody["players"][0]["name"], "Anna");
        assert_eq!(nobody["players"][0]["kind"], "human");
        assert_eq!(nobody["shuffle_seed"], Value::Null);
        let hands = |history: &Value| history["entries"][2]["events"][0]["hands"].clone();
        assert_eq!(hands(&nobody), json!([null, null, null, null]));
        assert_eq!(nobody, seen(Role::Spectator));
        let own = hands(&seen(Role::Seat(Seat::default().next(4))));
        assert!(own[0].is_null() && own[1].as_array().is_some_and(|hand| hand.len() == 6));
    }
}
