//! Decides whether a command line may be run.

use std::path::{Path, PathBuf};

use super::super::{
    environment::Environment,
    roots::{Inside, Roots},
};
use super::{
    rule::{CommandRule, is_bare_name},
    split::split,
};
use trunkline_toolbox::ToolError;

/// Maximum number of rules listed in a refusal.
const RULES_SHOWN: usize = 40;

/// A command line that may be run. [`Approved::new`] is the only constructor, so every value was
/// checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Approved {
    pub(in super::super) program: PathBuf,
    /// The words of the line; the first is the program's name.
    pub(in super::super) words: Vec<String>,
}

impl Approved {
    /// Checks that one of the rules allows `line` in `directory`.
    pub(in super::super) fn new(
        line: &str,
        directory: &Inside,
        rules: &[CommandRule],
        roots: &Roots,
        environment: &Environment,
    ) -> Result<Self, ToolError> {
        let words = split(line).map_err(|error| {
            ToolError::new(error.to_string()).hint(
                "Give one program with its arguments. Quote an argument that contains special characters; run several commands one by one, and look for text in the result yourself.",
            )
        })?;
        let name = &words[0];
        if !is_bare_name(name) {
            return Err(ToolError::new(format!("{name:?} is not the bare name of a program")).hint(format!(
                "Programs are called by name, without a path, an ending or variables before them. {}",
                listed(rules)
            )));
        }
        if !rules.iter().any(|rule| rule.allows(&words, roots, directory)) {
            let known = rules.iter().any(|rule| rule.program() == name);
            let what = if known {
                format!("{name} is not allowed with these arguments")
            } else {
                format!("{name:?} is not allowed")
            };
            return Err(ToolError::new(what).hint(listed(rules)));
        }
        let program = environment.find(name).ok_or_else(|| {
            ToolError::not_found(format!("{name:?} is not installed in the search path"))
                .hint("Call get_diagnostics to see which programs there are.")
        })?;
        if lies_inside(&program, roots) {
            return Err(ToolError::new(format!("{name:?} would be a file of the project itself"))
                .hint("Ask the operator to keep the project's directories out of PATH."));
        }
        Ok(Self { program, words })
    }
}

/// True if the program, or the target of its link, is inside the open directories, where an
/// untrusted project could have placed it.
fn lies_inside(program: &Path, roots: &Roots) -> bool {
    let real = std::fs::canonicalize(program);
    roots.contain(program) || real.is_ok_and(|real| roots.contain(&real))
}

fn listed(rules: &[CommandRule]) -> String {
    let shown: Vec<_> = rules.iter().take(RULES_SHOWN).map(|rule| format!("`{rule}`")).collect();
    let more = rules.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "Allowed are: {}{more}. Otherwise use build, run_tests, lint or restore, or ask the operator.",
        shown.join(", ")
    )
}
