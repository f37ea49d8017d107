//! The moves of a round, which everybody sees: recorded move by move, stored, and read back only if
//! they can have been played.

use dog_rules::{
    Action, EventKind, Game, Generator, Options, Phase, Preset::*, Rules, Seat, Seed,
    round_history::PastMove,
};
use rand::{Rng, RngExt, SeedableRng, rngs::Xoshiro256PlusPlus, seq::IndexedRandom};
use serde_json::{Value, json};

use super::{
    position::{PositionExt, TestPosition, cards, read_card, seat},
    random,
    rounds::{deal, exchange, play_all},
};

/// The past moves, which are the same for every seat.
#[track_caller]
fn plays(game: &Game) -> Vec<PastMove> {
    let seats = Seat::all(game.rules().seats);
    let mut seen = seats.map(|seat| game.seen_from(seat).past_moves);
    let first = seen.next().expect("a seat");
    assert!(seen.all(|others| others == first));
    first
}

/// A card played between these positions.
fn played(by: u8, card: &str, before: &TestPosition, after: &TestPosition) -> PastMove {
    PastMove {
        seat: seat(by),
        before: before.board,
        card: Some(read_card(card)),
        revealed: cards(card),
        after: after.board,
    }
}

fn folded(by: u8, hand: &str, position: &TestPosition) -> PastMove {
    PastMove {
        seat: seat(by),
        before: position.board,
        card: None,
        revealed: cards(hand),
        after: position.board,
    }
}

fn stored(game: &Game) -> Value {
    json!(game)
}

fn read(stored: &Value) -> Option<Game> {
    // As the store reads it, from text.
    serde_json::from_str(&stored.to_string()).ok()
}

#[test]
fn each_turn_is_recorded_with_its_boards() {
    let [first, second, third, fourth] = [
        "0: 20 30 | 1: 35",
        "0: 23 34 | 1: 35",
        "0: 23 34 | 1: fresh 35",
        "0: 34 35 | 1: fresh",
    ]
    .map(|text| DogspielIt.at(text));
    let mut game = first.in_play(0, ["7 Q 2", "joker 2 3", "2 9 J", ""]);
    assert_eq!(plays(&game), []);
    let mut expected = Vec::new();
    play_all(&mut game, "0 7:20>23,30>34");
    expected.push(played(0, "7", &first, &second));
    assert_eq!(plays(&game), expected);
    play_all(&mut game, "1 joker=K:out, 2 fold");
    expected.push(played(1, "joker", &second, &third));
    expected.push(folded(2, "2 9 J", &third));
    assert_eq!(plays(&game), expected);
    // Seat 3 has no cards, seat 2 has folded.
    play_all(&mut game, "0 Q:23>35");
    expected.push(played(0, "Q", &third, &fourth));
    assert_eq!(plays(&game), expected);
}

#[test]
fn a_record_ends_with_its_round() {
    let position = DogspielIt.at("0: 20 | 1: 40");
    let mut game = position.in_play(0, ["2", "3", "", ""]);
    play_all(&mut game, "0 2:20>22");
    assert_eq!(plays(&game).len(), 1);
    play_all(&mut game, "1 3:40>43");
    assert_eq!((game.phase(), plays(&game).len()), (Phase::Deal, 0));
    assert_eq!(stored(&game).get("round_history"), None);
}

#[test]
fn the_play_that_wins_is_recorded() {
    let position = DogspielIt.at("0: full | 2: 31 g1 g2 g3");
    let mut game = position.in_play(2, ["2 3", "2 3", "2 3", "2 3"]);
    play_all(&mut game, "2 2:31>g0");
    assert_eq!(game.phase(), Phase::Finished);
    let won = DogspielIt.at("0: full | 2: full");
    assert_eq!(plays(&game), [played(2, "2", &position, &won)]);
    assert_eq!(read(&stored(&game)), Some(game));
}

/// Plays a random game, and calls `show` with the game after each move and its expected record.
fn play_game(
    rules: &Rules,
    rng: &mut impl Rng,
    most: usize,
    mut each: impl FnMut(&Game, &[PastMove]),
) {
    let mut game = rules.game_of(Seed::new(rng.random()), None);
    let mut expected = Vec::new();
    for _ in 0..most {
        if game.phase() == Phase::Finished {
            return;
        }
        if game.phase() == Phase::Deal {
            expected.clear();
            deal(&mut game);
            exchange(&mut game);
        }
        let seat = game.turn().expect("somebody is to move");
        let before = *game.board();
        let moves = Generator::new().legal_moves(rules, &before, seat, game.hand(seat));
        let mv = moves.choose(rng).expect("a move").mv;
        let events = game
            .apply(&Action::Play { seat, mv })
            .expect("a legal move");
        let (card, revealed) = match events[0].what {
            EventKind::HandFolded { cards, .. } => (None, cards),
            _ => (mv.card(), mv.card().into_iter().collect()),
        };
        let after = *game.board();
        expected.push(PastMove {
            seat,
            before,
            card,
            revealed,
            after,
        });
        if game.phase() == Phase::Deal {
            expected.clear();
        }
        each(&game, &expected);
    }
}

