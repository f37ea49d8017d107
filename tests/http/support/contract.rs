//! Checks requests and responses against the OpenAPI document.
//!
//! Every response must be one that the document lists for its route, method and status, of the
//! documented content type, satisfying the documented schema and holding no field that the schema
//! does not name. A request that was accepted must satisfy the documented request.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock},
};

use jsonschema::{Draft, Registry, Validator};
use serde_json::{Value, json};

use super::{TestRequest, TestResponse, TestServer};

/// Headers that OpenAPI documents elsewhere, or that belong to HTTP itself.
const PLAIN_HEADERS: &str = "accept accept-encoding access-control-request-headers \
    access-control-request-method authorization content-type dog-key dog-token origin \
    x-forwarded-for";

/// Beginnings of paths that the document does not have.
const OUTSIDE: &str = "/%23/ /openapi.json /docs /src/ /vendor/ /lang/ /lessons/ /colours.css \
    /style.css /icon /manifest.webmanifest /sw.js /start.js /page/";

/// The document, and its schemas.
pub struct Contract {
    pub document: Value,
    schemas: Schemas,
    /// The schemas with every object closed to fields it does not name.
    closed: Schemas,
}

static CONTRACT: OnceLock<Contract> = OnceLock::new();

impl Contract {
    /// Loads the document from the first server that is started; all run the same program.
    pub fn load(server: &TestServer) {
        CONTRACT.get_or_init(|| {
            let response = server
                .agent()
                .get(server.url() + "/openapi.json")
                .call()
                .and_then(|mut response| response.body_mut().read_json());
            Contract::new(response.expect("/openapi.json is JSON"))
        });
    }

