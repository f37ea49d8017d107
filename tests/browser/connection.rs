//! What the page does when answers fail, are late or are old, and when it closes a stream.

use serde_json::json;

use crate::support::{
    Browser, Situation, TestGame, TestServer, TestViewer::Host, create_with_people, enabled,
    italian, open, text, wait_for_seat,
};

/// A game in which everybody has five minutes to choose a card.
fn with_a_clock(server: &TestServer) -> TestGame<'_> {
    let seats = vec![json!({"kind": "human"}); 4];
    let body = json!({"rules": italian(), "seats": seats, "turn_seconds": 300, "listed": false});
    let game = TestGame::create(server, &body);
    game.deal();
    game
}

/// Replaces `fetch` by a function with this body. It may call `real`, and answer with a `problem`.
pub fn replace_fetch(browser: &Browser, body: &str) {
    browser.prepare(&format!(
        "{{ const real = window.fetch;
            const problem = (status, code, more, headers) => Response.json({{
              type: '/docs/guide/errors#' + code, title: '', status, detail: '', code, ...more,
            }}, {{ status, headers }});
            window.fetch = async (url, options = {{}}) => {{ {body} }}; }}"
    ));
}

#[test]
fn only_a_removed_game_is_called_gone() {
    let (server, browser) = open();
    browser.expect_message(&["404"]);
    browser.expect_message(&["401"]);
    let games = [(); 6].map(|()| create_with_people(&server, &italian(), 1));
    for game in &games {
        browser.remember(game, 0);
    }
    let [unreached, refused, unavailable, misled, removed, replaced] = &games;
    removed.remove();
    replaced.post(Host, "/seats/0/token").send().expect(200);
    replace_fetch(
        &browser,
        &format!(
            "const failures = {{
               '{}': () => {{ throw new TypeError('network'); }},
               '{}': () => Response.json({{ code: 'too_many_requests' }}, {{ status: 429 }}),
               '{}': () => new Response('<html>', {{ status: 503 }}),
               '{}': () => Response.json({{ code: 404 }}, {{ status: 404 }}),
             }};
             const failure = failures[String(url).split('/').at(-1)];
             return failure && !window.repaired ? failure() : real(url, options);",
            unreached.id, refused.id, unavailable.id, misled.id
        ),
    );
    browser.go("/?lang=en");
    browser.press("5 more games");
    let words = |game: &TestGame<'_>| {
        let shown = format!(
            "document.querySelector('a[href$=\"{}\"]')?.textContent",
            game.id
        );
        browser.wait_for_script("its state", &format!("{shown}.includes('·')"));
        text(&browser.eval(&shown)).to_owned()
    };
    let gone = "no longer on the server";
    assert!(words(removed).contains(gone));
    assert!(words(replaced).contains("Your key to this seat is no longer valid."));
    for game in [unreached, refused, unavailable, misled] {
        assert!(!words(game).contains(gone), "{}", words(game));
    }
    browser.eval("window.repaired = true");
    browser.eval("dispatchEvent(new Event('online'))");
    let states = "[...document.querySelectorAll('.games a')]
        .filter((link) => link.textContent.includes('in progress')).length === 4";
    browser.wait_for_script("their states", states);
}

/// The layout of a board may come from the browser's cache, with the time when it was made.
#[test]
fn an_old_answer_does_not_set_the_clock() {
    let (server, browser) = open();
    let game = with_a_clock(&server);
    replace_fetch(
        &browser,
        "if (String(url).endsWith('/history')) return new Response('', { status: 503 });
         const answer = await real(url, options);
         if (!String(url).includes('/v1/layout')) return answer;
         const headers = new Headers(answer.headers);
         headers.set('Date', new Date(Date.now() - 3_600_000).toUTCString());
         return new Response(await answer.text(), { headers });",
    );
    browser.sit(&game, 0);
    browser.wait_for_todo("cannot be reached");
    let ahead = "
        const { src } = document.querySelector('script[type=module]');
        return import(new URL('api.js', src)).then(({ clockAhead }) => clockAhead)";
    let ahead = browser.script(ahead, vec![]).as_f64().expect("a number");
    assert!(ahead.abs() < 60_000.0, "{ahead}");
}

/// The page also learns the server's time from its first answers.
#[test]
fn the_clock_of_the_computer_may_be_wrong() {
    let (server, browser) = open();
    let game = with_a_clock(&server);
    browser.prepare("{ const now = Date.now; Date.now = () => now() - 7_200_000; }");
    browser.sit(&game, 0);
    let clock = "document.querySelector('[role=timer]').textContent.trim()";
    browser.wait_for_script("the time", &format!("/^(5:0|4:)/.test({clock})"));
}

