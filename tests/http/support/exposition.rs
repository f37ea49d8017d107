//! A strict parser of the metrics format: a text that is not exactly in the format
//! fails the test.

use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
    time::{Duration, Instant},
};

use super::{TIMEOUT, TestServer};

/// A metric with its labels.
type Series = (String, BTreeMap<String, String>);

/// The metrics of one scrape.
#[derive(Clone, Debug)]
pub struct Exposition {
    pub text: String,
    /// The type of each family.
    pub families: BTreeMap<String, String>,
    samples: BTreeMap<Series, f64>,
}

impl Exposition {
    /// Scrapes the server.
    #[track_caller]
    pub fn scrape(server: &TestServer) -> Exposition {
        let open_metrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        let request = server.get("/metrics").header("Accept", open_metrics);
        let response = request.send();
        assert_eq!(response.status, 200, "{}", response.text());
        let content_type = response.header("content-type").unwrap_or_default();
        assert_eq!(content_type, open_metrics);
        Exposition::read(&response.text())
    }

    /// Scrapes the server until the metrics satisfy the condition.
    #[track_caller]
    pub fn wait_for(server: &TestServer, wanted: impl Fn(&Exposition) -> bool) -> Exposition {
        let started = Instant::now();
        loop {
            let now = Exposition::scrape(server);
            if wanted(&now) {
                return now;
            }
            assert!(started.elapsed() < TIMEOUT, "{}", now.text);
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Scrapes the server until this many requests are in flight, not counting the scrape.
    #[track_caller]
    pub fn wait_for_requests(server: &TestServer, number: u32) {
        let wanted = f64::from(number) + 1.0;
        Exposition::wait_for(server, |told| {
            told.value("dog_http_requests_in_flight", &[]) == wanted
        });
    }

    /// Reads a text.
    ///
    /// # Panics
    /// If the text violates the format.
    #[track_caller]
    pub fn read(text: &str) -> Exposition {
        let mut read = Exposition {
            text: text.to_owned(),
            families: BTreeMap::new(),
            samples: BTreeMap::new(),
        };
        let body = text.strip_suffix("# EOF\n").expect("an end");
        assert!(body.ends_with('\n'), "the last line has an end");
        let (mut helped, mut current) = (String::new(), None);
        for line in body.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').expect("a name and a help");
                assert!(help.ends_with('.') && !help.ends_with(".."), "{line}");
                assert!(is_name(name), "{line}");
                helped = name.to_owned();
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect("a name and a type");
                assert_eq!(name, helped, "described just before: {line}");
                let known = ["counter", "gauge", "histogram", "info"].contains(&kind);
                assert!(known && !name.ends_with("_total"), "{line}");
                let before = read.families.insert(name.to_owned(), kind.to_owned());
                assert_eq!(before, None, "once: {line}");
                current = Some((name, kind));
            } else if let Some(rest) = line.strip_prefix("# UNIT ") {
                let (name, unit) = rest.split_once(' ').expect("a name and a unit");
                assert!(name.ends_with(&format!("_{unit}")), "{line}");
            } else {
                assert!(!line.starts_with('#'), "{line}");
                let (family, kind) = current.expect("a family before its samples");
                read.sample(line, family, kind);
            }
        }
        read.check_histograms();
        read
    }

    /// Reads a line with a value.
    fn sample(&mut self, line: &str, family: &str, kind: &str) {
        let (series, value) = line.rsplit_once(' ').expect("a series and a value");
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
        let (name, labels) = match series.split_once('{') {
            Some((name, labels)) => (name, read_labels(labels)),
            None => (series, BTreeMap::new()),
        };
        let suffix = name.strip_prefix(family);
        let suffix = suffix.unwrap_or_else(|| panic!("{line} is none of {family}"));
        let suffixes: &[&str] = match kind {
            "counter" => &["_total"],
            "info" => &["_info"],
            "histogram" => &["_bucket", "_sum", "_count"],
            _ => &[""],
        };
        assert!(suffixes.contains(&suffix), "{line} in a {kind}");
        assert_eq!(suffix == "_bucket", labels.contains_key("le"), "{line}");
        assert!(value.is_finite() && value >= 0.0, "{line}");
        let before = self.samples.insert((name.to_owned(), labels), value);
        assert_eq!(before, None, "twice: {line}");
    }

    /// Checks that buckets are cumulative and that the last one counts everything.
    fn check_histograms(&self) {
        let histograms = self.families.iter();
        for (family, _) in histograms.filter(|(_, kind)| *kind == "histogram") {
            let (bucket, count) = (format!("{family}_bucket"), format!("{family}_count"));
            let mut by_labels: BTreeMap<_, Vec<(f64, f64)>> = BTreeMap::new();
            let samples = self.samples.iter();
            for ((_, labels), &value) in samples.filter(|((name, _), _)| *name == bucket) {
                let mut labels = labels.clone();
                let le = labels.remove("le").expect("a bound");
                let le = le.parse().expect("a bound is a number");
                by_labels.entry(labels).or_default().push((le, value));
            }
            for (labels, mut buckets) in by_labels {
                buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
                let is_cumulative = buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1);
                assert!(is_cumulative, "{family}");
                let last = buckets.last().expect("a bucket");
                let all = self.samples[&(count.clone(), labels)];
                assert_eq!(*last, (f64::INFINITY, all), "{family}");
            }
        }
    }

    /// The value with exactly these labels; 0 if there is none.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let labels = labels.iter().map(owned).collect();
        let value = self.samples.get(&(name.to_owned(), labels));
        value.copied().unwrap_or(0.0)
    }

    /// The sum of all values of that name.
    pub fn sum(&self, name: &str) -> f64 {
        let named = self.samples.iter().filter(|((other, _), _)| other == name);
        named.map(|(_, value)| value).sum()
    }

    /// All series.
    pub fn series(&self) -> BTreeSet<Series> {
        self.samples.keys().cloned().collect()
    }
}

/// Reads the labels up to the closing brace.
fn read_labels(text: &str) -> BTreeMap<String, String> {
    let mut rest = text.strip_suffix('}').expect("a brace");
    let mut labels = BTreeMap::new();
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").expect("a label's name");
        assert!(is_name(name), "{text}");
        // No label value of this server needs an escape.
        let (value, after) = after.split_once('"').expect("a label's value");
        assert!(!value.contains(['\\', '\n']), "{text}");
        let before = labels.insert(name.to_owned(), value.to_owned());
        assert_eq!(before, None, "{text}");
        rest = after.strip_prefix(',').unwrap_or(after);
        assert!(rest.is_empty() == (rest == after), "{text}");
    }
    labels
}

fn is_name(text: &str) -> bool {
    let first = text.starts_with(|first: char| first.is_ascii_lowercase());
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit();
    first && text.bytes().all(plain)
}
