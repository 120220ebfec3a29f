//! Rule: metadata and a check, together.

use crate::{
    engine::{ConfigSubject, Fleet, LockSubject},
    evidence::{Case, Evidence},
    outcome::{Level, Verdict},
    probes::Probe,
};
use serde::Serialize;
use std::{fmt, str::FromStr};
use trunkline_client::Carrier;
use trunkline_protocol::Era;

/// One thing a server can get wrong.
#[derive(Debug)]
pub struct Rule {
    /// Kebab-case; stable, because people write it into baselines.
    pub name: &'static str,
    pub group: Group,
    pub level: Level,
    /// The least risky mode that gathers its evidence.
    pub mode: Mode,
    pub eras: Eras,
    pub carriers: Carriers,
    /// One sentence in the affirmative: how it should be.
    pub summary: &'static str,
    pub clause: Clause,
    /// What goes wrong for users when the rule is broken.
    pub why: &'static str,
    /// What the author of the server changes.
    pub fix: &'static str,
    /// Whose evidence it reads; a probe that no selected rule needs is not run.
    pub needs: &'static [&'static Probe],
    pub check: Check,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// A server as it shows itself in one era; run once per era the server speaks.
    Server(fn(&Case<'_>) -> Verdict),
    /// Everything gathered about one target, also when it speaks no era at all.
    Target(fn(&Evidence) -> Verdict),
    /// All servers of one configuration together.
    Fleet(fn(&Fleet<'_>) -> Verdict),
    /// A configuration file.
    Config(fn(&ConfigSubject) -> Verdict),
    /// A server beside the lock file that pins it.
    Lock(fn(&Case<'_>, &LockSubject) -> Verdict),
}

/// Where the rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Clause {
    /// The page of the specification, such as `basic/lifecycle`; or the name of another text.
    pub page: &'static str,
    /// The section on that page.
    pub section: &'static str,
    /// The revision whose text is meant; none for what rests on practice.
    pub revision: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    Lifecycle,
    JsonRpc,
    Stdio,
    Http,
    Tools,
    Resources,
    Prompts,
    Utilities,
    Tasks,
    Auth,
    Security,
    Performance,
    Context,
    Docs,
    Config,
}

/// How much a probe risks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// What every client does: handshake, lists, reads.
    Passive,
    /// What no client should do: malformed and unknown messages. No tool runs.
    Negative,
    /// Tools are called.
    Active,
    /// Many generated messages are sent.
    Fuzz,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Eras {
    Legacy,
    Modern,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Carriers {
    Any,
    Stdio,
    /// Streamable HTTP and HTTP+SSE.
    Http,
    StreamableHttp,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a group of rules")]
pub struct UnknownGroup(String);

impl Clause {
    /// A page of the specification of a revision.
    pub const fn of(revision: &'static str, page: &'static str, section: &'static str) -> Self {
        Self { page, section, revision: Some(revision) }
    }

    /// What rests on practice or on another text.
    pub const fn practice(page: &'static str, section: &'static str) -> Self {
        Self { page, section, revision: None }
    }

    /// Where it can be read, down to the section.
    pub fn url(&self) -> Option<String> {
        let revision = self.revision?;
        let page = format!("https://modelcontextprotocol.io/specification/{revision}/{}", self.page);
        Some(if self.section.is_empty() { page } else { format!("{page}#{}", anchor(self.section)) })
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.revision {
            Some(revision) => write!(f, "MCP {revision}, {}", self.page)?,
            None => f.write_str(self.page)?,
        }
        if self.section.is_empty() { Ok(()) } else { write!(f, ", {}", self.section) }
    }
}

impl Eras {
    pub fn include(self, era: Era) -> bool {
        match self {
            Self::Legacy => era == Era::Legacy,
            Self::Modern => era == Era::Modern,
            Self::Both => true,
        }
    }
}

impl Carriers {
    pub fn include(self, carrier: Carrier) -> bool {
        match self {
            Self::Any => true,
            Self::Stdio => carrier == Carrier::Stdio,
            Self::Http => carrier != Carrier::Stdio,
            Self::StreamableHttp => carrier == Carrier::StreamableHttp,
        }
    }
}

impl Group {
    pub const ALL: [Self; 15] = [
        Self::Lifecycle,
        Self::JsonRpc,
        Self::Stdio,
        Self::Http,
        Self::Tools,
        Self::Resources,
        Self::Prompts,
        Self::Utilities,
        Self::Tasks,
        Self::Auth,
        Self::Security,
        Self::Performance,
        Self::Context,
        Self::Docs,
        Self::Config,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lifecycle => "lifecycle",
            Self::JsonRpc => "json-rpc",
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Prompts => "prompts",
            Self::Utilities => "utilities",
            Self::Tasks => "tasks",
            Self::Auth => "auth",
            Self::Security => "security",
            Self::Performance => "performance",
            Self::Context => "context",
            Self::Docs => "docs",
            Self::Config => "config",
        }
    }
}

impl Mode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passive => "passive",
            Self::Negative => "negative",
            Self::Active => "active",
            Self::Fuzz => "fuzz",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The anchor that the specification's site gives a heading.
fn anchor(heading: &str) -> String {
    let mut anchor = String::with_capacity(heading.len());
    for c in heading.chars() {
        match c {
            ' ' | '-' => anchor.push('-'),
            '&' => anchor.push_str("%26"),
            '/' => anchor.push_str("%2F"),
            c if c.is_alphanumeric() => anchor.extend(c.to_lowercase()),
            _ => {}
        }
    }
    anchor
}

impl FromStr for Group {
    type Err = UnknownGroup;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|group| group.as_str() == text)
            .ok_or_else(|| UnknownGroup(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_those_of_the_site() {
        for (heading, wanted) in [
            ("Security & Endpoint", "security-%26-endpoint"),
            ("$ref Resolution", "ref-resolution"),
            ("_meta", "meta"),
            ("Server Requirements (Basic Workflow)", "server-requirements-basic-workflow"),
            ("Time-to-Live (TTL) Field", "time-to-live-ttl-field"),
            ("ToolAnnotations", "toolannotations"),
            ("x-mcp-header", "x-mcp-header"),
        ] {
            assert_eq!(anchor(heading), wanted);
        }
    }

    #[test]
    fn a_clause_leads_to_its_section_and_a_practice_nowhere() {
        let clause = Clause::of("2025-11-25", "server/tools", "Tool Names");
        let wanted = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names";
        assert_eq!(clause.url().as_deref(), Some(wanted));
        assert_eq!(Clause::practice("practice", "tool quality").url(), None);
    }
}
