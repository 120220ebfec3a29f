//! The environment variables that a child inherits from this process.
//!
//! The list holds what programs need to find other programs, the user, the language and the
//! temporary and cache directories, and the *paths* of extra root certificates, without which no
//! server works behind a company's proxy. Left out on purpose, and to be configured by name if
//! needed: `*_PROXY` and `npm_config_*`, whose values often hold credentials; `NODE_OPTIONS`,
//! `PYTHONPATH`, `LD_*` and `DYLD_*`, which inject code; `SSH_AUTH_SOCK`, which gives access to
//! keys; and everything else.

use std::ffi::{OsStr, OsString};

/// Variables that a child inherits.
const NAMES: &[&str] = &[
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "PATH",
    "REQUESTS_CA_BUNDLE",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

/// Prefix of further names that a child inherits.
const LOCALE_PREFIX: &str = "LC_";

/// True if a child inherits a variable of this name.
pub fn is_inherited(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| NAMES.contains(&name) || name.starts_with(LOCALE_PREFIX))
}

/// The part of `variables` that a child inherits, without values that look like exported shell
/// functions, because old shells execute them.
pub fn inherited(variables: &[(OsString, OsString)]) -> impl Iterator<Item = &(OsString, OsString)> {
    variables
        .iter()
        .filter(|(name, value)| is_inherited(name) && !value.as_encoded_bytes().starts_with(b"()"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_names_pass() {
        for name in ["PATH", "HOME", "LC_ALL", "LC_CTYPE", "XDG_CACHE_HOME"] {
            assert!(is_inherited(OsStr::new(name)), "{name}");
        }
        for name in [
            "AWS_SECRET_ACCESS_KEY",
            "HTTPS_PROXY",
            "npm_config_registry",
            "NODE_OPTIONS",
            "LD_PRELOAD",
            "path",
            "PATHX",
            "",
        ] {
            assert!(!is_inherited(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn exported_functions_stay_out() {
        let variables = [("LC_X".into(), "() { :; }; echo hi".into()), ("LC_Y".into(), "C".into())];
        let names: Vec<_> = inherited(&variables).map(|(name, _)| name).collect();
        assert_eq!(names, ["LC_Y"]);
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(NAMES.is_sorted());
    }
}
