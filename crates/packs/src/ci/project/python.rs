//! Python projects: with pytest or unittest, ruff or flake8, pip, uv or poetry.

use super::{
    super::roots::Inside,
    ask::{Action, Ask},
    manifest::text,
    plan::{Plan, Runner},
};
use trunkline_toolbox::ToolError;

const PYTHON: Runner = Runner::OwnOr(&[".venv/bin/python", "venv/bin/python"], "python3");

const MANIFESTS: [&str; 8] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "tox.ini",
    "pytest.ini",
    "conftest.py",
];

/// Files that show which tools a project uses.
const TELLING: [&str; 9] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "requirements.txt",
    "requirements-dev.txt",
    "dev-requirements.txt",
    "requirements-test.txt",
    "Pipfile",
];

pub(super) fn manifest(directory: &Inside) -> Option<String> {
    MANIFESTS.iter().find(|name| directory.has(name)).map(|name| (*name).to_owned())
}

pub(super) fn plan(ask: &Ask<'_>) -> Result<Plan, ToolError> {
    match ask.action {
        Action::Build => Ok(Plan::new(
            PYTHON,
            &["-m", "compileall", "-q", "-x", r"[/\\](\.venv|venv|node_modules|\.git)[/\\]", "."],
        )),
        Action::RunTests => Ok(test(ask)),
        Action::Lint => lint(ask.directory),
        Action::Restore => restore(ask.directory),
    }
}

fn test(ask: &Ask<'_>) -> Plan {
    if ask.directory.has("pytest.ini")
        || ask.directory.has("conftest.py")
        || mentions(ask.directory, "pytest")
    {
        let report = ask.scratch.join("pytest.xml");
        let plan = Plan::new(PYTHON, &["-m", "pytest", "-q", "--color=no"])
            .arg(format!("--junit-xml={}", report.display()));
        return match ask.filter {
            Some(filter) => plan.arg("-k").arg(filter),
            None => plan,
        };
    }
    let plan = Plan::new(PYTHON, &["-m", "unittest", "discover", "-v"]);
    match ask.filter {
        Some(filter) => plan.arg("-k").arg(filter),
        None => plan,
    }
}

fn lint(directory: &Inside) -> Result<Plan, ToolError> {
    if directory.has("ruff.toml") || directory.has(".ruff.toml") || mentions(directory, "ruff") {
        return Ok(Plan::new(PYTHON, &["-m", "ruff", "check", "--output-format=concise", "."]));
    }
    if directory.has(".flake8") || mentions(directory, "flake8") {
        return Ok(Plan::new(PYTHON, &["-m", "flake8"]));
    }
    Err(ToolError::new("this project does not configure a supported linter")
        .hint("Known are ruff and flake8: name one in pyproject.toml or its own file. Use build to look for syntax errors."))
}

fn restore(directory: &Inside) -> Result<Plan, ToolError> {
    if directory.has("uv.lock") {
        return Ok(Plan::program("uv", &["sync", "--frozen"]));
    }
    if directory.has("poetry.lock") {
        return Ok(Plan::program("poetry", &["install", "--no-interaction"]));
    }
    if !directory.has(".venv/bin/python") && !directory.has("venv/bin/python") {
        return Err(ToolError::new("this project has no virtual environment to install into")
            .hint("Ask the operator to make one with `python3 -m venv .venv`: nothing is installed for the whole machine."));
    }
    if directory.has("requirements.txt") {
        return Ok(Plan::new(PYTHON, &["-m", "pip", "install", "-r", "requirements.txt"]));
    }
    Ok(Plan::new(PYTHON, &["-m", "pip", "install", "-e", "."]))
}

fn mentions(directory: &Inside, tool: &str) -> bool {
    TELLING.iter().any(|name| text(&directory.join(name)).contains(tool))
}
