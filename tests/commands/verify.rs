//! `dog verify`: the records of `tests/records`, and what is reported if they are altered.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use dog_rules::{
    Action, Game, Level, Phase, Player, Rules, Seat, Seed, Setup,
    record::{RecordFormat, RecordHeaders, RecordStep, Transcript},
};
use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha8Rng, seq::IndexedRandom};

/// The stored records of format 1, and their rules.
const FORMAT_1: [(&str, &str); 3] = [
    ("four.dog", "dogspiel-it"),
    ("six.dog", "hausregeln exchange=optional seats=6"),
    (
        "mixed.dog",
        "spielanleitung deal_sizes={\"first\":[7,1],\"then\":[4]} exchange=optional seven_partner=always",
    ),
];

/// Those of format 2, which a test of the crate `dog-rules` writes, and an option of their rules.
const FORMAT_2: [(&str, &str); 3] = [
    ("joined.dog", "before_deal"),
    ("rematch.dog", "seats=6"),
    ("forfeit.dog", "dogspiel-it"),
];

fn path(record: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    folder.join(record)
}

fn text(record: &str) -> String {
    fs::read_to_string(path(record)).expect("a record")
}

/// Plays the stored games of format 1 anew: `cargo test --test commands -- --ignored write_the_records`, after
/// a change of format.
#[test]
#[ignore = "writes tests/records: cargo test --test commands -- --ignored write_the_records"]
fn write_the_records() {
    for (number, (file, rules)) in (1..).zip(FORMAT_1) {
        let mut rng = ChaCha8Rng::seed_from_u64(number);
        let seed = Seed::new(rng.random());
        let transcript = play(&mut rng, rules, seed, None);
        fs::write(path(file), transcript.to_string()).expect("a file");
    }
}

/// A random game to its end, with every kind of action on the way.
fn play(rng: &mut impl Rng, rules: &str, seed: Seed, first_dealer: Option<Seat>) -> Transcript {
    let rules: Rules = rules.parse().expect("rules");
    let names = "Anna,Beat,Carla \"the dog\" Kern,Dani,Eva,Fritz".split(',');
    let names = names.take(rules.seats.into());
    let mut game = Game::new(Setup {
        players: names.map(Player::human).collect(),
        rules,
        first_dealer,
        seed,
        seed_given: false,
        must_confirm: Vec::new(),
    });
    let mut log = vec![(None, vec![game.last_event().clone()])];
    while game.phase() != Phase::Finished {
        let action = match rng.random_range(0..80) {
            0 => Action::ReissueToken {
                seat: Seat::default(),
            },
            1 => Action::HandOver {
                seat: Seat::default().next(game.rules().seats),
                player: Player::bot("Bot; of the house", Level::Greedy),
            },
            // By the host; refused unless a deal is due.
            2..10 => Action::Deal { by: None },
            _ => in_order(rng, &game),
        };
        if let Ok(events) = game.apply(&action) {
            log.push((Some(action), events));
        }
    }
    let about = RecordHeaders {
        game: Some("06zgrb0wmrqk9y7ttx2vbkhq1r".to_owned()),
        created: Some("2026-11-22T09:30:00.125Z".to_owned()),
        ended: Some("2026-11-22T10:15:30.25Z".to_owned()),
    };
    let steps = log.iter().filter_map(|(action, events)| {
        RecordStep::from_entry(RecordFormat::One, action.as_ref(), events)
    });
    Transcript {
        steps: steps.collect(),
        ..Transcript::without_steps(&game, about).expect("a finished game")
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

/// The summary of a valid game.
#[track_caller]
fn good(output: Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    String::from_utf8(output.stdout).expect("a text")
}

/// Asserts that the error is one line, which has these words.
#[track_caller]
fn bad(output: Output, says: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains(says), "{says}: {error}");
}

#[test]
fn good_games_are_summed_up() {
    for (file, rules) in FORMAT_1.into_iter().chain(FORMAT_2) {
        let said = good(dog_verify_file(&path(file)));
        let end = "are what the seed and the rules make of them\n";
        for words in [rules, "commitment  holds\n", end] {
            assert!(said.contains(words), "{said}");
        }
        let name = "game        06zgrb0wmrqk9y7ttx2vbkhq1r\n";
        assert!(said.starts_with(name), "{said}");
    }
}

#[test]
fn the_tables_of_a_match_are_compared_in_pairs() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("match");
    fs::create_dir_all(&folder).expect("a folder");
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut table = |name: &str, rules: &str, seed: u8, first_dealer: Option<Seat>| {
        let file = folder.join(name);
        let played = play(&mut rng, rules, Seed::new([seed; 32]), first_dealer);
        fs::write(&file, played.to_string()).expect("a file");
        file
    };
    let one = table("one.dog", "hausregeln", 1, None);
    let other = table("other.dog", "hausregeln", 1, None);
    let next = [0, 1].map(|number| table(&format!("{number}.dog"), "dogspiel-it", 2, None));
    let rules = table("rules.dog", "dogspiel-it", 1, None);
    let dealt = Seed::new([1; 32]).first_dealer(4).next(4);
    let dealer = table("dealer.dog", "hausregeln", 1, Some(dealt));
    let verify = |files: &[&PathBuf]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dog"));
        command
            .arg("verify")
            .args(files)
            .output()
            .expect("dog starts")
    };
    let said = good(verify(&[&one, &next[0], &next[1], &other]));
    let end = "pairs       2, each with the same seed, rules, first dealer and deals\n";
    assert!(
        said.ends_with(end) && said.matches("commitment  holds\n").count() == 4,
        "{said}"
    );
    bad(
        verify(&[&one, &next[0], &next[1]]),
        "1 tables have the commitment",
    );
    bad(
        verify(&[&one, &other, &one]),
        "3 tables have the commitment",
    );
    bad(verify(&[&one, &rules]), "their rules differ");
    bad(verify(&[&one, &dealer]), "their first dealers differ");
}

#[test]
fn names_say_nothing_about_the_game() {
    let text = text("four.dog");
    let verdict = good(dog_verify(&text));
    let anna = "[Seat0 \"Anna\"]";
    assert!(text.contains(anna));
    for name in ["", " \u{200b}", "Eve\u{202e}", "Bot 2"] {
        let renamed = text.replacen(anna, &format!("[Seat0 \"{name}\"]"), 1);
        let said = good(dog_verify(&renamed));
        assert_eq!(said.lines().last(), verdict.lines().last(), "{name:?}");
    }
}

#[test]
fn bad_records_are_refused_with_their_line() {
    let text = text("four.dog");
    bad(dog_verify(&text.replacen("\n0 ", "\n1 ", 1)), "-: line ");
    let short: Vec<&str> = text.lines().take(30).collect();
    let short = short.join("\n");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("short.dog");
    fs::write(&file, &short).expect("a file");
    let ends = "short.dog: line 30: the record ends here";
    bad(dog_verify_file(&file), ends);
    let unfinished = short.replace("[Winner", ";");
    bad(dog_verify(&unfinished), "the game is not over");
}

#[test]
fn unreadable_input_is_refused_in_one_line() {
    bad(dog_verify_file(Path::new("no/such/file")), "no/such/file: ");
    bad(dog_verify_file(Path::new(".")), ".: ");
    let latin = Path::new(env!("CARGO_TARGET_TMPDIR")).join("latin.dog");
    fs::write(&latin, b"[Dog \"1\"]\n[Seat0 \"Ren\xe9\"]\n").expect("a file");
    bad(dog_verify_file(&latin), "latin.dog: ");
    bad(dog_verify(""), "a record begins with");
}
