//! Starts programs below a supervisor, which is this program itself, so that none of their
//! processes outlives them.

use std::process::ExitCode;
use trunkline_process::Means;

/// Acts as a supervisor if this process was started as one.
#[cfg(target_os = "linux")]
pub(crate) fn as_supervisor() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let is_one = args.next().is_some_and(|first| first == trunkline_process::SUPERVISE);
    is_one.then(|| trunkline_process::supervise(args))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn as_supervisor() -> Option<ExitCode> {
    None
}

/// Uses supervisors from now on. This path stays valid if the file of this program is replaced.
#[cfg(target_os = "linux")]
pub(crate) fn start() {
    let own = std::path::Path::new("/proc/self/exe");
    if own.exists() {
        // Without it programs are tracked by their process groups, which the status says.
        trunkline_process::use_supervisor(own.to_owned()).ok();
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn start() {}

/// The means in force, for people.
pub(crate) fn described() -> &'static str {
    match trunkline_process::means() {
        Means::Supervisor => "supervised, none outlives its server or job",
        Means::Group => "in process groups, which a process can leave",
    }
}
