//! The OpenAPI document and the page that shows it.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use serde_json::{Value, json};

use crate::support::{Contract, TestGame, TestServer, TestViewer::*, document};

/// Every operation: its path, method and what the document says of it.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for method in ["get", "post", "put", "patch", "delete"] {
            if let Some(operation) = item.get(method) {
                operations.push((path.as_str(), method, operation));
            }
        }
    }
    operations
}

#[test]
fn the_served_the_printed_and_the_kept_document_are_one() {
    let server = TestServer::shared();
    let served = server.get("/openapi.json").send();
    assert_eq!(served.header("content-type"), Some("application/json"));
    let printed = Command::new(env!("CARGO_BIN_EXE_dog"))
        .arg("openapi")
        .output();
    let printed = printed.expect("the dog binary");
    assert!(printed.status.success());
    let kept = document();
    let said = String::from_utf8(printed.stdout).expect("a text");
    let built_before = "built before openapi/openapi.json";
    assert!(said == format!("{kept:#}\n"), "{built_before}");
    assert_eq!(served.json(), kept);
    let etag = served.header("etag").expect("an ETag");
    let again = server.get("/openapi.json").header("If-None-Match", etag);
    assert_eq!(again.send().status, 304);
    let version = kept["openapi"].as_str().expect("a version");
    assert!(version.starts_with("3.1."), "{version}");
}

#[test]
fn operations_have_names_summaries_and_tags() {
    let document = document();
    let tags = document["tags"].as_array().expect("tags");
    let tags: Vec<&Value> = tags.iter().map(|tag| &tag["name"]).collect();
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        let what = format!("{method} {path}");
        let id = operation["operationId"].as_str().unwrap_or_default();
        let lower = |word: &str| !word.is_empty() && word.bytes().all(|c| c.is_ascii_lowercase());
        assert!(
            id.contains('_') && id.split('_').all(lower),
            "{what}: {id:?} is not a verb_noun"
        );
        assert!(ids.insert(id), "{what}: another operation is {id}, too");
        let summary = operation["summary"].as_str().unwrap_or_default();
        let words = summary.split_whitespace().count();
        let is_short = (1..=10).contains(&words) && !summary.contains('\n');
        assert!(is_short && !summary.ends_with('.'), "{what}: {summary:?}");
        let own = operation["tags"].as_array().expect("tags");
        let are_known = own.iter().all(|tag| tags.contains(&tag));
        assert!(!own.is_empty() && are_known, "{what}: {own:?}");
    }
}

#[test]
fn operations_list_all_their_errors() {
    let document = document();
    for (path, method, operation) in operations(&document) {
        let responses = operation["responses"].as_object().expect("responses");
        let succeeds = responses.keys().any(|status| status.starts_with('2'));
        assert!(succeeds, "{method} {path}");
        if !path.starts_with("/v1") {
            continue;
        }
        let mut expected = vec!["500"];
        if path.contains("{id}") {
            expected.extend(["404", "503"]);
            // A person who joins has no token yet, and anyone reads a match.
            let needs_none = ["/join", "/matches/{id}"]
                .iter()
                .any(|end| path.ends_with(end));
            expected.extend((!needs_none).then_some("401"));
        }
        if !operation["requestBody"].is_null() {
            expected.extend(["400", "413", "415", "422"]);
        }
        let guarded = ["/deal", "/swap", "/play", "/forfeit", "/token"];
        if guarded.iter().any(|rest| path.ends_with(rest)) || method == "delete" {
            expected.extend(["403", "412"]);
        }
        for status in expected {
            assert!(responses.contains_key(status), "{method} {path}: {status}");
        }
        for (status, response) in responses {
            let response = resolve(&document, response);
            let what = format!("{method} {path} {status}");
            let description = response["description"].as_str().unwrap_or_default();
            assert!(!description.is_empty(), "{what} is not described");
            if status.starts_with(['4', '5']) {
                let types = response["content"].as_object().expect("a content").keys();
                assert!(types.eq(["application/problem+json"]), "{what}");
            }
        }
    }
}

