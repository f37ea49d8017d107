//! The key of a closed server, and the notice of its operator.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    home::choose_file,
    support::{
        Between, Browser, Form, HeadLines, LINK_FOR_ALL, Look, OperatorFile, TestGame, TestServer,
        create_with_bots, game_of, go_home, invite_friends, italian, open_through, play_by_api,
        play_together, problem, sit_down, wait_for_offers, wait_for_seat,
    },
};

const KEY: &str = "a-key-of-the-club";
const ASKED: &str = "This needs the key of this server.";
const WRONG: &str = "This key is not valid, or no longer valid.";

/// A server that asks for the key.
fn closed() -> (OperatorFile, TestServer) {
    let keys = OperatorFile::new("keys", KEY);
    let environment = [
        ("DOG_CREATE_KEYS", keys.path()),
        ("DOG_REVIEW_PERCENT", "1"),
    ];
    let server = TestServer::start_with(&environment);
    (keys, server)
}

/// The id of a finished game.
fn import(server: &TestServer) -> String {
    let record = include_str!("../records/four.dog");
    let import = server.post("/v1/games/import").header("Dog-Key", KEY);
    let imported = import.text("text/plain", record).send().expect(201);
    imported["id"].as_str().expect("an id").to_owned()
}

fn kept(browser: &Browser) -> Value {
    browser.eval("JSON.parse(localStorage.getItem('dog.key'))")
}

fn answer_with(browser: &Browser, key: &str) {
    browser.type_into("Key of this server", key);
    browser.press("Continue");
}

/// Something that needs a key, and what is seen once it is done.
type Act<'a> = (Box<dyn Fn(&Browser) + 'a>, &'a str);

#[test]
fn the_key_is_asked_for_once() {
    let (_keys, server) = closed();
    let browser = Browser::open(&server);
    browser.expect_message(&["403"]);
    browser.expect_message(&["review", "404"]);
    let game = import(&server);
    let go = |browser: &Browser, fragment: &str| browser.go(&format!("/?lang=en#/{fragment}"));
    let review = |browser: &Browser| {
        go(browser, &format!("games/{game}"));
        browser.press("Review");
    };
    let acts: [Act<'_>; 6] = [
        (
            Box::new(|browser| {
                go_home(browser, "Anna");
                browser.press("Play against bots");
            }),
            ".hand button",
        ),
        (
            Box::new(|browser| {
                go_home(browser, "Anna");
                browser.press("Invite friends");
            }),
            ".invite",
        ),
        (
            Box::new(|browser| {
                go_home(browser, "Anna");
                browser.press("Play now");
            }),
            ".teams",
        ),
        (
            Box::new(|browser| {
                go(browser, "watch");
                browser.wait("the button", |look| look.can("Open a record"));
                choose_file(browser, include_str!("../records/four.dog"));
            }),
            "[aria-label=Step]",
        ),
        (
            Box::new(|browser| {
                go(
                    browser,
                    "analyse?rules=dogspiel-it&position=0f,9/17/-/46&seat=0&hand=7,K",
                );
                browser.press("Advice");
            }),
            ".reasons li",
        ),
        (Box::new(review), ".review .says"),
    ];
    for (number, (act, done)) in acts.iter().enumerate() {
        act(&browser);
        browser.wait_for_words(ASKED);
        assert_eq!(browser.eval("document.activeElement.name"), "key");
        if number == 0 {
            answer_with(&browser, "another-key-of-a-club");
            browser.wait_for_alert(WRONG);
        }
        assert_eq!(kept(&browser), Value::Null);
        answer_with(&browser, &format!(" {KEY} "));
        browser.wait_for_element(done);
        assert_eq!(kept(&browser), KEY);
        browser.eval("localStorage.removeItem('dog.key')");
    }
    // Whoever has none can say so, also with Escape.
    go_home(&browser, "Anna");
    browser.eval("localStorage.removeItem('dog.key')");
    for end in ["Cancel", ""] {
        browser.press("Play against bots");
        browser.wait_for_words(ASKED);
        match end {
            "" => browser.key('\u{e00c}'),
            _ => browser.press(end),
        }
        browser.wait_for_alert(ASKED);
        browser.wait_for_script("no question", "!document.querySelector('dialog.key')");
    }
    // Once it is known, nobody asks again.
    browser.press("Play against bots");
    answer_with(&browser, KEY);
    browser.wait_for_cards();
    for (act, done) in &acts[..5] {
        act(&browser);
        browser.wait_for_element(done);
    }
    assert_eq!(
        browser.eval("document.querySelector('dialog.key')"),
        Value::Null
    );
}

