//! JSON bodies and queries as typed values. A mistake is reported with its place and with what may
//! be there, for programs and for people, and never in the words of a parser.
//!
//! A request is read by `serde_json` or `serde_urlencoded`. Only if that fails is it read again, by
//! a deserializer whose errors are values, and to which `60.0` and `6e1` are whole numbers.

use std::{fmt, iter, str::FromStr};

use actix_web::web::Query;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{
        DeserializeOwned, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess, Visitor,
        value::{MapDeserializer, SeqDeserializer},
    },
    forward_to_deserialize_any,
};
use serde_json::{error::Category, value::RawValue};
use utoipa::{IntoParams, ToSchema};

use super::{
    invalid_shape::{InvalidShape, Mistake},
    range::{MAX_INTEGER, NumberRange},
};
use crate::problem::{Code, Problem};

/// Checks that a body is JSON.
///
/// # Errors
/// `malformed_json`.
pub fn check_body(bytes: &[u8]) -> Result<(), Problem> {
    check_syntax(body_text(bytes)?).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let detail = match error.classify() {
            Category::Eof => "the body ends in the middle of its JSON".to_owned(),
            _ if error.to_string().starts_with("recursion limit exceeded") => {
                format!("the body is nested too deeply at line {line}, column {column}")
            }
            _ => format!("the body is not JSON at line {line}, column {column}"),
        };
        Problem::new(Code::MalformedJson, detail)
    })
}

/// The text of a JSON body. An empty body, or null, is an empty object.
fn body_text(bytes: &[u8]) -> Result<&str, Problem> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let detail = format!("the body is not UTF-8 at byte {}", error.valid_up_to());
        Problem::new(Code::MalformedJson, detail)
    })?;
    Ok(match text.trim_ascii() {
        "" | "null" => "{}",
        text => text,
    })
}

/// Reads a body that is JSON.
///
/// # Errors
/// `invalid_request` for JSON of another shape; `invalid_rules` in the member `rules`.
pub fn from_body<T: DeserializeOwned + ToSchema>(bytes: &[u8]) -> Result<T, Problem> {
    let text = body_text(bytes)?;
    serde_json::from_str(text)
        .or_else(|_| T::deserialize(LazyValue::new(text, true, None)))
        .map_err(|shape: InvalidShape| shape.problem(NumberRange::in_body::<T>))
}

/// The value as JSON.
///
/// # Errors
/// Never in practice: what the server answers can be serialized.
pub fn to_json(value: &impl Serialize) -> Result<String, Problem> {
    serde_json::to_string(value).map_err(Problem::internal)
}

/// Checks that the text is JSON.
fn check_syntax(text: &str) -> serde_json::Result<()> {
    match serde_json::from_str::<JsonSyntax>(text) {
        // A number may be larger than any that the parser knows. It checks no numbers that it
        // ignores.
        Err(error) if error.to_string().starts_with("number out of range") => {
            serde_json::from_str::<IgnoredAny>(text).map(drop)
        }
        checked => checked.map(drop),
    }
}

/// Reads the parameters of a query.
///
/// # Errors
/// `invalid_request`.
pub fn from_query<T: DeserializeOwned + IntoParams>(text: &str) -> Result<T, Problem> {
    if let Ok(Query(params)) = Query::from_query(text) {
        return Ok(params);
    }
    let pairs = Query::<Vec<(String, String)>>::from_query(text);
    let pairs = pairs.map_or_else(|_| Vec::new(), Query::into_inner);
    let params = pairs.iter().map(|(name, text)| {
        let value = LazyValue::new(text, false, Some(name.clone()));
        (name.as_str(), value)
    });
    let mistake = T::deserialize(MapDeserializer::new(params)).err();
    let mistake = mistake.unwrap_or(Mistake::Other.into());
    Err(mistake.problem(NumberRange::in_query::<T>))
}

/// Lazily reads only what the target type needs.
struct LazyValue<'de> {
    /// Valid JSON, or the text of a parameter.
    text: &'de str,
    is_json: bool,
    /// The name or the index at which it stands.
    name: Option<String>,
}

