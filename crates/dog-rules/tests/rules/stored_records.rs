//! The records of `tests/records`, which other tests and the reference verifier read too.

use std::{
    fs,
    path::{Path, PathBuf},
};

use dog_rules::{
    Action, Actor, Event, Game, Level, Phase, Player, Rules, Seat, SeatKind, Seed, Setup,
    TableSettings,
    record::{ParsedRecord, RecordFormat, RecordHeaders, RecordStep, ReplayedEntry, Transcript},
};
use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha8Rng, seq::IndexedRandom};

use super::position::seat;

/// Records of format 1, and their rules.
const FORMAT_1: [(&str, &str); 3] = [
    ("four.dog", "dogspiel-it"),
    ("six.dog", "hausregeln exchange=optional seats=6"),
    (
        "mixed.dog",
        "spielanleitung deal_sizes={\"first\":[7,1],\"then\":[4]} exchange=optional seven_partner=always",
    ),
];

/// Records of format 2: a game that began with open seats, and a rematch.
const JOINED: (&str, &str) = (
    "joined.dog",
    "hausregeln capture_own=false reshuffle=before_deal",
);
const REMATCH: (&str, &str) = ("rematch.dog", "dogspiel-it seats=6");

const NAMES: [&str; 6] = [
    "Anna",
    "Beat",
    "Carla \"the dog\" Kern",
    "Dani",
    "Eva",
    "Fritz",
];

fn path(record: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/records");
    folder.join(record)
}

#[test]
fn the_records_are_what_is_written_today() {
    let format_1 = FORMAT_1.map(|record| (record, RecordFormat::One));
    let format_2 = [JOINED, REMATCH].map(|record| (record, RecordFormat::Two));
    for ((file, rules), format) in format_1.into_iter().chain(format_2) {
        let text = fs::read_to_string(path(file)).expect("a record");
        let written = ParsedRecord::read(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(written.transcript.to_string(), text, "{file}");
        let setup = &written.transcript.setup;
        assert_eq!(setup.rules, rules.parse().expect("rules"));
        let replayed = written.replay();
        let replayed = replayed.unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(replayed.check_finished(), Ok(()));
        assert_eq!(
            (
                written.transcript.format,
                RecordFormat::for_game(&replayed.game)
            ),
            (format, format)
        );

        // The replayed log is written as the same record.
        let step = |entry: &ReplayedEntry| {
            RecordStep::from_entry(format, entry.action.as_ref(), &entry.events)
        };
        let steps = replayed.log.iter();
        let again = Transcript {
            steps: steps.filter_map(step).collect(),
            ..Transcript::without_steps(&replayed.game, about()).expect("a finished game")
        };
        assert_eq!(again.to_string(), text, "{file}");
    }
}

/// Plays the games of format 2 anew, after a change of format: `cargo test -p dog-rules --test rules
/// -- --ignored write_the_records`.
#[test]
#[ignore = "writes tests/records: \
            cargo test -p dog-rules --test rules -- --ignored write_the_records"]
fn write_the_records() {
    for (number, (file, rules)) in (13..).zip([JOINED, REMATCH]) {
        let mut rng = ChaCha8Rng::seed_from_u64(number);
        let setup = set_up(&mut rng, rules);
        let transcript = PlayedGame::at_random(&mut rng, setup).transcript();
        fs::write(path(file), transcript.to_string()).expect("a file");
    }
}

fn about() -> RecordHeaders {
    RecordHeaders {
        game: Some("06zgrb0wmrqk9y7ttx2vbkhq1r".to_owned()),
        created: Some("2026-11-22T09:30:00.125Z".to_owned()),
        ended: Some("2026-11-22T10:15:30.25Z".to_owned()),
    }
}

/// A game and its log.
struct PlayedGame {
    game: Game,
    log: Vec<(Action, Vec<Event>)>,
}

impl PlayedGame {
    /// Does this, unless it is refused.
    fn act(&mut self, action: Action, actor: Actor) {
        if let Ok(events) = self.game.apply_by(&action, actor) {
            self.log.push((action, events));
        }
    }

    /// A random game to its end, in which people come, go and are away.
    fn at_random(rng: &mut impl Rng, setup: Setup) -> PlayedGame {
        let mut played = PlayedGame {
            game: Game::new(setup),
            log: Vec::new(),
        };
        while played.game.phase() != Phase::Finished {
            let game = &played.game;
            let (action, actor) = match game.phase() {
                Phase::Seating => sit_down(rng, game),
                _ if rng.random_ratio(1, 24) => change(rng, game),
                Phase::Deal if rng.random_ratio(1, 3) => (Action::Deal { by: None }, Actor::Server),
                _ => {
                    let action = in_order(rng, game);
                    let is_away = action.seat().is_some_and(|seat| game.is_away(seat));
                    let by_clock = rng.random_bool(if is_away { 0.7 } else { 0.15 });
                    (
                        action,
                        if by_clock {
                            Actor::Clock
                        } else {
                            Actor::Player
                        },
                    )
                }
            };
            played.act(action, actor);
        }
        played
    }

    fn transcript(&self) -> Transcript {
        let format = RecordFormat::for_game(&self.game);
        let step = |(action, events): &(Action, Vec<Event>)| {
            RecordStep::from_entry(format, Some(action), events)
        };
        Transcript {
            steps: self.log.iter().filter_map(step).collect(),
            ..Transcript::without_steps(&self.game, about()).expect("a finished game")
        }
    }
}

/// A random legal action, sometimes the one that brings the most pieces home.
fn in_order(rng: &mut impl Rng, game: &Game) -> Action {
    let seat = game.seats_to_act().next().expect("a game that is on");
    let actions = game.legal_actions(seat);
    let home = |action: &&Action| {
        let mut after = game.clone();
        after.apply(action).expect("a legal action");
        let goals = [seat, seat.partner(game.rules().seats)].map(|seat| after.board().goal(seat));
        goals.map(u8::count_ones).iter().sum::<u32>()
    };
    let chosen = match game.phase() == Phase::Play && rng.random_bool(0.5) {
        true => actions.iter().max_by_key(home),
        false => actions.choose(rng),
    };
    chosen.expect("an action").clone()
}

/// Four seats, two of them open and one a bot's; or a rematch of six, one of them a bot.
fn set_up(rng: &mut impl Rng, rules: &str) -> Setup {
    let rules: Rules = rules.parse().expect("rules");
    let is_rematch = rules.seats == 6;
    let names = &NAMES[..usize::from(rules.seats)];
    let mut players: Vec<Player> = names.iter().map(|name| Player::human(*name)).collect();
    players[3] = bot();
    if !is_rematch {
        for open in [1, 2] {
            players[open] = open_seat();
        }
    }
    Setup {
        players,
        first_dealer: is_rematch.then(|| seat(4)),
        seed: Seed::new(rng.random()),
        seed_given: false,
        must_confirm: match is_rematch {
            true => [0, 1, 2, 4, 5].map(seat).to_vec(),
            false => Vec::new(),
        },
        rules,
    }
}

fn open_seat() -> Player {
    Player {
        kind: SeatKind::Open,
        ..Player::human("")
    }
}

/// Somebody who is missing comes, or does not.
fn sit_down(rng: &mut impl Rng, game: &Game) -> (Action, Actor) {
    let missing =
        |seat: &Seat| game.player(*seat).kind == SeatKind::Open || game.awaits_confirmation(*seat);
    let missing: Vec<Seat> = Seat::all(game.rules().seats).filter(missing).collect();
    let seat = *missing.choose(rng).expect("a game in the seating");
    let player = bot();
    let is_open = game.player(seat).kind == SeatKind::Open;
    match rng.random_range(0..10) {
        0 => (Action::HandOver { seat, player }, Actor::Server),
        1 => (Action::HandOver { seat, player }, Actor::Player),
        2 if !is_open => {
            let player = open_seat();
            (Action::ChangeSeat { seat, player }, Actor::Player)
        }
        _ if is_open => {
            let name = name(seat).to_owned();
            (Action::Join { seat, name }, Actor::Player)
        }
        _ => (Action::AskRematch { seat }, Actor::Player),
    }
}

fn name(seat: Seat) -> &'static str {
    NAMES[usize::from(seat.number())]
}

