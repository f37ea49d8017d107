//! Sevens, which the page lets the player split part by part.

use serde_json::Value;

use crate::support::{
    Browser, Look, Situation, choose_part, enabled, has_three_parts, names, offers, open, parts,
};

/// What the board offers for the next part.
fn wait_for_offers(browser: &Browser, steps_left: &str) -> Look {
    browser.wait(steps_left, |look| {
        look.todo.contains(steps_left) && !offers(look).is_empty()
    })
}

#[test]
fn it_is_split_over_three_pieces_with_undo_and_start_over() {
    let (server, browser) = open();
    let scene = Situation::with_move(&server, 1, has_three_parts);
    let seven = scene.find_move(has_three_parts);
    let wanted = parts(seven);
    browser.sit(&scene.game, 0);
    browser.choose_card("7");
    let first = wait_for_offers(&browser, "7 steps left");
    assert!(!first.can("Start over") && !first.can("Play"));

    choose_part(&browser, &wanted[0]);
    let left = 7 - wanted[0]["steps"].as_u64().expect("steps");
    let second = wait_for_offers(&browser, &format!("{left} step"));
    assert!(second.can("Undo") && second.can("Start over") && !second.can("Play"));
    assert_ne!(names(&second.board), names(&first.board));
    browser.press("Undo");
    let undone = wait_for_offers(&browser, "7 steps left");
    assert_eq!(names(&undone.board), names(&first.board));

    choose_part(&browser, &wanted[0]);
    choose_part(&browser, &wanted[1]);
    browser.press("Start over");
    let over = wait_for_offers(&browser, "7 steps left");
    assert_eq!(names(&over.board), names(&first.board));
    assert!(over.hand.iter().any(|card| card.pressed));

    for part in wanted {
        choose_part(&browser, part);
    }
    let complete = browser.wait("Play", |look| look.can("Play"));
    assert!(complete.can("Undo") && enabled(&complete.board).next().is_none());
    scene.assert_unchanged();
    browser.press("Play");
    scene.wait_until_played(&browser, seven);
    assert_eq!(scene.game.version(), scene.version + 1);
}

#[test]
fn a_reload_in_the_middle_loses_and_plays_nothing() {
    let (server, browser) = open();
    let scene = Situation::with_move(&server, 1, has_three_parts);
    let wanted = parts(scene.find_move(has_three_parts));
    browser.sit(&scene.game, 0);
    let before = browser.wait("the hand", |look| look.card("7").is_some());
    browser.choose_card("7");
    choose_part(&browser, &wanted[0]);
    browser.wait("the first part", |look| look.can("Start over"));
    browser.reload();
    let after = browser.wait("the hand", |look| look.card("7").is_some());
    assert_eq!(names(&after.hand), names(&before.hand));
    assert!(after.hand.iter().all(|card| !card.pressed));
    scene.assert_unchanged();
    browser.choose_card("7");
    wait_for_offers(&browser, "7 steps left");
}

#[test]
fn it_carries_over_to_the_partner() {
    let (server, browser) = open();
    let over_to_partner = |one: &Value| {
        let seats: Vec<&Value> = parts(one).iter().map(|part| &part["seat"]).collect();
        one["card"] == "7" && *seats[0] == 0 && *seats[seats.len() - 1] == 2
    };
    let scene = Situation::with_move(&server, 6, over_to_partner);
    let seven = scene.find_move(over_to_partner);
    browser.sit(&scene.game, 0);
    browser.choose_card("7");
    let own = wait_for_offers(&browser, "7 steps left");
    let mut names = own.board.iter().map(|place| &place.name);
    assert!(!names.any(|name| name.contains("Bruno’s piece,")));
    for part in parts(seven) {
        choose_part(&browser, part);
    }
    browser.press("Play");
    scene.wait_until_played(&browser, seven);
}
