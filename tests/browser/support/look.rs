//! What a player sees on the page.

use serde::Deserialize;
use serde_json::Value;

use super::Browser;

/// A button.
#[derive(Clone, Debug, Deserialize)]
pub struct Button {
    /// The accessible name.
    pub name: String,
    pub enabled: bool,
    pub pressed: bool,
    pub focused: bool,
    /// WebDriver's reference to the element.
    pub element: Value,
}

/// The page at one moment.
#[derive(Clone, Debug, Deserialize)]
pub struct Look {
    /// The heading of a finished game.
    pub team: Option<String>,
    pub todo: String,
    /// What happened last.
    pub happened: String,
    pub alerts: Vec<String>,
    pub hand: Vec<Button>,
    pub board: Vec<Button>,
    pub ranks: Vec<Button>,
    pub advice: Vec<Button>,
    pub moves: Vec<Button>,
    /// The other buttons.
    pub buttons: Vec<Button>,
    /// The name of what has the focus.
    pub focus: Option<String>,
    /// The lines of the log.
    pub log: usize,
}

impl Look {
    /// The button of this name outside of the groups.
    pub fn button(&self, name: &str) -> Option<&Button> {
        self.buttons.iter().find(|one| one.name == name)
    }

    /// Whether there is such a button, and it can be pressed.
    pub fn can(&self, name: &str) -> bool {
        self.button(name).is_some_and(|one| one.enabled)
    }

    /// Whether such a button has the focus.
    pub fn is_focused(&self, name: &str) -> bool {
        self.button(name).is_some_and(|one| one.focused)
    }

    /// The button of the board on this place: `17`, `goal:0` or `kennel`.
    pub fn place(&self, place: &str) -> Option<&Button> {
        let words = place_words(place);
        enabled(&self.board).find(|one| {
            let rest = one.name.strip_prefix(&words);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(','))
        })
    }

    /// The first card of this name that can be chosen.
    pub fn card(&self, name: &str) -> Option<&Button> {
        enabled(&self.hand).find(|one| one.name == name)
    }
}

impl Browser {
    /// Waits until the task of the player has these words.
    #[track_caller]
    pub fn wait_for_todo(&self, words: &str) -> Look {
        self.wait(words, |look| look.todo.contains(words))
    }

    /// Waits for an alert with these words.
    #[track_caller]
    pub fn wait_for_alert(&self, words: &str) -> Look {
        let says = |look: &Look| look.alerts.iter().any(|one| one.contains(words));
        self.wait(words, says)
    }

    /// Waits until a card can be chosen.
    #[track_caller]
    pub fn wait_for_cards(&self) -> Look {
        self.wait("cards", |look| enabled(&look.hand).next().is_some())
    }

    /// Waits for a place on the board, and clicks on it.
    #[track_caller]
    pub fn choose_place(&self, place: &str) {
        let look = self.wait(place, |look| look.place(place).is_some());
        self.click(look.place(place).expect("the place"));
    }

    /// Opens the list of all moves, and clicks on one. Returns what was seen before.
    #[track_caller]
    pub fn play_from_list(&self, index: usize) -> Look {
        self.open_details("All moves");
        let look = self.wait("all moves", |look| enabled(&look.moves).next().is_some());
        self.click(&look.moves[index]);
        look
    }
}

/// The choices that can be pressed.
pub fn enabled(choices: &[Button]) -> impl Iterator<Item = &Button> {
    choices.iter().filter(|one| one.enabled)
}

/// Whether one of these has the focus.
pub fn has_focus(choices: &[Button]) -> bool {
    choices.iter().any(|one| one.focused)
}

/// A place as the page names it.
pub fn place_words(place: &str) -> String {
    match place.strip_prefix("goal:") {
        Some(depth) => format!("Goal field {}", depth.parse::<u8>().expect("a depth") + 1),
        None if place == "kennel" => "Kennel".to_owned(),
        None => format!("Field {place}"),
    }
}

/// The names of choices, sorted.
pub fn names(choices: &[Button]) -> Vec<&str> {
    let mut names: Vec<&str> = choices.iter().map(|one| one.name.as_str()).collect();
    names.sort_unstable();
    names
}
