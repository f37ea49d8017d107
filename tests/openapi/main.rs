//! Makes the OpenAPI document and the page of errors from the routes and the table of errors, and
//! compares them with the files that the server sends.

mod errors;
mod schemas;

use std::{collections::BTreeMap, fs, mem, path::Path};

use dog_server::{openapi::describe, problem::ProblemDetails};
use serde_json::{Map, Value, json};
use utoipa::OpenApi;

/// The generated files, and what is to be in them.
fn files() -> [(&'static str, String); 2] {
    [
        ("openapi/openapi.json", document()),
        ("docs/errors.md", errors::page()),
    ]
}

#[test]
fn the_files_are_up_to_date() {
    for (file, text) in files() {
        let kept = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
        let stale = "is out of date: cargo test --test openapi -- --ignored";
        assert!(kept.expect(file) == text, "{file} {stale}");
    }
}

#[test]
#[ignore = "writes the files"]
fn write_the_files() {
    for (file, text) in files() {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(file), text).expect(file);
    }
}

/// The document before the routes are in it, with version and licence. Tools need an absolute
/// address, and take the first one: where the README starts a server.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "dog-server",
        description = include_str!("description.md"),
        contact(name = "dog-server")
    ),
    external_docs(url = "http://127.0.0.1:8080/docs/guide/", description = "The guides."),
    servers(
        (url = "http://127.0.0.1:8080", description = "A server on this machine."),
        (url = "/", description = "The server that this document comes from.")
    ),
    tags(
        (name = "games", description = "Create, list, read and remove games, and change their \
            settings. Guide: [clients](/docs/guide/clients)."),
        (name = "seats", description = "Join a game, leave it, come back, and play again with the \
            same people. Guide: [tables](/docs/guide/tables)."),
        (name = "matches", description = "The same cards at two tables, with the sides changed. Guide: \
            [matches](/docs/guide/matches)."),
        (name = "play", description = "Deal, swap, list moves, play, and ask for advice. Guide: \
            [writing a bot](/docs/guide/writing-a-bot)."),
        (name = "analysis", description = "Moves and advice for any position; nothing is stored. \
            Guide: [pictures](/docs/guide/picture)."),
        (name = "puzzles", description = "The position of the day: one try, then what was best and why. \
            Guide: [puzzles](/docs/guide/puzzles)."),
        (name = "rules", description = "The rule sheets and their options. Guide: \
            [rules](/docs/guide/rules)."),
        (name = "server", description = "The state of the server, its metrics and its \
            documentation.")
    ),
    components(schemas(ProblemDetails))
)]
struct Document;

