//! What can be judged: a server, a configuration file, a server beside its lock file, all servers of a configuration.

use crate::{evidence::Evidence, rules::programs, wire::Dial};
use serde_json::Value;
use trunkline_config::lenient;

#[derive(Debug)]
pub enum Subject {
    Server(ServerSubject),
    Config(ConfigSubject),
}

/// A server, and how it is reached.
#[derive(Debug)]
pub struct ServerSubject {
    /// As it is shown in reports; holds no secrets.
    pub name: String,
    pub dial: Dial,
    /// What a lock file pins for it.
    pub lock: Option<LockSubject>,
}

/// A configuration file as it was written.
#[derive(Debug)]
pub struct ConfigSubject {
    pub path: String,
    pub text: String,
    /// The same as JSON, comments taken out.
    pub value: Value,
    /// Programs that it names and that are not there; none if nobody looked.
    pub absent: Option<Vec<String>>,
}

impl ConfigSubject {
    /// Reads JSON, with comments and trailing commas where somebody wrote them.
    pub fn read(path: impl Into<String>, text: String) -> Result<Self, serde_json::Error> {
        let value = serde_json::from_str(&lenient::plain(&text))?;
        Ok(Self { path: path.into(), text, value, absent: None })
    }

    /// Looks which of the programs that the file names are there.
    #[must_use]
    pub fn look(mut self, is_there: impl Fn(&str) -> bool) -> Self {
        let absent =
            programs(&self).into_iter().filter(|program| !is_there(program)).map(str::to_owned).collect();
        self.absent = Some(absent);
        self
    }
}

/// What a lock file says about one server: the definitions that were accepted.
#[derive(Debug)]
pub struct LockSubject {
    pub path: String,
    /// The accepted tool definitions by name.
    pub tools: Vec<(String, Value)>,
}

/// All servers that one configuration brings together.
#[derive(Debug)]
pub struct Fleet<'a> {
    pub servers: Vec<&'a Evidence>,
}
