//! Examples of what the operations answer: all of one game, which is played from a fixed seed.

use std::{sync::Arc, time::Duration};

use dog_bot::{Choice, MoveEffect, Suggestion, search::Budget};
use dog_rules::{
    Action, Board, BySeat, Card, Event, Game, Generator, LegalMove, Level, Phase, Placement,
    Player, Preset, Rules, Seat, SeatKind, Seed, Setup, TableSettings,
    record::{self, RecordHeaders, RecordStep, StepWriter, Transcript},
};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};

use super::operations;
use crate::{
    access::Role,
    http::{
        routes::{
            games::{Created, FreshHostToken},
            join::{Joined, QuickJoined},
            rematch::Rematch,
            seats::FreshToken,
        },
        secrets::{Secret, fill},
        stream::hub::Format,
        wire::{
            advice::{Advice, AdviceSettings, SuggestionRoute},
            change::ChangeView,
            game::{ActionResponse, GameList, GameView, PresenceView, TicketResponse},
            history::{HistoryHead, LogEntryView},
            layout::{LayoutParams, LayoutView},
            moves::{LegalMoves, MovesOptions},
            rules::RulesCatalogue,
            seven::SevenView,
        },
    },
    store::{AdminChanges, JoinPolicy, LogEntry, StoredGame, Timing, TokenHash, Tokens},
};

const JSON: &str = "application/json";
const NDJSON: &str = "application/x-ndjson";
const SVG: &str = "image/svg+xml";
const SSE: &str = "text/event-stream";
const TEXT: &str = "text/plain";

/// The name of an example that is the only one.
const TYPICAL: &str = "typical";

/// The id of the game.
const ID: &str = "1y51r0ztfn8hp2zw9f8m33tzg0";

/// Turns that are played before the examples.
const TURNS: usize = 13;

/// A token or a ticket.
const TOKEN: &str = "b29ede6114c72f07a8c1d98e2bb1f06f";

/// The start of a picture; a whole one is too long to show.
const PICTURE: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 1100\">…</svg>";

/// Lines of the text record that the example shows.
const RECORD_LINES: usize = 30;

/// A few of the metrics.
const METRICS: &str = "# HELP dog_streams_open Open event streams\n\
    # TYPE dog_streams_open gauge\ndog_streams_open 3\n# EOF\n";

/// Adds an example to each successful response and to the parameters of paths.
pub fn add(document: &mut Value) {
    for operation in operations(document) {
        let id = operation["operationId"].as_str().unwrap_or_default();
        let examples = responses(id);
        let responses = operation["responses"].as_object_mut().into_iter();
        let successes = responses.flatten().filter(|(status, response)| {
            status.starts_with('2') && response["content"].is_object()
        });
        for (_, response) in successes {
            for (media_type, name, value) in &examples {
                let media = &mut response["content"][*media_type];
                media["examples"][*name] = json!({"value": value});
            }
        }
        let parameters = operation.get_mut("parameters");
        let parameters = parameters.and_then(Value::as_array_mut).into_iter();
        for parameter in parameters.flatten() {
            match parameter["name"].as_str() {
                Some("id") => parameter["example"] = json!(ID),
                Some("seat") if parameter["in"] == "path" => parameter["example"] = json!(0),
                _ => {}
            }
        }
    }
}

