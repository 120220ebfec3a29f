//! Options set by the operator.

use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use super::{
    command::CommandRule,
    provider::{Fetch, ProviderOptions},
};
use trunkline_process::DEFAULT_MEMORY;

/// Default time limit of a program, after which it and all its descendants are killed.
const RUN_DEADLINE: Duration = Duration::from_mins(15);

/// Default time that a call waits for its program before it returns a running job. Hosts time out
/// soon after.
const PATIENCE: Duration = Duration::from_secs(25);

/// Time for which an ended job is kept.
const JOB_TTL: Duration = Duration::from_mins(15);

const MIB: u64 = 1024 * 1024;

/// Options set by the operator. By default nothing is run.
#[derive(Debug, Clone)]
pub struct CiOptions {
    /// Directories that contain projects; at least one. The first is the base of relative paths.
    pub roots: Vec<PathBuf>,
    /// Determines whether tools that run programs are offered.
    pub access: Access,
    /// Command lines that `run_command` accepts. If empty, the tool is not offered.
    pub commands: Vec<CommandRule>,
    /// Candidate environment variables, such as all of the server's own. Programs receive only
    /// those that every child process inherits, those of build tools, and those named by `pass`.
    /// `PATH` is also the search path for programs.
    pub environment: Vec<(OsString, OsString)>,
    /// Names of additional variables that programs receive.
    pub pass: Vec<String>,
    /// Resource limits of programs.
    pub limits: RunLimits,
    /// Limits on concurrent programs and on stored results.
    pub jobs: JobLimits,
    /// Hosted services whose runs are shown.
    pub providers: Vec<ProviderOptions>,
    /// HTTP client for requests to the providers. Required if there is a provider.
    pub fetch: Option<Arc<dyn Fetch>>,
}

/// Determines whether tools that run programs are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only tools that read.
    Look,
    /// Also tools that build, test, lint, restore and run commands. They run the project's own
    /// code with the rights of the server's user.
    Run,
}

/// Resource limits of programs.
///
/// `memory`, `file_size` and `open_files` are system limits (`RLIMIT_DATA`, `RLIMIT_FSIZE`,
/// `RLIMIT_NOFILE`) of each process. The system has no such limit for a process tree, so on Linux
/// the tree is measured four times a second and killed when it exceeds its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLimits {
    /// Time limit of a program.
    pub deadline: Duration,
    /// Time that a call waits for its program before it returns a running job.
    pub patience: Duration,
    /// Maximum private writable memory of each process, in bytes. Large builds need more than the
    /// default.
    pub memory: Option<u64>,
    /// Maximum memory of all processes of one run, in bytes.
    pub tree_memory: Option<u64>,
    /// Maximum number of processes of one run.
    pub processes: Option<usize>,
    /// Maximum size of a file, in bytes.
    pub file_size: Option<u64>,
    /// Maximum number of open files of each process.
    pub open_files: Option<u64>,
    /// Bytes kept of the beginning of each stream.
    pub log_head: usize,
    /// Bytes kept of the end of each stream.
    pub log_tail: usize,
}

/// Limits on concurrent programs and on stored results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLimits {
    /// Maximum number of concurrent programs of all callers.
    pub running: usize,
    /// Maximum number of concurrent programs of one caller.
    pub running_per_caller: usize,
    /// Maximum number of ended jobs kept; the oldest are evicted first.
    pub kept: usize,
    /// Time for which an ended job is kept.
    pub ttl: Duration,
}

impl CiOptions {
    /// Read-only access to the projects in `roots`.
    pub fn new(roots: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self {
            roots: roots.into_iter().map(Into::into).collect(),
            access: Access::Look,
            commands: CommandRule::common(),
            environment: Vec::new(),
            pass: Vec::new(),
            limits: RunLimits::default(),
            jobs: JobLimits::default(),
            providers: Vec::new(),
            fetch: None,
        }
    }
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            deadline: RUN_DEADLINE,
            patience: PATIENCE,
            memory: Some(DEFAULT_MEMORY),
            tree_memory: Some(4 * DEFAULT_MEMORY),
            processes: Some(256),
            file_size: Some(1024 * MIB),
            open_files: Some(4096),
            log_head: 512 * 1024,
            log_tail: 1536 * 1024,
        }
    }
}

impl Default for JobLimits {
    fn default() -> Self {
        Self { running: 4, running_per_caller: 2, kept: 16, ttl: JOB_TTL }
    }
}
