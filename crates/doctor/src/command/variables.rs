//! Checks arguments and variables for likely mistakes.
//!
//! A certain mistake stops the examination. A likely one is a *suspicion*: it becomes the cause if
//! the server fails without a better explanation, and a warning otherwise.

use super::directory;
use crate::{
    cause::Cause,
    diagnosis::Problem,
    evidence::Evidence,
    examination::{Checked, Stop, passed, quietly},
    options::DoctorOptions,
};
use std::path::Path;
use trunkline_client::CommandLine;
use trunkline_config::is_variable_name;

/// Interpreters that take the file to run as their first argument.
const INTERPRETERS: [&str; 12] =
    ["node", "nodejs", "python", "python3", "bun", "ruby", "php", "bash", "sh", "tsx", "ts-node", "perl"];
/// Operators that only a shell understands.
const SHELL_WORDS: [&str; 9] = ["&&", "||", "|", ">", ">>", "<", "2>&1", ";", "&"];
/// Prefixes of placeholder values that were never replaced.
const PLACEHOLDERS: [&str; 9] =
    ["your-", "your_", "<your", "xxx", "changeme", "replace", "insert-", "todo", "path/to/"];

pub(super) fn check(line: &CommandLine, options: &DoctorOptions) -> Checked<Vec<Problem>> {
    let all = line.args.iter().map(|arg| ("an argument".to_owned(), arg));
    let all =
        all.chain(line.environment.iter().map(|(name, value)| (format!("the variable `{name}`"), value)));
    for (place, value) in all {
        if let Some(name) = reference(value) {
            return Err(Box::new(unset(&place, value, name)));
        }
    }
    if let Some(script) = missing_script(line, options) {
        return Err(Box::new(no_script(&script, line, options)));
    }
    let suspicions: Vec<Problem> = line
        .environment
        .iter()
        .filter_map(|(name, value)| odd_value(name, value))
        .chain(odd_arguments(line))
        .collect();
    match suspicions.first() {
        Some(first) => {
            let summary = format!("suspicious: {}", first.summary);
            passed(suspicions, summary)
        }
        None => quietly(suspicions),
    }
}

/// Replaces a failure without a better explanation by the first suspicion.
pub(super) fn blame(problem: Stop, suspicions: Vec<Problem>) -> Stop {
    let vague = matches!(
        problem.cause,
        Cause::ExitedAtStart
            | Cause::NoAnswer
            | Cause::BadArgument
            | Cause::FileUnusable
            | Cause::VariableMissing
            | Cause::CredentialRefused
            | Cause::InitializeRefused
            | Cause::CallFails
    );
    match suspicions.into_iter().next() {
        Some(suspect) if vague => {
            let summary = format!("{}; {}", suspect.summary, problem.summary);
            let evidence = suspect.evidence.into_iter().chain(problem.evidence).collect();
            Box::new(Problem { cause: suspect.cause, summary, evidence, fix: suspect.fix, edit: None })
        }
        _ => problem,
    }
}

/// Adds a hint if the missing variable is set in this shell but not passed to the server.
pub(super) fn already_set(mut problem: Stop, line: &CommandLine, options: &DoctorOptions) -> Stop {
    if problem.cause == Cause::VariableMissing
        && let Some(name) = problem.summary.rsplit('`').nth(1).map(str::to_owned)
        && options.variable(&name).is_some()
        && !line.environment.iter().any(|(given, _)| *given == name)
    {
        let fix = format!(
            "\"env\": {{ \"{name}\": \"{{env:{name}}}\" }}    # it is set in your shell, and not passed on by itself"
        );
        problem.fix.insert(0, fix);
    }
    problem
}

/// The variable in a reference such as `${NAME}` or `{env:NAME}`.
fn reference(text: &str) -> Option<&str> {
    text.char_indices().find_map(|(at, _)| {
        let tail = &text[at..];
        let inner = tail
            .strip_prefix("{env:")
            .or_else(|| tail.strip_prefix("${env:"))
            .or_else(|| tail.strip_prefix("${"))?;
        let (name, _) = inner.split_once('}')?;
        is_variable_name(name).then_some(name)
    })
}

fn unset(place: &str, value: &str, name: &str) -> Problem {
    Problem::new(Cause::VariableUnset, format!("{place} refers to `{name}`, which is not set"))
        .proof(Evidence::fact(format!("it reads: {value}")))
        .fix(format!("export {name}=…    # where the client is started"))
        .fix(format!("or write the value itself: \"env\": {{ \"{name}\": \"…\" }}"))
}

/// The interpreter's script argument, if that file does not exist.
fn missing_script(line: &CommandLine, options: &DoctorOptions) -> Option<String> {
    let program = Path::new(&line.program).file_name()?.to_str()?;
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !INTERPRETERS.contains(&program) && !matches!(plain, "python" | "node") {
        return None;
    }
    let first = line.args.first().filter(|arg| !arg.starts_with('-'))?;
    let looks_like_a_file = first.contains('/') || Path::new(first).extension().is_some();
    (looks_like_a_file && !directory(line, options).join(first).exists()).then(|| first.clone())
}

