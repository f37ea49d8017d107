//! The analysis of a position, for a table of wood, and reasons before a hint is played.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::support::{
    Browser, Form, Situation, Style, TestGame, TestServer, TestViewer::Seat, create_with_people,
    enabled, offers, parts,
};

/// A person who sets up a position by taps, which it counts.
struct Taps<'a> {
    browser: &'a Browser,
    count: Cell<usize>,
}

impl Taps<'_> {
    /// Taps on what this selects and has this name.
    fn tap(&self, selector: &str, name: &str) {
        let find = format!(
            "[...document.querySelectorAll({})].find((one) =>
                (one.getAttribute('aria-label') ?? one.textContent).trim() === {})",
            json!(selector),
            json!(name),
        );
        self.browser.wait_for_script(name, &find);
        self.browser.script(&format!("({find}).click()"), vec![]);
        self.count.set(self.count.get() + 1);
    }
}

/// The values of the address.
fn address(browser: &Browser) -> Value {
    browser.script(
        "return Object.fromEntries(new URLSearchParams(location.hash.split('?')[1]))",
        vec![],
    )
}

#[test]
fn a_real_table_is_set_up_and_answered_in_forty_taps() {
    let server = TestServer::shared();
    let phone = Form {
        size: (360, 616),
        ..Form::default()
    };
    let Some(browser) = Browser::open_with(&server, phone) else {
        return;
    };
    browser.go("/?lang=en");
    let taps = Taps {
        browser: &browser,
        count: Cell::new(0),
    };
    taps.tap("a", "Analyse a position");
    // Ten pieces of four seats.
    let pieces = [
        ("You", vec!["Field 0", "Field 9", "Goal 3 (You)"]),
        ("Opponent 1", vec!["Field 17", "Field 30"]),
        ("Partner", vec!["Field 40", "Field 12", "Goal 1 (Partner)"]),
        ("Opponent 2", vec!["Field 47", "Field 60"]),
    ];
    for (seat, places) in pieces {
        if seat != "You" {
            taps.tap(".radios label", seat);
        }
        places
            .into_iter()
            .for_each(|place| taps.tap(".board button", place));
    }
    for card in ["7", "K", "J", "4", "9"] {
        taps.tap(".deck button", card);
    }
    taps.tap("summary", "What was exchanged and played");
    taps.tap(".known label", "You gave");
    taps.tap(".deck button", "2");
    taps.tap(".deck button", "K");
    taps.tap("button", "Advice");
    let look = browser.wait("suggestions", |look| look.advice.len() == 5);
    let count = taps.count.get();
    println!("{count} taps");
    assert!(count <= 40, "{count} taps");
    assert_eq!(
        address(&browser),
        json!({
            "rules": "dogspiel-it", "position": "0f,9,g2/17,30/40,12,g0/47,60", "seat": "0",
            "hand": "7,K,J,4,9", "gave": "2", "received": "K",
        })
    );
    // The best is previewed, with its reasons.
    assert!(
        look.advice[0].name.contains("% to win"),
        "{:?}",
        look.advice
    );
    browser.wait_for_script("a preview", "document.querySelector('.way.preview')");
    browser.wait_for_script(
        "reasons",
        "document.querySelectorAll('.reasons li').length > 0",
    );
    // The link opens the same.
    let link = browser.fragment();
    browser.go(&format!("/?lang=de#{link}"));
    browser.wait_for_script(
        "the hand",
        "document.querySelectorAll('.hand .card').length === 5",
    );
    assert_eq!(browser.pieces().len(), 16);
}

