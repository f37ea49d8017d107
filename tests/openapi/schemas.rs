//! What the derived schemas lack for clients that are generated from them.

use std::collections::{BTreeMap, BTreeSet};

use dog_server::openapi::{MAX_INTEGER, largest};
use serde_json::{Map, Value, json};

/// How a reference to a schema begins.
const SCHEMAS: &str = "#/components/schemas/";

/// Completes the schemas of the components.
pub fn complete(document: &mut Value) {
    visit(document, &mut |schema| {
        describe_beside(schema);
        name_constant(schema);
        bound_integer(schema);
    });
    let answers = responses(&document["paths"]);
    let Some(schemas) = document["components"]["schemas"].as_object_mut() else {
        return;
    };
    let cards = schemas["Card"]["enum"].clone();
    schemas
        .values_mut()
        .for_each(|schema| visit(schema, &mut |schema| key_by_card(schema, &cards)));
    let variants: Vec<_> = schemas.values_mut().flat_map(take_variants).collect();
    schemas.extend(variants);
    schemas.sort_keys();
    open_answers(&answers, schemas);
    schemas.values_mut().for_each(never_null_if_absent);
    let tags = schema_tags(schemas);
    schemas
        .values_mut()
        .for_each(|union| discriminate(union, &tags));
}

/// Calls the function on every object of a document.
fn visit(value: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(entries) => {
            change(entries);
            entries.values_mut().for_each(|entry| visit(entry, change));
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| visit(entry, change)),
        _ => {}
    }
}

/// The responses of all operations.
fn responses(paths: &Value) -> Value {
    let items = paths.as_object().into_iter().flat_map(Map::values);
    let operations = items.filter_map(Value::as_object).flat_map(Map::values);
    operations
        .map(|operation| operation["responses"].clone())
        .collect()
}

/// Says of the schemas that answers refer to that a later server may add members.
fn open_answers(answers: &Value, schemas: &mut Map<String, Value>) {
    let mut names = BTreeSet::new();
    references(answers, schemas, &mut names);
    for name in names {
        if schemas[&name]["additionalProperties"] == false
            && let Some(schema) = schemas[&name].as_object_mut()
        {
            schema.shift_remove("additionalProperties");
        }
    }
}

/// Adds the names of all schemas that this refers to.
fn references(value: &Value, schemas: &Map<String, Value>, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(entries) => {
            if let Some(Value::String(reference)) = entries.get("$ref")
                && let Some(name) = reference.strip_prefix(SCHEMAS)
                && let Some(schema) = schemas.get(name)
                && found.insert(name.to_owned())
            {
                references(schema, schemas, found);
            }
            for entry in entries.values() {
                references(entry, schemas, found);
            }
        }
        Value::Array(entries) => {
            for entry in entries {
                references(entry, schemas, found);
            }
        }
        _ => {}
    }
}

/// Moves the description of `oneOf: [{$ref, description}, null]` beside the `oneOf`, because tools
/// ignore what is beside a `$ref`.
fn describe_beside(schema: &mut Map<String, Value>) {
    let Some(Value::Array(members)) = schema.get_mut("oneOf") else {
        return;
    };
    let [Value::Object(member), null] = &mut members[..] else {
        return;
    };
    if null["type"] == "null"
        && let Some(description) = member.shift_remove("description")
    {
        schema.insert("description".to_owned(), description);
    }
}

/// Replaces an enum of one value by a constant, which generated types can be told apart by.
fn name_constant(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(values)) = schema.get("enum")
        && let [value] = &values[..]
    {
        let value = value.clone();
        schema.shift_remove("enum");
        schema.insert("const".to_owned(), value);
    }
}

/// Gives an integer a format that generators know, and a largest value.
fn bound_integer(schema: &mut Map<String, Value>) {
    let is_integer = match schema.get("type") {
        Some(Value::Array(types)) => types.contains(&json!("integer")),
        Some(kind) => kind == "integer",
        None => false,
    };
    if is_integer {
        let max = largest(schema.get("format").and_then(Value::as_str).unwrap_or(""));
        let format = if max == MAX_INTEGER { "int64" } else { "int32" };
        schema.insert("format".to_owned(), json!(format));
        schema.entry("maximum").or_insert(json!(max));
    }
}

/// Refers to the schema of a card where it is the key of an object.
fn key_by_card(schema: &mut Map<String, Value>, cards: &Value) {
    if let Some(keys) = schema.get_mut("propertyNames")
        && keys["enum"] == *cards
    {
        *keys = json!({"$ref": "#/components/schemas/Card"});
    }
}

/// Takes the titled variants out of a union, which then refers to them by name.
fn take_variants(union: &mut Value) -> Vec<(String, Value)> {
    let Some(Value::Array(members)) = union.get_mut("oneOf") else {
        return Vec::new();
    };
    let mut variants = Vec::new();
    for member in members {
        let Some(name) = member["title"].as_str().map(str::to_owned) else {
            continue;
        };
        let reference = json!({"$ref": format!("{SCHEMAS}{name}")});
        let mut variant = std::mem::replace(member, reference);
        // It is the name now.
        variant
            .as_object_mut()
            .map(|variant| variant.shift_remove("title"));
        variants.push((name, variant));
    }
    variants
}

/// The member by which clients tell the schemas of a union apart.
const TAGS: [&str; 2] = ["type", "kind"];

/// Its name and value in this schema, by the reference to the schema.
type SchemaTags = BTreeMap<String, (&'static str, String)>;

fn schema_tags(schemas: &Map<String, Value>) -> SchemaTags {
    let mut tags = SchemaTags::new();
    for (name, schema) in schemas {
        for tag in TAGS {
            if let Some(value) = schema["properties"][tag]["const"].as_str() {
                tags.insert(format!("{SCHEMAS}{name}"), (tag, value.to_owned()));
            }
        }
    }
    tags
}

/// Says by which member clients tell the schemas of a union apart, if all have one.
fn discriminate(union: &mut Value, tags: &SchemaTags) {
    let Some(Value::Array(members)) = union.get("oneOf") else {
        return;
    };
    let (mut name, mut mapping) = (None, Map::new());
    for member in members {
        let reference = &member["$ref"];
        let Some((tag, value)) = reference.as_str().and_then(|to| tags.get(to)) else {
            return;
        };
        name = Some(*tag);
        mapping.insert(value.clone(), reference.clone());
    }
    union["discriminator"] = json!({"propertyName": name, "mapping": mapping});
}

/// Says of a response that what may be absent is never null. Requests, which name all their fields,
/// accept null in place of an absent field.
fn never_null_if_absent(schema: &mut Value) {
    if schema["additionalProperties"] == false {
        return;
    }
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let required: BTreeSet<_> = required.iter().filter_map(Value::as_str).collect();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    let optional = properties.iter_mut();
    let optional = optional.filter(|(name, _)| !required.contains(name.as_str()));
    for (_, property) in optional {
        let Some(property) = property.as_object_mut() else {
            continue;
        };
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [kind] = &types[..] {
                let kind = kind.clone();
                property.insert("type".to_owned(), kind);
            }
        }
        if let Some(Value::Array(members)) = property.get_mut("oneOf")
            && let [Value::Object(member), null] = &mut members[..]
            && null["type"] == "null"
        {
            let member = std::mem::take(member);
            property.shift_remove("oneOf");
            property.extend(member);
        }
    }
}
