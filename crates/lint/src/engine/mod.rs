//! The engine: selects rules, runs the probes they need, runs the checks, and builds the report.

mod exclusive;
mod gather;
mod introduction;
mod judge;
mod options;
mod plan;
mod subject;

pub use gather::gather;
pub use introduction::Unreachable;
pub use judge::judge;
pub use options::{Active, Budget, Callable, Event, Options, Progress, Selection};
pub(crate) use subject::Dialect;
pub use subject::{ConfigSubject, Fleet, LockSubject, ServerSubject, Subject};

use crate::report::{Report, TargetReport};

/// Judges all subjects. A server that cannot be reached is part of the report, not an error.
pub async fn lint(subjects: &[Subject], options: &Options) -> Report {
    let mut targets = Vec::new();
    let mut gathered = Vec::new();
    for subject in subjects {
        match subject {
            Subject::Server(server) => match Box::pin(gather(server, options)).await {
                Ok(evidence) => {
                    targets.push(judge::server(&evidence, server.lock.as_ref(), options));
                    gathered.push(evidence);
                }
                Err(unreachable) => targets.push(TargetReport::unreachable(&server.name, &unreachable)),
            },
            Subject::Config(config) => targets.push(judge::config(config, options)),
        }
    }
    if gathered.len() > 1 {
        let fleet = Fleet { servers: gathered.iter().collect() };
        targets.extend(judge::fleet(&fleet, options));
    }
    if let Some(level) = options.selection.level {
        for rule in targets.iter_mut().flat_map(|target| &mut target.rules) {
            rule.findings.retain(|finding| finding.level >= level);
        }
    }
    Report::new(targets)
}
