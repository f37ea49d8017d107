//! What a client accepts: the headers `Accept` and `Accept-Encoding` (RFC 9110).
//!
//! Java's `HttpURLConnection` sends `*; q=.2, */*; q=.2`, which `actix_web::http::header::Accept`
//! leaves out.

use actix_web::{
    HttpRequest,
    http::header::{self, AcceptEncoding, Encoding, Header, HeaderMap},
};

use crate::problem::{Code, Problem};

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

/// The encodings of answers.
const ENCODINGS: [Encoding; 2] = [Encoding::identity(), Encoding::gzip()];

/// Whether the client prefers gzip to no encoding.
pub fn accepts_gzip(request: &HttpRequest) -> bool {
    let accepted = AcceptEncoding::parse(request).ok();
    let preferred = accepted.and_then(|accepted| accepted.negotiate(ENCODINGS.iter()));
    preferred.is_some_and(|encoding| encoding == Encoding::gzip())
}

/// Whether the client accepts neither gzip nor an answer as it is.
pub fn refuses_encodings(request: &HttpRequest) -> bool {
    let accepted = AcceptEncoding::parse(request);
    accepted.is_ok_and(|accepted| accepted.negotiate(ENCODINGS.iter()).is_none())
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

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

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
