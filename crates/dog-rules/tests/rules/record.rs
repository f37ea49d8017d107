//! Games as text: written, read, replayed, and errors with their line.

use dog_rules::{
    Action, Event, EventKind, Game, Level, Phase, Player, Rules, Seat, SeatKind, Seed, Setup,
    record::{
        MAX_LENGTH, ParsedRecord, RecordFormat, RecordHeaders, RecordStep, Replayed, ReplayedEntry,
        Transcript,
    },
};
use rand::{
    Rng, RngExt,
    rngs::ChaCha8Rng,
    seq::{IndexedRandom, SliceRandom},
};

use super::{properties::rng, random, random_games::Proposer};

/// A game is abandoned after this many actions.
const ACTIONS: usize = 3_000;

/// A random game with everything that can happen in one, and its log.
fn random_game(rng: &mut ChaCha8Rng, rules: Rules) -> (Setup, Replayed) {
    let seats = rules.seats;
    let mut setup = Setup {
        players: (0..seats).map(|_| player(rng)).collect(),
        rules,
        first_dealer: None,
        seed: Seed::new(rng.random()),
        seed_given: rng.random(),
        must_confirm: Vec::new(),
    };
    if rng.random() {
        setup.first_dealer = Seat::new(rng.random_range(0..seats), seats);
    }
    let mut game = Game::new(setup.clone());
    let mut log = vec![entry(&game, None, vec![game.last_event().clone()])];
    let mut proposer = Proposer::new(true);
    while game.phase() != Phase::Finished && log.len() < ACTIONS {
        let seat = Seat::new(rng.random_range(0..seats), seats).expect("a seat");
        let action = match rng.random_range(0..60) {
            0 => Action::ReissueToken { seat },
            1 => Action::HandOver {
                seat,
                player: player(rng),
            },
            _ => proposer.in_order(rng, &game),
        };
        // A second "help!", or one where the exchange is mandatory, is refused.
        if let Ok(events) = game.apply(&action) {
            log.push(entry(&game, Some(action), events));
        }
    }
    (setup, Replayed { game, log })
}

fn entry(game: &Game, action: Option<Action>, events: Vec<Event>) -> ReplayedEntry {
    ReplayedEntry {
        version: game.version(),
        action,
        events,
    }
}

pub fn player(rng: &mut impl Rng) -> Player {
    let names = [
        "Anna",
        "",
        "a \"b\" \\ c",
        "; [no] comment: | x",
        "two\nlines\r",
        "\u{2028}\u{85}é\t ",
        "\\n",
    ];
    Player {
        name: (*names.choose(rng).expect("a name")).to_owned(),
        kind: if rng.random() {
            SeatKind::Bot
        } else {
            SeatKind::Human
        },
        level: *Level::ALL.choose(rng).expect("a level"),
    }
}

/// What was done in a game.
fn steps(format: RecordFormat, played: &Replayed) -> Vec<RecordStep> {
    let log = played.log.iter();
    let step = |entry: &ReplayedEntry| {
        RecordStep::from_entry(format, entry.action.as_ref(), &entry.events)
    };
    log.filter_map(step).collect()
}

/// The transcript of a game up to any point. Nobody gets this during a real game.
fn transcript(about: RecordHeaders, setup: Setup, played: &Replayed) -> Transcript {
    Transcript {
        format: RecordFormat::One,
        about,
        commitment: setup.seed.commitment(),
        steps: steps(RecordFormat::One, played),
        winner: played.game.winner(),
        setup,
    }
}

/// The transcript of a finished game, as its exporter makes it.
pub fn exported(about: RecordHeaders, played: &Replayed) -> Transcript {
    Transcript {
        steps: steps(RecordFormat::for_game(&played.game), played),
        ..Transcript::without_steps(&played.game, about).expect("a finished game")
    }
}

#[track_caller]
pub fn reads_and_replays(transcript: &Transcript, played: &Replayed) {
    let text = transcript.to_string();
    let written = ParsedRecord::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(&written.transcript, transcript, "{text}");
    assert_eq!(written.transcript.to_string(), text);
    let replayed = written.replay();
    let replayed = replayed.unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(replayed == *played, "the replayed game differs:\n{text}");
    let finished = played.game.phase() == Phase::Finished;
    assert_eq!(replayed.check_finished().is_ok(), finished);
}