    pub fn get() -> &'static Contract {
        CONTRACT.get().expect("a server was started before")
    }

    /// The contract of a document.
    pub fn new(document: Value) -> Contract {
        let mut closed = document.clone();
        close_all(&mut closed, &document);
        Contract {
            schemas: Schemas::new(&document),
            closed: Schemas::new(&closed),
            document,
        }
    }

    /// Checks a response, and the request if it was accepted.
    ///
    /// # Panics
    /// If the document and the server disagree.
    #[track_caller]
    pub fn check(&self, request: &TestRequest<'_>, response: &TestResponse) {
        let what = format!("{}: {} {}", response.what, response.status, response.text());
        if is_problem(response) {
            response.check_problem();
        }
        let (path, query) = match request.path.split_once('?') {
            Some((path, query)) => (path, query),
            None => (request.path.as_str(), ""),
        };
        let method = match request.method.as_str() {
            "HEAD" => "get".to_owned(),
            other => other.to_ascii_lowercase(),
        };
        let Some((template, item)) = self.route(path) else {
            let mut known = OUTSIDE.split(' ');
            let outside = path == "/" || known.any(|known| path.starts_with(known));
            let allowed = outside || method == "options" || response.status == 404;
            assert!(allowed, "an undocumented path: {what}");
            return;
        };
        let Some(operation) = item.get(&method) else {
            let allowed = method == "options" || response.status == 405;
            assert!(allowed, "an undocumented method: {what}");
            return;
        };
        let pointer = format!("/paths/{}/{method}", escape(template));
        self.check_response(&pointer, operation, request, response, &what);
        if response.status < 300 {
            self.check_accepted(&pointer, item, operation, request, query, &what);
        }
    }

    /// Checks a value against a schema of the document.
    #[track_caller]
    pub fn check_schema(&self, name: &str, value: &Value) {
        let pointer = format!("/components/schemas/{name}");
        self.closed.validate(&pointer, value, name);
    }

    #[track_caller]
    fn check_response(
        &self,
        pointer: &str,
        operation: &Value,
        request: &TestRequest<'_>,
        response: &TestResponse,
        what: &str,
    ) {
        let status = response.status.to_string();
        let documented = &operation["responses"][&status];
        assert!(!documented.is_null(), "an undocumented status: {what}");
        let (described, pointer) =
            self.resolve(documented, format!("{pointer}/responses/{status}"));
        for (name, header) in object(&described["headers"]) {
            // Clients on this machine have no limits. Other headers are not always there.
            let types = header["schema"]["type"].as_array();
            let optional = name.starts_with("RateLimit")
                || types.is_some_and(|types| types.contains(&json!("null")));
            let sent = response.headers.contains_key(name);
            assert!(optional || sent, "no {name}: {what}");
        }
        let Some(content) = described["content"].as_object() else {
            assert!(response.body.is_empty(), "an undocumented body: {what}");
            return;
        };
        let media_type = media_type(response.header("content-type").unwrap_or_default());
        let Some(media) = content.get(media_type) else {
            panic!("an undocumented content type {media_type:?}: {what}");
        };
        if request.method == "HEAD" {
            assert!(response.body.is_empty(), "a body for HEAD: {what}");
            return;
        }
        let encoded = response.headers.contains_key("content-encoding");
        // Tests that read NDJSON check its lines against their schemas.
        let json = media_type.ends_with("json") && media_type != "application/x-ndjson";
        if media.get("schema").is_some() && json && !encoded {
            let pointer = format!("{pointer}/content/{}/schema", escape(media_type));
            self.closed.validate(&pointer, &response.json(), what);
        }
    }

    #[track_caller]
    fn check_accepted(
        &self,
        pointer: &str,
        item: &Value,
        operation: &Value,
        request: &TestRequest<'_>,
        query: &str,
        what: &str,
    ) {
        let parameters: Vec<(String, String)> = [item, operation]
            .into_iter()
            .filter_map(|holder| holder["parameters"].as_array())
            .flatten()
            .map(|parameter| self.resolve(parameter, String::new()).0)
            .map(|parameter| {
                let text = |name: &str| parameter[name].as_str().unwrap_or_default().to_owned();
                (text("in"), text("name").to_ascii_lowercase())
            })
            .collect();
        let documented = |place: &str, name: &str| {
            let name = name.to_ascii_lowercase();
            let known = parameters.contains(&(place.to_owned(), name.clone()));
            assert!(known, "an undocumented {place} parameter {name}: {what}");
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            documented("query", pair.split('=').next().unwrap_or_default());
        }
        for (name, _) in &request.headers {
            let plain = name.to_ascii_lowercase();
            if !PLAIN_HEADERS.split(' ').any(|known| known == plain) {
                documented("header", name);
            }
        }
        let Some(body) = request.body.as_ref().filter(|body| !body.is_empty()) else {
            let required = operation["requestBody"]["required"] == true;
            assert!(!required, "accepted without a required body: {what}");
            return;
        };
        let mut headers = request.headers.iter();
        let content_type = headers.find(|(name, _)| name == "Content-Type");
        let media_type = content_type.map_or("", |(_, value)| media_type(value));
        let media_type = media_type.to_ascii_lowercase();
        let documented = &operation["requestBody"]["content"][&media_type];
        assert!(
            !documented.is_null(),
            "an undocumented request body: {what}"
        );
        if media_type != "application/json" {
            return;
        }
        let pointer = format!("{pointer}/requestBody/content/application~1json/schema");
        let body: Value = serde_json::from_slice(body).expect("an accepted body is JSON");
        self.schemas.validate(&pointer, &body, what);
    }

    /// What is wrong with the examples in the document, and how many there are.
    pub fn check_examples(&self) -> (Vec<String>, usize) {
        let mut found = Vec::new();
        for part in ["paths", "components"] {
            find_examples(&self.document[part], &format!("/{part}"), &mut found);
        }
        let check = |(pointer, example): &(String, Value)| {
            let errors = self.closed.errors(pointer, example);
            let what = |error| format!("{error} in the example {example} of {pointer}");
            errors.into_iter().map(what).collect::<Vec<_>>()
        };
        (found.iter().flat_map(check).collect(), found.len())
    }

    /// The path template that a path belongs to, the one with fewer parameters first.
    fn route(&self, path: &str) -> Option<(&str, &Value)> {
        let fits = |template: &str| {
            let (wanted, given): (Vec<&str>, Vec<&str>) =
                (template.split('/').collect(), path.split('/').collect());
            wanted.len() == given.len()
                && wanted.iter().zip(&given).all(|(wanted, given)| {
                    wanted == given || wanted.starts_with('{') && !given.is_empty()
                })
        };
        object(&self.document["paths"])
            .filter(|(template, _)| fits(template))
            .min_by_key(|(template, _)| template.matches('{').count())
    }

    /// Follows a reference, if this is one: its target, and the pointer to it.
    fn resolve<'v>(&'v self, value: &'v Value, pointer: String) -> (&'v Value, String) {
        let Some(target) = target(value) else {
            return (value, pointer);
        };
        let found = self.document.pointer(target);
        let found = found.unwrap_or_else(|| panic!("nothing is at {target}"));
        (found, target.to_owned())
    }
}

