//! Whole games against bots, by clicks or keys alone.

use serde_json::{Value, json};

use crate::support::{
    Browser, KeyboardPlayer, MousePlayer, TestGame, TestViewer::Spectator, create_with_bots,
    italian, open, text,
};

/// Checks that the page ends a game as the server does, and that every turn of seat 0 was clicked.
fn check_end(browser: &Browser, game: &TestGame<'_>) {
    let look = browser.wait("the end", |look| look.team.is_some());
    let view = game.view(Spectator);
    assert_eq!(view["phase"], "finished");
    let seats = view["seats"].as_array().expect("seats").iter();
    let winners = seats.filter(|seat| seat["team"] == view["winner"]);
    let names: Vec<&str> = winners.map(|seat| text(&seat["name"])).collect();
    let won = names.contains(&"Player");
    let heading = names.join(" and ").replace("Player", "You") + " win!";
    assert_eq!(look.team.as_deref(), Some(heading.as_str()));
    let words = match won {
        true => "You have won!",
        false => "You have lost",
    };
    assert!(look.todo.contains(words), "{}", look.todo);
}

fn a_whole_game(rules: &Value, number: u8) {
    let (server, browser) = open();
    let game = browser.sit_at(create_with_bots(&server, rules, number, 0), 0);
    MousePlayer::new(&browser, u64::from(number)).play_until(|_| false);
    check_end(&browser, &game);
}

#[test]
#[ignore = "long"]
fn familienlager() {
    a_whole_game(&json!({"preset": "familienlager"}), 1);
}

#[test]
#[ignore = "long"]
fn dogspiel_de() {
    a_whole_game(&json!({"preset": "dogspiel-de"}), 2);
}

#[test]
#[ignore = "long"]
fn dogspiel_it() {
    a_whole_game(&italian(), 3);
}

#[test]
#[ignore = "long"]
fn spielanleitung() {
    a_whole_game(&json!({"preset": "spielanleitung"}), 4);
}

#[test]
#[ignore = "long"]
fn hausregeln() {
    a_whole_game(&json!({"preset": "hausregeln"}), 5);
}

#[test]
#[ignore = "long"]
fn six_seats() {
    a_whole_game(&json!({"preset": "hausregeln", "seats": 6}), 6);
}

#[test]
#[ignore = "long"]
fn keyboard_alone() {
    let (server, browser) = open();
    let game = browser.sit_at(create_with_bots(&server, &italian(), 7, 0), 0);
    KeyboardPlayer::new(&browser, 7).play_until(|_| false);
    check_end(&browser, &game);
}
