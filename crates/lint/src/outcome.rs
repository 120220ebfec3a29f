//! The outcome of a rule, and its findings.

use crate::evidence::FrameRef;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Worth knowing; nothing is broken.
    Info,
    /// A recommendation of the specification, or a problem in practice.
    Warning,
    /// A requirement of the specification, or a security risk.
    Error,
    /// Directly exploitable by an attacker.
    Critical,
}

/// The outcome of one rule for one subject. "Not verified" never counts as "passed".
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Passed,
    Findings(Vec<Finding>),
    /// The rule applies, but its evidence is missing.
    NotVerified(String),
    /// The rule does not apply to this subject.
    NotApplicable(String),
}

/// The result of a check: findings (an empty list means passed), or the reason for no verdict.
pub type Verdict = Result<Vec<Finding>, Skip>;

/// The reason why a rule has no verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    NotVerified(String),
    NotApplicable(String),
}

/// One violation of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// One sentence with the expected and the actual behaviour.
    pub message: String,
    /// Overrides the level of the rule.
    pub level: Option<Level>,
    /// The subject of the finding, such as `tool echo`; part of its fingerprint.
    pub about: Option<String>,
    /// The position of the caret.
    pub place: Option<Place>,
    /// The frames that prove it, in order.
    pub frames: Vec<FrameRef>,
    /// Evidence other than frames: an exit status, lines of stderr, a header.
    pub notes: Vec<String>,
    /// A fix for this subject, more exact than that of the rule.
    pub fix: Option<String>,
}

/// A value inside a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub frame: FrameRef,
    /// JSON pointer (RFC 6901) from the root of the frame.
    pub pointer: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a level; known ones: info, warning, error, critical")]
pub struct UnknownLevel(String);

impl Level {
    pub const ALL: [Self; 4] = [Self::Info, Self::Warning, Self::Error, Self::Critical];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
        }
    }
}

impl Skip {
    pub fn not_verified(why: impl Into<String>) -> Self {
        Self::NotVerified(why.into())
    }

    pub fn no_message() -> Self {
        Self::not_verified("the server sent no message")
    }

    pub fn not_applicable(why: impl Into<String>) -> Self {
        Self::NotApplicable(why.into())
    }
}

impl Finding {
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            level: None,
            about: None,
            place: None,
            frames: Vec::new(),
            notes: Vec::new(),
            fix: None,
        }
    }

    /// Points at a value, and adds its frame as evidence.
    #[must_use]
    pub fn at(mut self, frame: FrameRef, pointer: impl Into<String>) -> Self {
        self.place = Some(Place { frame, pointer: pointer.into() });
        self.with_frame(frame)
    }

    #[must_use]
    pub fn with_frame(mut self, frame: FrameRef) -> Self {
        if !self.frames.contains(&frame) {
            self.frames.push(frame);
            self.frames.sort_unstable();
        }
        self
    }

    #[must_use]
    pub fn with_frames(self, frames: impl IntoIterator<Item = FrameRef>) -> Self {
        frames.into_iter().fold(self, Self::with_frame)
    }

    #[must_use]
    pub fn about(mut self, about: impl Into<String>) -> Self {
        self.about = Some(about.into());
        self
    }

    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Ok(findings) if findings.is_empty() => Self::Passed,
            Ok(findings) => Self::Findings(findings),
            Err(Skip::NotVerified(why)) => Self::NotVerified(why),
            Err(Skip::NotApplicable(why)) => Self::NotApplicable(why),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|level| level.as_str() == text)
            .ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}
