//! The headers `Accept`, `Accept-Encoding`, `Authorization`, `If-Match` and `If-None-Match`
//! (RFC 9110).

use std::{fmt::Write as _, io::Write};

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::{
        StatusCode,
        header::{self, AcceptEncoding, Encoding, Header, HeaderMap, HeaderName},
    },
};
use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::problem::{Code, Problem};
use crate::{
    access::{Caller, NO_BEARER, NamedStates},
    store::TokenHash,
};

pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The offered media type that the client prefers: the first one among equals, and the first of all
/// if the client states no preference. There must be at least one offer.
///
/// The weight of an offer is that of the most specific range that matches it (RFC 9110, §12.5.1).
/// Parameters other than `q` are ignored.
///
/// # Errors
/// `not_acceptable`, if the client accepts none of them.
pub fn preferred(headers: &HeaderMap, offers: &[&'static str]) -> Result<&'static str, Problem> {
    let texts = headers.get_all(header::ACCEPT);
    let text: Vec<&str> = texts.filter_map(|value| value.to_str().ok()).collect();
    let text = text.join(",");
    let text = if text.trim().is_empty() { "*" } else { &text };
    let ranges: Vec<Range<'_>> = text.split(',').filter_map(Range::read).collect();
    let weight = |offer: &str| {
        let matching = ranges
            .iter()
            .filter_map(|range| Some((range.match_level(offer)?, range.weight)));
        let best = matching.max_by_key(|&(exact, _)| exact);
        best.map_or(0.0, |(_, weight)| weight)
    };
    // `max_by` returns the last of equals, hence the reverse order.
    let offers_backwards = offers.iter().copied().rev();
    let best = offers_backwards.max_by(|one, other| weight(one).total_cmp(&weight(other)));
    best.filter(|offer| weight(offer) > 0.0).ok_or_else(|| {
        let detail = format!("this is available as {}", offers.join(" or "));
        Problem::new(Code::NotAcceptable, detail)
    })
}

/// Whether the client prefers gzip to no encoding.
pub fn accepts_gzip(request: &HttpRequest) -> bool {
    let offers = [Encoding::identity(), Encoding::gzip()];
    AcceptEncoding::parse(request)
        .ok()
        .and_then(|accepted| accepted.negotiate(offers.iter()))
        .is_some_and(|encoding| encoding == Encoding::gzip())
}

/// Compresses the bytes with gzip.
pub fn gzip(bytes: &[u8]) -> Result<Vec<u8>, Problem> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).map_err(Problem::internal)?;
    packed.finish().map_err(Problem::internal)
}

/// A response for the caller only, which may depend on what the caller accepts.
pub fn private_response(status: StatusCode) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    response
        .insert_header((header::VARY, "Authorization, Accept, Accept-Encoding"))
        .insert_header((header::CACHE_CONTROL, "private, no-cache"));
    response
}

/// One entry of an `Accept` header.
struct Range<'a> {
    /// `image/svg+xml`, `image/*` or `*/*`.
    name: &'a str,
    /// 0 to 1.
    weight: f32,
}

impl<'a> Range<'a> {
    /// Parses an entry; none if it is empty or its weight is invalid.
    fn read(entry: &'a str) -> Option<Range<'a>> {
        let mut parts = entry.split(';').map(str::trim);
        let name = parts.next().filter(|name| !name.is_empty())?;
        let mut weight = 1.0;
        for parameter in parts {
            if let Some((name, value)) = parameter.split_once('=')
                && name.eq_ignore_ascii_case("q")
            {
                weight = value.parse().ok()?;
            }
        }
        (0.0..=1.0)
            .contains(&weight)
            .then_some(Range { name, weight })
    }

    /// How specifically the range matches this media type; none if it does not.
    fn match_level(&self, offer: &str) -> Option<u8> {
        let kind = offer.split('/').next().unwrap_or_default();
        if self.name.eq_ignore_ascii_case(offer) {
            Some(2)
        } else if matches!(self.name.split_once('/'), Some((name, "*")) if name.eq_ignore_ascii_case(kind))
        {
            Some(1)
        } else {
            // Some clients send a single star.
            ["*/*", "*"].contains(&self.name).then_some(0)
        }
    }
}

/// The value of an `If-Match` or `If-None-Match` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntityTags {
    /// `*`: any representation.
    Any,
    /// One or more tags.
    List(Vec<EntityTag>),
}

/// An entity tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityTag {
    weak: bool,
    /// The text between the quotes.
    opaque: String,
}

/// The header is neither `*` nor a list of entity tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("it must be * or a list of entity tags in double quotes, such as \"17\"")]
pub struct TagsError;

impl EntityTags {
    /// Parses the headers with that name; none if there are none.
    ///
    /// A number without quotes is accepted as if it had quotes. Tags consist of visible ASCII.
    pub fn of(headers: &HeaderMap, name: &HeaderName) -> Result<Option<EntityTags>, TagsError> {
        let values = headers.get_all(name).map(|value| value.to_str());
        let values = values.collect::<Result<Vec<_>, _>>();
        let values = values.map_err(|_| TagsError)?;
        match values.as_slice() {
            [] => Ok(None),
            // Several headers with one name form one list.
            values => EntityTags::read(&values.join(",")).map(Some),
        }
    }

