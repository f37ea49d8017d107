//! Games that the API brings to a wanted position.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use super::{
    Browser, Dice, TestGame, TestServer,
    TestViewer::{Seat, Spectator},
    seed,
};

/// Names as the page gives them.
pub const NAMES: [&str; 6] = ["Player", "Luna", "Bruno", "Bella", "Rex", "Nala"];

/// The rules of most tests.
pub fn italian() -> Value {
    json!({"preset": "dogspiel-it"})
}

/// A text in JSON.
#[track_caller]
pub fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// A game in which seat 0 is to move in a wanted position.
pub struct Situation<'a> {
    pub game: TestGame<'a>,
    /// The legal moves of seat 0.
    pub moves: Vec<Value>,
    pub version: u64,
}

/// How the seats of a game play until the wanted position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Everybody plays well.
    Greedy,
    /// Seat 0 plays well, the others play anything.
    FirstSeat,
    /// Everybody plays anything.
    Random,
}

impl<'a> Situation<'a> {
    /// Plays a game of people until seat 0 is to move and has such moves.
    ///
    /// # Panics
    /// If that does not happen: the position depends on `number` and the other arguments alone.
    #[track_caller]
    pub fn find(
        server: &'a TestServer,
        rules: &Value,
        number: u8,
        style: Style,
        wanted: impl Fn(&Value, &[Value]) -> bool,
    ) -> Situation<'a> {
        let game = create_with_people(server, rules, number);
        let moves = advance(&game, number, style, wanted);
        let moves = moves.unwrap_or_else(|| panic!("game {number} of {rules}: no such position"));
        let version = game.version();
        Situation {
            game,
            moves,
            version,
        }
    }

    /// A game by the Italian sheet, in which seat 0 has a move that fits.
    #[track_caller]
    pub fn with_move(
        server: &'a TestServer,
        number: u8,
        fits: impl Fn(&Value) -> bool,
    ) -> Situation<'a> {
        let wanted = |_: &Value, moves: &[Value]| moves.iter().any(&fits);
        Situation::find(server, &italian(), number, Style::FirstSeat, wanted)
    }

    /// One in which seat 0 has many moves.
    #[track_caller]
    pub fn with_choices(server: &'a TestServer) -> Situation<'a> {
        let wanted = |_: &Value, moves: &[Value]| moves.len() > 5;
        Situation::find(server, &italian(), 4, Style::FirstSeat, wanted)
    }

    /// The same, and seat 0 has more turns in the round.
    #[track_caller]
    pub fn with_more_turns(server: &'a TestServer) -> Situation<'a> {
        let wanted = |view: &Value, moves: &[Value]| {
            moves.len() > 5 && view["seats"][0]["cards"].as_u64() > Some(3)
        };
        Situation::find(server, &italian(), 4, Style::FirstSeat, wanted)
    }

    /// One in which seat 0 can only fold.
    #[track_caller]
    pub fn with_a_fold(server: &'a TestServer) -> Situation<'a> {
        Situation::with_move(server, 0, |one| one["kind"] == "fold")
    }

    /// The first move that fits.
    #[track_caller]
    pub fn find_move(&self, fits: impl Fn(&Value) -> bool) -> &Value {
        let found = self.moves.iter().find(|one| fits(one));
        found.expect("such a move")
    }

    /// Asserts that nothing has happened.
    #[track_caller]
    pub fn assert_unchanged(&self) {
        assert_eq!(self.game.version(), self.version);
    }

    /// The move that was played last.
    pub fn last_move(&self) -> Value {
        self.game.view(Spectator)["last_action"]["move"].take()
    }

    /// Waits until the browser shows the end of the turn, which was this move.
    #[track_caller]
    pub fn wait_until_played(&self, browser: &Browser, wanted: &Value) {
        browser.wait_for_todo("is to move");
        assert_eq!(self.last_move()["id"], wanted["id"]);
    }
}

/// The parts of a move.
pub fn parts(one: &Value) -> &[Value] {
    one["parts"].as_array().expect("parts")
}

/// Whether a move splits a seven over three pieces.
pub fn has_three_parts(one: &Value) -> bool {
    one["card"] == "7" && parts(one).len() == 3
}

/// Whether a move exchanges two pieces by a jack.
pub fn is_swap(one: &Value) -> bool {
    one["card"] == "J" && one["kind"] == "swap"
}

/// Whether a plain move captures a piece of a seat that fits.
pub fn captures(one: &Value, fits: impl Fn(&Value) -> bool) -> bool {
    let captured = one["captures"].as_array().into_iter().flatten();
    let is_plain = one["card"] != "7" && one["card"] != "joker";
    is_plain && captured.map(|capture| &capture["seat"]).any(fits)
}

/// Every piece of a game as the server tells it: its seat and its place, sorted.
pub fn pieces_of(game: &TestGame<'_>) -> Vec<String> {
    pieces_on(&game.view(Spectator)["board"])
}

/// The same of a board.
pub fn pieces_on(board: &Value) -> Vec<String> {
    let mut pieces = Vec::new();
    for (seat, one) in board.as_array().expect("seats").iter().enumerate() {
        let list = |name: &str| one[name].as_array().expect("a list").iter();
        pieces.extend(list("track").map(|field| format!("{seat} {field}")));
        pieces.extend(list("goal").map(|depth| format!("{seat} goal:{depth}")));
        let kennel = one["kennel"].as_u64().unwrap_or_default();
        pieces.extend((0..kennel).map(|_| format!("{seat} kennel")));
    }
    pieces.sort();
    pieces
}

/// A game of people with a fixed deck, in which seat 0 begins.
pub fn create_with_people<'a>(server: &'a TestServer, rules: &Value, number: u8) -> TestGame<'a> {
    let count = rules["seats"].as_u64().unwrap_or(4) as usize;
    create(server, rules, &people(&NAMES[..count]), number, 0)
}

