//! The environment: the only module that reads it, and the table of variables that have an effect.

use crate::{concealed::Concealed, keychain::KeyCache};
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::PathBuf,
};

/// An environment variable that changes the program's behaviour.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
}

/// The exact protocol revision to speak.
pub(crate) const PROTOCOL_VERSION: &str = "MCP_PROTOCOL_VERSION";
/// Time to live of cached lists, in milliseconds or with a unit.
pub(crate) const TOOL_CACHE_TTL: &str = "MCP_TOOL_CACHE_TTL";
/// Filter of the program's own log.
pub(crate) const LOG: &str = "TRUNKLINE_LOG";
/// The configuration file to read instead of searching the parent directories.
pub(crate) const CONFIG: &str = "TRUNKLINE_CONFIG";
pub(crate) const CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// Directory of clients' files on Windows.
pub(crate) const APP_DATA: &str = "APPDATA";
pub(crate) const NO_COLOR: &str = "NO_COLOR";
pub(crate) const CACHE_HOME: &str = "XDG_CACHE_HOME";
/// The chain of gateways that started this process.
pub(crate) const LINEAGE: &str = crate::wire::lineage::VARIABLE;
pub(crate) const STATE_HOME: &str = "XDG_STATE_HOME";
/// Directory of logins.
pub(crate) const DATA_HOME: &str = "XDG_DATA_HOME";
/// `off` leaves logins and secrets unsealed.
pub(crate) const KEYCHAIN: &str = "TRUNKLINE_KEYCHAIN";
/// The address of the bus on which the keychain of a desktop is reached.
pub(crate) const SESSION_BUS: &str = "DBUS_SESSION_BUS_ADDRESS";
/// Directory of the session bus, if its address is not given.
pub(crate) const RUNTIME_DIR: &str = "XDG_RUNTIME_DIR";
/// The program that opens pages.
pub(crate) const BROWSER: &str = "BROWSER";
pub(crate) const HOME: &str = "HOME";
pub(crate) const PATH: &str = "PATH";
/// Variables by which tesseract finds its data, and programs in other directories their libraries.
pub(crate) const OCR: [&str; 2] = ["TESSDATA_PREFIX", "LD_LIBRARY_PATH"];
pub(crate) const GITHUB_TOKEN: &str = "GITHUB_TOKEN";
pub(crate) const GITLAB_TOKEN: &str = "GITLAB_TOKEN";
/// The OTLP endpoint for traces.
pub(crate) const OTLP_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
pub(crate) const OTLP_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
pub(crate) const SERVICE_NAME: &str = "OTEL_SERVICE_NAME";
/// The sampling ratio of traces.
pub(crate) const SAMPLER_ARG: &str = "OTEL_TRACES_SAMPLER_ARG";
/// The API key that `status` sends.
pub(crate) const KEY: &str = "TRUNKLINE_KEY";

/// The number of listening sockets that the parent process passes, and the process they are for.
pub(crate) const LISTEN_FDS: &str = "LISTEN_FDS";
pub(crate) const LISTEN_PID: &str = "LISTEN_PID";