    fn read(text: &str) -> Result<EntityTags, TagsError> {
        if text.trim_matches(BLANK) == "*" {
            return Ok(EntityTags::Any);
        }
        let mut tags = Vec::new();
        let mut rest = text;
        loop {
            // A list may have empty entries.
            rest = rest.trim_start_matches(SEPARATOR);
            if rest.is_empty() {
                break;
            }
            let (tag, after) = EntityTag::read(rest).ok_or(TagsError)?;
            tags.push(tag);
            rest = after.trim_start_matches(BLANK);
            if !(rest.is_empty() || rest.starts_with(',')) {
                return Err(TagsError);
            }
        }
        if tags.is_empty() {
            return Err(TagsError);
        }
        Ok(EntityTags::List(tags))
    }

    /// The states of a game by the strong comparison of `If-Match`, in which weak tags match nothing.
    pub fn strong(self) -> NamedStates {
        self.states(|tag| !tag.weak)
    }

    /// The states of a game by the weak comparison of `If-None-Match`.
    pub fn weak(self) -> NamedStates {
        self.states(|_| true)
    }

    fn states(self, counts: impl Fn(&EntityTag) -> bool) -> NamedStates {
        let EntityTags::List(tags) = self else {
            return NamedStates::Any;
        };
        let named = tags.into_iter().filter(counts);
        NamedStates::List(named.map(|tag| tag.opaque).collect())
    }

    /// Whether one of the tags equals this one by the strong comparison of `If-Match`.
    pub fn strong_match(&self, etag: &str) -> bool {
        let opaque = etag.trim_matches('"');
        self.any(|tag| !tag.weak && tag.opaque == opaque)
    }

    /// Whether one of the tags equals this one by the weak comparison of `If-None-Match`.
    pub fn weak_match(&self, etag: &str) -> bool {
        let opaque = etag.trim_matches('"');
        self.any(|tag| tag.opaque == opaque)
    }

    fn any(&self, wanted: impl Fn(&EntityTag) -> bool) -> bool {
        match self {
            EntityTags::Any => true,
            EntityTags::List(tags) => tags.iter().any(wanted),
        }
    }
}

const BLANK: [char; 2] = [' ', '\t'];
const SEPARATOR: [char; 3] = [' ', '\t', ','];

impl EntityTag {
    /// Parses a tag at the beginning of a text, and returns the rest.
    fn read(text: &str) -> Option<(EntityTag, &str)> {
        if text.starts_with(|first: char| first.is_ascii_digit()) {
            let end = text.find(|next: char| !next.is_ascii_digit());
            let (number, rest) = text.split_at(end.unwrap_or(text.len()));
            let opaque = number.to_owned();
            let weak = false;
            return Some((EntityTag { weak, opaque }, rest));
        }
        let (weak, quoted) = match text.strip_prefix("W/") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (opaque, rest) = quoted.strip_prefix('"')?.split_once('"')?;
        let visible = opaque.bytes().all(|byte| byte.is_ascii_graphic());
        let opaque = opaque.to_owned();
        visible.then_some((EntityTag { weak, opaque }, rest))
    }
}

/// The condition of a write in the header with this name.
///
/// # Errors
/// `bad_request`, if it cannot be parsed.
pub fn condition(headers: &HeaderMap, name: &HeaderName) -> Result<Option<EntityTags>, Problem> {
    EntityTags::of(headers, name).map_err(|error| {
        let detail = format!("cannot parse {}: {error}", field_name(name));
        Problem::new(Code::BadRequest, detail)
    })
}

/// The name of a condition as documents write it.
fn field_name(name: &HeaderName) -> &str {
    match *name {
        header::IF_MATCH => "If-Match",
        header::IF_NONE_MATCH => "If-None-Match",
        _ => name.as_str(),
    }
}

/// Checks the `If-Match` of a request that reads a representation with one of these tags.
///
/// # Errors
/// `stale_version`, if it names none of them; `bad_request`, if it cannot be parsed.
pub fn check_if_match(headers: &HeaderMap, etags: &[&str]) -> Result<(), Problem> {
    let Some(named) = condition(headers, &header::IF_MATCH)? else {
        return Ok(());
    };
    if etags.iter().any(|etag| named.strong_match(etag)) {
        return Ok(());
    }
    let detail = format!("the present ETag is {}", etags[0]);
    Err(Problem::new(Code::StaleVersion, detail))
}

/// Whether the request's `If-None-Match` names this `ETag`. A header that cannot be parsed is
/// ignored.
pub fn is_not_modified(headers: &HeaderMap, etag: &str) -> bool {
    let known = EntityTags::of(headers, &header::IF_NONE_MATCH);
    known.is_ok_and(|tags| tags.is_some_and(|tags| tags.weak_match(etag)))
}

/// 128 bits of the content's hash, in hex.
pub fn content_hash(content: &[u8]) -> String {
    let mut hash = String::new();
    for byte in &Sha256::digest(content)[..16] {
        write!(hash, "{byte:02x}").expect("writing to a string does not fail");
    }
    hash
}

