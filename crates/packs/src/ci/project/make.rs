//! Projects that have only a makefile.

use super::{
    super::roots::Inside,
    ask::{Action, Ask},
    manifest::text,
    plan::Plan,
};
use trunkline_toolbox::ToolError;

const MANIFESTS: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Maximum number of targets listed in an error.
const TARGETS_SHOWN: usize = 30;

pub(super) fn manifest(directory: &Inside) -> Option<String> {
    MANIFESTS.iter().find(|name| directory.has(name)).map(|name| (*name).to_owned())
}

pub(super) fn plan(ask: &Ask<'_>) -> Result<Plan, ToolError> {
    let candidates: &[&str] = match ask.action {
        Action::Build => return Ok(Plan::program("make", &[])),
        Action::RunTests => &["test", "tests", "check"],
        Action::Lint => &["lint"],
        Action::Restore => &["restore", "deps", "install-deps", "bootstrap"],
    };
    if ask.filter.is_some() {
        return Err(
            ToolError::new("tests of a makefile cannot be chosen by name").hint("Leave `filter` out.")
        );
    }
    let targets = targets(&text(&ask.directory.join(ask.manifest)));
    match candidates.iter().find(|name| targets.iter().any(|target| target == *name)) {
        Some(target) => Ok(Plan::program("make", &[target])),
        None => Err(ToolError::new(format!(
            "the makefile has none of the targets {} for {}",
            candidates.join(", "),
            ask.action.name()
        ))
        .hint(format!("Its targets are: {}.", targets[..targets.len().min(TARGETS_SHOWN)].join(", ")))),
    }
}

/// The explicit targets, in file order.
fn targets(makefile: &str) -> Vec<String> {
    let mut targets: Vec<String> = Vec::new();
    for line in makefile.lines().filter(|line| !line.starts_with(['\t', ' ', '#', '.'])) {
        let Some((names, rest)) = line.split_once(':') else { continue };
        if rest.starts_with('=') || rest.starts_with(":=") || names.contains(['=', '$', '%']) {
            continue;
        }
        for name in names.split_whitespace() {
            if !targets.iter().any(|known| known == name) {
                targets.push(name.to_owned());
            }
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_rules_and_not_assignments() {
        let makefile = "CC := gcc\nX=1\n.PHONY: test\nall: main.o\n\techo: no\ntest check:: all\n%.o: %.c\n";
        assert_eq!(targets(makefile), ["all", "test", "check"]);
    }
}
