//! Rust projects.

use super::{super::roots::Inside, ask::Action, ask::Ask, plan::Plan};

pub(super) fn manifest(directory: &Inside) -> Option<String> {
    directory.has("Cargo.toml").then(|| "Cargo.toml".to_owned())
}

pub(super) fn plan(ask: &Ask<'_>) -> Plan {
    let plan = match ask.action {
        Action::Build => Plan::program("cargo", &["build", "--message-format=json"]),
        Action::RunTests => Plan::program("cargo", &["test", "--no-fail-fast", "--message-format=json"]),
        Action::Lint => Plan::program("cargo", &["clippy", "--all-targets", "--message-format=json"]),
        Action::Restore => return Plan::program("cargo", &["fetch"]),
    };
    match ask.filter {
        Some(filter) => plan.arg("--").arg(filter),
        None => plan,
    }
}
