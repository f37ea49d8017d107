//! The end of a game that somebody has seen.

use std::{thread, time::Duration};

use serde_json::json;

use crate::support::{Browser, Form, TestGame, TestViewer::Host, create_with_bots, italian, open};

/// The end of a game that the player has seen, with how many shapes fell and pieces hopped.
fn see_the_end(browser: &Browser, game: &TestGame<'_>) {
    browser.script(
        "window.feast = { shapes: 0, hops: 0 };
         const look = () => {
           const moving = document.getAnimations().map((one) => one.effect.target);
           feast.shapes = Math.max(feast.shapes, moving.filter((one) => one.closest('.feast')).length);
           const goals = moving.filter((one) => one.matches('.piece[data-place^=goal]'));
           feast.hops = Math.max(feast.hops, new Set(goals).size);
           requestAnimationFrame(look);
         };
         look();",
        vec![],
    );
    game.put(Host, 0, &json!({"kind": "bot", "level": "greedy"}))
        .expect(200);
    browser.wait("the end", |look| look.team.is_some() && look.can("More"));
}

#[test]
fn the_end_is_a_feast() {
    let (server, browser) = open();
    browser.show_as(Form::sized(360, 600));
    let game = browser.sit_at(create_with_bots(&server, &italian(), 1, 0), 0);
    see_the_end(&browser, &game);
    browser.wait_for_script("the feast", "feast.shapes > 16 && feast.hops === 8");
    browser.wait_for_script("its end", "!document.querySelector('.feast')");
    let script = "
        const size = (one) => parseFloat(getComputedStyle(one).fontSize);
        const title = document.querySelector('[data-result]');
        const larger = [...document.querySelectorAll('main *')].filter((one) => one !== title && one.innerText && size(one) >= size(title));
        const hidden = [title, ...document.querySelectorAll('.finished .big, .icons button')].filter((one) => {
          const { top, bottom } = one.getBoundingClientRect();
          return top < 0 || bottom > innerHeight;
        });
        return [scrollY, larger.length, hidden.length];";
    assert_eq!(browser.script(script, vec![]), json!([0, 0, 0]));
    // Nothing falls where the game was over before.
    thread::sleep(Duration::from_secs(5));
    browser.reload();
    browser.wait("the end", |look| look.can("Play again"));
    assert_eq!(
        browser.eval("document.querySelector('.feast')"),
        json!(null)
    );
}

#[test]
fn a_feast_moves_nothing_where_that_is_not_wanted() {
    let (server, browser) = open();
    browser.show_as(Form {
        reduced_motion: true,
        ..Form::sized(360, 600)
    });
    let game = browser.sit_at(create_with_bots(&server, &italian(), 1, 0), 0);
    see_the_end(&browser, &game);
    thread::sleep(Duration::from_secs(2));
    assert_eq!(browser.eval("[feast.shapes, feast.hops]"), json!([0, 0]));
}
