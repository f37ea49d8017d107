//! The screens of people at a table. They are found by their parts, not by their words, so that
//! each can be shown in each language.

use serde_json::{Value, json};

use super::{
    Browser, Dice, Stream, TestGame, TestServer,
    TestViewer::{self, Host, Seat, Spectator},
};

/// The languages of the page.
pub const LANGUAGES: [&str; 4] = ["en", "de", "fr", "it"];

/// Tables at different times of an evening.
pub struct Evening<'a> {
    /// Two have sat down. Everybody can have an invitation.
    seating: EveningTable<'a>,
    /// In the middle of a round: Beat has left, Nina has come late in place of Carla, and Dani is away.
    playing: EveningTable<'a>,
    finished: EveningTable<'a>,
    /// The others have asked for the rematch of another game.
    asked: EveningTable<'a>,
}

/// A game with the invitations of its creation.
struct EveningTable<'a> {
    game: TestGame<'a>,
    invitations: Value,
}

impl<'a> EveningTable<'a> {
    /// A table with four free seats, of which the first people take some.
    fn create(server: &'a TestServer, names: &[&str], wishes: Value) -> EveningTable<'a> {
        let open = |seat: usize| json!({"kind": "open", "name": format!("Seat {}", seat + 1), "level": "greedy"});
        let mut body = wishes;
        body["seats"] = json!((0..4).map(open).collect::<Vec<_>>());
        body["first_dealer"] = json!(3);
        let created = server.post("/v1/games").json(&body).send().expect(201);
        let each = created["invitations"].as_array().into_iter().flatten();
        let each = each.map(|text| json!({"text": text, "version": 1}));
        let mut table = EveningTable {
            game: TestGame::of(server, &created),
            invitations: json!({"any": created["invitation"], "seats": each.collect::<Vec<_>>()}),
        };
        for name in names {
            let invitation = table.invitations["any"].clone();
            table.join(&invitation, name);
        }
        table
    }

    fn join(&mut self, invitation: &Value, name: &str) {
        let body = json!({"invitation": invitation, "name": name});
        let request = self.game.server.post(&self.game.path("/join")).json(&body);
        let joined = request.send().expect(201);
        let seat = joined["seat"].as_u64().expect("a seat") as usize;
        let token = joined["token"].as_str().expect("a token");
        self.game.server.forbid_in_log(token);
        self.game.tokens[seat] = token.to_owned();
    }

    fn put(&self, viewer: TestViewer, seat: usize, kind: &str) -> Value {
        let request = self.game.request("PUT", viewer, &format!("/seats/{seat}"));
        request.json(&json!({"kind": kind})).send().expect(200)
    }

    /// Remembers it in the browser as somebody who plays this seat and is the host.
    fn remember(&self, browser: &Browser, seat: usize) {
        let saved = json!({
            "id": self.game.id, "seat": seat, "token": self.game.tokens[seat],
            "hostToken": self.game.host, "invitations": self.invitations,
            "opened": 1_700_000_000_000_u64, "preset": "dogspiel-it", "names": ["Anna", "Beat"],
        });
        browser.store(&format!("dog.game.{}", self.game.id), &saved);
    }

    /// Plays to the end, as greedy players do.
    fn finish(&self) {
        let mut dice = Dice::new(5);
        while self.game.view(Spectator)["phase"] != "finished" {
            self.game.step(&mut dice);
        }
    }
}

const NAMES: [&str; 4] = ["Anna", "Beat", "Carla", "Dani"];

impl<'a> Evening<'a> {
    pub fn new(server: &'a TestServer) -> Evening<'a> {
        let seating = EveningTable::create(server, &NAMES[..2], json!({"listed": false}));
        EveningTable::create(server, &NAMES[2..], json!({"join": "anyone"}));
        let mut playing = EveningTable::create(
            server,
            &NAMES,
            json!({"listed": false, "bot_pace_ms": 60_000}),
        );
        let mut dice = Dice::new(3);
        while playing.game.version() < 40 {
            playing.game.step(&mut dice);
        }
        playing.put(Seat(1), 1, "bot");
        let opened = playing.put(Host, 2, "open");
        playing.join(&opened["invitation"], "Nina");
        let finished = EveningTable::create(server, &NAMES, json!({"listed": false}));
        finished.finish();
        let asked = EveningTable::create(server, &NAMES, json!({"listed": false}));
        asked.finish();
        asked.game.post(Seat(1), "/rematch").send().expect(201);
        Evening {
            seating,
            playing,
            finished,
            asked,
        }
    }

    /// Goes through the screens in a language.
    pub fn visit(&self, browser: &Browser, language: &str, show: &dyn Fn(&'static str)) {
        let open = |fragment: &str, part: &str| {
            browser.go(&format!("/?lang={language}#{fragment}"));
            browser.wait_for_script(part, &format!("document.querySelector('{part}')"));
        };
        let table = |table: &EveningTable<'_>, part: &str| {
            open(&format!("/games/{}", table.game.id), part);
        };
        let invitation = self.seating.invitations["any"].as_str().expect("a text");
        open(
            &format!("/join/{}/{invitation}", self.seating.game.id),
            "form.join",
        );
        show("invited");
        for one in [&self.seating, &self.finished, &self.asked] {
            one.remember(browser, 0);
        }
        self.playing.remember(browser, 0);
        open("/", ".home .games");
        show("home-people");
        table(&self.seating, ".invite svg.qr");
        show("seating");
        browser.script(
            "document.querySelector('.teams .reveal button').click()",
            vec![],
        );
        browser.wait_for_script("the link", "document.querySelector('.teams svg.qr')");
        show("seating-link");
        table(&self.playing, ".pieces .piece");
        browser.wait_for_script("who is there", "document.querySelector('.players .state')");
        browser.wait_for_script("who is missing", "document.querySelector('.missing')");
        show("people-missing");
        // The others come.
        let game = &self.playing.game;
        let _streams = [2, 3].map(|seat| Stream::open(game.get(Seat(seat), "/events")));
        browser.wait_for_script("everybody", "!document.querySelector('.missing')");
        show("people");
        browser.script(
            "document.querySelector('details.people').open = true",
            vec![],
        );
        browser.script(
            "document.querySelector('details.people').scrollIntoView()",
            vec![],
        );
        show("people-host");
        table(&self.finished, ".finished .again");
        show("finished-people");
        table(&self.asked, ".finished .again [role=alert]");
        show("rematch");
        browser.forget_all();
    }
}
