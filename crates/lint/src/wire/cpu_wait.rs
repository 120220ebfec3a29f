//! The time that a server could not run because other programs had the CPU.

use std::{fs, time::Duration};

/// Processes that are looked at; a launcher such as npx starts the server as its child.
const MOST_PROCESSES: usize = 64;

/// The longest time that the main thread of the process, or of a descendant, was ready and waited
/// for a CPU. Zero on systems that do not count it.
pub(super) fn waited(process: i32) -> Duration {
    let mut processes = vec![process];
    let mut longest = Duration::ZERO;
    for index in 0..MOST_PROCESSES {
        let Some(process) = processes.get(index).copied() else { break };
        let read = |file: String| fs::read_to_string(file).unwrap_or_default();
        longest = longest.max(parse(&read(format!("/proc/{process}/schedstat"))).unwrap_or_default());
        let children = read(format!("/proc/{process}/task/{process}/children"));
        processes.extend(children.split_whitespace().filter_map(|child| child.parse::<i32>().ok()));
    }
    longest
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
        assert!(waited(own) > Duration::ZERO);
        assert_eq!(waited(i32::MAX), Duration::ZERO);
    }
}
