//! Diagnosis: the result of an examination as plain data.

use super::{cause::Cause, edit::Edit, evidence::Evidence, mask::Mask, step::Step};
use serde::{Serialize, Serializer, ser::SerializeStruct};

/// Maximum pieces of evidence per problem.
const MOST_EVIDENCE: usize = 16;

/// The result of an examination.
#[derive(Debug, Clone, Serialize)]
pub struct Diagnosis {
    pub target: String,
    pub reached: Reached,
    pub steps: Vec<Step>,
    /// The problem of the first failed step; `None` if all passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// Problems that do not show here but may in other surroundings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Problem>,
    /// Alternatives that were tried after a failure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
}

/// The farthest point that the examination reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// There was no successful answer to `initialize` or `server/discover`.
    Nothing,
    /// The server introduced itself.
    Server,
}

/// A cause with its evidence and its fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub cause: Cause,
    /// One sentence about what happened.
    pub summary: String,
    pub evidence: Vec<Evidence>,
    /// Lines to copy: commands or configuration lines, each with a comment.
    pub fix: Vec<String>,
    /// An edit that fixes the problem safely.
    pub edit: Option<Edit>,
}

/// A variation of the target that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alternative {
    /// The difference to the target.
    pub what: String,
    pub works: Works,
    /// The server that answered, or the reason of the failure.
    pub detail: String,
    /// The command line that uses this alternative.
    pub command: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Works {
    Yes,
    No,
}

impl Diagnosis {
    /// Returns 0 without a problem, 1 for a problem behind a working connection, 3 without a
    /// connection.
    pub fn exit_code(&self) -> u8 {
        match (&self.problem, self.reached) {
            (None, _) => 0,
            (Some(_), Reached::Server) => 1,
            (Some(_), Reached::Nothing) => 3,
        }
    }
}

impl Problem {
    pub fn new(cause: Cause, summary: impl Into<String>) -> Self {
        Self { cause, summary: summary.into(), evidence: Vec::new(), fix: Vec::new(), edit: None }
    }

    #[must_use]
    pub fn proof(mut self, evidence: Evidence) -> Self {
        if self.evidence.len() < MOST_EVIDENCE && !evidence.text.is_empty() {
            self.evidence.push(evidence);
        }
        self
    }

    #[must_use]
    pub fn proofs(self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        evidence.into_iter().fold(self, Self::proof)
    }

    #[must_use]
    pub fn fix(mut self, line: impl Into<String>) -> Self {
        self.fix.push(line.into());
        self
    }

    #[must_use]
    pub fn mended_by(mut self, edit: Edit) -> Self {
        self.edit = Some(edit);
        self
    }

    pub(super) fn masked(mut self, mask: &Mask) -> Self {
        self.summary = mask.hide(&self.summary);
        self.fix = self.fix.iter().map(|line| mask.hide(line)).collect();
        for piece in &mut self.evidence {
            piece.text = mask.hide(&piece.text);
        }
        self
    }
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entry = self.cause.entry();
        let mut out = serializer.serialize_struct("Problem", 7)?;
        out.serialize_field("cause", &self.cause)?;
        out.serialize_field("title", entry.title)?;
        out.serialize_field("summary", &self.summary)?;
        out.serialize_field("explanation", entry.explanation)?;
        out.serialize_field("evidence", &self.evidence)?;
        out.serialize_field("fix", &self.fix)?;
        out.serialize_field("edit", &self.edit.as_ref().map(Edit::diff))?;
        out.end()
    }
}
