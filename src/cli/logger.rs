//! The log, on standard error.

use std::{
    io::{self, Write},
    panic,
};

use clap::ValueEnum;
use env_logger::fmt::Formatter;
use log::{
    Level, LevelFilter, Record,
    kv::{self, Error, Key, VisitSource, VisitValue},
};
use serde_json::{Value, json};

use crate::problem::request_id::RequestId;

/// How the log is written.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

impl LogFormat {
    /// A line of the program's output, which is like those of the log.
    pub fn output_line(self, message: &str) -> String {
        match self {
            LogFormat::Text => format!("{message}\n"),
            LogFormat::Json => {
                let time = format!("{:.3}", jiff::Timestamp::now());
                format!(
                    "{}\n",
                    json_line(&time, Level::Info, module_path!(), message)
                )
            }
        }
    }
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
        panic::set_hook(Box::new(|panic| log::error!("{panic}")));
    }
    log.init();
}

/// Writes a record as an object in one line: its time, level, target and message, then what its
/// author named, such as the status of a request.
fn write_json(line: &mut Formatter, record: &Record) -> io::Result<()> {
    let (time, message) = (
        line.timestamp_millis().to_string(),
        record.args().to_string(),
    );
    let mut members = Members(json_line(&time, record.level(), record.target(), &message));
    if let Some(id) = RequestId::current() {
        members.0["request_id"] = id.into();
    }
    let _ = record.key_values().visit(&mut members);
    writeln!(line, "{}", members.0)
}

/// What every line has.
fn json_line(time: &str, level: Level, target: &str, message: &str) -> Value {
    let level = level.as_str().to_lowercase();
    json!({"time": time, "level": level, "target": target, "message": message})
}

/// The members of an object.
struct Members(Value);

impl<'kvs> VisitSource<'kvs> for Members {
    fn visit_pair(&mut self, key: Key<'kvs>, value: kv::Value<'kvs>) -> Result<(), Error> {
        let mut member = Member(Value::Null);
        value.visit(&mut member)?;
        // Null is left out.
        if !member.0.is_null() {
            self.0[key.as_str()] = member.0;
        }
        Ok(())
    }
}

/// The value of a member.
struct Member(Value);

impl<'v> VisitValue<'v> for Member {
    fn visit_any(&mut self, value: kv::Value) -> Result<(), Error> {
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