#[test]
fn operations_that_need_a_token_say_so() {
    let document = document();
    let schemes = document["components"]["securitySchemes"]
        .as_object()
        .expect("schemes");
    let bearer = schemes
        .iter()
        .find(|(_, scheme)| scheme["scheme"] == "bearer");
    let (name, scheme) = bearer.expect("a bearer scheme");
    assert_eq!(scheme["type"], "http");
    // Routes that a spectator may read, too.
    let open = "{id} /events /history /board.svg /presence /rematch /review /review.svg";
    for (path, method, operation) in operations(&document) {
        let security = operation.get("security").or(document.get("security"));
        let security = security
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let is_named = security.iter().any(|entry| entry.get(name).is_some());
        let is_optional = security.is_empty() || security.contains(&json!({}));
        let is_read = method == "get" && open.split(' ').any(|end| path.ends_with(end));
        let is_free = ["/join", "/review"].iter().any(|end| path.ends_with(end));
        let is_needed = path.contains("{id}") && !is_read && !is_free;
        assert_eq!(
            is_named && !is_optional,
            is_needed,
            "{method} {path}: {security:?}"
        );
    }
}

#[test]
fn wrong_examples_are_found() {
    let schemas = json!({
        "Card": {"type": "string", "enum": ["7"]},
        "Play": {"type": "object", "properties": {
            "card": {"$ref": "#/components/schemas/Card"},
            "at": {"type": "string", "format": "date-time"},
        }},
    });
    let find = |example: Value| {
        let media = json!({"schema": {"$ref": "#/components/schemas/Play"}, "example": example});
        let responses = json!({"200": {"content": {"application/json": media}}});
        let document = json!({
            "paths": {"/plays/{id}": {"get": {"responses": responses}}},
            "components": {"schemas": schemas},
        });
        let (errors, count) = Contract::new(document).check_examples();
        assert_eq!(count, 1);
        errors.len()
    };
    assert_eq!(find(json!({"card": "7", "at": "2026-11-27T20:00:00Z"})), 0);
    for wrong in [
        json!({"card": "8"}),
        json!({"at": "yesterday"}),
        json!({"seat": 1}),
    ] {
        assert_eq!(find(wrong.clone()), 1, "{wrong}");
    }
}

#[test]
fn every_request_response_and_error_has_a_valid_example() {
    TestServer::shared();
    let contract = Contract::get();
    let (errors, count) = contract.check_examples();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    assert!(count > 100, "{count} examples");
    let document = &contract.document;
    for (path, method, operation) in operations(document) {
        let what = format!("{method} {path}");
        let content = &operation["requestBody"]["content"];
        for (media_type, media) in content.as_object().into_iter().flatten() {
            let schema = resolve(document, &media["schema"]);
            let there = has_example(media) || has_example(schema) || media_type == "text/plain";
            assert!(there, "{what} {media_type}");
        }
        let responses = operation["responses"].as_object().expect("responses");
        for (status, response) in responses {
            let response = resolve(document, response);
            let content = response["content"].as_object().into_iter().flatten();
            for (media_type, media) in content {
                let schema = resolve(document, &media["schema"]);
                let there = has_example(media) || has_example(schema);
                assert!(there, "{what} {status} {media_type}");
                if status.starts_with(['4', '5']) {
                    check_error_examples(status, response, media);
                }
            }
        }
    }
}

/// Each error of a response has an example, under its code.
fn check_error_examples(status: &str, response: &Value, media: &Value) {
    let examples = media["examples"].as_object().expect("examples");
    let description = response["description"].as_str().expect("a description");
    let described: BTreeSet<&str> = description
        .lines()
        .filter_map(|line| line.split('`').nth(1))
        .collect();
    let with_example: BTreeSet<&str> = examples.keys().map(String::as_str).collect();
    assert_eq!(described, with_example, "{status}");
    for (code, example) in examples {
        let problem = &example["value"];
        assert_eq!(problem["code"], *code);
        assert_eq!(problem["type"], format!("/docs/guide/errors#{code}"));
        assert_eq!(problem["status"].to_string(), status);
    }
}

fn has_example(holder: &Value) -> bool {
    holder.get("example").or(holder.get("examples")).is_some()
}

/// Follows a reference, if this is one.
fn resolve<'v>(document: &'v Value, value: &'v Value) -> &'v Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(&reference[1..]).expect("a target"),
        None => value,
    }
}

