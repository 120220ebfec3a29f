//! The ci pack: builds, tests and lints projects, runs long jobs, and shows the runs of hosted CI
//! services.
//!
//! A *root* is a directory that the operator opened. A *project* is a directory below a root with
//! the manifest of a build tool, such as `Cargo.toml`. A *job* is a program that runs, or has run,
//! for a caller.
//!
//! A build runs the project's own code with the rights of the server's user. This pack cannot
//! prevent that, so it runs nothing unless the operator sets [`Access::Run`]. Runs are bounded:
//! 1. No shell: a program at an absolute path, and arguments. `run_command` accepts only lines
//!    that a [`CommandRule`] allows.
//! 2. The environment holds paths, languages and versions, and none of the server's secrets.
//! 3. Each process has limits on memory, file size and open files. The process tree has limits on
//!    memory, number and time ([`RunLimits`]), and is killed when the program ends, including
//!    processes that left their process group.
//! 4. Both streams are read to EOF; their beginning and end are kept. Secrets in the shown text
//!    are redacted.
//!
//! Not handled here: authorization of callers (the serving layer), access of programs to files and
//! network (the operating system), and the transport to hosted services ([`Fetch`]).

mod action;
mod build;
mod cancel_job;
mod ci_pack_error;
mod command;
mod detect_project;
mod environment;
mod failed_job_logs;
mod get_diagnostics;
mod job;
mod job_log;
mod job_status;
mod lint;
mod list_jobs;
mod list_runs;
mod log_text;
mod options;
mod pack;
mod project;
mod provider;
mod redact;
mod report;
mod rerun;
mod restore;
mod roots;
mod run_command;
mod run_report;
mod run_tests;
mod start_job;
mod wait_for_run;

pub use ci_pack_error::CiPackError;
pub use command::{BadRule, CommandRule};
pub use options::{Access, CiOptions, JobLimits, RunLimits};
pub use pack::pack;
pub use provider::{
    Fetch, FetchError, FetchMethod, FetchRequest, FetchResponse, ProviderKind, ProviderOptions, Rerun, Token,
};
#[doc(hidden)]
pub use report::reports;