/// What an operation answers: an example for each media type.
fn responses(operation: &str) -> Vec<Example> {
    let game = ExampleGame::played();
    let text = |media_type, text: &str| vec![(media_type, TYPICAL, json!(text))];
    match operation {
        "list_rules" => {
            let mut catalogue = json!(RulesCatalogue::new());
            shorten(&mut catalogue["presets"], 1);
            shorten(&mut catalogue["options"], 3);
            json(catalogue)
        }
        "create_game" => {
            let mut open = ExampleGame::open().record;
            let invitation = Some(TokenHash::new(TOKEN));
            Arc::make_mut(&mut open.seating).invitation = invitation;
            vec![
                (
                    JSON,
                    TYPICAL,
                    filled(Created::new(&ExampleGame::new().record)),
                ),
                (JSON, "open_seats", filled(Created::new(&open))),
            ]
        }
        "import_game" => {
            let mut game = ExampleGame::finished();
            game.record.imported = true;
            game.record.created_at = game.record.updated_at;
            game.record.tokens.seats = BySeat::default();
            json(filled(Created::new(&game.record)))
        }
        "list_games" => {
            let mut open = ExampleGame::open().record;
            Arc::make_mut(&mut open.seating).join = JoinPolicy::Anyone;
            let played = GameList::new(&[game.record], Some("2f".to_owned()));
            vec![
                (JSON, TYPICAL, json!(played)),
                (JSON, "open_tables", json!(GameList::new(&[open], None))),
            ]
        }
        "get_game" => json(game.view(Role::Seat(anna()))),
        "get_board_picture" => text(SVG, PICTURE),
        "hand_over_seat" => game.changed(Role::Host, |game| {
            let (seat, player) = (Seat::all(4).nth(2), Player::bot("Carla", Level::Fast));
            let seat = seat.expect("there are four seats");
            game.apply(Action::HandOver { seat, player })
        }),
        "join_game" => {
            let (seat, change) = ExampleGame::open().joined();
            json(filled(Joined::new(seat, change)))
        }
        "quick_join" => {
            let (seat, change) = ExampleGame::open().joined();
            json(filled(QuickJoined::new(ID.to_owned(), seat, change)))
        }
        "get_presence" => json(PresenceView::new(
            &game.record.game,
            &BySeat::from_fn(|seat| seat < 2),
        )),
        "change_settings" => game.changed(Role::Host, |game| {
            let settings = TableSettings {
                turn_seconds: Some(60),
                bot_pace_ms: 1000,
                listed: true,
            };
            game.apply(Action::ChangeSettings { settings })
        }),
        "ask_rematch" | "get_rematch" => {
            let others = Seat::all(3).skip(1).collect();
            let next = ExampleGame::of(players(), others);
            json(Rematch::new(&next.record, Role::Seat(anna())))
        }
        "renew_host_token" => json(filled(FreshHostToken {
            token: Secret::Host,
        })),
        "reissue_token" => json(filled(FreshToken {
            seat: anna(),
            token: Secret::Seat(anna()),
            version: game.version(),
        })),
        "deal_cards" => ExampleGame::new().changed(Role::Host, ExampleGame::deal),
        "swap_cards" => ExampleGame::dealt().changed(Role::Seat(anna()), |game| game.offer(anna())),
        "play_move" => game.changed(Role::Seat(anna()), ExampleGame::play),
        "list_legal_moves" => json(game.legal_moves(Some(game.version()))),
        "suggest_move" => {
            let dealt = ExampleGame::dealt();
            vec![
                (JSON, "play", json!(game.advice(ID, Some(game.version())))),
                (
                    JSON,
                    "exchange",
                    json!(dealt.advice(ID, Some(dealt.version()))),
                ),
            ]
        }
        "analyse_legal_moves" => vec![
            (JSON, TYPICAL, json!(game.legal_moves(None))),
            (SVG, TYPICAL, json!(PICTURE)),
        ],
        "analyse_suggest_move" => vec![
            (JSON, TYPICAL, json!(game.advice("{id}", None))),
            (SVG, TYPICAL, json!(PICTURE)),
        ],
        "get_layout" => {
            let layout = LayoutParams::default().layout();
            json(LayoutView::new(&layout.expect("the defaults are allowed")))
        }
        "list_seven_parts" | "analyse_seven_parts" => json(seven_parts()),
        "get_history" => {
            let mut game = ExampleGame::dealt();
            Seat::all(2).for_each(|seat| drop(game.offer(seat)));
            game.history()
        }
        "stream_events" => game.stream(),
        "create_ticket" => json(filled(TicketResponse {
            ticket: Secret::Ticket,
            expires_at: time(6).to_string(),
        })),
        "get_health" | "get_readiness" => json(json!({"status": "ok"})),
        "list_addresses" => json(json!({"addresses": ["http://192.168.1.5:8080"]})),
        "get_metrics" => text("application/openmetrics-text", METRICS),
        "get_openapi" => json(json!({"openapi": "3.1.0", "info": {"title": "dog-server"}})),
        _ => Vec::new(),
    }
}

