//! Examines a server that is a command: finds the program, starts it, and talks to it.

mod binary;
mod handshake;
mod judge;
mod pipe;
mod program;
mod silence;
mod surroundings;
mod variables;

use super::{
    conversation,
    diagnosis::Problem,
    examination::{Examination, Stop},
    options::DoctorOptions,
    step::StepId,
};
use std::path::PathBuf;
use trunkline_client::{CommandLine, Target};

pub(super) use program::installed;

pub(super) async fn examine(exam: &mut Examination<'_>, line: &CommandLine) -> Result<(), Stop> {
    let options = exam.options;
    let path = exam.check(StepId::ProgramFound, || program::find(line, options))?;
    exam.check(StepId::Executable, || program::may_run(&path))?;
    exam.check(StepId::Interpreter, || binary::check(&path, line, options))?;
    exam.check(StepId::WorkingDirectory, || program::check_directory(line, options))?;
    let suspicions = exam.check(StepId::Variables, || variables::check(line, options))?;
    match converse(exam, line).await {
        Ok(()) => {
            for suspicion in suspicions {
                exam.warn(suspicion);
            }
            surroundings::compare(exam, line).await;
            Ok(())
        }
        Err(problem) => Err(variables::already_set(variables::blame(problem, suspicions), line, options)),
    }
}

/// The steps from the start of the process to the first call.
async fn converse(exam: &mut Examination<'_>, line: &CommandLine) -> Result<(), Stop> {
    let options = exam.options;
    let pipe = exam.check(StepId::Starts, || pipe::start(line, options))?;
    let handshake = exam.wait(StepId::StaysAlive, judge::alive(pipe, line, options)).await?;
    if handshake.understands(options.speak) {
        exam.reached_server();
    }
    exam.check(StepId::OutputClean, || judge::clean(&handshake, line))?;
    let answer = exam.check(StepId::SpeaksJsonRpc, || judge::speaks(&handshake, line))?;
    if handshake.restarted {
        exam.warn(judge::died_when_asked(&handshake));
    }
    let introduction = conversation::settle(exam, answer)?;
    conversation::try_out(exam, &Target::Command(line.clone()), introduction.era).await
}

/// The problems of a command that show without starting it.
pub(super) fn quick_look(line: &CommandLine, options: &DoctorOptions) -> Vec<Problem> {
    let looked = program::find(line, options).and_then(|found| {
        program::may_run(&found.value)?;
        binary::check(&found.value, line, options)?;
        program::check_directory(line, options)?;
        variables::check(line, options)
    });
    match looked {
        Ok(suspicions) => suspicions.value,
        Err(problem) => vec![*problem],
    }
}

/// The working directory for this command.
fn directory(line: &CommandLine, options: &DoctorOptions) -> PathBuf {
    match &line.directory {
        Some(directory) => options.directory.join(directory),
        None => options.directory.clone(),
    }
}
