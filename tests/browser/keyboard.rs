//! The page without a pointer.

use serde_json::json;

use crate::support::{
    KeyboardPlayer, Situation, create_with_bots, deal_to_people, has_focus, italian, open,
};

#[test]
fn a_game_is_played_with_tab_and_enter() {
    let (server, browser) = open();
    browser.sit(&create_with_bots(&server, &italian(), 5, 0), 0);
    let look = KeyboardPlayer::new(&browser, 5).play_until(|look| look.log > 50);
    assert!(look.log > 50);
}

#[test]
fn escape_takes_back_and_the_focus_is_never_lost() {
    let (server, browser) = open();
    let scene = Situation::with_move(&server, 3, |one| one["card"] == "joker");
    browser.sit(&scene.game, 0);
    let keyboard = KeyboardPlayer::new(&browser, 0);
    keyboard.tab_to(|look| look.hand.iter().find(|card| card.name == "joker"));
    browser.key(KeyboardPlayer::ENTER);
    browser.wait("the first rank", |look| {
        look.ranks.first().is_some_and(|rank| rank.focused)
    });
    browser.key(KeyboardPlayer::ENTER);
    browser.wait("a place", |look| has_focus(&look.board));
    browser.key(KeyboardPlayer::ESCAPE);
    browser.wait("a rank again", |look| has_focus(&look.ranks));
    browser.key(KeyboardPlayer::ESCAPE);
    browser.wait("the hand again", |look| {
        has_focus(&look.hand) && look.hand.iter().all(|card| !card.pressed)
    });
    browser.key(KeyboardPlayer::ESCAPE);
    scene.assert_unchanged();
}

#[test]
fn a_partner_who_asks_for_help_does_not_take_the_focus_away() {
    let (server, browser) = open();
    let rules = json!({"preset": "hausregeln"});
    let game = browser.sit_at(deal_to_people(&server, &rules, 1), 0);
    let keyboard = KeyboardPlayer::new(&browser, 0);
    keyboard.tab_to(|look| look.button("No help needed"));
    // The button is gone, and a card is to be chosen.
    game.swap(2, &json!({"ask": true}));
    browser.wait("a card", |look| {
        look.hand.first().is_some_and(|card| card.focused)
    });
    browser.key(KeyboardPlayer::ENTER);
    browser.wait("Give", |look| look.is_focused("Give"));
}
