//! Games against bots, from the first screen on.

use serde_json::json;

use crate::support::{Browser, MousePlayer, TestGame, TestServer};

#[test]
fn a_game_begins_with_two_clicks() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    browser.store("dog.settings", &json!({"pace": 0, "level": "greedy"}));
    browser.go("/?lang=en");
    browser.press("Play against bots");
    let mut player = MousePlayer::new(&browser, 1);
    let look = player.play_until(|look| look.log > 60);
    assert!(look.log > 60);
}

#[test]
fn a_new_game_is_remembered_with_the_commitment_of_its_shuffles() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    browser.go("/?lang=en");
    browser.press("Play against bots");
    browser.wait("the table", |look| !look.todo.is_empty());
    let fragment = browser.fragment();
    let id = fragment.strip_prefix("/games/").expect("a game");
    let saved = format!("return JSON.parse(localStorage.getItem('dog.game.{id}'))");
    let saved = browser.script(&saved, vec![]);
    let game = server.get(&format!("/v1/games/{id}")).send().expect(200);
    assert!(game["shuffle_commitment"].is_string());
    assert_eq!(saved["commitment"], game["shuffle_commitment"]);
}

#[test]
fn a_commitment_other_than_the_remembered_one_is_noticed() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let game = TestGame::imported(&server);
    let saved = json!({
        "id": game.id, "seat": 0, "token": "", "hostToken": null, "opened": 0,
        "preset": "dogspiel-it", "names": [], "commitment": "0".repeat(64),
    });
    browser.store(&format!("dog.game.{}", game.id), &saved);
    browser.go(&format!("/?lang=en#/games/{}", game.id));
    browser.press("Check the shuffle");
    let look = browser.wait("the result", |look| !look.alerts.is_empty());
    let result = &look.alerts[0];
    assert!(result.contains('✗') && result.contains('✓'), "{result}");
}
