//! Measurements. They assert nothing about time.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::support::{Browser, Dice, TestServer, TestViewer::Spectator, create_with_people};

/// Milliseconds since 1970, on the clock that the browser has too.
fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("a time after 1970").as_secs_f64() * 1000.0
}

/// Median, 95th percentile and greatest of some times.
fn summary(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
    format!(
        "median {:.1} ms, 95th percentile {:.1} ms, most {:.1} ms, n = {}",
        at(0.5),
        at(0.95),
        at(1.0),
        times.len()
    )
}

/// Collects when each line of the log was drawn: in the frame after the change of the document.
const WATCH: &str = "
    window.drawn = [];
    let lines = 0;
    new MutationObserver(() => {
      const now = document.querySelectorAll('details.log li').length;
      if (now === lines) return;
      lines = now;
      requestAnimationFrame(() => setTimeout(() =>
        window.drawn.push([now, performance.timeOrigin + performance.now()])));
    }).observe(document.body, { subtree: true, childList: true });";

#[test]
#[ignore = "a measurement: cargo test --test browser_games -- --ignored --nocapture draw_delay"]
fn draw_delay() {
    let server = TestServer::start();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    // Everybody else plays by the API; the browser shows seat 0.
    let game = create_with_people(&server, &json!({"preset": "dogspiel-it"}), 1);
    browser.sit(&game, 0);
    browser.script(WATCH, vec![]);
    let mut dice = Dice::new(1);
    let mut times = Vec::new();
    while times.len() < 200 && game.view(Spectator)["phase"] != "finished" {
        let before = browser.script("return window.drawn.length", vec![]);
        // An exchange is several changes; it is not measured.
        let measured = game.view(Spectator)["phase"] != "exchange";
        let begun = Instant::now();
        game.step(&mut dice);
        let answered = now();
        let drawn = loop {
            let drawn = browser.script("return window.drawn", vec![]);
            let drawn = drawn.as_array().expect("a list").clone();
            if drawn.len() as u64 > before.as_u64().expect("a count") {
                break drawn;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "nothing is drawn"
            );
        };
        if measured {
            let at = drawn[drawn.len() - 1][1].as_f64().expect("a time");
            times.push((at - answered).max(0.0));
        }
    }
    eprintln!(
        "from the answer to a change until it is drawn: {}",
        summary(times)
    );
}

#[test]
#[ignore = "a measurement: cargo test --test browser_games -- --ignored --nocapture first_paint"]
fn first_paint() {
    let server = TestServer::start();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let load = |cached: bool| {
        let times = (0..20).map(|_| {
            if !cached {
                browser.devtools("Network.clearBrowserCache", json!({}));
            }
            browser.go("/?lang=en");
            let painted = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime";
            browser.wait_for_script("the first paint", painted);
            let time = browser.script(&format!("return {painted}"), vec![]);
            time.as_f64().expect("a time")
        });
        summary(times.collect())
    };
    eprintln!("first contentful paint, without a cache: {}", load(false));
    eprintln!("first contentful paint, with the cache: {}", load(true));
}
