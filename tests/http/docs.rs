//! The OpenAPI document and the page that shows it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Command,
};

use serde_json::{Value, json};

use crate::support::{Contract, TestServer};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Every operation: its path, method and what the document says of it.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let paths = document["paths"].as_object().expect("paths");
    let mut operations = Vec::new();
    for (path, item) in paths {
        for method in METHODS {
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
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi/openapi.json");
    let kept = fs::read(file).expect("openapi/openapi.json");
    let stale = "openapi/openapi.json is stale: run `cargo run -- openapi > openapi/openapi.json`";
    assert!(printed.stdout == kept, "{stale}");
    let kept: Value = serde_json::from_slice(&kept).expect("JSON");
    assert_eq!(served.json(), kept);
}

#[test]
fn it_is_a_whole_openapi_3_1_document() {
    let server = TestServer::shared();
    let document = server.get("/openapi.json").send().expect(200);
    assert!(
        document["openapi"]
            .as_str()
            .is_some_and(|version| version.starts_with("3.1."))
    );
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    for name in ["title", "description"] {
        assert!(
            document["info"][name]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        );
    }
    let mut references = BTreeSet::new();
    collect_references(&document, &mut references);
    for reference in references {
        let target = reference
            .strip_prefix('#')
            .and_then(|pointer| document.pointer(pointer));
        assert!(target.is_some(), "{reference} leads nowhere");
    }
}

fn collect_references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(entries) => entries
            .iter()
            .for_each(|entry| collect_references(entry, found)),
        Value::Object(entries) => {
            if let Some(reference) = entries.get("$ref").and_then(Value::as_str) {
                found.insert(reference.to_owned());
            }
            entries
                .values()
                .for_each(|entry| collect_references(entry, found));
        }
        _ => {}
    }
}

#[test]
fn every_route_of_the_service_is_described() {
    let server = TestServer::shared();
    let document = server.get("/openapi.json").send().expect(200);
    let described: BTreeSet<String> = operations(&document)
        .into_iter()
        .map(|(path, method, _)| format!("{method} {}", path.replace("{seat}", "{n}")))
        .collect();
    let routes = [
        "get /v1/rules",
        "get /v1/layout",
        "post /v1/games",
        "get /v1/games",
        "get /v1/games/{id}",
        "get /v1/games/{id}/board.svg",
        "delete /v1/games/{id}",
        "post /v1/games/{id}/seats/{n}/token",
        "post /v1/games/{id}/deal",
        "post /v1/games/{id}/swap",
        "get /v1/games/{id}/legal-moves",
        "get /v1/games/{id}/legal-moves/seven",
        "post /v1/games/{id}/play",
        "get /v1/games/{id}/suggest-move",
        "post /v1/analysis/legal-moves",
        "post /v1/analysis/legal-moves/seven",
        "post /v1/analysis/suggest-move",
        "get /v1/analysis/suggest-move",
        "get /v1/analysis/board.svg",
    ];
    for route in routes {
        assert!(described.contains(route), "{route}: {described:?}");
    }
}

#[test]
fn operations_have_names_summaries_and_tags() {
    let server = TestServer::shared();
    let document = server.get("/openapi.json").send().expect(200);
    let tags = document["tags"].as_array().expect("tags");
    let tags: Vec<&Value> = tags.iter().map(|tag| &tag["name"]).collect();
    let mut ids = BTreeMap::new();
    for (path, method, operation) in operations(&document) {
        let what = format!("{method} {path}");
        let id = operation["operationId"].as_str().unwrap_or_default();
        let words: Vec<&str> = id.split('_').collect();
        let lower =
            |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
        assert!(
            words.len() >= 2 && words.iter().all(lower),
            "{what}: {id:?} is no verb_noun"
        );
        if let Some(other) = ids.insert(id, what.clone()) {
            panic!("{what} and {other} are both {id}");
        }
        let summary = operation["summary"].as_str().unwrap_or_default();
        assert!(
            !summary.is_empty() && !summary.contains('\n'),
            "{what}: {summary:?}"
        );
        let own = operation["tags"].as_array().expect("tags");
        assert!(
            !own.is_empty() && own.iter().all(|tag| tags.contains(&tag)),
            "{what}: {own:?}"
        );
    }
}

