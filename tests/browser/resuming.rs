//! The page resumes by itself after a lost network and a killed server, and two tabs of one seat do
//! not disturb each other.

use std::fs;

use serde_json::json;

use crate::support::{
    Browser, MousePlayer, Signal, Situation, Style, TestServer, create_with_bots, enabled, offers,
    pieces_of,
};

const LOST: &str = "The connection to the server is lost.";

/// A scene in which the others can play on.
fn scene(server: &TestServer) -> Situation<'_> {
    let rules = json!({"preset": "dogspiel-it"});
    Situation::find(server, &rules, 4, Style::FirstSeat, |view, moves| {
        moves.len() > 5
            && view["seats"][0]["hand"]
                .as_array()
                .is_some_and(|hand| hand.len() > 3)
    })
}

#[test]
fn a_lost_network_is_announced_and_caught_up_with() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    browser.expect_message(&["ERR_INTERNET_DISCONNECTED"]);
    let scene = scene(&server);
    browser.sit(&scene.game, 0);
    let before = browser.wait("the hand and the log", |look| {
        enabled(&look.hand).next().is_some() && look.log > 0
    });
    browser.set_network(false);
    browser.wait("the message", |look| {
        look.alerts.iter().any(|alert| alert.contains(LOST))
    });

    // A click tells that nothing was sent.
    browser.click(enabled(&before.hand).next().expect("a card"));
    browser.open_details("All moves");
    let look = browser.look();
    browser.click(&look.moves[0]);
    browser.wait("the problem", |look| {
        look.todo.contains("The server cannot be reached.")
    });

    // Meanwhile the turn is played somewhere else, and the others play on.
    let first = scene.moves[0]["id"].as_str().expect("an id");
    scene.game.play(0, first);
    for _ in 0..3 {
        let (seat, id) = scene.game.first_move();
        scene.game.play(seat, &id);
    }
    browser.set_network(true);
    let look = browser.wait("the end of the message", |look| {
        look.alerts.is_empty() && look.log == before.log + 4
    });
    assert!(!look.todo.contains("cannot be reached"), "{}", look.todo);
    assert_eq!(browser.pieces(), pieces_of(&scene.game));
}

#[test]
fn a_killed_server_is_waited_for() {
    let server = TestServer::start();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    browser.expect_message(&["/v1/games/", "net::ERR_"]);
    let game = create_with_bots(&server, &json!({"preset": "dogspiel-it"}), 3, 0);
    browser.remember(&game, 0);
    browser.go(&format!("/?lang=en#/games/{}", game.id));
    let mut player = MousePlayer::new(&browser, 3);
    player.play_until(|look| look.log > 20 && !offers(look).is_empty());
    server.stop(Signal::Kill);
    browser.wait("the message", |look| {
        look.alerts.iter().any(|alert| alert.contains(LOST))
    });
    server.restart_in_place(Signal::Kill);
    let look = browser.wait("the end of the message", |look| look.alerts.is_empty());
    player.play_until(|later| later.log > look.log + 20);
}

#[test]
fn two_tabs_of_one_seat_show_the_same() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let scene = scene(&server);
    browser.sit(&scene.game, 0);
    let first = browser.tab();
    let second = browser.open_tab();
    browser.switch_to(&second);
    browser.sit(&scene.game, 0);
    // A choice that one tab has begun ends when the other tab plays.
    let look = browser.wait("the hand", |look| enabled(&look.hand).next().is_some());
    browser.click(enabled(&look.hand).next().expect("a card"));
    browser.switch_to(&first);
    let version = scene.game.version();
    browser.open_details("All moves");
    let look = browser.wait("all moves and the log", |look| {
        enabled(&look.moves).next().is_some() && look.log > 0
    });
    browser.click(&look.moves[0]);
    let first_look = browser.wait("the end of the turn", |look| {
        look.todo.contains("is to move")
    });
    browser.switch_to(&second);
    let look = browser.wait("the end of the turn", |look| {
        look.todo.contains("is to move")
    });
    assert!(look.hand.iter().all(|card| !card.pressed));
    assert_eq!(
        (look.log, look.hand.len()),
        (first_look.log, first_look.hand.len())
    );
    assert_eq!(scene.game.version(), version + 1);
}

/// The operator restores a backup: what was played since did not happen.
#[test]
fn a_server_that_was_set_back_begins_anew() {
    let server = TestServer::start();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    browser.expect_message(&["/v1/games/", "net::ERR_"]);
    let scene = scene(&server);
    let (file, copy) = (server.database().file(), server.folder().join("copy"));
    server.stop(Signal::Term);
    fs::copy(file, &copy).expect("a copy");
    server.restart_in_place(Signal::Kill);
    let pieces = pieces_of(&scene.game);
    browser.sit(&scene.game, 0);
    let before = browser.wait("the log", |look| look.log > 0);
    for _ in 0..8 {
        let (seat, id) = scene.game.first_move();
        scene.game.play(seat, &id);
    }
    browser.wait("the moves", |look| look.log == before.log + 8);
    server.stop(Signal::Term);
    fs::copy(&copy, file).expect("the backup");
    server.restart_in_place(Signal::Kill);
    browser.wait("the turn before", |look| {
        look.log == before.log && enabled(&look.hand).count() == enabled(&before.hand).count()
    });
    assert_eq!(browser.pieces(), pieces);
    browser.open_details("All moves");
    browser.click(
        &browser
            .wait("all moves", |look| !look.moves.is_empty())
            .moves[0],
    );
    browser.wait("the end of the turn", |look| look.log == before.log + 1);
}
