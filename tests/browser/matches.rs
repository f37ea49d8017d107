//! The same cards at two tables, on the page.

use std::array;

use serde_json::{Value, json};

use crate::support::{
    Browser, TestGame, TestMatch, TestServer,
    TestViewer::{Seat, Spectator},
    go_home, open, saved, sit_down, text, wait_for_seat, wait_until,
};

/// Creates a match of the teams Red and Blue on the page.
fn create<'a>(server: &'a TestServer, host: &Browser) -> TestMatch<'a> {
    go_home(host, "Anna");
    host.press("Same cards at two tables");
    host.type_into("Name of team 1", "Red");
    host.type_into("Name of team 2", " Blue ");
    host.press_anywhere("Create both tables");
    host.wait_for_words("Invite eight people");
    let kept = host.eval("JSON.parse(localStorage.getItem('dog.matches'))[0]");
    assert_eq!(host.fragment(), format!("/match/{}", text(&kept["id"])));
    let pairs = json!([{"tables": kept["tables"]}]);
    let created = json!({"id": kept["id"], "host_token": kept["hostToken"], "pairs": pairs});
    TestMatch::from_created(server, &created)
}

/// Takes the first seat of a table in this browser, and the others by the API.
fn fill(of: &mut TestMatch<'_>, table: usize, browser: &Browser) {
    of.tables[table].game.tokens[0] = text(&saved(browser)["token"]).to_owned();
    of.tables[table].invitations[0].clear();
    of.fill(table);
    browser.wait("a hand", |look| !look.hand.is_empty());
}

/// Both people of this team give up.
fn forfeit(game: &TestGame<'_>, team: usize) {
    for seat in [team, team + 2] {
        game.post(Seat(seat), "/forfeit").send().expect(200);
    }
}

/// The cards of each seat as the comparison shows them, for each table.
fn compared(browser: &Browser) -> Value {
    browser.wait_for_element(".compared .pieces .piece");
    browser.eval(
        "[...document.querySelectorAll('.compared section')].map((table) =>
           [...table.querySelectorAll('.hands li')].map((seat) =>
             [...seat.querySelectorAll('.small-card')].map((card) => card.firstChild.data.replace('★', 'joker'))))",
    )
}

#[test]
fn two_tables_play_the_same_cards_and_are_compared() {
    let (server, host) = open();
    let mut of = create(&server, &host);
    let path = format!("/match/{}", of.id);
    let (friend, guest) = (host.another(), host.another());
    for browser in [&host, &guest] {
        browser.expect_message(&["403"]);
    }
    // The test plays for the host, whose page may ask for the moves of the position before.
    host.expect_message(&["legal-moves", "409"]);

    // Each seat has a link of its own, and one is for the host.
    host.press_anywhere("Invite: Red, Table 2, Seat 4");
    let link = host.value("Link for Red, Table 2, Seat 4");
    assert!(link.ends_with(&of.tables[1].invitations[3]), "{link}");
    host.press_anywhere("Invite: Blue, Table 2, Seat 1");
    let link = host.value("Link for Blue, Table 2, Seat 1");
    sit_down(&friend, &link, "Beat");
    host.press_anywhere("Sit here: Red, Table 1, Seat 1");
    host.press_anywhere("Sit down");
    wait_for_seat(&host);
    fill(&mut of, 0, &host);
    fill(&mut of, 1, &friend);
    let [first, second]: [&TestGame<'_>; 2] = array::from_fn(|table| &of.tables[table].game);

    // Others are told why they see nothing; whoever created the match has the way back.
    guest.go(&format!("/?lang=en#/games/{}", second.id));
    guest.wait_for_words("only its own players see it.");
    assert_eq!(
        guest.eval("document.querySelector('a[href*=match]')"),
        json!(null)
    );
    guest.go("/?lang=en#/");
    guest.type_into(
        "Link to a game",
        &format!("Look: <{}/#{path}>.", guest.server),
    );
    guest.press_anywhere("Watch the game");
    guest.wait_for_words("The result comes once both tables have finished.");
    assert_eq!(
        guest.eval("document.body.innerText.includes('Invite')"),
        false
    );
    let own = host.fragment();
    host.go(&format!("/?lang=en#/games/{}", second.id));
    host.click_on("main a[href*=match]");
    host.wait_for_words("This table plays.");
    host.go(&format!("/?lang=en#{own}"));
    host.wait("a hand", |look| !look.hand.is_empty());

    // The first table plays a round more.
    let hand = |seat: usize| first.view(Seat(seat))["seats"][seat]["hand"].take();
    let hands: Vec<Value> = (0..4).map(hand).collect();
    first.exchange();
    wait_until("the second deal", || {
        let view = first.view(Seat(0));
        if view["phase"] == "play" {
            first.play_suggested(view["turn"].as_u64().expect("a turn") as usize, 1);
        }
        view["phase"] == "exchange"
    });
    forfeit(first, 1);
    host.wait_for_words("The cards stay secret until the other table has finished, too.");
    for offer in ["Rematch", "Replay", "Review", "Share", "More"] {
        assert!(!host.look().can(offer), "{offer}");
    }
    // Nor does an address of the replay lead there.
    host.go(&format!("/?lang=en#/games/{}/at/3", first.id));
    host.wait_for_words("The cards stay secret");
    assert_eq!(host.eval("document.querySelector('.replay')"), json!(null));
    assert_eq!(
        guest.eval("document.querySelector('h1').innerText"),
        "Red : Blue"
    );

    // The other end lays both open, everywhere.
    forfeit(second, 0);
    host.wait("a rematch", |look| {
        look.can("Rematch") && look.can("Review")
    });
    guest.wait_for_words("Table 1: Red wins.");
    guest.wait_for_words("Table 2: Red wins.");
    assert_eq!(
        guest.eval("document.querySelector('h1').innerText"),
        "Red 2 : Blue 0"
    );
    assert_eq!(
        first.get(Spectator, "").send().expect(200)["match_closed"],
        false
    );
    host.click_on("main a[href*=match]");
    host.click_on("main a[href*=compare]");
    assert_eq!(compared(&host), json!([hands, hands]));
    host.wait_for_words("Round 1 of 2");
    host.wait_for_words("give up. · ");
    host.press_anywhere("Next round");
    host.wait_for_words("This table had finished before.");
    let both = compared(&host);
    assert_eq!(both[0].as_array().map(Vec::len), Some(4), "{both}");
    assert_eq!(both[1], json!([]));
    assert_eq!(host.look().focus.as_deref(), Some("Next round"));
}

#[test]
fn the_host_ends_a_match() {
    let (server, host) = open();
    let of = create(&server, &host);
    host.press_anywhere("End the match");
    host.press_anywhere("End it now");
    host.wait_for_words("This match was ended before both tables had finished.");
    assert_eq!(of.view(&server)["ended"], true);
    // It stays in the list of one's matches.
    host.go("/?lang=en#/match");
    host.click_on(&format!(".games a[href='#/match/{}']", of.id));
    host.wait_for_words("It has no result.");
}
