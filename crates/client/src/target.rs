//! The target of a connection: a URL, or a command to start.

use std::{collections::BTreeMap, ffi::OsString, fmt, path::PathBuf};
use trunkline_process::{Command, Containment};
use url::Url;

/// A server, given by URL or by command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Url(Url),
    Command(CommandLine),
}

/// A command that starts a stdio server. No shell is involved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandLine {
    pub program: String,
    pub args: Vec<String>,
    /// Environment variables for the server, in addition to the short list it inherits.
    pub environment: Vec<(String, String)>,
    pub directory: Option<PathBuf>,
    /// Words that are shown differently, such as values of references. The keys are the words.
    pub shown: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTarget {
    #[error("`{given}` is not a URL: {reason}")]
    Address { given: String, reason: String },
    #[error("`{0}` is not an http or https URL")]
    Scheme(String),
    #[error("the address holds a user name or password; send credentials in a header instead")]
    Credentials,
    #[error("a quotation mark in the command is not closed")]
    Unbalanced,
    #[error("the command is empty")]
    NoCommand,
}

impl CommandLine {
    /// The command to start; it inherits a short list of variables from `inherited`.
    pub fn command(&self, inherited: &[(OsString, OsString)]) -> Command {
        let mut command = Command::new(&self.program)
            .args(&self.args)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.containment = Containment::Tree;
        command.inherited = inherited.to_vec();
        command.directory.clone_from(&self.directory);
        command
    }
}

impl Target {
    /// Parses what a user typed: a text with `://` is a URL, anything else a command line. Its
    /// words are split as a shell splits them, quotes included; nothing is expanded.
    ///
    /// ```
    /// use trunkline_client::Target;
    /// assert!(matches!(Target::parse("https://example.org/mcp"), Ok(Target::Url(_))));
    /// assert_eq!(Target::parse("npx -y 'a b'"), Target::command(["npx", "-y", "a b"]));
    /// ```
    pub fn parse(text: &str) -> Result<Self, BadTarget> {
        if text.contains("://") && !text.trim().contains(char::is_whitespace) {
            return Self::url(text.trim());
        }
        Self::command(shlex::split(text).ok_or(BadTarget::Unbalanced)?)
    }

    /// Parses an `http` or `https` URL.
    pub fn url(text: &str) -> Result<Self, BadTarget> {
        let url = Url::parse(text)
            .map_err(|e| BadTarget::Address { given: text.to_owned(), reason: e.to_string() })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(BadTarget::Scheme(text.to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BadTarget::Credentials);
        }
        Ok(Self::Url(url))
    }

    /// A program and its arguments.
    pub fn command<I>(words: I) -> Result<Self, BadTarget>
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let mut words = words.into_iter().map(Into::into);
        let program = words.next().filter(|p| !p.is_empty()).ok_or(BadTarget::NoCommand)?;
        Ok(Self::Command(CommandLine { program, args: words.collect(), ..CommandLine::default() }))
    }

    /// Sets an environment variable for the server's process; a URL target ignores it.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Self::Command(command) = &mut self {
            command.environment.push((name.into(), value.into()));
        }
        self
    }

    /// Key of this target in [`Memory`](crate::Memory). It contains neither environment variables
    /// nor the query of a URL, as they may be secrets.
    pub fn key(&self) -> String {
        match self {
            Self::Url(url) => {
                let mut url = url.clone();
                url.set_query(None);
                url.set_fragment(None);
                url.into()
            }
            Self::Command(command) => {
                let words = std::iter::once(&command.program).chain(&command.args);
                words.map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => f.write_str(url.as_str()),
            Self::Command(command) => {
                let shown = |word: &'_ String| command.shown.get(word).unwrap_or(word).clone();
                f.write_str(&shown(&command.program))?;
                command.args.iter().try_for_each(|arg| write!(f, " {}", shown(arg)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_http_without_credentials() {
        assert!(Target::url("http://127.0.0.1:1/mcp").is_ok());
        assert!(matches!(Target::url("file:///etc/passwd"), Err(BadTarget::Scheme(_))));
        assert_eq!(Target::url("https://me:pw@host/"), Err(BadTarget::Credentials));
        assert!(matches!(Target::url("not a url"), Err(BadTarget::Address { .. })));
    }

    #[test]
    fn what_is_no_address_is_a_command() {
        let command = |words: &[&str]| Target::command(words.iter().copied()).unwrap();
        assert_eq!(Target::parse(" http://h/mcp ").unwrap(), Target::url("http://h/mcp").unwrap());
        assert_eq!(Target::parse("./server.py").unwrap(), command(&["./server.py"]));
        assert_eq!(
            Target::parse("fetch --site 'https://h/a b'").unwrap(),
            command(&["fetch", "--site", "https://h/a b"])
        );
        assert_eq!(Target::parse("ftp://h"), Err(BadTarget::Scheme("ftp://h".into())));
        assert_eq!(Target::parse("run 'x"), Err(BadTarget::Unbalanced));
        assert_eq!(Target::parse(" "), Err(BadTarget::NoCommand));
    }

    #[test]
    fn the_key_tells_commands_apart_and_holds_no_secret() {
        let one = Target::command(["a", "b c"]).unwrap().with_variable("TOKEN", "s3cret");
        let two = Target::command(["a", "b", "c"]).unwrap();
        assert_ne!(one.key(), two.key());
        assert!(!one.key().contains("s3cret"));
        assert_eq!(Target::url("http://h/mcp?token=x").unwrap().key(), "http://h/mcp");
        assert_eq!(Target::command(Vec::<String>::new()), Err(BadTarget::NoCommand));
    }
}
