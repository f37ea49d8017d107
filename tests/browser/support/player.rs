//! A player who looks at the page and clicks on something that it offers.

use serde_json::Value;

use super::{Browser, Button, Dice, Look, enabled, text};

/// Chooses by dice.
pub struct MousePlayer<'a> {
    browser: &'a Browser,
    dice: Dice,
}

impl<'a> MousePlayer<'a> {
    pub fn new(browser: &'a Browser, seed: u64) -> MousePlayer<'a> {
        MousePlayer {
            browser,
            dice: Dice::new(seed),
        }
    }

    /// Plays until the player sees something, or the game is over; returns what is seen then.
    #[track_caller]
    pub fn play_until(&mut self, seen: impl Fn(&Look) -> bool) -> Look {
        loop {
            let offered =
                |look: &Look| look.team.is_some() || seen(look) || !offers(look).is_empty();
            let look = self.browser.wait("something to click on", offered);
            if look.team.is_some() || seen(&look) {
                return look;
            }
            assert_eq!(look.alerts, [""; 0]);
            let choices = offers(&look);
            let choice = choices[self.dice.below(choices.len())];
            self.browser.try_click(choice);
        }
    }
}

/// A player with a keyboard alone.
pub struct KeyboardPlayer<'a> {
    browser: &'a Browser,
    dice: Dice,
}

impl<'a> KeyboardPlayer<'a> {
    // Keys as WebDriver names them.
    pub const TAB: char = '\u{e004}';
    pub const ENTER: char = '\u{e007}';
    pub const ESCAPE: char = '\u{e00c}';

    pub fn new(browser: &'a Browser, seed: u64) -> KeyboardPlayer<'a> {
        KeyboardPlayer {
            browser,
            dice: Dice::new(seed),
        }
    }

    /// Presses Tab until the choice that `chosen` names has the focus.
    #[track_caller]
    pub fn tab_to(&self, chosen: impl Fn(&Look) -> Option<&Button>) {
        for _ in 0..400 {
            let look = self.browser.look();
            if chosen(&look).is_some_and(|choice| choice.focused) {
                return;
            }
            self.browser.key(Self::TAB);
        }
        panic!("Tab does not lead there: {:#?}", self.browser.look());
    }

    /// Plays until the player sees something, or the game is over; returns what is seen then.
    #[track_caller]
    pub fn play_until(&mut self, seen: impl Fn(&Look) -> bool) -> Look {
        let mut was_choosing = false;
        loop {
            let offered =
                |look: &Look| look.team.is_some() || seen(look) || !offers(look).is_empty();
            let look = self.browser.wait("something to choose", offered);
            if look.team.is_some() || seen(&look) {
                return look;
            }
            let choices = offers(&look);
            if was_choosing {
                // What had the focus may be gone.
                let focused = |look: &Look| offers(look).is_empty() || look.focus.is_some();
                self.browser.wait("the focus", focused);
            }
            let steps = self.dice.below(choices.len());
            let name = choices[steps].name.clone();
            self.tab_to(|look| {
                // Duplicate cards have the same name, and it may be any of them.
                offers(look)
                    .into_iter()
                    .find(|choice| choice.name == name && choice.focused)
            });
            self.browser.key(Self::ENTER);
            was_choosing = true;
        }
    }
}

/// Waits until the player can choose something.
#[track_caller]
pub fn wait_for_offers(browser: &Browser) -> Look {
    browser.wait("a choice", |look| !offers(look).is_empty())
}

/// Waits until the player can choose on the board, and chooses the piece of a part, if the page asks
/// for it. Returns what is seen when its targets are offered.
#[track_caller]
pub fn choose_piece(browser: &Browser, part: &Value) -> Look {
    let asked = |look: &Look| look.todo.contains("Choose") && !offers(look).is_empty();
    let look = browser.wait("a choice on the board", asked);
    if !look.todo.contains("Choose a piece") {
        return look;
    }
    let piece = look.place(text(&part["from"]));
    browser.click(piece.unwrap_or_else(|| panic!("{part}: {look:?}")));
    browser.wait("targets", |look| {
        look.todo.contains("Choose where it goes") && !offers(look).is_empty()
    })
}

/// Chooses one part of a move, or a whole move of one part, on the board: the piece if the page
/// asks for it, then the target.
#[track_caller]
pub fn choose_part(browser: &Browser, part: &Value) {
    let look = choose_piece(browser, part);
    let target = look.place(text(&part["to"]));
    browser.click(target.unwrap_or_else(|| panic!("{part} is not offered: {look:?}")));
}

/// What a player who wants to play can click on next. There is nothing while the page waits.
pub fn offers(look: &Look) -> Vec<&Button> {
    for name in ["Play", "Fold", "Deal"] {
        if let Some(button) = look.button(name).filter(|one| one.enabled) {
            return vec![button];
        }
    }
    let board: Vec<&Button> = enabled(&look.board).collect();
    if !board.is_empty() {
        return board;
    }
    let ranks: Vec<&Button> = enabled(&look.ranks).collect();
    if !ranks.is_empty() {
        return ranks;
    }
    if look.can("Give") {
        return look.button("Give").into_iter().collect();
    }
    if look.hand.iter().any(|card| card.pressed) {
        return Vec::new();
    }
    let others = ["Ask for help", "No help needed", "Do not help", "Decline"];
    let others = others.iter().filter_map(|name| look.button(name));
    let others = others.filter(|one| one.enabled);
    enabled(&look.hand).chain(others).collect()
}
