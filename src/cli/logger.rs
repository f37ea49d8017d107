//! The log, on standard error.

use std::io::{self, Write};

use clap::ValueEnum;
use env_logger::fmt::Formatter;
use log::{
    LevelFilter, Record,
    kv::{Error, Key, Value, VisitSource, VisitValue},
};
use serde_json::Map;

/// How the log is written.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// Starts the log.
pub fn start(format: LogFormat) {
    let mut log = env_logger::Builder::new();
    log.filter_level(LevelFilter::Info)
        // It logs broken requests of clients as errors.
        .filter_module("actix_http", LevelFilter::Off)
        .parse_default_env()
        // Below that it logs the parameters of statements, which are cards and tokens.
        .filter_module("tokio_postgres", LevelFilter::Info);
    if let LogFormat::Json = format {
        log.format(write_json);
    }
    log.init();
}

/// Writes a record as an object in one line: its time, level, target and message, then what its
/// author named, such as the status of a request.
fn write_json(line: &mut Formatter, record: &Record) -> io::Result<()> {
    let mut members = Members(Map::new());
    let time = line.timestamp_millis().to_string();
    members.0.insert("time".to_owned(), time.into());
    let level = record.level().as_str().to_lowercase();
    members.0.insert("level".to_owned(), level.into());
    members
        .0
        .insert("target".to_owned(), record.target().into());
    let message = record.args().to_string();
    members.0.insert("message".to_owned(), message.into());
    let _ = record.key_values().visit(&mut members);
    writeln!(line, "{}", serde_json::Value::Object(members.0))
}

/// The members of an object.
struct Members(Map<String, serde_json::Value>);

impl<'kvs> VisitSource<'kvs> for Members {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        let mut member = Member(serde_json::Value::Null);
        value.visit(&mut member)?;
        // Null is left out.
        if !member.0.is_null() {
            self.0.insert(key.to_string(), member.0);
        }
        Ok(())
    }
}

/// The value of a member.
struct Member(serde_json::Value);

impl<'v> VisitValue<'v> for Member {
    fn visit_any(&mut self, value: Value) -> Result<(), Error> {
        self.0 = value.to_string().into();
        Ok(())
    }

    fn visit_null(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn visit_u64(&mut self, value: u64) -> Result<(), Error> {
        self.0 = value.into();
        Ok(())
    }

    fn visit_f64(&mut self, value: f64) -> Result<(), Error> {
        self.0 = value.into();
        Ok(())
    }
}
