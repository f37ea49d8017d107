//! A finished game: its result, its replay, its review, and what can be shared.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    connection::replace_fetch,
    support::{
        Browser, Form, TestGame, TestViewer::Spectator, broken, italian, open, open_alone,
        pieces_on, played_by_bots, text,
    },
};

const LEFT: char = '\u{E012}';
const RIGHT: char = '\u{E014}';

const SLIDER: &str = "document.querySelector('[aria-label=Step]')";

/// What the replay shows.
const STEP: &str = "
    const slider = document.querySelector('[aria-label=Step]');
    return {
      at: Number(slider.value),
      words: slider.getAttribute('aria-valuetext'),
      heading: document.querySelector('h2').textContent,
      round: document.querySelector('.bar .small').textContent,
      line: document.querySelector('.log [aria-current=step]')?.textContent ?? null,
      hands: [...document.querySelectorAll('[aria-label=Hands] li')].map((seat) =>
        [...seat.querySelectorAll('.small-card')].map((card) => card.firstChild.data.replace('★', 'joker'))),
    };";

/// The first event of a type from a version on, with its version.
fn event<'a>(entries: &'a [Value], from: usize, kind: &str) -> (usize, &'a Value) {
    let events = entries.iter().skip(from - 1).flat_map(|entry| {
        let events = entry["events"].as_array().expect("events");
        events.iter().map(move |event| (entry, event))
    });
    let mut events = events.filter(|(_, event)| event["type"] == kind);
    let (entry, event) = events.next().expect("an event");
    let version = entry["version"].as_u64().expect("a version");
    (version as usize, event)
}

#[track_caller]
fn wait_for_step(browser: &Browser, version: usize) -> Value {
    let at = format!("{SLIDER}?.value === '{version}'");
    browser.wait_for_script(&format!("step {version}"), &at);
    browser.script(STEP, vec![])
}

#[test]
fn a_replay_shows_one_step_everywhere() {
    let (server, browser) = open();
    let game = TestGame::imported(&server);
    let entries = game.entries(Spectator);
    let (dealt, deal) = event(&entries, 60, "cards_dealt");
    browser.go(&format!("/?lang=en#/games/{}/at/{dealt}", game.id));
    let step = wait_for_step(&browser, dealt);
    let round = format!("round {}", deal["round"]);
    assert!(text(&step["round"]).ends_with(&round), "{step}");
    assert_eq!(step["hands"], deal["hands"]);
    for place in ["heading", "line"] {
        assert_eq!(step[place], step["words"], "{place}: {step}");
    }

    // The next card, by an arrow key, and back.
    let (played, card) = event(&entries, dealt, "card_played");
    while browser.script(STEP, vec![])["at"] != played {
        browser.key(RIGHT);
        let at = browser.script(STEP, vec![])["at"].as_u64().expect("a step");
        assert!(at as usize <= played, "{at} is behind {played}");
    }
    let step = wait_for_step(&browser, played);
    assert_eq!(step["line"], step["words"], "{step}");
    assert_eq!(browser.pieces(), pieces_on(&card["move"]["board"]));
    browser.key(LEFT);
    browser.wait_for_script("a step back", &format!("{SLIDER}.value < {played}"));

    // The log is not drawn again. A line of it leads to its step, as does its address.
    browser.script(
        "window.changes = 0;
         const seen = (all) => { window.changes += all.length; };
         new MutationObserver(seen).observe(document.querySelector('.log ol'), { childList: true, subtree: true, characterData: true });",
        vec![],
    );
    let (later, _) = event(&entries, played + 30, "card_played");
    browser.click_on(&format!(".log a[data-version=\"{later}\"]"));
    wait_for_step(&browser, later);
    assert_eq!(browser.fragment(), format!("/games/{}/at/{later}", game.id));
    browser.eval(&format!(
        "location.hash = '#/games/{}/at/{played}'",
        game.id
    ));
    wait_for_step(&browser, played);
    assert_eq!(browser.eval("window.changes"), 0);

    // The replay plays by itself. The address follows, and leads others to the same step.
    browser.press_anywhere("Play replay");
    browser.wait_for_script("the next step", &format!("{SLIDER}.value > {played}"));
    browser.press_anywhere("Pause");
    let address = format!("location.hash.endsWith(`/at/${{{SLIDER}.value}}`)");
    browser.wait_for_script("the address", &address);
    let other = browser.another();
    other.go(&format!("/?lang=en#{}", browser.fragment()));
    let shown = browser.script(STEP, vec![]);
    let at = shown["at"].as_u64().expect("a step") as usize;
    assert_eq!(wait_for_step(&other, at), shown);

    // At an end the focus goes to the button that leads back.
    let last = entries.len();
    for (near, button, end, other) in [
        (last - 1, "One step on", last, "One step back"),
        (2, "One step back", 1, "One step on"),
    ] {
        browser.eval(&format!("location.hash = '#/games/{}/at/{near}'", game.id));
        wait_for_step(&browser, near);
        browser.press_anywhere(button);
        wait_for_step(&browser, end);
        browser.settle();
        assert_eq!(browser.look().focus.as_deref(), Some(other));
    }

    browser.press_anywhere("To the result");
    browser.wait("the result", |look| look.team.is_some());
    assert_eq!(browser.fragment(), format!("/games/{}", game.id));
}

