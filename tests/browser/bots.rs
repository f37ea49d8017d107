//! Games against bots, from the first screen on.

use serde_json::json;

use crate::support::{Browser, MousePlayer, TestServer};

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
