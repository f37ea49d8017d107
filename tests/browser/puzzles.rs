//! The position of the day, earlier ones, and decisions of a game once more.

use serde_json::{Value, json};

use crate::support::{Browser, Form, TestGame, TestServer, TestViewer::Spectator, open, text};

/// Chooses whatever comes first, until something was answered.
fn answer(browser: &Browser) {
    let press = "
        const next = ['.solved, .tried', '.buttons .danger, .place:enabled, .ranks button:enabled, .buttons .primary:enabled',
          '.hand button:enabled:not([aria-disabled])'].map((one) => document.querySelector(one));
        const what = next.find(Boolean);
        if (what && !next[0]) what.click();
        return Boolean(next[0]);";
    browser.wait("a hand", |look| !look.hand.is_empty());
    while browser.script(press, vec![]) != true {
        browser.settle();
    }
}

/// What is told after an answer.
fn told(browser: &Browser) -> Value {
    browser.wait_for_element(".puzzle .advice");
    browser.eval(
        "({
          right: document.querySelector('.solved') !== null,
          says: document.querySelector('.status').innerText,
          first: document.querySelector('.advice .grow').firstChild.data,
          reasons: document.querySelectorAll('.reasons li').length,
          arrows: document.querySelectorAll('.way.preview, .way.last').length,
          hand: document.querySelector('.hand') !== null,
        })",
    )
}

fn puzzle(server: &TestServer, which: &str) -> Value {
    let path = format!("/v1/puzzles{which}");
    server.get(&path).send().expect(200)
}

#[test]
fn today_has_one_try_and_a_result_to_share() {
    let (server, browser) = open();
    browser.show_as(Form::sized(360, 600));
    browser.go("/?lang=en");
    browser.click_on("a[href='#/puzzles/today']");
    answer(&browser);
    let first = told(&browser);
    assert_eq!(first["hand"], false);
    let number = puzzle(&server, "")["today"].take();
    let (right, shape) = match first["right"] == true {
        true => ("Right!", '◆'),
        false => ("There is something better.", '◇'),
    };
    assert!(text(&first["says"]).starts_with(right), "{first}");
    browser.press_anywhere("Share");
    let row = format!("{}{shape}", "·".repeat(6));
    let shared = browser.value(&format!("Your result, with a link to position {number}"));
    let begins = format!("DOG, position {number}: {row} http");
    assert!(shared.starts_with(&begins), "{shared}");
    assert!(
        shared.ends_with(&format!("/#/puzzles/{number}")),
        "{shared}"
    );
    let streak = browser.eval("document.querySelector('.row strong')?.textContent ?? null");
    let expected = (first["right"] == true).then_some("1 day in a row");
    assert_eq!(streak, json!(expected));

    // There is no second try, neither after a reload nor by its number.
    browser.reload();
    assert_eq!(told(&browser), first);
    browser.click_on("a[href='#/puzzles']");
    browser.wait_for_element(".numbers li");
    // A year of days, today's first; their numbers begin anew after the last.
    let list = "[...document.querySelectorAll('.numbers li')].map((one) => one.innerText.replace(/\\s+/g, ' '))";
    let word = if first["right"] == true {
        "right"
    } else {
        "wrong"
    };
    let of = puzzle(&server, "");
    let [today, count] = ["today", "count"].map(|name| of[name].as_u64().expect("a number"));
    let before = (1..365).map(|ago| (1 + (today + count - 1 - ago) % count).to_string());
    let days: Vec<String> = [format!("{number} {shape} {word}")]
        .into_iter()
        .chain(before)
        .collect();
    assert_eq!(browser.eval(list), json!(days));
    browser.click_on(".numbers a");
    assert_eq!(told(&browser), first);
}

#[test]
fn an_answer_is_told_what_is_best_and_why() {
    let (_server, browser) = open();
    browser.show_as(Form::sized(360, 600));
    browser.go("/?lang=en#/puzzles/1");
    browser.wait_for_todo("What is best?");
    browser
        .wait_for_words("Cards of the others: Right opponent 2, Partner 1, and Left opponent 1.");
    let fits = "[...document.querySelectorAll('.board, .hand, .buttons')]
        .every((one) => one.getBoundingClientRect().bottom <= innerHeight)";
    assert_eq!(browser.eval(fits), true);
    browser.choose_card("5");
    browser.choose_place("5");
    let wrong = told(&browser);
    assert_eq!(wrong["right"], false);
    assert!(
        text(&wrong["says"]).contains("49% to win, in place of 34%."),
        "{wrong}"
    );
    browser.forget_all();
    browser.go("/?lang=en#/puzzles/1");
    browser.choose_card("4");
    browser.choose_place("60");
    let right = told(&browser);
    assert_eq!(right["right"], true);
    let says = "Right!\n49% to win. Found by playing the round to its end 1667 times.";
    assert!(text(&right["says"]).starts_with(says), "{right}");
    assert_eq!(right["first"], "You play 4 and go back");
    // Its way, and what often follows.
    assert_eq!(
        [&right["reasons"], &right["arrows"]],
        [&json!(4), &json!(2)]
    );
    // The focus is where one reads on.
    assert_eq!(
        browser.eval("document.activeElement.closest('.advice') !== null"),
        true
    );
    browser.wait_for_words("Then often: ");
}

#[test]
fn a_card_of_an_exchange_is_an_answer() {
    let (server, browser) = open();
    let mut numbers = 1..=216;
    let number = numbers
        .find(|number| {
            let puzzle = puzzle(&server, &format!("/{number}"));
            puzzle["choices"] == json!(["card", "decline"])
        })
        .expect("one who is asked for a card");
    browser.go(&format!("/?lang=en#/puzzles/{number}"));
    browser.wait_for_todo("Your partner asks for a card.");
    browser.press("Do not help");
    let declined = told(&browser);
    let path = format!("/v1/puzzles/{number}/answer");
    let body = json!({"swap": {"decline": true}});
    let answer = server.post(&path).json(&body).send().expect(200);
    assert_eq!(declined["right"], answer["right"]);
}

#[test]
fn a_decision_of_a_game_is_made_again() {
    let (server, browser) = open();
    let game = TestGame::imported(&server);
    game.post(Spectator, "/review").send().expect(202);
    browser.go(&format!("/?lang=en#/games/{}", game.id));
    browser.press("Review");
    browser.wait_for_words("Every decision of the game was looked at.");
    let review = game.get(Spectator, "/review").send().expect(200);
    let version = &review["seats"][0]["costliest"][0];
    let mut decisions = review["decisions"].as_array().expect("decisions").iter();
    let decision = decisions.find(|one| one["version"] == *version);
    let best = &decision.expect("one")["best"];
    browser.click_on(".review .advice button");
    browser.press("Play this again");
    browser.wait_for_words("A decision of this game: choose once more.");
    let hand = browser
        .wait("the hand", |look| !look.hand.is_empty())
        .hand
        .len();
    assert!(hand > 1);
    answer(&browser);
    let first = told(&browser);
    assert!(text(&first["says"]).contains("to win"), "{first} {best}");
    // It is not a puzzle of a day, and leads back.
    assert_eq!(
        browser.eval("localStorage.getItem('dog.puzzles')"),
        json!(null)
    );
    browser.click_on(".back");
    browser.wait_for_element(".review .advice button");
}
