//! The obvious alternatives to what is broken, tried one after the other.
//!
//! They come from the cause and from what was asked for; nothing that a server said is run, and no other host is asked.

mod address;
mod command;

use super::{
    cause::Cause,
    conversation::{Surroundings, attempt},
    diagnosis::{Alternative, Works},
    examination::Examination,
    options::DoctorOptions,
};
use trunkline_client::Target;

/// Alternatives that are tried for one problem.
const MOST: usize = 8;

/// Something to try.
struct Candidate {
    what: String,
    target: Target,
    /// Other options than those that were asked for.
    options: Option<DoctorOptions>,
    surroundings: Surroundings,
    /// How to have it, to copy.
    command: String,
    /// What it shows if it works: a narrower cause, and its fix.
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
        let (works, detail) = attempt(&candidate.target, chosen, &candidate.surroundings).await;
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

/// Tries what was probably meant.
pub(super) async fn try_one(exam: &mut Examination<'_>, target: &Target) {
    let (works, detail) = attempt(target, exam.options, &Surroundings::default()).await;
    let command = format!("trunkline doctor {target}");
    exam.tried(Alternative { what: target.to_string(), works, detail, command });
}

impl Candidate {
    fn new(what: impl Into<String>, target: Target, command: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            target,
            options: None,
            surroundings: Surroundings::default(),
            command: command.into(),
            shows: None,
        }
    }

    /// If it works, the cause is this one, and the fix begins with this line.
    fn shows(mut self, cause: Cause, fix: impl Into<String>) -> Self {
        self.shows = Some((cause, fix.into()));
        self
    }
}