#[test]
fn operations_list_all_their_errors() {
    let server = TestServer::shared();
    let document = server.get("/openapi.json").send().expect(200);
    for (path, method, operation) in operations(&document) {
        let responses = operation["responses"].as_object().expect("responses");
        let lists =
            |status: &str| assert!(responses.contains_key(status), "{method} {path}: {status}");
        assert!(
            responses.keys().any(|status| status.starts_with('2')),
            "{method} {path}"
        );
        if !path.starts_with("/v1") {
            continue;
        }
        lists("500");
        if path.contains("{id}") {
            for status in ["404", "503"] {
                lists(status);
            }
            // Whoever joins has no token yet.
            assert!(
                responses.contains_key("401") || path.ends_with("/join"),
                "{method} {path}"
            );
        }
        if !operation["requestBody"].is_null() {
            for status in ["400", "413", "415", "422"] {
                lists(status);
            }
        }
        let guarded = ["/deal", "/swap", "/play", "/token"];
        if guarded.iter().any(|rest| path.ends_with(rest)) || method == "delete" {
            for status in ["403", "412"] {
                lists(status);
            }
        }
        for (status, response) in responses {
            let response = match response["$ref"].as_str() {
                Some(reference) => document.pointer(&reference[1..]).expect("a response"),
                None => response,
            };
            let what = format!("{method} {path} {status}");
            let description = response["description"].as_str().unwrap_or_default();
            assert!(!description.is_empty(), "{what} is not described");
            if status.starts_with(['4', '5']) {
                let content = response["content"].as_object().expect("a content");
                let types: Vec<&String> = content.keys().collect();
                assert_eq!(types, ["application/problem+json"], "{what}");
            }
        }
    }
}