#[test]
fn records_can_be_read_and_replayed() {
    let mut rng = rng(41);
    let (mut finished, mut mid_round, mut six) = (0, 0, 0);
    for _ in 0..150 {
        let rules = random::rules(&mut rng);
        let (setup, played) = random_game(&mut rng, rules);
        let mut about = RecordHeaders::default();
        if rng.random() {
            about.game = Some(player(&mut rng).name);
            about.created = Some("2026-07-01T12:00:00Z".to_owned());
            about.ended = Some(String::new());
        }
        reads_and_replays(&transcript(about.clone(), setup.clone(), &played), &played);
        let game = &played.game;
        if game.phase() == Phase::Finished {
            let exported = exported(about, &played);
            assert_eq!(exported.setup.players, setup.players);
            assert_eq!(exported.setup.first_dealer, Some(game.first_dealer()));
            reads_and_replays(&exported, &played);
            finished += 1;
            six += usize::from(game.rules().seats == 6);
            let mut seats = Seat::all(game.rules().seats);
            mid_round += usize::from(seats.any(|seat| game.cards(seat) > 0));
        } else {
            let nothing = Transcript::without_steps(game, about).expect_err("secrets");
            assert_eq!(nothing.to_string(), "the game is not over");
        }
    }
    assert!(
        finished > 60 && mid_round > 30 && six > 10,
        "{finished} {mid_round} {six}"
    );
}

/// A finished game of four by the house rules, as text.
fn sample() -> String {
    let mut rng = rng(42);
    loop {
        let rules = "hausregeln".parse().expect("a preset");
        let (_, played) = random_game(&mut rng, rules);
        if played.game.phase() == Phase::Finished {
            return exported(RecordHeaders::default(), &played).to_string();
        }
    }
}

/// The error when a text is read or replayed.
#[track_caller]
fn wrong(text: &str) -> String {
    let replayed = ParsedRecord::read(text).and_then(|written| written.replay());
    replayed.expect_err("something is wrong").to_string()
}

/// The number and text of the first line for which this holds.
#[track_caller]
fn line(text: &str, holds: impl Fn(&str) -> bool) -> (usize, &str) {
    let found = (1..).zip(text.lines()).find(|(_, line)| holds(line));
    found.expect("such a line")
}

/// The headers of a text and the empty line after them.
fn head(text: &str) -> String {
    let (head, _) = text.split_once("\n\n").expect("an empty line");
    format!("{head}\n\n")
}

