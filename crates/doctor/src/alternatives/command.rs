//! Alternative ways to start the same server.

use super::Candidate;
use crate::{
    cause::Cause,
    clues::{OLDER_SDK, TRUSTING, is_uvx},
    command::installed,
    conversation::AttemptOverrides,
    diagnosis::Problem,
    mask::Mask,
    options::DoctorOptions,
    shell::{command_line, doctor, quoted},
};
use std::path::{Path, PathBuf};
use trunkline_client::{CommandLine, RevisionChoice, Target};
use trunkline_process::is_inherited;
use trunkline_secrets::is_secret_name;

/// Maximum number of other interpreter versions tried.
const MOST_VERSIONS: usize = 3;

pub(super) fn candidates(line: &CommandLine, problem: &Problem, options: &DoctorOptions) -> Vec<Candidate> {
    use Cause as C;
    match problem.cause {
        C::ProgramNotFound | C::ProgramOutsidePath => elsewhere(line, options),
        C::CommandInOneWord => vec![split(line)],
        C::NotExecutable | C::InterpreterMissing | C::NoInterpreterLine | C::CrlfScript => {
            interpreted(line, options)
        }
        C::ExitedAtStart | C::VariableMissing | C::CredentialRefused | C::NoAnswer | C::ModuleMissing => {
            whole_environment(line, problem.cause, options).into_iter().collect()
        }
        C::StdoutBuffered => vec![with_variable(line, "PYTHONUNBUFFERED", "1", "without buffering")],
        C::AnswersOnlyAtEnd => line_buffered(line, options).into_iter().collect(),
        C::WaitsForConfirmation if is_npx(line) => vec![with_yes(line)],
        C::PackageCacheBroken if is_npx(line) => {
            let place = options.variable("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
            let place = place.join(format!("trunkline-npx-{}", std::process::id()));
            vec![with_variable(line, "npm_config_cache", &place.display().to_string(), "with an empty cache")]
        }
        C::RegistryCertificate => {
            let advised = |(name, _): &&(&str, &str)| problem.fix.iter().any(|fix| fix.contains(name));
            let variable = TRUSTING.iter().find(advised).into_iter();
            variable
                .map(|(name, value)| with_variable(line, name, value, "with the certificates of this system"))
                .collect()
        }
        C::LibraryMismatch if is_uvx(line) => vec![with_library(line)],
        C::RuntimeTooOld => newer(line, options),
        C::DockerWithoutInput => vec![interactive(line)],
        C::LegacyOnly | C::ModernOnly => vec![any_era(line)],
        _ => Vec::new(),
    }
}

fn elsewhere(line: &CommandLine, options: &DoctorOptions) -> Vec<Candidate> {
    let mut found: Vec<Candidate> =
        installed(&line.program, options).into_iter().map(|path| at(line, &path)).collect();
    if line.program == "python" {
        found.extend(installed("python3", options).into_iter().take(1).map(|path| at(line, &path)));
    }
    let is_module = !line.program.contains('/') && line.program.contains("mcp");
    if let Some(python) = installed("python3", options).first().filter(|_| is_module) {
        let module = line.program.replace('-', "_");
        let args = ["-m".to_owned(), module.clone()].into_iter().chain(line.args.iter().cloned()).collect();
        let other = CommandLine { program: python.display().to_string(), args, ..line.clone() };
        let fix = format!("\"command\": \"{}\", \"args\": [\"-m\", \"{module}\"]", python.display());
        found.push(candidate(format!("`python3 -m {module}`"), other).shows(Cause::ProgramOutsidePath, fix));
    }
    found
}

/// Starts the program by its absolute path.
fn at(line: &CommandLine, path: &Path) -> Candidate {
    let path = path.display().to_string();
    let mut other = CommandLine { program: path.clone(), ..line.clone() };
    if let Some(folder) = Path::new(&path).parent() {
        // A script installed by a version manager needs the interpreter in the same directory.
        let usual = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display());
        other.environment.push(("PATH".to_owned(), usual));
    }
    candidate(format!("the program at {path}"), other)
        .shows(Cause::ProgramOutsidePath, format!("\"command\": \"{path}\""))
}

fn split(line: &CommandLine) -> Candidate {
    let mut words = line.program.split_whitespace().map(str::to_owned);
    let program = words.next().unwrap_or_default();
    let args = words.chain(line.args.iter().cloned()).collect();
    candidate("the words by themselves", CommandLine { program, args, ..line.clone() })
}