#[test]
fn a_seat_by_a_link_is_lost_with_its_token() {
    let (server, browser) = open();
    browser.expect_message(&["401"]);
    let scene = Situation::with_choices(&server);
    let token = &scene.game.tokens[0];
    browser.go(&format!("/?lang=en#/games/{}/0-{token}", scene.game.id));
    browser.wait_for_cards();
    scene.game.clone().renew(Host, 0);
    let lost = |browser: &Browser| {
        browser.wait_for_words("You no longer have a seat at this table");
        assert!(browser.look().hand.is_empty());
        assert_eq!(browser.fragment(), format!("/games/{}", scene.game.id));
    };
    lost(&browser);
    // The same link, later.
    browser.go(&format!("/?lang=en#/games/{}/0-{token}", scene.game.id));
    lost(&browser);
}

/// A browser has six connections for a server, and each table has a stream.
#[test]
fn the_ninth_tab_works_like_the_first() {
    let (server, browser) = open();
    let scene = Situation::with_choices(&server);
    let first = browser.tab();
    browser.sit(&scene.game, 0);
    for _ in 0..8 {
        browser.open_tab();
        browser.devtools("Page.bringToFront", json!({}));
        browser.sit(&scene.game, 0);
    }
    browser.play_from_list(0);
    browser.wait_for_todo("is to move");
    // A tab that has closed its stream is up to date as soon as somebody looks at it.
    browser.switch_to(&first);
    browser.devtools("Page.bringToFront", json!({}));
    browser.wait_for_todo("is to move");
    assert!(browser.look().alerts.is_empty());
}

/// Nothing tells the page that a connection is stalled.
#[test]
fn a_stalled_stream_is_replaced_on_return() {
    let (server, browser) = open();
    replace_fetch(
        &browser,
        "if (String(url).includes('/events?')) window.opened = (window.opened ?? 0) + 1;
         return real(url, options);",
    );
    let scene = browser.sit_in(Situation::with_choices(&server));
    browser.wait("the log", |look| look.log > 0);
    // A tab that comes back after a while has heard nothing all that time.
    let opened = browser.script(
        "const now = Date.now;
         Date.now = () => now() + 10_000;
         document.dispatchEvent(new Event('visibilitychange'));
         return new Promise((resolve) => setTimeout(() => resolve(window.opened), 100));",
        vec![],
    );
    assert_eq!(opened, 2);
    assert!(browser.look().alerts.is_empty());
    let before = browser.look().log;
    scene.game.play_on();
    browser.wait("the move", |look| look.log == before + 1);
}

#[test]
fn a_lost_answer_is_forgotten_when_the_move_is_seen() {
    let (server, browser) = open();
    replace_fetch(
        &browser,
        "const answer = await real(url, options);
         if (!String(url).endsWith('/play')) return answer;
         await new Promise((resolve) => { window.lose = resolve; });
         throw new TypeError('network');",
    );
    browser.sit_in(Situation::with_choices(&server));
    let before = browser.wait("the log", |look| look.log > 0).log;
    browser.play_from_list(0);
    browser.wait("the move", |look| look.log == before + 1);
    browser.wait_for_script("the answer", "window.lose");
    // The stream has shown what the answer would say.
    browser.wait_for_todo("is to move");
    browser.eval("window.lose()");
    let look = browser.wait_for_todo("is to move");
    assert!(!look.todo.contains("cannot be reached"), "{}", look.todo);
}

/// A captive portal answers everything, but not in JSON.
#[test]
fn an_answer_from_somebody_else_means_a_lost_network() {
    let (server, browser) = open();
    replace_fetch(
        &browser,
        "return options.method === 'POST' || String(url).includes('/history')
           ? new Response('<html>Sign in</html>') : real(url, options);",
    );
    browser.go("/?lang=en");
    browser.press("Play against bots");
    browser.wait_for_alert("cannot be reached");
    browser.wait("another try", |look| look.can("Play against bots"));
    // Nor does the check of the shuffles fail in silence.
    let finished = TestGame::imported(&server);
    browser.go(&format!("/?lang=en#/games/{}", finished.id));
    browser.press("More");
    browser.press("Check the shuffle");
    browser.wait("what failed", |look| {
        look.todo.contains("cannot be reached") && look.can("Check the shuffle")
    });
}

/// A connection can be dead without notice.
#[test]
fn a_request_without_an_answer_times_out() {
    let (server, browser) = open();
    // Time is up for the request that was sent last.
    browser.prepare(
        "{ const real = window.setTimeout;
           window.setTimeout = (then, wait, ...rest) => {
             if (wait === 15000) window.timeIsUp = then;
             return real(then, wait, ...rest);
           }; }",
    );
    replace_fetch(
        &browser,
        "if (!String(url).endsWith('/play')) return real(url, options);
         setTimeout(window.timeIsUp);
         return new Promise((_, fail) => {
           options.signal?.addEventListener('abort', () => fail(options.signal.reason));
         });",
    );
    browser.sit_in(Situation::with_choices(&server));
    browser.play_from_list(0);
    browser.wait("what failed", |look| {
        look.todo.contains("cannot be reached") && enabled(&look.moves).next().is_some()
    });
}