#[test]
fn every_tampering_is_found_with_its_line() {
    let text = sample();
    let found_in = |changed: &str, line: usize, says: &str| {
        let error = wrong(changed);
        assert!(error.starts_with(&format!("line {line}: ")), "{error}");
        assert!(error.contains(says), "{error}, not {says}");
    };
    let found = |from: &str, to: &str, line: usize, says: &str| {
        found_in(&text.replacen(from, to, 1), line, says);
    };
    let last = text.lines().count();

    // Hands swapped, a hand left out, another number, another dealer.
    let (number, deal) = line(&text, |line| line.starts_with("deal 2 "));
    let (head, hands) = deal.split_once(": ").expect("hands");
    let mut hands: Vec<&str> = hands.split(" | ").collect();
    hands.swap(0, 1);
    let swapped = format!("{head}: {}", hands.join(" | "));
    found(deal, &swapped, number, "by the seed seat 0 is dealt ");
    let three = format!("{head}: {}", hands[..3].join(" | "));
    found(deal, &three, number, "there must be 4 hands, not 3");
    found("deal 2 ", "deal 3 ", number, "this is deal 2, not 3");
    let other = if head.ends_with('0') { 1 } else { 0 };
    found(head, &format!("deal 2 by {other}"), number, "is to deal");

    // Another seed, another commitment.
    let (number, seed) = line(&text, |line| line.starts_with("[Seed \""));
    let other = format!("[Seed \"{}\"]", "5".repeat(64));
    let (commitment, _) = line(&text, |line| line.starts_with("[Commitment "));
    let differs = "SHA-256 of the seed is ";
    found(seed, &other, commitment, differs);
    found(seed, "[Seed \"5\"]", number, "64 hex digits");
    found("[Commitment \"", "[Commitment \"0", commitment, differs);

    // Another winner, or none.
    let (number, winner) = line(&text, |line| line.starts_with("[Winner "));
    let other = 1 - (winner.as_bytes()[9] - b'0');
    let [other, nobody] = [other, 2].map(|team| format!("[Winner \"{team}\"]"));
    found(winner, &other, number, "by the moves team ");
    let no_team = "Winner must be the number of a team";
    found(winner, &nobody, number, no_team);
    let header = format!("{winner}\n");
    found(&header, "", last - 1, "has won, but no header says so");

    // A changed move, an illegal one, a missing turn, one after the end.
    let out = |line: &str| line.ends_with(" K:out") || line.ends_with(" A:out");
    let (number, mv) = line(&text, out);
    let seat = &mv[..1];
    let [fold, illegal, no_move] = ["fold", "2:1>4", "2:1>g9"].map(|id| format!("{seat} {id}"));
    found(mv, &fold, number, "a card in the hand can be played");
    found(mv, &illegal, number, &format!("\"{illegal}\" is refused: "));
    let no_field = "\"2:1>g9\": a field is a track number";
    found(mv, &no_move, number, no_field);
    let missing = wrong(&text.replacen(&format!("{mv}\n"), "", 1));
    let to_move = format!("seat {seat} is to move");
    assert!(missing.ends_with(&to_move), "{missing}");
    found_in(&format!("{text}{mv}\n"), last + 1, "the game is over");
    let reissue = format!("{text}\n; a comment\nhost reissues token 0");
    found_in(&reissue, last + 3, "the game is over");

    // A missing end.
    let (short, _) = text.trim_end().rsplit_once('\n').expect("lines");
    let no_end = "the record ends here, but no team has won yet, although";
    found_in(short, last - 1, no_end);
}

/// What programs do to the white space of a text on its way does not change the record.
#[test]
fn white_space_outside_quotes_means_nothing() {
    let text = sample();
    let read = |text: &str| ParsedRecord::read(text).map(|read| read.transcript);
    let original = read(&text).expect("a record");
    let outside_quotes = |blank: &str| {
        let text = text.replace("\\\\", "\u{1}").replace("\\\"", "\u{2}");
        let parts = text.split('"').enumerate();
        let parts = parts.map(|(index, part)| match index % 2 {
            0 => part.replace(' ', blank),
            _ => part.to_owned(),
        });
        let text = parts.collect::<Vec<_>>().join("\"");
        text.replace('\u{2}', "\\\"").replace('\u{1}', "\\\\")
    };
    let lines = |before: &str, after: &str| text.replace('\n', &format!("{after}\n{before}"));
    let in_headers = text.replace("\"]", "\"\u{a0} ]");
    for (how, changed) in [
        ("CRLF", lines("", "\r")),
        ("blanks after lines", lines("", " \t ")),
        ("format=flowed", lines("", " ")),
        ("blanks before lines", lines("  \u{a0}", "")),
        ("no-break spaces after lines", lines("", "\u{a0}")),
        ("blank lines", lines("\n \u{a0}\r\n", "\r")),
        ("a byte order mark", format!("\u{feff}{text}")),
        ("byte order marks", lines("\u{feff}", "\u{feff}")),
        ("no-break spaces", outside_quotes("\u{a0}")),
        ("tabs", outside_quotes("\t")),
        ("many blanks", outside_quotes(" \u{a0} \u{2003}")),
        (
            "blanks in headers",
            in_headers.replacen("[Dog ", "[Dog\u{a0}", 1),
        ),
    ] {
        assert_ne!(changed, text, "{how}");
        let transcript = read(&changed).unwrap_or_else(|error| panic!("{how}: {error}"));
        assert_eq!(transcript, original, "{how}");
        assert_eq!(transcript.to_string(), text, "{how}");
    }
    // Names keep theirs, and words do not grow together or fall apart.
    let spaced = text.replacen("[Seat0 \"", "[Seat0 \"\u{a0} a  b\t", 1);
    let spaced = read(&spaced).expect("a record");
    let name = &spaced.setup.players[0].name;
    assert!(name.starts_with("\u{a0} a  b\t"), "{name:?}");
    for (from, to) in [("deal 1", "deal1"), ("deal", "d eal"), ("[D", "[ D")] {
        assert!(read(&text.replacen(from, to, 1)).is_err(), "{from} → {to}");
    }
}