/// The same, of people with these names.
pub fn create_with_names<'a>(
    server: &'a TestServer,
    names: &[impl AsRef<str>],
    number: u8,
) -> TestGame<'a> {
    let rules = json!({"preset": "dogspiel-it", "seats": names.len()});
    create(server, &rules, &people(names), number, 0)
}

fn people<Name: AsRef<str>>(names: &[Name]) -> Vec<Value> {
    let person = |name: &Name| json!({"kind": "human", "name": name.as_ref()});
    names.iter().map(person).collect()
}

/// The same, dealt.
pub fn deal_to_people<'a>(server: &'a TestServer, rules: &Value, number: u8) -> TestGame<'a> {
    let game = create_with_people(server, rules, number);
    game.deal();
    game
}

/// A game that bots have played.
pub fn played_by_bots<'a>(server: &'a TestServer, rules: &Value) -> TestGame<'a> {
    let count = rules["seats"].as_u64().unwrap_or(4) as usize;
    let game = create(server, rules, &seats_of_bots(&NAMES[..count]), 1, 0);
    while game.view(Spectator)["phase"] != "finished" {
        thread::sleep(Duration::from_millis(20));
    }
    game
}

/// A game of seat 0 against bots with a fixed deck, in which seat 0 begins.
pub fn create_with_bots<'a>(
    server: &'a TestServer,
    rules: &Value,
    number: u8,
    pace: u64,
) -> TestGame<'a> {
    let count = rules["seats"].as_u64().unwrap_or(4) as usize;
    let mut seats = vec![json!({"kind": "human", "name": NAMES[0]})];
    seats.extend(seats_of_bots(&NAMES[1..count]));
    create(server, rules, &seats, number, pace)
}

/// Entries of bots.
fn seats_of_bots(names: &[&str]) -> Vec<Value> {
    let bot = |name: &&str| json!({"kind": "bot", "name": name, "level": "greedy"});
    names.iter().map(bot).collect()
}

fn create<'a>(
    server: &'a TestServer,
    rules: &Value,
    seats: &[Value],
    number: u8,
    pace: u64,
) -> TestGame<'a> {
    let body = json!({
        "rules": rules, "seats": seats, "first_dealer": seats.len() - 1, "bot_pace_ms": pace,
        "shuffle_seed": seed(number), "listed": false,
    });
    TestGame::create(server, &body)
}

/// Plays until seat 0 is to move and has wanted moves, and returns these; `None` at the end.
pub fn advance(
    game: &TestGame<'_>,
    number: u8,
    style: Style,
    wanted: impl Fn(&Value, &[Value]) -> bool,
) -> Option<Vec<Value>> {
    let mut dice = Dice::new(u64::from(number));
    loop {
        let view = game.view(Spectator);
        match view["phase"].as_str()? {
            "deal" => drop(game.deal()),
            "exchange" => exchange(game, &view),
            "play" => {
                let seat = view["turn"].as_u64()? as usize;
                let moves = game.legal_moves(seat);
                let view = game.view(Seat(seat));
                if seat == 0 && wanted(&view, moves.as_array()?) {
                    return Some(moves.as_array()?.clone());
                }
                let well = style == Style::Greedy || style == Style::FirstSeat && seat == 0;
                if well {
                    let query = format!("/suggest-move?level=greedy&seed={}", dice.below(1000));
                    let advice = game.get(Seat(seat), &query).send().expect(200);
                    let best = &advice["suggestions"][0]["request"];
                    game.as_suggested(seat, best).expect(200);
                } else {
                    game.play(seat, dice.pick(&moves)["id"].as_str()?);
                }
            }
            _ => return None,
        }
    }
}

/// Everybody gives the first card, or does not exchange if that is allowed.
fn exchange(game: &TestGame<'_>, view: &Value) {
    for seat in 0..game.seats() {
        let state = game.view(Spectator)["seats"][seat]["exchange"].take();
        if state != "pending" && state != "asked" {
            continue;
        }
        let answer = match view["rules"]["exchange"].as_str() {
            Some("on_request") => json!({"pass": true}),
            Some("optional") => json!({"decline": true}),
            _ => json!({"card": game.hand(seat)[0]}),
        };
        game.swap(seat, &answer);
    }
}