#[test]
fn an_error_is_forgotten_when_the_next_attempt_succeeds() {
    let (server, browser) = open();
    let game = TestGame::imported(&server);
    replace_fetch(
        &browser,
        "if (window.broken && String(url).includes('/v1/games/')) throw new TypeError('network');
         return real(url, options);",
    );
    browser.go(&format!("/?lang=en#/games/{}", game.id));
    browser.wait_for_element(".result .small");
    browser.eval("window.broken = true");
    browser.press("Replay");
    browser.wait_for_element(".problem");
    browser.eval("window.broken = false");
    browser.press("Replay");
    browser.wait_for_element("[aria-label=Step]");
    let problem = browser.eval("document.querySelector('.problem')");
    assert_eq!(problem, Value::Null);
}

/// What the review shows of the decision that is open.
const BETTER: &str = "
    const review = document.querySelector('.review');
    return {
      focus: document.activeElement.textContent,
      curve: review.querySelector('img').naturalWidth > 0,
      teams: review.querySelectorAll('.sums li').length,
      rows: review.querySelectorAll('tbody tr').length,
      decision: review.querySelector('.advice [aria-expanded=true]')?.textContent,
      better: review.querySelector('.advice li p')?.textContent,
      arrows: review.querySelectorAll('.advice .board .preview').length,
      reasons: review.querySelectorAll('.reasons li').length,
      link: review.querySelector('.advice li a')?.getAttribute('href'),
    };";

/// What the console says of the first request for a review.
const NO_REVIEW: &[&str] = &["/review", "404"];

/// A review begins with a sentence on the winners and with the moments, which lead to their places.
#[track_caller]
fn check_beginning(browser: &Browser, game: &TestGame<'_>, review: &Value) {
    let script = "
        const parts = ['.says', '.moments', 'img', '.sums', '.advice', 'details'].map((part) => document.querySelector(`.review ${part}`));
        const follows = (one, other) => one.compareDocumentPosition(other) === Node.DOCUMENT_POSITION_FOLLOWING;
        return {
          ordered: parts.slice(1).every((part, index) => follows(parts[index], part)),
          says: parts[0].textContent,
          moments: [...document.querySelectorAll('.moments li')].map((one) =>
            [one.querySelector('a').getAttribute('href'), one.querySelectorAll('.piece').length, one.querySelectorAll('p').length > 0]),
        };";
    let shown = browser.script(script, vec![]);
    assert_eq!(shown["ordered"], true, "{shown}");
    let says = text(&shown["says"]);
    let view = game.view(Spectator);
    let winner = view["winner"].as_u64().expect("a team") as usize;
    let first = text(&view["seats"][winner]["name"]);
    assert!(says.contains(first) && says.contains("won"), "{says}");
    let mut expected: Vec<Value> = Vec::new();
    for moment in review["moments"].as_array().expect("moments") {
        let mut rounds = review["rounds"].as_array().expect("rounds").iter();
        let deal = rounds.find(|round| round["round"] == moment["round"]);
        let deal = &deal.expect("a round")["version"];
        let at = moment.get("version").unwrap_or(deal);
        let one = json!([format!("#/games/{}/at/{at}", game.id), 16, true]);
        if !expected.contains(&one) {
            expected.push(one);
        }
    }
    assert_eq!(shown["moments"], json!(expected));
}

