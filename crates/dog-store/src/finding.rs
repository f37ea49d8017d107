//! What is found where a server is to start.

use std::fmt;

/// What is thought of something that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Good,
    /// A server starts, but perhaps not as it is meant.
    Doubtful,
    /// A server does not start, or cannot write.
    Bad,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Good => "good",
            Verdict::Doubtful => "doubtful",
            Verdict::Bad => "bad",
        })
    }
}

/// Something that was looked at: what it is thought of, and in words, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding(pub Verdict, pub String);

impl Finding {
    pub fn good(text: impl fmt::Display) -> Finding {
        Finding(Verdict::Good, text.to_string())
    }

    pub fn doubtful(text: impl fmt::Display) -> Finding {
        Finding(Verdict::Doubtful, text.to_string())
    }

    pub fn bad(text: impl fmt::Display) -> Finding {
        Finding(Verdict::Bad, text.to_string())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding(verdict, text) = self;
        write!(f, "{verdict:8}  {text}")
    }
}
