//! Games that the API brings to a wanted position.

use serde_json::{Value, json};

use super::{
    Dice, TestGame, TestServer,
    TestViewer::{Seat, Spectator},
    seed,
};

/// Names as the page gives them.
pub const NAMES: [&str; 6] = ["Player", "Luna", "Bruno", "Bella", "Rex", "Nala"];

/// A game in which seat 0 is to move in a wanted position.
pub struct Situation<'a> {
    pub game: TestGame<'a>,
    /// The legal moves of seat 0.
    pub moves: Vec<Value>,
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
        let scene = Situation::try_find(server, rules, number, style, wanted);
        scene.unwrap_or_else(|| panic!("game {number} of {rules} has no such position"))
    }

    pub fn try_find(
        server: &'a TestServer,
        rules: &Value,
        number: u8,
        style: Style,
        wanted: impl Fn(&Value, &[Value]) -> bool,
    ) -> Option<Situation<'a>> {
        let game = create_with_people(server, rules, number);
        let moves = advance(&game, number, style, wanted)?;
        Some(Situation { game, moves })
    }

    /// The first move that fits.
    #[track_caller]
    pub fn find_move(&self, fits: impl Fn(&Value) -> bool) -> &Value {
        let found = self.moves.iter().find(|one| fits(one));
        found.expect("such a move")
    }

    /// The move that was played last.
    pub fn last_move(&self) -> Value {
        self.game.view(Spectator)["last_action"]["move"].take()
    }
}

/// The parts of a move.
pub fn parts(one: &Value) -> &[Value] {
    one["parts"].as_array().expect("parts")
}

/// Every piece of a game as the server tells it: its seat and its place, sorted.
pub fn pieces_of(game: &TestGame<'_>) -> Vec<String> {
    let board = game.view(Spectator)["board"].take();
    let mut pieces = Vec::new();
    for (seat, one) in board.as_array().expect("seats").iter().enumerate() {
        let list = |name: &str| one[name].as_array().expect("a list").clone();
        pieces.extend(list("track").iter().map(|field| format!("{seat} {field}")));
        pieces.extend(
            list("goal")
                .iter()
                .map(|depth| format!("{seat} goal:{depth}")),
        );
        let kennel = one["kennel"].as_u64().unwrap_or_default();
        pieces.extend((0..kennel).map(|_| format!("{seat} kennel")));
    }
    pieces.sort();
    pieces
}

/// A game of people with a fixed deck, in which seat 0 begins.
pub fn create_with_people<'a>(server: &'a TestServer, rules: &Value, number: u8) -> TestGame<'a> {
    let count = rules["seats"].as_u64().unwrap_or(4) as usize;
    let seats: Vec<Value> = NAMES[..count]
        .iter()
        .map(|name| json!({"kind": "human", "name": name}))
        .collect();
    create(server, rules, &seats, number, 0)
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
pub fn seats_of_bots(names: &[&str]) -> Vec<Value> {
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
    let wishes = json!({
        "rules": rules, "seats": seats, "first_dealer": seats.len() - 1, "bot_pace_ms": pace,
        "shuffle_seed": seed(number), "listed": false,
    });
    TestGame::create(server, &wishes)
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
            "deal" => {
                game.deal();
            }
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
