//! The analysis of a position on a real table, and the reasons of a hint before it is played.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::{
    connection::replace_fetch,
    support::{
        Browser, Form, Look, Situation, Style, TestGame, TestViewer::Seat, deal_to_people, italian,
        offers, open, text,
    },
};

/// The taps of a person who sets up a position, with their number.
struct Taps<'a> {
    browser: &'a Browser,
    count: Cell<usize>,
}

impl Taps<'_> {
    /// Taps on the element of this selector and name.
    fn tap(&self, selector: &str, name: &str) {
        let find = format!(
            "[...document.querySelectorAll({})].find((one) =>
                (one.getAttribute('aria-label') ?? one.textContent).trim() === {})",
            json!(selector),
            json!(name),
        );
        self.browser.wait_for_script(name, &find);
        self.browser.eval(&format!("({find}).click()"));
        self.count.set(self.count.get() + 1);
    }
}

/// The question in the address, by its names.
const ADDRESS: &str = "Object.fromEntries(new URLSearchParams(location.hash.split('?')[1]))";

/// Waits until the address, which follows after a moment, has this question.
#[track_caller]
fn wait_for_address(browser: &Browser, question: &Value) {
    let names = question.as_object().expect("names").iter();
    let fits = names.map(|(name, value)| format!("{ADDRESS}[{}] === {value}", json!(name)));
    let fits = fits.collect::<Vec<_>>().join(" && ");
    browser.wait_for_script(&question.to_string(), &fits);
}

/// Waits until a suggestion is previewed with its reasons.
fn wait_for_reasons(browser: &Browser) {
    browser.wait_for_element(".way.preview");
    browser.wait_for_element(".reasons li");
}

