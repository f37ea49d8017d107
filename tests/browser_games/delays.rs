//! Measurements. They assert nothing about time.

use std::{
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::json;

use crate::support::{
    Browser, Dice, LINK_FOR_ALL, TestServer,
    TestViewer::{Host, Spectator},
    create_with_people, game_of, invite_friends, italian, open_alone, sit_down,
};

/// Milliseconds since 1970, on the clock that the browser has too.
fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("a time after 1970").as_secs_f64() * 1000.0
}

/// Median, 95th percentile and greatest of some times.
fn summary(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
    let (median, late, most, n) = (at(0.5), at(0.95), at(1.0), times.len());
    format!("median {median:.1} ms, 95th percentile {late:.1} ms, most {most:.1} ms, n = {n}")
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
    let (server, browser) = open_alone();
    // Everybody else plays by the API; the browser shows seat 0.
    let game = browser.sit_at(create_with_people(&server, &italian(), 1), 0);
    browser.script(WATCH, vec![]);
    let mut dice = Dice::new(1);
    let mut times = Vec::new();
    while times.len() < 200 && game.view(Spectator)["phase"] != "finished" {
        let before = browser.eval("window.drawn.length");
        // An exchange is several changes; it is not measured.
        let measured = game.view(Spectator)["phase"] != "exchange";
        let started = Instant::now();
        game.step(&mut dice);
        let answered = now();
        let drawn = loop {
            let drawn = browser.eval("window.drawn");
            let drawn = drawn.as_array().expect("a list").clone();
            if drawn.len() as u64 > before.as_u64().expect("a count") {
                break drawn;
            }
            let waited = started.elapsed();
            assert!(waited < Duration::from_secs(30), "nothing is drawn");
        };
        if measured {
            let at = drawn[drawn.len() - 1][1].as_f64().expect("a time");
            times.push((at - answered).max(0.0));
        }
    }
    let what = "from the answer to a change until it is drawn";
    eprintln!("{what}: {}", summary(times));
}

/// Collects when another text of an element was drawn.
const WATCH_TEXT: &str = "
    window.drawn = [];
    const text = () => document.querySelector(arguments[0])?.innerText ?? '';
    let last = text();
    new MutationObserver(() => {
      const now = text();
      if (now === last) return;
      last = now;
      requestAnimationFrame(() => setTimeout(() =>
        window.drawn.push(performance.timeOrigin + performance.now())));
    }).observe(document.body, { subtree: true, childList: true, characterData: true });";

/// Watches a part of the page in each browser.
fn watch(browsers: &[Browser], part: &str) {
    for browser in browsers {
        browser.script(WATCH_TEXT, vec![json!(part)]);
    }
}

/// The milliseconds from this time until each browser had drawn something. It watches on.
fn drawn_since(browsers: &[Browser], since: f64) -> Vec<f64> {
    let drawn = browsers.iter().map(|browser| {
        browser.wait_for_script("a drawing", "window.drawn.length");
        let first = browser.eval("window.drawn.splice(0)[0]");
        (first.as_f64().expect("a time") - since).max(0.0)
    });
    drawn.collect()
}

/// One person joins or plays by the API, and three browsers show it.
#[test]
#[ignore = "a measurement: cargo test --test browser_games -- --ignored --nocapture draw_delay_for_three"]
fn draw_delay_for_three_others() {
    let server = TestServer::start();
    let browsers = Browser::open_many(&server, 3);
    invite_friends(&browsers[0], "Anna");
    let link = browsers[0].value(LINK_FOR_ALL);
    sit_down(&browsers[1], &link, "Beat");
    sit_down(&browsers[2], &link, "Carla");
    browsers[0].wait_for_words("Carla");
    let mut game = game_of(&server, &browsers);
    watch(&browsers, ".teams");
    let mut joins = Vec::new();
    for number in 0..25 {
        let opened = game.put(Host, 3, &json!({"kind": "open"})).expect(200);
        for browser in &browsers {
            browser.wait_for_words("Waiting for 1 more player.");
        }
        drawn_until_now(&browsers);
        let body = json!({"invitation": opened["invitation"], "name": format!("Dani {number}")});
        let request = server.post(&game.path("/join")).json(&body);
        let begun = now();
        let joined = request.send().expect(201);
        joins.extend(drawn_since(&browsers, begun));
        game.tokens[3] = joined["token"].as_str().expect("a token").to_owned();
        server.forbid_in_log(&game.tokens[3]);
    }
    let what = "from the request of a join until three others see it";
    eprintln!("{what}: {}", summary(joins));

    let mut dice = Dice::new(1);
    game.deal();
    for browser in &browsers {
        browser.wait("a hand", |look| look.hand.len() == 6);
    }
    watch(&browsers, "details.log");
    let mut plays = Vec::new();
    while plays.len() < 300 && game.view(Spectator)["phase"] != "finished" {
        // An exchange is several changes; it is not measured.
        let measured = game.view(Spectator)["phase"] == "play";
        let begun = now();
        game.step(&mut dice);
        let drawn = drawn_since(&browsers, begun);
        if measured {
            plays.extend(drawn);
        } else {
            thread::sleep(Duration::from_millis(300));
            drawn_until_now(&browsers);
        }
    }
    let what = "from the request of advice and a play until three others see it";
    eprintln!("{what}: {}", summary(plays));
}

