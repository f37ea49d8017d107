//! Browsers that are too old, and a page that does not arrive whole.

use crate::support::{Browser, MousePlayer, TestServer};

#[test]
fn a_browser_of_2022_plays() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    // Firefox 92 and Safari 15.4 have none of these, or not all.
    browser.prepare(
        "delete Array.prototype.findLast; delete Array.prototype.findLastIndex;
         delete Array.prototype.toSorted; delete Array.prototype.toReversed;
         delete window.TextDecoderStream; delete Promise.withResolvers; delete AbortSignal.any;
         delete AbortSignal.timeout;",
    );
    browser.go("/?lang=en");
    browser.press("Play against bots");
    let mut player = MousePlayer::new(&browser, 1);
    player.play_until(|look| look.log > 2 && !look.hand.is_empty());
}

#[test]
fn an_older_browser_is_told_what_is_needed() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    browser.expect_message(&["is not a function"]);
    browser.prepare(
        "delete Array.prototype.at; delete Object.hasOwn;
         Object.defineProperty(navigator, 'language', { value: 'de-CH' });",
    );
    browser.go("/");
    browser.wait_for_words("Firefox 92");
    browser.wait_for_words("neueren Browser");
}

#[test]
fn a_page_that_does_not_arrive_says_so() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    browser.expect_message(&["Failed to fetch"]);
    browser.expect_message(&["the words are missing"]);
    browser.prepare(
        "const real = window.fetch;
         window.fetch = async (url, options) => {
           if (!String(url).includes('/lang/')) return real(url, options);
           if (location.search.includes('fr')) return Response.json({ code: 503 }, { status: 503 });
           throw new TypeError('Failed to fetch');
         };",
    );
    browser.go("/?lang=en");
    browser.press("Load again");
    browser.wait_for_words("The page could not be loaded.");
    // A proxy answers in JSON.
    browser.go("/?lang=fr");
    browser.wait_for_words("La page n’a pas pu être chargée.");
}
