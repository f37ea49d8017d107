//! Examples of answers. All are of one game, which is played from a fixed seed.

use std::{
    borrow::Cow,
    sync::{Arc, LazyLock},
    time::Duration,
};

use dog_bot::{
    Choice, MoveEffect, Suggestion,
    reasons::{AdviceReason, AdviceReasonCode},
    search::Budget,
};
use dog_review::{DealValue, JudgedDecision, Review};
use dog_rules::{
    Action, BySeat, Event, Game, Generator, LegalMove, Level, Player, Preset, Seat, SeatKind, Seed,
    Setup,
};
use dog_store::{AdminChanges, LogEntry, ReviewStatus, StoredGame, Timing, TokenHash, Tokens};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{
    advice::{Advice, AdviceSettings, SuggestionListOptions, SuggestionRoute},
    change::ChangeView,
    create::Created,
    event::LogEntryView,
    events::StreamMessage,
    games::GameList,
    history::{HistoryHead, HistoryLine, HistoryView},
    join::{Joined, QuickJoined},
    legal_moves::LegalMoves,
    moves::MovesOptions,
    review::ReviewView,
    rules::RulesCatalogue,
    seats::SeatChanged,
    view::{ActionResponse, GameView, PresenceView, Rematch},
};
use crate::{
    access::Role,
    http::secrets::{Secret, fill},
};

/// The id of the game.
const ID: &str = "1y51r0ztfn8hp2zw9f8m33tzg0";

/// A token or a ticket.
const TOKEN: &str = "b29ede6114c72f07a8c1d98e2bb1f06f";

/// Turns that are played before the examples.
const TURNS: usize = 13;

/// An example of each type of answers, by its name.
pub fn examples() -> Vec<(Cow<'static, str>, Value)> {
    vec![
        (ActionResponse::name(), changed()),
        (Advice::name(), advice()),
        (ChangeView::name(), change()),
        (Created::name(), created()),
        (GameList::name(), game_list()),
        (GameView::name(), game()),
        (HistoryHead::name(), history_head()),
        (HistoryLine::name(), log_entry()),
        (HistoryView::name(), history()),
        (Joined::name(), joined()),
        (LegalMoves::name(), legal_moves()),
        (LogEntryView::name(), log_entry()),
        (PresenceView::name(), presence()),
        (QuickJoined::name(), quick_joined()),
        (Rematch::name(), rematch()),
        (ReviewView::name(), review()),
        (RulesCatalogue::name(), rules()),
        (SeatChanged::name(), seat_changed()),
        (StreamMessage::name(), change()),
    ]
}

/// The seat whose view the examples show.
fn viewer() -> Role {
    Role::Seat(Seat::default())
}

fn created() -> Value {
    let mut open = ExampleGame::open().stored;
    Arc::make_mut(&mut open.seating).invitation = Some(TokenHash::new(TOKEN));
    filled(Created::new(&open))
}

fn game_list() -> Value {
    let played = &ExampleGame::played().stored;
    json!(GameList::new(
        std::slice::from_ref(played),
        Some("2f".to_owned())
    ))
}

fn game() -> Value {
    json!(GameView::new(&ExampleGame::played().stored, viewer()))
}

fn changed() -> Value {
    let mut game = ExampleGame::played().clone();
    json!(game.answer(ExampleGame::play))
}

fn joined() -> Value {
    let (seat, change) = ExampleGame::open().joined();
    filled(Joined::new(seat, change))
}

fn quick_joined() -> Value {
    let (seat, change) = ExampleGame::open().joined();
    filled(QuickJoined::new(ID.to_owned(), Joined::new(seat, change)))
}

fn seat_changed() -> Value {
    let mut game = ExampleGame::new();
    let change = game.answer(|game| {
        let player = Player::bot("Anna", Level::Fast);
        let seat = Seat::default();
        game.apply(Action::HandOver { seat, player })
    });
    json!(SeatChanged::new(change, None))
}

fn presence() -> Value {
    let present = BySeat::from_fn(|seat| seat < 2);
    json!(PresenceView::new(
        &ExampleGame::played().stored.game,
        &present
    ))
}

fn rematch() -> Value {
    let others = Seat::all(3).skip(1).collect();
    let next = ExampleGame::with_players(players(), others);
    json!(Rematch::new(&next.stored, viewer()))
}