/// Forgets what was drawn so far.
fn drawn_until_now(browsers: &[Browser]) {
    for browser in browsers {
        browser.script("window.drawn = []", vec![]);
    }
}

/// The time of an entry that the browser keeps about how the page was loaded.
const PAINTED: &str = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime";

#[test]
#[ignore = "a measurement: cargo test --test browser_games -- --ignored --nocapture first_paint"]
fn first_paint() {
    let (_server, browser) = open_alone();
    let load = |cached: bool| {
        let times = (0..20).map(|_| {
            if !cached {
                browser.devtools("Network.clearBrowserCache", json!({}));
            }
            browser.go("/?lang=en");
            browser.wait_for_script("the first paint", PAINTED);
            browser.eval(PAINTED).as_f64().expect("a time")
        });
        summary(times.collect())
    };
    eprintln!("first contentful paint, without a cache: {}", load(false));
    eprintln!("first contentful paint, with the cache: {}", load(true));
}

/// A slow phone: a processor that is four times slower, and "Slow 4G" as Lighthouse has it.
fn slow_down(browser: &Browser) {
    browser.devtools("Emulation.setCPUThrottlingRate", json!({"rate": 4}));
    browser.devtools("Network.enable", json!({}));
    browser.devtools(
        "Network.emulateNetworkConditions",
        json!({
            "offline": false, "latency": 150,
            "downloadThroughput": 1_600_000 / 8, "uploadThroughput": 750_000 / 8,
        }),
    );
}

#[test]
#[ignore = "a measurement: cargo test --test browser_games -- --ignored --nocapture first_content"]
fn first_content_on_a_slow_phone() {
    let (_server, browser) = open_alone();
    let visit = |browser: &Browser| {
        slow_down(browser);
        browser.prepare(
            "new MutationObserver((_, observer) => {
               if (!document.querySelector('.showcase .piece')) return;
               observer.disconnect();
               window.board = performance.now();
             }).observe(document, { childList: true, subtree: true });",
        );
        browser.go("/?lang=en");
        browser.wait_for_script("the first paint", PAINTED);
        browser.wait_for_script("the board", "window.board");
        let time = browser.eval(&format!("[{PAINTED}, window.board]"));
        [0, 1].map(|which| time[which].as_f64().expect("a time"))
    };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        let guest = browser.another();
        first.push(visit(&guest));
        let kept = "caches.open('dog.kept').then(async (cache) => arguments[0](Boolean(await cache.match(new URL('./', document.baseURI)))))";
        while guest.script_async(kept, vec![]) != true {
            thread::sleep(Duration::from_millis(50));
        }
        second.extend((0..3).map(|_| visit(&guest)));
    }
    for (name, times) in [("first", first), ("second", second)] {
        for (which, what) in ["first content", "a board that plays"].iter().enumerate() {
            let times = times.iter().map(|time| time[which]).collect();
            eprintln!("{what} of a {name} visit: {}", summary(times));
        }
    }
}

/// Collects what each frame of an animation costs: from the callback before it is drawn until the page
/// can do something else.
const FRAMES: &str = "
    window.costs = [];
    const channel = new MessageChannel();
    let begun = 0;
    let moves = false;
    channel.port1.onmessage = () => {
      if (moves) window.costs.push(performance.now() - begun);
      moves = document.getAnimations().some((one) => one.effect.getComputedTiming().iterations !== Infinity);
    };
    const frame = () => {
      begun = performance.now();
      channel.port2.postMessage(0);
      requestAnimationFrame(frame);
    };
    frame();";

#[test]
#[ignore = "a measurement: cargo test --test browser_games -- --ignored --nocapture frames"]
fn frames_of_animations() {
    let server = TestServer::start();
    for (preset, seats) in [("dogspiel-it", 4), ("hausregeln", 6)] {
        let browser = Browser::open(&server);
        let rules = json!({"preset": preset, "seats": seats});
        let game = browser.sit_at(create_with_people(&server, &rules, 1), 0);
        browser.devtools("Emulation.setCPUThrottlingRate", json!({"rate": 4}));
        browser.script(FRAMES, vec![]);
        let mut dice = Dice::new(1);
        for _ in 0..120 {
            game.step(&mut dice);
            browser.settle();
        }
        let costs = browser.eval("window.costs");
        let costs: Vec<f64> = serde_json::from_value(costs).expect("times");
        let long = costs.iter().filter(|cost| **cost > 16.0).count();
        let costs = summary(costs);
        eprintln!("{seats} seats: a frame costs {costs}; {long} take more than 16 ms");
    }
}