/// Starts the file through the interpreter that its extension suggests.
fn interpreted(line: &CommandLine, options: &DoctorOptions) -> Vec<Candidate> {
    let ending = Path::new(&line.program).extension().unwrap_or_default().to_string_lossy().into_owned();
    let names: &[&str] = match ending.as_str() {
        "js" | "mjs" | "cjs" => &["node", "bun"],
        "py" => &["python3", "python"],
        "sh" => &["sh"],
        _ => &["python3", "node", "sh"],
    };
    let programs = names.iter().filter_map(|name| installed(name, options).into_iter().next());
    let programs = programs.take(if ending.is_empty() { 0 } else { 2 });
    programs
        .map(|program| {
            let args = std::iter::once(line.program.clone()).chain(line.args.iter().cloned()).collect();
            let program = program.display().to_string();
            candidate(format!("through {program}"), CommandLine { program, args, ..line.clone() })
        })
        .collect()
}

/// Passes the variables of this shell that clients do not pass on, except secrets: a server must
/// not get them merely by failing without them.
fn whole_environment(line: &CommandLine, cause: Cause, options: &DoctorOptions) -> Option<Candidate> {
    let mask = Mask::default();
    let extra: Vec<(String, String)> = options
        .environment
        .iter()
        .filter(|(name, _)| !is_inherited(name))
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())))
        .filter(|(name, value)| !is_secret_name(name) && mask.hide(value) == *value)
        .filter(|(name, _)| !line.environment.iter().any(|(given, _)| given == name))
        .collect();
    if extra.is_empty() {
        return None;
    }
    let names: Vec<&str> = extra.iter().map(|(name, _)| name.as_str()).collect();
    let shown = if names.len() > 6 { format!("one of {} variables", names.len()) } else { names.join(", ") };
    let mut other = line.clone();
    other.environment.splice(0..0, extra.clone());
    let written = doctor(&["--env".to_owned(), "NAME={env:NAME}".to_owned()], line);
    let candidate = Candidate::new(
        "with the other variables of your shell, secrets left out",
        Target::Command(other),
        written,
    );
    let shows = if cause == Cause::VariableMissing { cause } else { Cause::NeedsWholeEnvironment };
    let fix = format!(
        "\"env\": {{ \"NAME\": \"{{env:NAME}}\" }}    # it needs {shown}, which clients do not pass on"
    );
    Some(candidate.shows(shows, fix))
}

fn with_variable(line: &CommandLine, name: &str, value: &str, what: &str) -> Candidate {
    let mut other = line.clone();
    other.environment.push((name.to_owned(), value.to_owned()));
    let written = doctor(&["--env".to_owned(), quoted(&format!("{name}={value}"))], line);
    Candidate::new(format!("{what} ({name}={value})"), Target::Command(other), written)
}

fn line_buffered(line: &CommandLine, options: &DoctorOptions) -> Option<Candidate> {
    let program = installed("stdbuf", options).into_iter().next()?.display().to_string();
    let args =
        ["-oL".to_owned(), line.program.clone()].into_iter().chain(line.args.iter().cloned()).collect();
    let other = CommandLine { program, args, ..line.clone() };
    let fix = format!("\"command\": \"stdbuf\", \"args\": [\"-oL\", \"{}\", …]", line.program);
    Some(candidate("through `stdbuf -oL`", other).shows(Cause::StdoutBuffered, fix))
}

fn with_library(line: &CommandLine) -> Candidate {
    let words = ["--with", OLDER_SDK].map(str::to_owned);
    let args = words.into_iter().chain(line.args.iter().cloned()).collect();
    candidate(format!("with `{OLDER_SDK}`"), CommandLine { args, ..line.clone() })
}

fn with_yes(line: &CommandLine) -> Candidate {
    let args = std::iter::once("-y".to_owned()).chain(line.args.iter().cloned()).collect();
    candidate("with `-y`", CommandLine { args, ..line.clone() })
}

fn interactive(line: &CommandLine) -> Candidate {
    let mut other = line.clone();
    other.args.insert(1, "-i".to_owned());
    candidate("with `-i`", other)
}

/// Tries other installed versions of the same interpreter.
fn newer(line: &CommandLine, options: &DoctorOptions) -> Vec<Candidate> {
    let name = Path::new(&line.program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let others = installed(&name, options).into_iter().filter(|path| path != Path::new(&line.program));
    others
        .take(MOST_VERSIONS)
        .map(|path| {
            let fix = format!("\"command\": \"{}\"", path.display());
            Candidate { shows: None, ..at(line, &path) }.shows(Cause::RuntimeTooOld, fix)
        })
        .collect()
}

fn any_era(line: &CommandLine) -> Candidate {
    let mut other = candidate("in the era that it speaks", line.clone());
    other.overrides = AttemptOverrides { speak: Some(RevisionChoice::Newest), ..AttemptOverrides::default() };
    other
}

fn candidate(what: impl Into<String>, line: CommandLine) -> Candidate {
    let written = command_line(&line);
    Candidate::new(what, Target::Command(line), written)
}

fn is_npx(line: &CommandLine) -> bool {
    line.program.rsplit('/').next() == Some("npx")
}
