//! Writes Trunkline into the file of another client, and takes it out again.

use super::client::{Client, Machine};
use crate::{
    edit::{remove_member, set_member},
    jsonc::SyntaxError,
};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The name under which clients see Trunkline.
pub const OUR_NAME: &str = "trunkline";

/// The way in which a client reaches Trunkline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// The client starts this program.
    Program { command: String, arguments: Vec<String> },
    /// The client connects to this address.
    Address(String),
}

/// The reason why a client's file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum NotInstalled {
    #[error("line {line}: {reason}")]
    Syntax { line: usize, reason: String },
    #[error("{0} reads no addresses from its file; leave out --url")]
    NoAddresses(Client),
    #[error("the file has the table [mcp_servers.trunkline] already; take it out first")]
    Present,
}

impl Client {
    /// The user's file of this client: the one that exists, or the place where it belongs.
    pub fn user_file(self, machine: &Machine) -> Option<PathBuf> {
        let places = self.of_user(machine);
        let existing = places.iter().find(|path| path.is_file()).cloned();
        existing.or_else(|| {
            places.into_iter().nth(usize::from(cfg!(target_os = "macos") && self.is_in_library()))
        })
    }

    /// The client's file with Trunkline in it.
    pub fn installed(self, text: Option<&str>, connection: &Connection) -> Result<String, NotInstalled> {
        if self == Self::Codex {
            return codex::installed(text.unwrap_or_default(), connection);
        }
        let entry = self.entry(connection)?;
        set_member(text, &[self.table(), OUR_NAME], &entry).map_err(|errors| syntax(text, &errors))
    }

    /// The client's file without Trunkline; `None` if Trunkline is not in it.
    pub fn uninstalled(self, text: &str) -> Result<Option<String>, NotInstalled> {
        if self == Self::Codex {
            return Ok(codex::uninstalled(text));
        }
        remove_member(text, &[self.table(), OUR_NAME]).map_err(|errors| syntax(Some(text), &errors))
    }

    /// The member that holds the servers.
    fn table(self) -> &'static str {
        match self {
            Self::VsCode => "servers",
            Self::Zed => "context_servers",
            Self::OpenCode => "mcp",
            _ => "mcpServers",
        }
    }

    /// True if its file is below `Library` on macOS, the second of its places.
    fn is_in_library(self) -> bool {
        matches!(self, Self::ClaudeDesktop | Self::Cline | Self::VsCode)
    }

    fn entry(self, connection: &Connection) -> Result<Value, NotInstalled> {
        Ok(match (self, connection) {
            (Self::ClaudeCode | Self::VsCode, Connection::Program { command, arguments }) => {
                json!({"type": "stdio", "command": command, "args": arguments})
            }
            (Self::Copilot, Connection::Program { command, arguments }) => {
                json!({"type": "local", "command": command, "args": arguments, "tools": ["*"]})
            }
            (Self::OpenCode, Connection::Program { command, arguments }) => {
                let words: Vec<&String> = std::iter::once(command).chain(arguments).collect();
                json!({"type": "local", "command": words, "enabled": true})
            }
            (Self::Zed, Connection::Program { command, arguments }) => {
                json!({"source": "custom", "command": command, "args": arguments})
            }
            (_, Connection::Program { command, arguments }) => json!({"command": command, "args": arguments}),
            (Self::ClaudeDesktop, Connection::Address(_)) => return Err(NotInstalled::NoAddresses(self)),
            (Self::ClaudeCode | Self::VsCode, Connection::Address(url)) => {
                json!({"type": "http", "url": url})
            }
            (Self::Copilot, Connection::Address(url)) => json!({"type": "http", "url": url, "tools": ["*"]}),
            (Self::Gemini, Connection::Address(url)) => json!({"httpUrl": url}),
            (Self::OpenCode, Connection::Address(url)) => {
                json!({"type": "remote", "url": url, "enabled": true})
            }
            (Self::Windsurf, Connection::Address(url)) => json!({"serverUrl": url}),
            (Self::Cline, Connection::Address(url)) => json!({"type": "streamableHttp", "url": url}),
            (Self::Zed, Connection::Address(url)) => json!({"source": "custom", "url": url}),
            (_, Connection::Address(url)) => json!({"url": url}),
        })
    }
}

fn syntax(text: Option<&str>, errors: &[SyntaxError]) -> NotInstalled {
    let Some(first) = errors.first() else {
        return NotInstalled::Syntax { line: 1, reason: "it cannot be read".to_owned() };
    };
    let text = text.unwrap_or_default();
    let start = text.floor_char_boundary(first.place.range().start.min(text.len()));
    let line = text[..start].matches('\n').count() + 1;
    NotInstalled::Syntax { line, reason: first.reason.clone() }
}

