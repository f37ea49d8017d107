//! The first screen, the lists of games to continue and to watch, and games that cannot be opened.

use std::{thread, time::Duration};

use serde_json::json;

use crate::support::{
    Browser, Form, LANGUAGES, TestGame, TestViewer::Host, create_with_names, create_with_people,
    deal_to_people, go_home, italian, open, open_alone, text,
};

/// The names in a list of games, in its order.
const GAMES: &str = "[...document.querySelectorAll('.games li')].map((game) => game.textContent)";

#[test]
fn games_that_wait_for_the_player_come_first() {
    let (server, browser) = open();
    let games = [1, 2, 3].map(|number| create_with_people(&server, &italian(), number));
    // In the first and the last game somebody else deals, in the second the player does.
    for ((number, game), seat) in (1..).zip(&games).zip([0, 3, 0]) {
        let saved = json!({
            "id": game.id, "seat": seat, "token": game.tokens[seat], "hostToken": null,
            "opened": 1_700_000_000_000_u64 + number, "preset": "dogspiel-it",
            "names": [format!("A{number}"), "B", "C", format!("D{number}")],
        });
        browser.store(&format!("dog.game.{}", game.id), &saved);
    }
    browser.go("/?lang=en");
    browser.wait_for_words("your turn");
    // The one that comes first is in sight.
    let first = format!("{GAMES}.length === 1 && {GAMES}[0].includes('your turn')");
    browser.wait_for_script("the first", &first);
    browser.show_as(Form::sized(360, 600));
    let in_view =
        "document.querySelector('.games li').getBoundingClientRect().bottom <= innerHeight
        && document.querySelector('.both').getBoundingClientRect().bottom <= innerHeight";
    browser.wait_for_script("the game and the buttons in view", in_view);
    browser.press("2 more games");
    let words = "document.querySelectorAll('.games').length === 1
        && !document.querySelector('.games').innerText.includes('· ·')";
    browser.wait_for_script("the answers", words);
    let first = format!("{GAMES}[0].includes('your turn')");
    browser.wait_for_script("the order", &first);
    let shown = browser.eval(GAMES);
    let first = [0, 1, 2].map(|number| text(&shown[number]).split(',').next());
    // The others follow, the one opened last first.
    assert_eq!(first, [Some("A2"), Some("B"), Some("B")], "{shown}");
    assert!(text(&shown[1]).contains("D3"), "{shown}");
    // What is seen follows the games.
    games[0].deal();
    browser.eval("dispatchEvent(new Event('focus'))");
    let turns = "document.querySelector('.games').innerText.split('your turn').length === 3";
    browser.wait_for_script("another turn", turns);
}

/// How many moves the board on the home screen has shown, and the name of its button.
const SHOWN: &str = "
    const card = document.querySelector('.showcase .last-card text')?.textContent ?? '';
    return [document.querySelectorAll('.showcase .piece').length, card, document.querySelector('.showcase button')?.ariaLabel];";

#[test]
fn a_newcomer_sees_a_round_of_a_game() {
    let (_server, browser) = open_alone();
    browser.show_as(Form::sized(360, 600));
    let stands = |word: &str| {
        browser.wait_for_script(
            word,
            &format!("document.querySelector('.showcase button')?.ariaLabel === '{word}'"),
        );
        browser.script(SHOWN, vec![])
    };
    browser.go("/?lang=en");
    let begun = stands("Pause");
    assert_eq!(begun[0], 16, "{begun}");
    // It stops by itself, goes on when it is pressed, and stops again.
    let after_a_round = stands("Play replay");
    assert_ne!(after_a_round[1], begun[1]);
    browser.press("Play replay");
    browser.wait_for_script(
        "the next round",
        &format!(
            "document.querySelector('.last-card text').textContent !== {}",
            after_a_round[1]
        ),
    );
    browser.press("Pause");
    stands("Play replay");
    // To play and to learn take one press, and both are in sight.
    let below = "[...document.querySelectorAll('.both button')].map((one) => one.getBoundingClientRect().bottom <= innerHeight)";
    assert_eq!(browser.eval(below), json!([true, true]));
    browser.press("Learn in 5 minutes");
    browser.wait_for_element(".lesson .hand .card");
    // Nothing moves by itself for those who do not want it.
    let still = browser.another();
    still.show_as(Form {
        reduced_motion: true,
        ..Form::sized(360, 600)
    });
    still.go("/?lang=en");
    still.wait_for_element(".showcase .piece");
    thread::sleep(Duration::from_secs(2));
    assert_eq!(still.script(SHOWN, vec![]), json!([16, "", "Play replay"]));
}

