//! Which of the forms that an answer can have the client wants.

use actix_web::http::header::{self, HeaderMap};

use super::problem::{Code, Problem};

/// The place of the media type, of those offered, that `Accept` likes best; of those it likes
/// equally, the first. Without the header anything is welcome.
///
/// # Errors
/// `not_acceptable`, if it likes none.
pub fn preferred(headers: &HeaderMap, offers: &[&str]) -> Result<usize, Problem> {
    let mut values = headers.get_all(header::ACCEPT).peekable();
    if values.peek().is_none() {
        return Ok(0);
    }
    let ranges: Vec<(&str, f32)> = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(range)
        .collect();
    let mut best: Option<(usize, f32)> = None;
    for (place, offer) in offers.iter().enumerate() {
        let quality = quality(&ranges, offer);
        if quality > best.map_or(0.0, |(_, quality)| quality) {
            best = Some((place, quality));
        }
    }
    let none = || {
        let detail = format!("this is to be had as {}", offers.join(" and "));
        Problem::new(Code::NotAcceptable, detail)
    };
    best.map(|(place, _)| place).ok_or_else(none)
}

/// A media range and its quality, 1 if none is named.
fn range(text: &str) -> (&str, f32) {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let quality = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    let quality = quality.map_or(1.0, |quality| quality.parse().unwrap_or(0.0));
    (name, quality)
}

/// The quality of the range that names this type most exactly; 0 if none does.
fn quality(ranges: &[(&str, f32)], offer: &str) -> f32 {
    let family = offer.split('/').next().unwrap_or_default();
    let exactness = |name: &str| match name.split_once('/') {
        _ if name.eq_ignore_ascii_case(offer) => 3,
        Some((of, "*")) if of.eq_ignore_ascii_case(family) => 2,
        Some(("*", "*")) => 1,
        _ => 0,
    };
    let fitting = ranges.iter().filter(|(name, _)| exactness(name) > 0);
    let most_exact = fitting.max_by_key(|(name, _)| exactness(name));
    most_exact.map_or(0.0, |(_, quality)| *quality)
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn prefers(accept: &[&'static str]) -> Option<usize> {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(header::ACCEPT, HeaderValue::from_static(value));
        }
        preferred(&headers, &["text/event-stream", "application/x-ndjson"]).ok()
    }

    #[test]
    fn the_best_liked_form_is_found() {
        assert_eq!(prefers(&[]), Some(0));
        assert_eq!(prefers(&["*/*"]), Some(0));
        assert_eq!(prefers(&["application/x-ndjson"]), Some(1));
        assert_eq!(prefers(&["Application/X-NDJSON; q=0.5"]), Some(1));
        assert_eq!(
            prefers(&["text/*;q=0.5, application/x-ndjson;q=0.6"]),
            Some(1)
        );
        assert_eq!(prefers(&["*/*;q=0.9, text/event-stream;q=0.1"]), Some(1));
        assert_eq!(prefers(&["text/html", "application/*"]), Some(1));
        assert_eq!(prefers(&["*/*, application/x-ndjson;q=0"]), Some(0));
    }

    #[test]
    fn what_nobody_offers_is_not_acceptable() {
        assert_eq!(prefers(&["text/html"]), None);
        assert_eq!(prefers(&["text/event-stream;q=0"]), None);
        assert_eq!(prefers(&[""]), None);
        assert_eq!(prefers(&["*"]), None);
    }
}
