//! Sevens, which the page lets the player split part by part.

use serde_json::{Value, json};

use crate::support::{
    Browser, Look, Situation, Style, TestServer, choose_part, enabled, names, offers, parts,
};

/// A scene with a seven that can be split over three pieces of seat 0.
fn three_pieces(server: &TestServer) -> Situation<'_> {
    let rules = json!({"preset": "dogspiel-it"});
    Situation::find(server, &rules, 1, Style::FirstSeat, |_, moves| {
        moves.iter().any(over_three_pieces)
    })
}

fn over_three_pieces(one: &Value) -> bool {
    one["card"] == "7" && parts(one).len() == 3
}

/// What the board offers for the next part.
fn wait_for_offers(browser: &Browser, steps_left: &str) -> Look {
    browser.wait(steps_left, |look| {
        look.todo.contains(steps_left) && !offers(look).is_empty()
    })
}

#[test]
fn it_is_split_over_three_pieces_with_undo_and_start_over() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let scene = three_pieces(&server);
    let wanted = parts(scene.find_move(over_three_pieces)).to_vec();
    let version = scene.game.version();
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

    for part in &wanted {
        choose_part(&browser, part);
    }
    let complete = browser.wait("Play", |look| look.can("Play"));
    assert!(complete.can("Undo") && enabled(&complete.board).next().is_none());
    assert_eq!(
        scene.game.version(),
        version,
        "nothing is played before Play"
    );
    browser.press("Play");
    browser.wait("the end of the turn", |look| {
        look.todo.contains("is to move")
    });
    assert_eq!(scene.game.version(), version + 1);
    assert_eq!(parts(&scene.last_move()), wanted);
}

#[test]
fn a_reload_in_the_middle_loses_and_plays_nothing() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let scene = three_pieces(&server);
    let wanted = parts(scene.find_move(over_three_pieces)).to_vec();
    let version = scene.game.version();
    browser.sit(&scene.game, 0);
    let before = browser.wait("the hand", |look| look.card("7").is_some());
    browser.choose_card("7");
    choose_part(&browser, &wanted[0]);
    browser.wait("the first part", |look| look.can("Start over"));
    browser.reload();
    let after = browser.wait("the hand", |look| look.card("7").is_some());
    assert_eq!(names(&after.hand), names(&before.hand));
    assert!(after.hand.iter().all(|card| !card.pressed));
    assert_eq!(scene.game.version(), version);
    browser.choose_card("7");
    wait_for_offers(&browser, "7 steps left");
    for part in &wanted {
        choose_part(&browser, part);
    }
    browser.press("Play");
    browser.wait("the end of the turn", |look| {
        look.todo.contains("is to move")
    });
    assert_eq!(parts(&scene.last_move()), wanted);
}

#[test]
fn it_carries_over_to_the_partner() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let over_to_partner = |one: &Value| {
        let last = parts(one).last();
        one["card"] == "7"
            && parts(one)[0]["seat"] == 0
            && last.is_some_and(|last| last["seat"] == 2)
    };
    let rules = json!({"preset": "dogspiel-it"});
    let scene = Situation::find(&server, &rules, 6, Style::FirstSeat, |_, moves| {
        moves.iter().any(over_to_partner)
    });
    let wanted = parts(scene.find_move(over_to_partner)).to_vec();
    browser.sit(&scene.game, 0);
    browser.choose_card("7");
    let own = wait_for_offers(&browser, "7 steps left");
    assert!(
        own.board
            .iter()
            .all(|place| !place.name.contains("Bruno’s piece,"))
    );
    for part in &wanted {
        choose_part(&browser, part);
    }
    browser.press("Play");
    browser.wait("the end of the turn", |look| {
        look.todo.contains("is to move")
    });
    assert_eq!(parts(&scene.last_move()), wanted);
}
