//! People at one table: invitations, seats, and devices.

use std::slice;

use serde_json::json;

use crate::support::{
    Browser, KeyboardPlayer, LINK_FOR_ALL, NAMES, TestServer, TestViewer::Spectator,
    deal_to_people, game_of, invite_friends, italian, open, saved, sit_down, text, wait_for_seat,
};

/// In a home network the page has another name, and is not a secure context: it has no clipboard,
/// no share sheet and no `crypto.subtle`.
#[test]
fn friends_meet_over_plain_http() {
    let server = TestServer::shared();
    let host = Browser::open_at(&server, "dog.home");
    let id = invite_friends(&host, "Anna");
    assert_eq!(host.eval("isSecureContext"), false);
    let link = host.value(LINK_FOR_ALL);
    assert_eq!(host.scan(LINK_FOR_ALL), link);
    let (origin, fragment) = link.split_once("/#").expect("a fragment");
    assert_eq!(origin, host.server);
    let secret = fragment.strip_prefix(&format!("/join/{id}/any-"));
    assert_eq!(secret.expect("an invitation").len(), 32);
    assert!(!host.look().can("Copy") && !host.look().can("Send…"));

    // Nobody who has just sat down is called absent, not even for a moment.
    host.eval(
        "void new MutationObserver(() => {
           window.absent ||= document.body.innerText.includes('offline');
         }).observe(document.body, { childList: true, subtree: true })",
    );
    let friend = host.another();
    sit_down(&friend, &link, "Beat");
    host.wait_for_words("Beat");
    host.wait_for_words("Waiting for 2 more players.");
    assert_eq!(saved(&friend)["seat"], 1);
    let here =
        "[...document.querySelectorAll('.state')].filter((one) => /here/.test(one.textContent))";
    host.wait_for_script("two people", &format!("{here}.length === 2"));
    assert_ne!(host.eval("window.absent"), true);
    // A person who does not connect is absent in the end.
    let join = server.post(&format!("/v1/games/{id}/join"));
    let eva = json!({"invitation": link.rsplit('/').next(), "name": "Eva"});
    join.json(&eva).send().expect(201);
    host.wait_for_words("offline");
    host.press("Start");
    for browser in [&host, &friend] {
        browser.wait("a hand", |look| !look.hand.is_empty());
    }
}

/// Somebody at the server's own computer opens the page at `localhost`, where no phone reaches it.
#[test]
fn links_have_the_address_that_phones_reach() {
    let server = TestServer::on_all_addresses(&[]);
    let told = server.get("/v1/addresses").send().expect(200);
    let Some(address) = told["addresses"][0].as_str() else {
        eprintln!("skipped: this machine is in no network");
        return;
    };
    let host = Browser::open_at(&server, "localhost");
    let id = invite_friends(&host, "Anna");
    let link = host.scan(LINK_FOR_ALL);
    let expected = format!("{address}/#/join/{id}/any-");
    assert!(link.starts_with(&expected), "{link}");
    assert_eq!(host.value(LINK_FOR_ALL), link);
    let phone = host.another_at(address);
    sit_down(&phone, &link, "Beat");
    host.wait_for_words("Waiting for 2 more players.");
}

/// The code on the screen is read by another device, which then has the same seat.
#[test]
fn another_device_takes_the_seat_by_its_code() {
    let (server, desk) = open();
    let phone = desk.another();
    // The server of the tests is for this computer alone, and the page says so.
    invite_friends(&desk, "Anna");
    desk.wait_for_words("--listen 0.0.0.0:");
    desk.press("Play on another device");
    let link = desk.scan("Link to your own seat");
    assert_eq!(desk.value("Link to your own seat"), link);
    phone.follow(&link.replacen("/#", "/?lang=en#", 1));
    wait_for_seat(&phone);
    phone.wait_for_words("Around the table");
    assert_eq!(saved(&phone)["token"], saved(&desk)["token"]);
    assert!(saved(&phone)["hostToken"].is_null());
    // Both show what happens.
    desk.press("Start");
    for device in [&desk, &phone] {
        device.wait("the hand", |look| look.hand.len() == 6);
    }
    let game = game_of(&server, slice::from_ref(&desk));
    assert_eq!(phone.fragment(), format!("/games/{}", game.id));
}

#[test]
fn a_seat_is_taken_with_the_keyboard_alone() {
    let (_server, host) = open();
    let guest = host.another();
    invite_friends(&host, "Anna");
    let link = host.value(LINK_FOR_ALL);
    guest.follow(&link.replacen("/#", "/?lang=en#", 1));
    guest.wait_for_words("Anna invites you to play DOG");
    guest.wait_for_element("a[href='#/learn'][target='_blank']");
    let keyboard = KeyboardPlayer::new(&guest, 1);
    keyboard.tab_to(|look| look.button("Sit down"));
    guest.key(KeyboardPlayer::ENTER);
    guest.wait_for_alert("Please write your name first.");
    guest.type_into("Your name", "Beat");
    guest.key(KeyboardPlayer::ENTER);
    wait_for_seat(&guest);
    // The focus stays on the page.
    guest.wait("the focus", |look| look.focus.is_some());
    keyboard.tab_to(|look| look.button("Leave"));
    guest.key(KeyboardPlayer::ENTER);
    keyboard.tab_to(|look| look.button("Give up the seat"));
    guest.key(KeyboardPlayer::ENTER);
    host.wait_for_words("Waiting for 3 more players.");
}

