//! Tries likely alternatives to a broken target, one after the other.
//!
//! They derive from the cause and the target only: text from a server is never executed, and no
//! other host is contacted.

mod address;
mod command;

use super::{
    cause::Cause,
    conversation::{AttemptOverrides, attempt},
    diagnosis::{Alternative, Works},
    examination::Examination,
    options::DoctorOptions,
};
use trunkline_client::Target;

/// Maximum number of alternatives tried per problem.
const MOST: usize = 8;

/// An alternative that has not been tried yet.
struct Candidate {
    what: String,
    target: Target,
    /// Options that replace the given ones.
    options: Option<DoctorOptions>,
    overrides: AttemptOverrides,
    /// The command line that uses this alternative.
    command: String,
    /// The more specific cause that its success proves, and the fix.
    shows: Option<(Cause, String)>,
}

pub(super) async fn try_all(exam: &mut Examination<'_>, target: &Target) {
    let Some(problem) = exam.problem().cloned() else { return };
    let options = exam.options;
    let candidates = match target {
        Target::Command(line) => command::candidates(line, &problem, options),
        Target::Url(address) => address::candidates(address, &problem, options).await,
    };
    let mut settled = false;
    for candidate in candidates.into_iter().take(MOST) {
        let chosen = candidate.options.as_ref().unwrap_or(options);
        let (works, detail) = attempt(&candidate.target, chosen, &candidate.overrides).await;
        let Candidate { what, command, shows, .. } = candidate;
        exam.tried(Alternative { what, works, detail, command });
        if let (Works::Yes, Some((cause, fix)), false) = (works, shows, settled) {
            exam.refine(cause, &fix);
            settled = true;
        }
        if works == Works::Yes && settled {
            return;
        }
    }
}

/// Tries the target that was probably meant.
pub(super) async fn try_one(exam: &mut Examination<'_>, target: &Target) {
    let (works, detail) = attempt(target, exam.options, &AttemptOverrides::default()).await;
    let command = format!("trunkline doctor {target}");
    exam.tried(Alternative { what: target.to_string(), works, detail, command });
}

impl Candidate {
    fn new(what: impl Into<String>, target: Target, command: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            target,
            options: None,
            overrides: AttemptOverrides::default(),
            command: command.into(),
            shows: None,
        }
    }

    /// Sets the cause that its success proves, and the first line of the fix.
    fn shows(mut self, cause: Cause, fix: impl Into<String>) -> Self {
        self.shows = Some((cause, fix.into()));
        self
    }
}
