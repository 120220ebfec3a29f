//! Exchange: one thing we sent, and what came back for it.

use serde_json::Value;
use std::{fmt, time::Duration};

/// The name of a question that a probe asks; rules look exchanges up by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step(pub &'static str);

#[derive(Debug)]
pub struct Exchange {
    pub step: Step,
    /// Tells the questions of one step apart, such as the id that was used.
    pub variant: String,
    /// The frame we sent; none for a bare GET or DELETE.
    pub sent: Option<usize>,
    /// Everything that came from then until it was settled.
    pub got: Vec<usize>,
    /// The response that carries our id (or, where we sent no usable id, a response without one).
    pub answer: Option<usize>,
    pub settled: Settled,
    /// Over HTTP: the head of the answer.
    pub http: Option<HttpHead>,
    pub took: Duration,
}

/// How the waiting ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    Answered,
    /// Nothing was expected, and the time to see that nothing comes is over.
    Quiet,
    /// An answer was expected and did not come in this time.
    Silent(Duration),
    /// The line ended first.
    Gone,
    /// It could not be sent, or the connection failed.
    Failed(String),
}

/// An HTTP answer, without its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpHead {
    /// What we sent: method and headers of ours worth showing.
    pub request: String,
    pub status: u16,
    /// Names in lower case, values as text.
    pub headers: Vec<(String, String)>,
    /// The beginning of the body as it came.
    pub body: String,
    /// Whether the body came to its end while we read it.
    pub ended: bool,
}

impl HttpHead {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The media type without parameters, in lower case.
    pub fn media(&self) -> Option<String> {
        let value = self.header("content-type")?;
        Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }

    /// The body of a successful answer as JSON; none if it is none, or longer than what is kept.
    pub fn document(&self) -> Option<Value> {
        serde_json::from_str(&self.body).ok().filter(|_| self.is_success())
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl fmt::Display for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered => f.write_str("it was answered"),
            Self::Quiet => f.write_str("nothing came"),
            Self::Silent(waited) => write!(f, "no answer in {:.1} s", waited.as_secs_f64()),
            Self::Gone => f.write_str("the connection ended before the answer"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}