/// A review with numbers such as one may find.
fn review() -> Value {
    let seat = Seat::default();
    let play = |id: &str| Action::Play {
        seat,
        mv: id.parse().expect("a move"),
    };
    let found = Review {
        version: 30,
        decisions: vec![JudgedDecision {
            version: 16,
            seat,
            by: None,
            played: play("5:0>5"),
            best: play("K:out"),
            win_probability: 0.5642,
            difference: 0.0731,
            standard_error: 0.0112,
        }],
        deals: vec![
            DealValue {
                round: 1,
                version: 2,
                before: vec![0.5, 0.5],
                luck: vec![0.0312, -0.0312],
                luck_standard_error: vec![0.0084, 0.0084],
            },
            DealValue {
                round: 2,
                version: 30,
                before: vec![0.4406, 0.5594],
                luck: vec![-0.0127, 0.0127],
                luck_standard_error: vec![0.0081, 0.0081],
            },
        ],
        winner: None,
    };
    let game = &ExampleGame::played().stored;
    let review = ReviewView::new(game, ReviewStatus::Running, &found);
    json!(review.expect("decisions are choices"))
}

fn legal_moves() -> Value {
    let game = &ExampleGame::played().stored.game;
    let options = MovesOptions {
        card: None,
        with_boards: true,
    };
    let (rules, board, seat) = (game.rules(), game.board(), Seat::default());
    let moves = LegalMoves::new(
        Some(game.version()),
        rules,
        board,
        seat,
        game.hand(seat),
        options,
    );
    json!(moves.expect("a seat to move has a list"))
}

/// Advice with numbers such as a search may find.
fn advice() -> Value {
    let game = ExampleGame::played();
    let view = game.stored.game.seen_from(Seat::default());
    let numbers = [0.5642, 0.5388, 0.5127];
    let suggestions = game.moves().into_iter().zip(numbers);
    let suggestions = suggestions.map(|(legal, win_probability)| Suggestion {
        choice: Choice::Play(legal.mv),
        outcome: Some(legal.outcome),
        win_probability,
        standard_error: Some(0.0061),
        difference_error: (win_probability < 0.5642).then_some(0.0044),
        samples: 2_800,
        guessed: false,
        risk: Some(0.0312),
        reasons: vec![AdviceReason::new(AdviceReasonCode::NoBetter)],
        line: Vec::new(),
    });
    let settings = AdviceSettings {
        level: Level::Strong,
        budget: Some(Budget::Time(Duration::from_millis(200))),
        seed: 1,
    };
    let target = SuggestionRoute {
        game: format!("/v1/games/{ID}"),
        version: Some(game.stored.game.version()),
    };
    let (suggestions, options) = (suggestions.collect(), SuggestionListOptions::default());
    let advice = Advice::new(&target, &view, &settings, suggestions, options, 200.4);
    json!(advice.expect("each move has an outcome"))
}

fn change() -> Value {
    let mut game = ExampleGame::played().clone();
    game.play();
    let entry = game.entries().pop().expect("a move was played");
    let change = ChangeView::last(entry, &game.stored, None, viewer());
    json!(change.expect("a change is JSON"))
}

fn history_head() -> Value {
    json!(HistoryHead::new(&ExampleGame::dealt().stored))
}

fn log_entry() -> Value {
    json!(ExampleGame::dealt().entries()[1])
}

fn history() -> Value {
    let game = ExampleGame::dealt();
    json!(HistoryView::new(
        HistoryHead::new(&game.stored),
        game.entries()
    ))
}

/// The first preset and the first options.
fn rules() -> Value {
    let mut catalogue = json!(RulesCatalogue::new());
    for (list, length) in [("presets", 1), ("options", 3)] {
        if let Some(entries) = catalogue[list].as_array_mut() {
            entries.truncate(length);
        }
    }
    catalogue
}

/// The body with an example of each secret.
fn filled(body: impl Serialize) -> Value {
    let json = fill(&json!(body).to_string(), |secret| match secret {
        Secret::Seat(seat) => format!("{}{}", seat.number(), &TOKEN[1..]),
        Secret::Host => TOKEN.chars().rev().collect(),
        Secret::Invitation(Some(seat)) => format!("{}-{TOKEN}", seat.number()),
        Secret::Invitation(None) => format!("any-{TOKEN}"),
        Secret::Ticket => TOKEN.to_owned(),
    });
    json.parse().expect("it is JSON")
}

/// A game that is being played, and its log.
#[derive(Clone)]
struct ExampleGame {
    stored: StoredGame,
    log: Vec<LogEntry>,
}

/// Three people and a bot.
fn players() -> Vec<Player> {
    let mut players: Vec<Player> = ["Anna", "Beat", "Carla"].map(Player::human).into();
    players.push(Player::bot("Bot 3", Level::Fast));
    players
}

impl ExampleGame {
    /// The game at its creation.
    fn new() -> ExampleGame {
        ExampleGame::with_players(players(), Vec::new())
    }

    /// A game with an open seat.
    fn open() -> ExampleGame {
        let mut players = players();
        players[1] = Player {
            kind: SeatKind::Open,
            ..Player::human("Seat 1")
        };
        ExampleGame::with_players(players, Vec::new())
    }

