//! CPU time of a process group.

use std::fs;

use anyhow::{Context, Result};

/// Linux reports times to programs in this unit on all architectures (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;

/// The CPU time in seconds that the living processes of a group have used.
pub(super) fn of_group(group: u32) -> Result<f64> {
    let mut ticks = 0;
    for entry in fs::read_dir("/proc").context("the CPU time is read from /proc")? {
        let stat = entry?.path().join("stat");
        // The process may have ended, or the entry is not a process.
        let Ok(stat) = fs::read_to_string(stat) else { continue };
        ticks += ticks_in(&stat, group).unwrap_or(0);
    }
    #[expect(clippy::cast_precision_loss, reason = "the number of ticks is far smaller")]
    let seconds = ticks as f64 / TICKS_PER_SECOND;
    Ok(seconds)
}

/// User and system time in a line of `/proc/PID/stat`; `None` if the process is of another group.
fn ticks_in(stat: &str, group: u32) -> Option<u64> {
    // The name of the program is in parentheses and may contain anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    (number(2)? == u64::from(group)).then_some(number(11)? + number(12)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_times_of_the_group_count() {
        let stat = "7 (a) b) S 1 42 42 0 -1 4194304 1 2 3 4 250 50 0 0 20 0 1 0 5";
        assert_eq!(ticks_in(stat, 42), Some(300));
        assert_eq!(ticks_in(stat, 43), None);
    }
}