#[test]
fn what_could_not_be_read_is_read_again() {
    let (server, browser) = open();
    // The stream brings no moves, as if there were too many.
    replace_fetch(
        &browser,
        "return !window.repaired && String(url).includes('/legal-moves')
           ? problem(503, 'unavailable')
           : real(String(url).replace('game,moves', 'game'), options);",
    );
    browser.sit_in(Situation::with_choices(&server));
    let look = browser.wait_for_todo("busy");
    assert!(enabled(&look.hand).next().is_none());
    browser.eval("window.repaired = true");
    browser.wait("the hand", |look| {
        enabled(&look.hand).next().is_some() && !look.todo.contains("busy")
    });
}

/// A proxy answers for a server that is down, in words of its own or in those of
/// `deploy/nginx.conf`.
#[test]
fn a_proxy_without_its_server_ends_no_stream() {
    let (server, browser) = open();
    replace_fetch(
        &browser,
        "if (window.repaired || !String(url).includes('/events?')) return real(url, options);
         window.asked = (window.asked ?? 0) + 1;
         return window.asked === 1 ? problem(404, 'route_not_found')
           : window.asked === 2 ? Response.json({ code: 401 }, { status: 401 })
           : new Response('<html>', { headers: { 'Content-Type': 'text/html' } });",
    );
    let scene = Situation::with_choices(&server);
    browser.remember(&scene.game, 0);
    browser.go(&format!("/?lang=en#/games/{}", scene.game.id));
    browser.wait_for_script("three answers", "window.asked >= 3");
    browser.wait_for_words("The connection to the server is lost.");
    browser.eval("window.repaired = true");
    browser.wait_for_cards();
}

/// An address has too many streams open, for instance in other tabs.
#[test]
fn a_stream_that_is_one_too_many_is_asked_for_every_ten_seconds() {
    let (server, browser) = open();
    browser.prepare(
        "{ const real = window.setTimeout;
           window.waits = [];
           window.setTimeout = (then, wait, ...rest) => {
             if ([10_000, 37_000].includes(wait)) window.waits.push(wait);
             return real(then, [10_000, 37_000].includes(wait) ? 1 : wait, ...rest);
           }; }",
    );
    replace_fetch(
        &browser,
        "if (!String(url).includes('/events?')) return real(url, options);
         window.asked = (window.asked ?? 0) + 1;
         if (window.asked > 3) return real(url, options);
         const wait = [{ 'Retry-After': '10' }, {}, { 'Retry-After': '37' }][window.asked - 1];
         return problem(429, 'too_many_streams', {}, wait);",
    );
    let scene = Situation::with_choices(&server);
    browser.remember(&scene.game, 0);
    browser.go(&format!("/?lang=en#/games/{}", scene.game.id));
    browser.wait_for_cards();
    assert_eq!(
        browser.eval("window.waits"),
        json!([10_000, 10_000, 37_000])
    );
}

/// A proxy loses the answers, which have the token of the seat.
#[test]
fn a_seat_is_not_lost_with_the_answer() {
    let (server, browser) = open();
    let bot = json!({"kind": "bot", "level": "random"});
    let body = json!({
        "rules": italian(), "listed": false, "bot_pace_ms": 0,
        "seats": [{"kind": "open", "name": "Seat 1"}, bot, bot, bot],
    });
    let created = server.post("/v1/games").json(&body).send().expect(201);
    let (id, invitation) = (text(&created["id"]), text(&created["invitations"][0]));
    replace_fetch(
        &browser,
        "const answer = await real(url, options);
         if (window.repaired || !String(url).endsWith('/join')) return answer;
         window.keys = [...window.keys ?? [], options.headers['Idempotency-Key']];
         return window.keys.length > 1 ? new Response('<html>', { status: 502 })
           : problem(503, 'unavailable', {}, { 'Retry-After': '7' });",
    );
    browser.prepare(
        "{ const real = window.setTimeout;
           window.waits = [];
           window.setTimeout = (then, wait, ...rest) => {
             window.waits.push(wait);
             return real(then, [1500, 3000, 7000].includes(wait) ? 1 : wait, ...rest);
           }; }",
    );
    let link = format!("/?lang=en#/join/{id}/{invitation}");
    browser.go(&link);
    browser.type_into("Your name", "Beat");
    browser.press("Sit down");
    browser.wait_for_script("four attempts", "window.keys?.length >= 4");
    let script = "[new Set(window.keys).size, window.waits.includes(7000)]";
    assert_eq!(browser.eval(script), json!([1, true]));
    // The seat is taken, and nobody can sit down there.
    browser.go(&link);
    browser.wait_for_words("Beat has taken this seat already.");
    browser.eval("window.repaired = true");
    wait_for_seat(&browser);
}
