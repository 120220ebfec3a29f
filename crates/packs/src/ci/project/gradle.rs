//! Gradle projects.

use super::{
    super::roots::Inside,
    ask::{Action, Ask},
    plan::{Plan, Runner},
};

const GRADLE: Runner = Runner::OwnOr(&["gradlew"], "gradle");

const MANIFESTS: [&str; 4] = ["settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle"];

pub(super) fn manifest(directory: &Inside) -> Option<String> {
    MANIFESTS.iter().find(|name| directory.has(name)).map(|name| (*name).to_owned())
}

pub(super) fn plan(ask: &Ask<'_>) -> Plan {
    // A daemon would be killed at the end of the run, with the rest of the process tree.
    let plan = Plan::new(GRADLE, &["--console=plain", "--no-daemon", "--continue"]);
    match ask.action {
        Action::Build => plan.arg("assemble").arg("testClasses"),
        Action::RunTests => {
            let plan = plan.reports("build/test-results").arg("test");
            match ask.filter {
                Some(filter) => plan.arg("--tests").arg(format!("*{filter}*")),
                None => plan,
            }
        }
        Action::Lint => plan.arg("check").arg("-x").arg("test"),
        Action::Restore => plan.arg("dependencies"),
    }
}