#[test]
fn players_of_a_record_can_be_renamed() {
    let text = include_str!("../../../../tests/records/joined.dog");
    let mut record = ParsedRecord::read(text).expect("a record");
    record.rename(|name, seat, kind| format!("{} {} {name}", seat.number(), kind.name()));
    let is_renamed = |name: &str, seat: Seat, kind: SeatKind| {
        let begin = format!("{} {} ", seat.number(), kind.name());
        assert!(name.starts_with(&begin), "{name}");
    };
    for (seat, player) in Seat::all(4).zip(&record.transcript.setup.players) {
        is_renamed(&player.name, seat, player.kind);
    }
    let (mut joined, mut changed) = (0, 0);
    let log = record.replay().expect("the same game").log;
    for event in log.iter().flat_map(|entry| &entry.events) {
        match &event.what {
            EventKind::SeatTaken { seat, name } => {
                is_renamed(name, *seat, SeatKind::Human);
                joined += 1;
            }
            EventKind::SeatHandedOver { seat, player } => {
                is_renamed(&player.name, *seat, player.kind);
                changed += 1;
            }
            _ => {}
        }
    }
    assert!(joined > 0 && changed > 0, "{joined} {changed}");
}

/// Changes to the headers of the sample, and the error of each.
const WRONG_HEADERS: &str = r#"
[Dog "1"] => [Dog "3"]
    line 1: this is a record of format "3", and only "1" and "2" are supported
[Rules "hausregeln => [Rules "tock
    line 2: there is no preset "tock"
hausregeln"] => hausregeln seats=5"]
    line 2: seats must be 4 or 6, not 5
hausregeln"] => hausregeln seats=6"]
    line 7: Kinds must be human, bot or (in format 2) open for each seat
