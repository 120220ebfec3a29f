//! Reads error output of interpreters: versions, modules, libraries.

use super::{any, between, word_after};
use crate::{cause::Cause, diagnosis::Problem};
use trunkline_client::CommandLine;

pub(super) fn runtime(output: &str, lower: &str, _line: &CommandLine) -> Option<Problem> {
    let node = any(
        lower,
        &[
            "syntaxerror: unexpected token '?",
            "syntaxerror: unexpected token '.'",
            "err_require_esm",
            "referenceerror: fetch is not defined",
            "ebadengine",
            "unsupported engine",
            "requires node",
            "node.js version",
            "does not provide an export named",
            "err_unknown_builtin_module",
        ],
    );
    let python = any(
        lower,
        &[
            "requires python",
            "requires-python",
            "requires a different python",
            "python 3.1",
            "unsupported python",
        ],
    );
    if lower.contains("version `glibc") {
        let version = between(output, "version `", "'").unwrap_or_default();
        return Some(
            Problem::new(Cause::LoaderMissing, format!("it needs {version}"))
                .fix("install a build for this system, or a newer system"),
        );
    }
    if node {
        return Some(
            Problem::new(Cause::RuntimeTooOld, "it wants a newer Node.js")
                .fix("node --version    # most servers want 20 or later")
                .fix("\"command\": \"/absolute/path/of/a/newer/node\""),
        );
    }
    python.then(|| {
        Problem::new(Cause::RuntimeTooOld, "it wants another Python")
            .fix("python3 --version    # most servers want 3.10 or later")
            .fix("\"command\": \"uvx\", \"args\": [\"--python\", \"3.12\", …]")
    })
}

/// The requirement that a server of the first version of the Python SDK forgot.
pub(crate) const OLDER_SDK: &str = "mcp<2";

/// Finds an installed server that was written for another version of a library. The server's own
/// code outside of `site-packages` may be wrong in the same way, and then needs no other library.
pub(super) fn library(output: &str, _: &str, line: &CommandLine) -> Option<Problem> {
    let misfit = |text: &&str| {
        text.starts_with("AttributeError: ") && text.contains("has no attribute")
            || text.starts_with("ImportError: cannot import name")
            || text.starts_with("TypeError: ") && text.contains("unexpected keyword argument")
            || between(text, "ModuleNotFoundError: No module named '", "'")
                .is_some_and(|name| name.contains('.'))
    };
    let error =
        output.lines().rev().map(str::trim).find(misfit).filter(|_| output.contains("site-packages"))?;
    let problem =
        Problem::new(Cause::LibraryMismatch, format!("it does not fit a library that it uses: {error}"));
    Some(if is_uvx(line) {
        problem.fix(with_library(line, OLDER_SDK))
    } else {
        problem.fix(format!(
            "python3 -m pip install '{OLDER_SDK}'    # with the interpreter that runs the server"
        ))
    })
}

pub(crate) fn is_uvx(line: &CommandLine) -> bool {
    line.program.rsplit('/').next() == Some("uvx")
}

/// The configuration of the same command with a library beside the server.
fn with_library(line: &CommandLine, library: &str) -> String {
    let words = ["--with", library].into_iter().chain(line.args.iter().map(String::as_str));
    let args: Vec<String> = words.map(|word| format!("{word:?}")).collect();
    format!("\"command\": {:?}, \"args\": [{}]", line.program, args.join(", "))
}

pub(super) fn module(output: &str, lower: &str, line: &CommandLine) -> Option<Problem> {
    if let Some(file) = between(output, "can't open file '", "'") {
        return Some(
            Problem::new(Cause::ScriptMissing, format!("there is no file `{file}`"))
                .fix("\"args\": [\"/absolute/path/of/the/script\"]"),
        );
    }
    let node = between(output, "Cannot find module '", "'")
        .or_else(|| between(output, "Cannot find package '", "'"));
    if let Some(name) = node {
        if line.args.iter().any(|arg| name.ends_with(arg.trim_start_matches("./"))) {
            return Some(
                Problem::new(Cause::ScriptMissing, format!("there is no file `{name}`"))
                    .fix("\"args\": [\"/absolute/path/of/the/script\"]"),
            );
        }
        let is_file = name.starts_with(['/', '.']);
        let fix = if is_file {
            "npm install && npm run build    # in the server's directory".to_owned()
        } else {
            format!("npm install {name}    # in the server's directory")
        };
        return Some(Problem::new(Cause::ModuleMissing, format!("there is no module `{name}`")).fix(fix));
    }
    let python = between(output, "No module named '", "'").or_else(|| word_after(output, "No module named "));
    if let Some(name) = python {
        let top = name.split('.').next().unwrap_or_default().replace('_', "-");
        let problem = Problem::new(Cause::ModuleMissing, format!("there is no module `{name}`"));
        if is_uvx(line) {
            return Some(problem.fix(with_library(line, &top)));
        }
        return Some(
            problem
                .fix(format!(
                    "{} -m pip install {top}    # into the environment that runs the server",
                    line.program
                ))
                .fix("or \"command\": \"/absolute/path/.venv/bin/python\", where it is installed"),
        );
    }
    if let Some(library) = between(output, "error while loading shared libraries: ", ":") {
        return Some(
            Problem::new(Cause::ModuleMissing, format!("the library `{library}` is missing"))
                .fix(format!("install the package of this system that has {library}")),
        );
    }
    let inner = between(output, "env: '", "'")
        .or_else(|| between(output, "env: ‘", "’"))
        .or_else(|| between(output, "exec: ", ": not found"));
    if let Some(program) = inner.filter(|_| any(lower, &["no such file", "not found"])) {
        return Some(
            Problem::new(
                Cause::InterpreterMissing,
                format!("it calls `{program}`, which is not in its PATH"),
            )
            .fix("\"env\": { \"PATH\": \"/the/directory/of/it:/usr/bin:/bin\" }"),
        );
    }
    None
}