/// All variables, for the reference page.
pub(crate) const VARIABLES: &[Variable] = &[
    Variable {
        name: PROTOCOL_VERSION,
        meaning: "The exact protocol revision to speak, such as `2025-11-25`. Default: the newest one that both sides support. `--era` and a server's `era` take precedence.",
    },
    Variable {
        name: TOOL_CACHE_TTL,
        meaning: "Time to live of cached lists of tools, prompts and resources, if the server gives none: milliseconds, or a number with a unit such as `5s` (default `5m`). In the configuration it is `defaults.lists.ttl`.",
    },
    Variable {
        name: LOG,
        meaning: "Filter of the program's own log on standard error, as `tracing` directives such as `trunkline_client=debug`. Takes precedence over `-v` and `-q`.",
    },
    Variable {
        name: CONFIG,
        meaning: "The configuration file to read instead of the nearest `trunkline.json` in the current directory or above it. Other `TRUNKLINE_*` variables set single values: see the configuration reference.",
    },
    Variable {
        name: CONFIG_HOME,
        meaning: "Directory of the user's own `trunkline/trunkline.json` (default `~/.config`).",
    },
    Variable {
        name: NO_COLOR,
        meaning: "Any non-empty value turns colours off. `--color` takes precedence.",
    },
    Variable {
        name: CACHE_HOME,
        meaning: "Directory of `trunkline/servers.json`, the cache of how servers were reached, and of `trunkline/lists`, the lists of the gateway's servers (default `~/.cache`).",
    },
    Variable {
        name: STATE_HOME,
        meaning: "Directory of the audit trails of `serve`, in `trunkline/audit` (default `~/.local/state`).",
    },
    Variable {
        name: DATA_HOME,
        meaning: "Directory of the logins of `auth login`, in `trunkline/logins`, and of the secrets of `secret` (default `~/.local/share`).",
    },
    Variable {
        name: KEYCHAIN,
        meaning: "`off` leaves logins and secrets in files that are not sealed with a key of the system's keychain.",
    },
    Variable {
        name: SESSION_BUS,
        meaning: "The session bus on which the keychain of a desktop (Secret Service) is reached (default `$XDG_RUNTIME_DIR/bus`, if it exists).",
    },
    Variable {
        name: BROWSER,
        meaning: "The program that `auth login` opens its page with, started without a shell (default `xdg-open`, on macOS `open`).",
    },
    Variable {
        name: OCR[0],
        meaning: "Directory of the language data of tesseract, which recognises text in scanned documents.",
    },
    Variable { name: GITHUB_TOKEN, meaning: "The token for `serve --github`." },
    Variable { name: GITLAB_TOKEN, meaning: "The token for `serve --gitlab`." },
    Variable {
        name: OTLP_ENDPOINT,
        meaning: "OTLP/HTTP endpoint to which `serve` exports traces, such as `http://127.0.0.1:4318` (`/v1/traces` is appended). Without it, tracing is off.",
    },
    Variable {
        name: OTLP_HEADERS,
        meaning: "Headers sent with exported traces, as `name=value,name=value` with percent-encoded values.",
    },
    Variable { name: SERVICE_NAME, meaning: "Service name in exported traces (default `trunkline`)." },
    Variable {
        name: SAMPLER_ARG,
        meaning: "Sampling ratio of traces that start here, from 0 to 1 (default 1). Traces started by the caller keep the caller's sampling decision.",
    },
    Variable {
        name: KEY,
        meaning: "The API key that `status` sends to the gateway. `--key` takes precedence.",
    },
    Variable {
        name: LISTEN_FDS,
        meaning: "Set by systemd for socket activation: `serve` uses the one inherited socket (descriptor 3) instead of listening itself.",
    },
    Variable {
        name: LISTEN_PID,
        meaning: "The process that `LISTEN_FDS` is for; another process ignores both.",
    },
    Variable { name: HOME, meaning: "The home directory, for the defaults of the `XDG_` directories." },
];

/// The user's data directory; `None` if the environment names none.
pub(crate) fn data_directory(environment: &Environment) -> Option<PathBuf> {
    let absolute = |name: &str| environment.get_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(DATA_HOME).or_else(|| absolute(HOME).map(|home| home.join(".local/share")))
}

/// The sockets that the parent process passes. Removes their variables from the environment, so
/// this has to run before any thread is started.
pub(crate) fn inherited_sockets() -> listenfd::ListenFd {
    listenfd::ListenFd::from_env()
}

/// Snapshot of the environment at program start.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    variables: Vec<(OsString, OsString)>,
    /// The values that references were replaced by.
    pub(crate) concealed: Concealed,
    /// The key of the keychain, once it was asked for.
    pub(crate) key_cache: KeyCache,
}

impl Environment {
    pub(crate) fn capture() -> Self {
        Self { variables: std::env::vars_os().collect(), ..Self::default() }
    }

    pub(crate) fn get_os(&self, name: &str) -> Option<&OsStr> {
        self.variables.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
    }

    /// Returns the value of a variable; one that is not valid UTF-8 counts as unset.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.get_os(name)?.to_str()
    }

    /// Like `get`, but an empty value counts as unset.
    pub(crate) fn get_filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Returns a variable that names a file or directory; an empty value counts as unset.
    pub(crate) fn get_path(&self, name: &str) -> Option<PathBuf> {
        self.get_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// Returns a variable that names a directory of the user. A relative value counts as unset:
    /// it would make a directory of the current project the user's own.
    pub(crate) fn get_directory(&self, name: &str) -> Option<PathBuf> {
        self.get_path(name).filter(|path| path.is_absolute())
    }

    /// All variables whose names and values are valid UTF-8.
    pub(crate) fn texts(&self) -> BTreeMap<String, String> {
        let text = |(name, value): &(OsString, OsString)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        };
        self.variables.iter().filter_map(text).collect()
    }

    pub(crate) fn all(&self) -> Vec<(OsString, OsString)> {
        self.variables.clone()
    }

    #[cfg(test)]
    pub(crate) fn of<const N: usize>(variables: [(&str, &str); N]) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { variables, ..Self::default() }
    }
}
