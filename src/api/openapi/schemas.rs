//! What the derived schemas lack for clients that are generated from them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Completes the schemas of the components.
pub fn complete(document: &mut Value) {
    visit(document, &mut |schema| {
        describe_beside(schema);
        name_constant(schema);
    });
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
    schemas.values_mut().for_each(never_null_if_absent);
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

/// Refers to the schema of a card where it is the key of an object.
fn key_by_card(schema: &mut Map<String, Value>, cards: &Value) {
    if let Some(keys) = schema.get_mut("propertyNames")
        && keys["enum"] == *cards
    {
        *keys = json!({"$ref": "#/components/schemas/Card"});
    }
}

/// Takes the titled variants out of a union, which then refers to them by name. If they are told
/// apart by their `type`, the union says so.
fn take_variants(union: &mut Value) -> Vec<(String, Value)> {
    let Some(Value::Array(members)) = union.get_mut("oneOf") else {
        return Vec::new();
    };
    let (mut variants, mut mapping) = (Vec::new(), Map::new());
    for member in members {
        let Some(name) = member["title"].as_str().map(str::to_owned) else {
            continue;
        };
        let reference = format!("#/components/schemas/{name}");
        if let Some(tag) = member["properties"]["type"]["const"].as_str() {
            mapping.insert(tag.to_owned(), json!(reference));
        }
        let mut variant = std::mem::replace(member, json!({"$ref": reference}));
        // It is the name now.
        variant
            .as_object_mut()
            .map(|variant| variant.shift_remove("title"));
        variants.push((name, variant));
    }
    if !mapping.is_empty() {
        union["discriminator"] = json!({"propertyName": "type", "mapping": mapping});
    }
    variants
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
