//! The lessons of the page, which are files: each is solved through the API.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use crate::support::{TestServer, with};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/web/lessons");

/// The JSON file of this name in the folder of the lessons.
fn file(name: &str) -> Value {
    let text = fs::read_to_string(format!("{FOLDER}/{name}.json")).expect(name);
    serde_json::from_str(&text).expect(name)
}

/// The names of the lessons, in their order.
fn course() -> Vec<String> {
    serde_json::from_value(file("course")).expect("names")
}

/// A board as the server writes it, on a ring with this many fields per seat.
fn text_of(board: &Value, fields: usize) -> String {
    let seats = board.as_array().expect("a board").iter().enumerate();
    let texts = seats.map(|(seat, one)| {
        let numbers = |name: &str| one[name].as_array().expect(name).clone();
        let track = numbers("track").into_iter().map(|field| {
            let fresh = one["fresh"] == true && field == seat * fields;
            format!("{field}{}", if fresh { "f" } else { "" })
        });
        let goal = numbers("goal").into_iter().map(|depth| format!("g{depth}"));
        let pieces: Vec<String> = track.chain(goal).collect();
        if pieces.is_empty() {
            "-".to_owned()
        } else {
            pieces.join(" ")
        }
    });
    texts.collect::<Vec<_>>().join(" / ")
}

/// A lesson, and the server that knows the rules.
struct Lesson<'a> {
    server: &'a TestServer,
    name: String,
    data: Value,
    fields: usize,
}

impl Lesson<'_> {
    fn open(server: &TestServer, name: String) -> Lesson<'_> {
        let data = file(&name);
        let catalogue = server.get("/v1/rules").send().expect(200);
        let presets = catalogue["presets"].as_array().expect("presets");
        let rules = presets
            .iter()
            .find(|one| one["name"] == data["rules"]["preset"])
            .expect("a preset");
        let fields = rules["rules"]["fields_per_seat"].as_u64().expect("fields");
        Lesson {
            server,
            name,
            data,
            fields: usize::try_from(fields).expect("a small number"),
        }
    }

    fn post(&self, route: &str, seat: usize, hand: &Value, more: &Value) -> Value {
        let body = json!({
            "rules": self.data["rules"], "position": self.data["position"], "seat": seat, "hand": hand,
        });
        let request = self.server.post(&format!("/v1/analysis/{route}"));
        request.json(&with(body, more)).send().expect(200)
    }

    /// The boards that a seat can reach with a hand, with the ids of the moves.
    fn boards(&self, seat: usize, hand: &Value) -> Vec<(String, String)> {
        let moves = self.post("legal-moves", seat, hand, &json!({}))["moves"].take();
        let moves = moves.as_array().expect("moves").iter();
        let reached = |one: &Value| {
            let id = one["id"].as_str().expect("an id").to_owned();
            (id, text_of(&one["board"], self.fields))
        };
        moves.map(reached).collect()
    }

    /// The boards that a choice leads to: a move, a seven part by part, or a card for the partner, who
    /// then plays it. A choice that is not legal fails the test.
    fn follow(&self, choice: &Value) -> Vec<String> {
        let choice = choice.as_str().expect("a choice");
        let hand = &self.data["hand"];
        if self.data["exchange"] == true {
            let advice = json!({"phase": "exchange", "samples": 1, "seed": 1});
            let advice = self.post("suggest-move", 0, hand, &advice);
            let mut choices = advice["suggestions"].as_array().expect("choices").iter();
            let is_choice = choices.any(|one| one["swap"]["card"] == choice);
            assert!(is_choice, "{}: {choice} cannot be given", self.name);
            let reached = self.boards(2, &json!([choice]));
            return reached.into_iter().map(|(_, board)| board).collect();
        }
        if !choice.starts_with("7:") {
            let mut reached = self.boards(0, hand).into_iter();
            let board = reached.find_map(|(id, board)| (id == choice).then_some(board));
            return vec![board.unwrap_or_else(|| panic!("{}: {choice} is not legal", self.name))];
        }
        let mut begun = "7:".to_owned();
        for part in choice[2..].split(',') {
            let next = self.post("legal-moves/seven", 0, hand, &json!({"begun": begun}));
            begun += if begun == "7:" { "" } else { "," };
            begun += part;
            let parts = next["next"].as_array().expect("parts");
            let found = parts.iter().find(|one| one["id"] == *begun);
            let found = found.unwrap_or_else(|| panic!("{}: {begun} is not legal", self.name));
            if found["complete"] == true {
                assert_eq!(begun, choice, "{}", self.name);
                return vec![text_of(&found["board"], self.fields)];
            }
        }
        panic!("{}: {choice} is not a whole seven", self.name);
    }
}

#[test]
fn every_lesson_is_solved_by_its_solution_and_not_by_its_mistake() {
    let server = TestServer::shared();
    for name in course() {
        let lesson = Lesson::open(&server, name);
        let accepted: BTreeSet<String> =
            serde_json::from_value(lesson.data["accepted"].clone()).expect("boards");
        assert!(!accepted.is_empty(), "{}", lesson.name);
        let solves = |choice: &Value| {
            let reached = lesson.follow(choice);
            reached.iter().any(|board| accepted.contains(board))
        };
        assert!(solves(&lesson.data["solution"]), "{}", lesson.name);
        assert!(!solves(&lesson.data["mistake"]), "{}", lesson.name);

        // Every board that is accepted can be reached, and not every card or move leads to one.
        let hand = lesson.data["hand"].as_array().expect("a hand");
        let reached: BTreeSet<String> = if lesson.data["exchange"] == true {
            let cards = hand.iter().map(|card| lesson.boards(2, &json!([card])));
            cards.flatten().map(|(_, board)| board).collect()
        } else {
            let moves = lesson.boards(0, &lesson.data["hand"]);
            moves.into_iter().map(|(_, board)| board).collect()
        };
        assert!(accepted.is_subset(&reached), "{}: {reached:?}", lesson.name);
        assert!(!accepted.contains(lesson.data["position"].as_str().expect("a position")));
    }
}

#[test]
fn the_course_has_every_file_of_the_folder_once() {
    let files = fs::read_dir(FOLDER).expect("the lessons");
    let mut found: Vec<String> = files
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.file_stem().is_some_and(|name| name != "course"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into())
        .collect();
    found.sort();
    let mut course = course();
    assert!(course.len() >= 10, "{course:?}");
    course.sort();
    assert_eq!(course, found);
}
