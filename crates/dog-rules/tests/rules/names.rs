//! Names of players.

use dog_rules::{
    Game, Player, Preset, Seat, SeatKind, Seed, Setup,
    name::{MAX_NAME, NameError, checked, distinct, repaired},
};

#[test]
fn white_space_counts_once() {
    let (longest, blanks) = ("x".repeat(MAX_NAME), " ".repeat(500));
    for (text, name) in [
        ("Anna", "Anna"),
        ("  Anna  ", "Anna"),
        ("Anna   Maria", "Anna Maria"),
        ("Anna\u{a0}Maria\u{3000}", "Anna Maria"),
        (&format!(" {longest} "), &longest),
        (&format!("a{blanks}b"), "a b"),
    ] {
        let checked = checked(text, SeatKind::Human);
        assert_eq!(checked.as_deref(), Ok(name), "{text:?}");
    }
}

/// Names that show nothing, separated by commas. The first is empty.
const INVISIBLE: &str = ", ,\u{a0}\u{2003}\u{3000},\u{200b},\u{200d}\u{200c} \u{2060}\u{feff},\u{ad},\
    \u{34f},\u{61c}\u{200e}\u{200f},\u{115f}\u{1160},\u{17b4},\u{180e},\u{2800}\u{2800},\
    \u{3164},\u{ffa0},\u{fe0f},\u{301},\u{20dd},\u{fff9}\u{fffb},\u{1d173},\
    \u{e0041}\u{e007f},\u{e0100}";

#[test]
fn a_name_shows_something() {
    for text in INVISIBLE.split(',') {
        for kind in SeatKind::ALL {
            let error = checked(text, kind);
            assert_eq!(error, Err(NameError::Invisible), "{text:?}");
        }
    }
}

#[test]
fn letters_of_all_scripts_are_names() {
    for text in [
        "Zoë",
        "Zoe\u{308}",
        "李白",
        "דוד",
        "ליאת\u{200f}!",
        // Persian writes it with a zero-width non-joiner.
        "می\u{200c}خواهم",
        // A family, a heart and a flag of tags.
        "👨\u{200d}👩\u{200d}👧",
        "❤\u{fe0f}",
        "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        "ㅤ가",
        "; [Dog \"1\"]",
        "7",
        "Robot 2",
        "Botond",
        "Bots 2",
        "Bot A",
    ] {
        let checked = checked(text, SeatKind::Human);
        assert_eq!(checked.as_deref(), Ok(text), "{text:?}");
    }
}

#[test]
fn a_name_has_no_characters_that_reach_beyond_it() {
    let forbidden = (0..0x20)
        .chain(0x7f..0xa0)
        .chain(0x2028..=0x202e)
        .chain(0x2066..=0x2069);
    for code in forbidden {
        let c = char::from_u32(code).expect("a character");
        for text in [format!("An{c}na"), format!("{c}Anna"), format!("Anna{c}")] {
            let error = checked(&text, SeatKind::Bot);
            assert_eq!(error, Err(NameError::Forbidden), "{text:?}");
        }
    }
}

#[test]
fn a_name_has_40_characters_at_most() {
    for letter in ["x", "é", "李", "🐕"] {
        let longest = letter.repeat(MAX_NAME);
        assert_eq!(checked(&longest, SeatKind::Human).as_ref(), Ok(&longest));
        let longer = letter.repeat(MAX_NAME + 1);
        assert_eq!(checked(&longer, SeatKind::Human), Err(NameError::TooLong));
    }
}

#[test]
fn no_person_is_named_like_a_bot() {
    let names = "Bot 2,bot 2,BOT2, b o t  2 ,Bot,Bot (2),Bot #17,Bo\u{200b}t 2,Bot\u{2800}2,\
                 Ｂｏｔ　２,Bot ②,Bot ٢";
    for text in names.split(',') {
        for kind in [SeatKind::Human, SeatKind::Open] {
            assert_eq!(checked(text, kind), Err(NameError::BotName), "{text:?}");
        }
        assert!(checked(text, SeatKind::Bot).is_ok(), "{text:?}");
    }
}

/// A longest name of `x`, cut to make room for this number.
fn numbered(number: usize) -> String {
    format!("{} ({number})", "x".repeat(MAX_NAME - 4))
}

