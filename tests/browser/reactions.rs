//! What people say to the table, and the skip of those who have folded.

use std::{thread::sleep, time::Duration};

use serde_json::json;

use crate::support::{
    Situation, TestGame,
    TestViewer::{Host, Seat},
    create_with_bots, deal_to_people, enabled, italian, open,
};

/// The seats at which reactions are shown, with the words.
const BUBBLES: &str = "[...document.querySelectorAll('.players .bubble')]
    .map((one) => [one.closest('li').className.split(' ')[0], one.textContent]).join()";

#[test]
fn a_reaction_is_shown_beside_its_seat() {
    let (server, anna) = open();
    let scene = anna.sit_in(Situation::with_choices(&server));
    let beat = anna.another();
    beat.sit(&scene.game, 1);
    beat.press("React");
    beat.press("Thank you!");
    for (browser, at) in [(&anna, "at-1"), (&beat, "at-0")] {
        browser.wait_for_script("a reaction", &format!("{BUBBLES} === '{at},Thank you!'"));
    }
    anna.wait("the words", |look| {
        look.happened.contains("Luna: “Thank you!”")
    });
    // After four seconds it is gone.
    anna.wait_for_script("no reaction", &format!("{BUBBLES} === ''"));
    // Somebody who does not want them does not see them.
    anna.press("React");
    anna.click_on(".mute input");
    anna.press("Close");
    beat.press("React");
    beat.press("Ouch!");
    beat.wait_for_script("a reaction", &format!("{BUBBLES} === 'at-0,Ouch!'"));
    beat.wait_for_script("no reaction", &format!("{BUBBLES} === ''"));
    let look = anna.look();
    assert!(!look.happened.contains("Ouch!"), "{}", look.happened);
}

#[test]
fn where_nobody_may_react_the_button_says_why() {
    let (server, browser) = open();
    let game = browser.sit_at(deal_to_people(&server, &italian(), 1), 0);
    let why = |reason: &str| {
        let look = browser.wait("the button", |look| look.button("React").is_some());
        let button = look.button("React").expect("the button");
        assert!(!button.enabled);
        browser.click(button);
        browser.wait_for_todo(reason);
    };
    let signal = "a reaction would be a signal";
    why(signal);
    // A choice is what is said next.
    browser.choose_card(&game.hand(0)[0]);
    browser.wait("Give", |look| {
        look.can("Give") && !look.todo.contains(signal)
    });
    why(signal);
    game.patch(Host, &json!({"reactions": false})).expect(200);
    browser.wait_for_todo("At this table there are no reactions.");

    // It is there while a card is chosen, too.
    browser.sit_in(Situation::with_choices(&server));
    let look = browser.wait_for_cards();
    browser.click(enabled(&look.hand).next().expect("a card"));
    browser.wait("the choice", |look| look.can("Undo"));
    browser.press("React");
    browser.wait("the words", |look| look.can("Ouch!"));
}

/// Answers in the exchange, and waits until it is the turn of seat 0.
fn to_own_turn(game: &TestGame<'_>) {
    loop {
        let actions = game.view(Seat(0))["actions"].take();
        match actions[0]["route"].as_str() {
            Some("play") => return,
            Some("swap") => drop(game.offer(0)),
            _ => sleep(Duration::from_millis(10)),
        }
    }
}

fn can_only_fold(game: &TestGame<'_>) -> bool {
    to_own_turn(game);
    game.legal_moves(0)[0]["kind"] == "fold"
}

#[test]
fn a_player_who_has_folded_skips_to_the_next_round() {
    let (server, browser) = open();
    let mut games = (1..60).map(|number| create_with_bots(&server, &italian(), number, 0));
    let game = games.find(can_only_fold).expect("a hand to fold");
    // At this pace, the rest of the round would take longer than this test waits.
    game.patch(Host, &json!({"bot_pace_ms": 60_000}))
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
