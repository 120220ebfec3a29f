//! JavaScript projects, with npm, pnpm or yarn.

use serde_json::Value;

use super::{
    super::roots::Inside,
    ask::{Action, Ask},
    kind::Kind,
    manifest::text,
    plan::{Plan, Runner},
};
use trunkline_toolbox::ToolError;

/// Part of the placeholder test script that npm writes into a new project.
const NO_TEST: &str = "no test specified";

const ESLINT: Runner = Runner::OwnOr(&["node_modules/.bin/eslint"], "eslint");

pub(super) fn manifest(kind: Kind, directory: &Inside) -> Option<String> {
    (directory.has("package.json") && manager(directory) == kind).then(|| "package.json".to_owned())
}

pub(super) fn plan(kind: Kind, ask: &Ask<'_>) -> Result<Plan, ToolError> {
    let package = package(ask.directory);
    let program = match kind {
        Kind::Pnpm => "pnpm",
        Kind::Yarn => "yarn",
        _ => "npm",
    };
    let script = match ask.action {
        Action::Restore => return Ok(Plan::program(program, restore(kind, ask.directory))),
        Action::Build => "build",
        Action::RunTests => "test",
        Action::Lint => "lint",
    };
    let has_script = package["scripts"][script].as_str().is_some_and(|text| !text.contains(NO_TEST));
    if has_script {
        let plan = Plan::program(program, &["run", script]);
        return Ok(match ask.filter {
            Some(filter) if kind == Kind::Yarn => plan.arg(filter),
            Some(filter) => plan.arg("--").arg(filter),
            None => plan,
        });
    }
    if ask.action == Action::Lint && package["devDependencies"]["eslint"].is_string() {
        return Ok(Plan::new(ESLINT, &[".", "--format=json"]));
    }
    let scripts: Vec<_> =
        package["scripts"].as_object().into_iter().flat_map(|scripts| scripts.keys()).cloned().collect();
    Err(ToolError::new(format!("package.json has no script {script:?}")).hint(match scripts.as_slice() {
        [] => format!("Add one under \"scripts\" to make {} work.", ask.action.name()),
        some => format!(
            "Its scripts are: {}. Run one with run_command, such as `{program} run {}`.",
            some.join(", "),
            some[0]
        ),
    }))
}

/// The project's package manager: the one it names, or the one whose lock file it has.
fn manager(directory: &Inside) -> Kind {
    let package = package(directory);
    let named = package["packageManager"].as_str().unwrap_or_default();
    if named.starts_with("pnpm@") || directory.has("pnpm-lock.yaml") || directory.has("pnpm-workspace.yaml") {
        return Kind::Pnpm;
    }
    if named.starts_with("yarn@") || directory.has("yarn.lock") {
        return Kind::Yarn;
    }
    Kind::Npm
}

fn restore(kind: Kind, directory: &Inside) -> &'static [&'static str] {
    match kind {
        Kind::Pnpm if directory.has("pnpm-lock.yaml") => &["install", "--frozen-lockfile"],
        Kind::Pnpm | Kind::Yarn => &["install"],
        _ if directory.has("package-lock.json") => &["ci", "--no-audit", "--no-fund"],
        _ => &["install", "--no-audit", "--no-fund"],
    }
}

fn package(directory: &Inside) -> Value {
    serde_json::from_str(&text(&directory.join("package.json"))).unwrap_or_default()
}