#[test]
fn a_review_says_what_was_better_and_where() {
    let (server, browser) = open();
    let game = TestGame::imported(&server);
    browser.expect_message(NO_REVIEW);
    browser.go(&format!("/?lang=en#/games/{}", game.id));
    browser.press("Review");
    browser.wait_for_words("Every decision of the game was looked at.");
    let review = game.get(Spectator, "/review").send().expect(200);
    check_beginning(&browser, &game, &review);
    let found = browser.script(BETTER, vec![]);
    let rounds = review["rounds"].as_array().expect("rounds").len();
    let shown = ["focus", "curve", "teams", "rows"].map(|name| found[name].clone());
    assert_eq!(json!(shown), json!(["Review", true, 2, rounds]));

    // Every decision of the list opens, and says what the server has found.
    let decisions = review["decisions"].as_array().expect("decisions").iter();
    let seats = review["seats"].as_array().expect("seats").iter();
    let costliest = seats.flat_map(|seat| seat["costliest"].as_array().expect("versions"));
    for (number, version) in costliest.enumerate() {
        let mut alike = decisions.clone().filter(|made| made["version"] == *version);
        let decision = alike.next().expect("a decision");
        let press =
            format!("document.querySelectorAll('.review .advice > li > button')[{number}].click()");
        browser.eval(&press);
        browser.wait_for_element(".review .reasons");
        let found = browser.script(BETTER, vec![]);
        let points = 100.0 * decision["loss"].as_f64().expect("a number");
        let cost = format!("−{points:.0} points");
        assert!(text(&found["decision"]).ends_with(&cost), "{found}");
        assert!(text(&found["better"]).contains("etter: "), "{found}");
        let is_move = decision["best"]["move"].is_string();
        assert_eq!(found["arrows"].as_u64() > Some(0), is_move, "{found}");
        let before = version.as_u64().expect("a version") - 1;
        assert_eq!(found["link"], format!("#/games/{}/at/{before}", game.id));
        browser.eval(&press);
    }

    // No head of the table breaks inside a word.
    browser.show_as(Form::sized(360, 616));
    browser.eval("document.querySelector('.review details').open = true");
    assert_eq!(broken(&browser, ".review thead th", "\\S+"), json!([]));

    // The link leads to the step before. Afterwards the review is as it was, where it was.
    browser.eval("document.querySelector('.review details').open = true");
    let opened = "document.querySelectorAll('.review .advice > li > button')[2]";
    browser.eval(&format!("{opened}.click()"));
    browser.wait_for_element(".review .reasons");
    let place = || {
        browser.script(
            "const link = document.querySelector('.review .advice a');
             return [Math.round(link.getBoundingClientRect().top), document.activeElement === link,
               document.querySelectorAll('.review details[open]').length];",
            vec![],
        )
    };
    for back in [
        "history.back()",
        "document.querySelector('.replay ~ .buttons button:last-of-type').click()",
    ] {
        browser.eval("document.querySelector('.review .advice a').focus()");
        browser.eval(
            "document.querySelector('.review .advice a').scrollIntoView({ block: 'center' })",
        );
        let before = place();
        assert_eq!(before[1], true);
        browser.eval("document.activeElement.click()");
        browser.wait_for_element("[aria-label=Step]");
        assert!(browser.look().can("To the review"));
        browser.eval(back);
        browser.wait_for_script(
            "the review",
            "document.querySelector('.review').checkVisibility()",
        );
        browser.settle();
        assert_eq!(place(), before);
    }
}

/// A review that goes on, as far as `window.found` says.
const GROWING: &str = "
    if (!/\\/review$/.test(String(url))) return real(url, options);
    const review = await (await real(url, { ...options, method: 'GET' })).json();
    if (window.found === undefined) return Response.json(review);
    return Response.json({ ...review, status: 'running', progress: 0.1, teams: [], rounds: review.rounds.slice(0, 2),
      decisions: review.decisions.slice(0, window.found) });";

