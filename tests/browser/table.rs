//! The table as a whole: it is one screen on a phone, nothing moves in it, difficult names break
//! nothing, and what is chosen is marked.

use std::{cell::RefCell, collections::BTreeMap};

use serde_json::{Value, json};

use crate::support::{
    Browser, Form, KeyboardPlayer, LANGUAGES, MousePlayer, Screens, Situation, Style, TestGame,
    TestServer,
    TestViewer::{Host, Seat},
    captures, choose_part, choose_piece, create_with_bots, create_with_names, create_with_people,
    deal_to_people, enabled, has_focus, has_three_parts, italian, names, offers, open, parts, seed,
    text, wait_for_offers,
};

/// The sizes of pages on phones, without the bars of their browsers.
const PHONES: [(u32, u32); 5] = [(360, 600), (360, 616), (375, 553), (390, 664), (412, 700)];

/// A tablet and a desk.
const LARGE: [(u32, u32); 2] = [(768, 1024), (1280, 800)];

/// Names of 40 characters and less that are hard to lay out.
const DIFFICULT: [&str; 10] = [
    "Maximilianawolkensteinerabendrothbachtal",
    "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
    "عبد الرحمن بن محمد الطويل القامة جدا",
    "שם ארוך מאוד בעברית עם הרבה מילים",
    "👩‍👩‍👧‍👦🐶🐶🐶🐶🐶🐶🐶🐶",
    "Z̴̡͝a̶͜͝l̷̡͝g̵͢͝o̴͜͝",
    "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字",
    "<b>&amp;</b>{name}",
    "i",
    "Anna-Lena von und zu Hohenlohe-Waldenburg",
];

/// Where the board is, and what of the essential parts is out of sight.
const SIGHT: &str = "
    const box = (selector) => document.querySelector(selector)?.getBoundingClientRect();
    const board = box('.board');
    const findings = [];
    if (scrollX || scrollY) findings.push(`scrolled to ${scrollX} ${scrollY}`);
    if (document.documentElement.scrollWidth > innerWidth) findings.push('too wide');
    const news = document.querySelector('.news');
    // A hint takes the place of the news, which are then for screen readers only.
    const newsScrolls = news !== null && news.clientHeight > 1 && news.scrollHeight > news.clientHeight;
    if (newsScrolls && getComputedStyle(news).overflowY !== 'auto') findings.push(`cut: ${news.innerText}`);
    for (const selector of ['.board', '.hand', '.buttons', '.status', '.ranks', ...arguments[0]]) {
      for (const one of document.querySelectorAll(`${selector}, .table > .side > .dock > ${selector} > button`)) {
        if (one.closest('.extras, .finished, .missing, .people')) continue;
        const { top, bottom, left, right } = one.getBoundingClientRect();
        if (top < 0 || bottom > innerHeight + .5 || left < 0 || right > innerWidth + .5) {
          findings.push(`${selector}: ${left} to ${right}, ${top} to ${bottom}`);
        }
      }
    }
    return { board: [board.x, board.y, board.width, board.height].map((one) => one.toFixed(1)).join(' '), findings, newsScrolls };";

/// Every phase of games of four and six people: choices, questions, and waiting.
#[test]
fn every_phase_is_one_screen_and_the_board_stays() {
    let (server, browser) = open();
    let boards = RefCell::new(BTreeMap::new());
    let findings = RefCell::new(Vec::new());
    let screens = Screens::new(&server);
    screens.visit(&browser, Form::default(), |visit| {
        if !visit.in_sight.contains(&"Board") {
            return;
        }
        let is_six = visit.name == "six-seats";
        for size in PHONES {
            browser.resize(size);
            let seen = browser.script(SIGHT, vec![json!([])]);
            let found = &seen["findings"];
            let find = |what: String| {
                let finding = format!("{} at {size:?}: {what}", visit.name);
                findings.borrow_mut().push(finding);
            };
            if seen["newsScrolls"] == true {
                find("the news are too long".into());
            }
            if found != &json!([]) {
                find(found.to_string());
            }
            let board = text(&seen["board"]).to_owned();
            let mut boards = boards.borrow_mut();
            let first = boards
                .entry((size, is_six))
                .or_insert_with(|| board.clone());
            if *first != board {
                find(format!("the board is at {board}, not {first}"));
            }
        }
        browser.show_as(visit.form);
    });
    let findings = findings.into_inner();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    let boards = boards.into_inner();
    assert_eq!(boards.len(), 10, "both boards at each size");
    for (form, board) in boards {
        let width = board.split(' ').nth(2).expect("a width");
        let width: f64 = width.parse().expect("a number");
        assert!(form.0.0 != 360 || width >= 330.0, "{form:?}: {board}");
    }
}

