//! A word of the operator to all.

use std::sync::Arc;

use anyhow::ensure;
use serde::Serialize;
use utoipa::ToSchema;

use super::message::message_type;
use crate::watched_file::WatchedFile;

/// The longest notice in bytes.
const MAX_BYTES: usize = 1_000;

message_type!(NoticeType, Notice);

/// What the operator has to say; none if that is nothing.
#[derive(Debug, Default, PartialEq)]
pub struct Notice(Option<String>);

impl Notice {
    /// Reads the file, in which the notice stands alone. An empty file is none.
    ///
    /// # Errors
    /// If it is too long.
    pub fn read(text: &str) -> anyhow::Result<Notice> {
        let text = text.trim();
        ensure!(
            text.len() <= MAX_BYTES,
            "a notice has {MAX_BYTES} bytes at most"
        );
        Ok(Notice((!text.is_empty()).then(|| text.to_owned())))
    }

    pub fn view(&self) -> NoticeView<'_> {
        NoticeView {
            notice: self.0.as_deref(),
        }
    }
}

/// The notice of the operator.
#[derive(Serialize, ToSchema)]
#[schema(as = OperatorNotice, example = json!({"notice": "The server is upgraded tonight at 22:00."}))]
pub struct NoticeView<'a> {
    /// Null if there is none.
    #[schema(required, max_length = 1000)]
    notice: Option<&'a str>,
}

/// The operator has something to say, or no longer.
#[derive(Serialize, ToSchema)]
#[schema(as = NoticeMessage)]
pub struct NoticeMessage<'a> {
    #[serde(rename = "type")]
    #[schema(inline)]
    type_: NoticeType,
    /// Null if there is none any more.
    #[schema(required, max_length = 1000)]
    notice: Option<&'a str>,
}

/// The notice for one reader, who is told of each once.
pub struct NoticeReader {
    file: Arc<WatchedFile<Notice>>,
    told: Arc<Notice>,
}

impl NoticeReader {
    /// A reader that knows of none yet.
    pub fn new(file: &Arc<WatchedFile<Notice>>) -> NoticeReader {
        NoticeReader {
            file: Arc::clone(file),
            told: Arc::default(),
        }
    }

    /// The message of a notice that the reader does not know.
    pub fn next(&mut self) -> Option<NoticeMessage<'_>> {
        let now = self.file.get();
        if now == self.told {
            return None;
        }
        self.told = now;
        Some(NoticeMessage {
            type_: NoticeType::Notice,
            notice: self.told.0.as_deref(),
        })
    }
}