#[test]
fn the_curve_grows_with_the_review() {
    let (server, browser) = open();
    let game = TestGame::imported(&server);
    game.post(Spectator, "/review").send().expect(202);
    let done = || game.get(Spectator, "/review").send().expect(200)["status"] == "done";
    while !done() {
        thread::sleep(Duration::from_millis(50));
    }
    replace_fetch(&browser, GROWING);
    browser.prepare("window.found = 40");
    browser.go(&format!("/?lang=en#/games/{}", game.id));
    browser.press("Review");
    let pixels = || {
        let script = "const [done] = arguments, image = document.querySelector('.review img');
            const pen = Object.assign(document.createElement('canvas'), { width: 500, height: 240 }).getContext('2d');
            image.decode().then(() => { pen.drawImage(image, 0, 0, 500, 240); done(pen.canvas.toDataURL()); }, () => done(null));";
        browser.script_async(script, vec![])
    };
    browser.wait_for_element(".review img");
    let first = pixels();
    let source = "document.querySelector('.review img').getAttribute('src')";
    let before = browser.eval(source);
    browser.eval("window.found = 90");
    browser.wait_for_script("another picture", &format!("{source} !== {before}"));
    let second = pixels();
    assert_ne!(first, second);
    browser.eval("delete window.found");
    browser.wait_for_words("Every decision of the game was looked at.");
    assert_ne!(pixels(), second);
    // It says whose decisions there are.
    browser.wait_for_words("The shapes are decisions of people");
}

/// A review that an older server has made, until somebody asks again.
const OLD: &str = "
    if (!/\\/review$/.test(String(url))) return real(url, options);
    if (options.method === 'POST') window.asked = true;
    const review = await (await real(url, { ...options, method: 'GET' })).json();
    if (window.asked) return Response.json(review);
    return Response.json({ ...review, moments: [],
      decisions: review.decisions.map((one) => ({ ...one, random_loss: null })),
      seats: review.seats.map((one) => ({ ...one, accuracy: null })) });";

#[test]
fn an_older_review_can_be_made_anew() {
    let (server, browser) = open();
    let game = TestGame::imported(&server);
    game.post(Spectator, "/review").send().expect(202);
    while game.get(Spectator, "/review").send().expect(200)["status"] != "done" {
        thread::sleep(Duration::from_millis(50));
    }
    replace_fetch(&browser, OLD);
    browser.go(&format!("/?lang=en#/games/{}", game.id));
    browser.press("Review");
    browser.wait_for_words("An older version of the server made this review.");
    let words = "document.querySelector('.review').textContent";
    let accuracies = format!("{words}.match(/accuracy \\d+ of 100/g)?.length ?? 0");
    assert_eq!(browser.eval(&accuracies), 0);
    browser.press("Ask again");
    browser.wait_for_words("Every decision of the game was looked at.");
    // With the few worlds of a test, a seat may have none.
    assert!(browser.eval(&accuracies).as_u64() > Some(0));
    assert_eq!(
        browser.eval(&format!("{words}.includes('older version')")),
        false
    );
}

#[test]
fn a_review_that_cannot_be_made_is_explained() {
    let (server, browser) = open_alone();
    let game = TestGame::imported(&server);
    browser.go(&format!("/?lang=en#/games/{}/at/1", game.id));
    wait_for_step(&browser, 1);
    // The page has the whole history, and reads it once.
    let read =
        "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/history'))";
    assert_eq!(browser.eval(&format!("{read}.length")), 1);
    game.damage_log();
    browser.expect_message(NO_REVIEW);
    browser.press_anywhere("To the result");
    browser.press("Review");
    browser.wait_for_words("The review has failed.");
    browser.press("Ask again");
}

#[test]
fn a_game_that_is_not_over_cannot_be_replayed() {
    let (server, browser) = open();
    let game = TestGame::in_play(&server);
    browser.go(&format!("/?lang=en#/games/{}/at/3", game.id));
    browser.wait_for_todo("is to move");
    assert_eq!(browser.eval(SLIDER), Value::Null);
}

