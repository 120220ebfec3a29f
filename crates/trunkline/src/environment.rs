//! The environment: the one place where it is read, and the table of the variables that mean something to us.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

/// A variable that changes what the program does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
}

/// The exact protocol revision to speak.
pub(crate) const PROTOCOL_VERSION: &str = "MCP_PROTOCOL_VERSION";
/// How long lists are kept, in seconds.
pub(crate) const TOOL_CACHE_TTL: &str = "MCP_TOOL_CACHE_TTL";
/// What the program's own log shows.
pub(crate) const LOG: &str = "TRUNKLINE_LOG";
/// The configuration file to read instead of the one found upwards.
pub(crate) const CONFIG: &str = "TRUNKLINE_CONFIG";
pub(crate) const CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// Where clients on Windows keep their files.
pub(crate) const APP_DATA: &str = "APPDATA";
pub(crate) const NO_COLOR: &str = "NO_COLOR";
pub(crate) const CACHE_HOME: &str = "XDG_CACHE_HOME";
/// The gateways that started this process.
pub(crate) const LINEAGE: &str = crate::wire::lineage::VARIABLE;
pub(crate) const STATE_HOME: &str = "XDG_STATE_HOME";
pub(crate) const HOME: &str = "HOME";
pub(crate) const GITHUB_TOKEN: &str = "GITHUB_TOKEN";
pub(crate) const GITLAB_TOKEN: &str = "GITLAB_TOKEN";
/// Where traces go.
pub(crate) const OTLP_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
pub(crate) const OTLP_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
pub(crate) const SERVICE_NAME: &str = "OTEL_SERVICE_NAME";
/// Which share of traces is recorded.
pub(crate) const SAMPLER_ARG: &str = "OTEL_TRACES_SAMPLER_ARG";
/// The key that `status` shows.
pub(crate) const KEY: &str = "TRUNKLINE_KEY";

/// All of them, for the reference page.
pub(crate) const VARIABLES: &[Variable] = &[
    Variable {
        name: PROTOCOL_VERSION,
        meaning: "The exact protocol revision to speak, such as `2025-11-25`. Without it, the newest one both sides have. `--era` goes before it.",
    },
    Variable {
        name: TOOL_CACHE_TTL,
        meaning: "How many seconds the lists of tools, prompts and resources are kept when the server gives no hint (default 300).",
    },
    Variable {
        name: LOG,
        meaning: "What the program's own log shows on standard error, as `tracing` directives such as `trunkline_client=debug`. It goes before `-v` and `-q`.",
    },
    Variable {
        name: CONFIG,
        meaning: "The configuration file to read instead of the `trunkline.json` found upwards from the current directory. Other `TRUNKLINE_*` variables set single values: see the configuration reference.",
    },
    Variable {
        name: CONFIG_HOME,
        meaning: "Where the user's own `trunkline/trunkline.json` is (default `~/.config`).",
    },
    Variable {
        name: NO_COLOR,
        meaning: "Any value but the empty one turns colours off. `--color` goes before it.",
    },
    Variable {
        name: CACHE_HOME,
        meaning: "Where `trunkline/servers.json` is kept, which remembers how servers were reached (default `~/.cache`).",
    },
    Variable {
        name: STATE_HOME,
        meaning: "Where `serve` keeps its audit trails, in `trunkline/audit` (default `~/.local/state`).",
    },
    Variable { name: GITHUB_TOKEN, meaning: "The token for `serve --github`." },
    Variable { name: GITLAB_TOKEN, meaning: "The token for `serve --gitlab`." },
    Variable {
        name: OTLP_ENDPOINT,
        meaning: "Where `serve` sends traces, such as `http://127.0.0.1:4318` (OTLP over HTTP, to `/v1/traces` below it). Without it nothing is traced.",
    },
    Variable {
        name: OTLP_HEADERS,
        meaning: "Headers for that, as `name=value,name=value` with values percent-encoded.",
    },
    Variable { name: SERVICE_NAME, meaning: "The name under which traces appear (default `trunkline`)." },
    Variable {
        name: SAMPLER_ARG,
        meaning: "Which share of the traces that begin here is recorded, from 0 to 1 (default 1). Traces that began elsewhere follow what was decided there.",
    },
    Variable { name: KEY, meaning: "The key that `status` shows to the gateway. `--key` goes before it." },
    Variable {
        name: HOME,
        meaning: "The home directory, for the defaults of `XDG_CACHE_HOME` and `XDG_STATE_HOME`.",
    },
];

/// The environment as it was when the program started.
#[derive(Clone, Default)]
pub(crate) struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    pub(crate) fn capture() -> Self {
        Self(std::env::vars_os().collect())
    }

    pub(crate) fn get_os(&self, name: &str) -> Option<&OsStr> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_os_str())
    }

    /// A variable whose value is text; one that is not counts as not set.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.get_os(name)?.to_str()
    }

    /// A variable that is set, and not to nothing.
    pub(crate) fn get_filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// All variables whose names and values are text.
    pub(crate) fn texts(&self) -> BTreeMap<String, String> {
        let text = |(name, value): &(OsString, OsString)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        };
        self.0.iter().filter_map(text).collect()
    }

    pub(crate) fn all(&self) -> Vec<(OsString, OsString)> {
        self.0.clone()
    }

    #[cfg(test)]
    pub(crate) fn of<const N: usize>(variables: [(&str, &str); N]) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}
