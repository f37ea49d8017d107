//! What people say to the table, and the skip of those who have folded.

use std::{thread::sleep, time::Duration};

use serde_json::json;

use crate::support::{
    Browser, Situation, Style, TestGame, TestServer,
    TestViewer::{Host, Seat},
    create_with_bots,
};

#[test]
fn a_reaction_stands_at_the_plate_of_the_others() {
    let server = TestServer::shared();
    let rules = json!({"preset": "dogspiel-it"});
    let Some(anna) = Browser::open(&server) else {
        return;
    };
    let scene = Situation::find(&server, &rules, 4, Style::FirstSeat, |_, moves| {
        moves.len() > 5
    });
    anna.sit(&scene.game, 0);
    let beat = anna.another();
    beat.sit(&scene.game, 1);
    beat.press("React");
    beat.press("Thank you!");
    let bubble = "[...document.querySelectorAll('.players .bubble')].map((one) => [one.closest('li').className.split(' ')[0], one.textContent]).join()";
    for (browser, at) in [(&anna, "at-1"), (&beat, "at-0")] {
        browser.wait_for_script("a reaction", &format!("{bubble} === '{at},Thank you!'"));
    }
    anna.wait("the words", |look| {
        look.happened.contains("Luna: “Thank you!”")
    });
    // After four seconds it is gone.
    anna.wait_for_script(
        "the end of it",
        "!document.querySelector('.players .bubble')",
    );
    // Somebody who does not want them does not see them.
    anna.press("React");
    anna.wait_for_script("the switch", "document.querySelector('.mute input')");
    anna.script("document.querySelector('.mute input').click()", vec![]);
    anna.press("Close");
    beat.press("React");
    beat.press("Ouch!");
    beat.wait_for_script("a reaction", &format!("{bubble} === 'at-0,Ouch!'"));
    beat.wait_for_script(
        "the end of it",
        "!document.querySelector('.players .bubble')",
    );
    let look = anna.look();
    assert!(!look.happened.contains("Ouch!"), "{}", look.happened);
}

/// Answers in the exchange, and waits until it is the turn of seat 0.
fn to_own_turn(game: &TestGame<'_>) {
    loop {
        let actions = game.view(Seat(0))["actions"].take();
        match actions[0]["route"].as_str() {
            Some("play") => return,
            Some("swap") => drop(game.swap(0, &json!({"card": game.hand(0)[0]}))),
            _ => sleep(Duration::from_millis(10)),
        }
    }
}

#[test]
fn whoever_has_folded_skips_to_the_next_round() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let rules = json!({"preset": "dogspiel-it"});
    let game = (1..60)
        .map(|number| create_with_bots(&server, &rules, number, 0))
        .find(|game| {
            to_own_turn(game);
            game.legal_moves(0)[0]["kind"] == "fold"
        });
    let game = game.expect("a hand to fold");
    // At this pace, the rest of the round would take longer than this test waits.
    let slow = json!({"bot_pace_ms": 60_000});
    game.request("PATCH", Host, "")
        .json(&slow)
        .send()
        .expect(200);
    browser.sit(&game, 0);
    browser.press("Fold");
    browser.wait("the question", |look| look.can("Cancel"));
    browser.press("Fold");
    browser.press("Skip to the next round");
    browser.wait_for_script("the next round", "document.title.includes('Round 2 ')");
    let view = game.view(Seat(0));
    assert_eq!(view["bot_pace_ms"], 60_000);
    assert_eq!(view["round"], 2);
}
