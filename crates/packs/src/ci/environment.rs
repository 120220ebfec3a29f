//! The environment of child programs, and the directories in which programs are searched.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use trunkline_process::{inherited, is_executable, search_path};

/// Variables of build tools that programs inherit in addition to those of every child process
/// ([`trunkline_process::is_inherited`]): paths and versions, no credentials.
const TOOL_VARIABLES: [&str; 26] = [
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
    "JAVA_HOME",
    "MAVEN_HOME",
    "NUGET_PACKAGES",
    "NVM_DIR",
    "PKG_CONFIG_PATH",
    "PNPM_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "VIRTUAL_ENV",
];

/// Set for every program: no prompts, no colours, no telemetry.
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

/// Search path for programs if the given variables have no `PATH`.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";

/// The environment of child programs.
#[derive(Debug, Clone)]
pub(super) struct Environment {
    variables: Vec<(OsString, OsString)>,
    search: Vec<PathBuf>,
}

impl Environment {
    /// Keeps the variables in `given` that programs inherit or that `pass` names.
    pub(super) fn new(given: &[(OsString, OsString)], pass: &[String]) -> Self {
        let is_passed = |name: &OsStr| {
            TOOL_VARIABLES.iter().any(|passed| name == *passed)
                || pass.iter().any(|passed| name == passed.as_str())
        };
        let mut variables: Vec<(OsString, OsString)> = inherited(given)
            .filter(|(name, _)| !is_passed(name))
            .chain(given.iter().filter(|(name, _)| is_passed(name)))
            .cloned()
            .collect();
        let path = variables.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let path = path.unwrap_or_else(|| PATH.into());
        let search = search_path(&path);
        let path = std::env::join_paths(&search).expect("what was split can be joined");
        variables.retain(|(name, _)| name != "PATH" && !FIXED.iter().any(|(fixed, _)| name == fixed));
        variables.push(("PATH".into(), path));
        variables.extend(FIXED.map(|(name, value)| (name.into(), value.into())));
        Self { variables, search }
    }

    pub(super) fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// The first executable of this name in `PATH`.
    pub(super) fn find(&self, name: &str) -> Option<PathBuf> {
        self.search.iter().map(|directory| directory.join(name)).find(|path| is_executable(path))
    }
}
