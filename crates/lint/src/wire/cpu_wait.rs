//! The time that a server could not run because other programs had the CPU.

use std::{fs, time::Duration};

/// Processes that are looked at; a launcher such as npx starts the server as its child.
const MOST_PROCESSES: usize = 64;

/// The time that the main threads of the process and of its descendants were ready and waited for
/// a CPU. Zero on systems that do not count it.
pub(super) fn of_server(process: i32) -> Duration {
    let mut processes = vec![process];
    let mut all = Duration::ZERO;
    for index in 0..MOST_PROCESSES {
        let Some(process) = processes.get(index).copied() else { break };
        all += waited(&format!("/proc/{process}/schedstat"));
        let children = read(&format!("/proc/{process}/task/{process}/children"));
        processes.extend(children.split_whitespace().filter_map(|child| child.parse::<i32>().ok()));
    }
    all
}

/// The same for the threads of this process: what it reads late was not written late.
pub(super) fn of_ourselves() -> Duration {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads.map(|thread| waited(&format!("{}/schedstat", thread.path().display()))).sum()
}

fn waited(schedstat: &str) -> Duration {
    parse(&read(schedstat)).unwrap_or_default()
}

/// A process that has ended reads as empty.
fn read(file: &str) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// Parses `<ns on a CPU> <ns waiting for one> <time slices>`.
fn parse(schedstat: &str) -> Option<Duration> {
    schedstat.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_is_the_time_spent_waiting() {
        assert_eq!(parse("7000 5000000000 12\n"), Some(Duration::from_secs(5)));
        assert_eq!(parse(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_running_process_and_a_missing_one_are_read() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(fs::read_to_string("/proc/self/schedstat").is_ok_and(|text| parse(&text).is_some()));
        assert!(of_server(own) > Duration::ZERO);
        assert!(of_ourselves() > Duration::ZERO);
        assert_eq!(of_server(i32::MAX), Duration::ZERO);
    }
}
