//! Checks that a server also starts as a desktop application would start it: with a short PATH and
//! in another working directory.

use crate::{
    cause::Cause,
    conversation::{AttemptOverrides, attempt},
    diagnosis::{Problem, Works},
    evidence::Evidence,
    examination::Examination,
    options::DoctorOptions,
    step::StepId,
};
use std::{ffi::OsString, path::PathBuf};
use trunkline_client::{CommandLine, Target};

/// The PATH that child processes of a desktop application get.
const SHORT_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

pub(super) async fn compare(exam: &mut Examination<'_>, line: &CommandLine) {
    let options = exam.options;
    let target = Target::Command(line.clone());
    let bare =
        AttemptOverrides { environment: Some(short_path(options)), directory: Some("/".into()), speak: None };
    let (works, why) = attempt(&target, options, &bare).await;
    if works == Works::Yes {
        exam.check(StepId::OtherSurroundings, || crate::examination::quietly(())).ok();
        return;
    }
    let path_only = AttemptOverrides { directory: None, ..bare };
    let (works, _) = attempt(&target, options, &path_only).await;
    let problem =
        if works == Works::Yes { needs_directory(options, &why) } else { needs_path(line, options, &why) };
    exam.doubt(StepId::OtherSurroundings, problem);
}

/// The environment with a short PATH.
fn short_path(options: &DoctorOptions) -> Vec<(OsString, OsString)> {
    let others = options.environment.iter().filter(|(name, _)| name != "PATH").cloned();
    others.chain([("PATH".into(), SHORT_PATH.into())]).collect()
}

fn needs_directory(options: &DoctorOptions, why: &str) -> Problem {
    let here = options.directory.display();
    Problem::new(Cause::NeedsWorkingDirectory, format!("it works in `{here}`, and not in `/`"))
        .proof(Evidence::fact(why))
        .fix(format!("\"cwd\": \"{here}\", or absolute paths in \"args\""))
}

fn needs_path(line: &CommandLine, options: &DoctorOptions, why: &str) -> Problem {
    let path = super::program::search_path(line, options);
    let found = super::program::in_path(&line.program, &path);
    let problem = Problem::new(Cause::NeedsPath, format!("it does not work with PATH={SHORT_PATH}"))
        .proof(Evidence::fact(why));
    let folders: Vec<PathBuf> = found.iter().filter_map(|file| file.parent()).map(PathBuf::from).collect();
    let folder =
        folders.first().map_or_else(|| "/the/directory".to_owned(), |folder| folder.display().to_string());
    let problem = match found {
        Some(file) => problem.fix(format!("\"command\": \"{}\"", file.display())),
        None => problem,
    };
    problem.fix(format!("\"env\": {{ \"PATH\": \"{folder}:/usr/bin:/bin\" }}"))
}