/// Records in each frame where the board, the hand and the buttons are, and whether the focus is on
/// the page itself.
const RECORD: &str = "
    window.seen = new Set();
    window.lost = 0;
    const record = () => {
      for (const selector of ['.board', '.hand', '.dock > .buttons']) {
        const box = document.querySelector(selector)?.getBoundingClientRect();
        if (box) seen.add([selector, ...[box.x, box.y + scrollY, box.width, box.height].map(Math.round)].join(' '));
      }
      if (document.activeElement === document.body) window.lost += 1;
      requestAnimationFrame(record);
    };
    record();";

/// A game of one person and bots, played on a phone for more than a round.
fn play(browser: &Browser, game: &TestGame<'_>) {
    browser.sit(game, 0);
    let look = wait_for_offers(browser);
    // The player uses the page: the focus is somewhere from now on.
    browser.click(offers(&look)[0]);
    browser.script(RECORD, vec![]);
    MousePlayer::new(browser, 2).play_until(|look| look.log > 60);
    let seen = browser.eval("[...seen]");
    assert_eq!(seen.as_array().expect("a list").len(), 3, "{seen:#}");
    assert_eq!(browser.eval("lost"), 0);
}

#[test]
fn nothing_moves_and_the_focus_is_never_lost_during_a_game() {
    let (server, browser) = open();
    browser.show_as(Form::sized(375, 553));
    let clock = json!({"turn_seconds": 300});
    for (preset, seats) in [("dogspiel-it", 4), ("hausregeln", 6)] {
        let rules = json!({"preset": preset, "seats": seats});
        let game = create_with_bots(&server, &rules, 9, 20);
        game.patch(Host, &clock).expect(200);
        play(&browser, &game);
    }
}

#[test]
fn difficult_names_break_nothing() {
    let (server, browser) = open();
    for names in [&DIFFICULT[..4], &DIFFICULT[4..]] {
        let taken = names.iter().map(|name| name.chars().take(40).collect());
        let game = create_with_names(&server, &taken.collect::<Vec<String>>(), 4);
        game.patch(Host, &json!({"turn_seconds": 300})).expect(200);
        game.deal();
        // In the exchange the name of the partner is in the status.
        for exchanged in [false, true] {
            if exchanged {
                game.exchange();
            }
            for seat in [0, 1] {
                browser.forget_all();
                browser.sit(&game, seat);
                browser.wait("the hand", |look| !look.hand.is_empty());
                for size in PHONES.into_iter().chain([(780, 360), (1440, 900)]) {
                    browser.resize(size);
                    let seen = browser.script(SIGHT, vec![json!([".players li"])]);
                    assert_eq!(seen["findings"], json!([]), "{names:?} at {size:?}");
                    assert_eq!(browser.script(NAMES_BEGIN, vec![]), json!([]), "{size:?}");
                }
            }
        }
    }
}

/// The names whose first letter cannot be seen: the ellipsis belongs at the end.
const NAMES_BEGIN: &str = "
    return [...document.querySelectorAll('.players .name')].flatMap((name) => {
      const range = document.createRange();
      range.setStart(name.firstChild, 0);
      range.setEnd(name.firstChild, 1);
      const letter = range.getBoundingClientRect();
      const plate = name.getBoundingClientRect();
      const inside = letter.left >= plate.left - 1 && letter.right <= plate.right + 1 && plate.width > 0;
      // Characters of width 0, and those that are joined into one picture.
      return inside || letter.width > plate.width ? [] : [name.textContent];
    });";

/// As narrow as a phone whose reader has magnified the page twice.
#[test]
fn the_home_screen_does_not_scroll_sideways() {
    let (_server, browser) = open();
    browser.show_as(Form::sized(180, 600));
    browser.go("/?lang=en");
    browser.open_details("More");
    browser.settle();
    assert_eq!(browser.eval("document.documentElement.scrollWidth"), 180);
}

#[test]
fn text_has_the_size_that_the_reader_chose() {
    let (server, browser) = open();
    browser.show_as(Form::sized(360, 616));
    browser.sit(&deal_to_people(&server, &italian(), 1), 0);
    browser.script("document.documentElement.style.fontSize = '26px'", vec![]);
    browser.settle();
    let size = "parseFloat(getComputedStyle(document.querySelector('.todo')).fontSize)";
    let size = browser.eval(size);
    assert!(size.as_f64() > Some(20.0), "{size}");
    let seen = browser.script(SIGHT, vec![json!([])]);
    assert_eq!(seen["findings"], json!([]));
}

