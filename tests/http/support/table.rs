//! Tables that people join.

use serde_json::{Value, json};

use super::{TestGame, TestResponse, TestServer, TestViewer, with};

/// A game with open seats, and the invitations of its creation.
pub struct TestTable<'a> {
    pub game: TestGame<'a>,
    /// One per seat; empty for a seat that is not open.
    pub invitations: Vec<String>,
    /// To any seat that has been open since the creation.
    pub invitation: String,
}

impl<'a> TestTable<'a> {
    /// A game with four open seats and these other members of the creation.
    #[track_caller]
    pub fn create(server: &'a TestServer, more: &Value) -> TestTable<'a> {
        let open = json!({"kind": "open"});
        let body = json!({"seats": [open, open, open, open], "first_dealer": 0});
        let created = server.create(&with(body, more)).expect(201);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let invitations = created["invitations"].as_array();
        let invitations = invitations.map(|all| all.iter().map(text).collect());
        let table = TestTable {
            game: TestGame::from_created(server, &created),
            invitations: invitations.unwrap_or_default(),
            invitation: text(&created["invitation"]),
        };
        for secret in table.invitations.iter().chain([&table.invitation]) {
            table.hide(secret);
        }
        table
    }

    /// The same with a person at each seat, who joined with the common invitation.
    #[track_caller]
    pub fn full(server: &'a TestServer, more: &Value) -> TestTable<'a> {
        let mut table = TestTable::create(server, more);
        for seat in 0..4 {
            let mut body = json!({"seat": seat});
            // Anyone may join without one.
            if !table.invitation.is_empty() {
                body["invitation"] = json!(table.invitation);
            }
            table.join(&body);
        }
        table
    }

    fn hide(&self, secret: &str) {
        if let Some((_, secret)) = secret.split_once('-') {
            self.game.server.forbid_in_log(secret);
        }
    }

    pub fn ask_to_join(&self, body: &Value) -> TestResponse {
        let path = self.game.path("/join");
        self.game.server.post(&path).json(body).send()
    }

    /// Joins, and keeps the token. Returns the response.
    #[track_caller]
    pub fn join(&mut self, body: &Value) -> Value {
        let joined = self.ask_to_join(body).expect(201);
        let seat = joined["seat"].as_u64().expect("a seat") as usize;
        let token = joined["token"].as_str().expect("a token");
        self.game.server.forbid_in_log(token);
        self.game.tokens[seat] = token.to_owned();
        joined
    }

    pub fn put(&self, viewer: TestViewer, seat: usize, body: &Value) -> TestResponse {
        self.game.put(viewer, seat, body)
    }

    /// Opens a seat as the host. Returns its invitation.
    #[track_caller]
    pub fn open(&self, seat: usize) -> String {
        let opened = self.put(TestViewer::Host, seat, &json!({"kind": "open"}));
        let invitation = opened.expect(200)["invitation"].take();
        let invitation = invitation.as_str().expect("an invitation").to_owned();
        self.hide(&invitation);
        invitation
    }
}
