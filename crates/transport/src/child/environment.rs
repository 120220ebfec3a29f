//! Which variables of this process a child may see.
//!
//! The list holds what programs need to find themselves, their user, their language and their temporary and
//! cache directories, and the *paths* of extra root certificates, without which no server works behind a company's
//! proxy. Left out on purpose, and to be given by name where wanted: `*_PROXY` and `npm_config_*`, whose values
//! often hold credentials; `NODE_OPTIONS`, `PYTHONPATH`, `LD_*` and `DYLD_*`, which inject code; `SSH_AUTH_SOCK`,
//! which lends out keys; and everything else.

use std::ffi::{OsStr, OsString};

/// Variables that a child inherits.
pub const ENV_ALLOW_LIST: &[&str] = &[
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

/// Beginnings of further names that a child inherits.
pub const ENV_ALLOW_PREFIXES: &[&str] = &["LC_"];

/// Whether a child inherits a variable of this name.
pub fn allowed(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    ENV_ALLOW_LIST.iter().any(|allowed| bytes == allowed.as_bytes())
        || ENV_ALLOW_PREFIXES.iter().any(|prefix| bytes.starts_with(prefix.as_bytes()))
}

/// The part of `inherited` that a child gets. Values that look like exported shell functions stay out, because old
/// shells run them.
pub(super) fn filter(inherited: &[(OsString, OsString)]) -> impl Iterator<Item = &(OsString, OsString)> {
    inherited.iter().filter(|(name, value)| allowed(name) && !value.as_encoded_bytes().starts_with(b"()"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_names_pass() {
        for name in ["PATH", "HOME", "LC_ALL", "LC_CTYPE", "XDG_CACHE_HOME"] {
            assert!(allowed(OsStr::new(name)), "{name}");
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
            assert!(!allowed(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn exported_functions_stay_out() {
        let inherited = [("LC_X".into(), "() { :; }; echo hi".into()), ("LC_Y".into(), "C".into())];
        let names: Vec<_> = filter(&inherited).map(|(name, _)| name).collect();
        assert_eq!(names, ["LC_Y"]);
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(ENV_ALLOW_LIST.is_sorted());
    }
}
