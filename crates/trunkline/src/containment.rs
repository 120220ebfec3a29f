//! Starts programs below a supervisor, which is this program itself, so that none of their
//! processes outlives them.

use std::process::ExitCode;
use std::sync::LazyLock;
use trunkline_gateway::status::GatewayStatus;
use trunkline_process::{Confinement, Means, Network, Reads, Restriction};

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

/// Converts a document if this process was started for that. It must not have a second thread yet.
#[cfg(feature = "documents")]
pub(crate) fn as_converter() -> Option<ExitCode> {
    use trunkline_packs::documents::child;

    let first = std::env::args_os().nth(1);
    let is_one = first.is_some_and(|first| first == child::CONVERT);
    is_one.then(|| child::run(std::io::stdin().lock(), std::io::stdout().lock()).into())
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

/// If the kernel restricts files, tried once.
static LANDLOCK: LazyLock<&'static str> = LazyLock::new(|| {
    let nothing = Confinement { writable: Vec::new(), reads: Reads::Anywhere, network: Network::Allowed };
    match nothing.support() {
        Ok(Restriction::Full) => "available",
        Ok(Restriction::Partial) => "partly available, this kernel is old",
        Ok(Restriction::Unavailable) => "not available, only our own checks restrict file tools and git",
        Err(_) => "refused by the kernel, only our own checks restrict file tools and git",
    }
});

/// Adds the means in force to the status.
pub(crate) fn describe(status: &mut GatewayStatus) {
    status.processes = Some(processes());
    status.landlock = Some(*LANDLOCK);
}

fn processes() -> &'static str {
    match trunkline_process::means() {
        Means::Supervisor => "supervised, none outlives its server or job",
        Means::Group => "in process groups, which a process can leave",
    }
}