/// The one example of a response in JSON.
fn json(body: impl Serialize) -> Vec<Example> {
    vec![(JSON, TYPICAL, json!(body))]
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

/// Keeps the first entries of a long list.
fn shorten(list: &mut Value, length: usize) {
    if let Value::Array(entries) = list {
        entries.truncate(length);
    }
}

/// Seat 0, whose view most examples show.
fn anna() -> Seat {
    Seat::default()
}

/// A media type, the name of an example, and the example.
type Example = (&'static str, &'static str, Value);

/// The parts that may come next in a seven of two pieces.
fn seven_parts() -> SevenView {
    let rules = Rules::try_from(Preset::DogspielIt.options()).expect("a preset");
    let mut placements = vec![Placement::default(); usize::from(rules.seats)];
    placements[0].track = vec![17, 30];
    let board = Board::place(&rules, &placements).expect("a board");
    let hand = [Card::Seven].into_iter().collect();
    SevenView::new(&rules, &board, anna(), hand, "7:17>20").expect("a begun seven")
}

/// A game that is being played, and its log.
struct ExampleGame {
    record: StoredGame,
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
        ExampleGame::of(players(), Vec::new())
    }

    /// A game with an open seat.
    fn open() -> ExampleGame {
        let mut players = players();
        players[1] = Player {
            kind: SeatKind::Open,
            ..Player::human("Seat 1")
        };
        ExampleGame::of(players, Vec::new())
    }

    fn of(players: Vec<Player>, awaited: Vec<Seat>) -> ExampleGame {
        let game = Game::new(Setup {
            rules: Preset::Hausregeln.rules(),
            players,
            first_dealer: Seat::new(3, 4),
            seed: Seed::new([2; 32]),
            seed_given: false,
            awaited,
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
        let record = StoredGame {
            id: ID.parse().expect("it is an id"),
            listed: true,
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
            admin_changes: AdminChanges::default(),
            deadline: None,
            game: Arc::new(game),
        };
        let log = vec![creation];
        ExampleGame { record, log }
    }

    /// The game in its first exchange.
    fn dealt() -> ExampleGame {
        let mut game = ExampleGame::new();
        game.deal();
        game
    }

    /// The game in the middle of its first round, when seat 0 is to move.
    fn played() -> ExampleGame {
        let mut game = ExampleGame::dealt();
        Seat::all(4).for_each(|seat| drop(game.offer(seat)));
        (0..TURNS).for_each(|_| drop(game.play()));
        game
    }

    /// The game when it is over.
    fn finished() -> ExampleGame {
        let mut game = ExampleGame::new();
        loop {
            match game.record.game.phase() {
                Phase::Seating | Phase::Deal => game.deal(),
                Phase::Exchange => {
                    let state = &game.record.game;
                    let mut waiting =
                        Seat::all(4).filter(|&seat| state.pending_action(seat).is_some());
                    let seat = waiting.next().expect("an exchange waits for a seat");
                    game.offer(seat)
                }
                Phase::Play => game.play(),
                Phase::Finished => return game,
            };
        }
    }

    /// The beginning of the text record.
    fn text(&self) -> String {
        let about = RecordHeaders {
            game: Some(ID.to_owned()),
            created: Some(self.record.created_at.to_string()),
            ended: Some(self.record.updated_at.to_string()),
        };
        let head = Transcript::without_steps(&self.record.game, about);
        let mut text = head.expect("a finished game has a record").to_string();
        let mut writer = StepWriter::default();
        for entry in &self.log {
            if let Some(step) = RecordStep::of(
                record::RecordFormat::One,
                entry.action.as_ref(),
                &entry.events,
            ) {
                writer
                    .write(&mut text, &step)
                    .expect("texts can be written to");
            }
        }
        let lines = text.lines().take(RECORD_LINES);
        lines.chain(["…"]).map(|line| format!("{line}\n")).collect()
    }

    fn version(&self) -> u64 {
        self.record.game.version()
    }

    /// Carries out an action; the events of it.
    fn apply(&mut self, action: Action) -> Vec<Event> {
        let game = Arc::make_mut(&mut self.record.game);
        let events = game.apply(&action).expect("the example plays by the rules");
        let (version, at) = (game.version(), time(game.version()));
        self.record.updated_at = at;
        self.log.push(LogEntry {
            version,
            at,
            action: Some(action),
            events: events.clone(),
        });
        events
    }

    fn deal(&mut self) -> Vec<Event> {
        self.apply(Action::Deal { by: None })
    }

    /// Offers the seat's first card.
    fn offer(&mut self, seat: Seat) -> Vec<Event> {
        let card = self.record.game.hand(seat).sorted().next();
        let card = card.expect("nobody has given a card yet");
        self.apply(Action::Offer { seat, card })
    }

    /// Plays the first of the moves that bring most pieces home, for the seat to move.
    fn play(&mut self) -> Vec<Event> {
        let seat = self.record.game.turn().expect("a seat is to move");
        let view = self.record.game.seen_from(seat);
        let home = |legal: &LegalMove| MoveEffect::of(&view, &legal.outcome).pieces_home;
        let moves = self.moves_of(seat).into_iter();
        let best = moves.rev().max_by_key(home);
        let mv = best.expect("a seat to move has a move").mv;
        self.apply(Action::Play { seat, mv })
    }

    fn moves_of(&self, seat: Seat) -> Vec<LegalMove> {
        let game = &self.record.game;
        let mut generator = Generator::new();
        generator.legal_moves(game.rules(), game.board(), seat, game.hand(seat))
    }

    /// The game as this role sees it.
    fn view(&self, role: Role) -> GameView {
        GameView::new(&self.record, role)
    }

    /// The entries of the log as seat 0 sees them.
    fn entries(&self) -> Vec<LogEntryView> {
        let game = &self.record.game;
        let (rules, viewer) = (game.rules(), Role::Seat(anna()).viewer(game));
        let entries = self.log.iter();
        let entries = entries.map(|entry| LogEntryView::new(rules, entry, viewer));
        entries.collect()
    }

    /// The response to an action of this role.
    fn changed(
        mut self,
        role: Role,
        act: impl FnOnce(&mut ExampleGame) -> Vec<Event>,
    ) -> Vec<Example> {
        let events = act(&mut self);
        json(ActionResponse::new(&self.record, &events, role))
    }

    /// Somebody takes the open seat.
    fn joined(mut self) -> (Seat, ActionResponse) {
        let seat = anna().next(4);
        let name = "Beat".to_owned();
        let events = self.apply(Action::Join { seat, name });
        let changed = ActionResponse::new(&self.record, &events, Role::Seat(seat));
        (seat, changed)
    }

    /// The list of legal moves of seat 0.
    fn legal_moves(&self, version: Option<u64>) -> LegalMoves {
        let game = &self.record.game;
        let (rules, board) = (game.rules(), game.board());
        let moves = LegalMoves::new(
            version,
            rules,
            board,
            anna(),
            game.hand(anna()),
            MovesOptions {
                card: None,
                with_boards: true,
            },
        );
        moves.expect("a seat to move has a list")
    }

    /// Advice for seat 0, with numbers as a search may find them.
    fn advice(&self, id: &str, version: Option<u64>) -> Advice {
        let view = self.record.game.seen_from(anna());
        let numbers = [0.5642, 0.5388, 0.5127];
        let suggestion = |(choice, outcome), win_probability| Suggestion {
            choice,
            outcome,
            win_probability,
            standard_error: Some(0.0061),
            samples: 2_800,
            risk: outcome.map(|_| 0.0312),
        };
        let choices: Vec<_> = match self.record.game.phase() {
            Phase::Exchange => {
                let cards = view.hand.ranks();
                cards.map(|card| (Choice::Offer(card), None)).collect()
            }
            _ => {
                let moves = self.moves_of(anna()).into_iter();
                moves
                    .map(|legal| (Choice::Play(legal.mv), Some(legal.outcome)))
                    .collect()
            }
        };
        let suggestions = choices.into_iter().zip(numbers);
        let suggestions = suggestions.map(|(choice, number)| suggestion(choice, number));
        let settings = AdviceSettings {
            level: Level::Strong,
            budget: Some(Budget::Time(Duration::from_millis(200))),
            seed: 1,
        };
        let target = SuggestionRoute {
            game: format!("/v1/games/{id}"),
            version,
        };
        Advice::new(&target, &view, &settings, suggestions.collect(), 200.4).expect("advice")
    }

    /// The history of the game in each format.
    fn history(&self) -> Vec<Example> {
        let head = json!(HistoryHead::of(&self.record));
        let entries = json!(self.entries());
        let mut whole = head.clone();
        whole["entries"] = entries.clone();
        vec![
            (JSON, TYPICAL, whole),
            (NDJSON, "first_line", head),
            (NDJSON, "later_line", entries[1].clone()),
            (TEXT, TYPICAL, json!(ExampleGame::finished().text())),
        ]
    }

    /// The first messages of a stream, in each format.
    fn stream(mut self) -> Vec<Example> {
        let message = |name, version, body: &Value| {
            let message = Format::Sse.message(name, version, body);
            let message = message.expect("a message is JSON");
            json!(str::from_utf8(&message).expect("a message is text"))
        };
        let game = json!(self.view(Role::Seat(anna())));
        let first = self.version();
        self.play();
        let entry = self.entries().pop().expect("there is an entry");
        let change = ChangeView::last(entry, &self.record, None, Role::Seat(anna()));
        let change = json!(change.expect("a change is JSON"));
        vec![
            (SSE, "first_message", message("game", first, &game)),
            (SSE, "later_message", message("change", first + 1, &change)),
            (NDJSON, "first_line", game),
            (NDJSON, "later_line", change),
        ]
    }
}

/// The time of a version.
fn time(version: u64) -> Timestamp {
    let created: Timestamp = "2026-03-14T18:30:00.25Z".parse().expect("it is a time");
    created + SignedDuration::from_secs(7 * (version as i64 - 1))
}
