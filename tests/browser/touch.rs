//! What answers a finger.

use serde_json::{Value, json};

use crate::support::{Browser, Button, Form, Situation, open, wait_for_offers};

impl Browser {
    /// Puts a finger on the middle of an element.
    fn touch(&self, button: &Button) {
        let middle = "
            const { x, y, width, height } = arguments[0].getBoundingClientRect();
            return { x: x + width / 2, y: y + height / 2 };";
        let point = self.script(middle, vec![button.element.clone()]);
        let touch = json!({"type": "touchStart", "touchPoints": [point]});
        self.devtools("Input.dispatchTouchEvent", touch);
    }

    /// Lifts the finger (`touchEnd`), or has the system take the touch (`touchCancel`).
    fn end_touch(&self, kind: &str) {
        let touch = json!({"type": kind, "touchPoints": []});
        self.devtools("Input.dispatchTouchEvent", touch);
    }

    /// The names of what is marked as pressed.
    fn pressed(&self) -> Value {
        self.eval("[...document.querySelectorAll('[data-pressed]')].map((one) => one.ariaLabel ?? one.textContent)")
    }
}

#[test]
fn a_touch_is_answered_before_the_finger_is_lifted() {
    let (server, browser) = open();
    browser.sit_in(Situation::with_choices(&server));
    let look = browser.wait_for_cards();
    let card = look.hand.iter().find(|card| card.enabled).expect("a card");
    let lift = "new DOMMatrix(getComputedStyle(document.querySelector('.card[data-pressed]')).transform).f";
    browser.touch(card);
    assert_eq!(browser.pressed(), json!([card.name]));
    // The card is lifted before it is chosen.
    assert!(browser.eval(lift).as_f64() < Some(-2.0));
    assert!(browser.look().hand.iter().all(|card| !card.pressed));
    browser.end_touch("touchEnd");
    let look = wait_for_offers(&browser);
    assert_eq!(browser.pressed(), json!([]));
    let chosen = look.hand.iter().filter(|card| card.pressed).count();
    assert_eq!(chosen, 1);

    // What scrolls, or is taken by the system, presses nothing.
    for button in ["Hint", "Rules"] {
        browser.touch(look.button(button).expect(button));
        assert_eq!(
            browser.pressed().as_array().map(Vec::len),
            Some(1),
            "{button}"
        );
        browser.end_touch("touchCancel");
        assert_eq!(browser.pressed(), json!([]), "{button}");
    }
    assert!(browser.look().advice.is_empty());
}

/// What moves without an end: the selector of the element, and the properties.
const ENDLESS: &str = "
    return document.getAnimations().filter((one) => one.effect.getComputedTiming().iterations === Infinity)
      .map(({ effect }) => [effect.target.className, effect.pseudoElement,
        [...new Set(effect.getKeyframes().flatMap((frame) => Object.keys(frame)))].filter((key) => !['offset', 'computedOffset', 'easing', 'composite'].includes(key))]);";

#[test]
fn only_the_plate_of_the_seat_to_move_moves_without_an_end() {
    let (server, browser) = open();
    browser.sit_in(Situation::with_choices(&server));
    let card = browser.wait_for_cards();
    let card = card.hand.iter().find(|card| card.enabled).expect("a card");
    browser.click(card);
    wait_for_offers(&browser);
    let endless = browser.script(ENDLESS, vec![]);
    assert_eq!(
        endless,
        json!([["at-0 active mine", "::after", ["opacity"]]])
    );
    browser.show_as(Form {
        reduced_motion: true,
        ..Form::default()
    });
    assert_eq!(browser.script(ENDLESS, vec![]), json!([]));
}
