//! Go modules.

use super::{super::roots::Inside, ask::Action, ask::Ask, plan::Plan};

pub(super) fn manifest(directory: &Inside) -> Option<String> {
    directory.has("go.mod").then(|| "go.mod".to_owned())
}

pub(super) fn plan(ask: &Ask<'_>) -> Plan {
    match (ask.action, ask.filter) {
        (Action::Build, _) => Plan::program("go", &["build", "./..."]),
        (Action::RunTests, None) => Plan::program("go", &["test", "-json", "./..."]),
        (Action::RunTests, Some(filter)) => {
            Plan::program("go", &["test", "-json"]).arg(format!("-run={}", literal(filter))).arg("./...")
        }
        (Action::Lint, _) => Plan::program("go", &["vet", "./..."]),
        (Action::Restore, _) => Plan::program("go", &["mod", "download"]),
    }
}

/// A regular expression that matches this text literally; slashes separate levels of subtests.
fn literal(filter: &str) -> String {
    let mut expression = String::new();
    for character in filter.chars() {
        if ".+()[]".contains(character) {
            expression.push('\\');
        }
        expression.push(character);
    }
    expression
}
