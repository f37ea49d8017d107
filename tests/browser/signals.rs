//! What tells a player who is not looking at the page that something happens.

use std::{thread::sleep, time::Duration};

use serde_json::{Value, json};

use crate::support::{Browser, Situation, TestViewer::Spectator, open};

/// Counts the tones of the page.
pub const TONES: &str = "
  window.tones = 0;
  const node = () => ({
    connect: (next) => next, start: () => { window.tones += 1; }, stop() {},
    frequency: { setValueAtTime() {}, exponentialRampToValueAtTime() {} },
    gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} },
  });
  window.AudioContext = class {
    state = 'running'; currentTime = 0; destination = {};
    createOscillator() { return node(); }
    createGain() { return node(); }
  };";

/// A browser that counts what is heard and felt, and knows the notifications that are shown, in a page
/// that is hidden if `window.away` is set, and whose clock is ahead by `window.ahead`.
const COUNTING: &str = "
  window.felt = 0; window.notes = []; window.locks = 0;
  navigator.vibrate = () => { window.felt += 1; };
  Object.defineProperty(navigator, 'userActivation', { value: { hasBeenActive: true } });
  Object.defineProperty(navigator, 'wakeLock', { value: {
    request: async () => { window.locks += 1; return { release() { window.locks -= 1; } }; },
  } });
  window.Notification = class { static permission = 'granted'; };
  const worker = window.ServiceWorkerRegistration?.prototype ?? {};
  worker.showNotification = async (title, { body, tag, renotify, data }) => {
    window.notes.push(`${title}: ${body}`);
    window.tagged = renotify && data === location.hash && data.includes(tag);
  };
  worker.getNotifications = async () => window.notes.map(() => ({ close() { window.notes.pop(); } }));
  const now = Date.now;
  Date.now = () => now() + (window.ahead ?? 0);
  Object.defineProperty(document, 'hidden', { get: () => window.away === true });";

/// The title, the icon, whether there were tones, vibrations, notifications and locks.
fn signals(browser: &Browser) -> Value {
    browser.eval(
        "[document.title, document.querySelector('link[rel=icon]').href.split('/').pop(),
          window.tones > 0, window.felt, window.notes, window.locks]",
    )
}

/// The others play until it is the turn of seat 0.
fn play_until_own_turn(scene: &Situation<'_>) {
    while scene.game.turn() != 0 {
        scene.game.play_on();
    }
}

#[test]
fn a_turn_is_seen_heard_and_felt() {
    let (server, browser) = open();
    browser.prepare(&[TONES, COUNTING].concat());
    let scene = Situation::with_more_turns(&server);
    let round = scene.game.view(Spectator)["round"].clone();
    browser.sit(&scene.game, 0);
    browser.wait_for_script("the title", "document.title.startsWith('Your turn')");
    browser.wait_for_script("the lock", "window.locks === 1");
    let title = format!("Round {round} · DOG");
    let yours = format!("Your turn · {title}");
    // What happened before the table was opened is not heard.
    let before = json!([yours, "icon-turn.svg", false, 0, [], 1]);
    assert_eq!(signals(&browser), before);

    scene.game.play_on();
    browser.wait_for_script("the move", "window.tones > 0");
    browser.wait_for_script("the title", "document.title.startsWith('Round')");
    let played = json!([title, "icon.svg", true, 0, [], 1]);
    assert_eq!(signals(&browser), played);
    browser.eval("window.away = true");
    play_until_own_turn(&scene);
    browser.wait_for_script("the call", "window.felt === 1");
    browser.wait_for_script("the note", "window.notes.length === 1");
    let called = json!([yours, "icon-turn.svg", true, 1, ["DOG: Your turn"], 1]);
    assert_eq!(signals(&browser), called);
    assert_eq!(browser.eval("window.tagged"), true);
    browser.eval("window.away = false");
    scene.game.play_on();
    browser.wait_for_script("the end of the note", "window.notes.length === 0");
    play_until_own_turn(&scene);
    browser.wait_for_script("the next call", "window.felt === 2");

    // Signals stay off after a reload; only the title tells.
    browser.press("Sound");
    browser.reload();
    let look = browser.wait("the switch", |look| look.can("Sound"));
    assert!(!look.button("Sound").expect("the switch").pressed);
    scene.game.play_on();
    browser.wait_for_script("the title", "document.title.startsWith('Round')");
    play_until_own_turn(&scene);
    browser.wait_for_script("the title", "document.title.startsWith('Your turn')");
    assert_eq!(signals(&browser), before);

    // Nothing stays behind on the home screen.
    browser.go("/?lang=en#/");
    browser.wait_for_script("the lock", "window.locks === 0");
    browser.wait_for_element("link[rel=icon][href$='icon.svg']");
}

#[test]
fn what_was_missed_is_not_heard() {
    let (server, browser) = open();
    browser.prepare(&[TONES, COUNTING].concat());
    let scene = browser.sit_in(Situation::with_more_turns(&server));
    browser.wait_for_script("the title", "document.title.startsWith('Your turn')");
    // What happens now was a minute ago, for instance because the network was away.
    browser.eval("window.ahead = 60_000");
    scene.game.play_on();
    browser.wait_for_script("the title", "document.title.startsWith('Round')");
    assert_eq!(browser.eval("window.tones"), 0);
    browser.eval("window.ahead = 0");
    scene.game.play_on();
    browser.wait_for_script("the move", "window.tones > 0");
}

#[test]
fn of_two_tabs_the_one_that_is_seen_is_heard() {
    let (server, browser) = open();
    let scene = Situation::with_more_turns(&server);
    let sit = || {
        browser.prepare(&[TONES, COUNTING].concat());
        browser.sit(&scene.game, 0);
        browser.wait_for_script("the title", "document.title.startsWith('Your turn')");
    };
    sit();
    let hidden = browser.tab();
    browser.eval("window.away = true");
    browser.open_tab();
    sit();
    scene.game.play_on();
    browser.wait_for_script("the move", "window.tones > 0");
    browser.switch_to(&hidden);
    browser.wait_for_script("the title", "document.title.startsWith('Round')");
    // It would be heard a little later than in the other.
    sleep(Duration::from_secs(1));
    assert_eq!(browser.eval("window.tones"), 0);
}
