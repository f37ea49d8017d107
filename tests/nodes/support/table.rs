//! A game whose requests go to any node.

use serde_json::{Value, json};

use super::{Call, NodeStream};

/// Who sends a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Seat(usize),
    Host,
    Spectator,
}

use Who::{Host, Seat, Spectator};

/// A game with its tokens.
#[derive(Clone, Debug)]
pub struct NodeTable {
    pub id: String,
    /// Of each seat; empty for a bot.
    pub tokens: Vec<String>,
    pub host: String,
}

impl NodeTable {
    /// The game of an answer to a creation.
    #[track_caller]
    pub fn from_created(created: &Value) -> NodeTable {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let tokens = created["seat_tokens"].as_array().expect("tokens");
        NodeTable {
            id: text(&created["id"]),
            tokens: tokens.iter().map(text).collect(),
            host: text(&created["host_token"]),
        }
    }

    /// Creates a game at the node with this URL.
    #[track_caller]
    pub fn create(url: &str, body: Value) -> NodeTable {
        NodeTable::from_created(&Call::post("/v1/games", body).send(url).expect(201))
    }

    /// A game of four bots with that many milliseconds between two of their actions.
    #[track_caller]
    pub fn with_bots(url: &str, pace: u32) -> NodeTable {
        let bots = [(); 4].map(|()| json!({"kind": "bot", "level": "greedy", "name": "bot"}));
        NodeTable::create(url, json!({"seats": bots, "bot_pace_ms": pace}))
    }

    /// A request about the game, with the token of whoever sends it.
    pub fn call(&self, who: Who, method: &'static str, rest: &str) -> Call {
        let call = Call::new(method, &format!("/v1/games/{}{rest}", self.id));
        match who {
            Seat(seat) => call.token(&self.tokens[seat]),
            Host => call.token(&self.host),
            Spectator => call,
        }
    }

    pub fn get(&self, who: Who, rest: &str) -> Call {
        self.call(who, "GET", rest)
    }

    /// What everybody may see of it, at a node.
    #[track_caller]
    pub fn view(&self, url: &str) -> Value {
        self.get(Spectator, "").send(url).expect(200)
    }

    /// A stream of it at a node, from its creation on.
    #[track_caller]
    pub fn stream(&self, who: Who, url: &str) -> NodeStream {
        NodeStream::open(url, &self.get(who, "/events"), 0).expect("a stream")
    }

    /// Does the next action at a node, and returns the version that it made.
    #[track_caller]
    pub fn act(&self, url: &str) -> u64 {
        let next = self.next_action(|call| call.send(url).expect(200));
        let (_, action) = next.expect("the game goes on");
        let version = action.send(url).expect(200)["version"].as_u64();
        version.expect("a version")
    }

    pub fn post(&self, who: Who, rest: &str, body: Value) -> Call {
        Call {
            body,
            ..self.call(who, "POST", rest)
        }
    }

    /// The next action of a game of four people, found with requests that `read` answers: that of the
    /// dealer, or what a seat is advised to do. `None` if the game is over.
    #[track_caller]
    pub fn next_action(&self, mut read: impl FnMut(&Call) -> Value) -> Option<(Who, Call)> {
        let view = read(&self.get(Spectator, ""));
        if view["phase"] == "deal" {
            return Some((Host, self.post(Host, "/deal", Value::Null)));
        }
        let seat = view["to_act"].as_array()?.first()?.as_u64()? as usize;
        let advice = read(&self.get(Seat(seat), "/suggest-move?level=greedy"));
        let request = &advice["suggestions"][0]["request"];
        let path = request["path"].as_str().expect("a path");
        let action = Call::post(path, request["body"].clone()).token(&self.tokens[seat]);
        Some((Seat(seat), action))
    }
}
