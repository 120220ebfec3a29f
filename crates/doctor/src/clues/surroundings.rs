//! Reads error output about ports, variables, credentials, arguments and files.

use super::{any, between};
use crate::{cause::Cause, diagnosis::Problem, shell::quoted};
use trunkline_client::CommandLine;

/// Distance in bytes from a variable's name within which `LACKING` is searched.
const NEAR: usize = 60;
/// Phrases for a missing variable.
const LACKING: [&str; 11] = [
    "required",
    "not set",
    "must be set",
    "missing",
    "undefined",
    "not defined",
    "not found",
    "is not configured",
    "please set",
    "must provide",
    "environment variable",
];
/// Upper-case words that are no variables.
const NO_VARIABLES: [&str; 10] = [
    "ERR_MODULE_NOT_FOUND",
    "MODULE_NOT_FOUND",
    "ERR_REQUIRE_ESM",
    "ERR_UNKNOWN_FILE_EXTENSION",
    "ENOENT",
    "EACCES",
    "ERR_PACKAGE_PATH_NOT_EXPORTED",
    "ERR_INVALID_ARG_TYPE",
    "ERR_UNSUPPORTED_DIR_IMPORT",
    "ERR_DLOPEN_FAILED",
];

pub(super) fn port(output: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    if !any(lower, &["eaddrinuse", "address already in use", "address in use"]) {
        return None;
    }
    let port: Option<String> =
        output.find("EADDRINUSE").or_else(|| lower.find("already in use")).and_then(|at| {
            let around = &output[at..];
            around.rsplit(':').find_map(|part| {
                let digits: String = part.trim().chars().take_while(char::is_ascii_digit).collect();
                digits.parse::<u16>().ok().filter(|port| *port > 0).map(|port| port.to_string())
            })
        });
    let which = port.clone().map_or_else(|| "its port".to_owned(), |port| format!("port {port}"));
    let who = port.map_or_else(
        || "ss -ltnp    # who listens where".to_owned(),
        |port| format!("ss -ltnp 'sport = :{port}'    # who listens there"),
    );
    Some(
        Problem::new(Cause::PortTaken, format!("{which} is taken"))
            .fix(who)
            .fix("end that process, or give the server another port"),
    )
}

pub(super) fn variable(output: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    let name = between(output, "KeyError: '", "'")
        .filter(|name| is_variable(name))
        .or_else(|| lacking(output, lower))?;
    Some(
        Problem::new(Cause::VariableMissing, format!("it misses the variable `{name}`"))
            .fix(format!("\"env\": {{ \"{name}\": \"…\" }}"))
            .fix(format!("trunkline doctor --env {name}=… -- …    # to try it")),
    )
}

/// An upper-case name close to a phrase that says it is missing.
fn lacking(output: &str, lower: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let mut at = 0;
    while let Some(start) = output[at..].find(is_part).map(|start| at + start) {
        let end = output[start..].find(|c| !is_part(c)).map_or(output.len(), |length| start + length);
        let name = &output[start..end];
        let (from, to) = (floor(lower, start.saturating_sub(NEAR)), floor(lower, end + NEAR));
        if is_variable(name) && any(&lower[from..to], &LACKING) {
            return Some(name.to_owned());
        }
        at = end;
    }
    None
}

fn is_variable(name: &str) -> bool {
    name.len() >= 4
        && name.contains('_')
        && !name.starts_with('_')
        && !NO_VARIABLES.contains(&name)
        && !name.starts_with("ERR_")
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

pub(super) fn credential(_: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    any(
        lower,
        &[
            "invalid api key",
            "invalid_api_key",
            "incorrect api key",
            "bad credentials",
            "401 unauthorized",
            "invalid token",
            "authentication failed",
        ],
    )
    .then(|| {
        Problem::new(Cause::CredentialRefused, "the service behind it refuses its credential")
            .fix("\"env\": { \"THE_KEY\": \"a valid one\" }    # as the server's manual names it")
    })
}

pub(super) fn argument(output: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    let refused = any(
        lower,
        &[
            "unrecognized arguments",
            "unknown option",
            "unknown flag",
            "unknown argument",
            "unexpected argument",
            "invalid option",
            "the following arguments are required",
            "missing required argument",
            "the following required arguments",
            "too few arguments",
            "illegal option",
        ],
    ) || lower.lines().any(|text| text.trim_start().starts_with("usage:"));
    refused.then(|| {
        let telling = output.lines().find(|text| {
            let text = text.to_ascii_lowercase();
            any(
                &text,
                &["unrecognized", "unknown", "unexpected", "invalid", "required", "missing", "illegal"],
            )
        });
        let telling =
            telling.or_else(|| output.lines().find(|text| !text.trim().is_empty())).unwrap_or_default();
        Problem::new(Cause::BadArgument, format!("it says `{}`", telling.trim()))
            .fix("correct \"args\"; the evidence shows how it wants to be called")
    })
}

pub(super) fn file(output: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    if !any(
        lower,
        &[
            "enoent",
            "eacces",
            "eperm",
            "permission denied",
            "permissionerror",
            "no such file or directory",
            "filenotfounderror",
            "notadirectory",
            "enotdir",
            "not a directory",
            "operation not permitted",
            "cannot access",
            "not accessible",
            "are accessible",
        ],
    ) {
        return None;
    }
    let line = lower.lines().position(|text| {
        any(
            text,
            &[
                "enoent",
                "eacces",
                "eperm",
                "denied",
                "permissionerror",
                "no such file",
                "directory",
                "permitted",
                "cannot access",
                "accessible",
            ],
        )
    });
    let line = line.and_then(|at| output.lines().nth(at)).unwrap_or_default();
    let path = between(line, "'", "'").or_else(|| between(line, "\"", "\""));
    let path = path.or_else(|| {
        line.split_whitespace()
            .find(|word| word.starts_with('/'))
            .map(|word| word.trim_end_matches([':', ',']).to_owned())
    });
    let path = path.unwrap_or_else(|| "what it names".to_owned());
    Some(
        Problem::new(Cause::FileUnusable, format!("it cannot use `{path}`"))
            .fix(format!("ls -ld {}    # whether it is there, and who may use it", quoted(&path)))
            .fix("correct the path in \"args\" or \"env\""),
    )
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}
