//! A running examination: runs the steps in order, and records their outcomes and durations.

use super::{
    cause::Cause,
    diagnosis::{Alternative, Diagnosis, Problem, Reached},
    mask::Mask,
    options::DoctorOptions,
    step::{Outcome, Step, StepId},
};
use std::time::{Duration, Instant};
use trunkline_client::Target;

/// The problem that stops an examination.
pub(super) type Stop = Box<Problem>;

/// The value of a passed step, and a detail for the report.
#[derive(Debug)]
pub(super) struct Passed<T> {
    pub(super) value: T,
    pub(super) detail: Option<String>,
}

pub(super) type Checked<T> = Result<Passed<T>, Stop>;

pub(super) struct Examination<'a> {
    pub(super) options: &'a DoctorOptions,
    target: String,
    /// The program of the server, if it is a command.
    program: String,
    mask: Mask,
    steps: Vec<Step>,
    problem: Option<Problem>,
    warnings: Vec<Problem>,
    alternatives: Vec<Alternative>,
    reached: Reached,
}

#[expect(clippy::unnecessary_wraps, reason = "the end of a step, which gives a Result")]
pub(super) fn passed<T>(value: T, detail: impl Into<String>) -> Checked<T> {
    Ok(Passed { value, detail: Some(detail.into()) })
}

#[expect(clippy::unnecessary_wraps, reason = "the end of a step, which gives a Result")]
pub(super) fn quietly<T>(value: T) -> Checked<T> {
    Ok(Passed { value, detail: None })
}

impl<'a> Examination<'a> {
    pub(super) fn new(target: &Target, options: &'a DoctorOptions) -> Self {
        let mut mask = Mask::of_headers(&options.http.extra_headers);
        if let Target::Command(line) = target {
            mask.add_variables(&line.environment);
        }
        mask.add_all(&options.secrets);
        let (name, program) = match target {
            Target::Command(line) => (super::shell::command_line(line), line.program.clone()),
            Target::Url(address) => (address.to_string(), String::new()),
        };
        Self { program, mask, ..Self::named(&name, options) }
    }

    pub(super) fn named(target: &str, options: &'a DoctorOptions) -> Self {
        let mut mask = Mask::of_headers(&options.http.extra_headers);
        mask.add_all(&options.secrets);
        Self {
            options,
            target: target.to_owned(),
            program: String::new(),
            mask,
            steps: Vec::new(),
            problem: None,
            warnings: Vec::new(),
            alternatives: Vec::new(),
            reached: Reached::Nothing,
        }
    }

    /// Runs a synchronous step.
    pub(super) fn check<T>(&mut self, id: StepId, step: impl FnOnce() -> Checked<T>) -> Result<T, Stop> {
        let start = Instant::now();
        let outcome = step();
        self.record(id, outcome, start.elapsed())
    }

    /// Runs an asynchronous step, which must have its own timeout.
    pub(super) async fn wait<T>(
        &mut self,
        id: StepId,
        step: impl Future<Output = Checked<T>>,
    ) -> Result<T, Stop> {
        let start = Instant::now();
        let outcome = step.await;
        self.record(id, outcome, start.elapsed())
    }

    /// Records a step that passed as part of another one.
    pub(super) fn pass(&mut self, id: StepId, detail: &str, took: Duration) {
        self.write(id, Outcome::Passed, Some(detail.to_owned()), Some(took));
    }

    /// True if this step was recorded.
    pub(super) fn has(&self, id: StepId) -> bool {
        self.steps.iter().any(|step| step.id == id)
    }

    /// Masks this secret in the report.
    pub(super) fn conceal(&mut self, secret: &str) {
        self.mask.add_all(&[secret.to_owned()]);
    }

    /// Records a step that could not be tried.
    pub(super) fn skip(&mut self, id: StepId, why: &str) {
        self.write(id, Outcome::NotVerified, Some(why.to_owned()), None);
    }

    pub(super) fn fail(&mut self, id: StepId, problem: &Problem) {
        self.write(id, Outcome::Failed, Some(problem.summary.clone()), None);
    }

    /// Records a step that passes here and may fail in other surroundings.
    pub(super) fn doubt(&mut self, id: StepId, problem: Problem) {
        self.write(id, Outcome::Doubtful, Some(problem.summary.clone()), None);
        self.warn(problem);
    }

    pub(super) fn warn(&mut self, problem: Problem) {
        self.warnings.push(self.shown(problem));
    }

    pub(super) fn found(&mut self, problem: Problem) {
        self.problem = Some(self.shown(problem));
    }

    /// The problem as it is reported: secrets masked, settings in the wanted spelling.
    fn shown(&self, mut problem: Problem) -> Problem {
        for line in &mut problem.fix {
            *line = self.options.spelling.spell(line, &self.program);
        }
        problem.masked(&self.mask)
    }

    pub(super) fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }

    /// Replaces the cause by a more specific one that an alternative has proved.
    pub(super) fn refine(&mut self, cause: Cause, fix: &str) {
        if let Some(problem) = &mut self.problem {
            problem.cause = cause;
            problem.fix.insert(0, self.mask.hide(&self.options.spelling.spell(fix, &self.program)));
        }
    }

    pub(super) fn tried(&mut self, mut alternative: Alternative) {
        alternative.detail = self.mask.hide(&alternative.detail);
        alternative.command = self.mask.hide(&alternative.command);
        self.alternatives.push(alternative);
    }

    /// Notes that the server has introduced itself; later failures happen on a working connection.
    pub(super) fn reached_server(&mut self) {
        self.reached = Reached::Server;
    }

    pub(super) fn took_too_long(&mut self, limit: Duration) {
        let summary = format!("the examination was not done within {} s", limit.as_secs());
        self.found(
            Problem::new(Cause::NoAnswer, summary).fix("give each step less time, such as `--timeout 5s`"),
        );
    }

    /// Builds the diagnosis; steps of the plan that were not reached become `NotVerified`.
    pub(super) fn finish(mut self, plan: &[StepId]) -> Diagnosis {
        for id in plan {
            if !self.steps.iter().any(|step| step.id == *id) {
                self.write(*id, Outcome::NotVerified, None, None);
            }
        }
        Diagnosis {
            target: self.mask.hide(&self.target),
            reached: self.reached,
            steps: self.steps,
            problem: self.problem,
            warnings: self.warnings,
            alternatives: self.alternatives,
        }
    }

    fn record<T>(&mut self, id: StepId, outcome: Checked<T>, took: Duration) -> Result<T, Stop> {
        match outcome {
            Ok(Passed { value, detail }) => {
                self.write(id, Outcome::Passed, detail, Some(took));
                Ok(value)
            }
            Err(problem) => {
                self.write(id, Outcome::Failed, Some(problem.summary.clone()), Some(took));
                Err(problem)
            }
        }
    }

    fn write(&mut self, id: StepId, outcome: Outcome, detail: Option<String>, took: Option<Duration>) {
        let detail = detail.map(|text| self.mask.hide(&text));
        let millis = took.map(|took| (took.as_secs_f64() * 10_000.0).round() / 10.0);
        let step = Step { id, title: id.title(), outcome, detail, millis };
        self.options.watch.see(&step);
        self.steps.push(step);
    }
}
