//! Checkup: examines the set-up of this machine, not one particular server.

mod clients;
mod entry;
mod file;
mod hygiene;
mod keychain;
mod port;

use super::diagnosis::Problem;
use serde::Serialize;

pub use clients::{ClientFile, Format, Surroundings, known_files};
pub use file::check_file;
pub use keychain::check_keychain;
pub use port::check_port;

/// All checks, grouped by area.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Checkup {
    pub sections: Vec<Section>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Section {
    pub title: String,
    pub checks: Vec<Check>,
}

/// One check and its result.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    pub what: String,
    pub verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// The result of a check, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Fine,
    NotVerified,
    Warning,
    Broken,
}

impl Checkup {
    /// Returns 1 if something is broken, else 0 (also with warnings).
    pub fn exit_code(&self) -> u8 {
        let worst = self.sections.iter().flat_map(|section| &section.checks).map(|check| check.verdict).max();
        u8::from(worst == Some(Verdict::Broken))
    }
}

impl Check {
    pub fn fine(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { what: what.into(), verdict: Verdict::Fine, detail: Some(detail.into()), problems: Vec::new() }
    }

    pub fn not_verified(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            verdict: Verdict::NotVerified,
            detail: Some(why.into()),
            problems: Vec::new(),
        }
    }

    /// A check with these problems; its verdict is the worst of them.
    pub fn found(what: impl Into<String>, problems: Vec<Problem>) -> Self {
        let verdict = problems.iter().map(weight).max().unwrap_or(Verdict::Fine);
        Self { what: what.into(), verdict, detail: None, problems }
    }
}

/// `Broken` if the problem keeps a server from starting, `Warning` if it is only a risk.
fn weight(problem: &Problem) -> Verdict {
    use super::cause::Cause as C;
    match problem.cause {
        C::UnpinnedPackage
        | C::PipedDownload
        | C::LookAlikePackage
        | C::InlineSecret
        | C::FileReadableByOthers
        | C::KeychainUnavailable
        | C::DefaultPortTaken
        | C::VariableQuoted
        | C::VariablePlaceholder
        | C::ShellSyntax
        | C::ProgramOutsidePath => Verdict::Warning,
        _ => Verdict::Broken,
    }
}
