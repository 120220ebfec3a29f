//! Compares linters: which of them names which fault of `crates/testkit/faults`.
//!
//! A linter's complaints about a faulty server are compared with its complaints about the correct
//! server with the same eras and transport, so that complaints about both count for nothing. See
//! [`Verdict`] for the rules.

mod complaint;
mod fault;
mod inspector;
mod linter;
mod served;
mod table;
mod verdict;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, anyhow};

use crate::peers::Linters;
use crate::workspace::Workspace;

use complaint::Complaint;
use fault::Fault;
use served::Served;

pub(crate) use linter::Linter;
pub(crate) use table::Table;
use verdict::Verdict;

/// Number of linters that run concurrently; they mostly wait for I/O.
const AT_ONCE: usize = 10;

/// Selection of faults and linters; an empty list means all.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) only: Vec<String>,
    /// The linters to run. For the others, the reports of an earlier run are read again.
    pub(crate) linters: Vec<Linter>,
}

/// Paths and programs that a run needs.
#[derive(Debug)]
struct Bench {
    ours: PathBuf,
    server: PathBuf,
    linters: Linters,
    /// Folder with the report of every linter about every server.
    outputs: PathBuf,
    plan: Plan,
}

/// Runs every linter on every fault, and on the matching correct servers.
pub(crate) fn run(workspace: &Workspace, linters: Linters, plan: Plan) -> Result<Table> {
    let mut faults = fault::read_all(&workspace.root().join("crates/testkit/faults"))?;
    faults.retain(|fault| plan.only.is_empty() || plan.only.contains(&fault.name));
    let bench = Bench {
        ours: workspace.binary(),
        server: workspace.binary().with_file_name("faulty-server"),
        linters,
        outputs: workspace.target().join("compare"),
        plan,
    };
    let mut clean: Vec<Fault> = Vec::new();
    for fault in &faults {
        let right = fault.without_fault();
        if !clean.iter().any(|known| known.name == right.name) {
            clean.push(right);
        }
    }
    let seen = bench.run_all(clean.iter().chain(&faults))?;
    let mut table = Table::new(Linter::ALL.map(|linter| bench.version(linter)).to_vec());
    for fault in &faults {
        let usual = &seen[&fault.without_fault().name];
        let verdicts = Linter::ALL
            .map(|linter| Verdict::of(linter, fault, &seen[&fault.name][&linter], &usual[&linter]));
        table.add(fault, verdicts);
        if verdict::is_named_by_words(fault, &seen[&fault.name][&Linter::Ours], &usual[&Linter::Ours]) {
            table.count_by_words();
        }
    }
    for right in &clean {
        table.add_clean(right, Linter::ALL.map(|linter| seen[&right.name][&linter].len()));
    }
    Ok(table)
}

type Seen = BTreeMap<String, BTreeMap<Linter, Vec<Complaint>>>;

impl Bench {
    fn run_all<'a>(&self, servers: impl Iterator<Item = &'a Fault> + Send) -> Result<Seen> {
        let next = Mutex::new(servers);
        let seen = Mutex::new(Seen::new());
        let failures = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    loop {
                        let fault = next.lock().expect("no worker panics").next();
                        let Some(fault) = fault else { break };
                        match self.run_one(fault) {
                            Ok(complaints) => {
                                seen.lock().expect("no worker panics").insert(fault.name.clone(), complaints);
                            }
                            Err(error) => failures.lock().expect("no worker panics").push(error),
                        }
                    }
                });
            }
        });
        match failures.into_inner().expect("no worker panics").pop() {
            Some(error) => Err(error),
            None => Ok(seen.into_inner().expect("no worker panics")),
        }
    }

    fn run_one(&self, fault: &Fault) -> Result<BTreeMap<Linter, Vec<Complaint>>> {
        let folder = self.outputs.join(&fault.name);
        fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let mut all = BTreeMap::new();
        for linter in Linter::ALL {
            let output = folder.join(linter.name());
            if self.plan.linters.is_empty() || self.plan.linters.contains(&linter) || !output.exists() {
                let served = Served::start(&self.server, fault, &folder)?;
                linter.run(self, fault, &served, &output).with_context(|| fault.name.clone())?;
            }
            all.insert(linter, linter.complaints(&output)?);
        }
        println!("{:<30} {}", fault.name, counts(&all));
        Ok(all)
    }

    fn version(&self, linter: Linter) -> (Linter, String) {
        (linter, linter.version(&self.linters))
    }
}

fn counts(all: &BTreeMap<Linter, Vec<Complaint>>) -> String {
    all.iter()
        .map(|(linter, complaints)| format!("{} {}", linter.name(), complaints.len()))
        .collect::<Vec<_>>()
        .join("  ")
}

/// Parses the name of a linter.
pub(crate) fn linter(word: &str) -> Result<Linter> {
    let known = Linter::ALL.into_iter().find(|linter| linter.name() == word);
    known.ok_or_else(|| anyhow!("there is no linter {word}"))
}
