//! The page resumes by itself after a lost network and a killed server, and two tabs of one seat do
//! not disturb each other.

use std::fs;

use serde_json::json;

use crate::support::{
    Browser, MousePlayer, Signal, Situation, TestViewer::Host, create_with_bots,
    create_with_people, enabled, invite_friends, italian, offers, open, open_alone, pieces_of,
};

const LOST: &str = "The connection to the server is lost.";

#[test]
fn a_lost_network_is_announced_and_caught_up_with() {
    let (server, browser) = open();
    browser.expect_message(&["ERR_INTERNET_DISCONNECTED"]);
    let scene = browser.sit_in(Situation::with_more_turns(&server));
    let before = browser.wait("the hand and the log", |look| {
        enabled(&look.hand).next().is_some() && look.log > 0
    });
    browser.set_network(false);
    browser.wait_for_alert(LOST);

    // A click tells that nothing was sent.
    browser.click(enabled(&before.hand).next().expect("a card"));
    browser.play_from_list(0);
    browser.wait_for_todo("The server cannot be reached.");

    // Meanwhile the turn is played somewhere else, and the others play on.
    for _ in 0..4 {
        scene.game.play_on();
    }
    browser.set_network(true);
    let look = browser.wait("the end of the message", |look| {
        look.alerts.is_empty() && look.log == before.log + 4
    });
    assert!(!look.todo.contains("cannot be reached"), "{}", look.todo);
    assert_eq!(browser.pieces(), pieces_of(&scene.game));
}

/// Expects what a browser reports while the server is away. The page loads the screen of the end
/// ahead of time, so that this file may be asked for just then.
fn expect_a_stop(browser: &Browser) {
    browser.expect_message(&["/v1/games/", "net::ERR_"]);
    browser.expect_message(&["/page/v/", "finished.js", "net::ERR_"]);
}

#[test]
fn a_killed_server_is_waited_for() {
    let (server, browser) = open_alone();
    expect_a_stop(&browser);
    browser.sit(&create_with_bots(&server, &italian(), 3, 0), 0);
    let mut player = MousePlayer::new(&browser, 3);
    player.play_until(|look| look.log > 20 && !offers(look).is_empty());
    server.stop(Signal::Kill);
    browser.wait_for_alert(LOST);
    server.restart_in_place(Signal::Kill);
    let look = browser.wait("the end of the message", |look| look.alerts.is_empty());
    player.play_until(|later| later.log > look.log + 20);
}

#[test]
fn two_tabs_of_one_seat_show_the_same() {
    let (server, browser) = open();
    let scene = browser.sit_in(Situation::with_more_turns(&server));
    let first = browser.tab();
    let second = browser.open_tab();
    browser.sit(&scene.game, 0);
    // A choice that one tab has begun ends when the other tab plays.
    let look = browser.wait_for_cards();
    browser.click(enabled(&look.hand).next().expect("a card"));
    browser.switch_to(&first);
    browser.wait("the log", |look| look.log > 0);
    browser.play_from_list(0);
    let first_look = browser.wait_for_todo("is to move");
    browser.switch_to(&second);
    let look = browser.wait_for_todo("is to move");
    assert!(look.hand.iter().all(|card| !card.pressed));
    let [own, other] = [look, first_look].map(|look| (look.log, look.hand.len()));
    assert_eq!(own, other);
    assert_eq!(scene.game.version(), scene.version + 1);
}

/// The operator restores a backup: what was played since did not happen.
#[test]
fn a_server_that_was_set_back_begins_anew() {
    let (server, browser) = open_alone();
    expect_a_stop(&browser);
    let scene = Situation::with_more_turns(&server);
    let (file, copy) = (server.database().file(), server.folder().join("copy"));
    server.stop(Signal::Term);
    fs::copy(file, &copy).expect("a copy");
    server.restart_in_place(Signal::Kill);
    let pieces = pieces_of(&scene.game);
    browser.sit(&scene.game, 0);
    let before = browser.wait("the log", |look| look.log > 0);
    for _ in 0..8 {
        scene.game.play_on();
    }
    browser.wait("the moves", |look| look.log == before.log + 8);
    server.stop(Signal::Term);
    fs::copy(&copy, file).expect("the backup");
    server.restart_in_place(Signal::Kill);
    browser.wait("the turn before", |look| {
        look.log == before.log && enabled(&look.hand).count() == enabled(&before.hand).count()
    });
    assert_eq!(browser.pieces(), pieces);
    browser.play_from_list(0);
    browser.wait("the end of the turn", |look| look.log == before.log + 1);
}

/// Some browsers remove what a page keeps, if they were not asked to let it be.
#[test]
fn the_seat_in_a_game_with_people_is_kept() {
    let (_server, browser) = open();
    browser.prepare(
        "if (navigator.storage) navigator.storage.persist = async () => { window.kept = true; };",
    );
    browser.go("/?lang=en");
    browser.press("Play against bots");
    browser.wait_for_script("the hand", "document.querySelector('.hand')");
    assert_eq!(browser.eval("window.kept ?? false"), false);
    invite_friends(&browser, "Anna");
    browser.wait_for_script("the request", "window.kept");
}

/// Whoever has a week for a turn can keep a link to the seat.
#[test]
fn a_long_game_offers_the_link_to_the_own_seat() {
    let (server, browser) = open();
    let game = create_with_people(&server, &italian(), 1);
    let offer = "Keep the link to it.";
    browser.sit(&game, 0);
    let offered = format!("document.body.innerText.includes('{offer}')");
    assert_eq!(browser.eval(&offered), false);
    game.patch(Host, &json!({"turn_seconds": 604_800}))
        .expect(200);
    browser.wait_for_words(offer);
    browser.press("Play on another device");
    browser.scan("Link to your own seat");
}
