//! Diagnosis: what an examination found, as plain data.

use super::{cause::Cause, edit::Edit, evidence::Evidence, mask::Mask, step::Step};
use serde::{Serialize, Serializer, ser::SerializeStruct};

/// Pieces of evidence that one problem carries.
const MOST_EVIDENCE: usize = 16;

/// What an examination found.
#[derive(Debug, Clone, Serialize)]
pub struct Diagnosis {
    pub target: String,
    pub reached: Reached,
    pub steps: Vec<Step>,
    /// The first broken step's problem; none if all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// What works here and now and may break elsewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Problem>,
    /// What was tried instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
}

/// How far the examination came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// The server never introduced itself.
    Nothing,
    /// A conversation is possible.
    Server,
}

/// A cause with what proves it and what mends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub cause: Cause,
    /// What happened here, in one sentence.
    pub summary: String,
    pub evidence: Vec<Evidence>,
    /// Lines to copy: commands, or lines of a configuration, each with its reason.
    pub fix: Vec<String>,
    /// What would mend it safely by itself.
    pub edit: Option<Edit>,
}

/// Something tried instead of what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alternative {
    /// What was different.
    pub what: String,
    pub works: Works,
    /// Who answered, or why it failed.
    pub detail: String,
    /// How to have it, to copy.
    pub command: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Works {
    Yes,
    No,
}

impl Diagnosis {
    /// 0 fine, 1 a problem behind a working connection, 3 no connection.
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
