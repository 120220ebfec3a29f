//! Killing single processes, and never another that got the same number.

use super::census::Known;

/// Kills each of these that still is the one meant.
#[cfg(target_os = "linux")]
pub(super) fn kill(processes: &Known) {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    for (pid, start) in processes {
        let Some(id) = Pid::from_raw(*pid) else { continue };
        // From here on the handle means one process, whatever becomes of its number.
        let Ok(handle) = pidfd_open(id, PidfdFlags::empty()) else { continue };
        if super::census::start_of(*pid) == Some(*start)
            && let Err(error) = pidfd_send_signal(&handle, Signal::KILL)
        {
            tracing::debug!(pid, %error, "cannot kill a process that a run left behind");
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn kill(_processes: &Known) {}
