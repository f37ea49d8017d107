//! A browser that keeps nothing: the page works, and forgets when it is closed.

use crate::support::{Browser, MousePlayer, TestServer, go_home, sit_down};

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
    browser.press_anywhere("Remove the game with Luna");
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
