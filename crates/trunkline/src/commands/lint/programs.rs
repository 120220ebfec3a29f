//! Checks whether a program named in a configuration file exists on this machine.

use std::{env, ffi::OsStr, path::Path};

/// True if the program exists. A relative path, or one with a variable, is assumed to exist: only
/// the client knows how to resolve it.
pub(super) fn is_there(program: &str, path: Option<&OsStr>) -> bool {
    if program.contains(['$', '%', '~', '{']) {
        return true;
    }
    let file = Path::new(program);
    if file.is_absolute() {
        return file.is_file();
    }
    let folders = path.map(env::split_paths);
    program.contains(['/', '\\'])
        || folders.is_none_or(|mut folders| folders.any(|folder| folder.join(program).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_known_to_lack_does() {
        let path = Some(OsStr::new("/usr/bin:/bin"));
        for there in ["sh", "/bin/sh", "./server", "${HOME}/server", "~/server"] {
            assert!(is_there(there, path), "{there}");
        }
        for absent in ["trunkline-no-such-program", "/nowhere/server"] {
            assert!(!is_there(absent, path), "{absent}");
        }
        assert!(is_there("anything", None));
    }
}