    fn with_players(players: Vec<Player>, must_confirm: Vec<Seat>) -> ExampleGame {
        let game = Game::new(Setup {
            rules: Preset::Hausregeln.rules(),
            players,
            first_dealer: Seat::new(3, 4),
            seed: Seed::new([2; 32]),
            seed_given: false,
            must_confirm,
        });
        let at = time(1);
        let creation = LogEntry {
            version: 1,
            at,
            action: None,
            events: vec![game.last_event().clone()],
        };
        let tokens = Tokens {
            host: Some(TokenHash::new(TOKEN)),
            seats: BySeat::from_fn(|seat| {
                let is_human = game.players().get(seat).is_some_and(Player::is_human);
                is_human.then(|| TokenHash::new(TOKEN))
            }),
        };
        let stored = StoredGame {
            id: ID.parse().expect("it is an id"),
            listed: true,
            reactions: true,
            imported: false,
            created_at: at,
            updated_at: at,
            creator: None,
            tokens,
            seating: Arc::default(),
            timing: Timing {
                bot_pace_ms: 250,
                turn_seconds: None,
            },
            skips_to_deal: false,
            admin_changes: AdminChanges::default(),
            deadline: None,
            game: Arc::new(game),
        };
        let log = vec![creation];
        ExampleGame { stored, log }
    }

    /// The game in its first exchange.
    fn dealt() -> ExampleGame {
        let mut game = ExampleGame::new();
        game.apply(Action::Deal { by: None });
        game
    }

    /// The game in the middle of its first round, when seat 0 is to move.
    fn played() -> &'static ExampleGame {
        static PLAYED: LazyLock<ExampleGame> = LazyLock::new(|| {
            let mut game = ExampleGame::dealt();
            let all: Vec<Seat> = Seat::all(4).collect();
            for &seat in &all[..2] {
                game.apply(Action::Ask { seat });
            }
            for seat in [&all[2..], &all[..2]].concat() {
                let card = game.stored.game.hand(seat).sorted().next();
                let card = card.expect("nobody has given a card yet");
                game.apply(Action::Offer { seat, card });
            }
            (0..TURNS).for_each(|_| drop(game.play()));
            game
        });
        &PLAYED
    }

    /// Carries out an action and returns its events.
    fn apply(&mut self, action: Action) -> Vec<Event> {
        let game = Arc::make_mut(&mut self.stored.game);
        let events = game.apply(&action).expect("the example plays by the rules");
        let (version, at) = (game.version(), time(game.version()));
        self.stored.updated_at = at;
        self.log.push(LogEntry {
            version,
            at,
            action: Some(action),
            events: events.clone(),
        });
        events
    }

    /// Plays, for the seat to move, the first of the moves that bring the most pieces home.
    fn play(&mut self) -> Vec<Event> {
        let seat = self.stored.game.turn().expect("a seat is to move");
        let view = self.stored.game.seen_from(seat);
        let home = |legal: &LegalMove| MoveEffect::new(&view, &legal.outcome).pieces_home;
        let best = self.moves().into_iter().rev().max_by_key(home);
        let mv = best.expect("a seat to move has a move").mv;
        self.apply(Action::Play { seat, mv })
    }

    /// The legal moves of the seat to move.
    fn moves(&self) -> Vec<LegalMove> {
        let game = &self.stored.game;
        let seat = game.turn().expect("a seat is to move");
        Generator::new().legal_moves(game.rules(), game.board(), seat, game.hand(seat))
    }

    /// The entries of the log as seat 0 sees them.
    fn entries(&self) -> Vec<LogEntryView> {
        let game = &self.stored.game;
        let (rules, viewer) = (game.rules(), viewer().viewer(game));
        let entries = self.log.iter();
        entries
            .map(|entry| LogEntryView::new(rules, entry, viewer))
            .collect()
    }

    /// The answer to an action.
    fn answer(&mut self, act: impl FnOnce(&mut ExampleGame) -> Vec<Event>) -> ActionResponse {
        let events = act(self);
        ActionResponse::new(&self.stored, &events, viewer())
    }

    /// Somebody takes the open seat.
    fn joined(mut self) -> (Seat, ActionResponse) {
        let seat = Seat::default().next(4);
        let name = "Beat".to_owned();
        let events = self.apply(Action::Join { seat, name });
        let change = ActionResponse::new(&self.stored, &events, Role::Seat(seat));
        (seat, change)
    }
}

/// The time of a version.
fn time(version: u64) -> Timestamp {
    let created: Timestamp = "2026-03-14T18:30:00.25Z".parse().expect("it is a time");
    created + SignedDuration::from_secs(7 * (version as i64 - 1))
}