impl<'de> LazyValue<'de> {
    fn new(text: &'de str, is_json: bool, name: Option<String>) -> LazyValue<'de> {
        LazyValue {
            text,
            is_json,
            name,
        }
    }

    /// The mistake that this is something else.
    fn not(&self, expected: &str) -> InvalidShape {
        self.mistake(Mistake::InvalidValue(expected.to_owned()))
    }

    /// A mistake in this value.
    fn mistake(&self, mistake: impl Into<InvalidShape>) -> InvalidShape {
        match &self.name {
            Some(name) => mistake.into().at(name),
            None => mistake.into(),
        }
    }

    /// A whole number; in JSON also one with a fraction of zero or an exponent. An error names this
    /// maximum, where its schema has no other.
    fn whole<T: TryFrom<u64> + FromStr>(&self, max: impl Into<u64>) -> Result<T, InvalidShape> {
        let number = if self.is_json {
            whole_number(self.text).and_then(|number| number.try_into().ok())
        } else {
            self.text.parse().ok()
        };
        number.ok_or_else(|| {
            let range = NumberRange {
                min: 0,
                max: max.into(),
            };
            self.mistake(Mistake::InvalidNumber(self.text.parse().ok(), range))
        })
    }

    fn string(&self) -> Result<String, InvalidShape> {
        if !self.is_json {
            return Ok(self.text.to_owned());
        }
        serde_json::from_str(self.text).map_err(|_| self.not("a text"))
    }
}

/// The value of a JSON number such as `60`, `60.0`, `6e1` or `-0`; none if it is not a whole one.
fn whole_number(text: &str) -> Option<u64> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole.trim_start_matches('-'), fraction].concat();
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    if whole.starts_with('-') {
        return None;
    }
    let exponent = i64::from(exponent.parse::<i32>().ok()?);
    let zeros = (digits.len() - significant.len()) as i64 - fraction.len() as i64;
    let power = 10_u64.checked_pow((exponent + zeros).try_into().ok()?)?;
    significant.parse::<u64>().ok()?.checked_mul(power)
}

impl<'de> IntoDeserializer<'de, InvalidShape> for LazyValue<'de> {
    type Deserializer = LazyValue<'de>;

    fn into_deserializer(self) -> LazyValue<'de> {
        self
    }
}