#[test]
fn a_real_table_is_set_up_and_answered_in_forty_taps() {
    let (_server, browser) = open();
    browser.show_as(Form::sized(360, 616));
    browser.go("/?lang=en");
    let taps = Taps {
        browser: &browser,
        count: Cell::new(0),
    };
    taps.tap("a", "Analyse a position");
    // Ten pieces of four seats.
    let pieces: [(&str, &[&str]); 4] = [
        ("You", &["Field 0", "Field 9", "Goal field 3 (You)"]),
        ("Right opponent", &["Field 17", "Field 30"]),
        (
            "Partner",
            &["Field 40", "Field 12", "Goal field 1 (Partner)"],
        ),
        ("Left opponent", &["Field 47", "Field 60"]),
    ];
    for (seat, places) in pieces {
        if seat != "You" {
            taps.tap(".radios label", seat);
        }
        for place in places {
            taps.tap(".board button", place);
        }
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
    assert!(count <= 40, "{count} taps");
    wait_for_address(
        &browser,
        &json!({
            "rules": "dogspiel-it", "position": "0f,9,g2/17,30/40,12,g0/47,60", "seat": "0",
            "hand": "7,K,J,4,9", "gave": "2", "received": "K", "samples": "400",
        }),
    );
    // The best is previewed, with its reasons.
    assert!(look.advice[0].name.contains("% to win"), "{look:?}");
    wait_for_reasons(&browser);
    // The link opens the same, with the same answer.
    let link = browser.fragment();
    browser.go("/?lang=de");
    browser.go(&format!("/?lang=en#{link}"));
    let again = browser.wait("suggestions", |look| look.advice.len() == 5);
    let names =
        |look: &Look| -> Vec<String> { look.advice.iter().map(|one| one.name.clone()).collect() };
    assert_eq!(names(&again), names(&look));
    let cards = "document.querySelectorAll('.hand .card').length === 5";
    browser.wait_for_script("the hand", cards);
    assert_eq!(browser.pieces().len(), 16);
    // The board stays in sight while cards are tapped, and longer thought has another answer.
    browser.press("Think longer");
    wait_for_address(&browser, &json!({"samples": "4000"}));
    browser.press("Close");
    taps.tap(".deck button", "Q");
    let shown = "document.querySelector('.board').getBoundingClientRect().top >= 0";
    browser.wait_for_script("the board", shown);
    browser.wait_for_script("no answer", &format!("!{ADDRESS}.samples"));
}

#[test]
fn a_tap_places_a_piece_and_takes_it_away() {
    let (_server, browser) = open();
    // Relative places, blanks, and what does not exist.
    browser.go("/?lang=en#/analyse?rules=hausregeln&position=0@0f 5 / -1@1, 99 / g1 g7 / -&seat=2&hand=as,K,joker,q");
    let fields = "document.querySelectorAll('.place.free').length === 60 + 16 + 4";
    browser.wait_for_script("the board", fields);
    let name = |place: &str| {
        let script = "const [start] = arguments; return [...document.querySelectorAll('.place')]
            .map((one) => one.getAttribute('aria-label')).find((one) => one.startsWith(start))";
        browser.script(script, vec![json!(place)])
    };
    assert_eq!(name("Field 0"), "Field 0, Partner’s piece, just come out");
    assert_eq!(name("Field 14"), "Field 14, Left opponent’s piece");
    assert_eq!(name("Goal field 2 (You)"), Value::Null);
    assert_eq!(name("Goal field 2, your piece"), "Goal field 2, your piece");
    assert_eq!(name("Kennel (You)"), "Kennel (You): 3 of 4 pieces");
    // A tap on the seat's own start places a fresh piece, another makes it not fresh, and a third
    // takes it away. A piece of another seat is replaced.
    for [before, after] in [
        ["Field 30", "Field 30, your piece, just come out"],
        [
            "Field 30, your piece, just come out",
            "Field 30, your piece",
        ],
        ["Field 30, your piece", "Field 30"],
        ["Field 5, Partner’s piece", "Field 5, your piece"],
        ["Field 5, your piece", "Field 5"],
    ] {
        browser.press_anywhere(before);
        browser.wait_for_element(&format!("[aria-label=\"{after}\"]"));
    }
    browser.press_anywhere("Leave it out");
    wait_for_address(
        &browser,
        &json!({"position": "0f/14/g1/-", "hand": "K,joker,Q"}),
    );
    // The arrow keys go from field to field.
    browser.eval("document.querySelector('[aria-label=\"Field 5\"]').focus()");
    browser.key('\u{e014}');
    assert_eq!(browser.look().focus.as_deref(), Some("Field 6"));
    browser.key('\u{e012}');
    browser.key('\u{e012}');
    assert_eq!(browser.look().focus.as_deref(), Some("Field 4"));
}

#[test]
fn what_is_wrong_in_an_address_is_said_by_part() {
    let (_server, browser) = open();
    let wrong = "/analyse?rules=foo&position=99/1/2/3&hand=X,7";
    browser.go(&format!("/?lang=en#{wrong}"));
    let faults = || {
        browser.eval("[...document.querySelectorAll('.faults li')].map((one) => one.textContent)")
    };
    browser.wait_for_element(".faults li");
    let said = ["Rule sheet: “foo”", "Board: “99”", "Your hand: “X”"];
    assert_eq!(faults(), json!(said));
    // Nothing is asked, and the address stays as it is.
    let advice = |look: &Look| look.button("Advice").map(|one| one.enabled);
    let look = browser.wait_for_alert("This link has something wrong");
    assert_eq!(advice(&look), Some(false));
    assert_eq!(browser.fragment(), wrong);
    // What is changed is right, and the rest can be left out.
    browser.press_anywhere("K");
    browser.wait_for_script(
        "two",
        "document.querySelectorAll('.faults li').length === 2",
    );
    assert_eq!(faults(), json!(said[..2]));
    assert_eq!(advice(&browser.look()), Some(false));
    browser.press_anywhere("Leave it out");
    browser.wait("Advice", |look| look.can("Advice"));
    assert_eq!(browser.look().focus.as_deref(), Some("Analyse a position"));
    let right = json!({"rules": "dogspiel-it", "position": "-/1/2/3", "hand": "7,K"});
    wait_for_address(&browser, &right);
}

/// Safari refuses more than a hundred changes of the address in half a minute.
#[test]
fn many_taps_change_the_address_seldom() {
    let (_server, browser) = open();
    browser.prepare(
        "const real = history.replaceState.bind(history);
         let left = 100;
         history.replaceState = (...changed) => {
           if (left === 0) throw new DOMException('too many', 'SecurityError');
           left -= 1;
           real(...changed);
         };",
    );
    browser.go("/?lang=en#/analyse");
    browser.wait_for_element("[aria-label=\"Field 9\"]");
    let taps = "(async () => {
        for (let tap = 0; tap < 121; tap += 1) {
          document.querySelector('[aria-label^=\"Field 9\"]').click();
          await new Promise(requestAnimationFrame);
        }
      })().then(arguments[0])";
    browser.script_async(taps, vec![]);
    browser.wait_for_element("[aria-label=\"Field 9, your piece\"]");
    wait_for_address(&browser, &json!({"position": "9/-/-/-"}));
}

