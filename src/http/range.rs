//! The numbers that the OpenAPI document allows in a request.

use serde_json::{Map, Value, json};
use utoipa::{IntoParams, ToSchema};

/// The largest integer of the document: clients that parse numbers as doubles read it exactly.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// The whole numbers from `min` to `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberRange {
    pub min: u64,
    pub max: u64,
}

impl NumberRange {
    pub fn contains(&self, number: u64) -> bool {
        (self.min..=self.max).contains(&number)
    }

    /// What is wrong with a value out of the range. `number` is the value, if it is a number.
    pub fn refusal(&self, number: Option<f64>) -> String {
        let NumberRange { min, max } = self;
        let must = format!("must be a whole number from {min} to {max}");
        if number.is_some_and(|number| number > *max as f64) {
            format!("is too large: it {must}")
        } else {
            must
        }
    }

    /// The range of the number at this place in a body; none if its schema has no bounds. The names
    /// and indexes of the path lead to the place, the last one first.
    pub fn in_body<T: ToSchema>(path: &[String]) -> Option<NumberRange> {
        let mut schemas = Vec::new();
        T::schemas(&mut schemas);
        let schemas: Map<String, Value> = schemas
            .into_iter()
            .map(|(name, schema)| (name, json!(schema)))
            .collect();
        let body = json!(T::schema());
        let place = path.iter().rev().try_fold(&body, |schema, name| {
            let schema = resolve(schema, &schemas);
            let member = schema.get("properties").and_then(|all| all.get(name));
            member
                .or_else(|| schema.get("items"))
                .or_else(|| schema.get("additionalProperties"))
        });
        NumberRange::from_schema(place?)
    }

    /// The range of the parameter of a query with this path.
    pub fn in_query<T: IntoParams>(path: &[String]) -> Option<NumberRange> {
        let mut params = T::into_params(|| None).into_iter();
        let param = params.find(|param| path == [param.name.as_str()])?;
        NumberRange::from_schema(&json!(param.schema))
    }

    fn from_schema(schema: &Value) -> Option<NumberRange> {
        let largest = || schema["format"].as_str().map(largest);
        Some(NumberRange {
            min: schema["minimum"].as_u64()?,
            max: schema["maximum"].as_u64().or_else(largest)?,
        })
    }
}

/// The largest integer of a format, as utoipa names it after the type.
pub fn largest(format: &str) -> u64 {
    match format {
        "u-int8" => u8::MAX.into(),
        "u-int16" => u16::MAX.into(),
        "u-int64" | "int64" => MAX_INTEGER,
        _ => i32::MAX.unsigned_abs().into(),
    }
}

/// The schema to which this one refers.
fn resolve<'a>(schema: &'a Value, schemas: &'a Map<String, Value>) -> &'a Value {
    let one_of = schema["oneOf"].as_array().into_iter().flatten();
    let mut all = one_of.chain([schema]);
    all.find_map(|schema| schemas.get(schema["$ref"].as_str()?.rsplit('/').next()?))
        .unwrap_or(schema)
}
