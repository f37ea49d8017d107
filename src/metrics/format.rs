//! The two text formats of Prometheus.

use actix_web::HttpRequest;

use crate::http::headers;

/// A format of the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricsFormat {
    /// OpenMetrics 1.0.0.
    OpenMetrics,
    /// Prometheus' text format 0.0.4.
    Text,
}

impl MetricsFormat {
    /// The format that a request prefers; text if it names none.
    pub fn preferred(request: &HttpRequest) -> MetricsFormat {
        let offers = ["text/plain", "application/openmetrics-text"];
        match headers::preferred(request.headers(), &offers) {
            Ok("application/openmetrics-text") => MetricsFormat::OpenMetrics,
            _ => MetricsFormat::Text,
        }
    }

    /// The `Content-Type`.
    pub fn content_type(self) -> &'static str {
        match self {
            MetricsFormat::OpenMetrics => {
                "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
            MetricsFormat::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// These metrics, which are in OpenMetrics, in this format.
    pub fn write(self, open_metrics: String) -> String {
        match self {
            MetricsFormat::OpenMetrics => open_metrics,
            MetricsFormat::Text => text(&open_metrics),
        }
    }
}

/// In the text format a family of counters has the name of its samples, an info is a gauge, and
/// there are neither units nor an end.
fn text(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len());
    let mut help = "";
    for line in open_metrics.lines() {
        if let Some(family) = line.strip_prefix("# HELP ") {
            help = family.split_once(' ').map_or("", |(_, help)| help);
        } else if let Some(family) = line.strip_prefix("# TYPE ") {
            let (name, kind) = family.split_once(' ').unwrap_or((family, "untyped"));
            let (suffix, kind) = match kind {
                "counter" => ("_total", kind),
                "info" => ("_info", "gauge"),
                _ => ("", kind),
            };
            text += &format!("# HELP {name}{suffix} {help}\n# TYPE {name}{suffix} {kind}\n");
        } else if !line.starts_with('#') {
            text += line;
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use actix_web::{http::header::ACCEPT, test::TestRequest};

    use super::{MetricsFormat, text};

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
        for (accept, format) in [
            (prometheus, MetricsFormat::OpenMetrics),
            (text_first, MetricsFormat::Text),
            ("*/*", MetricsFormat::Text),
            ("text/html, */*;q=0.1", MetricsFormat::Text),
            ("nonsense", MetricsFormat::Text),
        ] {
            let request = TestRequest::get().insert_header((ACCEPT, accept));
            let preferred = MetricsFormat::preferred(&request.to_http_request());
            assert_eq!(preferred, format, "{accept}");
        }
        let silent = TestRequest::get().to_http_request();
        assert_eq!(MetricsFormat::preferred(&silent), MetricsFormat::Text);
    }
}
