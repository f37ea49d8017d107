//! The course, the rules of a table, and what the page says to a newcomer.

use std::fs;

use serde_json::{Value, json};

use crate::{
    signals::TONES,
    support::{
        Browser, Form, KeyboardPlayer, Look, Situation, Style, create_with_bots, italian, offers,
        open, text,
    },
};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/web/lessons");

fn file(name: &str) -> Value {
    let text = fs::read_to_string(format!("{FOLDER}/{name}.json")).expect(name);
    serde_json::from_str(&text).expect(name)
}

/// A place of a move id as the page writes it: `g0` is `goal:0`.
fn place(text: &str) -> String {
    match text.strip_prefix('g') {
        Some(depth) => format!("goal:{depth}"),
        None => text.to_owned(),
    }
}

/// What a move id is played with: the card, what a joker stands for, and from where to where.
fn steps_of(id: &str) -> (&str, Option<&str>, Vec<(String, String)>) {
    let (card, moves) = id.split_once(':').expect("a move id");
    let (card, rank) = match card.split_once('=') {
        Some((card, rank)) => (card, Some(rank)),
        None => (card, None),
    };
    if moves == "out" {
        return (card, rank, vec![("kennel".to_owned(), "0".to_owned())]);
    }
    let parts = moves.split(',').map(|part| {
        let ends = part.split_once("<>").or_else(|| part.split_once('>'));
        let (from, to) = ends.expect("a part");
        (place(from), place(to))
    });
    (card, rank, parts.collect())
}

/// Solves the lesson on the screen with Tab and Enter.
fn solve(browser: &Browser, lesson: &Value) {
    let keyboard = KeyboardPlayer::new(browser, 0);
    let enter = || browser.key(KeyboardPlayer::ENTER);
    let solution = text(&lesson["solution"]);
    browser.wait("the hand", |look| !look.hand.is_empty());
    if lesson["exchange"] == true {
        keyboard.tab_to(|look| look.card(solution));
        enter();
        browser.wait("Give", |look| look.is_focused("Give"));
        enter();
        return;
    }
    let (card, rank, parts) = steps_of(solution);
    keyboard.tab_to(|look| look.card(card));
    enter();
    if let Some(rank) = rank {
        browser.wait("the ranks", |look| !look.ranks.is_empty());
        keyboard.tab_to(|look| look.ranks.iter().find(|one| one.name == rank));
        enter();
    }
    for (from, to) in parts {
        let asked = |look: &Look| look.todo.contains("Choose") && !offers(look).is_empty();
        let look = browser.wait("a choice on the board", asked);
        if look.todo.contains("Choose a piece") {
            keyboard.tab_to(|look| look.place(&from));
            enter();
            browser.wait_for_todo("Choose where");
        }
        keyboard.tab_to(|look| look.place(&to));
        enter();
    }
    if card == "7" {
        browser.wait("Play", |look| look.is_focused("Play"));
        enter();
    }
}

#[test]
fn the_whole_course_is_solved_by_keyboard() {
    let (_server, browser) = open();
    browser.go("/?lang=en#/learn/1");
    let course = file("course");
    let course = course.as_array().expect("lessons");
    for (index, name) in course.iter().enumerate() {
        let number = format!("{} / {}", index + 1, course.len());
        browser.wait_for_words(&number);
        solve(&browser, &file(text(name)));
        let look = browser.wait_for_todo("Solved!");
        let is_last = index + 1 == course.len();
        let next = match is_last {
            true => "Play your first game",
            false => "Next lesson",
        };
        assert!(look.can(next), "{look:#?}");
        browser.wait("the focus", |look| look.is_focused(next));
        if !is_last {
            browser.key(KeyboardPlayer::ENTER);
        }
    }
    browser.go("/?lang=en#/learn");
    browser.wait_for_words("10 of 10 lessons solved.");
}

#[test]
fn a_lesson_says_what_a_mistake_does_and_can_be_tried_again() {
    let (_server, browser) = open();
    browser.show_as(Form::sized(360, 616));
    browser.go("/?lang=en");
    browser.click_on("a[href=\"#/learn\"]");
    browser.wait_for_words("0 of 10 lessons solved.");
    browser.click_on("a[href=\"#/learn/2\"]");
    let title = "document.activeElement.matches('h1') && document.activeElement.textContent";
    browser.wait_for_script("the title", &format!("({title}) === 'Move and capture'"));
    let task = "Send the opponent in front of you home.";
    browser.wait_for_todo(task);
    // It is legal, and passes the opponent.
    browser.choose_card("Q");
    browser.wait_for_todo("A piece goes 12 forward");
    browser.choose_place("22");
    let look = browser.wait_for_todo("Try again");
    for words in ["You play a queen (+ 12).", "It passes the opponent", task] {
        assert!(look.todo.contains(words), "{words}: {}", look.todo);
    }
    assert!(!look.can("Next lesson"));
    browser.wait_for_element(".way.preview");
    // Another move that is not a solution either.
    browser.choose_card("5");
    browser.choose_place("15");
    browser.wait_for_todo("It stops too early.");
    browser.choose_card("8");
    browser.choose_place("18");
    browser.press("Next lesson");
    browser.wait_for_words("Four backward");
    browser.go("/?lang=en#/learn");
    browser.wait_for_words("1 of 10 lessons solved.");
    browser.go("/?lang=en#/learn/99");
    browser.wait_for_words("1 of 10 lessons solved.");
}

