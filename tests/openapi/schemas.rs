//! What the derived schemas lack for clients that are generated from them.

use std::{collections::BTreeSet, mem};

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
    let cards = document["components"]["schemas"]["Card"]["enum"].clone();
    visit(document, &mut |schema| key_by_card(schema, &cards));
    let answers = responses(document);
    let schemas = document["components"]["schemas"].as_object_mut();
    let schemas = schemas.expect("schemas");
    let variants: Vec<_> = schemas.values_mut().flat_map(take_variants).collect();
    schemas.extend(variants);
    schemas.sort_keys();
    for name in reachable(&answers, schemas) {
        // A later server may add members to what it answers.
        if let Some(schema) = schemas[&name].as_object_mut()
            && schema.get("additionalProperties") == Some(&json!(false))
        {
            schema.shift_remove("additionalProperties");
        }
    }
    schemas.values_mut().for_each(never_null_if_absent);
    let tagged = schemas.clone();
    schemas
        .values_mut()
        .for_each(|union| discriminate(union, &tagged));
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
fn responses(document: &mut Value) -> Value {
    let operations = super::operations(document);
    operations
        .map(|operation| operation["responses"].clone())
        .collect()
}

/// The names of the schemas that this refers to.
fn references(value: &Value) -> Vec<String> {
    let text = value.to_string();
    let names = text.split(SCHEMAS).skip(1);
    names
        .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()))
        .collect()
}

/// The names of all schemas that these answers need.
fn reachable(answers: &Value, schemas: &Map<String, Value>) -> BTreeSet<String> {
    let (mut found, mut unread) = (BTreeSet::new(), references(answers));
    while let Some(name) = unread.pop() {
        let schema = schemas.get(&name);
        if schema.is_some() && found.insert(name) {
            unread.extend(schema.map(references).into_iter().flatten());
        }
    }
    found
}

/// Moves the description of `oneOf: [{$ref, description}, null]` beside the `oneOf`, because tools
/// ignore what is beside a `$ref`.
fn describe_beside(schema: &mut Map<String, Value>) {
    if let Some(members) = schema.get_mut("oneOf").and_then(Value::as_array_mut)
        && let [Value::Object(member), null] = &mut members[..]
        && null["type"] == "null"
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
    let types = schema.get("type").map(Value::to_string).unwrap_or_default();
    if types.contains("\"integer\"") {
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
    let members = union.get_mut("oneOf").and_then(Value::as_array_mut);
    let mut variants = Vec::new();
    for member in members
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        // It becomes the name.
        if let Some(Value::String(name)) = member.shift_remove("title") {
            let reference = json!(format!("{SCHEMAS}{name}"));
            let variant = mem::replace(member, Map::from_iter([("$ref".to_owned(), reference)]));
            variants.push((name, variant.into()));
        }
    }
    variants
}

/// Says by which member clients tell the schemas of a union apart, if all have one.
fn discriminate(union: &mut Value, schemas: &Map<String, Value>) {
    let members = union.get("oneOf").and_then(Value::as_array);
    for tag in ["type", "kind"] {
        let entries = members.into_iter().flatten().map(|member| {
            let reference = member["$ref"].as_str()?;
            let schema = &schemas[reference.strip_prefix(SCHEMAS)?];
            let value = schema["properties"][tag]["const"].as_str()?;
            Some((value.to_owned(), json!(reference)))
        });
        let mapping: Option<Map<_, _>> = entries.collect();
        if let Some(mapping) = mapping.filter(|mapping| !mapping.is_empty()) {
            union["discriminator"] = json!({"propertyName": tag, "mapping": mapping});
            return;
        }
    }
}

/// Says of a response that what may be absent is never null. Requests, which name all their fields,
/// accept null in place of an absent field.
fn never_null_if_absent(schema: &mut Value) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    if schema["additionalProperties"] == false {
        return;
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        let Some(property) = property
            .as_object_mut()
            .filter(|_| !required.contains(&json!(name)))
        else {
            continue;
        };
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [kind] = &mut types[..] {
                property["type"] = kind.take();
            }
        }
        if let Some(Value::Array(members)) = property.get_mut("oneOf")
            && let [Value::Object(member), null] = &mut members[..]
            && null["type"] == "null"
        {
            let member = mem::take(member);
            property.shift_remove("oneOf");
            property.extend(member);
        }
    }
}