/// The OpenAPI document.
fn document() -> String {
    let mut document = Document::openapi();
    describe(&mut document);
    let mut document = json!(document);
    document["components"]["securitySchemes"] = json!({
        "dog_token": {
            "type": "apiKey",
            "in": "header",
            "name": "Dog-Token",
            "description": "The same token, for clients behind a login that needs `Authorization`.",
        },
        "key": {
            "type": "apiKey",
            "in": "header",
            "name": "Dog-Key",
            "description": "A key of those who may create games, where the operator asks for one.",
        },
        "token": {"type": "http", "scheme": "bearer"},
    });
    schemas::complete(&mut document);
    // Answers of a game that was played once. A test checks that they fit their schemas.
    let examples = include_str!("examples.json");
    let mut examples: Map<String, Value> = serde_json::from_str(examples).expect("a JSON object");
    let mut created = examples["Created"].clone();
    if let Some(members) = created.as_object_mut()
        && let Some(mut game) = members.remove("game")
    {
        let commitment = game["shuffle_commitment"].take();
        members.insert("shuffle_commitment".to_owned(), commitment);
    }
    let right = json!({"status": 200, "advice": examples["Advice"]});
    let wrong = json!({"status": 422, "problem": examples["ProblemDetails"]});
    let found = examples["Advice"]["suggestions"].clone();
    let lists = [
        ("CreatedGames", json!({"games": [created]})),
        ("AnswerList", json!({"answers": [right, wrong]})),
        (
            "PuzzleResult",
            json!({"right": false, "suggestions": found}),
        ),
    ];
    examples.extend(lists.map(|(name, example)| (name.to_owned(), example)));
    let schemas = document["components"]["schemas"].clone();
    for operation in operations(&mut document) {
        // They are the entries of menus. In the code they are sentences.
        if let Some(Value::String(summary)) = operation.get_mut("summary") {
            summary.truncate(summary.trim_end_matches('.').len());
        }
        // Says that no token is needed, where the routes name none.
        match operation.get_mut("security").and_then(Value::as_array_mut) {
            Some(schemes) if schemes.contains(&json!({"token": []})) => {
                schemes.push(json!({"dog_token": []}));
            }
            Some(_) => {}
            None => operation["security"] = json!([]),
        }
        let parameters = operation
            .get_mut("parameters")
            .and_then(Value::as_array_mut);
        for parameter in parameters.into_iter().flatten() {
            for (name, example) in HEADERS {
                if parameter["name"] == name {
                    parameter["schema"]["type"] = json!("string");
                    parameter["schema"]["examples"] = json!([example]);
                }
            }
        }
        let responses = operation["responses"].as_object_mut().into_iter();
        responses
            .flat_map(Map::values_mut)
            .for_each(errors::complete);
        // Of schemas that answers share, those of a deal and of a swap have examples of their own.
        let id = operation["operationId"].as_str().unwrap_or_default();
        if let Some(example) = examples.remove(id) {
            operation["responses"]["200"]["content"]["application/json"]["example"] = example;
        }
        let reference = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let name = reference.as_str().and_then(|to| to.rsplit('/').next());
        if name.is_some_and(|name| may_be_empty(&schemas[name])) {
            operation["requestBody"]["required"] = json!(false);
        }
    }
    for (name, example) in examples {
        document["components"]["schemas"][name]["example"] = example;
    }
    share_errors(&mut document);
    format!("{document:#}\n")
}

/// Headers that may be left out, and what tools may send that fill in all of them: none changes what
/// a request does. Postman makes a key of its own for each request. Swagger UI sends none of these.
const HEADERS: [(&str, &str); 4] = [
    ("Idempotency-Key", "{{$guid}}"),
    ("If-Match", "*"),
    ("If-None-Match", "\"0\""),
    ("Last-Event-ID", "0"),
];

/// Whether a body of this schema may be an empty object, and so may be left out.
fn may_be_empty(schema: &Value) -> bool {
    schema["required"].is_null() && schema["minProperties"].is_null() && schema["oneOf"].is_null()
}

/// The operations of a document.
fn operations(document: &mut Value) -> impl Iterator<Item = &mut Value> {
    let paths = document["paths"].as_object_mut().into_iter();
    let items = paths.flat_map(|paths| paths.values_mut());
    let operations = items.filter_map(Value::as_object_mut);
    operations.flat_map(|item| item.values_mut())
}

/// Makes a component of each error response that several operations have, named after the first of
/// them.
fn share_errors(document: &mut Value) {
    let mut names = BTreeMap::<String, Vec<String>>::new();
    each_error(document, |response, name| {
        names.entry(response.to_string()).or_default().push(name);
    });
    let mut shared = Map::new();
    each_error(document, |response, _| {
        if let [first, _, ..] = &names[&response.to_string()][..] {
            let reference = json!({"$ref": format!("#/components/responses/{first}")});
            shared.insert(first.clone(), mem::replace(response, reference));
        }
    });
    shared.sort_keys();
    document["components"]["responses"] = shared.into();
}

/// Calls the function with each error response, and with a name made of the operation and the
/// status.
fn each_error(document: &mut Value, mut call: impl FnMut(&mut Value, String)) {
    for operation in operations(document) {
        let id = operation["operationId"].as_str().unwrap_or_default();
        let id: String = id.split('_').map(capitalized).collect();
        let responses = operation["responses"].as_object_mut().into_iter().flatten();
        for (status, response) in responses {
            if errors::is_error(response) {
                call(response, format!("{id}{status}"));
            }
        }
    }
}

/// The word with a capital letter.
fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(1.min(word.len()));
    first.to_ascii_uppercase() + rest
}
