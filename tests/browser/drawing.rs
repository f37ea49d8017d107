//! What is drawn when the game changes.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    Browser, Form, Situation, Style, TestGame, TestServer,
    TestViewer::{Host, Spectator},
    create_with_bots, deal_to_people, is_swap, italian, open, parts, pieces_of, text,
};

/// A game in which the seat after seat 0 has a move of several steps.
fn before_a_walk(server: &TestServer) -> (TestGame<'_>, usize, Value) {
    let scene = Situation::with_choices(server);
    let game = scene.game;
    game.play(0, text(&scene.moves[0]["id"]));
    loop {
        let seat = game.turn();
        let moves = game.legal_moves(seat);
        let moves = moves.as_array().expect("moves");
        let walks =
            |one: &&Value| one["kind"] == "advance" && parts(one)[0]["steps"].as_u64() >= Some(4);
        if let Some(walk) = moves.iter().find(walks) {
            return (game, seat, walk.clone());
        }
        game.play(seat, text(&moves[0]["id"]));
    }
}

/// The animations of pieces that run now: whose piece, where it ends, and the points of its way in
/// the layout. A piece moves by a share of its own size, from the corner of the board.
const ANIMATIONS: &str = "
    const { x, y, width } = document.querySelector('.board svg').viewBox.baseVal;
    return document.getAnimations().map((one) => one.effect).filter(({ target }) => target.matches('.pieces .piece'))
      .map((effect) => ({
        piece: { ...effect.target.dataset },
        points: effect.getKeyframes().map(({ transform }) => {
          const size = parseFloat(effect.target.style.width) / 100 * width;
          const [right, down] = transform.match(/-?[\\d.]+/g).map((part) => (Number(part) + 50) / 100 * size);
          return [x + right, y + down];
        }),
      }))";

/// What moves takes longer, so that the test sees it.
const SLOWLY: &str = "
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (frames, options) {
      return animate.call(this, frames, { ...options, duration: 5000 });
    };";

#[test]
fn a_piece_moves_along_its_path() {
    let (server, browser) = open();
    browser.prepare(SLOWLY);
    let (game, seat, walk) = before_a_walk(&server);
    browser.sit(&game, 0);
    let part = &parts(&walk)[0];
    game.play(seat, walk["id"].as_str().expect("an id"));
    browser.wait_for_script(
        "an animation",
        "document.getAnimations().some((one) => one.effect.target.closest('.pieces .piece'))",
    );
    let animations = browser.script(ANIMATIONS, vec![]);
    let owner = seat.to_string();
    let to = part["to"].as_str().expect("a place");
    let mut all = animations.as_array().expect("a list").iter();
    let piece = json!([owner, to]);
    let animation = all.find(|one| json!([one["piece"]["seat"], one["piece"]["place"]]) == piece);
    let animation = animation.unwrap_or_else(|| panic!("{to} is not animated: {animations}"));
    let layout = server.get("/v1/layout").send().expect(200);
    let point = |place: &Value| {
        let place = place.as_str().expect("a place");
        let key = if place.contains(':') {
            format!("{seat}:{place}")
        } else {
            place.to_owned()
        };
        let point = &layout["places"][key];
        [&point["x"], &point["y"]].map(|at| at.as_f64().expect("a number"))
    };
    let path = part["path"].as_array().expect("a path");
    let expected: Vec<[f64; 2]> = [&part["from"]].into_iter().chain(path).map(point).collect();
    let shown: Vec<[f64; 2]> = serde_json::from_value(animation["points"].clone()).expect("points");
    assert_eq!(shown.len(), expected.len());
    for (shown, expected) in shown.iter().flatten().zip(expected.iter().flatten()) {
        assert!((shown - expected).abs() < 0.1, "{shown}, not {expected}");
    }
}

#[test]
fn nothing_moves_when_reduced_motion_is_preferred() {
    let (server, browser) = open();
    browser.show_as(Form {
        reduced_motion: true,
        ..Form::default()
    });
    let (game, seat, walk) = before_a_walk(&server);
    browser.sit(&game, 0);
    let lines = browser.wait("the log", |look| look.log > 0).log;
    game.play(seat, walk["id"].as_str().expect("an id"));
    browser.wait("the move", |look| look.log > lines);
    assert_eq!(browser.eval("document.getAnimations().length"), 0);
}

/// Four bots play a whole game at once, hundreds of changes in a few seconds.
#[test]
fn the_page_keeps_up_with_bots_that_do_not_pause() {
    let (server, browser) = open();
    let game = create_with_bots(&server, &italian(), 1, 0);
    browser.open_table(&game);
    let bot = json!({"kind": "bot", "level": "greedy"});
    game.put(Host, 0, &bot).expect(200);
    browser.wait("the first moves", |look| look.log > 5);
    // Opens and closes the log all the while, and waits for each in the page.
    let click = "
        const summary = [...document.querySelectorAll('summary')]
          .find((one) => one.textContent === 'What happened');
        summary.parentElement.addEventListener('toggle', () => arguments[0](), { once: true });
        summary.click();";
    while browser.look().team.is_none() {
        let started = Instant::now();
        browser.script_async(click, vec![]);
        assert!(
            started.elapsed() < Duration::from_secs(2),
            "the page does not answer"
        );
    }
    let view = game.view(Spectator);
    assert_eq!(view["phase"], "finished");
    assert_eq!(browser.pieces(), pieces_of(&game));
}

