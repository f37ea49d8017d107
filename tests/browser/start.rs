//! Browsers that are too old, and a page that does not arrive whole.

use crate::{
    connection::replace_fetch,
    support::{Browser, MousePlayer, Signal, TestServer, open, open_alone, wait_until},
};

#[test]
fn a_browser_of_2022_plays() {
    let (_server, browser) = open();
    // Firefox 92 and Safari 15.4 lack some of these or all.
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
    let (_server, browser) = open();
    browser.expect_message(&["is not a function"]);
    browser.prepare(
        "delete Array.prototype.at; delete Object.hasOwn;
         Object.defineProperty(navigator, 'languages', { value: ['de-CH'] });",
    );
    browser.go("/");
    browser.wait_for_words("Firefox 92");
    browser.wait_for_words("neueren Browser");
}

#[test]
fn a_page_that_does_not_arrive_says_so() {
    let (_server, browser) = open();
    browser.expect_message(&["Failed to fetch"]);
    browser.expect_message(&["a file of the page is missing"]);
    browser.expect_message(&["was preloaded"]);
    browser.hurry();
    replace_fetch(
        &browser,
        "if (!String(url).includes('/lang/')) return real(url, options);
         if (location.search.includes('fr')) return Response.json({ code: 503 }, { status: 503 });
         throw new TypeError('Failed to fetch');",
    );
    browser.go("/?lang=en");
    browser.press("Load again");
    browser.wait_for_words("The page could not be loaded.");
    // A proxy answers in JSON.
    browser.go("/?lang=fr");
    browser.wait_for_words("La page n’a pas pu être chargée.");
}

/// Waits until the browser has what it needs without a network, and returns the addresses of that.
pub fn wait_until_kept(browser: &Browser) -> Vec<String> {
    let script = "
        const look = async () => {
          const cache = await caches.open('dog.kept');
          const home = await cache.match(new URL('./', document.baseURI));
          if (!home) return void setTimeout(look, 20);
          arguments[0]((await cache.keys()).map((one) => one.url));
        };
        look();";
    let kept = browser.script_async(script, vec![]);
    serde_json::from_value(kept).expect("addresses")
}

/// How many requests for files of the page the server has had.
fn file_requests(server: &TestServer) -> f64 {
    let metrics = server.get("/metrics").send().text();
    let requests = metrics.lines().filter(|line| {
        line.starts_with("dog_http_requests_total{")
            && !line.contains("route=\"/v1/")
            && !line.contains("route=\"/metrics\"")
    });
    let counts = requests.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    counts.sum()
}

#[test]
fn a_second_visit_asks_for_three_files_at_most() {
    let (server, browser) = open_alone();
    let visit = || {
        browser.go("/?lang=en");
        browser.wait("the home screen", |look| look.can("Play against bots"));
    };
    visit();
    wait_until_kept(&browser);
    let first = file_requests(&server);
    assert!(first > 30.0, "{first}");
    for number in 1..=3 {
        let before = file_requests(&server);
        visit();
        browser.settle();
        let asked = file_requests(&server) - before;
        assert!((1.0..=3.0).contains(&asked), "visit {number}: {asked}");
    }
}

#[test]
fn without_a_server_the_page_is_shown_and_no_answer_is_old() {
    let (server, browser) = open_alone();
    browser.expect_message(&["ERR_CONNECTION_REFUSED"]);
    browser.expect_message(&["ERR_INCOMPLETE_CHUNKED_ENCODING"]);
    browser.go("/?lang=en");
    browser.press("Play against bots");
    browser.wait("the hand", |look| look.hand.len() == 6);
    // The table asks by itself for a part of the page, and its words.
    wait_until("the words of the log", || {
        let loaded = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/finished/')).length";
        browser.eval(loaded) == 2
    });
    let kept = wait_until_kept(&browser);
    for address in &kept {
        let path = address.strip_prefix(&browser.server).expect("a path");
        let is_file = path.starts_with("/page/") || path == "/start.js";
        assert!(path == "/" || is_file, "{path}");
    }
    server.stop(Signal::Kill);
    // In another language, too.
    for (lang, words) in [("en", "Play against bots"), ("fr", "Jouer contre des bots")] {
        browser.go(&format!("/?lang={lang}"));
        browser.wait_for_words(words);
    }
    browser.go("/?lang=en");
    browser.wait_for_words("The server cannot be reached.");
}