#[test]
fn what_try_it_out_sends_is_accepted() {
    let server = TestServer::shared();
    let document = document();
    let body = |path: &str| {
        let content = &document["paths"][path]["post"]["requestBody"]["content"];
        let media = &content["application/json"];
        let first = media["examples"]
            .as_object()
            .and_then(|all| all.values().next());
        let own = first.map(|example| &example["value"]);
        own.unwrap_or_else(|| &resolve(&document, &media["schema"])["example"])
    };
    for path in ["deal", "events/ticket", "seats/{seat}/token"] {
        let body = body(&format!("/v1/games/{{id}}/{path}"));
        assert_eq!(*body, json!({}), "{path}");
    }
    for path in ["swap", "play", "forfeit"] {
        let body = body(&format!("/v1/games/{{id}}/{path}"));
        assert!(body.is_object() && body.get("version").is_none(), "{body}");
    }
    server.create(body("/v1/games")).expect(201);
    for path in ["/v1/analysis/legal-moves", "/v1/analysis/suggest-move"] {
        server.post(path).json(body(path)).send().expect(200);
    }
    // A parameter with an example is sent with it.
    for (path, method, operation) in operations(&document) {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        for parameter in parameters {
            let what = format!("{method} {path}: {parameter}");
            // Swagger UI does not look at `examples` of a schema.
            let prefilled = has_example(parameter) || parameter["schema"].get("example").is_some();
            assert_eq!(prefilled, parameter["required"] == true, "{what}");
        }
    }
}

#[test]
fn tools_that_fill_in_all_headers_change_nothing_by_it() {
    let server = TestServer::shared();
    let document = document();
    let mut examples = BTreeMap::new();
    for (path, method, operation) in operations(&document) {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            if parameter["in"] == "header" {
                let example = parameter["schema"]["examples"][0].as_str();
                let example = example.unwrap_or_else(|| panic!("{method} {path}: {parameter}"));
                examples.insert(parameter["name"].as_str().expect("a name"), example);
            }
        }
    }
    assert_eq!(examples.remove("Idempotency-Key"), Some("{{$guid}}")); // Postman puts a new one
    assert_eq!(examples.len(), 3, "{examples:?}");
    let game = TestGame::fixed(&server);
    for (method, path, name) in [("GET", "", "If-None-Match"), ("POST", "/deal", "If-Match")] {
        let request = game.request(method, Host, path);
        request.header(name, examples[name]).send().expect(200);
    }
    let resumed = game.events_after(
        Spectator,
        examples["Last-Event-ID"].parse().expect("a version"),
    );
    assert_eq!(resumed.next().expect("a change").data["version"], 1);
    // Others take the first server.
    assert_eq!(document["servers"][0]["url"], "http://127.0.0.1:8080");
    let script = server.get("/docs/swagger-initializer.js").send().text();
    assert!(script.contains("setSelectedServer(\"/\")"), "{script}");
    assert_eq!(document["servers"][1]["url"], "/");
}

#[test]
fn refusals_name_the_headers_that_say_what_to_do() {
    let document = document();
    let mut count = 0;
    for (path, method, operation) in operations(&document) {
        for (status, response) in operation["responses"].as_object().expect("responses") {
            let header = match status.as_str() {
                "401" => "WWW-Authenticate",
                "429" | "503" => "Retry-After",
                _ => continue,
            };
            let described = &resolve(&document, response)["headers"][header];
            assert!(
                described.is_object(),
                "{method} {path} {status}: no {header}"
            );
            count += 1;
        }
    }
    assert!(count > 100, "{count} refusals");
}

/// What is told twice in the examples is told alike, and what the guides say of such answers holds.
#[test]
fn examples_are_of_a_game_that_was_played() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    for (path, kind) in [
        ("deal", "cards_dealt"),
        ("swap", "cards_swapped"),
        ("play", "card_played"),
    ] {
        let operation = &document["paths"][format!("/v1/games/{{id}}/{path}")]["post"];
        let media = &operation["responses"]["200"]["content"]["application/json"];
        let own = media.get("example");
        let changed = own.unwrap_or(&resolve(&document, &media["schema"])["example"]);
        let events = changed["events"].as_array().expect("events");
        assert!(events.iter().any(|event| event["type"] == kind), "{path}");
        assert!(events.contains(&changed["game"]["last_action"]), "{path}");
    }
    for (name, schema) in schemas.as_object().expect("schemas") {
        let example = &schema["example"];
        let game = if example["type"] == "game" {
            example
        } else {
            &example["game"]
        };
        if !game.is_object() {
            continue;
        }
        if example["events"].is_array() {
            assert_eq!(example["version"], game["version"], "{name}");
        }
        let seats = game["seats"].as_array().expect("seats");
        let held: u64 = seats
            .iter()
            .map(|seat| seat["cards"].as_u64().expect("a number"))
            .sum();
        let discards = game["discards"].as_object().expect("cards").values();
        let discarded: u64 = discards
            .map(|count| count.as_u64().expect("a number"))
            .sum();
        let deck = 104 + game["rules"]["jokers"].as_u64().expect("a number");
        assert_eq!(
            game["stock"].as_u64(),
            Some(deck - held - discarded),
            "{name}"
        );
        for seat in seats.iter().filter(|seat| seat["hand"].is_array()) {
            let hand = seat["hand"].as_array().map(Vec::len);
            assert_eq!(
                hand.map(|cards| cards as u64),
                seat["cards"].as_u64(),
                "{name}"
            );
        }
    }
    let best = &schemas["Advice"]["example"]["suggestions"][0];
    assert_ne!(best["reasons"][0]["code"], "no_better");
    assert_eq!(
        best["move"]["id"],
        schemas["PlayRequest"]["example"]["move"]
    );
    let review = &schemas["Review"]["example"];
    let done = review["progress"].as_f64() == Some(1.0);
    assert_eq!(done, review["status"] == "done", "{review}");
}