#[test]
fn board_and_slider_are_on_one_screen() {
    let (server, browser) = open();
    browser.show_as(Form::sized(360, 616));
    let six = json!({"preset": "dogspiel-it", "seats": 6});
    for game in [TestGame::imported(&server), played_by_bots(&server, &six)] {
        browser.go(&format!("/?lang=en#/games/{}/at/90", game.id));
        wait_for_step(&browser, 90);
        browser.settle();
        let script = "
            const box = (one) => one.getBoundingClientRect();
            const [board, slider] = [box(document.querySelector('.board')), box(document.querySelector('[aria-label=Step]'))];
            return [scrollY, board.top >= 0, board.width >= 330, slider.top >= board.bottom, slider.bottom <= innerHeight];";
        let seen = browser.script(script, vec![]);
        assert_eq!(seen, json!([0, true, true, true, true]));
    }
}

#[test]
fn the_result_tells_what_happened() {
    let (server, browser) = open();
    let game = played_by_bots(&server, &italian());
    let mut captures = [0; 4];
    for entry in game.entries(Spectator) {
        for event in entry["events"].as_array().expect("events") {
            if event["type"] == "card_played" {
                let captured = event["move"]["captures"].as_array().expect("captures");
                captures[event["seat"].as_u64().expect("a seat") as usize] += captured.len();
            }
        }
    }
    browser.go(&format!("/?lang=en#/games/{}", game.id));
    let lines = "[...document.querySelectorAll('.result li')]
        .map((line) => line.textContent.trim().replace(/\\s+/g, ' '))";
    browser.wait_for_element(".result .small");
    let view = game.view(Spectator);
    // The winners come first.
    let order = match view["winner"] == 1 {
        true => [1, 3, 0, 2],
        false => [0, 2, 1, 3],
    };
    let expected = order.map(|seat| {
        let name = text(&view["seats"][seat]["name"]);
        let plural = if captures[seat] == 1 { "" } else { "s" };
        format!("{name} sent {} piece{plural} home", captures[seat])
    });
    assert_eq!(browser.eval(lines), json!(expected));
}

#[test]
fn a_result_is_shared_as_a_picture_with_a_link_or_copied() {
    let (server, browser) = open();
    let game = TestGame::imported(&server);
    let sheet = browser.prepare(
        "navigator.canShare = () => true;
         navigator.share = async ({ url, text, files }) => {
           const { width, height } = await createImageBitmap(files[0]);
           window.shared = { url, text, width, height, type: files[0].type };
         };",
    );
    let address = format!("/?lang=en#/games/{}", game.id);
    browser.go(&address);
    browser.press("Share");
    browser.wait_for_script("the sheet", "window.shared");
    let shared = browser.eval("window.shared");
    let end = format!("/#/games/{}", game.id);
    assert!(text(&shared["url"]).ends_with(&end), "{shared}");
    assert!(text(&shared["text"]).ends_with(" win!"), "{shared}");
    let picture = ["width", "height", "type"].map(|name| shared[name].clone());
    assert_eq!(json!(picture), json!([1080, 1350, "image/png"]));

    browser.devtools("Page.removeScriptToEvaluateOnNewDocument", sheet);
    browser.prepare(
        "delete Navigator.prototype.share;
         if (navigator.clipboard) navigator.clipboard.writeText = async (text) => { window.copied = text; };",
    );
    browser.go(&format!("{address}/at/7"));
    wait_for_step(&browser, 7);
    browser.press("Share");
    browser.wait_for_words("Copied.");
    let copied = browser.eval("window.copied");
    assert!(text(&copied).ends_with("/at/7"), "{copied}");

    browser.prepare("if (navigator.clipboard) navigator.clipboard.writeText = async () => { throw new DOMException('no', 'NotAllowedError'); };");
    browser.go(&address);
    browser.press("Share");
    browser.wait_for_words("The link is selected");
    let selected = browser.eval("getSelection().toString()");
    assert!(text(&selected).ends_with(&game.id), "{selected}");
}
