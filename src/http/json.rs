//! JSON bodies and queries as typed values. A mistake is answered with its place and with what may
//! stand there, for programs and for people, and never in the words of a parser.
//!
//! A request is read by `serde_json` or `serde_urlencoded`. Only if that fails is it read again, by
//! a deserializer whose errors are values, and to which `60.0` and `6e1` are whole numbers.

use std::{cell::Cell, fmt, str::FromStr};

use actix_web::web::Query;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{
        self, DeserializeOwned, DeserializeSeed, Expected, IgnoredAny, IntoDeserializer, MapAccess,
        SeqAccess, Unexpected, Visitor, value::MapDeserializer,
    },
    forward_to_deserialize_any,
};
use serde_json::{error::Category, value::RawValue};

use super::problem::{Code, Problem, Reason};

/// Characters of a member's name that a pointer repeats.
const MAX_NAME: usize = 64;

/// Checks that a body is JSON.
///
/// # Errors
/// `malformed_json`.
pub fn check_body(bytes: &[u8]) -> Result<(), Problem> {
    check_syntax(body_text(bytes)?).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let detail = match error.classify() {
            Category::Eof => "the body ends in the middle of its JSON".to_owned(),
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
pub fn from_body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let text = body_text(bytes)?;
    serde_json::from_str(text)
        .or_else(|_| T::deserialize(Json(text)))
        .map_err(Problem::from)
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
        // A number may be larger than any that the parser knows. It checks no numbers that it ignores.
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
pub fn from_query<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    if let Ok(Query(params)) = Query::from_query(text) {
        return Ok(params);
    }
    let pairs = Query::<Vec<(String, String)>>::from_query(text);
    let pairs = pairs.map_or_else(|_| Vec::new(), Query::into_inner);
    let params = pairs
        .iter()
        .map(|(name, text)| (name.as_str(), Param { name, text }));
    let mistake = T::deserialize(MapDeserializer::new(params)).err();
    Err(mistake.unwrap_or(Mistake::Other.into()).into())
}

/// What is wrong with a request, and where.
#[derive(Debug)]
struct Misshapen {
    /// The names and indexes that lead to the place, the last one first.
    path: Vec<String>,
    mistake: Mistake,
}

#[derive(Debug)]
enum Mistake {
    /// No member or parameter has this name; these may be there.
    UnknownName(&'static [&'static str]),
    /// The value must be one of these.
    UnknownValue(&'static [&'static str]),
    Missing,
    Twice,
    /// The value must be something else, which this describes.
    Wrong(String),
    /// What no other case says.
    Other,
}

impl From<Mistake> for Misshapen {
    fn from(mistake: Mistake) -> Misshapen {
        Misshapen {
            path: Vec::new(),
            mistake,
        }
    }
}

impl Misshapen {
    /// The same, in the member of this name, or at this index.
    fn at(mut self, name: &str) -> Misshapen {
        self.path.push(name.chars().take(MAX_NAME).collect());
        self
    }

    fn wrong(expected: impl fmt::Display) -> Misshapen {
        Mistake::Wrong(expected.to_string()).into()
    }
}

impl From<Misshapen> for Problem {
    fn from(Misshapen { path, mistake }: Misshapen) -> Problem {
        let mut pointer = String::new();
        for name in path.iter().rev() {
            pointer.push('/');
            pointer += &name.replace('~', "~0").replace('/', "~1");
        }
        let code = match path.last() {
            Some(name) if name == "rules" => Code::InvalidRules,
            _ => Code::InvalidRequest,
        };
        let place = if pointer.is_empty() { "this" } else { &pointer };
        let (reason, detail, allowed) = match mistake {
            Mistake::UnknownName([]) => {
                let detail = format!("{place} is unknown: nothing may be there");
                (Reason::UnknownMember, detail, Some(&[][..]))
            }
            Mistake::UnknownName(names) => {
                let detail = format!("{place} is unknown: allowed are {}", names.join(", "));
                (Reason::UnknownMember, detail, Some(names))
            }
            Mistake::UnknownValue(values) => {
                let detail = format!("{place} must be one of {}", values.join(", "));
                (Reason::WrongValue, detail, Some(values))
            }
            Mistake::Missing => (Reason::Missing, format!("{place} is missing"), None),
            Mistake::Twice => (Reason::Duplicate, format!("{place} is sent twice"), None),
            Mistake::Wrong(expected) => (
                Reason::WrongValue,
                format!("{place} must be {expected}"),
                None,
            ),
            Mistake::Other => (
                Reason::WrongValue,
                format!("{place} has a wrong form"),
                None,
            ),
        };
        Problem::new(code, detail)
            .because(reason)
            .at(pointer, allowed)
    }
}