#[test]
fn an_analysis_that_cannot_begin_is_tried_again() {
    let (_server, browser) = open();
    replace_fetch(
        &browser,
        "if (String(url).endsWith('/v1/rules') && !window.repaired) throw new TypeError('network');
         return real(url, options);",
    );
    browser.go("/?lang=en#/analyse");
    browser.wait_for_alert("The server cannot be reached.");
    browser.eval("window.repaired = true");
    browser.press("Load again");
    browser.wait_for_element("[aria-label=\"Field 9\"]");
}

#[test]
fn a_question_that_does_not_fit_is_explained() {
    let (_server, browser) = open();
    browser.expect_message(&["422"]);
    browser.go("/?lang=en#/analyse?position=5/-/-/-&hand=K,2&played=1:K,0:7");
    browser.press("Advice");
    browser.wait_for_alert("does not fit together");
}

/// The question that the analysis of this table asks.
fn analysis_of(browser: &Browser) -> Value {
    browser.wait_for_script("the address", "location.hash.startsWith('#/analyse?')");
    browser.eval(ADDRESS)
}

/// The pieces of each seat in a position, sorted.
fn pieces_of_seats(position: &str) -> Vec<Vec<&str>> {
    let seats = position.split('/').map(|seat| {
        let mut pieces: Vec<&str> = seat
            .split([' ', ','])
            .filter(|one| !one.is_empty())
            .collect();
        pieces.sort_unstable();
        pieces
    });
    seats.collect()
}

#[test]
fn a_table_and_a_replay_open_their_position() {
    let (server, browser) = open();
    let rules = json!({"preset": "dogspiel-it", "capture_own": false});
    let scene = Situation::find(&server, &rules, 4, Style::FirstSeat, |view, moves| {
        moves.len() > 5 && view["version"].as_u64() > Some(20)
    });
    browser.sit(&scene.game, 0);
    browser.wait_for_cards();
    let view = scene.game.view(Seat(0));
    browser.press_anywhere("Analyse a position");
    let asked = analysis_of(&browser);
    let [shown, expected] = [&asked, &view].map(|one| pieces_of_seats(text(&one["position"])));
    assert_eq!(shown, expected);
    assert_eq!(asked["rules"], "dogspiel-it capture_own=false");
    let own = &view["seats"][0];
    let hand: Vec<&str> = own["hand"]
        .as_array()
        .expect("a hand")
        .iter()
        .map(text)
        .collect();
    assert_eq!(asked["hand"], hand.join(","));
    for given in ["gave", "received"] {
        assert_eq!(asked[given], own[given]);
    }
    // The server accepts what was played, too.
    browser.press("Advice");
    browser.wait("suggestions", |look| !look.advice.is_empty());

    // Every step of a game can be analysed, for the seat that acts next.
    let finished = TestGame::imported(&server);
    browser.go(&format!("/?lang=en#/games/{}", finished.id));
    browser.press("Replay");
    browser.wait_for_element(".replay input");
    let last = browser.eval("Number(document.querySelector('.replay input').max)");
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
                let alerts = &look.alerts;
                assert!(alerts.is_empty(), "step {step}, {asked}: {alerts:?}");
                !look.advice.is_empty()
            });
            answered += 1;
        }
        // The address still names the step.
        browser.eval("history.back()");
        browser.wait_for_element(".replay input");
    }
    assert!(answered > 5, "{answered} of {last}");
}

