//! Games against bots, from the first screen on.

use serde_json::{Value, json};

use crate::support::{
    Browser, Form, TestGame, TestServer, TestViewer::Spectator, create_with_bots,
    create_with_people, italian, open, played_by_bots, saved,
};

/// The game on the screen, as the server shows it.
fn shown(server: &TestServer, browser: &Browser) -> Value {
    browser.wait("the table", |look| !look.todo.is_empty());
    server
        .get(&format!("/v1{}", browser.fragment()))
        .send()
        .expect(200)
}

#[test]
fn a_new_game_is_remembered_with_the_commitment_of_its_shuffles() {
    let (server, browser) = open();
    browser.go("/?lang=en");
    browser.press("Play against bots");
    let game = shown(&server, &browser);
    assert!(game["shuffle_commitment"].is_string());
    assert_eq!(saved(&browser)["commitment"], game["shuffle_commitment"]);
}

#[test]
fn a_commitment_other_than_the_remembered_one_is_noticed() {
    let (server, browser) = open();
    let game = TestGame::imported(&server);
    let saved = json!({
        "id": game.id, "seat": 0, "token": "", "hostToken": null, "opened": 0,
        "preset": "dogspiel-it", "names": [], "commitment": "0".repeat(64),
    });
    browser.store(&format!("dog.game.{}", game.id), &saved);
    browser.go(&format!("/?lang=en#/games/{}", game.id));
    browser.press("More");
    browser.press("Check the shuffle");
    let look = browser.wait("the result", |look| !look.alerts.is_empty());
    let result = &look.alerts[0];
    assert!(result.contains('✗') && result.contains('✓'), "{result}");
}

/// Chooses a value of one of the settings.
fn set(browser: &Browser, name: &str, value: &str) {
    let script = "
        const select = document.querySelector(`select[name=${arguments[0]}]`);
        select.value = arguments[1];
        select.dispatchEvent(new Event('change', { bubbles: true }));";
    browser.script(script, vec![json!(name), json!(value)]);
}

#[test]
fn options_that_differ_from_the_sheet_apply() {
    let (server, browser) = open();
    browser.go("/?lang=en");
    browser.press("Compare the rules");
    browser.wait_for_words("only if one asks for help and the partner agrees");
    browser.press("Close");
    browser.open_details("More");
    let sheet_says = |words: &str| {
        let first = "document.querySelector('select[name=exchange] option')?.textContent";
        browser.wait_for_script(words, &format!("{first} === {}", json!(words)));
    };
    sheet_says("everybody gives a card (as on the sheet)");
    set(&browser, "preset", "hausregeln");
    sheet_says("only if one asks for help and the partner agrees (as on the sheet)");
    set(&browser, "exchange", "mandatory");
    set(&browser, "jack_without_effect", "no_swap_possible");
    set(&browser, "capture_own", "no");
    let changed = "[...document.querySelectorAll('.chip option')]
        .some((one) => one.selected && one.textContent === 'Hausregeln with changes')";
    browser.wait_for_script("the chip", changed);
    // They are remembered, and what is as on the sheet is not sent.
    browser.reload();
    browser.wait_for_script("the chip", changed);
    browser.press("Play against bots");
    browser.press("Rules");
    for words in [
        "Rules: Hausregeln",
        "Card exchange: everybody gives a card (not as on the sheet)",
        "Jack without effect: also if nothing can be swapped",
        "A piece may land on one’s own and capture it: no",
    ] {
        browser.wait_for_words(words);
    }
    // What is played everywhere is behind a line of its own.
    let same = "The discard pile is shuffled: when no card is left";
    let is_shown = format!("document.body.innerText.includes('{same}')");
    assert_eq!(browser.eval(&is_shown), false);
    browser.open_details("All that is played at this table");
    browser.wait_for_words(same);
    let rules = shown(&server, &browser)["rules"].take();
    assert_eq!(rules["preset"], "hausregeln");
    assert_eq!(rules["exchange"], "mandatory");
    assert_eq!(rules["jack_without_effect_when"], "no_swap_possible");
    assert_eq!(rules["capture_own"], false);
}

#[test]
fn a_shuffle_before_a_deal_is_checked() {
    let (server, browser) = open();
    let rules = json!({"preset": "dogspiel-it", "reshuffle": "before_deal"});
    let game = played_by_bots(&server, &rules);
    let history = game.get(Spectator, "/history").send().expect(200);
    assert!(history.to_string().contains("\"reshuffled\":true"));
    browser.go(&format!("/?lang=en#/games/{}", game.id));
    browser.press("More");
    browser.press("Check the shuffle");
    let look = browser.wait("the result", |look| !look.alerts.is_empty());
    assert!(!look.alerts[0].contains('✗'), "{:?}", look.alerts);
}

#[test]
fn a_player_who_leaves_people_is_asked_and_may_come_back() {
    let (server, browser) = open();
    browser.sit_at(create_with_people(&server, &italian(), 1), 0);
    browser.show_as(Form::sized(360, 600));
    browser.press("Leave");
    let outside = "[...document.querySelectorAll('.question, .question *')].filter((one) => {
        const { left, right } = one.getBoundingClientRect();
        return left < 0 || right > innerWidth;
      }).length + document.documentElement.scrollWidth - innerWidth";
    browser.wait("the question", |look| look.can("Cancel"));
    assert_eq!(browser.eval(outside), 0);
    browser.press_anywhere("Leave");
    browser.press_anywhere("Take my seat back");
    let look = browser.wait("the seat", |look| look.can("Leave"));
    assert!(!look.can("Cancel"));
}

#[test]
fn a_player_who_leaves_the_bots_is_asked_what_becomes_of_the_game() {
    let (server, browser) = open();
    let keys = "Object.keys(localStorage).filter((key) => key.startsWith('dog.game.')).length";
    for (answer, kept) in [("Keep for later", 1), ("Remove the game", 0)] {
        browser.go("/?lang=en#/");
        browser.forget_all();
        browser.sit_at(create_with_bots(&server, &italian(), 1, 0), 0);
        browser.press("Leave");
        browser.press("Cancel");
        browser.press("Leave");
        browser.press_anywhere(answer);
        browser.wait("the home screen", |look| look.can("Play against bots"));
        assert_eq!(browser.eval(keys), kept, "{answer}");
    }
}
