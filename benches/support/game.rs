//! A game that a client plays over HTTP. The client decides how to handle responses.

use serde_json::{Value, json};

/// Sends a request (method, path, token, body) and returns the body of the response.
pub trait SendRequest: FnMut(&str, &str, Option<&str>, Option<Value>) -> Value {}

impl<F: FnMut(&str, &str, Option<&str>, Option<Value>) -> Value> SendRequest for F {}

/// A game's path and tokens.
pub struct BenchGame {
    pub path: String,
    pub host: String,
    pub tokens: Vec<String>,
}

impl BenchGame {
    /// Creates a game; `None` if it was refused.
    pub fn create(ask: &mut impl SendRequest, body: Value) -> Option<BenchGame> {
        let created = ask("POST", "/v1/games", None, Some(body));
        let tokens = created["seat_tokens"].as_array()?.iter();
        Some(BenchGame {
            path: format!("/v1/games/{}", created["id"].as_str()?),
            host: created["host_token"].as_str()?.to_owned(),
            tokens: tokens
                .map(|token| token.as_str().unwrap_or_default().to_owned())
                .collect(),
        })
    }

    /// Does what is to be done next in the game that this view shows; the view after it.
    pub fn step(&self, ask: &mut impl SendRequest, view: &Value) -> Value {
        let path = |route: &str| format!("{}{route}", self.path);
        let token = |seat: usize| Some(self.tokens[seat].as_str());
        match view["phase"].as_str() {
            Some("deal") => {
                ask("POST", &path("/deal"), Some(&self.host), Some(json!({})))["game"].clone()
            }
            Some("exchange") => {
                for seat in 0..self.tokens.len() {
                    let own = ask("GET", &self.path, token(seat), None);
                    let body = match own["actions"][0]["choices"][0].as_str() {
                        Some("card") => json!({"card": own["seats"][seat]["hand"][0]}),
                        Some(choice) => json!({choice: true}),
                        None => continue,
                    };
                    ask("POST", &path("/swap"), token(seat), Some(body));
                }
                ask("GET", &self.path, None, None)
            }
            _ => {
                let token = token(view["turn"].as_u64().unwrap_or(0) as usize);
                let moves = ask("GET", &path("/legal-moves?board=false"), token, None);
                let moves = moves["moves"].as_array().map_or(&[][..], Vec::as_slice);
                // Another one at each version, or the same few moves would be played for ever.
                let version = view["version"].as_u64().unwrap_or(0);
                let chosen = version.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
                let chosen = moves.get(chosen as usize % moves.len().max(1));
                let body = json!({"move": chosen.map(|chosen| &chosen["id"])});
                ask("POST", &path("/play"), token, Some(body))["game"].clone()
            }
        }
    }
}
