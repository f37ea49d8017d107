//! What the table of errors says, in the document and as a page.

use std::sync::LazyLock;

use dog_server::problem::Code;
use serde_json::{Map, Value, json};

/// The media type of errors.
const PROBLEM: &str = "application/problem+json";

/// What typical errors say for people and for programs, by code. The others say no more than their
/// code.
static TYPICAL: LazyLock<Map<String, Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("errors.json")).expect("a JSON object"));

/// Headers that many responses have: what they say, and an example.
const HEADERS: [(&str, &str, &str); 4] = [
    (
        "RateLimit",
        "What is left of it: `r` requests now, and one more in `t` seconds.",
        "\"advice\";r=99;t=1",
    ),
    (
        "RateLimit-Policy",
        "A rate limit: `q` requests at once, and as many again in `w` seconds. Absent if none \
         applies.",
        "\"advice\";q=100;w=10",
    ),
    ("Retry-After", "When to try again, in seconds.", "1"),
    ("WWW-Authenticate", "The scheme.", "Bearer realm=\"dog\""),
];

/// Whether this is the response with an error.
pub fn is_error(response: &Value) -> bool {
    response["content"][PROBLEM].is_object()
}

/// Says of a response what its headers mean, and if its description names codes, what these mean,
/// with an example of each.
pub fn complete(response: &mut Value) {
    let mut headers = response["headers"].as_object().cloned().unwrap_or_default();
    if is_error(response) {
        let names = response["description"].as_str().unwrap_or_default();
        let names: Vec<&str> = names.split(' ').collect();
        let codes = Code::ALL.iter().filter(|code| names.contains(&code.name()));
        let (mut lines, mut examples) = (Vec::new(), Map::new());
        for &code in codes {
            let (name, meaning) = (code.name(), code.meaning());
            lines.push(format!("* `{name}`: {meaning}"));
            let example = json!({"summary": code.title(), "value": example(code)});
            examples.insert(name.to_owned(), example);
            let header = match code.status().as_u16() {
                401 => "WWW-Authenticate",
                429 | 503 => "Retry-After",
                _ => continue,
            };
            headers.insert(header.to_owned(), Value::Null);
        }
        examples.sort_keys();
        headers.sort_keys();
        let schema = json!({"$ref": "#/components/schemas/ProblemDetails"});
        *response = json!({
            "description": lines.join("\n"),
            "headers": headers,
            "content": {PROBLEM: {"schema": schema, "examples": examples}},
        });
    }
    for (name, about, example) in HEADERS {
        if headers.contains_key(name) {
            response["headers"][name] =
                json!({"schema": {"type": "string"}, "description": about, "example": example});
        }
    }
    if let Some(response) = response.as_object_mut().filter(|_| headers.is_empty()) {
        response.shift_remove("headers");
    }
}

/// The problem document of a typical error of this code.
fn example(code: Code) -> Value {
    let mut problem = json!({
        "type": code.type_reference(),
        "title": code.title(),
        "status": code.status().as_u16(),
        "detail": code.meaning(),
        "code": code.name(),
    });
    let members = TYPICAL.get(code.name()).and_then(Value::as_object);
    for (name, value) in members.into_iter().flatten() {
        problem[name] = value.clone();
    }
    problem
}

/// The table as a page in Markdown.
pub fn page() -> String {
    let (mut codes, mut reasons) = (String::new(), String::new());
    for code in Code::ALL {
        let (name, status, meaning) = (code.name(), code.status().as_u16(), code.meaning());
        codes += &format!("| `{name}` | {status} | {meaning} |\n");
        for reason in code.reasons() {
            let (reason, meaning) = (reason.name(), reason.meaning());
            reasons += &format!("| `{name}` | `{reason}` | {meaning} |\n");
        }
    }
    include_str!("errors.txt")
        .replace("{codes}", &codes)
        .replace("{reasons}", &reasons)
}

#[test]
fn examples_give_reasons_of_their_codes() {
    for name in TYPICAL.keys() {
        assert!(Code::ALL.iter().any(|code| code.name() == name), "{name}");
    }
    for &code in Code::ALL {
        let names = code.reasons().iter().map(|reason| reason.name());
        let mut names = names.map(Value::from);
        if let Some(reason) = example(code).get("reason") {
            assert!(names.any(|name| name == *reason), "{code:?}: {reason}");
        }
    }
}