/// A browser that counts the pieces that hop.
const COUNTING: &str = "
  window.hops = [];
  const { animate } = Element.prototype;
  Element.prototype.animate = function (frames, how) {
    const { seat, place } = this.dataset;
    if (place && frames[0].transform.includes('scale')) window.hops.push(`${seat} ${place}`);
    return animate.call(this, frames, how);
  };";

/// What is done so far is told, in a try and in the middle of a seven; then the pieces hop.
#[test]
fn a_lesson_says_what_is_missing_and_ends_in_joy() {
    let (_server, browser) = open();
    browser.prepare(&[TONES, COUNTING].concat());
    for reduced_motion in [false, true] {
        browser.show_as(Form {
            reduced_motion,
            ..Form::sized(360, 600)
        });
        browser.go("/?lang=en#/learn");
        browser.go("/?lang=en#/learn/5");
        let choose = |from: &str, to: &str| {
            browser.wait_for_todo("Choose a piece");
            browser.choose_place(from);
            browser.wait_for_todo("Choose where");
            browser.choose_place(to);
        };
        browser.choose_card("6");
        choose("61", "goal:2");
        browser.wait_for_todo("Half done: a piece is in the goal.");
        browser.choose_card("7");
        choose("20", "23");
        browser.wait_for_todo("Half done: the opponent is home. Now bring a piece into the goal");
        assert_eq!(browser.eval("window.hops"), json!([]));
        browser.eval("window.tones = 0");
        browser.choose_place("goal:0");
        browser.press("Play");
        browser.wait_for_todo("Solved!");
        // Two presses, a step each, the capture, and the four tones of the end.
        browser.wait_for_script("the sound", "window.tones === 2 + 7 + 1 + 4");
        let hops = browser.eval("[...new Set(window.hops)].filter((one) => one[0] === '0').sort()");
        let expected = if reduced_motion {
            json!([])
        } else {
            json!(["0 23", "0 goal:0"])
        };
        assert_eq!(hops, expected);
        // All of it is one screen.
        let below = "[...document.querySelectorAll('.board, .hand, .buttons')]
            .filter((one) => one.getBoundingClientRect().bottom > innerHeight || one.getBoundingClientRect().top < 0).length";
        assert_eq!(browser.eval(below), 0);
    }
}

#[test]
fn every_card_says_what_it_does() {
    let (server, browser) = open();
    browser.sit_in(Situation::with_a_fold(&server));
    browser.wait_for_element(".card[aria-disabled]");
    for index in 0..browser.look().hand.len() {
        let look = browser.look();
        let name = &look.hand[index].name;
        let says = match name.as_str() {
            "J" => "J: One of your pieces changes places".to_owned(),
            "Q" => "Q: A piece goes 12 forward.".to_owned(),
            "4" => "4: A piece goes 4 forward or 4 backward.".to_owned(),
            "7" => "7: 7 steps forward".to_owned(),
            _ => format!("{name}: A piece goes {name} forward."),
        };
        browser.click(&look.hand[index]);
        let look = browser.wait(name, |look| look.todo.contains(&says));
        assert!(look.todo.contains("Not now. "), "{}", look.todo);
    }
}

#[test]
fn a_coach_line_does_not_come_back() {
    let (server, browser) = open();
    let game = browser.sit_at(create_with_bots(&server, &italian(), 5, 0), 0);
    // It is about the hand.
    let line = match game
        .hand(0)
        .iter()
        .filter(|card| ["A", "K", "joker"].contains(&card.as_str()))
        .count()
    {
        0 => "No ace, king or joker here",
        1 => "to bring a piece out: for you, or for your partner?",
        _ => "cards that bring a piece out.",
    };
    browser.wait_for_words(line);
    let gone = format!("!document.body.innerText.includes('{line}')");
    browser.press("Got it");
    browser.wait_for_script("the line to go", &gone);
    browser.open_table(&game);
    browser.wait_for_todo("Choose a card for");
    assert_eq!(browser.eval(&gone), true);
    // Another line tells which cards bring a piece out: in the first game, not in the second.
    let out = "a piece comes out of the kennel.";
    let comes_out =
        |view: &Value, moves: &[Value]| view["round"] == 1 && moves[0]["kind"] == "leave_kennel";
    let scene = |number| Situation::find(&server, &italian(), number, Style::FirstSeat, comes_out);
    browser.forget_all();
    let (first, second) = (scene(1), scene(2));
    browser.sit(&first.game, 0);
    browser.wait_for_words(out);
    browser.sit(&second.game, 0);
    browser.wait_for_todo("choose a card");
    let has = format!("document.body.innerText.includes('{out}')");
    assert_eq!(browser.eval(&has), false);
}
