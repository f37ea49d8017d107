//! What the browser remembers of games. If it keeps nothing, the page works, and forgets when it is
//! closed.

use serde_json::{Value, json};

use crate::support::{
    Browser, MousePlayer, TestGame, TestServer, create_with_people, enabled, go_home, sit_down,
    wait_for_seat,
};

/// Plays from the home screen, and comes back to the game from there.
fn plays_and_continues(browser: &Browser) {
    browser.press("Play against bots");
    let mut player = MousePlayer::new(browser, 1);
    player.play_until(|look| look.log > 2 && !look.hand.is_empty());
    let table = browser.fragment();
    browser.script("location.hash = '#/'", vec![]);
    browser.wait_for_words("Continue");
    browser.script("document.querySelector('.games a').click()", vec![]);
    browser.wait("the hand", |look| !look.hand.is_empty());
    assert_eq!(browser.fragment(), table);
    browser.script("location.hash = '#/'", vec![]);
    // It is the only key of a game that goes on.
    browser.press_anywhere("Remove the game with Luna");
    browser.wait_for_words("Only this browser has the key to your seat.");
    browser.press_anywhere("Cancel");
    browser.press_anywhere("Remove the game with Luna");
    browser.press_anywhere("Remove");
    browser.wait_for_script(
        "no game to continue",
        "!document.body.innerText.includes('Continue')",
    );
}

#[test]
fn blocked_storage_is_no_obstacle() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
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
    browser.wait("the question", |look| {
        look.alerts
            .iter()
            .any(|one| one == "Please write your name first.")
    });
    browser.type_into("Your name", "Anna");
    browser.press("Invite friends");
    browser.wait_for_words("Waiting for 3 more players.");
}

#[test]
fn full_storage_is_no_obstacle() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
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
    let link = browser.value("Link for everybody");
    let friend = browser.another();
    sit_down(&friend, &link, "Beat");
    browser.wait_for_words("Waiting for 2 more players.");
    browser.press("Start");
    browser.wait("the hand", |look| look.hand.len() == 6);
}

/// A game of four people, all at this server.
fn game(server: &TestServer) -> TestGame<'_> {
    let game = create_with_people(server, &json!({"preset": "dogspiel-it"}), 1);
    game.deal();
    game
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
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let game = game(&server);
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

/// The operator runs a backup for a while that is older than the seat.
#[test]
fn a_token_that_is_unknown_for_a_while_is_kept() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let game = game(&server);
    browser.prepare(
        "{ const real = window.fetch;
           window.fetch = (url, options) => (options?.headers?.Authorization && !window.repaired
             ? Response.json({
                 type: '/docs/guide/errors#unauthorized', title: '', status: 401, detail: '',
                 code: 'unauthorized', reason: 'unknown_token',
               }, { status: 401 }) : real(url, options)); }",
    );
    browser.remember(&game, 1);
    let lost = || {
        browser.go(&format!("/?lang=en#/games/{}", game.id));
        browser.wait_for_words("You no longer have a seat at this table");
        assert_eq!(seat(&browser), Value::Null);
    };
    lost();
    // The server comes back with the database that it should have.
    browser.script(
        "window.repaired = true; dispatchEvent(new Event('offline'))",
        vec![],
    );
    browser.wait("the hand", |look| !look.hand.is_empty());
    lost();
}

#[test]
fn the_oldest_games_that_are_over_are_forgotten() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
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
    browser.wait("the hand", |look| enabled(&look.hand).next().is_some());
    let script = "return Object.keys(localStorage).filter((key) => key.startsWith('dog.game.old'))
                    .map((key) => Number(key.slice('dog.game.old'.length))).sort((a, b) => a - b)";
    let kept: Vec<u32> = serde_json::from_value(browser.script(script, vec![])).expect("numbers");
    // With the new game there are 100.
    let expected: Vec<u32> = (1..=10).chain(62..=150).collect();
    assert_eq!(kept, expected);
}
