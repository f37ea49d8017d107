//! An HTTP client that accepts every status and checks each response against the contract.

use serde_json::Value;
use ureq::http::HeaderMap;

use super::{Contract, TestServer};

/// The problem codes of each status.
const PROBLEMS: &[(u16, &str)] = &[
    (400, "malformed_json bad_request invalid_idempotency_key"),
    (401, "unauthorized token_replaced"),
    (
        403,
        "forbidden wrong_invitation invitation_needed origin_not_allowed key_required blocked \
         match_running",
    ),
    (404, "route_not_found game_not_found review_not_found"),
    (
        404,
        "seat_not_found no_rematch match_not_found puzzle_not_found",
    ),
    (405, "method_not_allowed"),
    (406, "not_acceptable"),
    (408, "request_timeout"),
    (409, "game_over wrong_phase not_your_turn game_not_over"),
    (409, "no_open_seat seat_taken seats_open no_human"),
    (409, "too_many_versions"),
    (412, "stale_version"),
    (413, "body_too_large"),
    (414, "uri_too_long"),
    (415, "unsupported_media_type"),
    (422, "illegal_move illegal_exchange unknown_card"),
    (422, "card_not_in_hand invalid_rules invalid_board"),
    (422, "invalid_hand invalid_knowledge finished_position"),
    (422, "invalid_seed invalid_record invalid_request"),
    (422, "idempotency_key_reused weak_idempotency_key"),
    (429, "too_many_requests too_many_changes too_many_streams"),
    (431, "headers_too_large"),
    (500, "internal"),
    (503, "unavailable"),
    (507, "database_full"),
];

/// The status of a problem code.
pub fn status_of(code: &str) -> u16 {
    let has_code = |(_, codes): &&(u16, &str)| codes.split(' ').any(|other| other == code);
    let known = PROBLEMS.iter().find(has_code);
    known.unwrap_or_else(|| panic!("no such code: {code}")).0
}

/// A request that is being built.
#[derive(Clone)]
pub struct TestRequest<'a> {
    pub server: &'a TestServer,
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
}

