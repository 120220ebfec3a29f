//! Checks whether a keychain is available.

use super::Check;
use crate::{cause::Cause, diagnosis::Problem, options::DoctorOptions};
use std::{os::unix::net::UnixStream, path::PathBuf};

/// Checks whether a secret service may be running. It is not called, as that could open a
/// dialogue.
pub fn check_keychain(options: &DoctorOptions) -> Check {
    let what = "keychain";
    if cfg!(target_os = "macos") {
        return Check::fine(what, "the system's own");
    }
    let Some(bus) = bus(options) else {
        return missing(what, "there is no session bus (DBUS_SESSION_BUS_ADDRESS is not set)");
    };
    match UnixStream::connect(&bus) {
        Ok(_) => Check::not_verified(
            what,
            format!(
                "a session bus answers at {}; whether it has a secret service was not asked",
                bus.display()
            ),
        ),
        Err(error) => {
            missing(what, &format!("the session bus at {} does not answer: {error}", bus.display()))
        }
    }
}

/// The path of the D-Bus session socket.
fn bus(options: &DoctorOptions) -> Option<PathBuf> {
    if let Some(address) = options.variable("DBUS_SESSION_BUS_ADDRESS").and_then(|text| text.to_str()) {
        let path = address.split(';').find_map(|one| one.strip_prefix("unix:path="))?;
        return Some(PathBuf::from(path.split(',').next()?));
    }
    let bus = PathBuf::from(options.variable("XDG_RUNTIME_DIR")?).join("bus");
    bus.exists().then_some(bus)
}

fn missing(what: &str, why: &str) -> Check {
    let problem = Problem::new(Cause::KeychainUnavailable, why).fix(
        "logins and secrets are not sealed; `trunkline secret set NAME` and {keychain:NAME} work without it",
    );
    Check::found(what, vec![problem])
}