/// What moves now: the class of each element, and which of its properties change.
const MOVING: &str = "return document.getAnimations().filter((one) => one.effect.target instanceof Element)
    .map((one) => [one.effect.target.getAttribute('class').split(' ')[0],
      one.effect.getKeyframes().flatMap(Object.keys).filter((name) => !['offset', 'easing', 'composite', 'computedOffset'].includes(name))]);";

/// Waits until something of a class moves. Only what is cheap to draw may change.
#[track_caller]
fn wait_for_motion(browser: &Browser, class: &str) {
    let found =
        format!("document.getAnimations().some((one) => one.effect.target.matches('{class}'))");
    browser.wait_for_script(class, &found);
    for one in browser.script(MOVING, vec![]).as_array().expect("a list") {
        for name in one[1].as_array().expect("names") {
            assert!(name == "transform" || name == "opacity", "{one}");
        }
    }
}

#[test]
fn cards_fly_and_a_captured_piece_rolls_home() {
    let (server, browser) = open();
    browser.prepare(SLOWLY);
    let captures = |one: &Value| one["captures"][0].is_object();
    let scene = Situation::with_move(&server, 8, captures);
    let id = scene.find_move(captures)["id"].as_str().expect("an id");
    browser.sit(&scene.game, 1);
    scene.game.play(0, id);
    wait_for_motion(&browser, ".last-card");
    wait_for_motion(&browser, ".badge");

    let game = browser.sit_at(deal_to_people(&server, &italian(), 1), 0);
    browser.wait("the hand", |look| !look.hand.is_empty());
    for seat in [0, 2] {
        game.offer(seat);
    }
    wait_for_motion(&browser, ".flying");
}

#[test]
fn the_preview_of_a_swap_shows_both_pieces() {
    let (server, browser) = open();
    browser.sit_in(Situation::with_move(&server, 5, is_swap));
    browser.open_details("All moves");
    let hover = "[...document.querySelectorAll('.moves button')].find((one) => one.textContent.includes('J:') || one.textContent.startsWith('J'))
        .dispatchEvent(new PointerEvent('pointerenter'))";
    browser.script(hover, vec![]);
    browser.wait_for_script(
        "the preview",
        "document.querySelectorAll('.way.preview .ghost').length === 2",
    );
    // What is drawn later is above.
    let order = "return [...document.querySelectorAll('.way.preview :is(.from, .ghost)')].map((one) => one.getAttribute('class'))";
    assert_eq!(
        browser.script(order, vec![]),
        json!(["from", "from", "ghost", "ghost"])
    );
}

#[test]
fn targets_do_not_overlap_with_six_seats() {
    let (server, browser) = open();
    browser.show_as(Form::sized(360, 616));
    let rules = json!({"preset": "hausregeln", "seats": 6});
    let many = |one: &Value| one["card"] == "7";
    let scene = Situation::find(&server, &rules, 3, Style::Greedy, |_, moves| {
        moves.iter().filter(|one| many(one)).count() > 8
    });
    browser.sit(&scene.game, 0);
    browser.choose_card("7");
    let look = browser.wait("a choice", |look| look.board.len() > 1);
    if look.todo.contains("Choose a piece") {
        browser.click(&look.board[0]);
        browser.wait("targets", |look| {
            look.todo.contains("Choose where") && look.board.len() > 1
        });
    }
    let closest = "
        const places = [...document.querySelectorAll('.board .place')].map((one) => one.getBoundingClientRect());
        const apart = places.flatMap((a, index) => places.slice(index + 1).map((b) => Math.hypot(a.x - b.x, a.y - b.y) - a.width));
        return Math.min(...apart);";
    let closest = browser.script(closest, vec![]);
    assert!(closest.as_f64() > Some(-0.1), "{closest}");
}

#[test]
fn no_two_elements_have_one_name() {
    let (server, browser) = open();
    browser.sit_in(Situation::with_choices(&server));
    browser.press("Rules");
    browser.wait_for_element("dialog .board");
    let ids = "[...document.querySelectorAll('[id]')].map(({ id }) => id)
                 .filter((id, index, all) => all.indexOf(id) !== index)";
    assert_eq!(browser.eval(ids), serde_json::json!([]));
    let found = "[...document.querySelectorAll('[fill^=url]')].every((one) =>
                   document.querySelector(one.getAttribute('fill').slice(4, -1)))";
    assert_eq!(browser.eval(found), true);
}