#[test]
fn a_name_that_is_refused_can_be_changed() {
    let (_server, host) = open();
    let guest = host.another();
    invite_friends(&host, "Anna");
    guest.follow(&host.value(LINK_FOR_ALL).replacen("/#", "/?lang=en#", 1));
    guest.wait_for_words("Anna invites you to play DOG");
    guest.expect_message(&["422"]);
    guest.type_into("Your name", " bot 2 ");
    guest.press("Sit down");
    guest.wait_for_alert("is not “Bot” and a number");
    guest.type_into("Your name", " anna ");
    guest.press("Sit down");
    wait_for_seat(&guest);
    // The other Anna sees who is who, and so does this one after the page is loaded again.
    host.wait_for_words("anna (2)");
    assert_eq!(saved(&guest)["names"][1], "anna (2)");
}

#[test]
fn an_invitation_that_opens_nothing_is_explained() {
    let (_server, host) = open();
    let guest = host.another();
    let id = invite_friends(&host, "Anna");
    host.press_anywhere("Link for Seat 3");
    let link = host.value("Link for Seat 3");
    sit_down(&guest, &link, "Beat");
    let late = guest.another();
    late.follow(&link.replacen("/#", "/?lang=en#", 1));
    late.wait_for_words("Beat has taken this seat already.");
    let wrong = format!("/?lang=en#/join/{id}/any-{}", "0".repeat(32));
    late.expect_message(&["403"]);
    late.go(&wrong);
    late.type_into("Your name", "Eva");
    late.press("Sit down");
    late.wait("the refusal", |look| !look.alerts.is_empty());
    assert!(late.fragment().starts_with("/join/"));
}

/// Leaves the table.
fn leave(browser: &Browser) {
    browser.wait("a hand", |look| !look.hand.is_empty());
    browser.press("Leave");
    browser.wait_for_words("You can come back at any time.");
    browser.press("Leave");
}

#[test]
fn friends_who_left_stay_together_in_the_rematch() {
    let (server, host) = open();
    let friend = host.another();
    invite_friends(&host, "Anna");
    sit_down(&friend, &host.value(LINK_FOR_ALL), "Beat");
    host.wait_for_words("Beat");
    host.press("Start");
    for game in 1..=2 {
        for browser in [&host, &friend] {
            leave(browser);
        }
        for browser in [&host, &friend] {
            browser.wait("the end", |look| look.team.is_some());
        }
        host.press("Rematch");
        host.wait_for_words("Waiting for the answer of Beat.");
        assert_eq!(saved(&host)["seat"], 0);
        friend.wait_for_alert("want to play again");
        let next = text(&saved(&host)["id"]).to_owned();
        if game == 1 {
            friend.press("Rematch");
            friend.wait_for_script(
                "the next game",
                &format!("location.hash.includes('{next}')"),
            );
        }
        // A bot that has the first deal deals by itself, once all have answered.
        let view = server.get(&format!("/v1/games/{next}")).send().expect(200);
        let dealer = view["dealer"].as_u64().expect("a dealer") as usize;
        if game == 2 || view["seats"][dealer]["kind"] != "bot" {
            host.press("Start");
        }
        host.wait("a hand", |look| !look.hand.is_empty());
    }
    // Beat comes after the start.
    host.wait_for_words("A bot plays for Beat.");
    friend.press("Rematch");
    friend.wait_for_words("You play from the next deal on.");
    host.wait_for_words("Beat is at the table.");
    let game = game_of(&server, &[host, friend]);
    let view = game.view(Spectator);
    let kinds = [0, 1].map(|seat| &view["seats"][seat]["kind"]);
    assert_eq!(json!(kinds), json!(["human", "human"]));
}

#[test]
fn everybody_who_comes_or_goes_at_once_is_told() {
    let (server, browser) = open();
    browser.sit_at(deal_to_people(&server, &italian(), 1), 0);
    let tell = |present: &str| {
        let script = "
            const { src } = document.querySelector('script[type=module]');
            const present = JSON.parse(arguments[0]);
            return import(new URL('store.js', src)).then(({ dispatch }) => {
              dispatch({ type: 'messages', messages: [{ type: 'presence', present }] });
            });";
        browser.script(script, vec![json!(present)]);
        let lines = "[...document.querySelectorAll('.happened p')].map((line) => line.textContent)";
        browser.settle();
        browser.eval(lines).to_string()
    };
    tell("[true, true, true, true]");
    let gone = tell("[true, false, true, false]");
    let back = tell("[true, true, true, true]");
    for name in [NAMES[1], NAMES[3]] {
        assert!(
            gone.contains(&format!("{name} has no connection")),
            "{gone}"
        );
        assert!(back.contains(&format!("{name} is here again")), "{back}");
    }
}