#[test]
fn what_a_response_may_leave_out_is_never_null() {
    let document = document();
    let schemas = document["components"]["schemas"]
        .as_object()
        .expect("schemas");
    for (name, schema) in schemas {
        // Requests name all their fields. There, null is as good as nothing.
        if schema["additionalProperties"] == false {
            continue;
        }
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            let types = property["type"].as_array().into_iter().flatten();
            let members = property["oneOf"].as_array().into_iter().flatten();
            let null = types.into_iter().any(|kind| kind == "null")
                || members.into_iter().any(|member| member["type"] == "null");
            assert!(!null || required.contains(&json!(field)), "{name}.{field}");
        }
    }
}

#[test]
fn descriptions_are_where_tools_look_for_them() {
    fn check(value: &Value) {
        let members = value["oneOf"].as_array().into_iter().flatten();
        for member in members {
            let hidden = member.get("$ref").is_some() && member.get("description").is_some();
            assert!(!hidden, "{value}");
        }
        let entries = value.as_object().into_iter().flatten();
        entries.for_each(|(_, value)| check(value));
        value.as_array().into_iter().flatten().for_each(check);
    }
    check(&document());
}

#[test]
fn the_page_has_the_name_and_icon_of_the_project_and_needs_no_other_host() {
    let server = TestServer::shared();
    let page = server.get("/docs/").send();
    assert_eq!(page.status, 200);
    let content_type = page.header("content-type").unwrap_or_default();
    assert!(content_type.starts_with("text/html"), "{content_type}");
    let html = page.text();
    assert!(html.contains("<title>dog-server"), "{html}");
    assert!(html.contains("href=\"./favicon.svg\""), "{html}");
    let icon = server.get("/docs/favicon.svg").send();
    assert_eq!(icon.header("content-type"), Some("image/svg+xml"));
    let foreign = |text: &str| {
        let starts = ["http://", "https://", "\"//", "'//"];
        starts.iter().any(|start| text.contains(start))
    };
    assert!(!foreign(&html), "{html}");
    let mut parts = 0;
    for attribute in ["src=\"", "href=\""] {
        for rest in html.split(attribute).skip(1) {
            let link = rest.split('"').next().unwrap_or_default();
            let path = format!("/docs/{}", link.trim_start_matches("./"));
            let path = if link.starts_with('/') { link } else { &path };
            let part = server.get(path).send();
            assert!(part.status == 200 && !part.body.is_empty(), "{path}");
            if path.ends_with("initializer.js") {
                let script = part.text();
                assert!(!foreign(&script), "{path}: {script}");
                assert!(script.contains("openapi.json"), "{path}");
                assert!(script.contains("\"validatorUrl\": \"none\""), "{path}");
            }
            parts += 1;
        }
    }
    assert!(parts >= 3, "{html}");
}

