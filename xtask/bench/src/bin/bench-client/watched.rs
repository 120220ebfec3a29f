//! Reads the CPU time of the server's process from `/proc`.

use std::{fs, time::Duration};

use anyhow::{Context, Result};

/// Fields of `/proc/PID/stat` after the program's name that hold CPU times: user, system, and both
/// again for children that have ended.
const TIMES: std::ops::Range<usize> = 11..15;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched {
    process: u32,
}

impl Watched {
    pub(crate) fn new(process: u32) -> Self {
        Self { process }
    }

    /// CPU time of all threads of the process so far, user and system.
    pub(crate) fn processor_time(self) -> Result<Duration> {
        let path = format!("/proc/{}/stat", self.process);
        let text = fs::read_to_string(&path).with_context(|| format!("{path} cannot be read"))?;
        let ticks = ticks(&text).with_context(|| format!("{path} does not have the expected fields"))?;
        let per_second = rustix::param::clock_ticks_per_second();
        Ok(Duration::from_micros(ticks * 1_000_000 / per_second))
    }
}

/// The program's name may contain any character, so fields are counted from the last `)`.
fn ticks(stat: &str) -> Option<u64> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    let words: Vec<&str> = behind_name.split_whitespace().collect();
    words.get(TIMES)?.iter().map(|word| word.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_times() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 200 0 0 31 12 5 2 20 0 4 0 9000 0 0";
        assert_eq!(ticks(stat), Some(50));
        assert_eq!(ticks("7 (a) S 1 7"), None);
    }
}
