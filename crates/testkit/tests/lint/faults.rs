//! The faults in `crates/testkit/faults`: our linter must name each of them.
//!
//! The set was written from the specification and from common mistakes of server authors, not from
//! the rules.

use super::fixture::dial;
use serde::Deserialize;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
    time::Duration,
};
use trunkline_lint::{
    Mode, Options, Report, Subject,
    engine::{Active, Budget, Callable, ServerSubject},
    rules,
};
use trunkline_testkit::faulty::Script;

/// Minimum number of faults in the set.
const LEAST: usize = 60;

/// Timeout for a list: servers that never answer must not take long here.
const OWED: Duration = Duration::from_secs(5);

/// One mistake of a server's author.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownFault {
    name: String,
    mistake: String,
    /// True if only a call of a tool shows the fault.
    #[serde(default)]
    active: bool,
    /// Rules, at least one of which must find the fault.
    named_by: Vec<String>,
    /// Words that another linter's complaint must contain; see `cargo xtask compare`.
    #[serde(rename = "words")]
    _words: Vec<String>,
    server: Script,
}

#[test]
fn every_fault_of_the_set_is_named() {
    let set = mistakes();
    assert!(set.len() >= LEAST, "{} faults", set.len());
    let next = Mutex::new(set.iter());
    let wrong = Mutex::new(Vec::new());
    let workers = thread::available_parallelism().map_or(2, usize::from) * 2;
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some(mistake) = next.lock().expect("no worker panics").next() else { break };
                    if let Some(why) = unnamed(mistake) {
                        wrong.lock().expect("no worker panics").push(why);
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().expect("no worker panics");
    wrong.sort();
    assert!(wrong.is_empty(), "{} of {} are not named\n{}", wrong.len(), set.len(), wrong.join("\n"));
}

#[test]
fn faults_are_named_by_rules_that_exist() {
    let known: BTreeSet<_> = rules::all().map(|rule| rule.name).collect();
    let mut names = BTreeSet::new();
    for mistake in mistakes() {
        assert!(names.insert(mistake.name.clone()), "{} stands twice", mistake.name);
        assert!(mistake.mistake.ends_with('.'), "{}: {}", mistake.name, mistake.mistake);
        for rule in &mistake.named_by {
            assert!(known.contains(rule.as_str()), "{}: there is no rule {rule}", mistake.name);
        }
    }
}

/// Returns a description of what was found instead, unless the fault was named.
fn unnamed(mistake: &KnownFault) -> Option<String> {
    let report = lint(mistake);
    let found: BTreeSet<_> = report.findings().map(|(_, finding)| finding.rule.to_string()).collect();
    let named = mistake.named_by.iter().any(|rule| found.contains(rule));
    (!named).then(|| format!("{}: {} found instead: {found:?}", mistake.name, mistake.mistake))
}

fn lint(mistake: &KnownFault) -> Report {
    let (mode, tools) =
        if mistake.active { (Mode::Active, Callable::ReadOnly) } else { (Mode::Negative, Callable::None) };
    let budget = Budget { answer: OWED, ..Budget::default() };
    let active = Active { tools, calls: 50, cases: 0, seed: 1 };
    let options = Options { mode, active, budget, ..Options::default() };
    let over = mistake.server.over.as_deref().unwrap_or("stdio");
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().start_paused(over == "stdio");
    let runtime = builder.build().expect("a runtime can be built");
    runtime.block_on(async {
        let subject =
            ServerSubject { name: "server".to_owned(), dial: dial(&mistake.server, over).await, lock: None };
        trunkline_lint::lint(&[Subject::Server(subject)], &options).await
    })
}

fn mistakes() -> Vec<KnownFault> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("faults");
    let entries = std::fs::read_dir(&folder).expect("the set is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be read").path()).collect();
    files.sort();
    files.iter().flat_map(|path| read(path)).collect()
}

fn read(path: &Path) -> Vec<KnownFault> {
    let text = std::fs::read_to_string(path).expect("a file of the set can be read");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