#[test]
fn the_same_name_gets_a_number() {
    let long = "x".repeat(MAX_NAME);
    let family = "👨\u{200d}👩\u{200d}👧\u{200d}👦";
    // 36 characters end with a joiner.
    let families = format!("xx{}", family.repeat(5));
    let cases: &[(&str, &[&str], &str)] = &[
        ("Anna", &[], "Anna"),
        ("Anna", &["Beat", "Annabelle", "Ana"], "Anna"),
        ("Anna", &["Anna"], "Anna (2)"),
        ("Anna", &["Beat", "Anna", "Anna (2)"], "Anna (3)"),
        ("Anna", &["Anna (2)"], "Anna"),
        ("Anna (2)", &["Anna"], "Anna (2)"),
        ("Anna (2)", &["Anna", "Anna (2)"], "Anna (3)"),
        ("Anna (2)", &["Anna (2)"], "Anna (3)"),
        ("Anna ()", &["Anna ()"], "Anna () (2)"),
        ("(2)", &["(2)"], "(2) (2)"),
        // The same to the eye.
        ("ANNA", &["anna"], "ANNA (2)"),
        ("Straße", &["STRASSE"], "Straße (2)"),
        ("ΣΟΦΟΣ", &["σοφος"], "ΣΟΦΟΣ (2)"),
        ("An\u{200b}na", &["Anna"], "An\u{200b}na (2)"),
        ("Anna\u{200f}", &["Anna"], "Anna\u{200f} (2)"),
        ("Anna \u{2800}", &["Anna"], "Anna \u{2800} (2)"),
        ("Zoe\u{308}", &["Zoë"], "Zoe\u{308} (2)"),
        ("Ａｎｎａ", &["Anna"], "Ａｎｎａ (2)"),
        ("❤\u{fe0f}", &["❤"], "❤\u{fe0f} (2)"),
        ("Zoe", &["Zoë"], "Zoe"),
        // Names of records.
        ("Anna", &["  anna "], "Anna (2)"),
        ("Anna", &["", "\u{200b}"], "Anna"),
        // A long name is cut.
        (&long, &[&long], &numbered(2)),
        (&long, &[&long, &numbered(2)], &numbered(3)),
        (&numbered(2), &[&long, &numbered(2)], &numbered(3)),
    ];
    for &(name, others, expected) in cases {
        let name = distinct(name, others.iter().copied());
        assert_eq!(name, expected, "{others:?}");
        assert!(name.chars().count() <= MAX_NAME, "{name:?}");
    }
    let cut = distinct(&families, [families.as_str()]);
    assert!(cut.ends_with("👧 (2)"), "{cut:?}");
}

#[test]
fn a_name_is_compared_with_those_of_the_other_seats() {
    let rules = Preset::DogspielIt.rules();
    let names = ["Anna", "Anna (2)", "Dani", "Dani"];
    let game = Game::new(Setup {
        players: names.map(Player::human).into(),
        first_dealer: None,
        seed: Seed::new([7; 32]),
        seed_given: true,
        rules,
        must_confirm: Vec::new(),
    });
    for (seat, name, expected) in [
        (0, "Anna", "Anna"),
        (1, "Anna (2)", "Anna (2)"),
        (1, "anna", "anna (2)"),
        (3, "Anna", "Anna (3)"),
        // A game may have the same name twice.
        (2, "Dani", "Dani"),
        (3, "Dani", "Dani"),
        (3, "dani", "dani (2)"),
        (0, "Dani", "Dani (2)"),
    ] {
        let seat = Seat::new(seat, 4).expect("a seat");
        assert_eq!(game.distinct_name(seat, name), expected, "{seat:?}");
    }
}

#[test]
fn the_name_of_a_record_is_repaired_and_never_refused() {
    let seat = Seat::new(2, 4).expect("a seat");
    let long = "x".repeat(4000);
    for (text, kind, name) in [
        ("Anna", SeatKind::Human, "Anna"),
        ("Bot 2", SeatKind::Human, "Bot 2"),
        (" Eve\u{202e}\u{2066}\n ", SeatKind::Human, "Eve"),
        ("two\nlines\r", SeatKind::Human, "two lines"),
        ("", SeatKind::Human, "Seat 2"),
        ("\u{200b}", SeatKind::Human, "Seat 2"),
        ("\u{202e}\0", SeatKind::Bot, "Bot 2"),
        ("", SeatKind::Open, ""),
        (" ", SeatKind::Open, "Seat 2"),
        (&long, SeatKind::Human, &long[..MAX_NAME]),
    ] {
        assert_eq!(repaired(text, seat, kind), name, "{text:?}");
    }
}
