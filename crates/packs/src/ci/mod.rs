//! The ci pack: builds, tests and checks projects, follows long jobs, and looks at the runs of hosted services.
//!
//! A *root* is a directory that the operator opened; a *project* is a directory in it with a file that some build tool is
//! known by. A *job* is a program that runs, or has run, for a caller.
//!
//! A build runs the code of the project, with the rights of the user that runs us. Nothing here changes that, so nothing
//! is run unless the operator says [`Access::Run`]. What is run is bounded:
//! 1. No shell: a program at an absolute path, and arguments. `run_command` takes only lines that a [`CommandRule`] allows.
//! 2. The environment holds paths, languages and versions, and no secrets of ours.
//! 3. Each process has limits of memory, file size and open files; the whole tree of processes has limits of memory, number
//!    and time ([`RunLimits`]), and is killed when it ends, whether or not parts of it left their process group.
//! 4. Both streams are read to their end; their beginning and end are kept. Secrets are taken out of what is shown.
//!
//! Left to others: who may call (the front), what programs may reach in files and network (the system), and how requests to
//! hosted services are sent ([`Fetch`]).

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
