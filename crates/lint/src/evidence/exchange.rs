//! Exchange: one sent message and its outcome.

use serde_json::Value;
use std::{fmt, time::Duration};

/// The name of a probe's request; rules look exchanges up by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step(pub &'static str);

#[derive(Debug)]
pub struct Exchange {
    pub step: Step,
    /// Distinguishes the requests of one step, for instance by the id used.
    pub variant: String,
    /// The frame we sent; `None` for a bare GET or DELETE.
    pub sent: Option<usize>,
    /// All frames received until it was settled.
    pub got: Vec<usize>,
    /// The response with our id (or, if we sent no usable id, a response without one).
    pub answer: Option<usize>,
    pub settled: Settled,
    /// Over HTTP: the head of the response.
    pub http: Option<HttpHead>,
    pub took: Duration,
    /// The part of it in which the server waited for a CPU.
    pub queued: Duration,
}

/// The outcome of waiting for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    Answered,
    /// No answer was required, and none arrived.
    Quiet,
    /// The expected answer did not arrive within this time.
    Silent(Duration),
    /// The line ended before an answer.
    Gone,
    /// Sending failed, or the connection broke.
    Failed(String),
}

/// The head of an HTTP response, and the beginning of its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpHead {
    /// Our request: method and overridden headers.
    pub request: String,
    pub status: u16,
    /// Names are lower case; values are decoded lossily.
    pub headers: Vec<(String, String)>,
    /// The beginning of the body.
    pub body: String,
    /// True if we read the body up to EOF.
    pub ended: bool,
    /// The address that answered after a redirect.
    pub redirected: Option<String>,
}

impl Exchange {
    /// The time that it took, without that in which the server waited for a CPU: a busy machine
    /// is not its fault.
    pub fn own_time(&self) -> Duration {
        self.took.saturating_sub(self.queued)
    }
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

    /// The body of a successful response as JSON; `None` if it is not JSON or was cut.
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
