//! Which form of an answer a client wants: its `Accept` header held against what a route offers.

use std::io::{self, Write};

use actix_web::{
    HttpRequest,
    http::header::{self, AcceptEncoding, Encoding, Header, HeaderMap},
};
use flate2::{Compression, write::GzEncoder};

use super::problem::{Code, Problem};

/// The media type of the offers, of which there is one at least, that the client likes best; of
/// those it likes equally the first, and the first of all if it says nothing.
///
/// An offer's weight is that of the most exact range that it falls under (RFC 9110, §12.5.1);
/// parameters other than `q` are not looked at.
///
/// # Errors
/// `not_acceptable`, if it likes none of them.
pub fn preferred(headers: &HeaderMap, offers: &[&'static str]) -> Result<&'static str, Problem> {
    let texts = headers.get_all(header::ACCEPT);
    let text: Vec<&str> = texts.filter_map(|value| value.to_str().ok()).collect();
    let text = text.join(",");
    let ranges: Vec<Range<'_>> = text.split(',').filter_map(Range::read).collect();
    let mut best: Option<(&'static str, f32)> = None;
    for &offer in offers {
        let weight = if text.trim().is_empty() {
            1.0
        } else {
            let fitting = ranges
                .iter()
                .filter_map(|range| range.fits(offer).map(|exact| (exact, range.weight)));
            fitting
                .max_by_key(|&(exact, _)| exact)
                .map_or(0.0, |(_, weight)| weight)
        };
        if weight > best.map_or(0.0, |(_, weight)| weight) {
            best = Some((offer, weight));
        }
    }
    best.map(|(offer, _)| offer).ok_or_else(|| {
        let detail = format!("this is to be had as {}", offers.join(" or "));
        Problem::new(Code::NotAcceptable, detail)
    })
}

/// Whether the client takes gzip, and likes nothing better.
pub fn takes_gzip(request: &HttpRequest) -> bool {
    let offers = [Encoding::identity(), Encoding::gzip()];
    AcceptEncoding::parse(request)
        .ok()
        .and_then(|accepted| accepted.negotiate(offers.iter()))
        .is_some_and(|encoding| encoding == Encoding::gzip())
}

/// The bytes in gzip's form.
///
/// # Errors
/// None that can happen: memory takes what is written to it.
pub fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes)?;
    packed.finish()
}

/// One entry of an `Accept` header.
struct Range<'a> {
    /// `image/svg+xml`, `image/*` or `*/*`.
    name: &'a str,
    /// 0 to 1.
    weight: f32,
}

impl<'a> Range<'a> {
    /// Nothing for an entry that is empty, or whose weight is none.
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

    /// How exactly the range names this media type, if it does.
    fn fits(&self, offer: &str) -> Option<u8> {
        let kind = offer.split('/').next().unwrap_or_default();
        if self.name.eq_ignore_ascii_case(offer) {
            Some(2)
        } else if matches!(self.name.split_once('/'), Some((name, "*")) if name.eq_ignore_ascii_case(kind))
        {
            Some(1)
        } else {
            // Some clients write the lone star.
            ["*/*", "*"].contains(&self.name).then_some(0)
        }
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
    fn who_says_nothing_gets_the_first_offer() {
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
    fn the_best_liked_offer_is_chosen() {
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
    fn who_likes_no_offer_gets_none() {
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
}
