//! What the operator allows.

use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use super::{
    command::CommandRule,
    provider::{Fetch, ProviderOptions},
};
use trunkline_process::DEFAULT_MEMORY;

/// How long a program may run before it and all its descendants are killed.
const RUN_DEADLINE: Duration = Duration::from_mins(15);

/// How long a call waits for its program before it answers with a job to ask about. Hosts give up soon after.
const PATIENCE: Duration = Duration::from_secs(25);

/// How long an ended job can be asked about.
const JOB_TTL: Duration = Duration::from_mins(15);

const MIB: u64 = 1024 * 1024;

/// What the operator allows. The defaults are the careful choice: nothing is run.
#[derive(Debug, Clone)]
pub struct CiOptions {
    /// Directories in which projects may lie; at least one. The first is where relative paths start.
    pub roots: Vec<PathBuf>,
    /// Whether tools that run programs are offered.
    pub access: Access,
    /// Which lines `run_command` accepts. Without any it is not offered.
    pub commands: Vec<CommandRule>,
    /// The variables that programs may be given, such as all of our own. Only those that every child process
    /// inherits, those of build tools, and those named by `pass` get through. `PATH` among them also says where
    /// programs are searched.
    pub environment: Vec<(OsString, OsString)>,
    /// Names of further variables that get through.
    pub pass: Vec<String>,
    /// What programs may use.
    pub limits: RunLimits,
    /// How many programs run at once and how long their results are kept.
    pub jobs: JobLimits,
    /// Hosted services whose runs can be looked at.
    pub providers: Vec<ProviderOptions>,
    /// How requests to them are sent. Needed as soon as there is a provider.
    pub fetch: Option<Arc<dyn Fetch>>,
}

/// Whether tools that run programs are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only tools that look.
    Look,
    /// Also those that build, test, lint, restore and run commands. A project's own code runs then, with the rights
    /// of the user that runs us.
    Run,
}

/// What programs may use.
///
/// `memory`, `file_size` and `open_files` are limits of the system (`RLIMIT_DATA`, `RLIMIT_FSIZE`, `RLIMIT_NOFILE`) on
/// each process. What a whole tree of processes uses has no such limit, so on Linux we look at it four times a second
/// and kill a tree that has grown too large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLimits {
    /// How long a program may run.
    pub deadline: Duration,
    /// How long a call waits for its program before it answers with a job to ask about.
    pub patience: Duration,
    /// Bytes of private writable memory for each process. Large builds need more than the default.
    pub memory: Option<u64>,
    /// Bytes of memory for all processes of one run together.
    pub tree_memory: Option<u64>,
    /// Processes of one run.
    pub processes: Option<usize>,
    /// Bytes of the largest file.
    pub file_size: Option<u64>,
    /// Files that each process may have open.
    pub open_files: Option<u64>,
    /// Bytes kept of the beginning of each stream.
    pub log_head: usize,
    /// Bytes kept of the end of each stream.
    pub log_tail: usize,
}

/// How many programs run at once and how long their results are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLimits {
    /// Programs that run at once, for all callers.
    pub running: usize,
    /// Programs that run at once for one caller.
    pub running_per_caller: usize,
    /// Ended jobs that can be asked about; the oldest go first.
    pub kept: usize,
    /// How long an ended job can be asked about.
    pub ttl: Duration,
}

impl CiOptions {
    /// Looking at the projects in `roots`.
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