/// The schemas of a document, and the validators compiled so far.
struct Schemas {
    registry: Registry<'static>,
    /// By JSON pointer.
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Schemas {
    /// The name of the document in the registry.
    const DOCUMENT: &str = "urn:document";

    fn new(document: &Value) -> Schemas {
        let registry = Registry::new()
            .draft(Draft::Draft202012)
            .add(Schemas::DOCUMENT, document.clone())
            .and_then(|registry| registry.prepare());
        Schemas {
            registry: registry.expect("a document whose references lead somewhere"),
            validators: Mutex::default(),
        }
    }

    #[track_caller]
    fn validate(&self, pointer: &str, instance: &Value, what: &str) {
        let errors = self.errors(pointer, instance).join("\n");
        assert!(errors.is_empty(), "not as documented: {errors}\n{what}");
    }

    /// Where a value differs from the schema there.
    fn errors(&self, pointer: &str, instance: &Value) -> Vec<String> {
        let validator = self.validator(pointer);
        validator
            .iter_errors(instance)
            .map(|error| format!("{error} at {:?}", error.instance_path().to_string()))
            .collect()
    }

    fn validator(&self, pointer: &str) -> Arc<Validator> {
        let mut validators = self.validators.lock().expect("the validators");
        let validator = validators.entry(pointer.to_owned()).or_insert_with(|| {
            // Braces are not allowed in a URI.
            let fragment = pointer.replace('{', "%7B").replace('}', "%7D");
            let validator = jsonschema::options()
                .with_draft(Draft::Draft202012)
                .with_registry(&self.registry)
                .should_validate_formats(true)
                .build(&json!({"$ref": format!("{}#{fragment}", Schemas::DOCUMENT)}))
                .unwrap_or_else(|error| panic!("the schema at {pointer} is invalid: {error}"));
            Arc::new(validator)
        });
        Arc::clone(validator)
    }
}

fn is_problem(response: &TestResponse) -> bool {
    response.status >= 400 && !(response.body.is_empty() && response.what.starts_with("HEAD "))
}

/// A content type without its parameters.
fn media_type(header: &str) -> &str {
    header.split(';').next().unwrap_or_default().trim()
}

/// Where a reference leads, as a JSON pointer; `None` for other values.
fn target(value: &Value) -> Option<&str> {
    value["$ref"].as_str()?.strip_prefix('#')
}

/// A key as one segment of a JSON pointer.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The entries of an object; nothing for other values.
fn object(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), value))
}

/// Keywords under which a schema holds a list of schemas for the same value.
const COMPOSITIONS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keywords under which a schema holds schemas of the values inside.
const INSIDES: [&str; 2] = ["items", "additionalProperties"];

/// Closes every schema of the document that describes a whole value.
fn close_all(closed: &mut Value, document: &Value) {
    match closed {
        Value::Object(entries) => {
            for (key, value) in entries {
                match key.as_str() {
                    "schema" => close(value, document),
                    "schemas" => {
                        let schemas = value.as_object_mut().into_iter().flatten();
                        schemas.for_each(|(_, schema)| close_inside(schema, document));
                    }
                    _ => close_all(value, document),
                }
            }
        }
        Value::Array(entries) => entries
            .iter_mut()
            .for_each(|entry| close_all(entry, document)),
        _ => {}
    }
}

fn close(schema: &mut Value, document: &Value) {
    close_inside(schema, document);
    if names_fields(schema, document, 0)
        && let Value::Object(keywords) = schema
    {
        keywords.insert("unevaluatedProperties".to_owned(), json!(false));
    }
}

fn close_inside(schema: &mut Value, document: &Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => properties
                .iter_mut()
                .for_each(|(_, schema)| close(schema, document)),
            ("prefixItems", Value::Array(schemas)) => schemas
                .iter_mut()
                .for_each(|schema| close(schema, document)),
            (keyword, value) if INSIDES.contains(&keyword) => close(value, document),
            (keyword, Value::Array(schemas)) if COMPOSITIONS.contains(&keyword) => schemas
                .iter_mut()
                .for_each(|schema| close_inside(schema, document)),
            _ => {}
        }
    }
}

/// Whether a schema names fields of an object, itself or in a composition.
fn names_fields(schema: &Value, document: &Value, depth: u8) -> bool {
    let target = target(schema).and_then(|target| document.pointer(target));
    let members = COMPOSITIONS.iter();
    let members = members.filter_map(|keyword| schema[keyword].as_array());
    let mut inside = target.into_iter().chain(members.flatten());
    depth < 16
        && (schema.get("properties").is_some()
            || inside.any(|schema| names_fields(schema, document, depth + 1)))
}

/// Examples found: the pointer to the schema, and the example.
type Examples = Vec<(String, Value)>;

/// Finds the examples in a part of the document.
fn find_examples(value: &Value, pointer: &str, found: &mut Examples) {
    // Of a media type, a parameter or a header they are beside its schema.
    let schema = match value.get("schema") {
        Some(_) => format!("{pointer}/schema"),
        None => pointer.to_owned(),
    };
    let list = value["examples"].as_array().into_iter().flatten();
    let named = object(&value["examples"]).map(|(_, example)| &example["value"]);
    let all = value.get("example").into_iter().chain(list).chain(named);
    found.extend(all.map(|example| (schema.clone(), example.clone())));
    for (key, entry) in object(value) {
        if key != "example" && key != "examples" {
            find_examples(entry, &format!("{pointer}/{}", escape(key)), found);
        }
    }
    for (index, entry) in value.as_array().into_iter().flatten().enumerate() {
        find_examples(entry, &format!("{pointer}/{index}"), found);
    }
}
