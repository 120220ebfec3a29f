//! The subject of an examination. Targets that other commands reject as unusable are accepted
//! here, because `doctor` exists to explain them.

use super::{Args, SET_VARIABLE};
use crate::{
    args::{ConnectionArgs, TargetWords},
    arguments::pair,
    commands::Context,
    expand::{Missing, expand},
    failure::Failure,
    wire::{self, settings},
};
use std::fmt;
use trunkline_client::{BadTarget, Target};
use trunkline_config::Reach;
use trunkline_doctor::{Cause, DoctorOptions, Evidence, Problem, StepId};

/// The subject of an examination.
#[derive(Debug)]
pub(super) enum Subject {
    Target(Target),
    /// A target that is invalid before any connection attempt.
    Unusable {
        text: String,
        step: StepId,
        problem: Box<Problem>,
        instead: Vec<Target>,
    },
}

/// Returns the subject, with the connection options of a configured server.
pub(super) fn find(
    words: TargetWords<'_>,
    args: &Args,
    context: &Context,
    options: DoctorOptions,
) -> Result<(Subject, DoctorOptions), Failure> {
    if let ([name], []) = (words.words, words.command)
        && !name.contains("://")
        && let Some(configured) = configured(name, args, context, &options)?
    {
        return Ok(configured);
    }
    let subject = typed(words, &args.connection, context)?;
    let options = match &subject {
        Subject::Target(Target::Url(address)) => {
            wire::doctor::of_address(address, &context.environment, options)
        }
        _ => options,
    };
    Ok((subject, DoctorOptions { secrets: context.environment.concealed.values(), ..options }))
}

/// A configured server. Problems of the configuration do not matter if the target is an address.
fn configured(
    name: &str,
    args: &Args,
    context: &Context,
    options: &DoctorOptions,
) -> Result<Option<(Subject, DoctorOptions)>, Failure> {
    let Ok(loaded) = settings::read(&context.environment, args.config.as_deref(), Vec::new())? else {
        if looks_like_host(name) {
            return Ok(None);
        }
        let failure = Failure::usage("the configuration cannot be used");
        return Err(failure.hint("`trunkline doctor` without a target says what is wrong with it"));
    };
    let Some((_, server)) = loaded.settings.servers.iter().find(|(known, _)| known.to_string() == name)
    else {
        return Ok(None);
    };
    if let Reach::Unusable(unusable) = &server.reach {
        let problem = Problem::new(Cause::VariableUnset, unusable.reason.clone()).fix(SET_VARIABLE);
        let (text, step, problem) = (name.to_owned(), StepId::Variables, Box::new(problem));
        let subject = Subject::Unusable { text, step, problem, instead: Vec::new() };
        return Ok(Some((subject, options.clone())));
    }
    let Some((target, options)) = wire::doctor::configured(server, &context.environment, options)? else {
        return Err(Failure::usage(format!("`{name}` runs in this process; there is nothing to connect to")));
    };
    let target = wire::target(target, &args.connection, &context.environment)?;
    Ok(Some((Subject::Target(target), options)))
}

fn typed(words: TargetWords<'_>, args: &ConnectionArgs, context: &Context) -> Result<Subject, Failure> {
    if let [_, extra, ..] = words.words {
        return Err(Failure::usage(format!("unexpected argument `{extra}`")));
    }
    if let Some(missing) = missing_variable(args, context) {
        return Ok(unset(words, &missing));
    }
    match (words.words, words.command) {
        ([word, ..], [_, ..]) => {
            Err(Failure::usage(format!("unexpected argument `{word}`: the target is the command after `--`")))
        }
        ([], []) => Err(Failure::usage("there is no target").hint(
            "give the address of a server, its name in the configuration, or the command that starts it",
        )),
        ([], command) => {
            let texts = command
                .iter()
                .map(|word| expand(word, "", &context.environment).unwrap_or_else(|_| word.clone()));
            let target = Target::command(texts).map_err(|bad| Failure::usage(bad.to_string()))?;
            wire::target(target, args, &context.environment).map(Subject::Target)
        }
        ([word, ..], []) => address(word, args, context),
    }
}

/// An address. If only the scheme is missing, one is added.
fn address(word: &str, args: &ConnectionArgs, context: &Context) -> Result<Subject, Failure> {
    let text = match expand(word, "the address", &context.environment) {
        Ok(text) => text,
        Err(missing) => {
            let problem = unset_problem(&missing);
            return Ok(Subject::Unusable {
                text: word.to_owned(),
                step: StepId::Address,
                problem,
                instead: Vec::new(),
            });
        }
    };
    let unusable = |problem: Problem, instead| Subject::Unusable {
        text: text.clone(),
        step: StepId::Address,
        problem: Box::new(problem),
        instead,
    };
    if !text.contains("://") {
        if !looks_like_host(&text) {
            return Err(Failure::usage(format!(
                "`{word}` is neither an address, a program, nor a server of the configuration"
            ))
            .hint("give an address or a command; `trunkline list` shows the configured servers"));
        }
        let tries = ["http", "https"].map(|scheme| format!("{scheme}://{text}"));
        let problem = Problem::new(Cause::SchemeMissing, format!("`{text}` has no scheme"))
            .fix(format!("use {}", tries[0]));
        let instead = tries.iter().filter_map(|text| Target::url(text).ok()).collect();
        return Ok(unusable(problem, instead));
    }
    match Target::url(&text) {
        Ok(target) => wire::target(target, args, &context.environment).map(Subject::Target),
        Err(bad) => {
            let fix = match bad {
                BadTarget::Credentials => {
                    "-H 'Authorization: Basic …'    # in place of name and password in the address"
                }
                _ => "write it as http://host:port/path or https://host/path",
            };
            Ok(unusable(Problem::new(Cause::AddressInvalid, bad.to_string()).fix(fix), Vec::new()))
        }
    }
}

fn looks_like_host(text: &str) -> bool {
    let host = text.split('/').next().unwrap_or_default();
    host.starts_with("localhost")
        || host.contains('.')
        || host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

/// The first variable that a header or `--env` refers to and that is not set.
fn missing_variable(args: &ConnectionArgs, context: &Context) -> Option<Missing> {
    let header = |word: &String| {
        let (name, value) = word.split_once(':')?;
        expand(value, &format!("the header `{}`", name.trim()), &context.environment).err()
    };
    let variable = |word: &String| {
        let (name, value) = pair(word)?;
        expand(value, &format!("the variable `{name}`"), &context.environment).err()
    };
    args.headers.iter().find_map(header).or_else(|| args.variables.iter().find_map(variable))
}

fn unset(words: TargetWords<'_>, missing: &Missing) -> Subject {
    let (text, step) = match words.words.first() {
        Some(word) => (word.clone(), StepId::Address),
        None => (words.command.join(" "), StepId::Variables),
    };
    Subject::Unusable { text, step, problem: unset_problem(missing), instead: Vec::new() }
}

fn unset_problem(missing: &Missing) -> Box<Problem> {
    let Missing { place, variable } = missing;
    Box::new(
        Problem::new(Cause::VariableUnset, format!("{place} refers to `{variable}`, which is not set"))
            .proof(Evidence::fact(format!("`{variable}` is not in the environment")))
            .fix(format!("export {variable}=…    # where the client is started")),
    )
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target(target) => target.fmt(f),
            Self::Unusable { text, .. } => f.write_str(text),
        }
    }
}
