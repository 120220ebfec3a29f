//! Maven projects.

use super::{
    super::roots::Inside,
    ask::{Action, Ask},
    manifest::text,
    plan::{Plan, Runner},
};
use trunkline_toolbox::ToolError;

const MAVEN: Runner = Runner::OwnOr(&["mvnw"], "mvn");

/// No prompts, no download progress.
const QUIET: [&str; 2] = ["--batch-mode", "--no-transfer-progress"];

pub(super) fn manifest(directory: &Inside) -> Option<String> {
    directory.has("pom.xml").then(|| "pom.xml".to_owned())
}

pub(super) fn plan(ask: &Ask<'_>) -> Result<Plan, ToolError> {
    let plan = Plan::new(MAVEN, &QUIET);
    Ok(match ask.action {
        Action::Build => plan.arg("test-compile"),
        Action::RunTests => {
            let plan = plan.arg("--fail-at-end").reports("target/surefire-reports");
            let plan = match ask.filter {
                Some(filter) => {
                    plan.arg(format!("-Dtest={filter}")).arg("-Dsurefire.failIfNoSpecifiedTests=false")
                }
                None => plan,
            };
            plan.arg("test")
        }
        Action::Lint => {
            let pom = text(&ask.directory.join("pom.xml"));
            let goals =
                [("checkstyle", "checkstyle:check"), ("spotless", "spotless:check"), ("pmd", "pmd:check")];
            let goal = goals.iter().find(|(plugin, _)| {
                pom.contains(&format!("{plugin}-maven-plugin"))
                    || pom.contains(&format!("maven-{plugin}-plugin"))
            });
            let (_, goal) = goal.ok_or_else(|| {
                ToolError::new(
                    "this project has no linter: its pom.xml names neither checkstyle, spotless nor pmd",
                )
                .hint("Use build, which shows the compiler's warnings.")
            })?;
            plan.arg(*goal)
        }
        Action::Restore => plan.arg("dependency:go-offline"),
    })
}
