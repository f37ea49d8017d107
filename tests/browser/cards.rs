//! The cards, measured: what a player sees of each of them at every size.

use serde_json::{Value, json};

use crate::support::{Browser, Form, deal_to_people, open};

/// All cards, six at a time: the largest hand.
const HANDS: [[&str; 6]; 3] = [
    ["A", "2", "3", "4", "5", "6"],
    ["7", "8", "9", "10", "J", "Q"],
    ["K", "joker", "10", "Q", "A", "joker"],
];

/// Puts cards into the hand, drawn by the page's own module. The last one cannot be played.
const DEAL: &str = "
    const [cards, done] = arguments;
    const module = document.querySelector('link[href$=\"src/table/card.js\"]').href;
    const load = (path) => import(new URL(path, module));
    Promise.all([load('card.js'), load('../view.js'), load('../../vendor/preact.js')]).then(async ([{ CardButton }, { html }, { render }]) => {
      const hand = document.createElement('div');
      hand.className = 'hand';
      document.querySelector('.hand').replaceWith(hand);
      render(html`${cards.map((card, index) => html`<${CardButton} card=${card} off=${index === 5} />`)}`, hand);
      await document.fonts.ready;
      done([...document.fonts].map(({ family, status }) => `${family} ${status}`));
    });";

/// Figures of each card in the hand, in pixels: how high its rank is above the line, how large its
/// icons are together, and the least contrast of its colour on its paper.
const MEASURE: &str = "
    const light = (colour) => colour.map((part) => part / 255)
      .map((part) => (part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4))
      .reduce((sum, part, index) => sum + part * [.2126, .7152, .0722][index], 0);
    const contrast = (...two) => {
      const [dark, bright] = two.map(light).sort((a, b) => a - b);
      return (bright + .05) / (dark + .05);
    };
    const colours = (words) => [...words.matchAll(/rgb\\((\\d+), (\\d+), (\\d+)\\)/g)].map(([, ...parts]) => parts.map(Number));
    const around = (elements) => {
      const boxes = [...elements].map((one) => one.getBoundingClientRect());
      const most = (side) => Math.max(...boxes.map((one) => one[side]));
      const least = (side) => Math.min(...boxes.map((one) => one[side]));
      return { left: least('left'), right: most('right'), width: most('right') - least('left'), height: most('bottom') - least('top') };
    };
    const pen = document.createElement('canvas').getContext('2d');
    return [...document.querySelectorAll('.hand > .card')].map((card) => {
      const text = card.querySelector('.rank text');
      const { backgroundColor, backgroundImage, color } = getComputedStyle(card);
      const paper = colours(backgroundImage === 'none' ? backgroundColor : backgroundImage);
      const [rank, icons] = ['.rank > *', '.power > *'].map((parts) => around(card.querySelectorAll(parts)));
      pen.font = text && `${parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d}px Bevan`;
      const { left, right, top, bottom, width } = card.getBoundingClientRect();
      return {
        text: text?.textContent ?? null, drawings: card.querySelectorAll('.rank > .ink').length, left, right, top, width,
        rank: text ? pen.measureText(text.textContent).actualBoundingBoxAscent : rank.height,
        icons: Math.min(icons.width, icons.height),
        contrast: Math.min(...paper.map((one) => contrast(one, colours(color)[0]))),
        cut: left < 0 || right > innerWidth || bottom > innerHeight
          || Math.min(rank.left, icons.left) < left || Math.max(rank.right, icons.right) > right,
      };
    });";

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// The figures of all cards, of which some hold in every form.
fn measure(browser: &Browser, form: Form) -> Vec<Value> {
    browser.show_as(form);
    let mut seen = Vec::new();
    for hand in HANDS {
        let faces = browser.script_async(DEAL, vec![json!(hand)]);
        assert_eq!(faces, json!(["Bevan loaded"]));
        browser.settle();
        let cards = browser.script(MEASURE, vec![]);
        let cards = cards.as_array().expect("cards");
        assert_eq!(cards.len(), hand.len());
        for (card, name) in cards.iter().zip(hand) {
            // The joker is told by its face: no other card has a drawing there, and it has no words.
            let text = (name != "joker").then_some(name);
            assert_eq!(card["text"], json!(text), "{form:?}: {card}");
            assert_eq!(card["drawings"] != 0, text.is_none(), "{form:?}: {card}");
            assert!(number(&card["contrast"]) >= 4.5, "{form:?}: {card}");
            assert_eq!(card["cut"], false, "{form:?}: {card}");
            assert_eq!(card["top"], cards[0]["top"], "one row, {form:?}: {card}");
        }
        seen.extend(cards.clone());
    }
    seen
}

/// With four seats and with six, in the exchange.
fn with_both_boards(check: impl Fn(&Browser)) {
    let (server, browser) = open();
    for seats in [4, 6] {
        let rules = json!({"preset": "hausregeln", "seats": seats});
        let game = browser.sit_at(deal_to_people(&server, &rules, 1), 0);
        game.swap(seats / 2, &json!({"ask": true}));
        let look = browser.wait_for_cards();
        assert_eq!(look.hand.len(), 6);
        browser.click(&look.hand[0]);
        browser.wait_for_element(".does");
        check(&browser);
    }
}

#[test]
fn cards_can_be_read_on_a_small_phone() {
    with_both_boards(|browser| {
        for (size, dark) in [((360, 600), false), ((360, 600), true), ((375, 553), false)] {
            let form = Form {
                dark,
                ..Form::sized(size.0, size.1)
            };
            for card in measure(browser, form) {
                assert!(number(&card["rank"]) >= 20.0, "{form:?}: {card}");
                assert!(number(&card["icons"]) >= 14.0, "{form:?}: {card}");
            }
        }
    });
}

#[test]
fn cards_use_the_room_of_tablets_and_large_screens() {
    with_both_boards(|browser| {
        let cards = measure(browser, Form::sized(768, 1024));
        let filled = number(&cards[5]["right"]) - number(&cards[0]["left"]);
        assert!(filled >= 0.9 * 768.0, "six cards fill {filled} px of 768");

        let cards = measure(browser, Form::sized(1920, 1080));
        for card in cards {
            assert!(number(&card["width"]) >= 120.0, "{card}");
        }
        // With a card chosen, that says what the card does, too.
        for words in [".todo", ".does"] {
            let text =
                format!("parseFloat(getComputedStyle(document.querySelector('{words}')).fontSize)");
            let text = number(&browser.eval(&text));
            assert!(text >= 24.0, "{words} has {text} px");
        }
    });
}
