//! Words that a browser translates, and names in other scripts.

use serde_json::{Value, json};

use crate::support::{
    Browser, Form, LINK_FOR_ALL, MousePlayer, TestServer, create_with_bots, create_with_names,
    invite_friends, italian, open, text,
};

/// Does what a translation does to the page: replaces each text, and each new one, by an element.
const TRANSLATE: &str = "
  const moves = arguments[0];
  const translate = () => {
    const walker = document.createTreeWalker(document.getElementById('page'), NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      if (!text.data.trim() || text.parentNode.closest('font, svg, option')) continue;
      const outer = document.createElement('font');
      const inner = outer.appendChild(document.createElement('font'));
      if (moves) {
        text.before(outer);
        inner.append(text);
      } else {
        text.replaceWith(outer);
        inner.append(text.data);
      }
    }
  };
  window.translating = setInterval(translate, 20);
  translate();";

/// The words of the page as its reader sees them.
fn words(browser: &Browser) -> Value {
    browser.eval("document.getElementById('page').innerText")
}

#[test]
fn a_translated_page_goes_on() {
    let (server, browser) = open();
    for moves in [false, true] {
        let game = create_with_bots(&server, &json!({"preset": "hausregeln"}), 3, 20);
        browser.sit(&game, 0);
        browser.script(TRANSLATE, vec![json!(moves)]);
        let mut player = MousePlayer::new(&browser, 3);
        player.play_until(|look| look.log > 30 && look.todo.contains("choose a card"));
        browser.wait_for_element(".todo font");
        browser.wait_for_script("the cards", "!document.querySelector('.flying')");
        let translated = words(&browser);
        browser.sit(&game, 0);
        browser.wait("the log", |look| look.log > 30);
        assert_eq!(translated, words(&browser));
    }
}

/// These people sit down by a link, which ends with the game and the invitation.
fn join(server: &TestServer, link: &str, names: &[&str]) {
    let mut parts = link.rsplit('/');
    let invitation = parts.next();
    let path = format!("/v1/games/{}/join", parts.next().expect("a game"));
    for name in names {
        let body = json!({"invitation": invitation, "name": name});
        server.post(&path).json(&body).send().expect(201);
    }
}

/// People come and go on a translated page.
#[test]
fn a_translated_table_fills() {
    let (server, browser) = open();
    invite_friends(&browser, "Anna");
    let link = browser.value(LINK_FOR_ALL);
    browser.script(TRANSLATE, vec![json!(false)]);
    browser.wait_for_element(".todo font");
    join(&server, &link, &["Beat", "Carla", "Dani"]);
    browser.wait_for_words("All seats are taken. Start the game!");
    let all = words(&browser);
    for stale in ["Seat 2", "Waiting for", "free"] {
        assert!(!text(&all).contains(stale), "{stale}: {all}");
    }
    // The reader turns the translation off: the words are the page's own.
    browser.script(
        "clearInterval(window.translating);
         const words = document.querySelector('.todo font');
         words.replaceWith(words.textContent);",
        vec![],
    );
    browser.press("Start");
    browser.wait("the hand", |look| look.hand.len() == 6);
}

/// How far from the left a text of the page is drawn: the first that matches, or a group of it.
fn left_of(browser: &Browser, pattern: &str) -> f64 {
    let script = "
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const { currentNode: node } = walker;
        const found = new RegExp(arguments[0], 'd').exec(node.data);
        if (!found || !node.parentElement.checkVisibility()) continue;
        const range = document.createRange();
        range.setStart(node, found.indices[1][0]);
        range.setEnd(node, found.indices[1][1]);
        return range.getBoundingClientRect().left;
      }
      return null;";
    let left = browser.script(script, vec![json!(pattern)]);
    left.as_f64().expect(pattern)
}

#[test]
fn names_in_other_scripts_stay_where_they_are() {
    let (server, browser) = open();
    let game = create_with_names(&server, &["Anna", "דוד", "ليلى", "משה"], 4);
    game.deal();
    game.exchange();
    browser.sit(&game, 0);
    browser.wait("the log", |look| look.log == 3);
    // “NAME deals round 1: 6 cards each.”, “NAME and NAME exchange a card.”
    for (before, after) in [
        ("([א-ת])[א-ת]*[^א-ת]* deals", "[א-ת][^א-ת]* deals (round)"),
        ("([א-ת])[א-ת]*[^א-ת]* exchange", "[א-ת][^א-ת]* (exchange)"),
    ] {
        let (before, after) = (left_of(&browser, before), left_of(&browser, after));
        assert!(before < after, "{before} {after}");
    }
    // A name that reverses what follows, at a table that this browser remembers from before.
    let saved = json!({
        "id": game.id, "seat": 0, "token": game.tokens[0], "hostToken": null, "opened": 1,
        "preset": "dogspiel-it", "names": ["Anna", "Eve\u{202e}", "Rex", "דוד", "12 Uhr"],
    });
    let other = browser.another();
    other.store(&format!("dog.game.{}", game.id), &saved);
    other.go("/?lang=en");
    other.wait_for_words("Continue");
    let order = ["(Eve)", "(Rex)", "(ד)", "(12) Uhr"].map(|name| left_of(&other, name));
    assert!(order.is_sorted(), "{order:?}");
}

