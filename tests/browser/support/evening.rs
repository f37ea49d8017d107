//! The screens of people at a table. They are found by their parts, not by their words, so that
//! each can be shown in each language.

use serde_json::{Value, json};

use super::{
    Browser, Dice, TestServer,
    TestViewer::{Seat, Spectator},
    http::{TestMatch, TestTable, wait_until},
};

/// The languages of the page.
pub const LANGUAGES: [&str; 4] = ["en", "de", "fr", "it"];

const NAMES: [&str; 4] = ["Anna", "Beat", "Carla", "Dani"];

/// Tables at different times of an evening.
pub struct Evening<'a> {
    /// Two have sat down. Everybody can have an invitation.
    seating: TestTable<'a>,
    /// In the middle of a round: Beat has left, Nina has come late in place of Carla, and Dani is away.
    playing: TestTable<'a>,
    finished: TestTable<'a>,
    /// The others have asked for the rematch of another game.
    asked: TestTable<'a>,
    /// Nobody has sat down, and both tables have finished.
    matches: [TestMatch<'a>; 2],
}

/// A table with four free seats, the first of which these people take.
fn table<'a>(server: &'a TestServer, names: &[&str], mut more: Value) -> TestTable<'a> {
    let open =
        |number| json!({"kind": "open", "name": format!("Seat {number}"), "level": "greedy"});
    more["seats"] = (1..=4).map(open).collect();
    more["first_dealer"] = json!(3);
    let mut table = TestTable::create(server, &more);
    for name in names {
        let mut body = json!({"name": name});
        if !table.invitation.is_empty() {
            body["invitation"] = json!(table.invitation);
        }
        table.join(&body);
    }
    table
}

/// A table of four people whose game is over.
fn finished(server: &TestServer) -> TestTable<'_> {
    let table = table(server, &NAMES, json!({"listed": false}));
    let mut dice = Dice::new(5);
    while table.game.view(Spectator)["phase"] != "finished" {
        table.game.step(&mut dice);
    }
    table
}

/// A match that a team won at both tables, in the first round.
fn won(server: &TestServer) -> TestMatch<'_> {
    let mut won = TestMatch::create(server, &json!({}));
    for table in [0, 1] {
        let game = won.fill(table);
        wait_until("the deal", || game.view(Seat(0))["phase"] == "exchange");
        for seat in [table, table + 2] {
            game.post(Seat(seat), "/forfeit").send().expect(200);
        }
    }
    won
}

/// Remembers a table in the browser as its host, who has the first seat.
fn remember(browser: &Browser, table: &TestTable<'_>) {
    let seats = table.invitations.iter();
    let seats = seats.map(|text| json!({"text": text, "version": 1}));
    let saved = json!({
        "id": table.game.id, "seat": 0, "token": table.game.tokens[0], "hostToken": table.game.host,
        "invitations": {"any": table.invitation, "seats": seats.collect::<Vec<_>>()},
        "opened": 1_700_000_000_000_u64, "preset": "dogspiel-it", "names": ["Anna", "Beat"],
    });
    browser.store(&format!("dog.game.{}", table.game.id), &saved);
}

impl<'a> Evening<'a> {
    pub fn new(server: &'a TestServer) -> Evening<'a> {
        let seating = table(server, &NAMES[..2], json!({"listed": false}));
        table(server, &NAMES[2..], json!({"join": "anyone"}));
        let slow = json!({"listed": false, "bot_pace_ms": 60_000});
        let mut playing = table(server, &NAMES, slow);
        let mut dice = Dice::new(3);
        while playing.game.version() < 40 {
            playing.game.step(&mut dice);
        }
        playing.put(Seat(1), 1, &json!({"kind": "bot"})).expect(200);
        let invitation = playing.open(2);
        playing.join(&json!({"invitation": invitation, "name": "Nina"}));
        let asked = finished(server);
        asked.game.post(Seat(1), "/rematch").send().expect(201);
        Evening {
            seating,
            playing,
            finished: finished(server),
            asked,
            matches: [TestMatch::create(server, &json!({})), won(server)],
        }
    }

    /// Goes through the screens in a language.
    pub fn visit(&self, browser: &Browser, language: &str, show: &dyn Fn(&'static str)) {
        let open = |fragment: &str, part: &str| {
            browser.go(&format!("/?lang={language}#{fragment}"));
            browser.wait_for_element(part);
        };
        let table = |table: &TestTable<'_>, part: &str| {
            open(&format!("/games/{}", table.game.id), part);
        };
        let (id, invitation) = (&self.seating.game.id, &self.seating.invitation);
        open(&format!("/join/{id}/{invitation}"), "form.join");
        show("invited");
        for one in [&self.seating, &self.finished, &self.asked, &self.playing] {
            remember(browser, one);
        }
        open("/", ".home .games");
        show("home-people");
        table(&self.seating, ".invite svg.qr");
        show("seating");
        browser.click_on(".teams .reveal button");
        browser.wait_for_element(".teams svg.qr");
        show("seating-link");
        table(&self.playing, ".pieces .piece");
        browser.wait_for_element(".players .state");
        browser.wait_for_element(".missing");
        show("people-missing");
        // The others come.
        let game = &self.playing.game;
        let _streams = [2, 3].map(|seat| game.events(Seat(seat), ""));
        browser.wait_for_script("everybody", "!document.querySelector('.missing')");
        show("people");
        browser.eval("document.querySelector('details.people').open = true");
        browser.eval("document.querySelector('details.people').scrollIntoView()");
        show("people-host");
        table(&self.finished, ".finished .icons");
        browser.click_on(".icons [aria-expanded]");
        show("finished-people");
        table(&self.asked, ".finished [role=alert]");
        show("rematch");
        self.visit_matches(browser, &open, show);
        browser.forget_all();
    }

    fn visit_matches(
        &self,
        browser: &Browser,
        open: &dyn Fn(&str, &str),
        show: &dyn Fn(&'static str),
    ) {
        let [new, won] = &self.matches;
        let tables = new.tables.iter();
        let tables =
            tables.map(|table| json!({"id": table.game.id, "invitations": table.invitations}));
        let kept = json!([{"id": new.id, "hostToken": new.host, "names": ["Red", "Blue"],
            "created": 1_700_000_000_000_u64, "tables": tables.collect::<Vec<_>>()}]);
        browser.store("dog.matches", &kept);
        open("/match", ".games");
        show("match-new");
        open(&format!("/match/{}", new.id), ".teams .reveal");
        browser.click_on(".teams .reveal button");
        browser.wait_for_element(".teams svg.qr");
        show("match");
        open(&format!("/match/{}", won.id), ".invite a");
        show("match-result");
        open(
            &format!("/match/{}/compare", won.id),
            ".compared .pieces .piece",
        );
        show("match-compared");
    }
}
