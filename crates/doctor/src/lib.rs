//! Doctor: why does this server not connect?
//!
//! An *examination* runs ordered *steps*, from the program or the URL to the first call, and stops
//! at the first one that fails. Its result is a [`Diagnosis`]: plain data with the *cause* (a row
//! of [`CAUSES`]), the *evidence* and the exact *fix*. Then likely *alternatives* are tried, and
//! the diagnosis says which one works. Every step is bounded in time and bytes; text from a server
//! is never executed.

mod alternatives;
mod cause;
mod checkup;
mod clues;
mod command;
mod conversation;
mod diagnosis;
mod edit;
mod evidence;
mod examination;
mod frames;
mod mask;
mod options;
mod shell;
mod spelling;
mod step;
mod token_slot;
mod url;

pub use cause::{Area, CAUSES, Cause, Entry};
pub use checkup::{
    Check, Checkup, ClientFile, Format, Section, Surroundings, Verdict, check_file, check_keychain,
    check_port, known_files,
};
pub use diagnosis::{Alternative, Diagnosis, Problem, Reached, Works};
pub use edit::{Edit, EditError};
pub use evidence::{Evidence, Kind as EvidenceKind};
pub use mask::Mask;
pub use options::{DoctorOptions, FirstCall, Limits, Watch};
pub use shell::quoted;
pub use spelling::Spelling;
pub use step::{Outcome, Step, StepId};
pub use token_slot::SignIn;

use examination::Examination;
use trunkline_client::Target;

/// Examines one server.
pub async fn examine(target: &Target, options: &DoctorOptions) -> Diagnosis {
    let mut examination = Examination::new(target, options);
    let plan = match target {
        Target::Command(_) => step::COMMAND,
        Target::Url(_) => step::ADDRESS,
    };
    let total = options.limits.total;
    let work = async {
        match target {
            Target::Command(line) => command::examine(&mut examination, line).await,
            Target::Url(address) => url::examine(&mut examination, address).await,
        }
    };
    match tokio::time::timeout(total, work).await {
        Ok(Ok(())) => {}
        Ok(Err(problem)) => {
            examination.found(*problem);
            let trying = alternatives::try_all(&mut examination, target);
            // On timeout, the alternatives tried so far are kept; the others are optional.
            tokio::time::timeout(total, trying).await.unwrap_or_default();
        }
        Err(_) => examination.took_too_long(total),
    }
    examination.finish(plan)
}

/// Diagnoses a target that cannot be examined, such as a URL without a scheme. `instead` is the
/// target that was probably meant.
pub async fn refuse(
    target: &str,
    step: StepId,
    problem: Problem,
    instead: &[Target],
    options: &DoctorOptions,
) -> Diagnosis {
    let mut examination = Examination::named(target, options);
    examination.fail(step, &problem);
    examination.found(problem);
    for other in instead {
        alternatives::try_one(&mut examination, other).await;
    }
    let plan = if step::ADDRESS.contains(&step) { step::ADDRESS } else { step::COMMAND };
    examination.finish(plan)
}