/// A finished game has its curve on the home screen once its review was seen.
#[test]
fn finished_games_have_the_curves_that_were_seen() {
    let (server, browser) = open();
    browser.expect_message(&["/review", "404"]);
    for _ in 0..2 {
        let game = TestGame::imported(&server);
        let saved = json!({
            "id": game.id, "seat": null, "token": null, "hostToken": game.host, "over": true,
            "opened": 1_700_000_000_000_u64, "preset": "dogspiel-it", "names": ["A", "B", "C", "D"],
        });
        browser.store(&format!("dog.game.{}", game.id), &saved);
        browser.go(&format!("/?lang=en#/games/{}", game.id));
        browser.wait("the end", |look| look.can("Review"));
    }
    browser.press("Review");
    browser.wait_for_words("Every decision of the game was looked at.");
    browser.go("/?lang=en");
    browser.press("1 more game");
    browser.wait_for_script(
        "both",
        &format!("{GAMES}.filter((one) => one.includes('finished')).length === 2"),
    );
    browser.eval("document.querySelector('.games').scrollIntoView()");
    let curves = "[...document.querySelectorAll('.games img')].filter((one) => one.naturalWidth > 0).length === 1";
    browser.wait_for_script("the curve", curves);
    // The page says so, where there is no game to continue.
    browser.wait_for_words("Your finished games");
}

#[test]
fn public_games_in_play_can_be_watched() {
    let (server, browser) = open_alone();
    let play = |name: &str, listed: bool| {
        let game = create_with_names(&server, &[name, "Bruno", "Bella", "Rex"], 1);
        game.patch(Host, &json!({"listed": listed})).expect(200);
        game.deal();
        game.exchange();
        game
    };
    browser.go("/?lang=en#/");
    browser.wait("the home screen", |look| look.can("Play against bots"));
    let links = "[...document.querySelectorAll('a')]";
    let watch = format!("{links}.find((link) => link.textContent === 'Games in progress')");
    browser.eval(&format!("{watch}.click()"));
    browser.wait_for_words("No public game is being played at present.");
    assert_eq!(browser.fragment(), "/watch");
    let public = play("Luna", true);
    play("Nala", false);
    browser.go("/?lang=en#/watch");
    browser.wait_for_script("the game", &format!("{GAMES}.length === 1"));
    let shown = browser.eval(GAMES);
    assert!(text(&shown[0]).contains("Luna"), "{shown}");
    browser.click_on(".games a");
    browser.wait_for_script("the board", "document.querySelector('.pieces .piece')");
    assert_eq!(browser.fragment(), format!("/games/{}", public.id));
    browser.wait_for_words("You are watching.");
}

/// Chooses a file with this text.
pub fn choose_file(browser: &Browser, content: &str) {
    browser.script(
        "const input = document.querySelector('input[type=file]');
         const { files, items } = new DataTransfer();
         items.add(new File([arguments[0]], 'game.dog'));
         input.files = files;
         input.dispatchEvent(new Event('change', { bubbles: true }));",
        vec![json!(content)],
    );
}