#[test]
fn a_tap_places_a_piece_and_takes_it_away() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    // Relative places, blanks, and what does not exist.
    browser.go("/?lang=en#/analyse?rules=hausregeln&position=0@0f 5 / -1@1, 99 / g1 g7 / -&seat=2&hand=as,K,joker,q");
    browser.wait_for_script(
        "the board",
        "document.querySelectorAll('.place.free').length === 60 + 16 + 4",
    );
    let name = |place: &str| {
        let script = "const [start] = arguments; return [...document.querySelectorAll('.place')]
            .map((one) => one.getAttribute('aria-label')).find((one) => one.startsWith(start))";
        browser.script(script, vec![json!(place)])
    };
    assert_eq!(name("Field 0"), "Field 0, Partner’s piece, just come out");
    assert_eq!(name("Field 14"), "Field 14, Opponent 2’s piece");
    assert_eq!(name("Goal 2 (You)"), Value::Null);
    assert_eq!(name("Goal 2, your piece"), "Goal 2, your piece");
    assert_eq!(name("Kennel (You)"), "Kennel (You): 3 of 4 pieces");
    // The own start: just come out, then not, then empty.
    for expected in [
        "Field 30, your piece, just come out",
        "Field 30, your piece",
        "Field 30",
    ] {
        let now = name("Field 30");
        browser.press_anywhere(now.as_str().expect("a name"));
        browser.wait_for_script(
            expected,
            &format!("document.querySelector('[aria-label=\"{expected}\"]')"),
        );
    }
    // A piece of another takes the place of one that is there.
    browser.press_anywhere("Field 5, Partner’s piece");
    browser.wait_for_script(
        "a piece",
        "document.querySelector('[aria-label=\"Field 5, your piece\"]')",
    );
    browser.press_anywhere("Field 5, your piece");
    browser.wait_for_script(
        "no piece",
        "document.querySelector('[aria-label=\"Field 5\"]')",
    );
    assert_eq!(address(&browser)["position"], "0f/14/g1/-");
    assert_eq!(address(&browser)["hand"], "K,joker,Q");
    // The arrow keys go from field to field.
    browser.script(
        "document.querySelector('[aria-label=\"Field 5\"]').focus()",
        vec![],
    );
    browser.key('\u{e014}');
    assert_eq!(browser.look().focus.as_deref(), Some("Field 6"));
    browser.key('\u{e012}');
    browser.key('\u{e012}');
    assert_eq!(browser.look().focus.as_deref(), Some("Field 4"));
}

#[test]
fn a_question_that_does_not_fit_is_explained() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    browser.expect_message(&["422"]);
    browser.go("/?lang=en#/analyse?position=5/-/-/-&hand=K,2&played=1:K,0:7");
    browser.press("Advice");
    browser.wait("the reason", |look| {
        look.alerts
            .iter()
            .any(|one| one.contains("does not fit together"))
    });
}

/// What the analysis of this table asks.
fn analysis_of(browser: &Browser) -> Value {
    browser.wait_for_script("the address", "location.hash.startsWith('#/analyse?')");
    address(browser)
}

#[test]
fn a_table_and_a_replay_open_their_position() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let rules = json!({"preset": "dogspiel-it", "capture_own": false});
    let scene = Situation::find(&server, &rules, 4, Style::FirstSeat, |view, moves| {
        moves.len() > 5 && view["version"].as_u64() > Some(20)
    });
    browser.sit(&scene.game, 0);
    browser.wait("the hand", |look| enabled(&look.hand).next().is_some());
    let view = scene.game.view(Seat(0));
    browser.press_anywhere("Analyse a position");
    let asked = analysis_of(&browser);
    let position = view["position"].as_str().expect("a position");
    let unordered = |text: &str| {
        let seats = text.split('/').map(|seat| {
            let mut pieces: Vec<&str> = seat
                .split([' ', ','])
                .filter(|one| !one.is_empty())
                .collect();
            pieces.sort_unstable();
            pieces.join(" ")
        });
        seats.collect::<Vec<String>>()
    };
    assert_eq!(
        unordered(asked["position"].as_str().expect("a position")),
        unordered(position)
    );
    assert_eq!(asked["rules"], "dogspiel-it capture_own=false");
    let own = &view["seats"][0];
    let hand: Vec<&str> = own["hand"]
        .as_array()
        .expect("a hand")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(asked["hand"], hand.join(","));
    assert_eq!(
        [&asked["gave"], &asked["received"]],
        [&own["gave"], &own["received"]]
    );
    // The server accepts what was played, too.
    browser.press("Advice");
    browser.wait("suggestions", |look| !look.advice.is_empty());

    // Steps of a whole game can be analysed, by whoever acts next.
    let finished = TestGame::imported(&server);
    browser.go(&format!("/?lang=en#/games/{}", finished.id));
    browser.press("Replay");
    browser.wait_for_script("the replay", "document.querySelector('.replay input')");
    let last = browser.script(
        "return Number(document.querySelector('.replay input').max)",
        vec![],
    );
    let last = last.as_u64().expect("steps");
    let mut answered = 0;
    for step in (0..last).step_by(last as usize / 8) {
        let script = "const input = document.querySelector('.replay input');
            input.value = arguments[0]; input.dispatchEvent(new Event('input', { bubbles: true }));";
        browser.script(script, vec![json!(step)]);
        browser.press_anywhere("Analyse");
        let asked = analysis_of(&browser);
        if asked["hand"].is_string() {
            browser.press("Advice");
            browser.wait("suggestions", |look| {
                assert!(
                    look.alerts.is_empty(),
                    "step {step}, {asked}: {:?}",
                    look.alerts
                );
                !look.advice.is_empty()
            });
            answered += 1;
        }
        // The address has the step.
        browser.script("history.back()", vec![]);
        browser.wait_for_script("the replay", "document.querySelector('.replay input')");
    }
    assert!(answered > 5, "{answered} of {last}");
}

