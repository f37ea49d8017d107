//! People who meet at a table, each with a browser.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use super::{
    Browser, Dice, Look, TestGame, TestServer,
    TestViewer::{Seat, Spectator},
    offers,
};

/// What the host's page calls the link for everybody.
pub const LINK_FOR_ALL: &str = "Link for everybody";

/// Opens the first screen as somebody of this name.
pub fn go_home(browser: &Browser, name: &str) {
    browser.store("dog.settings", &json!({"pace": 0, "level": "greedy"}));
    browser.store("dog.name", &json!(name));
    browser.go("/?lang=en");
    browser.wait("the home screen", |look| look.can("Invite friends"));
}

/// Opens a table with free seats as its host. Returns its id.
pub fn invite_friends(browser: &Browser, name: &str) -> String {
    go_home(browser, name);
    browser.press("Invite friends");
    browser.wait_for_words("Waiting for 3 more players.");
    let fragment = browser.fragment();
    let id = fragment.strip_prefix("/games/").expect("a table");
    id.to_owned()
}

/// Follows an invitation, in English, and sits down. The secret is gone from the address then.
pub fn sit_down(browser: &Browser, link: &str, name: &str) {
    browser.follow(&link.replacen("/#", "/?lang=en#", 1));
    browser.wait_for_words("to play DOG");
    browser.type_into("Your name", name);
    browser.press("Sit down");
    wait_for_seat(browser);
}

/// Waits until the browser has a seat, and the address has no secret.
pub fn wait_for_seat(browser: &Browser) {
    browser.wait_for_script("the seat", "/^#\\/games\\/[0-9a-z]+$/.test(location.hash)");
    assert!(saved(browser)["token"].is_string());
}

/// What the browser remembers of the game that it shows.
pub fn saved(browser: &Browser) -> Value {
    browser.eval("JSON.parse(localStorage.getItem('dog.game.' + location.hash.split('/')[2]))")
}

/// The game that the browsers show, with their tokens and that of the first one as host.
pub fn game_of<'a>(server: &'a TestServer, browsers: &[Browser]) -> TestGame<'a> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all: Vec<Value> = browsers.iter().map(saved).collect();
    let mut tokens = vec![String::new(); 4];
    for one in &all {
        tokens[one["seat"].as_u64().expect("a seat") as usize] = text(&one["token"]);
    }
    for token in tokens.iter().filter(|token| !token.is_empty()) {
        server.forbid_in_log(token);
    }
    TestGame {
        server,
        id: text(&all[0]["id"]),
        tokens,
        host: text(&all[0]["hostToken"]),
    }
}

/// Clicks on what is offered in these browsers, always the first choice, until the first browser
/// shows what is wanted.
#[track_caller]
pub fn play_together(browsers: &[Browser], seen: impl Fn(&Look) -> bool) {
    for round in 0..10_000 {
        for (number, browser) in browsers.iter().enumerate() {
            let look = browser.look();
            if number == 0 && seen(&look) {
                return;
            }
            // Somebody may have joined or left.
            let choices = offers(&look);
            if let Some(choice) = choices.get(round % choices.len().max(1)) {
                browser.try_click(choice);
            }
        }
    }
    panic!("they play for too long: {:?}", browsers[0].look());
}

/// Plays by the API for all who have a token, while the browsers look on, until what everybody sees
/// is as wanted.
pub fn play_by_api(game: &TestGame<'_>, wanted: impl Fn(&Value) -> bool) {
    let mut dice = Dice::new(1);
    while !wanted(&game.view(Spectator)) {
        let acts = |seat: &usize| {
            !game.tokens[*seat].is_empty()
                && game.view(Seat(*seat))["actions"][0]["route"].is_string()
        };
        match (0..4).find(acts) {
            Some(seat) => act_for(game, seat, &mut dice),
            // A bot is to act, where one stands in.
            None => thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// Deals, or follows advice. The page of that seat may have been faster.
fn act_for(game: &TestGame<'_>, seat: usize, dice: &mut Dice) {
    if game.post(Seat(seat), "/deal").send().status == 200 {
        return;
    }
    let query = format!("/suggest-move?level=greedy&seed={}", dice.below(1000));
    let advice = game.get(Seat(seat), &query).send();
    if advice.status == 200 {
        game.as_suggested(seat, &advice.json()["suggestions"][0]["request"]);
    }
}

/// The cards of the hand, as the browser shows them.
pub fn hand(look: &Look) -> Vec<&str> {
    look.hand.iter().map(|card| card.name.as_str()).collect()
}