impl fmt::Display for Misshapen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.mistake)
    }
}

impl std::error::Error for Misshapen {}

impl de::Error for Misshapen {
    fn custom<T: fmt::Display>(_: T) -> Misshapen {
        Mistake::Other.into()
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Misshapen {
        Misshapen::wrong(expected)
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Misshapen {
        Misshapen::wrong(expected)
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Misshapen {
        Misshapen::wrong(expected)
    }

    fn unknown_variant(_: &str, allowed: &'static [&'static str]) -> Misshapen {
        Mistake::UnknownValue(allowed).into()
    }

    fn unknown_field(name: &str, allowed: &'static [&'static str]) -> Misshapen {
        Misshapen::from(Mistake::UnknownName(allowed)).at(name)
    }

    fn missing_field(name: &'static str) -> Misshapen {
        Misshapen::from(Mistake::Missing).at(name)
    }

    fn duplicate_field(name: &'static str) -> Misshapen {
        Misshapen::from(Mistake::Twice).at(name)
    }
}

/// Reads numbers of the types that requests have.
macro_rules! numbers {
    ($self:ident: $($method:ident $visit:ident $type:ty,)+) => {
        $(fn $method<V: Visitor<'de>>($self, visitor: V) -> Result<V::Value, Misshapen> {
            const EXPECTED: &str = if <$type>::MAX as u64 > u16::MAX as u64 {
                "a whole number"
            } else {
                "a whole number up to 255"
            };
            visitor.$visit($self.whole::<$type>(EXPECTED)?)
        })+
    };
}

/// Valid JSON, of which so much is read as the type of a request asks for.
struct Json<'de>(&'de str);

impl<'de> Json<'de> {
    fn scalar<T: Deserialize<'de>>(&self, expected: &str) -> Result<T, Misshapen> {
        serde_json::from_str(self.0).map_err(|_| Misshapen::wrong(expected))
    }

    /// A whole number, also one with a fraction of zero or an exponent.
    fn whole<T: TryFrom<u64>>(&self, expected: &str) -> Result<T, Misshapen> {
        let number = whole_number(self.0).and_then(|number| number.try_into().ok());
        number.ok_or_else(|| Misshapen::wrong(expected))
    }

    /// Has the members of an object or the entries of a list read, without keeping them.
    fn inside<V: Visitor<'de>>(self, visitor: V, expected: &str) -> Result<V::Value, Misshapen> {
        let mistake = Cell::new(None);
        let inside = Inside {
            visitor,
            mistake: &mistake,
        };
        let mut json = serde_json::Deserializer::from_str(self.0);
        let read = match (self.0.as_bytes().first(), expected) {
            (Some(b'{'), OBJECT) => json.deserialize_map(inside),
            (Some(b'['), LIST) => json.deserialize_seq(inside),
            _ => return Err(Misshapen::wrong(expected)),
        };
        read.map_err(|_| mistake.take().unwrap_or(Mistake::Other.into()))
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

const OBJECT: &str = "an object";
const LIST: &str = "a list";

