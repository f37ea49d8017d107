//! What the browser remembers of games. If it keeps nothing, the page works, and forgets when it is
//! closed.

use serde_json::{Value, json};

use crate::{
    connection::replace_fetch,
    support::{
        Browser, LINK_FOR_ALL, MousePlayer, deal_to_people, go_home, italian, open, sit_down,
        wait_for_seat,
    },
};

/// Plays from the home screen, and comes back to the game from there.
fn plays_and_continues(browser: &Browser) {
    browser.press("Play against bots");
    let mut player = MousePlayer::new(browser, 1);
    player.play_until(|look| look.log > 2 && !look.hand.is_empty());
    let table = browser.fragment();
    browser.script("location.hash = '#/'", vec![]);
    browser.wait_for_words("Continue");
    browser.click_on(".games a");
    browser.wait("the hand", |look| !look.hand.is_empty());
    assert_eq!(browser.fragment(), table);
    browser.script("location.hash = '#/'", vec![]);
    // It is the only key of a game that goes on.
    browser.press_anywhere("Remove the game with Luna");
    browser.wait_for_words("Only this browser has the key to your seat.");
    browser.press_anywhere("Cancel");
    browser.press_anywhere("Remove the game with Luna");
    browser.press_anywhere("Remove");
    let nothing = "!document.body.innerText.includes('Continue')";
    browser.wait_for_script("no game to continue", nothing);
}

#[test]
fn blocked_storage_is_no_obstacle() {
    let (_server, browser) = open();
    browser.prepare(
        "const deny = () => { throw new DOMException('Access is denied.', 'SecurityError'); };
         for (const storage of ['localStorage', 'sessionStorage']) {
           Object.defineProperty(window, storage, { get: deny });
         }
         // Firefox blocks this, too.
         window.BroadcastChannel = function () { deny(); };",
    );
    browser.go("/?lang=en");
    plays_and_continues(&browser);
    browser.press("Invite friends");
    browser.wait_for_alert("Please write your name first.");
    browser.type_into("Your name", "Anna");
    browser.press("Invite friends");
    browser.wait_for_words("Waiting for 3 more players.");
}

#[test]
fn full_storage_is_no_obstacle() {
    let (_server, browser) = open();
    go_home(&browser, "Anna");
    browser.script(
        "for (let size = 1 << 23; size >= 1; size /= 2) {
           try { localStorage.setItem(`full${size}`, 'x'.repeat(size)); } catch {}
         }",
        vec![],
    );
    plays_and_continues(&browser);
    // A seat that was taken is kept, too.
    browser.press("Invite friends");
    browser.wait_for_words("Waiting for 3 more players.");
    let link = browser.value(LINK_FOR_ALL);
    let friend = browser.another();
    sit_down(&friend, &link, "Beat");
    browser.wait_for_words("Waiting for 2 more players.");
    browser.press("Start");
    browser.wait("the hand", |look| look.hand.len() == 6);
}

/// The seat as which the page shows the game.
fn seat(browser: &Browser) -> Value {
    let script = "
        const { src } = document.querySelector('script[type=module]');
        return import(new URL('store.js', src)).then(({ state }) => state.table?.seat ?? null)";
    browser.script(script, vec![])
}

#[test]
fn two_tabs_have_two_seats_of_a_game() {
    let (server, browser) = open();
    let game = deal_to_people(&server, &italian(), 1);
    let first = browser.tab();
    let second = browser.open_tab();
    let tabs = [(&first, 0), (&second, 2)];
    for (tab, own) in tabs {
        browser.switch_to(tab);
        let token = &game.tokens[own];
        browser.go(&format!("/?lang=en#/games/{}/{own}-{token}", game.id));
        wait_for_seat(&browser);
        browser.go("/?lang=en");
        browser.wait_for_words("Continue");
    }
    for (tab, own) in tabs {
        browser.switch_to(tab);
        browser.open_table(&game);
        assert_eq!(seat(&browser), own);
    }
}

/// For a while the operator runs a backup that is older than the seat.
#[test]
fn a_token_that_is_unknown_for_a_while_is_kept() {
    let (server, browser) = open();
    let game = deal_to_people(&server, &italian(), 1);
    replace_fetch(
        &browser,
        "return options.headers?.['Dog-Token'] && !window.repaired
           ? problem(401, 'unauthorized', { reason: 'unknown_token' }, { Vary: 'Dog-Token' }) : real(url, options);",
    );
    browser.remember(&game, 1);
    let lost = || {
        browser.go(&format!("/?lang=en#/games/{}", game.id));
        browser.wait_for_words("You no longer have a seat at this table");
        assert_eq!(seat(&browser), Value::Null);
    };
    lost();
    // The server comes back with the database that it should have.
    browser.eval("window.repaired = true");
    browser.eval("dispatchEvent(new Event('offline'))");
    browser.wait("the hand", |look| !look.hand.is_empty());
    lost();
}

