//! Tags of representations: the headers `ETag`, `If-Match` and `If-None-Match` (RFC 9110).

use actix_web::http::header::{self, EntityTag, HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};

use crate::problem::{Code, Problem};

/// What an `If-Match` or `If-None-Match` header names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntityTags {
    /// `*`: any representation.
    Any,
    /// The texts between the quotes.
    List(Vec<String>),
}

const BLANK: [char; 2] = [' ', '\t'];

impl EntityTags {
    /// Parses the text of a header.
    ///
    /// Weak tags match nothing by the strong comparison of `If-Match`, so for it they are left out.
    fn parse(text: &str, is_strong: bool) -> Option<EntityTags> {
        if text.trim_matches(BLANK) == "*" {
            return Some(EntityTags::Any);
        }
        let mut in_tag = false;
        let entries = text.split(|letter| {
            in_tag ^= letter == '"';
            letter == ',' && !in_tag
        });
        let entries = entries.map(|entry| entry.trim_matches(BLANK));
        // A list may have empty entries, but not those alone.
        let tags = entries.filter(|entry| !entry.is_empty());
        let tags: Vec<EntityTag> = tags.map(|tag| tag.parse().ok()).collect::<Option<_>>()?;
        let named = tags.iter().filter(|tag| !(is_strong && tag.weak));
        let named = named.map(|tag| tag.tag().to_owned()).collect();
        (!tags.is_empty()).then_some(EntityTags::List(named))
    }

    /// Whether they name the representation with this `ETag`.
    pub fn include(&self, etag: &str) -> bool {
        match self {
            EntityTags::Any => true,
            EntityTags::List(tags) => tags.iter().any(|tag| tag == etag.trim_matches('"')),
        }
    }

    /// Whether they name a game in the state with this tag, in any encoding. The number of its
    /// version names it too, unless there is `more` to it.
    pub fn include_state(&self, state: &str, more: bool) -> bool {
        let version = state.split('-').next().filter(|_| !more);
        match self {
            EntityTags::Any => true,
            EntityTags::List(tags) => tags.iter().any(|tag| {
                let plain = tag.strip_suffix("-gzip").or(tag.strip_suffix("-deflate"));
                let plain = plain.unwrap_or(tag);
                plain == state || Some(plain) == version
            }),
        }
    }
}

/// The condition in the headers with this name, `If-Match` or `If-None-Match`; none without one.
///
/// # Errors
/// `bad_request`, if it cannot be parsed.
pub fn condition(headers: &HeaderMap, name: &HeaderName) -> Result<Option<EntityTags>, Problem> {
    if !headers.contains_key(name) {
        return Ok(None);
    }
    let is_strong = *name == header::IF_MATCH;
    // Several headers with one name form one list.
    let values: Result<Vec<&str>, _> = headers.get_all(name).map(HeaderValue::to_str).collect();
    values
        .ok()
        .and_then(|values| EntityTags::parse(&values.join(","), is_strong))
        .map(Some)
        .ok_or_else(|| {
            let name = if is_strong {
                "If-Match"
            } else {
                "If-None-Match"
            };
            let detail = format!(
                "cannot parse {name}: it must be * or a list of entity tags in double quotes, such \
                 as \"17\""
            );
            Problem::new(Code::BadRequest, detail)
        })
}

/// Whether the client has the representation with this `ETag`.
///
/// # Errors
/// `stale_version`, if `If-Match` does not name it; `bad_request`, if a condition cannot be parsed.
pub fn is_known(headers: &HeaderMap, etag: &str) -> Result<bool, Problem> {
    let needed = condition(headers, &header::IF_MATCH)?;
    if needed.is_some_and(|tags| !tags.include(etag)) {
        let detail = format!("the present ETag is {etag}");
        return Err(Problem::new(Code::StaleVersion, detail));
    }
    is_not_modified(headers, etag)
}

/// Whether the request's `If-None-Match` names this `ETag`.
///
/// # Errors
/// `bad_request`, if it cannot be parsed.
pub fn is_not_modified(headers: &HeaderMap, etag: &str) -> Result<bool, Problem> {
    let known = condition(headers, &header::IF_NONE_MATCH)?;
    Ok(known.is_some_and(|tags| tags.include(etag)))
}

