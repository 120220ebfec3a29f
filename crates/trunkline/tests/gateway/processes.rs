//! Facts about processes from `/proc`.

use std::{fs, path::Path};

/// The environment variable that marks the processes of a test.
pub(crate) const MARK: &str = "TEST_MARK";

/// The processes whose mark matches.
pub(crate) fn marked(wanted: impl Fn(&str) -> bool) -> Vec<i32> {
    let start = format!("{MARK}=");
    let is_wanted = |path: &Path| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| {
            std::str::from_utf8(variable).is_ok_and(|text| text.strip_prefix(&start).is_some_and(&wanted))
        })
    };
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    entries
        .filter(|path| is_wanted(path))
        .filter_map(|path| path.file_name()?.to_str()?.parse().ok())
        .collect()
}

/// True for a process of ours that keeps the processes of a server together.
pub(crate) fn is_supervisor(pid: i32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).nth(1) == Some(b"__supervise")
}

/// The children of a process, including zombies.
pub(crate) fn children(parent: i32) -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| parent_of(*pid) == Some(parent)).collect()
}

fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

pub(crate) fn descriptors(pid: i32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// Resident memory (RSS) of a process, in KiB.
pub(crate) fn resident_kib(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

pub(crate) fn signal(pid: i32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    // It may have exited meanwhile.
    rustix::process::kill_process(pid, signal).ok();
}