/// A strong ETag of the content with this hash. Each encoding of it has its own (RFC 9110,
/// section 8.8.3.3).
pub fn content_etag(hash: &str, gzip: bool) -> String {
    let encoding = if gzip { "-gzip" } else { "" };
    format!("\"{hash}{encoding}\"")
}

/// The response with this content in the encoding that the client prefers, with an `ETag`; 304 if
/// the client has it. Compressing some 10 KB takes less time than passing them to another thread.
///
/// # Errors
/// Those of [`check_if_match`].
pub fn send_content(
    request: &HttpRequest,
    response: &mut HttpResponseBuilder,
    content: Vec<u8>,
) -> Result<HttpResponse, Problem> {
    let gzip = accepts_gzip(request);
    let etag = content_etag(&content_hash(&content), gzip);
    response.insert_header((header::ETAG, etag.as_str()));
    check_if_match(request.headers(), &[&etag])?;
    if is_not_modified(request.headers(), &etag) {
        return Ok(response.status(StatusCode::NOT_MODIFIED).finish());
    }
    let (encoding, body) = match gzip {
        true => ("gzip", self::gzip(&content)?),
        // Another encoding would be applied on the way.
        false => ("identity", content),
    };
    response.insert_header((header::CONTENT_ENCODING, encoding));
    Ok(response.body(body))
}

/// The caller with these headers.
pub fn caller(headers: &HeaderMap) -> Caller {
    Caller::new(headers.get(header::AUTHORIZATION).map(|value| {
        match value.as_bytes().split_at_checked(7) {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"Bearer ") => {
                TokenHash::new(&String::from_utf8_lossy(token))
            }
            _ => NO_BEARER,
        }
    }))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderValue, IF_MATCH};

    use super::*;

    const OFFERS: [&str; 3] = ["application/json", "image/svg+xml", "text/plain"];

    /// What is chosen for these `Accept` headers, if anything is.
    fn chosen(texts: &[&'static str]) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        for text in texts {
            headers.append(header::ACCEPT, HeaderValue::from_static(text));
        }
        preferred(&headers, &OFFERS).ok()
    }

    #[test]
    fn without_a_preference_the_first_offer_is_chosen() {
        for texts in [
            &[][..],
            &[""],
            &["*/*"],
            &["*"],
            &["*; q=.2"],
            &["text/html, */*;q=0.1"],
        ] {
            assert_eq!(chosen(texts), Some(OFFERS[0]), "{texts:?}");
        }
    }

    #[test]
    fn the_preferred_offer_is_chosen() {
        for (text, offer) in [
            ("image/svg+xml", OFFERS[1]),
            ("IMAGE/SVG+XML", OFFERS[1]),
            ("image/*", OFFERS[1]),
            ("image/avif,image/webp,image/*,*/*;q=0.8", OFFERS[1]),
            ("text/plain;charset=utf-8", OFFERS[2]),
            ("application/json;q=0.5, image/svg+xml;q=0.9", OFFERS[1]),
            ("image/svg+xml;q=0.5, application/json", OFFERS[0]),
            ("text/plain, image/svg+xml", OFFERS[1]),
            ("*/*, application/json;q=0", OFFERS[1]),
            ("*/*;q=1, image/*;q=0.2, application/*;q=0.3", OFFERS[2]),
            ("image/*;q=0, image/svg+xml", OFFERS[1]),
            ("image/svg+xml; Q=0.7, text/plain; q=0.8", OFFERS[2]),
            ("image/svg+xml;q=nonsense, text/plain;q=0.1", OFFERS[2]),
        ] {
            assert_eq!(chosen(&[text]), Some(offer), "{text}");
        }
        assert_eq!(chosen(&["text/html", "text/plain"]), Some(OFFERS[2]));
    }

    #[test]
    fn an_unacceptable_offer_is_not_chosen() {
        for text in [
            "text/html",
            "image/png",
            "audio/*",
            "*/*;q=0",
            "application/json;q=0",
            "image/svg+xml;q=2",
            "json",
        ] {
            assert_eq!(chosen(&[text]), None, "{text}");
        }
    }

    fn tags(values: &[&'static [u8]]) -> Result<Option<EntityTags>, TagsError> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(IF_MATCH, HeaderValue::from_bytes(value).unwrap());
        }
        EntityTags::of(&headers, &IF_MATCH)
    }

    #[test]
    fn lists_of_tags_are_read() {
        let tag = |weak, opaque: &str| EntityTag {
            weak,
            opaque: opaque.to_owned(),
        };
        let cases: [(&[&'static [u8]], Vec<EntityTag>); 8] = [
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
            assert_eq!(
                tags(values),
                Ok(Some(EntityTags::List(expected))),
                "{values:?}"
            );
        }
        assert_eq!(tags(&[b" * "]), Ok(Some(EntityTags::Any)));
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
        assert!(list.weak_match("1") && list.weak_match("2"));
        assert!(!list.strong_match("1") && list.strong_match("2"));
        assert!(EntityTags::Any.weak_match("x") && EntityTags::Any.strong_match("x"));
    }
}