impl<'de> Deserializer<'de> for LazyValue<'de> {
    type Error = InvalidShape;

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InvalidShape> {
        visitor.visit_u8(self.whole(u8::MAX)?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InvalidShape> {
        visitor.visit_u32(self.whole(i32::MAX.unsigned_abs())?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InvalidShape> {
        visitor.visit_u64(self.whole(MAX_INTEGER)?)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InvalidShape> {
        visitor.visit_bool(self.text.parse().map_err(|_| self.not("true or false"))?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InvalidShape> {
        let text = self.string()?;
        let read = visitor.visit_string(text);
        read.map_err(|mistake: InvalidShape| self.mistake(mistake))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InvalidShape> {
        self.deserialize_string(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InvalidShape> {
        if self.is_json && self.text == "null" {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InvalidShape> {
        let Some(inside) = self.text.strip_prefix('[') else {
            return Err(self.not("a list"));
        };
        let entries = RawValues(inside).enumerate();
        let entries =
            entries.map(|(index, entry)| LazyValue::new(entry, true, Some(index.to_string())));
        let read = visitor.visit_seq(SeqDeserializer::new(entries));
        read.map_err(|mistake: InvalidShape| self.mistake(mistake))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InvalidShape> {
        let Some(inside) = self.text.strip_prefix('{') else {
            return Err(self.not("an object"));
        };
        let mut values = RawValues(inside);
        let members = iter::from_fn(|| {
            let name: String = serde_json::from_str(values.next()?).ok()?;
            let value = LazyValue::new(values.next()?, true, Some(name.clone()));
            Some((name, value))
        });
        let read = visitor.visit_map(MapDeserializer::new(members));
        read.map_err(|mistake: InvalidShape| self.mistake(mistake))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, InvalidShape> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        values: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, InvalidShape> {
        let unknown = || self.mistake(Mistake::UnknownValue(values));
        let text = self.string().map_err(|_| unknown())?;
        let read = visitor.visit_enum(text.into_deserializer());
        read.map_err(|mistake: InvalidShape| self.mistake(mistake))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, InvalidShape> {
        match name {
            // How `serde_json` reads a value as its text.
            "$serde_json::private::RawValue" => {
                visitor.visit_map(MapDeserializer::new(iter::once((name, self.text))))
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, InvalidShape> {
        visitor.visit_unit()
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, InvalidShape> {
        if self.is_json {
            return Err(self.mistake(Mistake::Other));
        }
        visitor.visit_str(self.text)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 u16 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct
        identifier
    }
}

/// The texts of the values in a list or an object, after its first character. The names of members
/// are among them.
struct RawValues<'de>(&'de str);

impl<'de> Iterator for RawValues<'de> {
    type Item = &'de str;

    fn next(&mut self) -> Option<&'de str> {
        let text = self.0.trim_start_matches([' ', '\t', '\r', '\n', ',', ':']);
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        // At the end is a bracket, which begins no value.
        let value = values.next()?.ok()?;
        self.0 = &text[values.byte_offset()..];
        Some(value.get())
    }
}

/// Any JSON, which is parsed and discarded. (`IgnoredAny` does not check strings and numbers.)
struct JsonSyntax;

impl<'de> Deserialize<'de> for JsonSyntax {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonSyntax, D::Error> {
        deserializer.deserialize_any(JsonSyntax)
    }
}

macro_rules! accept {
    ($($visit:ident: $type:ty,)+) => {
        $(fn $visit<E>(self, _: $type) -> Result<JsonSyntax, E> {
            Ok(JsonSyntax)
        })+
    };
}

impl<'de> Visitor<'de> for JsonSyntax {
    type Value = JsonSyntax;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    accept! {
        visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str,
    }

    fn visit_unit<E>(self) -> Result<JsonSyntax, E> {
        Ok(JsonSyntax)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsonSyntax, A::Error> {
        while list.next_element::<JsonSyntax>()?.is_some() {}
        Ok(JsonSyntax)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<JsonSyntax, A::Error> {
        while object.next_entry::<JsonSyntax, JsonSyntax>()?.is_some() {}
        Ok(JsonSyntax)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_exactly() {
        for (text, number) in [
            ("0", 0),
            ("-0", 0),
            ("-0.0e7", 0),
            ("0e99999999999999999999", 0),
            ("60.0", 60),
            ("6e1", 60),
            ("0.6E+2", 60),
            ("6000e-2", 60),
            ("9007199254740993.0", 9_007_199_254_740_993),
            ("18446744073709551615", u64::MAX),
            ("1844674407370955161.5e1", u64::MAX),
        ] {
            assert_eq!(whole_number(text), Some(number), "{text}");
        }
        let texts = "60.5 -1 -6e1 1e-400 1e400 1e99999999999999999999 18446744073709551616 1e20 \
                     \"60\" \"0e1\" true null [] {}";
        for text in texts.split(' ') {
            assert_eq!(whole_number(text), None, "{text}");
        }
    }

    #[test]
    fn the_values_in_a_list_or_an_object_are_found() {
        for (text, expected) in [
            ("]", &[][..]),
            (" }\n", &[]),
            ("1,2e3 , -0.5]", &["1", "2e3", "-0.5"]),
            (
                "\"a\" : [1, {}],\t\"b\":null}",
                &["\"a\"", "[1, {}]", "\"b\"", "null"],
            ),
            ("\",\\\"]\" ,true]", &["\",\\\"]\"", "true"]),
        ] {
            let found: Vec<&str> = RawValues(text).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
