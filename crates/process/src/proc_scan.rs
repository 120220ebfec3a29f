//! Finds, counts and kills processes through Linux `/proc`. On other systems it finds nothing.

use std::{collections::BTreeMap, fs};

use rustix::process::Pid;

/// Processes by pid, with their start time, which detects a reused pid.
pub(crate) type ProcessSet = BTreeMap<i32, u64>;

/// The total resource usage of several processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) processes: usize,
    /// Bytes of private memory.
    pub(crate) memory: u64,
}

/// One line of `/proc/<pid>/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stat {
    pid: i32,
    name: String,
    parent: i32,
    group: i32,
    start: u64,
    is_zombie: bool,
}

/// The living processes of the group `leader`, those of `known`, and all their descendants.
pub(crate) fn members(leader: Option<Pid>, known: &ProcessSet) -> ProcessSet {
    let all = stats();
    let leader = leader.map(|leader| leader.as_raw_nonzero().get());
    let is_first = |stat: &&Stat| {
        Some(stat.group) == leader || Some(stat.pid) == leader || known.get(&stat.pid) == Some(&stat.start)
    };
    let mut members: ProcessSet = all.iter().filter(is_first).map(|stat| (stat.pid, stat.start)).collect();
    loop {
        let is_child = |stat: &&Stat| members.contains_key(&stat.parent) && !members.contains_key(&stat.pid);
        let found: Vec<_> = all.iter().filter(is_child).map(|stat| (stat.pid, stat.start)).collect();
        if found.is_empty() {
            break;
        }
        members.extend(found);
    }
    members.retain(|pid, _| all.iter().any(|stat| stat.pid == *pid && !stat.is_zombie));
    members
}

/// The processes that have `variable` (as `NAME=value`) in the environment they started with.
pub(crate) fn marked(variable: &str) -> ProcessSet {
    let is_marked = |stat: &Stat| {
        let environment = fs::read(format!("/proc/{}/environ", stat.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
    };
    let all = stats().into_iter();
    all.filter(|stat| !stat.is_zombie && is_marked(stat)).map(|stat| (stat.pid, stat.start)).collect()
}

/// The direct children of this process that are not among `own`, living or not, and those with all
/// their descendants that live.
#[cfg(target_os = "linux")]
pub(crate) fn strays(own: &std::collections::BTreeSet<i32>) -> (Vec<i32>, ProcessSet) {
    let parent = rustix::process::getpid().as_raw_nonzero().get();
    let all = stats();
    let is_stray = |stat: &&Stat| stat.parent == parent && !own.contains(&stat.pid);
    let direct: ProcessSet = all.iter().filter(is_stray).map(|stat| (stat.pid, stat.start)).collect();
    (direct.keys().copied().collect(), members(None, &direct))
}

/// The names of the living members of a group, except its leader; `None` without `/proc`.
pub(crate) fn followers(leader: Pid) -> Option<Vec<String>> {
    let leader = leader.as_raw_nonzero().get();
    let all = stats();
    let is_follower = |stat: &&Stat| stat.group == leader && stat.pid != leader && !stat.is_zombie;
    (!all.is_empty()).then(|| all.iter().filter(is_follower).map(|stat| stat.name.clone()).collect())
}

pub(crate) fn usage(members: &ProcessSet) -> Usage {
    Usage {
        processes: members.len(),
        memory: members.keys().map(|pid| private_memory(*pid).unwrap_or(0)).sum(),
    }
}

/// Kills those processes whose pid was not reused.
#[cfg(target_os = "linux")]
pub(crate) fn kill(processes: &ProcessSet) {
    use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    for (pid, start) in processes {
        let Some(id) = Pid::from_raw(*pid) else { continue };
        // From here on the handle refers to one process, even if its pid is reused.
        let Ok(handle) = pidfd_open(id, PidfdFlags::empty()) else { continue };
        if stat(*pid).is_some_and(|stat| !stat.is_zombie && stat.start == *start)
            && let Err(error) = pidfd_send_signal(&handle, Signal::KILL)
        {
            tracing::debug!(pid, %error, "cannot kill a remaining process of a command");
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn kill(_processes: &ProcessSet) {}

fn private_memory(pid: i32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

fn stats() -> Vec<Stat> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter_map(stat).collect()
}

fn stat(pid: i32) -> Option<Stat> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The name in parentheses may itself contain parentheses, so the fields begin after the last `)`.
fn parse(pid: i32, text: &str) -> Option<Stat> {
    let (head, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Some(Stat {
        pid,
        name: head.split_once('(')?.1.to_owned(),
        is_zombie: matches!(*fields.first()?, "Z" | "X"),
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_confuse() {
        let text = "42 (a) Z 1 (b) S 7 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987 1000 50";
        let name = "a) Z 1 (b".to_owned();
        assert_eq!(
            parse(42, text),
            Some(Stat { pid: 42, name, parent: 7, group: 42, start: 987, is_zombie: false })
        );
        assert_eq!(parse(1, "1 (init"), None);
    }
}
