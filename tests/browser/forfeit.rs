//! A team gives up on the page.

use serde_json::json;

use crate::support::{Browser, TestViewer::Spectator, deal_to_people, italian, open};

/// Opens the question about leaving, which is also about giving up.
fn ask(browser: &Browser, words: &str) {
    browser.wait("a hand", |look| !look.hand.is_empty());
    browser.press("Leave");
    browser.wait_for_words(words);
}

#[test]
fn partners_give_up_and_the_others_know_it_at_the_end() {
    let (server, anna) = open();
    let (carla, beat) = (anna.another(), anna.another());
    let game = deal_to_people(&server, &italian(), 4);
    for (browser, seat) in [(&anna, 0), (&carla, 2), (&beat, 1)] {
        browser.sit(&game, seat);
    }
    let name = |seat: usize| {
        let name = &game.view(Spectator)["seats"][seat]["name"];
        name.as_str().expect("a name").to_owned()
    };
    ask(
        &anna,
        &format!("The game is lost once {} gives up, too.", name(2)),
    );
    anna.press_anywhere("Give up");
    anna.wait_for_words(&format!("{} has not.", name(2)));
    anna.press_anywhere("Play on");
    anna.press_anywhere("Give up");
    anna.press_anywhere("Cancel");
    let said = format!("{} offers to give up.", name(0));
    carla.wait_for_words(&said);
    // The other team gets the same changes, and no words.
    beat.settle();
    assert_eq!(beat.eval("document.body.innerText.includes('give')"), false);

    ask(&carla, "If you do, too, the game is lost.");
    carla.press_anywhere("Give up");
    for browser in [&anna, &carla, &beat] {
        browser.wait_for_words("One team gave up in round 1.");
    }
    beat.wait_for_words("You have won!");
    carla.wait_for_words("You have lost this time.");
    let told = json!(beat.eval("document.querySelector('.log').textContent"));
    let told = told.as_str().expect("a text");
    assert!(
        told.contains(&format!("{} and {} give up.", name(0), name(2))),
        "{told}"
    );
}
