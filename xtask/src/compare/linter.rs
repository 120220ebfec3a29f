//! `Linter`: the linters that are compared, how to run each, and how to read its report.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use super::complaint::Complaint;
use super::fault::Fault;
use super::served::Served;
use super::{Bench, inspector};
use crate::peers::Linters;
use crate::process::{self, Ending};

/// Timeout of one run; a linter that exceeds it counts as having reported nothing.
const LIMIT: Duration = Duration::from_secs(90);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Linter {
    Ours,
    McpDoctor,
    McpLint,
    Inspector,
}

impl Linter {
    pub(crate) const ALL: [Self; 4] = [Self::Ours, Self::McpDoctor, Self::McpLint, Self::Inspector];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "trunkline",
            Self::McpDoctor => "mcp-doctor",
            Self::McpLint => "mcplint",
            Self::Inspector => "inspector",
        }
    }

    pub(super) fn version(self, linters: &Linters) -> String {
        match self {
            Self::Ours => env!("CARGO_PKG_VERSION").to_owned(),
            Self::McpDoctor => linters.versions.mcp_doctor.to_owned(),
            Self::McpLint => linters.versions.mcplint.to_owned(),
            Self::Inspector => linters.versions.inspector.to_owned(),
        }
    }

    /// Runs it in each mode that may show the fault and stores its reports in the folder `output`.
    pub(super) fn run(self, bench: &Bench, fault: &Fault, served: &Served, output: &Path) -> Result<()> {
        if output.exists() {
            fs::remove_dir_all(output)?;
        }
        fs::create_dir_all(output)?;
        for (number, mut command) in self.commands(bench, fault, served).into_iter().enumerate() {
            let (out, err) = (output.join(format!("{number}.out")), output.join(format!("{number}.err")));
            let ending = process::run_apart(&mut command, &out, &err, LIMIT)?;
            let how = match ending {
                Ending::Exited(status) => {
                    status.code().map_or_else(|| "killed".to_owned(), |code| code.to_string())
                }
                Ending::OutOfTime => "out of time".to_owned(),
            };
            fs::write(output.join(format!("{number}.exit")), how)?;
        }
        Ok(())
    }

    fn commands(self, bench: &Bench, fault: &Fault, served: &Served) -> Vec<Command> {
        match self {
            Self::Ours => vec![ours(bench, fault, served)],
            Self::McpDoctor => mcp_doctor(bench, fault, served),
            Self::McpLint => ["validate", "scan"].map(|what| mcplint(bench, what, served)).into(),
            Self::Inspector => inspector::commands(&bench.linters, fault, served),
        }
    }

    /// Reads the complaints from the reports in the folder `output`.
    pub(super) fn complaints(self, output: &Path) -> Result<Vec<Complaint>> {
        let mut all = Vec::new();
        for number in 0.. {
            let read = |ending: &str| fs::read(output.join(format!("{number}.{ending}")));
            let Ok(out) = read("out") else { break };
            let (out, err) = (String::from_utf8_lossy(&out).into_owned(), read("err")?);
            let err = String::from_utf8_lossy(&err).into_owned();
            let exit = String::from_utf8_lossy(&read("exit")?).into_owned();
            match self {
                Self::Ours => all.extend(findings(&out, &err, &exit)),
                Self::McpDoctor => all.extend(doctor_findings(&out, &err, &exit)),
                Self::McpLint => all.extend(mcplint_results(&out, &err)),
                Self::Inspector => all.extend(inspector::complaints(&err, &exit)),
            }
        }
        Ok(all)
    }
}

fn ours(bench: &Bench, fault: &Fault, served: &Served) -> Command {
    let mut command = Command::new(&bench.ours);
    command.args(["lint", "--quiet", "--format", "json"]);
    if fault.active {
        command.arg("--active");
    }
    with_target(&mut command, served);
    command
}

fn mcp_doctor(bench: &Bench, fault: &Fault, served: &Served) -> Vec<Command> {
    let ways = if fault.active { vec!["inspect", "break", "reject"] } else { vec!["inspect"] };
    ways.into_iter()
        .map(|way| {
            let mut command = Command::new(&bench.linters.mcp_doctor);
            command.args([way, "--format", "json"]);
            if way != "inspect" {
                let tool = fault.tool();
                command.args(["--tool", tool, "--allow-tool", tool, "--effects", "read_only", "--seed", "1"]);
            }
            if way == "break" {
                command.args(["--cases", "20"]);
            }
            if let Served::Url(url, _) = served {
                command.args(["--allow-private-network", url, "--allow-cleartext-http", url]);
            }
            with_target(&mut command, served);
            command
        })
        .collect()
}

fn mcplint(bench: &Bench, what: &str, served: &Served) -> Command {
    let mut command = Command::new(&bench.linters.mcplint);
    command.args(["--quiet", "--format", "json", what, &served.word()]);
    command
}

fn with_target(command: &mut Command, served: &Served) {
    match served {
        Served::Program(path) => command.arg("--").arg(path),
        Served::Url(url, _) => command.arg(url),
    };
}

/// Extracts the JSON from an output that may have other text around it.
fn json_of(text: &str) -> Value {
    let inside = text.find('{').zip(text.rfind('}')).and_then(|(from, to)| text.get(from..=to));
    inside.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Reads our findings of every level; some faults are reported at level info.
fn findings(out: &str, err: &str, exit: &str) -> Vec<Complaint> {
    let report = json_of(out);
    let rules = report["targets"].as_array().into_iter().flatten().flat_map(|target| list(&target["rules"]));
    let mut all: Vec<Complaint> = rules
        .flat_map(|rule| list(&rule["findings"]))
        .map(|finding| Complaint::new(text(&finding["rule"]), text(&finding["message"])))
        .collect();
    if all.is_empty() && exit == "3" {
        all.push(Complaint::new("unreachable", err));
    }
    all
}

fn doctor_findings(out: &str, err: &str, exit: &str) -> Vec<Complaint> {
    let report = json_of(out);
    if report.is_null() {
        return vec![Complaint::new(&format!("exit {exit}"), err)];
    }
    let mut all: Vec<Complaint> = Vec::new();
    for check in list(&report["checks"]) {
        for finding in list(&check["findings"]).filter(|finding| finding["severity"] != "info") {
            let words = ["location", "message", "expectation"].map(|member| text(&finding[member]));
            all.push(Complaint::new(text(&finding["code"]), &words.join(" ")));
        }
    }
    all
}

/// Reads the problems reported by `validate` and `scan`.
fn mcplint_results(out: &str, err: &str) -> Vec<Complaint> {
    let report = json_of(out);
    let results = list(&report["results"]).chain(list(&report["findings"]));
    let mut all: Vec<Complaint> = results
        .filter(|result| !matches!(text(&result["severity"]), "pass" | "info" | "skip"))
        .map(|result| {
            let id = ["rule_id", "id"].iter().map(|member| text(&result[*member])).find(|id| !id.is_empty());
            let words = ["rule_name", "title", "message", "description"].map(|member| text(&result[member]));
            let details = list(&result["details"]).map(Value::to_string).collect::<Vec<_>>().join(" ");
            Complaint::new(id.unwrap_or_default(), &format!("{} {details}", words.join(" ")))
        })
        .collect();
    if report.is_null() {
        all.push(Complaint::new("no report", err));
    }
    all
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