#[test]
fn operations_that_need_a_token_say_so() {
    let server = TestServer::shared();
    let document = server.get("/openapi.json").send().expect(200);
    let schemes = document["components"]["securitySchemes"]
        .as_object()
        .expect("schemes");
    let bearer = schemes
        .iter()
        .find(|(_, scheme)| scheme["scheme"] == "bearer");
    let (name, scheme) = bearer.expect("a bearer scheme");
    assert_eq!(scheme["type"], "http");
    for (path, method, operation) in operations(&document) {
        let security = operation.get("security").or(document.get("security"));
        let security = security
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let named = security.iter().any(|entry| entry.get(name).is_some());
        let optional =
            security.is_empty() || security.iter().any(|entry| *entry == serde_json::json!({}));
        // Routes that a spectator may read, too.
        let open = [
            "{id}",
            "/events",
            "/history",
            "/board.svg",
            "/presence",
            "/rematch",
            "/review",
            "/review.svg",
        ];
        let read = method == "get" && open.iter().any(|end| path.ends_with(end));
        let free = ["/join", "/review"].iter().any(|end| path.ends_with(end));
        let needed = path.contains("{id}") && !read && !free;
        assert_eq!(named && !optional, needed, "{method} {path}: {security:?}");
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
fn a_wrong_example_is_found() {
    TestServer::shared();
    let game = "/components/schemas/Game/example".to_owned();
    let stale = "/components/responses/ListGames412/content/application~1problem+json/examples/\
        stale_version/value";
    let wrong = [
        (format!("{game}/version"), json!("nineteen")),
        (format!("{game}/phase"), json!("supper")),
        (format!("{game}/seats/0/level"), json!("genius")),
        (format!("{game}/last_action"), json!({"type": "card_eaten"})),
        (format!("{game}/discards"), json!({"11": 1})),
        (game, json!({})),
        (
            "/components/schemas/Changed/example".to_owned(),
            json!({"events": []}),
        ),
        (format!("{stale}/code"), json!("fresh_version")),
        (
            "/components/schemas/PlayRequest/example".to_owned(),
            json!({"moves": "fold"}),
        ),
    ];
    for (pointer, value) in wrong {
        let mut document = Contract::get().document.clone();
        *document.pointer_mut(&pointer).expect(&pointer) = value.clone();
        let (errors, _) = Contract::new(document).check_examples();
        assert!(!errors.is_empty(), "{pointer}: {value}");
    }
}

#[test]
fn what_try_it_out_sends_is_accepted() {
    let server = TestServer::shared();
    let document = server.get("/openapi.json").send().expect(200);
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
        assert_eq!(
            *body(&format!("/v1/games/{{id}}/{path}")),
            json!({}),
            "{path}"
        );
    }
    for path in ["swap", "play"] {
        let body = body(&format!("/v1/games/{{id}}/{path}"));
        assert!(body.is_object() && body.get("version").is_none(), "{body}");
    }
    server
        .post("/v1/games")
        .json(body("/v1/games"))
        .send()
        .expect(201);
    for path in ["/v1/analysis/legal-moves", "/v1/analysis/suggest-move"] {
        server.post(path).json(body(path)).send().expect(200);
    }
    // A parameter with an example is sent with it.
    for (path, method, operation) in operations(&document) {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        for parameter in parameters {
            let what = format!("{method} {path}: {parameter}");
            let prefilled = has_example(parameter) || has_example(&parameter["schema"]);
            assert_eq!(prefilled, parameter["required"] == true, "{what}");
        }
    }
}

#[test]
fn events_are_told_apart_by_their_type() {
    let server = TestServer::shared();
    let document = server.get("/openapi.json").send().expect(200);
    let event = &document["components"]["schemas"]["Event"];
    assert_eq!(event["discriminator"]["propertyName"], "type");
    let mapping = event["discriminator"]["mapping"]
        .as_object()
        .expect("a mapping");
    for (name, reference) in mapping {
        let reference = reference.as_str().expect("a reference");
        let variant = document.pointer(&reference[1..]).expect(reference);
        assert_eq!(variant["properties"]["type"]["const"], *name);
        let required = variant["required"].as_array().expect("fields");
        assert!(required.contains(&json!("type")), "{name}");
    }
    let variants = event["oneOf"].as_array().expect("variants").iter();
    let variants: BTreeSet<_> = variants.map(|variant| variant["$ref"].as_str()).collect();
    assert_eq!(variants, mapping.values().map(Value::as_str).collect());
}

#[test]
fn what_a_response_may_leave_out_is_never_null() {
    let server = TestServer::shared();
    let document = server.get("/openapi.json").send().expect(200);
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
    let server = TestServer::shared();
    check(&server.get("/openapi.json").send().expect(200));
}

#[test]
fn the_page_has_the_name_and_the_icon_of_the_project() {
    let server = TestServer::shared();
    let html = server.get("/docs/").send().text();
    assert!(html.contains("<title>dog-server"), "{html}");
    assert!(html.contains("href=\"./favicon.svg\""), "{html}");
    let icon = server.get("/docs/favicon.svg").send();
    assert_eq!(icon.header("content-type"), Some("image/svg+xml"));
    assert!(icon.text().starts_with("<svg "), "{}", icon.text());
}

#[test]
fn the_page_needs_no_other_host() {
    let server = TestServer::shared();
    let page = server.get("/docs/").send();
    assert_eq!(page.status, 200);
    let content_type = page.header("content-type").unwrap_or_default();
    assert!(content_type.starts_with("text/html"), "{content_type}");
    let html = page.text();
    let foreign = |text: &str| {
        ["http://", "https://", "\"//", "'//"]
            .iter()
            .any(|start| text.contains(start))
    };
    assert!(!foreign(&html), "{html}");
    let mut parts = 0;
    for attribute in ["src=\"", "href=\""] {
        for rest in html.split(attribute).skip(1) {
            let link = rest.split('"').next().unwrap_or_default();
            let path = format!("/docs/{}", link.trim_start_matches("./"));
            let path = if link.starts_with('/') { link } else { &path };
            let part = server.get(path).send();
            assert_eq!(part.status, 200, "{path}");
            assert!(!part.body.is_empty(), "{path}");
            if path.ends_with("initializer.js") {
                assert!(!foreign(&part.text()), "{path}: {}", part.text());
                assert!(part.text().contains("openapi.json"), "{path}");
                assert!(part.text().contains("\"validatorUrl\": \"none\""), "{path}");
            }
            parts += 1;
        }
    }
    assert!(parts >= 3, "{html}");
}

#[test]
fn the_page_forbids_frames_and_other_sources() {
    let server = TestServer::shared();
    for path in [
        "/docs/",
        "/docs/index.html",
        "/docs/swagger-ui-bundle.js",
        "/docs/swagger-ui.css",
    ] {
        let response = server.get(path).send();
        assert_eq!(response.status, 200, "{path}");
        assert_eq!(
            response.header("x-content-type-options"),
            Some("nosniff"),
            "{path}"
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
            assert!(directives.any(|part| part == directive), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
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
    let document = TestServer::shared().get("/openapi.json").send().expect(200);
    let (mut integers, mut unions) = (0, 0);
    each_object(&document, "", &mut |object, place| {
        let has_type = |name: &str| {
            let types = &object["type"];
            *types == name
                || types
                    .as_array()
                    .is_some_and(|all| all.contains(&json!(name)))
        };
        if has_type("integer") {
            let max = object["maximum"].as_u64().expect(place);
            match object["format"].as_str() {
                Some("int32") => assert!(max <= i32::MAX as u64, "{place}"),
                Some("int64") => assert!(max < 1 << 53, "{place}"),
                other => panic!("{place}: {other:?}"),
            }
            integers += 1;
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
                assert!(
                    members.contains(&json!({"$ref": reference})),
                    "{place}: {value}"
                );
                let pointer = &reference.as_str().expect("a reference")[1..];
                let schema = document.pointer(pointer).expect("a schema");
                assert_eq!(schema["properties"][tag]["const"], *value, "{place}");
                let required = schema["required"].as_array().expect("a list");
                assert!(required.contains(&json!(tag)), "{place}: {value}");
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
    for (path, method, operation) in operations(&document) {
        let summary = operation["summary"].as_str().expect("a summary");
        let words = summary.split(' ').count();
        assert!(
            words <= 10 && !summary.ends_with('.'),
            "{method} {path}: {summary}"
        );
    }
}

#[test]
fn the_document_links_to_the_guides() {
    let server = TestServer::shared();
    let document = server.get("/openapi.json").send().expect(200);
    let link = document["externalDocs"]["url"].as_str().expect("a link");
    assert_eq!(server.get(link).send().status, 200);
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
    let server = TestServer::shared();
    let document = server.get("/openapi.json").send().expect(200);
    let operations = operations(&document);
    let mut count = 0;
    for (path, method, operation) in &operations {
        let responses = operation["responses"].as_object().expect("responses");
        let links = responses
            .values()
            .filter_map(|response| response.get("links"));
        let links: Vec<_> = links
            .flat_map(|links| links.as_object().expect("links"))
            .collect();
        assert!(links.len() <= 3, "{method} {path}: {} links", links.len());
        for (name, link) in links {
            let what = format!("{method} {path}: {name}");
            let target = operations
                .iter()
                .find(|(_, _, target)| target["operationId"] == link["operationId"]);
            let (target_path, _, target) = target.expect(&what);
            let given = link["parameters"].as_object().expect("parameters");
            let taken = target["parameters"].as_array().expect("parameters");
            for given in given.keys() {
                assert!(
                    taken.iter().any(|taken| taken["name"] == *given),
                    "{what}: {given}"
                );
            }
            for taken in taken.iter().filter(|taken| taken["in"] == "path") {
                let name = taken["name"].as_str().expect("a name");
                assert!(given.contains_key(name), "{what}: {name} of {target_path}");
            }
            count += 1;
        }
    }
    assert!(count > 10, "{count} links");
}
