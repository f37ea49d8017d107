//! The forms in which the metrics are told: Prometheus's own, which everything reads, and
//! OpenMetrics, which newer scrapers ask for.

use std::fmt;

use prometheus_client::{encoding::text, registry::Registry};

/// The media types, the one for whoever says nothing first.
pub const FORMS: [&str; 2] = ["text/plain", "application/openmetrics-text"];

/// The `Content-Type` of one of the forms.
pub fn content_type(form: &str) -> &'static str {
    if form == FORMS[1] {
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    } else {
        "text/plain; version=0.0.4; charset=utf-8"
    }
}

/// Everything in the registry, in one of the forms.
///
/// # Errors
/// None that can happen: a text takes everything.
pub(super) fn encode(registry: &Registry, form: &str) -> Result<String, fmt::Error> {
    let mut open_metrics = String::new();
    text::encode(&mut open_metrics, registry)?;
    if form == FORMS[1] {
        return Ok(open_metrics);
    }
    Ok(plain(&open_metrics))
}

/// The older form of the same. There a counter is named with its suffix where it is described, a
/// description comes with its suffix too if it is of an info, which is a gauge, and there are no
/// units and no end.
fn plain(open_metrics: &str) -> String {
    let mut plain = String::with_capacity(open_metrics.len());
    let mut help = "";
    for line in open_metrics.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "HELP", _, text] => help = text,
            ["#", "TYPE", name, kind] => {
                let (suffix, kind) = match kind {
                    "counter" => ("_total", kind),
                    "info" => ("_info", "gauge"),
                    _ => ("", kind),
                };
                plain += &format!("# HELP {name}{suffix} {help}\n# TYPE {name}{suffix} {kind}\n");
            }
            ["#", ..] => {}
            _ => {
                plain += line;
                plain.push('\n');
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use prometheus_client::{
        metrics::{counter::Counter, info::Info},
        registry::Unit,
    };

    use super::*;

    #[test]
    fn the_older_form_names_counters_in_full() {
        let mut registry = Registry::default();
        let counter: Counter = Counter::default();
        registry.register_with_unit("thought", "How long", Unit::Seconds, counter);
        registry.register("build", "Which", Info::new([("version", "1")]));
        assert_eq!(
            encode(&registry, FORMS[0]).unwrap(),
            "# HELP thought_seconds_total How long.\n# TYPE thought_seconds_total counter\n\
             thought_seconds_total 0\n\
             # HELP build_info Which.\n# TYPE build_info gauge\nbuild_info{version=\"1\"} 1\n"
        );
        let open_metrics = encode(&registry, FORMS[1]).unwrap();
        assert!(open_metrics.contains("# UNIT thought_seconds seconds\n"));
        assert!(open_metrics.ends_with("# EOF\n"));
    }
}