#[test]
fn a_record_is_opened_from_a_file() {
    let (_server, browser) = open();
    browser.expect_message(&["422"]);
    browser.go("/?lang=en#/watch");
    browser.wait("the button", |look| look.can("Open a record"));
    for wrong in ["[Dog \"1\"]", &"x".repeat(1 << 21)] {
        choose_file(&browser, wrong);
        browser.wait_for_alert("This file is not the record of a finished game.");
        browser.reload();
        browser.wait("the button", |look| look.can("Open a record"));
    }
    let record = include_str!("../records/four.dog");
    choose_file(&browser, record);
    browser.wait_for_element("[aria-label=Step]");
    browser.wait_for_words("Carla");
    // From there, another one.
    let before = browser.fragment();
    choose_file(&browser, record);
    browser.wait_for_script(
        "the other",
        &format!("!location.hash.includes({})", json!(before)),
    );
    browser.wait_for_element("[aria-label=Step]");
    browser.press("To the result");
    browser.wait("the end", |look| look.can("Review"));
}

#[test]
fn a_game_that_is_not_there_leads_elsewhere() {
    let (_server, browser) = open();
    browser.expect_message(&["404"]);
    browser.go("/?lang=en#/games/00000000000000000000000000");
    browser.wait_for_words("Perhaps a part of the link is missing.");
    let heading = "document.querySelector('h1').textContent";
    let words = browser.eval(heading);
    assert!(text(&words).starts_with("There is no such game"), "{words}");
    assert_eq!(browser.look().focus.as_deref(), words.as_str());
    for (link, fragment) in [("Games in progress", "/watch"), ("Home", "/")] {
        let find = format!(
            "[...document.querySelectorAll('main a')].find((one) => one.textContent === '{link}')"
        );
        browser.wait_for_script(link, &find);
        browser.eval(&format!("{find}.click()"));
        assert_eq!(browser.fragment(), fragment);
        browser.eval("history.back()");
    }
}

#[test]
fn a_browser_without_network_says_so_at_once() {
    let (_server, browser) = open();
    browser.expect_message(&["ERR_INTERNET_DISCONNECTED"]);
    go_home(&browser, "Anna");
    browser.script(
        "window.sent = 0;
         const real = window.fetch;
         window.fetch = (url, options) => {
           if (options?.method === 'POST') window.sent += 1;
           return real(url, options);
         };",
        vec![],
    );
    browser.set_network(false);
    for (sent, button) in [(1, "Play against bots"), (2, "Invite friends")] {
        browser.press(button);
        browser.wait_for_script("a request", &format!("window.sent === {sent}"));
        browser.wait_for_alert("The server cannot be reached.");
        let focused = "document.activeElement.matches('.problem')";
        browser.wait_for_script("the focus", focused);
        browser.eval("document.activeElement.blur()");
    }
    assert_eq!(browser.eval("window.sent"), 2);
    browser.set_network(true);
    browser.press("Play against bots");
    browser.wait_for_cards();
}

#[test]
fn a_name_has_forty_characters() {
    let (_server, browser) = open();
    browser.go("/?lang=en");
    browser.wait_for_element("[name=name]");
    browser.eval("document.querySelector('[name=name]').focus()");
    browser.devtools("Input.insertText", json!({"text": "🐕".repeat(45)}));
    assert_eq!(browser.value("Your name"), "🐕".repeat(40));
    browser.press("Invite friends");
    browser.wait_for_words("Waiting for 3 more players.");
}

#[test]
fn nothing_is_wider_than_the_screen_in_large_letters() {
    let (server, browser) = open();
    let game = deal_to_people(&server, &italian(), 1);
    browser.remember(&game, 0);
    browser.show_as(Form::sized(360, 600));
    let check = |screen: &str| {
        for size in [16, 24, 32] {
            browser.eval(&format!(
                "document.documentElement.style.fontSize = '{size}px'"
            ));
            let width = browser.eval("document.documentElement.scrollWidth");
            assert_eq!(width, 360, "{screen}, {size}");
        }
    };
    for language in LANGUAGES {
        browser.go(&format!("/?lang={language}"));
        browser.wait_for_element(".games");
        let open = "document.querySelectorAll('details').forEach((one) => { one.open = true; })";
        browser.eval(open);
        browser.wait_for_element(".chips [name=exchange]");
        check(&format!("home in {language}"));
        browser.go(&format!("/?lang={language}#/games/{}", game.id));
        browser.wait_for_element(".hand .card");
        check(&format!("the table in {language}"));
    }
}