/// Codex keeps TOML. Our table is added at the end and taken out whole, so that the rest of the
/// file stays as it is.
mod codex {
    use super::{Connection, NotInstalled};
    use std::fmt::Write as _;

    const TABLE: &str = "[mcp_servers.trunkline]";

    pub(super) fn installed(text: &str, connection: &Connection) -> Result<String, NotInstalled> {
        let document = parse(text)?;
        let known = document.get("mcp_servers").and_then(|servers| servers.get(super::OUR_NAME)).is_some();
        let text = if known { uninstalled(text).ok_or(NotInstalled::Present)? } else { text.to_owned() };
        let gap = if text.is_empty() || text.ends_with("\n\n") { "" } else { "\n" };
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let mut written = format!("{text}{end}{gap}{TABLE}\n");
        match connection {
            Connection::Program { command, arguments } => {
                let arguments: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
                writeln!(written, "command = {}", quoted(command)).expect("a String takes any text");
                writeln!(written, "args = [{}]", arguments.join(", ")).expect("a String takes any text");
            }
            Connection::Address(url) => {
                writeln!(written, "url = {}", quoted(url)).expect("a String takes any text");
            }
        }
        parse(&written).map(|_| written)
    }

    /// Our table reaches to the next one.
    pub(super) fn uninstalled(text: &str) -> Option<String> {
        let mut kept = String::new();
        let mut found = false;
        let mut within = false;
        for line in text.split_inclusive('\n') {
            if line.trim_start().starts_with('[') {
                within = line.trim() == TABLE;
                found |= within;
            }
            if !within {
                kept.push_str(line);
            }
        }
        found.then(|| format!("{}\n", kept.trim_end()).trim_start_matches('\n').to_owned())
    }

    fn quoted(text: &str) -> String {
        toml::Value::String(text.to_owned()).to_string()
    }

    fn parse(text: &str) -> Result<toml::Table, NotInstalled> {
        text.parse::<toml::Table>().map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text[..text.floor_char_boundary(start)].lines().count().max(1);
            NotInstalled::Syntax { line, reason: error.message().to_owned() }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{ClientFile, Scope, read};

    fn program() -> Connection {
        Connection::Program {
            command: "/opt/trunk line/trunkline".to_owned(),
            arguments: vec!["serve".to_owned(), "--stdio".to_owned()],
        }
    }

    /// Our own reader of that client's file finds what was written.
    #[test]
    fn every_client_reads_what_is_written_and_loses_nothing() {
        for client in Client::ALL {
            let (before, kept) = match client {
                Client::Codex => {
                    ("model = \"o9\" # best\n\n[mcp_servers.other]\ncommand = \"x\"\n", "# best")
                }
                _ => ("{\n  // mine\n  \"theme\": \"dark\"\n}\n", "// mine"),
            };
            for text in [None, Some(before)] {
                let made = client.installed(text, &program()).unwrap();
                let file = ClientFile { client, scope: Scope::User, path: "x".into() };
                let found = read(&file, &made, std::path::Path::new("/")).unwrap();
                assert!(found.iter().any(|server| server.theirs == OUR_NAME), "{client}: {made}");
                assert!(text.is_none() || made.contains(kept), "{client}: {made}");
                let again = client.installed(Some(&made), &program()).unwrap();
                assert!(client.uninstalled(&again).unwrap().is_some(), "{client}");
                let left = client.uninstalled(&made).unwrap().unwrap();
                let found = read(&file, &left, std::path::Path::new("/")).unwrap();
                assert!(found.iter().all(|server| server.theirs != OUR_NAME), "{client}: {left}");
                assert!(text.is_none() || left.contains(kept), "{client}: {left}");
                assert_eq!(client.uninstalled(&left).unwrap(), None, "{client}");
            }
        }
    }

    #[test]
    fn a_broken_file_is_not_touched() {
        for (client, text) in [(Client::Cursor, "{\n \"mcpServers\": {"), (Client::Codex, "a = \n")] {
            assert!(matches!(client.installed(Some(text), &program()), Err(NotInstalled::Syntax { .. })));
        }
        let address = Connection::Address("http://127.0.0.1:8425/mcp".to_owned());
        assert!(Client::ClaudeDesktop.installed(None, &address).is_err());
        assert!(Client::Cursor.installed(None, &address).unwrap().contains("8425"));
    }
}
