//! What a program may use.

use std::{fmt::Write as _, time::Duration};

use crate::head_tail::Keep;

/// How long a program may run, unless its [`Limits`] say otherwise.
pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(30);

/// Bytes of memory that each process may use, unless its [`Limits`] say otherwise.
pub const DEFAULT_MEMORY: u64 = 512 * 1024 * 1024;

/// Bytes kept of the beginning and of the end of each stream, unless the [`Limits`] say otherwise.
const DEFAULT_KEEP: usize = 64 * 1024;

/// What a program may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run; then its group is killed.
    pub deadline: Duration,
    /// What is kept of its stdout.
    pub stdout: Keep,
    /// What is kept of its stderr.
    pub stderr: Keep,
    /// What happens when it writes more to stdout than is kept.
    pub overflow: Overflow,
    /// Bytes of private writable memory for each of its processes. Address space that is only reserved does not
    /// count, because common runtimes reserve gigabytes that they never touch.
    pub memory: Option<u64>,
    /// Bytes of private memory that all its processes may use together. Checked every quarter of a second.
    pub tree_memory: Option<u64>,
    /// How many processes it may have at once. Checked every quarter of a second.
    pub processes: Option<usize>,
    /// Bytes of the largest file that it may write.
    pub file_size: Option<u64>,
    /// Files that each of its processes may have open.
    pub open_files: Option<u64>,
}

/// What happens when a program writes more to stdout than is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// The rest is read and counted, and the program runs on.
    Drain,
    /// The program is killed: for one that only produces output.
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
        }
    }
}

impl Limits {
    /// The `ulimit` calls that set these limits for a shell and what it turns into.
    ///
    /// It consists of our own texts and numbers only. POSIX counts memory in KiB and file sizes in blocks of 512 bytes.
    pub(crate) fn shell_setup(&self) -> String {
        let mut setup = String::from("ulimit -c 0 || exit 126; ");
        let limits = [("-d", self.memory, 1024), ("-f", self.file_size, 512), ("-n", self.open_files, 1)];
        for (flag, value, unit) in limits {
            if let Some(value) = value {
                write!(setup, "ulimit {flag} {} || exit 126; ", value.div_ceil(unit))
                    .expect("writing to a string does not fail");
            }
        }
        setup
    }
}