[Seat1 " => [Seat4 "
    line 4: there is no seat 4 at this table
[Seat1 " => [Seat7 "
    line 4: there is no header "Seat7"
[Seat1 " => [Seat0 "
    line 4: the header Seat0 appears twice
[Seat1 " => [Seat1"
    line 4: a header is written [Name "value"]
[SeedGiven " => [SeedGiven "x
    line 12: SeedGiven must be yes or no
[Dealer " => [Dealer "4
    line 9: Dealer must be the number of a seat
"#;

/// What is wrong with each of the indented steps.
const WRONG_STEPS: &str = r#"
there is no seat 7 at this table
    7 K:out
there is no seat 4 at this table
    deal 1 by 4
a step begins with deal, host, server or a seat's number, not with "Anna"
    Anna K:out
a deal is written "deal 1 by 0: " or "deal 1 by host: " and a hand for each seat
    deal
there must be 4 hands, not 1
    deal 1 by 9: A
the hands hold more of A than the deck
    deal 1 by host: A A A | A A A | A A A | A
there is no card "1"
    deal 1 by host: 1 | | |
    0 offers 1
"0 asks" is refused: this is for the exchange phase, the game is in the deal phase
    0 asks
"#;

/// The same in format 2. One line has two steps.
const WRONG_STEPS_OF_FORMAT_2: &str = r#"
"joins": a move id is "fold" or CARD:WHAT, such as K:out or Q:17>29
    0 joins
a seat "joins" with a name in quotes, or "becomes bot fast" with one
    0 joins Eva
    0 joins "Eva" again
    0 becomes robot fast "R"
    0 becomes bot "R"
the server "hands 0 to bot fast" and a name in quotes
    server reissues token 0
    server sets turn_seconds 30 bot_pace_ms 250 listed yes
    server hands 0 to robot fast "R"
the host "reissues token 0" or "hands 0 to bot fast" and a name in quotes
    host reissues token 0 "Eva"
    host hands 0 to robot fast "R"
    host sets turn_seconds 30
the host "sets turn_seconds 30 bot_pace_ms 250 listed yes"
    host sets turn_seconds soon bot_pace_ms 250 listed yes
    host sets turn_seconds 30 bot_pace_ms 250 listed maybe
    host sets turn_seconds 30 bot_pace_ms 250 listed no reactions yes
(bot) and (clock) come before a step of a seat
    (bot) host reissues token 0
    (clock) deal 1 by host
    (bot) 0 joins "Eva"
    (host) 0 fold
    (bot 0 fold
"0 joins \"Eva\"" is refused: seat 0 is not open
    0 joins "Eva"
"(bot) 0 asks" was taken by its person, not by bot
    deal 1 by host / (bot) 0 asks
"(clock) 0 asks" was taken by bot, not by clock
    host hands 0 to bot fast "R" / deal 1 by host / (clock) 0 asks
"#;

/// Checks the errors of steps after these headers.
#[track_caller]
fn steps_are_wrong(head: &str, table: &str) {
    let mut says = "";
    for line in table.trim().lines() {
        let Some(steps) = line.strip_prefix("    ") else {
            says = line;
            continue;
        };
        let text = format!("{head}{}\n", steps.replace(" / ", "\n"));
        let last = text.lines().count();
        assert_eq!(wrong(&text), format!("line {last}: {says}"), "{steps}");
    }
}

#[test]
fn errors_name_the_line() {
    let text = sample();
    let mut lines = WRONG_HEADERS.trim().lines().map(str::trim);
    while let (Some(change), Some(says)) = (lines.next(), lines.next()) {
        let (from, to) = change.split_once(" => ").expect("FROM => TO");
        assert!(text.contains(from), "{from}");
        assert_eq!(wrong(&text.replacen(from, to, 1)), says, "{change}");
    }
    let head = head(&text);
    let end = head.lines().count();
    let without_rules = text.replacen("[Rules \"hausregeln\"]\n", "", 1);
    let missing = format!("line {end}: the headers end here, and Rules is missing");
    assert_eq!(wrong(&without_rules), missing);
    steps_are_wrong(&head, WRONG_STEPS);
    let late = wrong(&format!("{text}[Game \"late\"]\n"));
    assert!(late.ends_with("must come before the first step"), "{late}");
    let first_line = text.split_inclusive('\n').next().expect("a line");
    let rest = &text[first_line.len()..];
    for nothing in ["", "\n\n", "; nothing\n", "{}", rest] {
        let error = wrong(nothing);
        let begins = "a record begins with [Dog \"1\"] or [Dog \"2\"]";
        assert!(error.ends_with(begins), "{error}");
    }
}

#[test]
fn comments_blanks_and_left_out_parts_are_accepted() {
    let text = sample();
    let plain = ParsedRecord::read(&text).expect("a record");
    let mut sloppy = String::from("; a game\r\n\r\n");
    for line in text.lines() {
        sloppy += &format!("  {line}  ; so it says\r\n");
        if line.starts_with("deal") || line.starts_with("[Dealer") {
            sloppy += "\n ;\n";
        }
    }
    let read = ParsedRecord::read(&sloppy).expect("a sloppy record");
    assert_eq!(read.transcript, plain.transcript);
    assert_eq!(read.replay(), plain.replay());
    assert_eq!(read.transcript.to_string(), text);

    // Hands can be left out: they follow from the seed.
    let mut short = plain.transcript.clone();
    short.steps.iter_mut().for_each(|step| step.hands = None);
    let short = ParsedRecord::read(&short.to_string()).expect("a short record");
    assert_eq!(short.replay(), plain.replay());
}

#[test]
fn absurd_texts_are_refused() {
    let error = wrong(&"0 fold\n".repeat(MAX_LENGTH));
    assert!(error.contains("the text is too long"), "{error}");
    let too_long = "line 1: the line is too long: a line has 4096 bytes at most";
    assert_eq!(wrong(&"x".repeat(5_000)), too_long);
}

/// Any text is refused or replayed, and none panics.
#[test]
fn damaged_texts_never_panic() {
    let mut rng = rng(43);
    let format_2 = include_str!("../../../../tests/records/joined.dog");
    let texts = [sample().into_bytes(), format_2.into()];
    let (mut read, mut replayed) = (0, 0);
    for text in texts.iter().cycle().take(4_000) {
        let mut damaged = text.clone();
        for _ in 0..rng.random_range(1..4) {
            let place = rng.random_range(0..damaged.len());
            let other = rng.random_range(0..damaged.len());
            match rng.random_range(0..5) {
                0 => damaged[place] = rng.random_range(0..128),
                1 => damaged.swap(place, other),
                2 => damaged.truncate(place.max(1)),
                3 => {
                    damaged.remove(place);
                }
                _ => shuffle_lines(&mut rng, &mut damaged),
            }
        }
        let damaged = String::from_utf8_lossy(&damaged);
        if let Ok(written) = ParsedRecord::read(&damaged) {
            let again = written.transcript.to_string();
            let again = ParsedRecord::read(&again).expect("what was written");
            assert_eq!(again.transcript, written.transcript);
            read += 1;
            replayed += usize::from(written.replay().is_ok());
        }
    }
    assert!(read > 300 && replayed > 10, "{read} {replayed}");
}

fn shuffle_lines(rng: &mut impl Rng, text: &mut Vec<u8>) {
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let begin = rng.random_range(0..lines.len());
    let end = (begin + 3).min(lines.len());
    lines[begin..end].shuffle(rng);
    *text = lines.join(&b'\n');
}

/// The head of a record of format 2 of four people, up to the first step.
fn head_of_format_2() -> String {
    let head = head(&sample()).replacen("[Dog \"1\"]", "[Dog \"2\"]", 1);
    let kinds = line(&head, |line| line.starts_with("[Kinds ")).1;
    let head = head.replacen(kinds, "[Kinds \"human human human human\"]", 1);
    let lines = head.split_inclusive('\n');
    lines
        .filter(|line| !line.starts_with("[Winner") && !line.starts_with("[Dealer"))
        .collect()
}

#[test]
fn steps_of_format_2_are_written_as_they_are_read() {
    let head = head_of_format_2().replacen("human human human human", "open open human bot", 1);
    let head = head.replacen("[Commitment", "[Awaited \"2\"]\n[Commitment", 1);
    let head = head.replacen("hausregeln", "hausregeln exchange=optional", 1);
    let steps = "1 joins \"Eva \\\"E\\\"\"
server hands 0 to bot fast \"Bot\"
2 asks for rematch
1 renews token
host sets turn_seconds 30 bot_pace_ms 250 listed yes
host sets turn_seconds none bot_pace_ms 0 listed no
host sets turn_seconds 30 bot_pace_ms 250 listed no reactions no
2 becomes human strong \"Carla\"

deal 1 by server
(clock) 2 asks
(bot) 0 declines
(clock) 1 declines
2 becomes bot fast \"Carla\"
host hands 2 to open fast \"\"
2 joins \"Fritz\"
host reissues token 1
";
    let text = format!("{head}{steps}");
    let written = ParsedRecord::read(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(written.transcript.to_string(), text);
    let replayed = written.replay().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(replayed.game.phase(), Phase::Play);
    assert!(replayed.game.has_stand_in(Seat::new(2, 4).expect("a seat")));
    // Every new step is refused in format 1.
    let format_1 = head_of_format_2().replacen("[Dog \"2\"]", "[Dog \"1\"]", 1);
    let is_old = |step: &str| step.is_empty() || step.starts_with("host reissues");
    for step in steps.lines().filter(|step| !is_old(step)) {
        let read = ParsedRecord::read(&format!("{format_1}{step}\n"));
        let error = read.expect_err(step).to_string();
        let only = "is possible in records of format 2 only";
        assert!(error.ends_with(only), "{step}: {error}");
    }
}

#[test]
fn errors_of_format_2_name_the_line() {
    let head = head_of_format_2();
    steps_are_wrong(&head, WRONG_STEPS_OF_FORMAT_2);
    let open = head.replacen("human human", "open human", 1);
    let deal = wrong(&format!("{open}deal 1 by host\n"));
    let is_open = "a seat is open, or its person has not asked";
    assert!(deal.contains(is_open), "{deal}");
    let must_confirm = head.replacen("[Commitment", "[Awaited \"4\"]\n[Commitment", 1);
    assert!(wrong(&must_confirm).ends_with("Awaited must be numbers of seats"));
    let format_1 = must_confirm
        .replacen("[Dog \"2\"]", "[Dog \"1\"]", 1)
        .replacen("\"4\"", "\"3\"", 1);
    assert!(wrong(&format_1).ends_with("is possible in records of format 2 only"));
}
