//! The course, the rules of a table, and what the page says to a newcomer.

use std::fs;

use serde_json::{Value, json};

use crate::support::{
    Browser, Form, KeyboardPlayer, Look, Situation, Style, TestServer, create_with_bots, offers,
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

fn focused_on(look: &Look, name: &str) -> bool {
    look.button(name).is_some_and(|one| one.focused)
}

/// Solves the lesson on the screen with Tab and Enter.
fn solve(browser: &Browser, lesson: &Value) {
    let keyboard = KeyboardPlayer::new(browser, 0);
    let enter = || browser.key(KeyboardPlayer::ENTER);
    let solution = lesson["solution"].as_str().expect("a solution");
    browser.wait("the hand", |look| !look.hand.is_empty());
    if lesson["exchange"] == true {
        keyboard.tab_to(|look| look.card(solution));
        enter();
        browser.wait("Give", |look| focused_on(look, "Give"));
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
            browser.wait("targets", |look| look.todo.contains("Choose where"));
        }
        keyboard.tab_to(|look| look.place(&to));
        enter();
    }
    if card == "7" {
        browser.wait("Play", |look| focused_on(look, "Play"));
        enter();
    }
}

#[test]
fn the_whole_course_is_solved_by_keyboard() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    browser.go("/?lang=en#/learn/1");
    let course = file("course");
    let course = course.as_array().expect("lessons");
    for (index, name) in course.iter().enumerate() {
        let number = format!("{} / {}", index + 1, course.len());
        browser.wait_for_words(&number);
        solve(&browser, &file(name.as_str().expect("a name")));
        let look = browser.wait("the end of a lesson", |look| look.todo.contains("Solved!"));
        let next = if index + 1 < course.len() {
            "Next lesson"
        } else {
            "Play against bots"
        };
        assert!(look.can(next), "{look:#?}");
        browser.wait("the focus", |look| focused_on(look, next));
        if next == "Next lesson" {
            browser.key(KeyboardPlayer::ENTER);
        }
    }
    browser.go("/?lang=en#/learn");
    browser.wait_for_words("10 of 10 lessons solved.");
}

#[test]
fn a_lesson_says_what_a_mistake_does_and_lets_try_again() {
    let server = TestServer::shared();
    let phone = Form {
        size: (360, 616),
        ..Form::default()
    };
    let Some(browser) = Browser::open_with(&server, phone) else {
        return;
    };
    browser.go("/?lang=en");
    browser.script(
        "document.querySelector('a[href=\"#/learn\"]').click()",
        vec![],
    );
    browser.wait_for_words("0 of 10 lessons solved.");
    browser.script(
        "document.querySelector('a[href=\"#/learn/2\"]').click()",
        vec![],
    );
    browser.wait_for_script(
        "the title as the heading, which has the focus",
        "document.activeElement.matches('h1') && document.activeElement.textContent === 'Move and capture'",
    );
    let task = "Send the opponent in front of you home.";
    browser.wait("the task", |look| look.todo.contains(task));
    // It is legal, and passes the opponent.
    browser.choose_card("Q");
    let look = browser.wait("the target", |look| look.place("22").is_some());
    assert!(
        look.todo.contains("A piece goes 12 forward"),
        "{}",
        look.todo
    );
    browser.click(look.place("22").expect("the target"));
    let look = browser.wait("the mistake", |look| look.todo.contains("Try again"));
    assert!(look.todo.contains("You play Q (+ 12)."), "{}", look.todo);
    assert!(
        look.todo.contains("It passes the opponent"),
        "{}",
        look.todo
    );
    assert!(look.todo.contains(task), "{}", look.todo);
    assert!(!look.can("Next lesson"));
    browser.wait_for_script(
        "its way on the board",
        "document.querySelector('.way.preview')",
    );
    // Another one that is no solution either.
    browser.choose_card("5");
    let look = browser.wait("the target", |look| look.place("15").is_some());
    browser.click(look.place("15").expect("the target"));
    browser.wait("the answer", |look| look.todo.contains("not what is asked"));
    browser.choose_card("8");
    let look = browser.wait("the target", |look| look.place("18").is_some());
    browser.click(look.place("18").expect("the target"));
    browser.press("Next lesson");
    browser.wait_for_words("Four backward");
    browser.go("/?lang=en#/learn");
    browser.wait_for_words("1 of 10 lessons solved.");
    browser.go("/?lang=en#/learn/99");
    browser.wait_for_words("1 of 10 lessons solved.");
}

#[test]
fn every_card_says_what_it_does() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let rules = json!({"preset": "dogspiel-it"});
    let scene = Situation::find(&server, &rules, 0, Style::FirstSeat, |_, moves| {
        moves[0]["kind"] == "fold"
    });
    browser.sit(&scene.game, 0);
    browser.wait_for_script(
        "a card that cannot be played",
        "document.querySelector('.card[aria-disabled]')",
    );
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
        assert!(look.todo.contains("Not now: "), "{}", look.todo);
    }
}

#[test]
fn the_lines_of_the_coach_go_for_good() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let rules = json!({"preset": "dogspiel-it"});
    let game = create_with_bots(&server, &rules, 5, 0);
    browser.sit(&game, 0);
    let line = "An ace, king or joker helps your partner out.";
    browser.wait_for_words(line);
    let gone = format!("!document.body.innerText.includes('{line}')");
    browser.press("Got it");
    browser.wait_for_script("the line to go", &gone);
    browser.open_table(&game);
    browser.wait("the exchange", |look| {
        look.todo.contains("Choose a card for")
    });
    assert_eq!(browser.script(&format!("return {gone}"), vec![]), true);
    // What brings a piece out is another one, which the second game does not have.
    let out = "The red cards bring a piece out";
    let scene = |number| {
        Situation::find(&server, &rules, number, Style::FirstSeat, |view, moves| {
            view["round"] == 1 && moves[0]["kind"] == "leave_kennel"
        })
    };
    browser.forget_all();
    let (first, second) = (scene(1), scene(2));
    browser.sit(&first.game, 0);
    browser.wait_for_words(out);
    browser.sit(&second.game, 0);
    browser.wait("the turn", |look| look.todo.contains("choose a card"));
    let has = format!("return document.body.innerText.includes('{out}')");
    assert_eq!(browser.script(&has, vec![]), false);
}
