//! Selects the parser for a run.

use super::{
    super::project::{Action, Kind},
    cargo,
    compiler::{self, Unmarked},
    dotnet, eslint,
    evidence::Evidence,
    go, gradle, jest, junit, maven, mocha, pytest, spec, tap,
    types::Report,
    unittest, vitest,
};

/// The kind of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Reading {
    Project(Kind, Action),
    /// A command line given by the caller.
    Command,
}

/// Parses the output of a run. A project's command often calls other tools (`make test`,
/// `npm test`), so if its own format is not found, all others are tried.
pub(in super::super) fn read(reading: Reading, evidence: &Evidence) -> Report {
    let report = match reading {
        Reading::Project(kind, Action::RunTests) => {
            let own = tests(kind, evidence);
            if own.is_empty() { Report { readable: own.readable, ..any_tests(evidence) } } else { own }
        }
        Reading::Project(kind, Action::Build | Action::Lint) => checks(kind, evidence),
        Reading::Project(_, Action::Restore) => Report::default(),
        Reading::Command => any_tests(evidence),
    };
    report.tidy()
}

fn tests(kind: Kind, evidence: &Evidence) -> Report {
    match kind {
        Kind::Cargo => cargo::read(evidence),
        Kind::Go => go::read(evidence),
        Kind::Dotnet => or_else(dotnet::trx(&evidence.files), || dotnet::text(&evidence.stdout)),
        Kind::Maven => or_else(junit::read(&evidence.files), || maven::read(&evidence.stdout)),
        Kind::Gradle => or_else(junit::read(&evidence.files), || gradle::read(&evidence.stdout)),
        Kind::Python => {
            let report = or_else(junit::read(&evidence.files), || pytest::read(&evidence.stdout));
            or_else(report, || unittest::read(&evidence.stderr))
        }
        Kind::Npm | Kind::Pnpm | Kind::Yarn | Kind::Make => Report::default(),
    }
}

/// Test results in any format; if there are none, compiler diagnostics.
fn any_tests(evidence: &Evidence) -> Report {
    let all = [
        tap::read,
        spec::read,
        jest::read,
        vitest::read,
        mocha::read,
        pytest::read,
        unittest::read,
        cargo::tests,
        maven::read,
        gradle::read,
        dotnet::text,
    ];
    for text in [&evidence.stdout, &evidence.stderr] {
        for read in all {
            let report = read(text);
            if report.tests.is_some() {
                return report;
            }
        }
    }
    let mut diagnostics = compiler::diagnostics(&evidence.stderr, Unmarked::Skip);
    diagnostics.extend(compiler::diagnostics(&evidence.stdout, Unmarked::Skip));
    Report { diagnostics, ..Report::default() }
}

fn checks(kind: Kind, evidence: &Evidence) -> Report {
    if kind == Kind::Cargo {
        return cargo::read(evidence);
    }
    let unmarked = match kind {
        Kind::Go | Kind::Python => Unmarked::Error,
        _ => Unmarked::Skip,
    };
    let mut diagnostics = compiler::diagnostics(&evidence.stderr, unmarked);
    diagnostics.extend(compiler::diagnostics(&evidence.stdout, unmarked));
    match kind {
        Kind::Npm | Kind::Pnpm | Kind::Yarn => diagnostics.extend(eslint::read(&evidence.stdout)),
        Kind::Python => {
            diagnostics.extend(unittest::syntax_errors(&evidence.stdout));
            diagnostics.extend(unittest::syntax_errors(&evidence.stderr));
        }
        _ => {}
    }
    Report { diagnostics, ..Report::default() }
}

fn or_else(report: Report, other: impl FnOnce() -> Report) -> Report {
    if report.is_empty() { other() } else { report }
}