/// 128 bits of the content's hash, in hex.
pub fn content_hash(content: &[u8]) -> String {
    hex::encode(&Sha256::digest(content)[..16])
}

/// A strong ETag of the content with this tag or hash. Each encoding of it has its own (RFC 9110,
/// section 8.8.3.3).
pub fn content_etag(tag: &str, gzip: bool) -> String {
    let encoding = if gzip { "-gzip" } else { "" };
    format!("\"{tag}{encoding}\"")
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{IF_MATCH, IF_NONE_MATCH};

    use super::*;

    fn tags(values: &[&'static [u8]], name: &HeaderName) -> Result<Option<EntityTags>, Problem> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name.clone(), HeaderValue::from_bytes(value).unwrap());
        }
        condition(&headers, name)
    }

    #[test]
    fn lists_of_tags_are_read() {
        let cases: [(&[&'static [u8]], &[&str]); 7] = [
            (&[b"\"17-2\""], &["17-2"]),
            (&[b"W/\"17\""], &["17"]),
            (&[b"\"\""], &[""]),
            (&[b"\"a,1,b\""], &["a,1,b"]),
            (&[b" \"a\"\t,, W/\"b\" ,"], &["a", "b"]),
            (&[b"\"a\"", b"\"b\""], &["a", "b"]),
            (&[b"\"*\""], &["*"]),
        ];
        for (values, expected) in cases {
            let tags = tags(values, &IF_NONE_MATCH).unwrap();
            let expected = expected.iter().map(|&tag| tag.to_owned()).collect();
            assert_eq!(tags, Some(EntityTags::List(expected)), "{values:?}");
        }
        for name in [IF_MATCH, IF_NONE_MATCH] {
            assert_eq!(tags(&[b" * "], &name).unwrap(), Some(EntityTags::Any));
            assert_eq!(tags(&[], &name).unwrap(), None);
        }
    }

    #[test]
    fn all_else_is_an_error() {
        let cases: [&[&'static [u8]]; 16] = [
            &[b""],
            &[b"17"],
            &[b"\"17\", 18"],
            &[b","],
            &[b"a"],
            &[b"\"a"],
            &[b"a\""],
            &[b"\"a\"\"b\""],
            &[b"\"a\" \"b\""],
            &[b"\"a b\""],
            &[b"\"\xc3\xa9\""],
            &[b"w/\"a\""],
            &[b"W/17"],
            &[b"*, \"a\""],
            &[b"17-2"],
            &[b"\"a\"", b"\xff"],
        ];
        for values in cases {
            for name in [IF_MATCH, IF_NONE_MATCH] {
                let problem = tags(values, &name).expect_err("no tags");
                assert_eq!(problem.code(), Code::BadRequest, "{values:?}");
            }
        }
    }

    #[test]
    fn weak_tags_match_weakly_only() {
        let list = |name| tags(&[b"W/\"1\", \"2\""], &name).unwrap().unwrap();
        let (strong, weak) = (list(IF_MATCH), list(IF_NONE_MATCH));
        assert!(weak.include("\"1\"") && weak.include("2"));
        assert!(!strong.include("1") && strong.include("\"2\""));
        assert!(weak.include_state("1-host", false) && !strong.include_state("1-host", false));
        assert!(EntityTags::Any.include("x"));
    }

    #[test]
    fn a_state_has_tags_in_each_encoding_and_by_version() {
        let names = |tag: &str, state: &str, more: bool| {
            EntityTags::List(vec![tag.to_owned()]).include_state(state, more)
        };
        for tag in ["17", "17-2", "17-2-gzip", "17-2-deflate"] {
            assert!(names(tag, "17-2", false), "{tag}");
        }
        for tag in [
            "7",
            "17-",
            "17-1",
            "17-2-1",
            "17-2-zip",
            "17-2-gzip-gzip",
            "17-host",
        ] {
            assert!(!names(tag, "17-2", false), "{tag}");
        }
        // Somebody has joined since.
        assert!(names("17-2-1-gzip", "17-2-1", true) && names("17", "17-2-1", false));
        assert!(!names("17", "17-2-1", true) && !names("17-2", "17-2-1", true));
    }
}
