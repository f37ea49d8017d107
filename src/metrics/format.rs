//! The two text formats of Prometheus.

use actix_web::http::header::HeaderMap;

use crate::headers::negotiation::preferred;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The metrics in the format that a request prefers, in the text format if it names none, and their
/// `Content-Type`. They are given in OpenMetrics.
pub fn in_preferred_format(headers: &HeaderMap, metrics: String) -> (&'static str, String) {
    let open_metrics = "application/openmetrics-text";
    match preferred(headers, &["text/plain", open_metrics]) {
        Ok(format) if format == open_metrics => (OPEN_METRICS, metrics),
        _ => (TEXT, text(&metrics)),
    }
}

/// In the text format a family of counters has the name of its samples, an info is a gauge, and
/// there are neither units nor an end.
fn text(open_metrics: &str) -> String {
    let (mut text, mut about) = (String::new(), "");
    for line in open_metrics.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "HELP", _, help] => about = help,
            ["#", "TYPE", name, kind] => {
                let (suffix, kind) = match kind {
                    "counter" => ("_total", kind),
                    "info" => ("_info", "gauge"),
                    _ => ("", kind),
                };
                text += &format!("# HELP {name}{suffix} {about}\n# TYPE {name}{suffix} {kind}\n");
            }
            ["#", ..] => {}
            _ => text.extend([line, "\n"]),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{ACCEPT, HeaderValue};

    use super::*;

    #[test]
    fn the_text_format_names_families_as_their_samples() {
        let open_metrics = "\
# HELP dog_build The version.
# TYPE dog_build info
dog_build_info{version=\"1\"} 1
# HELP dog_think_seconds Time.
# TYPE dog_think_seconds counter
# UNIT dog_think_seconds seconds
dog_think_seconds_total 2.5
# HELP dog_streams_open Open.
# TYPE dog_streams_open gauge
dog_streams_open 3
# EOF
";
        let expected = "\
# HELP dog_build_info The version.
# TYPE dog_build_info gauge
dog_build_info{version=\"1\"} 1
# HELP dog_think_seconds_total Time.
# TYPE dog_think_seconds_total counter
dog_think_seconds_total 2.5
# HELP dog_streams_open Open.
# TYPE dog_streams_open gauge
dog_streams_open 3
";
        assert_eq!(text(open_metrics), expected);
    }

    #[test]
    fn the_preferred_format_is_chosen() {
        let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3";
        let text_first = "text/plain;q=0.9,application/openmetrics-text;q=0.5";
        for (accept, expected) in [
            (prometheus, OPEN_METRICS),
            (text_first, TEXT),
            ("*/*", TEXT),
            ("text/html, */*;q=0.1", TEXT),
            ("nonsense", TEXT),
            ("", TEXT),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            let (content_type, _) = in_preferred_format(&headers, String::new());
            assert_eq!(content_type, expected, "{accept}");
        }
        let (content_type, _) = in_preferred_format(&HeaderMap::new(), String::new());
        assert_eq!(content_type, TEXT);
    }
}
