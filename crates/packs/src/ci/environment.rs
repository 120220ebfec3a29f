//! The environment that programs get, and where they are looked for.

use std::{
    ffi::{OsStr, OsString},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// The variables of ours that programs may have: where things are and how people write, nothing that gives a right.
pub const PASSED_VARIABLES: [&str; 39] = [
    "ANDROID_HOME",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "DOTNET_ROOT",
    "GOBIN",
    "GOCACHE",
    "GOFLAGS",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "GOTOOLCHAIN",
    "GRADLE_USER_HOME",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "MAVEN_HOME",
    "NODE_EXTRA_CA_CERTS",
    "NUGET_PACKAGES",
    "NVM_DIR",
    "PATH",
    "PKG_CONFIG_PATH",
    "PNPM_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
];

/// What every program gets: no questions, no colours, no reports to vendors.
const FIXED: [(&str, &str); 14] = [
    ("CARGO_TERM_COLOR", "never"),
    ("CI", "true"),
    ("DOTNET_CLI_TELEMETRY_OPTOUT", "1"),
    ("DOTNET_NOLOGO", "1"),
    ("FORCE_COLOR", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("MSBUILDDISABLENODEREUSE", "1"),
    ("NO_COLOR", "1"),
    ("NO_UPDATE_NOTIFIER", "1"),
    ("PAGER", "cat"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("PIP_NO_INPUT", "1"),
    ("PYTHONUNBUFFERED", "1"),
    ("TERM", "dumb"),
];

/// Where programs are looked for if we were given no `PATH`.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";

/// The environment that programs get.
#[derive(Debug, Clone)]
pub(super) struct Environment {
    variables: Vec<(OsString, OsString)>,
    search: Vec<PathBuf>,
}

impl Environment {
    /// Of the variables `given`, those that may be passed on.
    pub(super) fn new(given: &[(OsString, OsString)], pass: &[String]) -> Self {
        let may_pass = |name: &OsStr| {
            PASSED_VARIABLES.iter().any(|passed| name == *passed)
                || pass.iter().any(|passed| name == passed.as_str())
        };
        let mut variables: Vec<(OsString, OsString)> =
            given.iter().filter(|(name, _)| may_pass(name)).cloned().collect();
        let path = variables.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let path = path.unwrap_or_else(|| PATH.into());
        // A relative entry would mean a directory of the project.
        let search: Vec<PathBuf> = std::env::split_paths(&path).filter(|entry| entry.is_absolute()).collect();
        let path = std::env::join_paths(&search).expect("what was split can be joined");
        variables.retain(|(name, _)| name != "PATH" && !FIXED.iter().any(|(fixed, _)| name == fixed));
        variables.push(("PATH".into(), path));
        variables.extend(FIXED.map(|(name, value)| (name.into(), value.into())));
        Self { variables, search }
    }

    pub(super) fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// The first executable of this name on the path.
    pub(super) fn find(&self, name: &str) -> Option<PathBuf> {
        self.search.iter().map(|directory| directory.join(name)).find(|path| is_executable(path))
    }
}

pub(super) fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