#[test]
fn a_withdrawn_key_is_asked_for_again() {
    let (keys, server) = closed();
    let browser = Browser::open(&server);
    browser.expect_message(&["403"]);
    browser.store("dog.key", &json!(KEY));
    keys.write("a-newer-key-of-the-club\n");
    let create = || {
        server
            .post("/v1/games")
            .json(&json!({}))
            .header("Dog-Key", KEY)
    };
    while create().send().status == 201 {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    go_home(&browser, "Anna");
    browser.press("Invite friends");
    browser.wait_for_alert(WRONG);
    answer_with(&browser, "a-newer-key-of-the-club");
    browser.wait_for_words("Waiting for 3 more players.");
    assert_eq!(kept(&browser), "a-newer-key-of-the-club");
}

/// A refusal is a message in the guest's console, which fails the test. Why something was better is
/// advice of an analysis, and left out.
#[test]
fn a_guest_needs_no_key() {
    let (_keys, server) = closed();
    let browsers = Browser::open_many(&server, 2);
    let [host, guest] = &browsers[..] else {
        unreachable!("there are two")
    };
    for browser in &browsers {
        // Somebody else has moved meanwhile.
        browser.expect_message(&["legal-moves", "409"]);
    }
    // A bot deals the rematch by itself, and may be first.
    host.expect_message(&["deal", "409"]);
    host.store("dog.key", &json!(KEY));
    guest.expect_message(&["review", "404"]);
    guest.expect_message(&["suggest-move", "403"]);
    guest.go("/?lang=en#/learn/1");
    guest.wait("the hand", |look| !look.hand.is_empty());
    guest.click_on(".hand button");
    wait_for_offers(guest);
    invite_friends(host, "Anna");
    sit_down(guest, &host.value(LINK_FOR_ALL), "Beat");
    host.wait_for_words("Waiting for 2 more players.");
    host.press("Start");
    let game = game_of(&server, &browsers);
    play_by_api(&game, |view| view["phase"] == "finished");
    guest.press("Review");
    guest.wait_for_words("Every decision of the game was looked at.");
    guest.press("Rematch");
    wait_for_seat(guest);
    host.wait_for_alert("want to play again");
    host.press("Rematch");
    let begins = |look: &Look| look.can("Start") || look.hand.len() == 6;
    if let Some(start) = host.wait("the next game", begins).button("Start") {
        host.try_click(start);
    }
    play_together(&browsers, |look| look.team.is_none() && look.log > 6);
    assert_eq!(kept(guest), Value::Null);
}

/// What is seen of the notice; and whether all that a player needs is below it, and on the screen.
const SEEN: &str = "
    const notice = document.querySelector('.notice[role=status]');
    const [above, stage, buttons] = [notice, ...document.querySelectorAll('.stage, .dock > .buttons')]
      .map((one) => one.getBoundingClientRect());
    return [notice.querySelector('p')?.innerText ?? null,
      above.bottom <= stage.top && stage.bottom <= buttons.top && buttons.bottom <= innerHeight];";

#[test]
fn a_notice_is_above_until_it_is_dismissed() {
    let file = OperatorFile::new("notice", "Back at 22:00.");
    let server = TestServer::start_with(&[("DOG_NOTICE", file.path())]);
    let browser = Browser::open(&server);
    browser.show_as(Form::sized(360, 600));
    let game: TestGame<'_> = create_with_bots(&server, &italian(), 3, 0);
    browser.sit(&game, 0);
    browser.wait_for_cards();
    browser.wait_for_words("Back at 22:00.");
    assert_eq!(
        browser.script(SEEN, vec![]),
        json!(["Back at 22:00.", true])
    );
    browser.click_on(".notice button");
    browser.wait_for_script("the focus", "document.activeElement.matches('main .back')");
    browser.reload();
    browser.wait_for_cards();
    assert_eq!(browser.script(SEEN, vec![]), json!([null, true]));
    // The stream tells of another one, here of the longest.
    let long = "Back at 23:00. ".repeat(66);
    file.write(&long);
    browser.wait_for_words("Back at 23:00.");
    assert_eq!(browser.script(SEEN, vec![]), json!([long.trim(), true]));
    file.write("");
    browser.wait_for_script("no notice", "document.querySelector('.notice:empty')");
}

/// A server before 0.3.0.
struct Older;

impl Between for Older {
    fn ask(&self, path: &str, _: &mut HeadLines) -> Option<Vec<u8>> {
        (path == "/v1/notice").then(|| problem(404, "route_not_found"))
    }
}

#[test]
fn a_server_without_notices_is_no_obstacle() {
    let server = TestServer::shared();
    let browser = open_through(&server, Arc::new(Older));
    browser.expect_message(&["notice", "404"]);
    browser.go("/?lang=en");
    browser.press("Play against bots");
    browser.wait_for_cards();
}