#[test]
fn a_hint_teaches_before_it_plays() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let rules = json!({"preset": "dogspiel-it"});
    let many = |_: &Value, moves: &[Value]| moves.len() > 5;
    let scene = Situation::find(&server, &rules, 4, Style::FirstSeat, many);
    let version = scene.game.version();
    browser.sit(&scene.game, 0);
    browser.press("Hint");
    let look = browser.wait("suggestions", |look| !look.advice.is_empty());
    assert_eq!(look.advice.len(), 3);
    assert!(look.advice.iter().all(|one| one.name.contains("% to win")));
    browser.click(&look.advice[1]);
    browser.wait_for_script(
        "reasons",
        "document.querySelectorAll('.reasons li').length > 0",
    );
    browser.wait_for_script("a preview", "document.querySelector('.way.preview')");
    browser.wait_for_words("Press it again to play it.");
    assert_eq!(scene.game.version(), version, "nothing was played");
    // Another one first shows its own reasons.
    let look = browser.look();
    browser.click(&look.advice[0]);
    browser.wait_for_script(
        "the first",
        "document.querySelector('.advice button').ariaExpanded === 'true'",
    );
    assert_eq!(scene.game.version(), version, "nothing was played");
    let look = browser.look();
    browser.click(&look.advice[0]);
    browser.wait("the end of the turn", |look| {
        look.todo.contains("is to move")
    });
    let played = scene.last_move();
    let words = &look.advice[0].name;
    assert!(
        words.contains(played["card"].as_str().expect("a card")),
        "{words}: {played}"
    );

    // In the exchange, too.
    let exchange = create_with_people(&server, &rules, 1);
    exchange.deal();
    browser.sit(&exchange, 0);
    browser.press("Hint");
    let look = browser.wait("suggestions", |look| !look.advice.is_empty());
    browser.click(&look.advice[0]);
    browser.wait_for_script(
        "reasons",
        "document.querySelectorAll('.reasons li').length > 0",
    );
    let look = browser.look();
    browser.click(&look.advice[0]);
    browser.wait("the others", |look| look.todo.contains("The others"));
    let gave = exchange.view(Seat(0))["seats"][0]["gave"].clone();
    assert_eq!(look.advice[0].name.split(' ').nth(1), gave.as_str());
}

#[test]
fn a_finger_previews_a_move_of_the_list() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    browser.devtools(
        "Emulation.setTouchEmulationEnabled",
        json!({"enabled": true}),
    );
    let many = |_: &Value, moves: &[Value]| moves.len() > 5;
    let rules = json!({"preset": "dogspiel-it"});
    let scene = Situation::find(&server, &rules, 4, Style::FirstSeat, many);
    let version = scene.game.version();
    browser.sit(&scene.game, 0);
    browser.open_details("All moves");
    let tap = || {
        let script = "const one = document.querySelectorAll('.moves li button')[1];
            one.scrollIntoView({ block: 'center' });
            const box = one.getBoundingClientRect();
            return { x: box.x + box.width / 2, y: box.y + box.height / 2 };";
        let point = browser.script(script, vec![]);
        browser.devtools(
            "Input.dispatchTouchEvent",
            json!({"type": "touchStart", "touchPoints": [point]}),
        );
        browser.devtools(
            "Input.dispatchTouchEvent",
            json!({"type": "touchEnd", "touchPoints": []}),
        );
    };
    tap();
    browser.wait_for_script("a preview", "document.querySelector('.way.preview')");
    browser.wait_for_words("Tap again to play it.");
    assert_eq!(scene.game.version(), version, "nothing was played");
    tap();
    browser.wait("the end of the turn", |look| {
        look.todo.contains("is to move")
    });
    assert_eq!(scene.last_move()["id"], scene.moves[1]["id"]);
    let look = browser.look();
    assert!(offers(&look).is_empty() && !parts(&scene.moves[1]).is_empty());
}
