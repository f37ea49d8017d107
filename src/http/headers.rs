//! The headers `Accept`, `Accept-Encoding`, `ETag`, `Host`, `If-Match` and `If-None-Match` (RFC
//! 9110).

use std::io::Write;

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    dev::RequestHead,
    http::{
        StatusCode,
        header::{self, AcceptEncoding, Encoding, Header, HeaderMap, HeaderName, HeaderValue},
        uri::Authority,
    },
    web::Bytes,
};
use dog_store::StoredGame;
use flate2::{Compression, write::GzEncoder};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    json::to_json,
    problem::{Code, Problem},
};
use crate::access::{AccessError, Role, state_tag};

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
    let mut ranges = ranges(headers);
    let mut texts = headers.get_all(header::ACCEPT);
    if texts.all(|text| text.as_bytes().trim_ascii().is_empty()) {
        ranges.extend(Range::read("*"));
    }
    offers
        .iter()
        .map(|&offer| (offer, weight(offer, &ranges).unwrap_or(0.0)))
        .filter(|&(_, weight)| weight > 0.0)
        // `max_by` returns the last of equals, hence the reverse order.
        .rev()
        .max_by(|(_, one), (_, other)| one.total_cmp(other))
        .map(|(offer, _)| offer)
        .ok_or_else(|| {
            let detail = format!("this is available as {}", offers.join(" or "));
            Problem::new(Code::NotAcceptable, detail)
        })
}

/// Whether the client says of each of these media types, and of one at least, that it does not
/// accept it. They are asked for only if it may be so.
pub fn refuses_all(headers: &HeaderMap, offers: impl FnOnce() -> Vec<String>) -> bool {
    let ranges = ranges(headers);
    if ranges.iter().all(|range| range.weight > 0.0) {
        return false;
    }
    let offers = offers();
    let is_refused = |offer: &String| weight(offer, &ranges) == Some(0.0);
    !offers.is_empty() && offers.iter().all(is_refused)
}

/// The entries of all `Accept` headers, without those that are invalid.
fn ranges(headers: &HeaderMap) -> Vec<Range<'_>> {
    let texts = headers.get_all(header::ACCEPT);
    let texts = texts.filter_map(|value| value.to_str().ok());
    let entries = texts.flat_map(|text| text.split(','));
    entries.filter_map(Range::read).collect()
}

/// The weight that the most specific of these ranges gives to a media type; none if there is no
/// such range.
fn weight(offer: &str, ranges: &[Range<'_>]) -> Option<f32> {
    ranges
        .iter()
        .filter_map(|range| Some((range.match_level(offer)?, range.weight)))
        .max_by_key(|&(level, _)| level)
        .map(|(_, weight)| weight)
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
    fn match_level(&self, offer: &str) -> Option<usize> {
        let kind = offer.split('/').next().unwrap_or_default();
        // Some clients send a single star.
        ["*", "*/*", &format!("{kind}/*"), offer]
            .iter()
            .position(|range| self.name.eq_ignore_ascii_case(range))
    }
}

/// What an `If-Match` or `If-None-Match` header names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntityTags {
    /// `*`: any representation.
    Any,
    /// The texts between the quotes.
    List(Vec<String>),
}

const BLANK: [char; 2] = [' ', '\t'];
const SEPARATOR: [char; 3] = [' ', '\t', ','];

