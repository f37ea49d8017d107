//! `dog verify`: the records of `tests/records`, histories made of them, and what is found when
//! somebody changes them.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use dog_rules::{
    event::Action,
    game::{Game, Phase, Setup},
    moves::{Generator, LegalMove},
    options::Rules,
    player::{Level, Player},
    record::{About, Replayed, Step, Transcript, Written},
    seat::Seat,
    shuffle::Seed,
};
use dog_server::api::history::{HistoryHead, LogEntryView};
use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha8Rng, seq::IndexedRandom};
use serde_json::{Value, json};

/// The records that are kept, by what rules.
const RECORDS: [(&str, &str); 3] = [
    ("four.dog", "dogspiel-it"),
    ("six.dog", "hausregeln seats=6"),
    (
        "mixed.dog",
        "spielanleitung deal_sizes={\"first\":[7,1],\"then\":[4]} exchange=optional seven_partner=always",
    ),
];

fn path(record: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    folder.join(record)
}

fn text(record: &str) -> String {
    fs::read_to_string(path(record)).expect("a record")
}

fn replayed(text: &str) -> Replayed {
    let written = Written::read(text).expect("a record");
    written.replay().expect("a game")
}

#[test]
fn the_records_are_what_is_written_today() {
    for (file, rules) in RECORDS {
        let text = text(file);
        let written = Written::read(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(written.transcript.to_string(), text, "{file}");
        assert_eq!(
            written.transcript.setup.rules,
            rules.parse().expect("rules")
        );
        let replayed = written.replay();
        let replayed = replayed.unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(replayed.check_finished(), Ok(()));
    }
}

/// Plays the games that are kept: `cargo test --test commands -- --ignored write_the_records` after a
/// change of format.
#[test]
#[ignore = "writes tests/records"]
fn write_the_records() {
    for (number, (file, rules)) in (1..).zip(RECORDS) {
        let mut rng = ChaCha8Rng::seed_from_u64(number);
        let transcript = play(&mut rng, rules);
        fs::write(path(file), transcript.to_string()).expect("a file");
    }
}

/// A random game that comes to its end, with everything that may happen on the way.
fn play(rng: &mut impl Rng, rules: &str) -> Transcript {
    let names = [
        "Anna",
        "Beat",
        "Carla \"the dog\" Kern",
        "Dani",
        "Eva",
        "Fritz",
    ];
    let rules: Rules = rules.parse().expect("rules");
    let names = &names[..usize::from(rules.seats)];
    let mut game = Game::new(Setup {
        players: names.iter().map(|name| Player::human(*name)).collect(),
        rules,
        first_dealer: None,
        seed: Seed::new(rng.random()),
        seed_given: false,
    });
    let mut log = vec![(None, vec![game.last_event().clone()])];
    let mut generator = Generator::new();
    while game.phase() != Phase::Finished {
        let action = match rng.random_range(0..80) {
            0 => Action::ReissueToken {
                seat: Seat::default(),
            },
            1 => Action::HandOver {
                seat: Seat::default().next(game.rules().seats),
                player: Player::bot("Bot; of the house", Level::Greedy),
            },
            _ => in_order(rng, &game, &mut generator),
        };
        if let Ok(events) = game.apply(&action) {
            log.push((Some(action), events));
        }
    }
    let about = About {
        game: Some("06zgrb0wmrqk9y7ttx2vbkhq1r".to_owned()),
        created: Some("2026-11-22T09:30:00.125Z".to_owned()),
        ended: Some("2026-11-22T10:15:30.25Z".to_owned()),
    };
    let steps = log
        .iter()
        .filter_map(|(action, events)| Step::of(action.as_ref(), events));
    Transcript {
        steps: steps.collect(),
        ..Transcript::without_steps(&game, about).expect("a finished game")
    }
}

fn in_order(rng: &mut impl Rng, game: &Game, generator: &mut Generator) -> Action {
    let seats = game.rules().seats;
    match game.phase() {
        Phase::Deal => Action::Deal {
            by: rng.random_bool(0.8).then_some(game.dealer()),
        },
        Phase::Exchange => {
            let mut open = Seat::all(seats).filter(|&seat| game.check_exchange(seat).is_ok());
            let seat = open.next().expect("somebody has not answered");
            let hand: Vec<_> = game.hand(seat).kinds().collect();
            match rng.random_range(0..8) {
                0 => Action::Ask { seat },
                1 => Action::Decline { seat },
                _ => Action::Offer {
                    seat,
                    card: *hand.choose(rng).expect("a card"),
                },
            }
        }
        _ => {
            let seat = game.turn().expect("a seat is to move");
            let hand = game.hand(seat);
            let moves = generator.legal_moves(game.rules(), game.board(), seat, hand);
            let home = |legal: &&LegalMove| {
                let goals = [seat, seat.partner(seats)].map(|seat| legal.board.goal(seat));
                goals.map(u8::count_ones).iter().sum::<u32>()
            };
            let chosen = match rng.random_bool(0.5) {
                true => moves.iter().max_by_key(home),
                false => moves.choose(rng),
            };
            let mv = chosen.expect("a move").mv;
            Action::Play { seat, mv }
        }
    }
}

/// Runs the command with a text on its standard input.
fn dog_verify(text: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dog"));
    let command = command.args(["verify", "-"]).stdin(Stdio::piped());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("dog starts");
    let mut input = child.stdin.take().expect("its input");
    input.write_all(text.as_bytes()).expect("it reads");
    drop(input);
    child.wait_with_output().expect("dog ends")
}

fn dog_verify_file(file: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dog"));
    command
        .arg("verify")
        .arg(file)
        .output()
        .expect("dog starts")
}

/// What a good game is told to be.
#[track_caller]
fn good(output: Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    String::from_utf8(output.stdout).expect("a text")
}

/// The differences that are named, and the one line of the error.
#[track_caller]
fn bad(output: Output) -> (String, String) {
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    (String::from_utf8(output.stdout).expect("a text"), error)
}

/// A history as the server answers it.
fn history(record: &str) -> Value {
    let Replayed { game, log } = replayed(&text(record));
    let known = |name: &str| format!("some {name}");
    let head = HistoryHead::new(&game, known("id"), known("time"), known("time"));
    let mut history = json!(head);
    let entries = log.into_iter().map(|entry| {
        let events = entry.events;
        json!(LogEntryView::in_full(
            game.rules(),
            entry.version,
            known("time"),
            events
        ))
    });
    history["entries"] = entries.collect();
    history
}

/// The same as lines.
fn ndjson(mut history: Value) -> String {
    let entries = history
        .as_object_mut()
        .and_then(|head| head.remove("entries"));
    let mut lines = vec![history.to_string()];
    for entry in entries
        .iter()
        .flat_map(|entries| entries.as_array())
        .flatten()
    {
        lines.push(entry.to_string());
    }
    lines.join("\n") + "\n"
}

#[test]
fn good_games_are_summed_up() {
    for (file, rules) in RECORDS {
        let of_text = good(dog_verify_file(&path(file)));
        for says in [
            rules,
            "commitment  holds\n",
            "are what the seed and the rules make of them\n",
        ] {
            assert!(of_text.contains(says), "{of_text}");
        }
        assert!(
            of_text.starts_with("game        06zgrb0wmrqk9y7ttx2vbkhq1r\n"),
            "{of_text}"
        );
        let history = history(file);
        let rest = |summary: String| summary.split_once('\n').expect("lines").1.to_owned();
        let of_json = good(dog_verify(&history.to_string()));
        assert!(of_json.starts_with("game        some id\n"), "{of_json}");
        let of_text = rest(of_text);
        assert_eq!(rest(of_json), of_text);
        assert_eq!(rest(good(dog_verify(&ndjson(history)))), of_text);
    }
}

#[test]
fn bad_records_are_refused_with_their_line() {
    let text = text("four.dog");
    let (_, error) = bad(dog_verify(&text.replacen("\n0 ", "\n1 ", 1)));
    assert!(error.contains("-: line "), "{error}");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("short.dog");
    let short: Vec<&str> = text.lines().take(30).collect();
    fs::write(&file, short.join("\n")).expect("a file");
    let (_, error) = bad(dog_verify_file(&file));
    assert!(
        error.contains("short.dog: line 30: the record ends here"),
        "{error}"
    );
    let unfinished = short.join("\n").replace("[Winner", ";");
    let (_, error) = bad(dog_verify(&unfinished));
    assert!(error.contains("the game is not over"), "{error}");
}

#[test]
fn what_cannot_be_read_is_refused_in_one_line() {
    let (_, error) = bad(dog_verify_file(Path::new("no/such/file")));
    assert!(error.contains("no/such/file: "), "{error}");
    bad(dog_verify_file(Path::new(".")));
    let latin = Path::new(env!("CARGO_TARGET_TMPDIR")).join("latin.dog");
    fs::write(&latin, b"[Dog \"1\"]\n[Seat0 \"Ren\xe9\"]\n").expect("a file");
    let (_, error) = bad(dog_verify_file(&latin));
    assert!(error.contains("latin.dog: "), "{error}");
    for (text, says) in [
        ("", "a record begins with"),
        ("{", "no JSON"),
        ("{}", "the head of the history: missing field"),
        ("{} 5 {", "no JSON"),
    ] {
        let (_, error) = bad(dog_verify(text));
        assert!(error.contains(says), "{text}: {error}");
    }
    let mut history = history("four.dog");
    history["shuffle_seed"] = Value::Null;
    let (_, error) = bad(dog_verify(&history.to_string()));
    assert!(
        error.contains("the seed is not published: the game is not over"),
        "{error}"
    );
}

/// The place of the first event of this type, and its version.
fn first(history: &Value, kind: &str) -> (String, u64) {
    let entries = history["entries"].as_array().expect("entries");
    for (index, entry) in entries.iter().enumerate() {
        let events = entry["events"].as_array().expect("events");
        let found = events.iter().position(|event| event["type"] == kind);
        if let Some(event) = found {
            let path = format!("/entries/{index}/events/{event}");
            return (path, entry["version"].as_u64().expect("a version"));
        }
    }
    panic!("no {kind}");
}

#[test]
fn every_field_of_every_event_is_compared() {
    let history = history("six.dog");
    for (kind, field, other) in [
        ("game_created", "/dealer", json!(9)),
        ("cards_dealt", "/hands/2/1", json!("no card")),
        ("cards_dealt", "/hands/5", Value::Null),
        ("cards_dealt", "/size", json!(1)),
        ("cards_dealt", "/round", json!(7)),
        ("cards_dealt", "/dealer", json!(9)),
        ("cards_dealt", "/beginner", json!(9)),
        ("cards_dealt", "/reshuffled", json!(true)),
        ("cards_swapped", "/given/0/card", Value::Null),
        ("cards_swapped", "/given/1/seat", json!(9)),
        ("play_began", "/turn", json!(9)),
        ("card_played", "/move/card", json!("3")),
        ("card_played", "/move/as", json!("3")),
        ("card_played", "/move/kind", json!("fold")),
        ("card_played", "/move/seat", json!(9)),
        (
            "card_played",
            "/move/captures",
            json!([{"seat": 1, "from": "5"}]),
        ),
        ("card_played", "/move/parts/0/to", json!("90")),
        ("card_played", "/move/board/0/kennel", json!(9)),
        ("hand_folded", "/cards/0", json!("no card")),
        ("round_ended", "/round", json!(9)),
        ("game_won", "/team", json!(9)),
        ("game_won", "/shuffle_seed", json!("00")),
    ] {
        let (event, version) = first(&history, kind);
        let mut changed = history.clone();
        let value = changed.pointer_mut(&format!("{event}{field}"));
        let value = value.unwrap_or_else(|| panic!("{event}{field}"));
        let known = std::mem::replace(value, other.clone());
        let (says, error) = bad(dog_verify(&changed.to_string()));
        let place = event.split_once("/events").expect("a path").1;
        let begin = format!("version {version} /events{place}{field}: {other} should be {known}");
        let begin: String = begin.chars().take(80).collect();
        assert!(says.starts_with(&begin), "{says}\n{begin}");
        assert!(error.contains("-: 1 difference"), "{error}");
        assert_eq!(bad(dog_verify(&ndjson(changed))).0, says);
    }
}

#[test]
fn changed_histories_are_named() {
    let history = history("six.dog");
    let found = |changed: &Value, says: &str| {
        let (differences, error) = bad(dog_verify(&changed.to_string()));
        assert!(
            differences.starts_with(says),
            "{differences}{error}\n{says}"
        );
        differences
    };
    let with = |path: &str, value: Value, says: &str| {
        let mut changed = history.clone();
        *changed.pointer_mut(path).expect(path) = value;
        found(&changed, says)
    };
    with("/winner", json!(9), "/winner: 9 should be ");
    with("/version", json!(3), "/version: 3 should be ");
    let zeros = "0".repeat(64);
    with(
        "/shuffle_commitment",
        json!(zeros),
        "/shuffle_commitment: SHA-256 of the seed is ",
    );
    with(
        "/shuffle_seed",
        json!(zeros),
        "/shuffle_commitment: SHA-256 of the seed is ",
    );
    with(
        "/players/0/seat",
        json!(1),
        "/players/0/seat: 1 should be 0",
    );
    let dealer = (history["first_dealer"].as_u64().expect("a seat") + 1) % 6;
    with(
        "/first_dealer",
        json!(dealer),
        "version 1 /events/0/dealer: ",
    );

    // Another legal card to give, or move, changes what follows; an illegal one ends it.
    let (event, version) = first(&history, "card_offered");
    let card = history.pointer(&format!("{event}/card")).expect("a card");
    let other = if card == "A" { "joker" } else { "A" };
    let refused =
        format!("version {version} /events/0: that is refused: there is no {other} in the hand");
    let holds = history
        .pointer("/entries/1/events/0/hands")
        .expect("hands")
        .to_string();
    if !holds.contains(other) {
        with(&format!("{event}/card"), json!(other), &refused);
    }
    let (event, version) = first(&history, "card_played");
    let refused = format!("version {version} /events/0: that is refused: ");
    with(&format!("{event}/move/id"), json!("J:1<>2"), &refused);
    with(
        &format!("{event}/seat"),
        json!(9),
        &format!("version {version} /events/0: there is no seat 9"),
    );
    let none = format!("version {version} /events/0: that tells of no action: ");
    with(&event, json!({"type": "round_ended", "round": 1}), &none);
    with(&event, json!(5), &none);
    let entry = format!("/entries/{}", version - 1);
    with(&entry, json!([]), &none);

    // Entries that are missing, doubled or appended; fields that are.
    let mut changed = history.clone();
    let entries = changed["entries"].as_array_mut().expect("entries");
    let last = entries.pop().expect("the last");
    let versions = entries.len();
    let first = entries[1].clone();
    found(
        &changed,
        &format!(
            "/shuffle_seed: {} should be null\n/version: {} should be {versions}",
            history["shuffle_seed"],
            versions + 1
        ),
    );
    let entries = changed["entries"].as_array_mut().expect("entries");
    entries.extend([last, first.clone()]);
    found(
        &changed,
        &format!(
            "version {} /events/0: that is refused: the game is over",
            versions + 2
        ),
    );
    let mut changed = history.clone();
    changed["entries"]
        .as_array_mut()
        .expect("entries")
        .insert(1, first);
    found(
        &changed,
        "version 3 /events/0: that is refused: this is for the deal phase",
    );
    let mut changed = history.clone();
    changed["entries"][0]["extra"] = json!(1);
    changed["rules"]
        .as_object_mut()
        .expect("rules")
        .remove("jokers");
    let (_, error) = bad(dog_verify(&changed.to_string()));
    assert!(error.contains("missing field `jokers`"), "{error}");
    changed["rules"]["jokers"] = history["rules"]["jokers"].clone();
    changed["entries"][1]["events"][0]
        .as_object_mut()
        .expect("an event")
        .remove("size");
    let says = found(
        &changed,
        "version 1 /extra: there is no such field\nversion 2 /events/0/size: ",
    );
    assert_eq!(says.lines().count(), 2, "{says}");
}
