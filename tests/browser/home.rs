//! The lists of games: to continue, and to watch.

use serde_json::json;

use crate::support::{TestGame, TestServer, create_with_people, italian, open, text};

/// The names in a list of games, in its order.
const GAMES: &str = "[...document.querySelectorAll('.games li')].map((game) => game.textContent)";

#[test]
fn games_that_wait_for_the_player_come_first() {
    let server = TestServer::shared();
    let Some(browser) = open(&server) else { return };
    // In the first and the last game somebody else deals, in the second the player does.
    for (number, seat) in (1..).zip([0, 3, 0]) {
        let game = create_with_people(&server, &italian(), number);
        let saved = json!({
            "id": game.id, "seat": seat, "token": game.tokens[seat], "hostToken": null,
            "opened": 1_700_000_000_000 + u64::from(number), "preset": "dogspiel-it",
            "names": [format!("A{number}"), "B", "C", format!("D{number}")],
        });
        browser.store(&format!("dog.game.{}", game.id), &saved);
    }
    browser.go("/?lang=en");
    browser.wait_for_words("your turn");
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
}

#[test]
fn public_games_in_play_can_be_watched() {
    let server = TestServer::start();
    let Some(browser) = open(&server) else { return };
    let play = |name: &str, listed: bool| {
        let seats =
            [name, "Bruno", "Bella", "Rex"].map(|name| json!({"kind": "human", "name": name}));
        let body = json!({"rules": italian(), "seats": seats, "listed": listed});
        let game = TestGame::create(&server, &body);
        game.deal();
        game.exchange();
        game
    };
    browser.go("/?lang=en#/");
    browser.wait("the home screen", |look| look.can("Play against bots"));
    let links = "[...document.querySelectorAll('a')]";
    let watch = format!("{links}.find((link) => link.textContent === 'Watch a game')");
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