impl EntityTags {
    /// Parses the text of a header. Tags consist of visible ASCII, in quotes.
    ///
    /// Weak tags match nothing by the strong comparison of `If-Match`, so for it they are left out.
    fn parse(text: &str, is_strong: bool) -> Option<EntityTags> {
        if text.trim_matches(BLANK) == "*" {
            return Some(EntityTags::Any);
        }
        let mut tags = Vec::new();
        // A list may have empty entries, but not those alone.
        let mut rest = text.trim_start_matches(SEPARATOR);
        if rest.is_empty() {
            return None;
        }
        while !rest.is_empty() {
            let weak = rest.strip_prefix("W/");
            let (tag, after) = weak.unwrap_or(rest).strip_prefix('"')?.split_once('"')?;
            if !tag.bytes().all(|byte| byte.is_ascii_graphic()) {
                return None;
            }
            if !(is_strong && weak.is_some()) {
                tags.push(tag.to_owned());
            }
            rest = after.trim_start_matches(BLANK);
            if !(rest.is_empty() || rest.starts_with(',')) {
                return None;
            }
            rest = rest.trim_start_matches(SEPARATOR);
        }
        Some(EntityTags::List(tags))
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

/// Checks the `If-Match` of a request that reads a representation with this tag.
///
/// # Errors
/// `stale_version`, if it does not name it; `bad_request`, if it cannot be parsed.
pub fn check_if_match(headers: &HeaderMap, etag: &str) -> Result<(), Problem> {
    let named = condition(headers, &header::IF_MATCH)?;
    if named.is_none_or(|tags| tags.include(etag)) {
        return Ok(());
    }
    let detail = format!("the present ETag is {etag}");
    Err(Problem::new(Code::StaleVersion, detail))
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

/// Gives a response that was encoded on its way the tag of its encoding, if it has a strong one.
/// `identity` was there to keep the compressor off; clients need no such header.
pub fn complete_encoding(headers: &mut HeaderMap) {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let coding = text(header::CONTENT_ENCODING).unwrap_or("identity");
    if coding == "identity" {
        headers.remove(header::CONTENT_ENCODING);
        return;
    }
    let (end, etag) = (format!("-{coding}\""), text(header::ETAG).unwrap_or("W/"));
    let encoded = etag.trim_end_matches('"').to_owned() + end.as_str();
    let has_own_tag = etag.starts_with("W/") || etag.ends_with(&end);
    if let (false, Ok(encoded)) = (has_own_tag, HeaderValue::try_from(encoded)) {
        headers.insert(header::ETAG, encoded);
    }
}

/// Content in the encoding that the client prefers.
pub struct EncodedContent {
    bytes: Bytes,
    encoding: &'static str,
}

impl EncodedContent {
    /// Compresses the content, if the client accepts `gzip`.
    ///
    /// # Errors
    /// Never in practice: writing to memory does not fail.
    pub fn new(content: impl Into<Bytes>, gzip: bool) -> Result<EncodedContent, Problem> {
        let content = content.into();
        let (bytes, encoding) = if gzip {
            (self::gzip(&content)?.into(), "gzip")
        } else {
            // Another encoding would be applied on the way.
            (content, "identity")
        };
        Ok(EncodedContent { bytes, encoding })
    }

    pub fn respond(self, response: &mut HttpResponseBuilder) -> HttpResponse {
        response
            .insert_header((header::CONTENT_ENCODING, self.encoding))
            .body(self.bytes)
    }
}

/// Content with its `ETag`.
pub struct TaggedContent {
    etag: String,
    /// None if the client has it.
    content: Option<EncodedContent>,
}

impl TaggedContent {
    /// The content for a request with these headers.
    ///
    /// # Errors
    /// Those of [`check_if_match`].
    pub fn new(
        headers: &HeaderMap,
        content: Vec<u8>,
        gzip: bool,
    ) -> Result<TaggedContent, Problem> {
        let etag = content_etag(&content_hash(&content), gzip);
        check_if_match(headers, &etag)?;
        let is_known = is_not_modified(headers, &etag)?;
        Ok(TaggedContent {
            etag,
            content: (!is_known)
                .then(|| EncodedContent::new(content, gzip))
                .transpose()?,
        })
    }

    /// The response; 304 if the client has the content.
    pub fn respond(self, response: &mut HttpResponseBuilder) -> HttpResponse {
        response.insert_header((header::ETAG, self.etag));
        match self.content {
            Some(content) => content.respond(response),
            None => response.status(StatusCode::NOT_MODIFIED).finish(),
        }
    }
}

/// The response with this content, with an `ETag`. Compressing some 10 KB takes less time than
/// passing them to another thread.
///
/// # Errors
/// Those of [`check_if_match`].
pub fn send_content(
    request: &HttpRequest,
    response: &mut HttpResponseBuilder,
    content: Vec<u8>,
) -> Result<HttpResponse, Problem> {
    let content = TaggedContent::new(request.headers(), content, accepts_gzip(request))?;
    Ok(content.respond(response))
}

/// The response with JSON that is the same for all, and may be kept as `caching` says.
///
/// # Errors
/// Those of [`check_if_match`].
pub fn send_json(
    request: &HttpRequest,
    caching: &'static str,
    value: &impl Serialize,
) -> Result<HttpResponse, Problem> {
    let mut response = HttpResponse::Ok();
    response
        .content_type("application/json")
        .insert_header((header::VARY, "Accept-Encoding"))
        .insert_header((header::CACHE_CONTROL, caching));
    send_content(request, &mut response, to_json(value)?.into_bytes())
}

/// The response with what this role sees of a game, which `json` writes; 304 if the client has it.
/// It `is_known` to a client that has waited for another version in vain.
///
/// # Errors
/// `stale_version`; `bad_request`, if a condition cannot be parsed.
pub fn send_state(
    request: &HttpRequest,
    stored: &StoredGame,
    role: Role,
    is_known: bool,
    json: impl FnOnce() -> Result<Bytes, Problem>,
) -> Result<HttpResponse, Problem> {
    let (headers, gzip) = (request.headers(), accepts_gzip(request));
    let tag = state_tag(stored, role);
    let needed = condition(headers, &header::IF_MATCH)?;
    if needed.is_some_and(|tags| !tags.include_state(&tag, false)) {
        return Err(AccessError::StaleVersion(stored.game.version()).into());
    }
    let known = condition(headers, &header::IF_NONE_MATCH)?;
    let more = tag.matches('-').count() > 1;
    let is_known = is_known || known.is_some_and(|tags| tags.include_state(&tag, more));
    let mut response = private_response(match is_known {
        true => StatusCode::NOT_MODIFIED,
        false => StatusCode::OK,
    });
    response.insert_header((header::ETAG, content_etag(&tag, gzip)));
    if is_known {
        return Ok(response.finish());
    }
    response.content_type("application/json");
    Ok(EncodedContent::new(json()?, gzip)?.respond(&mut response))
}

fn invalid_host() -> Problem {
    let detail = "the host is not a name with or without a port";
    Problem::new(Code::BadRequest, detail)
}

/// The host that the request is for: that of its target or else of `Host` (RFC 9112, section
/// 3.2.2).
///
/// # Errors
/// `bad_request`, if one of them is not the name of a host, with a port or without.
pub fn host(head: &RequestHead) -> Result<Option<Authority>, Problem> {
    let field = match head.headers().get(header::HOST).map(HeaderValue::to_str) {
        None => None,
        Some(Ok("")) => None,
        Some(Ok(text)) => Some(text.parse::<Authority>().map_err(|_| invalid_host())?),
        Some(Err(_)) => return Err(invalid_host()),
    };
    for authority in [head.uri.authority(), field.as_ref()].into_iter().flatten() {
        // The parser takes any text after a colon for a port, and reads a user before an `@`.
        let port = authority.as_str().strip_prefix(authority.host());
        let port = port.ok_or_else(invalid_host)?;
        let digits = port.strip_prefix(':').unwrap_or(port);
        let is_port = digits.bytes().all(|byte| byte.is_ascii_digit())
            && (digits.is_empty() || digits.parse::<u16>().is_ok());
        if authority.host().is_empty() || !is_port {
            return Err(invalid_host());
        }
    }
    Ok(head.uri.authority().cloned().or(field))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{IF_MATCH, IF_NONE_MATCH};

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
        assert_eq!(chosen(&[]), Some(OFFERS[0]));
        for text in ["", "*/*", "*", "*; q=.2", "text/html, */*;q=0.1"] {
            assert_eq!(chosen(&[text]), Some(OFFERS[0]), "{text}");
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
        let texts =
            "text/html|image/png|audio/*|*/*;q=0|application/json;q=0|image/svg+xml;q=2|json";
        for text in texts.split('|') {
            assert_eq!(chosen(&[text]), None, "{text}");
        }
    }

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

    #[test]
    fn what_is_refused_has_a_weight_of_0() {
        let refuses = |text: &'static str, offers: &[&str]| {
            let mut headers = HeaderMap::new();
            headers.append(header::ACCEPT, HeaderValue::from_static(text));
            let offers: Vec<String> = offers.iter().map(|&offer| offer.to_owned()).collect();
            refuses_all(&headers, || offers)
        };
        let json = &OFFERS[..1];
        for text in ["application/json;q=0", "application/*; q=0.0, */*", "*;q=0"] {
            assert!(refuses(text, json), "{text}");
            assert!(!refuses(text, &[]), "{text}");
        }
        for text in [
            "",
            "text/html",
            "*/*;q=0, application/json",
            "image/svg+xml;q=0",
        ] {
            assert!(!refuses(text, json), "{text}");
        }
        assert!(!refuses("application/json;q=0", &OFFERS[..2]));
        assert!(refuses("application/json;q=0, image/*;q=0", &OFFERS[..2]));
    }
}
