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

/// A match, with the tables of its pairs.
pub struct TestMatch<'a> {
    pub id: String,
    pub host: String,
    /// Two for each pair. The host's token at them is that of the match.
    pub tables: Vec<TestTable<'a>>,
}

impl<'a> TestMatch<'a> {
    /// A match of open sides with these other members of the creation.
    #[track_caller]
    pub fn create(server: &'a TestServer, more: &Value) -> TestMatch<'a> {
        let sides = json!([{"name": "Red", "kind": "open"}, {"name": "Blue", "kind": "open"}]);
        let body = with(json!({"turn_seconds": 600, "sides": sides}), more);
        let created = server.post("/v1/matches").json(&body).send().expect(201);
        TestMatch::from_created(server, &created)
    }

    /// The match of a response to a creation.
    #[track_caller]
    pub fn from_created(server: &'a TestServer, created: &Value) -> TestMatch<'a> {
        let host = created["host_token"].as_str().expect("a token").to_owned();
        server.forbid_in_log(&host);
        let pairs = created["pairs"].as_array().expect("pairs").iter();
        let tables = pairs.flat_map(|pair| pair["tables"].as_array().expect("tables"));
        let tables = tables.map(|table| {
            let invitations = table["invitations"].as_array().expect("invitations");
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let table = TestTable {
                game: TestGame {
                    server,
                    id: text(&table["id"]),
                    tokens: vec!["none".to_owned(); invitations.len()],
                    host: host.clone(),
                },
                invitations: invitations.iter().map(text).collect(),
                invitation: String::new(),
            };
            for secret in &table.invitations {
                table.hide(secret);
            }
            table
        });
        TestMatch {
            id: created["id"].as_str().expect("an id").to_owned(),
            host: host.clone(),
            tables: tables.collect(),
        }
    }

    /// A person joins at each open seat of this table, and the server deals.
    #[track_caller]
    pub fn fill(&mut self, table: usize) -> &TestGame<'a> {
        let table = &mut self.tables[table];
        for invitation in table.invitations.clone() {
            if !invitation.is_empty() {
                table.join(&json!({"invitation": invitation}));
            }
        }
        &table.game
    }

    /// The match as anyone sees it.
    #[track_caller]
    pub fn view(&self, server: &TestServer) -> Value {
        server
            .get(&format!("/v1/matches/{}", self.id))
            .send()
            .expect(200)
    }
}
