//! Requests, which can be sent to any node and again.

use std::sync::LazyLock;

use serde_json::Value;
use ureq::{Agent, Body, http::Response};

use super::ANSWER_LIMIT;

static AGENT: LazyLock<Agent> = LazyLock::new(|| {
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .timeout_global(Some(ANSWER_LIMIT))
        .build()
        .new_agent()
});

/// A request.
#[derive(Clone, Debug)]
pub struct Call {
    pub method: &'static str,
    pub path: String,
    pub token: Option<String>,
    /// The `Idempotency-Key`.
    pub key: Option<String>,
    /// JSON; no body if it is null.
    pub body: Value,
}

impl Call {
    pub fn new(method: &'static str, path: &str) -> Call {
        Call {
            method,
            path: path.to_owned(),
            token: None,
            key: None,
            body: Value::Null,
        }
    }

    pub fn get(path: &str) -> Call {
        Call::new("GET", path)
    }

    pub fn post(path: &str, body: Value) -> Call {
        Call {
            body,
            ..Call::new("POST", path)
        }
    }

    pub fn key(self, key: &str) -> Call {
        Call {
            key: Some(key.to_owned()),
            ..self
        }
    }

    pub fn token(self, token: &str) -> Call {
        Call {
            token: Some(token.to_owned()),
            ..self
        }
    }

    /// Sends it to the node with this URL.
    #[track_caller]
    pub fn send(&self, url: &str) -> NodeAnswer {
        let answer = self.try_send(url);
        answer.unwrap_or_else(|| panic!("{self:?}: the connection to {url} was lost"))
    }

    /// The same; `None` if the connection is lost, as that to a killed node is.
    ///
    /// # Panics
    /// If there is no answer within [`ANSWER_LIMIT`].
    #[track_caller]
    pub fn try_send(&self, url: &str) -> Option<NodeAnswer> {
        let answer = self.run(&AGENT, url, &[]).and_then(|mut response| {
            let header = |name: &str| {
                let value = response.headers().get(name)?.to_str();
                value.ok().map(str::to_owned)
            };
            Ok(NodeAnswer {
                what: format!("{} {} at {url}", self.method, self.path),
                status: response.status().as_u16(),
                etag: header("etag"),
                location: header("location"),
                retry_after: header("retry-after"),
                body: response.body_mut().read_to_vec()?,
            })
        });
        match answer {
            Ok(answer) => Some(answer),
            Err(ureq::Error::Timeout(_)) => panic!("{self:?}: no answer of {url} in time"),
            Err(_) => None,
        }
    }

    /// The response as it comes.
    pub fn run(
        &self,
        agent: &Agent,
        url: &str,
        headers: &[(&str, &str)],
    ) -> Result<Response<Body>, ureq::Error> {
        let mut request = ureq::http::Request::builder()
            .method(self.method)
            .uri(format!("{url}{}", self.path));
        for &(name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        if let Some(key) = &self.key {
            request = request.header("Idempotency-Key", key);
        }
        match &self.body {
            Value::Null => agent.run(request.body(())?),
            body => {
                let request = request.header("Content-Type", "application/json");
                agent.run(request.body(body.to_string())?)
            }
        }
    }
}

/// A complete answer of a node.
#[derive(Clone, Debug)]
pub struct NodeAnswer {
    what: String,
    pub status: u16,
    pub etag: Option<String>,
    pub location: Option<String>,
    pub retry_after: Option<String>,
    pub body: Vec<u8>,
}

impl NodeAnswer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body of an answer that must have this status.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}: {}", self.what, self.text());
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Asserts that this is a refusal with this code.
    #[track_caller]
    pub fn refused(&self, code: &str) {
        let problem: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        assert_eq!(problem["code"], code, "{}: {}", self.what, self.text());
    }

    /// Whether the store is unavailable. Then the answer must say when to try again; and it must not
    /// be any other failure of the server.
    #[track_caller]
    pub fn is_unavailable(&self) -> bool {
        let NodeAnswer { what, status, .. } = self;
        if *status == 503 {
            self.refused("unavailable");
            assert!(self.retry_after.is_some(), "{what}: {}", self.text());
        } else {
            assert!(*status < 500, "{what}: {status} {}", self.text());
        }
        *status == 503
    }

    /// The parts that the answer to a repeated request has, too.
    pub fn repeated_parts(&self) -> (u16, Option<&str>, Option<&str>, String) {
        let (etag, location) = (self.etag.as_deref(), self.location.as_deref());
        (self.status, etag, location, self.text())
    }
}
