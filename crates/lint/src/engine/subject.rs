//! Subjects of rules: a server, a configuration file, a server with its lock file, or all servers
//! of a configuration.

use crate::{evidence::Evidence, rules::programs, wire::Dial};
use serde_json::Value;
use std::path::Path;
use trunkline_config::{FILE_NAME, import::Client, lenient};

#[derive(Debug)]
pub enum Subject {
    Server(ServerSubject),
    Config(ConfigSubject),
}

/// A server and the way to connect to it.
#[derive(Debug)]
pub struct ServerSubject {
    /// Name shown in reports, without secrets.
    pub name: String,
    pub dial: Dial,
    /// The definitions that a lock file pins for it.
    pub lock: Option<LockSubject>,
}

/// A configuration file.
#[derive(Debug)]
pub struct ConfigSubject {
    pub path: String,
    pub text: String,
    /// The text parsed as JSON, without comments.
    pub value: Value,
    /// Programs named in it that do not exist; `None` if this was not checked.
    pub absent: Option<Vec<String>>,
}

impl ConfigSubject {
    /// Parses JSON; comments and trailing commas are allowed.
    pub fn read(path: impl Into<String>, text: String) -> Result<Self, serde_json::Error> {
        let value = serde_json::from_str(&lenient::plain(&text))?;
        Ok(Self { path: path.into(), text, value, absent: None })
    }

    /// The notation of servers and references in the file.
    pub(crate) fn dialect(&self) -> Dialect {
        let path = Path::new(&self.path);
        let is_ours = path.file_name().is_some_and(|name| name == FILE_NAME);
        match Client::guess(path, &self.text) {
            _ if is_ours => Dialect::Ours,
            Some(client) => Dialect::Client(client),
            None if self.value.pointer("/mcp/servers").is_some() => Dialect::Ours,
            None => Dialect::Unknown,
        }
    }

    /// Checks which programs named in the file exist.
    #[must_use]
    pub fn look(mut self, is_there: impl Fn(&str) -> bool) -> Self {
        let absent =
            programs(&self).into_iter().filter(|program| !is_there(program)).map(str::to_owned).collect();
        self.absent = Some(absent);
        self
    }
}

/// The way in which a configuration file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `trunkline.json`.
    Ours,
    Client(Client),
    Unknown,
}

impl Dialect {
    /// A reference to an environment variable; `None` if the client replaces none.
    pub(crate) fn reference(self, variable: &str) -> Option<String> {
        match self {
            Self::Ours => Some(format!("{{env:{variable}}}")),
            Self::Client(client) => client.reference(variable),
            Self::Unknown => Some(format!("${{{variable}}}")),
        }
    }
}

/// The accepted definitions of one server, from a lock file.
#[derive(Debug)]
pub struct LockSubject {
    pub path: String,
    /// The accepted tool definitions by name.
    pub tools: Vec<(String, Value)>,
}

/// All servers of one configuration.
#[derive(Debug)]
pub struct Fleet<'a> {
    pub servers: Vec<&'a Evidence>,
}
