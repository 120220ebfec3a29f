//! Resource limits of a program.

use std::{fmt::Write as _, time::Duration};

use crate::head_tail::Keep;

/// Default of [`Limits::deadline`].
pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(30);

/// Default of [`Limits::memory`].
pub const DEFAULT_MEMORY: u64 = 512 * 1024 * 1024;

/// Default number of bytes kept of the beginning and of the end of each stream.
const DEFAULT_KEEP: usize = 64 * 1024;

/// Resource limits of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Longest run time; then its group is killed.
    pub deadline: Duration,
    /// The part of its stdout to keep.
    pub stdout: Keep,
    /// The part of its stderr to keep.
    pub stderr: Keep,
    /// The reaction when it writes more to stdout than is kept.
    pub overflow: Overflow,
    /// Bytes of private writable memory for each of its processes. Address space that is only
    /// reserved does not count, because common runtimes reserve gigabytes that they never touch.
    pub memory: Option<u64>,
    /// Bytes of private memory for all its processes together. Checked every 250 ms.
    pub tree_memory: Option<u64>,
    /// Limit of simultaneous processes. Checked every 250 ms.
    pub processes: Option<usize>,
    /// Bytes of the largest file that it may write.
    pub file_size: Option<u64>,
    /// Open files for each of its processes.
    pub open_files: Option<u64>,
    /// The process that sets `memory`, `file_size` and `open_files`.
    pub set_by: SetBy,
}

/// The process that sets the limits that the kernel enforces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetBy {
    /// A shell, before it becomes the program.
    Shell,
    /// The program, which is ours and [isolates itself](crate::Isolation). That saves a process.
    Program,
}

/// The reaction when a program writes more to stdout than is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// Read, count and discard the rest.
    Drain,
    /// Kill the program: for one that only produces output.
    Stop,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: DEFAULT_DEADLINE,
            stdout: Keep::ends(DEFAULT_KEEP, DEFAULT_KEEP),
            stderr: Keep::ends(DEFAULT_KEEP, DEFAULT_KEEP),
            overflow: Overflow::Drain,
            memory: Some(DEFAULT_MEMORY),
            tree_memory: None,
            processes: None,
            file_size: None,
            open_files: None,
            set_by: SetBy::Shell,
        }
    }
}

impl Limits {
    /// The `ulimit` calls that set these limits in a shell before it `exec`s the program, if one is
    /// to set them.
    ///
    /// The script contains only our own text and numbers. POSIX counts memory in KiB and file
    /// sizes in blocks of 512 bytes.
    pub(crate) fn shell_setup(&self) -> Option<String> {
        if self.set_by == SetBy::Program {
            return None;
        }
        let mut setup = String::from("ulimit -c 0 || exit 126; ");
        let limits = [("-d", self.memory, 1024), ("-f", self.file_size, 512), ("-n", self.open_files, 1)];
        for (flag, value, unit) in limits {
            if let Some(value) = value {
                write!(setup, "ulimit {flag} {} || exit 126; ", value.div_ceil(unit))
                    .expect("writing to a string does not fail");
            }
        }
        Some(setup)
    }
}
