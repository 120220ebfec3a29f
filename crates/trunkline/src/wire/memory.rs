//! The memory limit for messages in flight, and the return of freed memory to the system.

use super::settings;
use crate::environment::Environment;
use std::{fs, path::Path, thread, time::Duration};
use trunkline_config::Settings;
use trunkline_resilience::{large_release, set_memory_limit};

/// The default limit is this part of the memory, within these bounds.
const PART: u64 = 4;
const LEAST: u64 = 64 * 1024 * 1024;
const MOST: u64 = 2 * 1024 * 1024 * 1024;
/// The allocator keeps freed memory for a second, and looks at it again only when a thread
/// allocates much or ends.
const KEPT_BY_ALLOCATOR: Duration = Duration::from_millis(1500);

/// Applies the limit of the settings.
pub(crate) fn limit(settings: &Settings) {
    apply(settings.limits.memory_bytes);
}

/// Applies the limit to a command that needs no configuration: that of a configuration that can be
/// read, otherwise the default.
pub(crate) fn limit_client(environment: &Environment) {
    apply(settings::read_if_valid(environment).and_then(|settings| settings.limits.memory_bytes));
}

/// Sets the limit, and starts the task that returns memory. Must be called within a runtime.
fn apply(bytes: Option<u64>) {
    let bytes = bytes.unwrap_or_else(default);
    set_memory_limit(usize::try_from(bytes).unwrap_or(usize::MAX));
    tokio::spawn(give_back());
}

async fn give_back() {
    loop {
        large_release().await;
        tokio::time::sleep(KEPT_BY_ALLOCATOR).await;
        // Pages freed in the meantime are still kept, so a second thread ends later.
        for _ in 0..2 {
            // The allocator returns free pages of all threads when one that has allocated ends.
            thread::spawn(|| drop(std::hint::black_box(vec![0_u8; 1024])));
            tokio::time::sleep(KEPT_BY_ALLOCATOR).await;
        }
    }
}

fn default() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    let group = fs::read_to_string("/proc/self/cgroup").ok().and_then(|text| group_limit(&text));
    (machine.into_iter().chain(group).min().unwrap_or(MOST) / PART).clamp(LEAST, MOST)
}

/// The memory of the machine.
fn total(meminfo: &str) -> Option<u64> {
    let kib = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    kib.trim().trim_end_matches(" kB").parse::<u64>().ok()?.checked_mul(1024)
}

/// The smallest limit of the cgroup and those around it (cgroup v2).
fn group_limit(groups: &str) -> Option<u64> {
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let groups = Path::new("/sys/fs/cgroup").join(own);
    let limits = groups.ancestors().take_while(|group| group.starts_with("/sys/fs/cgroup"));
    limits.filter_map(|group| fs::read_to_string(group.join("memory.max")).ok()?.trim().parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_limit_is_a_part_of_the_memory() {
        assert_eq!(total("MemFree: 1 kB\nMemTotal:       16384 kB\n"), Some(16 * 1024 * 1024));
        assert!((LEAST..=MOST).contains(&default()));
    }
}