/// Presses a key and holds it down: it repeats this often.
fn hold(browser: &Browser, repeats: usize) {
    let key = |kind: &str, repeated: bool| {
        let event = json!({
            "type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13,
            "text": if kind == "keyDown" { "\r" } else { "" }, "autoRepeat": repeated,
        });
        browser.devtools("Input.dispatchKeyEvent", event);
    };
    key("keyDown", false);
    for _ in 0..repeats {
        key("keyDown", true);
    }
    key("keyUp", false);
}

#[test]
fn a_key_that_is_held_down_presses_once() {
    let (server, browser) = open();
    // Deal, and give a card: each is one press.
    let game = browser.sit_at(create_with_people(&server, &italian(), 1), 3);
    let keyboard = KeyboardPlayer::new(&browser, 0);
    keyboard.tab_to(|look| look.button("Deal"));
    hold(&browser, 40);
    browser.wait("a card", |look| {
        look.hand.iter().any(|card| card.focused && card.enabled)
    });
    let dealt = game.version();
    hold(&browser, 41);
    let look = browser.wait("Give", |look| look.is_focused("Give"));
    assert_eq!(look.hand.iter().filter(|card| card.pressed).count(), 1);
    assert_eq!(game.version(), dealt);
    hold(&browser, 40);
    browser.wait_for_todo("The others");
    assert_eq!(game.version(), dealt + 1);

    // A fold asks, and the answer that has the focus does no harm.
    let scene = browser.sit_in(Situation::with_a_fold(&server));
    keyboard.tab_to(|look| look.button("Fold"));
    hold(&browser, 40);
    browser.wait("the question", |look| look.is_focused("Cancel"));
    hold(&browser, 40);
    browser.wait("the first question", |look| {
        look.button("Cancel").is_none() && look.can("Fold")
    });
    scene.assert_unchanged();
}

#[test]
fn a_given_card_is_gone_and_a_received_one_is_marked() {
    let (server, browser) = open();
    let game = browser.sit_at(deal_to_people(&server, &italian(), 1), 0);
    let look = browser.wait_for_cards();
    assert_eq!(look.hand.len(), 6);
    let given = look.hand[2].name.clone();
    browser.click(&look.hand[2]);
    browser.press("Give");
    let left = browser.wait("the hand without it", |look| look.hand.len() == 5);
    let mut expected = names(&look.hand);
    expected.remove(
        expected
            .iter()
            .position(|name| *name == given)
            .expect("the card"),
    );
    assert_eq!(names(&left.hand), expected);
    game.offer(2);
    browser.wait("the partner’s card", |look| look.hand.len() == 6);
    let received = game.view(Seat(0))["seats"][0]["received"].take();
    let marked = "[...document.querySelectorAll('.card.received')].map((card) => card.ariaLabel)";
    assert_eq!(browser.eval(marked), json!([received]));
}

#[test]
fn a_grey_card_says_why_it_cannot_be_played() {
    let (server, browser) = open();
    let scene = Situation::find(&server, &italian(), 4, Style::FirstSeat, |view, moves| {
        let mut hand = view["seats"][0]["hand"].as_array().expect("a hand").iter();
        let is_grey = |card: &Value| moves.iter().all(|one| one["card"] != *card);
        moves[0]["kind"] != "fold" && hand.any(is_grey)
    });
    browser.sit(&scene.game, 0);
    browser.wait_for_element(".card[aria-disabled]");
    let look = browser.look();
    let grey = look
        .hand
        .iter()
        .find(|card| !card.enabled)
        .expect("a grey card");
    browser.click(grey);
    let look = browser.wait_for_todo(": ");
    assert!(look.todo.starts_with(&grey.name), "{}", look.todo);
    assert!(look.hand.iter().all(|card| !card.pressed));
    // It is said until something is chosen.
    browser.click(enabled(&look.hand).next().expect("a card"));
    browser.wait("a choice", |look| {
        !offers(look).is_empty() && !look.todo.contains(": ")
    });
    scene.assert_unchanged();
}

/// How far each target is from the middle of a field, in pixels, and how it is filled.
const TARGETS: &str = "
    const middle = (one) => { const { x, y, width, height } = one.getBoundingClientRect(); return [x + width / 2, y + height / 2]; };
    const holes = [...document.querySelectorAll('.board .hole, .board .start')].map(middle);
    return [...document.querySelectorAll('.board .place')].map((place) => {
      const [x, y] = middle(place);
      return {
        name: place.ariaLabel,
        far: Math.min(...holes.map(([left, top]) => Math.hypot(left - x, top - y))),
        width: place.getBoundingClientRect().width,
        fill: getComputedStyle(place, '::after').backgroundColor,
        taken: place.ariaLabel.includes('piece'),
      };
    });";