#[test]
fn the_page_forbids_frames_and_other_sources() {
    let server = TestServer::shared();
    for file in ["", "index.html", "swagger-ui-bundle.js", "swagger-ui.css"] {
        let response = server.get(&format!("/docs/{file}")).send();
        assert_eq!(response.status, 200, "{file}");
        assert_eq!(
            response.header("x-content-type-options"),
            Some("nosniff"),
            "{file}"
        );
        let policy = response
            .header("content-security-policy")
            .unwrap_or_default();
        for directive in [
            "default-src 'none'",
            "script-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
        ] {
            let mut directives = policy.split(';').map(str::trim);
            assert!(directives.any(|part| part == directive), "{file}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{file}: {policy}");
    }
    // Nothing in the page violates the policy.
    let html = server.get("/docs/").send().text();
    assert!(!html.contains("<style") && !html.contains("style=") && !html.contains(" onload="));
    for script in html.split("<script").skip(1) {
        let (attributes, rest) = script.split_once('>').expect("a tag");
        assert!(attributes.contains("src=") && rest.trim_start().starts_with("</script>"));
    }
}

/// Calls the function with every object of a document, and where it is; examples are left out.
fn each_object(value: &Value, place: &str, check: &mut impl FnMut(&Value, &str)) {
    match value {
        Value::Object(entries) => {
            check(value, place);
            for (name, entry) in entries {
                if !["example", "examples"].contains(&name.as_str()) {
                    each_object(entry, &format!("{place}/{name}"), check);
                }
            }
        }
        Value::Array(entries) => {
            for (index, entry) in entries.iter().enumerate() {
                each_object(entry, &format!("{place}/{index}"), check);
            }
        }
        _ => {}
    }
}

#[test]
fn the_document_has_what_generators_need() {
    let document = document();
    let (mut integers, mut unions) = (0, 0);
    each_object(&document, "", &mut |object, place| {
        let types = &object["type"];
        let is_in_list = types
            .as_array()
            .is_some_and(|all| all.contains(&json!("integer")));
        if *types == "integer" || is_in_list {
            let max = object["maximum"].as_u64().expect(place);
            match object["format"].as_str() {
                Some("int32") => assert!(max <= i32::MAX as u64, "{place}"),
                Some("int64") => assert!(max < 1 << 53, "{place}"),
                other => panic!("{place}: {other:?}"),
            }
            integers += 1;
        }
        if let Some(reference) = object["$ref"].as_str() {
            assert!(
                document.pointer(&reference[1..]).is_some(),
                "{place}: {reference}"
            );
        }
        // A union that is more than "or null" has a member that tells its schemas apart.
        if let Some(members) = object["oneOf"].as_array()
            && members.iter().all(|member| member["type"] != "null")
        {
            let discriminator = &object["discriminator"];
            let tag = discriminator["propertyName"].as_str().expect(place);
            let mapping = discriminator["mapping"].as_object().expect(place);
            assert_eq!(mapping.len(), members.len(), "{place}");
            for (value, reference) in mapping {
                let what = format!("{place}: {value}");
                assert!(members.contains(&json!({"$ref": reference})), "{what}");
                let pointer = &reference.as_str().expect("a reference")[1..];
                let schema = document.pointer(pointer).expect("a schema");
                assert_eq!(schema["properties"][tag]["const"], *value, "{what}");
                let required = schema["required"].as_array().expect("a list");
                assert!(required.contains(&json!(tag)), "{what}");
            }
            unions += 1;
        }
        // Generators refuse a link with a body.
        let is_link = place.contains("/links/");
        assert!(!is_link || object.get("requestBody").is_none(), "{place}");
        if place.starts_with("/paths") && object["in"] == "header" {
            let pattern = &object["schema"]["pattern"];
            assert!(pattern.is_string(), "{place}: a header without a pattern");
        }
    });
    assert!(
        integers > 100 && unions > 3,
        "{integers} integers, {unions} unions"
    );
}

#[test]
fn the_document_links_to_the_guides() {
    let server = TestServer::shared();
    let document = document();
    let tags = document["tags"].as_array().expect("tags").iter();
    let texts = tags.chain([&document["info"]]);
    let texts = texts.map(|holder| holder["description"].as_str().expect("a text"));
    let mut links = 0;
    for link in texts.flat_map(|text| text.split("](").skip(1)) {
        let link = link.split(')').next().expect("a link");
        assert_eq!(server.get(link).send().status, 200, "{link}");
        links += 1;
    }
    assert!(links > 5, "{links} links");
}

#[test]
fn links_lead_to_operations_that_take_what_they_bring() {
    let document = document();
    let operations = operations(&document);
    let mut count = 0;
    for (path, method, operation) in &operations {
        let responses = operation["responses"].as_object().expect("responses");
        let links = responses
            .values()
            .filter_map(|response| response["links"].as_object());
        let links: Vec<_> = links.flatten().collect();
        assert!(links.len() <= 3, "{method} {path}: {} links", links.len());
        for (name, link) in links {
            let what = format!("{method} {path}: {name}");
            let mut targets = operations.iter().map(|(.., target)| target);
            let target = targets.find(|target| target["operationId"] == link["operationId"]);
            let given = link["parameters"].as_object().expect("parameters");
            let taken = target.expect(&what)["parameters"]
                .as_array()
                .expect("parameters");
            for name in given.keys() {
                assert!(
                    taken.iter().any(|taken| taken["name"] == *name),
                    "{what}: {name}"
                );
            }
            for taken in taken.iter().filter(|taken| taken["in"] == "path") {
                let name = taken["name"].as_str().expect("a name");
                assert!(given.contains_key(name), "{what}: {name}");
            }
            count += 1;
        }
    }
    assert!(count > 10, "{count} links");
}
