//! The records of `tests/records`, which other tests and the reference verifier read too.

use std::{
    fs,
    path::{Path, PathBuf},
};

use dog_rules::{
    EventKind, Level, Player, Rules, SeatKind, Seed, Setup,
    record::{ParsedRecord, RecordFormat, RecordHeaders, Replayed},
};
use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha8Rng};

use super::{position::seat, random_people::RandomGame, record::exported};

/// Records of format 1, and their rules.
const FORMAT_1: [(&str, &str); 3] = [
    ("four.dog", "dogspiel-it"),
    ("six.dog", "hausregeln exchange=optional seats=6"),
    (
        "mixed.dog",
        "spielanleitung deal_sizes={\"first\":[7,1],\"then\":[4]} exchange=optional seven_partner=always",
    ),
];

/// Records of format 2: a game that began with open seats, a rematch, and a game that was given up.
const JOINED: (&str, &str) = (
    "joined.dog",
    "hausregeln capture_own=false reshuffle=before_deal",
);
const REMATCH: (&str, &str) = ("rematch.dog", "dogspiel-it seats=6");
const FORFEIT: (&str, &str) = ("forfeit.dog", "dogspiel-it");

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
    let format_2 = [JOINED, REMATCH, FORFEIT].map(|record| (record, RecordFormat::Two));
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
        let again = exported(about(), &replayed);
        assert_eq!(again.to_string(), text, "{file}");
    }
}

/// Plays the games of format 2 anew, after a change of format: `cargo test -p dog-rules --test rules
/// -- --ignored write_the_records`.
#[test]
#[ignore = "writes tests/records: \
            cargo test -p dog-rules --test rules -- --ignored write_the_records"]
fn write_the_records() {
    for (number, (file, rules)) in (13..).zip([JOINED, REMATCH, FORFEIT]) {
        let mut rng = ChaCha8Rng::seed_from_u64(number);
        let played = loop {
            let setup = set_up(&mut rng, rules);
            let played = RandomGame::to_the_end(&mut rng, setup);
            if (file == FORFEIT.0) == (played.game.round() > 2 && is_given_up(&played)) {
                break played;
            }
        };
        let transcript = exported(about(), &played);
        fs::write(path(file), transcript.to_string()).expect("a file");
    }
}

fn is_given_up(played: &Replayed) -> bool {
    let mut events = played.log.iter().flat_map(|entry| &entry.events);
    events.any(|event| matches!(event.what, EventKind::TeamForfeited { .. }))
}

fn about() -> RecordHeaders {
    RecordHeaders {
        game: Some("06zgrb0wmrqk9y7ttx2vbkhq1r".to_owned()),
        created: Some("2026-11-22T09:30:00.125Z".to_owned()),
        ended: Some("2026-11-22T10:15:30.25Z".to_owned()),
    }
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

fn bot() -> Player {
    Player::bot("Bot; of the house", Level::Greedy)
}
