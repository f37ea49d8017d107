//! Evenings with people: four friends at one table, and two strangers.

use std::{thread, time::Duration};

use serde_json::json;

use crate::support::{
    Browser, LINK_FOR_ALL, TestServer,
    TestViewer::{Host, Spectator},
    game_of, go_home, hand, invite_friends, play_by_api, play_together, saved, sit_down,
    wait_for_seat,
};

/// What a browser may log when something happens between its request and the answer.
fn expect_races(browser: &Browser) {
    browser.expect_message(&["401"]);
    browser.expect_message(&["legal-moves", "409"]);
}

#[test]
#[ignore = "long"]
fn four_friends_at_one_table() {
    let server = TestServer::shared();
    let mut browsers = Browser::open_many(&server, 4);
    for browser in &browsers {
        browser.expect_message(&["ERR_INTERNET_DISCONNECTED"]);
        browser.expect_message(&["ERR_NETWORK"]);
        expect_races(browser);
    }
    // Anna invites, and the others come: one by the code on her screen, one by a link for all, one by
    // a link for a seat.
    invite_friends(&browsers[0], "Anna");
    let scanned = browsers[0].scan(LINK_FOR_ALL);
    sit_down(&browsers[1], &scanned, "Beat");
    browsers[0].wait_for_words("Beat");
    sit_down(&browsers[2], &scanned, "Carla");
    browsers[0].press_anywhere("Link for Seat 4");
    let for_dani = browsers[0].scan("Link for Seat 4");
    sit_down(&browsers[3], &for_dani, "Dani");
    for browser in &browsers {
        for name in ["Anna", "Beat", "Carla", "Dani"] {
            browser.wait_for_words(name);
        }
    }
    browsers[0].wait_for_words("All seats are taken.");
    browsers[0].press("Start");
    let game = game_of(&server, &browsers);
    assert_eq!(game.view(Host)["listed"], false);
    for browser in &browsers {
        browser.wait("a hand", |look| look.hand.len() == 6);
        browser.wait_for_script(
            "everybody is there",
            "document.querySelector('.players').innerText.match(/here/g)?.length >= 3",
        );
    }
    play_together(&browsers, |look| look.log >= 9);

    // Beat loads the page again, and has the same hand.
    let before = browsers[1].wait("the hand", |look| !look.hand.is_empty());
    browsers[1].reload();
    let after = browsers[1].wait("the hand", |look| !look.hand.is_empty());
    assert_eq!(hand(&after), hand(&before));

    // Carla's network is lost and comes back.
    browsers[2].set_network(false);
    browsers[2].wait("the message", |look| !look.alerts.is_empty());
    browsers[0].wait_for_words("offline");
    browsers[2].set_network(true);
    browsers[2].wait("the end of the message", |look| look.alerts.is_empty());
    browsers[0].wait_for_script(
        "Carla is there",
        "!document.body.innerText.includes('offline')",
    );

    // Beat leaves, and comes back.
    browsers[1].press("Leave");
    browsers[1].wait_for_words("You can come back at any time.");
    browsers[1].press("Leave");
    browsers[0].wait_for_words("A bot plays for Beat.");
    browsers[1].press("Take my seat back");
    browsers[0].wait_for_words("Beat is at the table.");

    // Dani continues on another device, by the code on the screen.
    browsers[3].open_details("Players and devices");
    browsers[3].press_anywhere("Play on another device");
    let own = browsers[3].scan("Link to your own seat");
    let device = browsers[3].another();
    expect_races(&device);
    drop(browsers.pop());
    device.follow(&own.replacen("/#", "/?lang=en#", 1));
    wait_for_seat(&device);
    device.wait("the hand", |look| !look.todo.is_empty());
    assert_eq!(saved(&device)["token"], game.tokens[3].as_str());
    browsers.push(device);
    let log = browsers[0].look().log;
    play_together(&browsers, |look| look.log > log + 4);

    // Carla is gone, and Anna gives the seat to Nina.
    drop(browsers.remove(2));
    browsers[0].press_anywhere("Invite again: Carla");
    browsers[0].wait_for_script("a link", "document.querySelector('svg.qr')");
    let for_nina = browsers[0].scan("Link for Seat 3");
    let nina = browsers[0].another();
    expect_races(&nina);
    sit_down(&nina, &for_nina, "Nina");
    nina.wait_for_words("You play from the next deal on.");
    browsers.insert(2, nina);
    // At the next deal she has a hand.
    play_together(&browsers, |_| !browsers[2].look().hand.is_empty());

    // Beat leaves for good, and plays the rematch all the same.
    browsers[1].press("Leave");
    browsers[1].wait_for_words("You can come back at any time.");
    browsers[1].press("Leave");
    let game = game_of(&server, &browsers);
    play_by_api(&game, |view| view["phase"] == "finished");
    for browser in &browsers {
        browser.wait("the end", |look| look.team.is_some());
    }
    // Anna wants Beat as her partner, and the others agree.
    let chosen = "Anna and Beat against";
    browsers[0].script(
        "[...document.querySelectorAll('label')]
           .find((one) => one.textContent.trim().startsWith(arguments[0])).click()",
        vec![json!(chosen)],
    );
    browsers[0].press("Rematch");
    for browser in &browsers[1..] {
        browser.wait_for_alert("want to play again");
        browser.press("Rematch");
    }
    browsers[0].press("Start");
    for browser in &browsers {
        browser.wait("a new hand", |look| {
            look.team.is_none() && look.hand.len() == 6
        });
    }
    let next = game_of(&server, &browsers);
    assert_ne!(next.id, game.id);
    let seats = next.view(Spectator)["seats"].take();
    let team = |name: &str| {
        let mut seats = seats.as_array().expect("seats").iter();
        seats.find(|seat| seat["name"] == name).expect("a seat")["team"].clone()
    };
    assert_eq!(team("Anna"), team("Beat"));
    assert_eq!(team("Nina"), team("Dani"));
    play_together(&browsers, |look| look.log > 9);
}

#[test]
#[ignore = "long"]
fn two_strangers_meet_and_play_with_two_bots() {
    let server = TestServer::start();
    let browsers = Browser::open_many(&server, 2);
    for (browser, name) in browsers.iter().zip(["Anna", "Beat"]) {
        go_home(browser, name);
        browser.press("Play now");
        wait_for_seat(browser);
    }
    assert_eq!(browsers[0].fragment(), browsers[1].fragment());
    browsers[0].wait_for_words("Waiting for 2 more players.");
    // Bots come after a minute.
    for browser in &browsers {
        let started = std::time::Instant::now();
        while browser.look().hand.is_empty() {
            assert!(started.elapsed() < Duration::from_secs(150));
            thread::sleep(Duration::from_millis(200));
        }
    }
    play_together(&browsers, |look| look.log >= 20);
    let game = game_of(&server, &browsers);
    let seats = game.view(Spectator)["seats"].take();
    let kinds = seats.as_array().expect("seats").iter();
    let kinds: Vec<_> = kinds.map(|seat| seat["kind"].as_str()).collect();
    assert_eq!(
        kinds,
        [Some("human"), Some("human"), Some("bot"), Some("bot")]
    );
}