impl<'de> Deserializer<'de> for Json<'de> {
    type Error = Misshapen;

    numbers! { self:
        deserialize_u8 visit_u8 u8,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misshapen> {
        visitor.visit_bool(self.scalar("true or false")?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misshapen> {
        visitor.visit_string(self.scalar("a text")?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misshapen> {
        self.deserialize_string(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misshapen> {
        match self.0 {
            "null" => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misshapen> {
        self.inside(visitor, LIST)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misshapen> {
        self.inside(visitor, OBJECT)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misshapen> {
        self.inside(visitor, OBJECT)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        values: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misshapen> {
        let text: String = self.scalar("").map_err(|_| Mistake::UnknownValue(values))?;
        visitor.visit_enum(text.into_deserializer())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misshapen> {
        visitor.visit_unit()
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Misshapen> {
        Err(Mistake::Other.into())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 u16 f32 f64 char bytes byte_buf unit unit_struct newtype_struct tuple
        tuple_struct identifier
    }
}

/// Hands each member of an object or entry of a list to a visitor as [`Json`].
struct Inside<'a, V> {
    visitor: V,
    /// What the visitor refused.
    mistake: &'a Cell<Option<Misshapen>>,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Inside<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        let name = String::new();
        let read = self.visitor.visit_map(ObjectMembers { map, name });
        keep(self.mistake, read)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<V::Value, A::Error> {
        let read = self.visitor.visit_seq(ListEntries { list, index: 0 });
        keep(self.mistake, read)
    }
}

/// Keeps a mistake aside, where the type of the error has no room for it.
fn keep<T, E: de::Error>(
    aside: &Cell<Option<Misshapen>>,
    read: Result<T, Misshapen>,
) -> Result<T, E> {
    read.map_err(|mistake| {
        aside.set(Some(mistake));
        E::custom("kept aside")
    })
}

/// The members of an object.
struct ObjectMembers<A> {
    map: A,
    /// The name of the last one.
    name: String,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for ObjectMembers<A> {
    type Error = Misshapen;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Misshapen> {
        let Some(name) = self.map.next_key::<String>().map_err(other)? else {
            return Ok(None);
        };
        self.name = name;
        let name = self.name.as_str().into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Misshapen> {
        let value: &RawValue = self.map.next_value().map_err(other)?;
        let read = seed.deserialize(Json(value.get()));
        read.map_err(|mistake| mistake.at(&self.name))
    }
}

/// The entries of a list.
struct ListEntries<A> {
    list: A,
    index: usize,
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for ListEntries<A> {
    type Error = Misshapen;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Misshapen> {
        let Some(value) = self.list.next_element::<&RawValue>().map_err(other)? else {
            return Ok(None);
        };
        let read = seed.deserialize(Json(value.get()));
        let read = read.map_err(|mistake| mistake.at(&self.index.to_string()));
        self.index += 1;
        read.map(Some)
    }
}

fn other<E>(_: E) -> Misshapen {
    Mistake::Other.into()
}

/// A parameter of a query.
struct Param<'de> {
    name: &'de str,
    text: &'de str,
}

impl Param<'_> {
    fn scalar<T: FromStr>(&self, expected: &str) -> Result<T, Misshapen> {
        let read = self.text.parse();
        read.map_err(|_| Misshapen::wrong(expected).at(self.name))
    }

    fn whole<T: FromStr>(&self, expected: &str) -> Result<T, Misshapen> {
        self.scalar(expected)
    }
}

impl<'de> IntoDeserializer<'de, Misshapen> for Param<'de> {
    type Deserializer = Param<'de>;

    fn into_deserializer(self) -> Param<'de> {
        self
    }
}

impl<'de> Deserializer<'de> for Param<'de> {
    type Error = Misshapen;

    numbers! { self:
        deserialize_u8 visit_u8 u8,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misshapen> {
        visitor.visit_bool(self.scalar("true or false")?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misshapen> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misshapen> {
        let read = visitor.visit_enum(self.text.into_deserializer());
        read.map_err(|mistake: Misshapen| mistake.at(self.name))
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misshapen> {
        visitor.visit_str(self.text)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 u16 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Any JSON, which is parsed and discarded. (`IgnoredAny` does not check strings and numbers.)
struct JsonSyntax;

impl<'de> Deserialize<'de> for JsonSyntax {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonSyntax, D::Error> {
        deserializer.deserialize_any(JsonSyntax)
    }
}

impl<'de> Visitor<'de> for JsonSyntax {
    type Value = JsonSyntax;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<JsonSyntax, E> {
        Ok(JsonSyntax)
    }

    fn visit_i64<E>(self, _: i64) -> Result<JsonSyntax, E> {
        Ok(JsonSyntax)
    }

    fn visit_u64<E>(self, _: u64) -> Result<JsonSyntax, E> {
        Ok(JsonSyntax)
    }

    fn visit_f64<E>(self, _: f64) -> Result<JsonSyntax, E> {
        Ok(JsonSyntax)
    }

    fn visit_str<E>(self, _: &str) -> Result<JsonSyntax, E> {
        Ok(JsonSyntax)
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
        for text in [
            "60.5",
            "-1",
            "-6e1",
            "1e-400",
            "1e400",
            "1e99999999999999999999",
            "18446744073709551616",
            "1e20",
            "\"60\"",
            "\"0e1\"",
            "true",
            "null",
            "[]",
            "{}",
        ] {
            assert_eq!(whole_number(text), None, "{text}");
        }
    }
}