/// The ends of the parts of a seven that were chosen.
const BEGUN: &str = "document.querySelectorAll('.way.begun .end').length";

#[test]
fn targets_are_on_their_fields_and_cover_no_piece() {
    let (server, browser) = open();
    let scene = Situation::with_move(&server, 1, has_three_parts);
    let wanted = parts(scene.find_move(has_three_parts));
    browser.sit(&scene.game, 0);
    browser.choose_card("7");
    for (number, part) in wanted.iter().enumerate() {
        choose_piece(&browser, part);
        // The choice of a card or a piece leads there.
        browser.wait("the focus", |look| has_focus(&look.board));
        for size in PHONES {
            browser.resize(size);
            let targets = browser.script(TARGETS, vec![]);
            for one in targets.as_array().expect("targets") {
                assert!(one["far"].as_f64() < Some(1.5), "{size:?}: {one}");
                assert!(one["width"].as_f64() >= Some(24.0), "{size:?}: {one}");
                if one["taken"] == true {
                    assert_eq!(one["fill"], "rgba(0, 0, 0, 0)", "{one}");
                }
            }
        }
        // The chosen piece is marked, and so are the parts that were chosen before.
        let chosen = browser.eval("document.querySelectorAll('.chosen').length");
        assert_eq!([chosen, browser.eval(BEGUN)], [1, number]);
        browser.show_as(Form::default());
        choose_part(&browser, part);
    }
    browser.wait("Play", |look| look.can("Play"));
    assert_eq!(browser.eval(BEGUN), wanted.len());
}

#[test]
fn what_a_choice_captures_is_marked_before_it_is_made() {
    let (server, browser) = open();
    let captures = |one: &Value| captures(one, |_| true);
    let scene = Situation::with_move(&server, 8, captures);
    let wanted = scene.find_move(captures);
    browser.sit(&scene.game, 0);
    browser.choose_card(text(&wanted["card"]));
    choose_piece(&browser, &parts(wanted)[0]);
    let place = text(&wanted["captures"][0]["from"]);
    browser.wait_for_element(&format!(".threat[data-place=\"{place}\"]"));
    // Nothing is hovered over.
    let preview = browser.eval("document.querySelector('.way.preview')");
    assert_eq!(preview, Value::Null);
}

/// What of the clock and the states is cut off or goes beyond its plate, what a plate and its note hide of
/// the board, and the buttons that are cut off.
const CUT: &str = "
    const stage = document.querySelector('.stage').getBoundingClientRect();
    const fields = [...document.querySelectorAll('.board :is(.hole, .start)')].map((one) => one.getBoundingClientRect());
    const hides = (box) => fields.some(({ x, y, width }) => {
      const [far, down] = [x + width / 2, y + width / 2];
      const near = [Math.max(box.left, Math.min(far, box.right)), Math.max(box.top, Math.min(down, box.bottom))];
      return box.width > 0 && Math.hypot(near[0] - far, near[1] - down) < width / 2 - .5;
    });
    const buttons = [...document.querySelectorAll('.dock > .buttons > button')];
    const cut = buttons.filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight);
    return cut.map((one) => one.innerText).concat([...document.querySelectorAll('.players li')].flatMap((plate) => {
      const { left, right, top, bottom } = plate.getBoundingClientRect();
      return [plate, ...plate.querySelectorAll('.cards, .state, .clock, .note')].filter((one) => {
        const box = one.getBoundingClientRect();
        // Where there is no room for the words of a state, it has a shape alone.
        const hasShape = one.querySelector('svg')?.getBoundingClientRect().width > 0 && box.width < 20;
        // A note hangs on its plate.
        const [highest, lowest] = one.closest('.note') ? [stage.top, stage.bottom] : [top, bottom];
        return box.left < left || box.right > right + .5 || box.top < highest - .5 || box.bottom > lowest + .5
          || (one.scrollWidth > one.clientWidth + 1 && !hasShape && one.matches('.state, .note'))
          || (one.matches('li, .note') && hides(box));
      }).map((one) => `${plate.innerText}: ${one.className} ${one.innerText}`);
    }));";