#[test]
fn records_are_stored_and_read_back() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(30);
    let mut longest = 0;
    for _ in 0..60 {
        let rules = random::rules(&mut rng);
        play_game(&rules, &mut rng, 120, |game, expected| {
            assert_eq!(plays(game), expected);
            longest = longest.max(expected.len());
            let read = read(&stored(game)).expect("a stored game");
            assert_eq!(plays(&read), expected);
            assert_eq!(&read, game);
        });
    }
    assert!(longest > 24, "{longest}");
}

#[test]
fn round_histories_are_short() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(31);
    let six = Familienlager.with(|options: &mut Options| options.seats = 6);
    let mut most = 0;
    for _ in 0..40 {
        play_game(&six, &mut rng, 1_000, |game, expected| {
            let stored = stored(game);
            let size = stored
                .get("round_history")
                .map_or(0, |history| history.to_string().len());
            assert!(size <= 200 + 40 * expected.len(), "{size} bytes");
            most = most.max(size);
        });
    }
    assert!((700..1_500).contains(&most), "{most} bytes");
}

/// A stored game with a history of a card, a fold and a seven.
fn recorded() -> Value {
    let position = DogspielIt.at("0: 20 | 2: 40 50");
    let mut game = position.in_play(0, ["2 3", "2 9", "7 8", "4"]);
    play_all(&mut game, "0 2:20>22, 1 fold, 2 7:40>42,50>55");
    stored(&game)
}

#[test]
fn a_round_history_is_stored_so() {
    let history = json!({
        "began": {
            "track": [[20], [], [40, 50], [], [], []],
            "goal": [0, 0, 0, 0, 0, 0],
            "fresh": 0,
        },
        "turns": [[0, "2:20>22", "2"], [1, "fold", "29"], [2, "7:40>42,50>55", "7"]],
    });
    assert_eq!(recorded()["round_history"], history);
}

/// Changes to the stored game of `recorded` that make it inconsistent, and what they are.
const DAMAGES: &str = r#"
a move without its piece: /round_history/turns/0/1 = "2:21>23"
a move to another board: /round_history/turns/2/1 = "7:40>47"
a card not laid open: /round_history/turns/0/2 = "3"
a card laid open besides: /round_history/turns/0/2 = "23"
a fold of no cards: /round_history/turns/1/2 = ""
a fold that was none: /round_history/turns/1/2 = "2K"
cards that do not lie open: /round_history/turns/1/2 = "28"
no such seat: /round_history/turns/1/0 = 200
not this seat's turn: /round_history/turns/1/0 = 3
another's turn now: /turn = 0
no turns: /round_history/turns = []
a turn left out: /round_history/turns = [[0, "2:20>22", "2"]]
a board that never was: /round_history/began/track/0 = [64]
a board of six seats: /round_history/began/track/5 = [1]
the history of a round that is over: /phase = "deal" and /turn = null
"#;

/// The same for a game without a history.
const DAMAGES_WITHOUT_HISTORY: &str = r#"
no such turn: /turn = 4
nobody's turn: /turn = null
another phase: /phase = "exchange"
no such dealer: /first_dealer = 255
no round: /round = 0
no players: /players = []
no seats: /seats = []
no such board: /board/track/0 = [90]
a card twice: /seats/0/hand = "22"
a card less: /seats/3/hand = ""
a card that is laid open and held: /discards = "2"
another deck: /rules/jokers = 7
no stock: /stock = ""
"#;

#[test]
fn damaged_games_are_not_read() {
    let position = DogspielIt.at("0: 20");
    let whole = stored(&position.in_play(0, ["2", "2", "2", "2"]));
    for (whole, damages) in [(recorded(), DAMAGES), (whole, DAMAGES_WITHOUT_HISTORY)] {
        assert!(read(&whole).is_some());
        for damage in damages.trim().lines() {
            let (_, changes) = damage.split_once(": ").expect("WHAT: CHANGES");
            let mut damaged = whole.clone();
            for change in changes.split(" and ") {
                let (place, value) = change.split_once(" = ").expect("PLACE = VALUE");
                let place = damaged.pointer_mut(place).expect("a place in the game");
                *place = serde_json::from_str(value).expect("JSON");
            }
            assert_ne!(damaged, whole, "{damage}");
            assert_eq!(read(&damaged), None, "{damage}");
        }
    }
    let mut twice = recorded();
    let turns = twice["round_history"]["turns"].as_array_mut();
    let turns = turns.expect("turns");
    turns.insert(0, turns[0].clone());
    assert_eq!(read(&twice), None, "a turn twice");
}

/// Reading never panics, whatever a text holds.
#[test]
fn no_damage_makes_a_reader_panic() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(32);
    let whole = recorded().to_string();
    let history = recorded()["round_history"].to_string();
    let place = whole.find(&history).expect("the history in the game");
    let (mut read, times) = (0, 20_000);
    for _ in 0..times {
        let mut bytes = whole.clone().into_bytes();
        for _ in 0..rng.random_range(1..4) {
            let damaged = place + rng.random_range(0..history.len());
            bytes[damaged] = *b"0123456789AJKQ*,:>gp[]\"fold"
                .choose(&mut rng)
                .expect("a byte");
        }
        if let Ok(game) = serde_json::from_slice::<Game>(&bytes) {
            plays(&game);
            read += 1;
        }
    }
    // Few places can be overwritten with the same text, or with another way to the same board.
    assert!(read > 0 && read < times / 10, "{read} were read");
}