/// The log tells what people say: no field has a number, and what the reader does is told as such.
#[test]
fn the_log_speaks_as_people_do() {
    let (server, browser) = open();
    browser.sit_at(create_with_bots(&server, &italian(), 5, 0), 0);
    let mut player = MousePlayer::new(&browser, 5);
    player.play_until(|look| look.log > 12 && !look.hand.is_empty());
    let lines =
        "[...document.querySelectorAll('details.log li')].map((one) => '\\n' + one.innerText)";
    let all = browser.eval(&format!("{lines}.join('')"));
    let has = |words: &str| text(&all).contains(words);
    for words in [
        " plays ",
        "You give Bruno",
        "and get",
        " brings a piece out",
        "\nYou play ",
    ] {
        assert!(has(words), "{words}: {all}");
    }
    for words in ["field", "You plays", "Player", "goal "] {
        assert!(!has(words), "{words}: {all}");
    }
    // A tap on a line shows its move on the board, and another one hides it.
    let line = "document.querySelector('details.log button')";
    browser.eval(&format!("{line}.scrollIntoView({{ block: 'center' }})"));
    browser.eval(&format!("{line}.click()"));
    browser.wait_for_element("svg .way.preview");
    browser.eval(&format!("{line}.click()"));
    browser.wait_for_script("no way", "!document.querySelector('svg .way.preview')");
}

/// Names of difficult kinds: without blanks, wide, tall, in other scripts, and like markup.
const DIFFICULT: [&str; 12] = [
    "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
    "Donaudampfschifffahrtsgesellschaftskapit",
    "👨‍👩‍👧‍👦🏳️‍🌈🎲🎲🎲🎲🎲🎲🎲🎲🎲🎲🎲🎲🎲🎲🎲🎲",
    "محمد عبد الرحمن بن خالد الهاشمي",
    "דוד 12",
    "\u{fdfd}\u{fdfd}\u{fdfd}\u{fdfd}\u{fdfd}\u{fdfd}\u{fdfd}\u{fdfd}\u{fdfd}\u{fdfd}\u{fdfd}",
    "Z\u{337}\u{322}\u{31b}\u{34e}a\u{338}\u{321}l\u{336}g\u{321}o\u{335}",
    "<b>Anna</b> & {name}",
    "漢字仮名交じり文漢字仮名交じり文漢字仮名交じり文漢字仮名交じり文漢字仮名交じ",
    "a.b/c#d?e=f%20g",
    "\"I’m\" «the» ‘one’ 12:34",
    "ความรักทำให้คนตาบอดและหูหนวกไปหมดทุกคน",
];

/// Nothing on the page is outside the screen.
#[track_caller]
fn nothing_sticks_out(browser: &Browser, name: &str) {
    let wide = browser.eval(
        "[...document.querySelectorAll('body *')]
           .filter((one) => one.checkVisibility() && !one.closest('svg, .hidden')
             && (one.getBoundingClientRect().right > innerWidth + 0.5 || one.getBoundingClientRect().left < -0.5))
           .map((one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 60)}`)",
    );
    assert_eq!(wide, json!([]), "{name}");
}

#[test]
fn no_name_breaks_a_screen_before_the_game() {
    let (server, host) = open();
    let guest = host.another();
    for browser in [&host, &guest] {
        browser.show_as(Form::sized(360, 616));
    }
    for four in DIFFICULT.chunks(4) {
        host.go("/?lang=en");
        host.type_into("Your name", four[0]);
        host.press("Invite friends");
        host.wait_for_words("Waiting for 3 more players.");
        let link = host.value(LINK_FOR_ALL);
        nothing_sticks_out(&host, four[0]);
        guest.follow(&link.replacen("/#", "/?lang=en#", 1));
        guest.wait_for_words(&format!("{} invites you to play DOG", isolated(four[0])));
        nothing_sticks_out(&guest, four[0]);
        join(&server, &link, &four[1..]);
        host.wait_for_words("All seats are taken. Start the game!");
        nothing_sticks_out(&host, four[1]);
        // A person who comes too late can watch.
        guest.wait_for_words("All seats at this table are taken.");
        nothing_sticks_out(&guest, four[1]);
        guest.press("Watch the game");
        guest.wait_for_words("Around the table");
        nothing_sticks_out(&guest, four[1]);
        assert_eq!(guest.fragment(), host.fragment());
    }
    // Such a name is refused today; a browser may remember one.
    let saved = json!({
        "id": "0123456789abcdef", "seat": 0, "token": "0", "hostToken": null, "opened": 1,
        "preset": "dogspiel-it", "names": ["Anna", format!("Eve\u{202e}{}", "M".repeat(36)), "Rex"],
    });
    host.expect_message(&["404"]);
    host.store("dog.game.0123456789abcdef", &saved);
    host.go("/?lang=en");
    host.click_on(".home > section .link");
    host.wait_for_words("no longer on the server");
    nothing_sticks_out(&host, "home");
    host.press_anywhere(&format!("Remove the game with {}", isolated(DIFFICULT[9])));
    host.wait_for_words("Only this browser has the key to your seat.");
    nothing_sticks_out(&host, "the question");
    // A public table.
    let person = |name: &&str| json!({"kind": "human", "name": name});
    let mut seats: Vec<Value> = DIFFICULT[..3].iter().map(person).collect();
    seats.push(json!({"kind": "open", "name": "Seat 4"}));
    let table = json!({"seats": seats, "join": "anyone"});
    server.post("/v1/games").json(&table).send().expect(201);
    host.go("/?lang=en");
    host.wait_for_words(DIFFICULT[0]);
    nothing_sticks_out(&host, "open tables");
}

/// A name as the page puts it into a sentence.
fn isolated(name: &str) -> String {
    let from_right = |one: char| ('\u{590}'..='\u{8ff}').contains(&one) || one == '\u{fdfd}';
    if name.contains(from_right) {
        format!("\u{2068}{name}\u{2069}")
    } else {
        name.to_owned()
    }
}
