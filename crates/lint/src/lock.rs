//! Lock files as the linter uses them: made of a report, and read by a rule.

use crate::{engine::LockSubject, report::Report};
use trunkline_lock::{Lock, Pinned};

/// Pins the current tools of all servers in a report, except unreachable ones.
pub fn lock_of(report: &Report) -> Lock {
    let mut lock = Lock::default();
    for target in report.targets.iter().filter(|target| target.transport.is_some()) {
        let mut pinned = Pinned { tools: target.tools.clone(), ..Pinned::default() };
        pinned.seal();
        lock.servers.insert(target.target.clone(), pinned);
    }
    lock
}

/// The pinned definitions of a server, as input for the rules.
pub fn lock_subject(lock: &Lock, server: &str, path: &str) -> Option<LockSubject> {
    let pinned = lock.servers.get(server)?;
    Some(LockSubject {
        path: path.to_owned(),
        tools: pinned.tools.iter().map(|(name, tool)| (name.clone(), tool.clone())).collect(),
    })
}