#[test]
fn the_oldest_games_that_are_over_are_forgotten() {
    let (_server, browser) = open();
    go_home(&browser, "Anna");
    browser.script(
        "for (let n = 1; n <= 150; n += 1) {
           localStorage.setItem(`dog.game.old${n}`, JSON.stringify({
             id: `old${n}`, seat: 0, token: '0', hostToken: null, opened: n, over: n > 10,
             preset: 'dogspiel-it', names: ['Anna', 'Luna', 'Bruno', 'Bella'],
           }));
         }",
        vec![],
    );
    browser.press("Play against bots");
    browser.wait_for_cards();
    let kept = "Object.keys(localStorage).filter((key) => key.startsWith('dog.game.old'))
                  .map((key) => Number(key.slice('dog.game.old'.length))).sort((a, b) => a - b)";
    // With the new game there are 100.
    let expected: Vec<u32> = (1..=10).chain(62..=150).collect();
    assert_eq!(browser.eval(kept), json!(expected));
}

/// The page of another version kept what this one does not know.
#[test]
fn what_another_version_has_kept_breaks_nothing() {
    let (_server, browser) = open();
    let unknown = json!({
        "preset": "nirvana", "seats": 5, "level": "genius", "pace": null, "clock": 77,
        "options": {"exchange": "never", "weather": "rain"},
    });
    for settings in [
        unknown,
        json!({"options": null}),
        json!({"options": "x"}),
        json!("x"),
        json!([1]),
    ] {
        browser.go("/?lang=en");
        browser.forget_all();
        browser.store("dog.settings", &settings);
        // Nor does what it kept of lessons, of requests and of a game, which is not on the server.
        browser.expect_message(&["/v1/games/old", "404"]);
        browser.store("dog.lessons", &json!({"four": true}));
        browser.store("dog.coached", &json!("give"));
        browser.store(
            "dog.game.old",
            &json!({"id": "old", "names": ["Anna"], "token": "0", "seat": 0}),
        );
        browser.prepare("try { sessionStorage.setItem('dog.tab.requests', '7'); } catch {}");
        browser.go("/?lang=en");
        browser.wait("the home screen", |look| look.can("Play against bots"));
        browser.open_details("More");
        browser.wait_for_element(".chips [name=exchange]");
        browser.wait_for_words("Continue");
        browser.press("Play against bots");
        browser.wait("the hand", |look| look.hand.len() == 6);
        browser.go("/?lang=en#/learn");
        browser.wait_for_words("Leave the kennel");
    }
}

/// A link of somebody else at the table, or an old one, has another token of the same seat.
#[test]
fn a_link_replaces_no_token_of_a_seat_before_it_is_asked() {
    let (server, browser) = open();
    let game = deal_to_people(&server, &italian(), 1);
    let hands = [0, 1].map(|seat| game.hand(seat));
    assert_ne!(hands[0], hands[1]);
    browser.sit(&game, 0);
    let token = format!(
        "JSON.parse(localStorage['dog.game.{}']).tokens?.[0]",
        game.id
    );
    browser.wait_for_script("the token", &token);
    let kept = || browser.eval(&token);
    let is_answered = || {
        let question = browser.eval("document.querySelector('.question')");
        assert_eq!(question, Value::Null);
    };
    let link = format!("/?lang=en#/games/{}/0-{}", game.id, game.tokens[1]);
    let ask = || {
        browser.go(&link);
        browser.wait_for_words("This link has another key to your seat.");
        // Seen with the other token, and not in the address any more.
        assert_eq!(browser.fragment(), format!("/games/{}", game.id));
        assert_eq!(kept(), json!(game.tokens[0]));
    };
    ask();
    browser.press_anywhere("Back to my own key");
    browser.wait("the own hand", |look| {
        look.hand.iter().map(|card| &card.name).eq(&hands[0])
    });
    is_answered();
    ask();
    // Without an answer nothing changes.
    browser.open_table(&game);
    browser.wait("the own hand", |look| !look.hand.is_empty());
    assert_eq!(kept(), json!(game.tokens[0]));
    ask();
    browser.press_anywhere("Replace my key");
    let replaced = format!("{token} === '{}'", game.tokens[1]);
    browser.wait_for_script("the other token", &replaced);
    is_answered();
    // The same link again is nothing new.
    browser.go(&link);
    browser.wait_for_script(
        "the address",
        &format!("location.hash === '#/games/{}'", game.id),
    );
    is_answered();
}
