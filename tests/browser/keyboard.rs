//! The page without a pointer.

use serde_json::json;

use crate::support::{
    Browser, KeyboardPlayer, Situation, Style, TestServer, TestViewer::Spectator, create_with_bots,
    create_with_people,
};

#[test]
fn a_game_is_played_with_tab_and_enter() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let game = create_with_bots(&server, &json!({"preset": "dogspiel-it"}), 5, 0);
    browser.remember(&game, 0);
    browser.go(&format!("/?lang=en#/games/{}", game.id));
    let look = KeyboardPlayer::new(&browser, 5).play_until(|look| look.log > 50);
    assert!(look.log > 50);
}

#[test]
fn escape_takes_back_and_the_focus_is_never_lost() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let rules = json!({"preset": "dogspiel-it"});
    let scene = Situation::find(&server, &rules, 3, Style::FirstSeat, |_, moves| {
        moves.iter().any(|one| one["card"] == "joker")
    });
    let version = scene.game.version();
    browser.sit(&scene.game, 0);
    let keyboard = KeyboardPlayer::new(&browser, 0);
    keyboard.tab_to(|look| look.hand.iter().find(|card| card.name == "joker"));
    browser.key(KeyboardPlayer::ENTER);
    browser.wait("the first rank", |look| {
        look.ranks.first().is_some_and(|rank| rank.focused)
    });
    browser.key(KeyboardPlayer::ENTER);
    browser.wait("a place", |look| {
        look.board.iter().any(|place| place.focused)
    });
    browser.key(KeyboardPlayer::ESCAPE);
    browser.wait("a rank again", |look| {
        look.ranks.iter().any(|rank| rank.focused)
    });
    browser.key(KeyboardPlayer::ESCAPE);
    browser.wait("the hand again", |look| {
        let unchosen = look.hand.iter().all(|card| !card.pressed);
        unchosen && look.hand.iter().any(|card| card.focused)
    });
    browser.key(KeyboardPlayer::ESCAPE);
    assert_eq!(scene.game.version(), version);
}

#[test]
fn a_chosen_card_of_the_exchange_leads_to_give() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let rules = json!({"preset": "hausregeln", "exchange": "optional"});
    let game = create_with_people(&server, &rules, 1);
    game.deal();
    browser.sit(&game, 0);
    let keyboard = KeyboardPlayer::new(&browser, 0);
    keyboard.tab_to(|look| look.hand.get(1));
    browser.key(KeyboardPlayer::ENTER);
    browser.wait("Give", |look| {
        look.button("Give").is_some_and(|give| give.focused)
    });
    browser.key(KeyboardPlayer::ENTER);
    browser.wait("the others", |look| look.todo.contains("The others"));
    assert_eq!(game.view(Spectator)["seats"][0]["exchange"], "offered");
}

#[test]
fn a_partner_who_asks_for_help_does_not_take_the_focus_away() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let game = create_with_people(&server, &json!({"preset": "hausregeln"}), 1);
    game.deal();
    browser.sit(&game, 0);
    let keyboard = KeyboardPlayer::new(&browser, 0);
    keyboard.tab_to(|look| look.button("No help needed"));
    // The button is gone, and a card is to be chosen.
    game.swap(2, &json!({"ask": true}));
    browser.wait("a card", |look| {
        look.hand.first().is_some_and(|card| card.focused)
    });
    browser.key(KeyboardPlayer::ENTER);
    browser.wait("Give", |look| {
        look.button("Give").is_some_and(|give| give.focused)
    });
}
