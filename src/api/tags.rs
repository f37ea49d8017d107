//! Entity tags in `If-Match` and `If-None-Match` (RFC 9110, section 8.8.3).

use actix_web::http::header::{HeaderMap, HeaderName};
use thiserror::Error;

/// What an `If-Match` or `If-None-Match` header names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tags {
    /// `*`: whatever is there.
    Any,
    /// One tag or more.
    List(Vec<Tag>),
}

/// An entity tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    weak: bool,
    /// The text between the quotes.
    opaque: String,
}

/// The header is neither `*` nor a list of entity tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("it must be * or a list of entity tags in double quotes, such as \"17\"")]
pub struct TagsError;

impl Tags {
    /// Reads the headers of that name; none if there is no such header.
    ///
    /// A number without quotes is read as if it had quotes. Tags hold visible ASCII only.
    ///
    /// # Errors
    /// If the headers are neither `*` nor a list of one tag or more.
    pub fn of(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Tags>, TagsError> {
        let values = headers.get_all(name).map(|value| value.to_str());
        let values = values.collect::<Result<Vec<_>, _>>();
        let values = values.map_err(|_| TagsError)?;
        match values.as_slice() {
            [] => Ok(None),
            // Several headers of one name are one list.
            values => Tags::read(&values.join(",")).map(Some),
        }
    }

    fn read(text: &str) -> Result<Tags, TagsError> {
        if text.trim_matches(BLANK) == "*" {
            return Ok(Tags::Any);
        }
        let mut tags = Vec::new();
        let mut rest = text;
        loop {
            // A list may have empty entries.
            rest = rest.trim_start_matches(SEPARATOR);
            if rest.is_empty() {
                break;
            }
            let (tag, after) = Tag::read(rest).ok_or(TagsError)?;
            tags.push(tag);
            rest = after.trim_start_matches(BLANK);
            if !(rest.is_empty() || rest.starts_with(',')) {
                return Err(TagsError);
            }
        }
        if tags.is_empty() {
            return Err(TagsError);
        }
        Ok(Tags::List(tags))
    }

    /// Whether one of the tags is one of these, which are written without quotes. The strong
    /// comparison, for `If-Match`: a weak tag matches nothing.
    pub fn match_strongly(&self, tags: &[&str]) -> bool {
        self.has(|tag| !tag.weak && tags.contains(&tag.opaque.as_str()))
    }

    /// Whether one of the tags is this one, which is written without quotes. The weak comparison,
    /// for `If-None-Match`.
    pub fn match_weakly(&self, opaque: &str) -> bool {
        self.has(|tag| tag.opaque == opaque)
    }

    fn has(&self, wanted: impl Fn(&Tag) -> bool) -> bool {
        match self {
            Tags::Any => true,
            Tags::List(tags) => tags.iter().any(wanted),
        }
    }
}

const BLANK: [char; 2] = [' ', '\t'];
const SEPARATOR: [char; 3] = [' ', '\t', ','];

impl Tag {
    /// Reads a tag at the beginning of a text; what follows it.
    fn read(text: &str) -> Option<(Tag, &str)> {
        if text.starts_with(|first: char| first.is_ascii_digit()) {
            let end = text.find(|next: char| !next.is_ascii_digit());
            let (number, rest) = text.split_at(end.unwrap_or(text.len()));
            let opaque = number.to_owned();
            let weak = false;
            return Some((Tag { weak, opaque }, rest));
        }
        let (weak, quoted) = match text.strip_prefix("W/") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (opaque, rest) = quoted.strip_prefix('"')?.split_once('"')?;
        let visible = opaque.bytes().all(|byte| byte.is_ascii_graphic());
        let opaque = opaque.to_owned();
        visible.then_some((Tag { weak, opaque }, rest))
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderValue, IF_MATCH};

    use super::*;

    fn tags(values: &[&'static [u8]]) -> Result<Option<Tags>, TagsError> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(IF_MATCH, HeaderValue::from_bytes(value).unwrap());
        }
        Tags::of(&headers, &IF_MATCH)
    }

    #[test]
    fn lists_of_tags_are_read() {
        let tag = |weak, opaque: &str| Tag {
            weak,
            opaque: opaque.to_owned(),
        };
        let cases: [(&[&'static [u8]], Vec<Tag>); 8] = [
            (&[b"\"17-2\""], vec![tag(false, "17-2")]),
            (&[b"W/\"17\""], vec![tag(true, "17")]),
            (&[b"\"\""], vec![tag(false, "")]),
            (&[b"\"a,1,b\""], vec![tag(false, "a,1,b")]),
            (
                &[b" \"a\"\t,, W/\"b\" ,"],
                vec![tag(false, "a"), tag(true, "b")],
            ),
            (
                &[b"\"a\"", b"\"b\""],
                vec![tag(false, "a"), tag(false, "b")],
            ),
            (&[b"17"], vec![tag(false, "17")]),
            (&[b"\"*\""], vec![tag(false, "*")]),
        ];
        for (values, expected) in cases {
            assert_eq!(tags(values), Ok(Some(Tags::List(expected))), "{values:?}");
        }
        assert_eq!(tags(&[b" * "]), Ok(Some(Tags::Any)));
        assert_eq!(tags(&[]), Ok(None));
    }

    #[test]
    fn all_else_is_an_error() {
        let cases: [&[&'static [u8]]; 13] = [
            &[b""],
            &[b","],
            &[b"a"],
            &[b"\"a"],
            &[b"a\""],
            &[b"\"a\"\"b\""],
            &[b"\"a\" \"b\""],
            &[b"\"a b\""],
            &[b"\"\xc3\xa9\""],
            &[b"w/\"a\""],
            &[b"*, \"a\""],
            &[b"17-2"],
            &[b"\"a\"", b"\xff"],
        ];
        for values in cases {
            assert_eq!(tags(values), Err(TagsError), "{values:?}");
        }
    }

    #[test]
    fn weak_tags_match_weakly_only() {
        let list = tags(&[b"W/\"1\", \"2\""]).unwrap().unwrap();
        assert!(list.match_weakly("1") && list.match_weakly("2"));
        assert!(!list.match_strongly(&["1", "3"]) && list.match_strongly(&["1", "2"]));
        assert!(Tags::Any.match_weakly("x") && Tags::Any.match_strongly(&["x"]));
    }
}