/// A card as the page names it in a sentence.
fn with_article(card: &str) -> &str {
    match card {
        "A" => "an ace",
        "J" => "a jack",
        "Q" => "a queen",
        "K" => "a king",
        "joker" => "a joker",
        rank => rank,
    }
}

#[test]
fn a_hint_teaches_before_it_plays() {
    let (server, browser) = open();
    browser.show_as(Form::sized(360, 600));
    let scene = browser.sit_in(Situation::with_choices(&server));
    browser.press("Hint");
    let look = browser.wait("suggestions", |look| !look.advice.is_empty());
    assert_eq!(look.advice.len(), 3);
    assert!(look.advice.iter().all(|one| one.name.contains("% to win")));
    // People read no numbers of fields, and a screen reader reads them.
    let seen = "[...document.querySelectorAll('.pills .grow')].map((one) => one.firstChild.data)";
    let seen = browser.eval(seen);
    for (words, button) in seen.as_array().expect("words").iter().zip(&look.advice) {
        assert!(!text(words).contains("field"), "{seen}");
        let places = button
            .name
            .strip_prefix(text(words))
            .expect("the same words");
        assert!(places.starts_with(" (from "), "{}", button.name);
    }
    browser.click(&look.advice[1]);
    browser.wait_for_element(".way.preview");
    browser.wait_for_element(".hinted strong");
    browser.wait_for_words("Press it again to do this.");
    // The hand stays in sight, and shows the card.
    let hand =
        "document.querySelector('.card.lifted').getBoundingClientRect().bottom <= innerHeight";
    browser.wait_for_script("the card", hand);
    // Another suggestion first shows its own reasons.
    browser.click(&browser.look().advice[0]);
    browser.wait("the first", |look| look.advice[0].pressed);
    scene.assert_unchanged();
    let look = browser.look();
    browser.click(&look.advice[0]);
    browser.wait_for_todo("is to move");
    let (words, played) = (&look.advice[0].name, scene.last_move());
    assert!(
        words.starts_with(text(&played["card"])),
        "{words}: {played}"
    );

    // In the exchange, too.
    let exchange = browser.sit_at(deal_to_people(&server, &italian(), 1), 0);
    browser.press("Hint");
    let look = browser.wait("suggestions", |look| !look.advice.is_empty());
    browser.click(&look.advice[0]);
    browser.wait_for_element(".hinted strong");
    let look = browser.look();
    browser.click(&look.advice[0]);
    browser.wait_for_todo("The others");
    let gave = exchange.view(Seat(0))["seats"][0]["gave"].clone();
    let words = &look.advice[0].name;
    assert!(
        words.starts_with(&format!("Give {}", with_article(text(&gave)))),
        "{words}"
    );
}

#[test]
fn a_finger_previews_a_move_of_the_list() {
    let (server, browser) = open();
    browser.devtools(
        "Emulation.setTouchEmulationEnabled",
        json!({"enabled": true}),
    );
    let scene = browser.sit_in(Situation::with_choices(&server));
    browser.open_details("All moves");
    let tap = || {
        let script = "const one = document.querySelectorAll('.moves li button')[1];
            one.scrollIntoView({ block: 'center' });
            const box = one.getBoundingClientRect();
            return { x: box.x + box.width / 2, y: box.y + box.height / 2 };";
        let point = browser.script(script, vec![]);
        for (kind, points) in [("touchStart", json!([point])), ("touchEnd", json!([]))] {
            let touch = json!({"type": kind, "touchPoints": points});
            browser.devtools("Input.dispatchTouchEvent", touch);
        }
    };
    tap();
    browser.wait_for_element(".way.preview");
    browser.wait_for_words("Tap again to play it.");
    scene.assert_unchanged();
    tap();
    scene.wait_until_played(&browser, &scene.moves[1]);
    assert!(offers(&browser.look()).is_empty());
}