/// A game of people in the exchange, in which a turn takes at most this many seconds.
fn exchange_with_a_clock<'a>(server: &'a TestServer, rules: &Value, seconds: u32) -> TestGame<'a> {
    let count = rules["seats"].as_u64().expect("a number") as usize;
    let person =
        |name: &&str| json!({"kind": "human", "name": name.chars().take(40).collect::<String>()});
    let game = TestGame::create(
        server,
        &json!({
            "rules": rules, "seats": DIFFICULT[..count].iter().map(person).collect::<Vec<_>>(),
            "first_dealer": 0, "turn_seconds": seconds, "shuffle_seed": seed(1), "listed": false,
        }),
    );
    game.deal();
    game
}

#[test]
fn the_clock_and_the_states_of_the_seats_are_never_cut() {
    let (server, browser) = open();
    for (preset, seats, seconds) in [
        ("dogspiel-it", 4, 900),
        ("dogspiel-it", 6, 900),
        ("hausregeln", 4, 604_800),
        ("hausregeln", 6, 604_800),
    ] {
        let rules = json!({"preset": preset, "seats": seats});
        let game = exchange_with_a_clock(&server, &rules, seconds);
        // One seat has answered, the others have not.
        if preset == "hausregeln" {
            game.swap(1, &json!({"ask": true}));
            game.swap(2, &json!({"pass": true}));
        } else {
            game.offer(1);
        }
        browser.remember(&game, 0);
        for language in LANGUAGES {
            browser.go(&format!("/?lang={language}#/games/{}", game.id));
            browser.wait_for_element(".players .clock");
            let clock = browser.eval("document.querySelector('.players .clock').textContent");
            let days = text(&clock).ends_with('h');
            assert_eq!(days, seconds == 604_800, "{clock}");
            for size in PHONES.into_iter().chain([(740, 360)]).chain(LARGE) {
                browser.resize(size);
                let cut = browser.script(CUT, vec![]);
                assert_eq!(
                    cut,
                    json!([]),
                    "{preset}, {seats} seats, {language}, {size:?}"
                );
            }
        }
    }
}

#[test]
fn what_was_done_for_a_player_is_said() {
    let (server, browser) = open();
    let game = exchange_with_a_clock(&server, &json!({"preset": "dogspiel-it", "seats": 4}), 3);
    for seat in 1..4 {
        game.offer(seat);
    }
    browser.sit(&game, 0);
    browser.wait_for_script(
        "what was done",
        "document.querySelector('.overdue')?.innerText.startsWith('Time ran out: You give ')",
    );
    game.patch(Host, &json!({"turn_seconds": 600})).expect(200);
    while game.turn() != 0 {
        game.play_on();
    }
    // It is told until the player does something.
    browser.wait("the turn", |look| {
        enabled(&look.hand).next().is_some() || look.can("Fold")
    });
    browser.wait_for_element(".overdue");
    game.play_on();
    browser.wait_for_script("the end of it", "!document.querySelector('.overdue')");
}

/// In forced colours the browser replaces those of the page.
#[test]
fn the_pieces_of_the_players_differ_in_forced_colours() {
    let (server, browser) = open();
    let features = json!([{"name": "forced-colors", "value": "active"}]);
    browser.sit(&deal_to_people(&server, &italian(), 1), 0);
    browser.devtools("Emulation.setEmulatedMedia", json!({"features": features}));
    for (parts, what) in [
        (".piece .marble", "fill"),
        (".players .strip", "backgroundColor"),
        (".board .start", "fill"),
    ] {
        let colours = format!(
            "new Set([...document.querySelectorAll('{parts}')].map((one) => getComputedStyle(one).{what})).size"
        );
        assert_eq!(browser.eval(&colours), 4, "{parts}");
    }
}

/// The face of a J goes below the line in some fonts.
#[test]
fn no_face_of_a_card_is_cut_off() {
    let (server, browser) = open();
    browser.sit_in(Situation::with_move(&server, 5, |one| one["card"] == "J"));
    browser.wait("the card", |look| look.card("J").is_some());
    let clipped = "
        const text = document.querySelector('.card[aria-label=J] .rank text');
        const { d: scale, f: above } = text.getScreenCTM();
        const style = getComputedStyle(text);
        const pen = document.createElement('canvas').getContext('2d');
        pen.font = `${parseFloat(style.fontSize) * scale}px ${style.fontFamily}`;
        const { actualBoundingBoxAscent: up, actualBoundingBoxDescent: down } = pen.measureText('J');
        const baseline = above + text.y.baseVal[0].value * scale;
        const card = text.closest('.card').getBoundingClientRect();
        return getComputedStyle(text.ownerSVGElement).overflow !== 'visible' || baseline - up < card.top || baseline + down > card.bottom;";
    for size in PHONES {
        browser.resize(size);
        assert_eq!(browser.script(clipped, vec![]), false, "{size:?}");
    }
}