fn bot() -> Player {
    Player::bot("Bot; of the house", Level::Greedy)
}

/// What the host, the server, or a seat's own person may do in a game that has begun.
fn change(rng: &mut impl Rng, game: &Game) -> (Action, Actor) {
    let seat = seat(rng.random_range(0..game.rules().seats));
    let human = || Player::human(name(seat));
    let becomes = |player| (Action::ChangeSeat { seat, player }, Actor::Player);
    let handed = |player, actor| (Action::HandOver { seat, player }, actor);
    let settings = TableSettings {
        turn_seconds: rng.random_bool(0.5).then_some(30),
        bot_pace_ms: 250,
        listed: rng.random(),
        reactions: rng.random(),
    };
    let choice = rng.random_range(0..10);
    match (game.player(seat).kind, choice) {
        (_, 0) => (Action::ChangeSettings { settings }, Actor::Player),
        (_, 1) => (Action::ReissueToken { seat }, Actor::Player),
        (SeatKind::Open, 2) => handed(bot(), Actor::Server),
        (SeatKind::Open, _) => {
            let name = name(seat).to_owned();
            (Action::Join { seat, name }, Actor::Player)
        }
        (SeatKind::Bot, 2..4) => handed(open_seat(), Actor::Player),
        (SeatKind::Bot, 4) => handed(human(), Actor::Player),
        (SeatKind::Bot, _) => becomes(human()),
        (SeatKind::Human, 2..5) => becomes(bot()),
        (SeatKind::Human, 5) => becomes(open_seat()),
        (SeatKind::Human, 6) => handed(open_seat(), Actor::Player),
        (SeatKind::Human, 7) => handed(bot(), Actor::Player),
        (SeatKind::Human, 8) => becomes(Player::human(format!("{} B.", name(seat)))),
        (SeatKind::Human, _) => (Action::RenewToken { seat }, Actor::Player),
    }
}
