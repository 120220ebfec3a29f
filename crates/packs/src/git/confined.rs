//! The files that a git process can access, enforced by the kernel where it can.
//!
//! Commands that use the network are not confined: ssh and https need keys, certificates and
//! settings from anywhere. The same holds if the operator lets programs of the user or of the
//! repository run.

use std::path::PathBuf;

use super::{
    environment::Mode,
    options::{Drivers, Hooks, UserSettings},
    pack::Git,
};
use trunkline_process::{Confinement, Reads};

/// Programs, libraries and devices that git and the shell need. `/etc` as a whole is not readable.
const SYSTEM: [&str; 16] = [
    "/bin",
    "/dev/null",
    "/dev/urandom",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/gnu/store",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/sbin",
    "/sys/devices/system/cpu",
    "/usr",
];

/// The confinement of a command; `own` are further directories that it needs.
pub(super) fn confinement(git: &Git, mode: Mode, own: Vec<PathBuf>) -> Option<Confinement> {
    let options = git.options();
    let is_free = options.hooks == Hooks::Run
        || options.drivers == Drivers::Run
        || matches!(options.user_settings, UserSettings::Read(_));
    if is_free || mode == Mode::Network {
        return None;
    }
    let mut reads: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    reads.push(git.program().clone());
    let mut writable = vec![PathBuf::from("/dev/null")];
    let inside = git.roots().all().iter().cloned().chain(own);
    match mode {
        Mode::Read => reads.extend(inside),
        Mode::Write | Mode::Network => writable.extend(inside),
    }
    Some(Confinement { writable, reads: Reads::Only(reads), network: trunkline_process::Network::Allowed })
}