impl<'a> TestRequest<'a> {
    pub fn new(server: &'a TestServer, method: &str, path: &str) -> TestRequest<'a> {
        TestRequest {
            server,
            method: method.to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// The same to another server.
    pub fn at(self, server: &'a TestServer) -> Self {
        Self { server, ..self }
    }

    /// Sets a header and replaces one of the same name.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers
            .retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The value of a header.
    pub fn sent(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(other, _)| other == name);
        header.map(|(_, value)| value.as_str())
    }

    pub fn token(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub fn if_match(self, tag: &str) -> Self {
        self.header("If-Match", tag)
    }

    pub fn key(self, key: &str) -> Self {
        self.header("Idempotency-Key", key)
    }

    pub fn json(self, body: &Value) -> Self {
        self.text("application/json", &body.to_string())
    }

    /// A body of any kind.
    pub fn text(mut self, content_type: &str, body: &str) -> Self {
        self.body = Some(body.as_bytes().to_vec());
        self.header("Content-Type", content_type)
    }

    pub fn bytes(mut self, content_type: &str, body: &[u8]) -> Self {
        self.body = Some(body.to_vec());
        self.header("Content-Type", content_type)
    }

    /// The request, for messages.
    pub fn what(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The raw response, unchecked.
    #[track_caller]
    pub fn run(&self) -> ureq::http::Response<ureq::Body> {
        self.attempt()
            .unwrap_or_else(|error| panic!("{}: {error}", self.what()))
    }

    /// The response, unchecked, or an error if the server is killed first.
    #[track_caller]
    pub fn attempt(&self) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
        let mut builder = ureq::http::Request::builder()
            .method(self.method.as_str())
            .uri(self.server.url() + self.path.as_str());
        for (name, value) in &self.headers {
            builder = builder.header(name, value);
        }
        let agent = self.server.agent();
        let sent = match self.body.clone() {
            Some(body) => builder.body(body).map(|request| agent.run(request)),
            None => builder.body(()).map(|request| agent.run(request)),
        };
        sent.unwrap_or_else(|error| panic!("{} is not a request: {error}", self.what()))
    }

    /// The response, checked against the contract, or an error if the server is killed before it
    /// is complete.
    #[track_caller]
    fn complete(&self) -> Result<TestResponse, ureq::Error> {
        let mut received = self.attempt()?;
        let body = received.body_mut().with_config().limit(64 << 20);
        let response = TestResponse {
            what: self.what(),
            body: body.read_to_vec()?,
            status: received.status().as_u16(),
            headers: received.headers().clone(),
        };
        Contract::get().check(self, &response);
        Ok(response.without_request_id())
    }

    /// The response; `None` if the server is killed before it is complete.
    ///
    /// # Panics
    /// If it does not come in time.
    #[track_caller]
    pub fn try_send(&self) -> Option<TestResponse> {
        match self.complete() {
            Err(error @ ureq::Error::Timeout(_)) => panic!("{}: {error}", self.what()),
            response => response.ok(),
        }
    }

    #[track_caller]
    pub fn send(self) -> TestResponse {
        self.complete()
            .unwrap_or_else(|error| panic!("{}: {error}", self.what()))
    }
}

/// A complete response.
#[derive(Clone, Debug)]
pub struct TestResponse {
    /// The request, for messages.
    pub what: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl TestResponse {
    /// Without the id of the request in a problem document, in which alone two may differ.
    #[track_caller]
    fn without_request_id(mut self) -> TestResponse {
        let Some(id) = self.header("x-request-id").map(str::to_owned) else {
            return self;
        };
        let kind = self.header("content-type").unwrap_or_default();
        if kind.starts_with("application/problem") && !self.body.is_empty() {
            let member = format!(",\"request_id\":\"{id}\"");
            let text = String::from_utf8_lossy(&self.body).into_owned();
            assert!(text.contains(&member), "{text} has not the id {id}");
            self.body = text.replacen(&member, "", 1).into_bytes();
        }
        self
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let value = self.headers.get(name)?.to_str();
        Some(value.unwrap_or_else(|_| panic!("{}: {name} is not plain text", self.what)))
    }

    /// The lower-case comma-separated entries of a header.
    pub fn list(&self, name: &str) -> Vec<String> {
        let values = self.headers.get_all(name).iter();
        let text: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
        text.join(",")
            .split(',')
            .map(|entry| entry.trim().to_ascii_lowercase())
            .filter(|entry| !entry.is_empty())
            .collect()
    }

    /// The body, decoded if its transfer is chunked.
    pub fn unchunked(&self) -> Vec<u8> {
        if self.header("transfer-encoding") != Some("chunked") {
            return self.body.clone();
        }
        let (mut whole, mut rest) = (Vec::new(), self.body.as_slice());
        loop {
            let end = rest.windows(2).position(|window| window == b"\r\n");
            let end = end.expect("a chunk begins with its length");
            let length = String::from_utf8_lossy(&rest[..end]).into_owned();
            let length = usize::from_str_radix(&length, 16).expect("a hexadecimal length");
            if length == 0 {
                return whole;
            }
            whole.extend_from_slice(&rest[end + 2..][..length]);
            rest = &rest[end + 2 + length + 2..];
        }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.what, self.text()))
    }

    /// The body of a response that must have this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}: {}", self.what, self.text());
        if self.body.is_empty() {
            Value::Null
        } else {
            self.json()
        }
    }

    /// Asserts that this is the response to the same request with the same key.
    #[track_caller]
    pub fn assert_repeats(&self, first: &TestResponse) {
        assert_eq!(self.status, first.status, "{}", self.what);
        for name in ["content-type", "etag", "location"] {
            assert_eq!(self.header(name), first.header(name), "{}", self.what);
        }
        assert_eq!(self.body, first.body, "{}", self.what);
    }

    /// The problem document of a response that must be a refusal with this code.
    #[track_caller]
    pub fn refused(self, code: &str) -> Value {
        self.refused_one_of(&[code])
    }

    /// The same where more than one code is possible.
    #[track_caller]
    pub fn refused_one_of(self, codes: &[&str]) -> Value {
        let got = format!("{} {}", self.status, self.text());
        let what = format!("{}: expected {codes:?}, got {got}", self.what);
        let problem = serde_json::from_slice::<Value>(&self.body).unwrap_or_default();
        let code = problem["code"].as_str().unwrap_or_default();
        assert!(codes.contains(&code), "{what}");
        assert_eq!(self.status, status_of(code), "{what}");
        self.check_problem();
        problem
    }

    /// Checks the problem document by RFC 9457 and convention 1.
    #[track_caller]
    pub fn check_problem(&self) {
        let what = format!("{}: {} {}", self.what, self.status, self.text());
        let content_type = self.header("content-type");
        assert_eq!(content_type, Some("application/problem+json"), "{what}");
        let problem = self.json();
        for name in ["type", "title", "detail", "code"] {
            let text = problem[name].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{name} is missing: {what}");
        }
        assert_eq!(problem["status"], self.status, "{what}");
        let code = problem["code"].as_str().unwrap_or_default();
        assert_eq!(status_of(code), self.status, "{what}");
        match self.status {
            401 => {
                let scheme = self.header("www-authenticate").unwrap_or_default();
                assert!(scheme.starts_with("Bearer"), "{what}");
            }
            405 => assert!(self.headers.contains_key("allow"), "{what}"),
            429 | 503 => assert!(self.headers.contains_key("retry-after"), "{what}"),
            _ => {}
        }
        if code == "too_many_requests" {
            let wait = self.header("retry-after").unwrap_or_default();
            let limit = self.header("ratelimit").unwrap_or_default();
            let nothing_left = format!("\";r=0;t={wait}");
            assert!(limit.ends_with(&nothing_left), "{limit}: {what}");
        }
    }
}
