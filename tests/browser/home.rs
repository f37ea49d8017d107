//! The lists of games: to continue, and to watch.

use serde_json::json;

use crate::support::{Browser, TestGame, TestServer, create_with_people};

/// The names in a list of games, in its order.
const GAMES: &str =
    "return [...document.querySelectorAll('.games li')].map((game) => game.textContent)";

#[test]
fn games_with_a_turn_of_the_player_come_first() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let rules = json!({"preset": "dogspiel-it"});
    // In the first and the last one somebody else deals, in the middle the player does.
    let games: Vec<TestGame<'_>> = (1..=3)
        .map(|number| create_with_people(&server, &rules, number))
        .collect();
    for (number, game) in games.iter().enumerate() {
        let seat = if number == 1 { 3 } else { 0 };
        let saved = json!({
            "id": game.id, "seat": seat, "token": game.tokens[seat], "hostToken": null,
            "opened": 1_700_000_000_000_u64 + number as u64, "preset": "dogspiel-it",
            "names": [format!("A{number}"), "B", "C", format!("D{number}")],
        });
        browser.store(&format!("dog.game.{}", game.id), &saved);
    }
    browser.go("/?lang=en");
    browser.wait_for_words("your turn");
    let words = "document.querySelectorAll('.games').length === 1 && !document.querySelector('.games').innerText.includes('· ·')";
    browser.wait_for_script("the answers", words);
    browser.wait_for_script(
        "the order",
        "document.querySelector('.games li').textContent.includes('your turn')",
    );
    let shown = browser.script(GAMES, vec![]);
    let first: Vec<&str> = shown
        .as_array()
        .expect("games")
        .iter()
        .map(|game| {
            game.as_str()
                .expect("a text")
                .split(',')
                .next()
                .expect("a name")
        })
        .collect();
    // The others follow, the one opened last first.
    assert_eq!(first, ["A1", "B", "B"], "{shown}");
    assert!(
        shown[1].as_str().is_some_and(|game| game.contains("D2")),
        "{shown}"
    );
}

#[test]
fn public_games_that_are_played_can_be_watched() {
    let server = TestServer::start();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let play = |name: &str, listed: bool| {
        let seats =
            [name, "Bruno", "Bella", "Rex"].map(|name| json!({"kind": "human", "name": name}));
        let wishes = json!({"rules": {"preset": "dogspiel-it"}, "seats": seats, "listed": listed});
        let game = TestGame::create(&server, &wishes);
        game.deal();
        game.exchange();
        game
    };
    browser.go("/?lang=en#/");
    browser.wait("the home screen", |look| look.can("Play against bots"));
    browser.script(
        "[...document.querySelectorAll('a')].find((link) => link.textContent === 'Watch a game').click()",
        vec![],
    );
    browser.wait_for_words("No public game is being played at present.");
    assert_eq!(browser.fragment(), "/watch");
    let public = play("Luna", true);
    play("Nala", false);
    browser.go("/?lang=en#/watch");
    browser.wait_for_script(
        "the game",
        "document.querySelectorAll('.games li').length === 1",
    );
    let shown = browser.script(GAMES, vec![]);
    assert!(
        shown[0].as_str().is_some_and(|game| game.contains("Luna")),
        "{shown}"
    );
    browser.script("document.querySelector('.games a').click()", vec![]);
    browser.wait_for_script("the board", "document.querySelector('.pieces .piece')");
    assert_eq!(browser.fragment(), format!("/games/{}", public.id));
    browser.wait_for_words("You are watching.");
}
