//! Reads syntax errors of interpreters: an old interpreter, or a fault in the server's own code.

use super::any;
use crate::{cause::Cause, diagnosis::Problem};
use trunkline_client::CommandLine;

/// The first version of Node.js that prints its version below an error. It knows all of the syntax
/// that older versions stumble over (`?.`, `??=`).
const TELLING_NODE: &str = "Node.js v";

/// The position of a syntax error and the line of code there.
struct Fault<'a> {
    file: &'a str,
    line: &'a str,
    code: &'a str,
    message: &'a str,
}

pub(super) fn python(output: &str, _lower: &str, line: &CommandLine) -> Option<Problem> {
    let fault = python_fault(output)?;
    match needed_python(fault.code).filter(|_| fault.message == "invalid syntax") {
        Some(version) => {
            let program = line.program.rsplit('/').next().unwrap_or_default();
            let program = if program.starts_with("python") { &line.program } else { "python3" };
            let told = format!("`{}` needs Python {version}", fault.code);
            Some(
                Problem::new(Cause::RuntimeTooOld, told)
                    .fix(format!("{program} --version    # {version} or later is needed"))
                    .fix(format!("\"command\": \"uvx\", \"args\": [\"--python\", \"{version}\", …]")),
            )
        }
        None => Some(fault.problem("python3 -m py_compile")),
    }
}

pub(super) fn node(output: &str, lower: &str, _line: &CommandLine) -> Option<Problem> {
    let in_code = any(lower, &["syntaxerror: unexpected", "syntaxerror: invalid", "syntaxerror: missing"]);
    if !in_code || lower.contains("json") || !output.contains(TELLING_NODE) {
        return None;
    }
    Some(node_fault(output)?.problem("node --check"))
}

impl Fault<'_> {
    fn problem(&self, check: &str) -> Problem {
        let Fault { file, line, code, message } = self;
        Problem::new(Cause::SyntaxError, format!("{file}, line {line}: {message}"))
            .fix(format!("correct line {line} of {file}: `{code}`"))
            .fix(format!("{check} {}    # checks the file without running it", crate::shell::quoted(file)))
    }
}

/// Reads `File "…", line N`, the line of code, and `SyntaxError: …`.
fn python_fault(output: &str) -> Option<Fault<'_>> {
    let (before, after) = ["SyntaxError: ", "IndentationError: ", "TabError: "]
        .iter()
        .find_map(|kind| output.rsplit_once(&format!("\n{kind}")))?;
    let (_, position) = before.rsplit_once("File \"")?;
    let (file, rest) = position.split_once("\", line ")?;
    let mut lines = rest.lines();
    let line = lines.next()?.split([',', ' ']).next()?;
    let code = lines.next().unwrap_or_default().trim();
    Some(Fault { file, line, code, message: after.lines().next()?.trim() })
}

/// Reads `/path/file.js:N`, the line of code, and `SyntaxError: …`.
fn node_fault(output: &str) -> Option<Fault<'_>> {
    let (before, after) = output.split_once("\nSyntaxError: ")?;
    let mut lines = before.lines();
    let (file, line) = lines.by_ref().find_map(|text| {
        let (file, line) = text.rsplit_once(':')?;
        let is_position = file.contains('/') && line.parse::<u32>().is_ok();
        is_position.then(|| (file.trim_start_matches("file://"), line))
    })?;
    let code = lines.next().unwrap_or_default().trim();
    Some(Fault { file, line, code, message: after.lines().next()?.trim() })
}

/// The version of Python that introduced the syntax of this line, if older ones refuse it.
fn needed_python(code: &str) -> Option<&'static str> {
    let first = code.split([' ', '(', '*']).next().unwrap_or_default();
    let opens_block = code.ends_with(':');
    let named = code.split(['(', '=', ':']).next().unwrap_or_default();
    let second = code.split(' ').nth(1).unwrap_or_default();
    let names_something = second.starts_with(|c: char| c.is_alphabetic() || c == '_');
    match first {
        "match" | "case" if opens_block => Some("3.10"),
        "except" if opens_block && code["except".len()..].trim_start().starts_with('*') => Some("3.11"),
        "type" if code.contains('=') && names_something => Some("3.12"),
        "def" | "class" | "async" if opens_block && named.contains('[') => Some("3.12"),
        "if" | "while" | "elif" if opens_block && code.contains(":=") => Some("3.8"),
        _ if code.contains('(') && code.contains(":=") => Some("3.8"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_newer_pythons_are_known() {
        for (code, version) in [
            ("match value:", Some("3.10")),
            ("case {\"a\": 1}:", Some("3.10")),
            ("except* ValueError:", Some("3.11")),
            ("except *ValueError as many:", Some("3.11")),
            ("type Name = int | str", Some("3.12")),
            ("def first[T](items: list[T]) -> T:", Some("3.12")),
            ("class Box[T]:", Some("3.12")),
            ("if (n := len(a)) > 10:", Some("3.8")),
            ("match value", None),
            ("def first(items: list[int]) -> int", None),
            ("def first(items: list[int]):", None),
            ("type = 3 3", None),
            ("x := 3", None),
            ("", None),
        ] {
            assert_eq!(needed_python(code), version, "{code}");
        }
    }
}