fn no_script(script: &str, line: &CommandLine, options: &DoctorOptions) -> Problem {
    let place = directory(line, options);
    let problem =
        Problem::new(Cause::ScriptMissing, format!("there is no file `{}`", place.join(script).display()));
    if Path::new(script).is_absolute() {
        return problem.fix("correct the path of the script");
    }
    problem
        .proof(Evidence::fact(format!("relative paths count from {}", place.display())))
        .fix(format!("\"args\": [\"/absolute/path/to/{script}\"]"))
        .fix("or \"cwd\": \"/absolute/path\", the directory it is relative to (--cwd here)")
}

fn odd_value(name: &str, value: &str) -> Option<Problem> {
    let trimmed = value.trim();
    for mark in ['"', '\''] {
        if trimmed.len() >= 2 && trimmed.starts_with(mark) && trimmed.ends_with(mark) {
            let problem = Problem::new(
                Cause::VariableQuoted,
                format!("the value of `{name}` begins and ends with {mark}"),
            );
            return Some(
                problem.fix(format!("\"env\": {{ \"{name}\": \"the value without quotation marks\" }}")),
            );
        }
    }
    let lower = trimmed.to_ascii_lowercase();
    let filled_in = !(lower.is_empty()
        || lower.starts_with('<') && lower.ends_with('>')
        || PLACEHOLDERS.iter().any(|start| lower.starts_with(start)));
    if filled_in {
        return None;
    }
    let what = if trimmed.is_empty() { "is empty".to_owned() } else { format!("is still `{trimmed}`") };
    let problem = Problem::new(Cause::VariablePlaceholder, format!("the value of `{name}` {what}"));
    Some(problem.fix(format!("\"env\": {{ \"{name}\": \"the real value\" }}")))
}

fn odd_arguments(line: &CommandLine) -> Option<Problem> {
    if let Some(problem) = docker(line) {
        return Some(problem);
    }
    if matches!(line.program.rsplit('/').next(), Some("sh" | "bash" | "zsh")) {
        return None;
    }
    let odd = line.args.iter().find(|arg| {
        SHELL_WORDS.contains(&arg.as_str())
            || arg.starts_with("~/")
            || arg
                .strip_prefix('$')
                .is_some_and(|name| is_variable_name(name.split('/').next().unwrap_or_default()))
    })?;
    let written = crate::shell::command_line(line);
    let problem =
        Problem::new(Cause::ShellSyntax, format!("the argument `{odd}` means something only to a shell"));
    if let Some(below) = odd.strip_prefix("~/") {
        return Some(problem.fix(format!("\"args\": [\"/home/you/{below}\"]    # written out")));
    }
    let words: Vec<&str> = std::iter::once(&line.program).chain(&line.args).map(String::as_str).collect();
    Some(
        problem
            .fix(format!("\"command\": \"sh\", \"args\": [\"-c\", {:?}]", words.join(" ")))
            .proof(Evidence::fact(format!("the command: {written}"))),
    )
}

/// Detects `docker run` without `-i`, which closes the container's standard input.
fn docker(line: &CommandLine) -> Option<Problem> {
    let program = Path::new(&line.program).file_name()?.to_str()?;
    if !matches!(program, "docker" | "podman") || line.args.first().map(String::as_str) != Some("run") {
        return None;
    }
    let interactive = |arg: &String| {
        arg == "--interactive" || arg.starts_with('-') && !arg.starts_with("--") && arg.contains('i')
    };
    if line.args.iter().any(interactive) {
        return None;
    }
    let mut args: Vec<String> = line.args.iter().map(|arg| format!("{arg:?}")).collect();
    args.insert(1, "\"-i\"".to_owned());
    let problem = Problem::new(Cause::DockerWithoutInput, format!("`{program} run` has no `-i`"));
    Some(problem.fix(format!("\"args\": [{}]", args.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &str) -> CommandLine {
        let mut words = words.split(' ').map(str::to_owned);
        CommandLine { program: words.next().unwrap(), args: words.collect(), ..CommandLine::default() }
    }

    #[test]
    fn references_are_seen_and_what_resembles_them_is_not() {
        for (text, name) in [
            ("${TOKEN}", Some("TOKEN")),
            ("x{env:A_B}", Some("A_B")),
            ("${env:X}", Some("X")),
            ("$X", None),
            ("{X}", None),
            ("${A:-b}", None),
        ] {
            assert_eq!(reference(text), name, "{text}");
        }
    }

    #[test]
    fn only_shell_words_are_shell_words() {
        let cause = |words: &str| odd_arguments(&line(words)).map(|problem| problem.cause);
        assert_eq!(cause("npx server && true"), Some(Cause::ShellSyntax));
        assert_eq!(cause("server ~/x"), Some(Cause::ShellSyntax));
        assert_eq!(cause("sh -c a|b"), None);
        assert_eq!(cause("server a&b --x=1"), None);
        assert_eq!(cause("docker run --rm image"), Some(Cause::DockerWithoutInput));
        assert_eq!(cause("docker run -i --rm image"), None);
    }

    #[test]
    fn real_values_are_left_alone() {
        for value in ["abc", "/srv/data", "5", "a\"b", "info"] {
            assert_eq!(odd_value("X", value), None, "{value}");
        }
        assert_eq!(odd_value("X", "<token>").unwrap().cause, Cause::VariablePlaceholder);
        assert_eq!(odd_value("X", "\"abc\"").unwrap().cause, Cause::VariableQuoted);
    }
}
