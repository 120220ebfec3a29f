//! Rule: metadata and a check.

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

/// One requirement or recommendation for a server.
#[derive(Debug)]
pub struct Rule {
    /// Kebab-case; stable, because baselines refer to it.
    pub name: &'static str,
    pub group: Group,
    pub level: Level,
    /// The lowest mode in which its evidence is gathered.
    pub mode: Mode,
    pub eras: Eras,
    pub carriers: Carriers,
    /// One sentence that states the requirement.
    pub summary: &'static str,
    pub clause: Clause,
    /// The consequence for users when the rule is broken.
    pub why: &'static str,
    /// The change that the server's author has to make.
    pub fix: &'static str,
    /// The probes whose evidence it reads; a probe that no selected rule needs is not run.
    pub needs: &'static [&'static Probe],
    pub check: Check,
}

/// The check of a rule, by the kind of its input.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// A server in one era; runs once per era that the server speaks.
    Server(fn(&Case<'_>) -> Verdict),
    /// All evidence of one target, even if it speaks neither era.
    Target(fn(&Evidence) -> Verdict),
    /// All servers of one configuration together.
    Fleet(fn(&Fleet<'_>) -> Verdict),
    /// A configuration file.
    Config(fn(&ConfigSubject) -> Verdict),
    /// A server with its pinned definitions.
    Lock(fn(&Case<'_>, &LockSubject) -> Verdict),
}

/// The source of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Clause {
    /// The page of the specification, such as `basic/lifecycle`, or the name of another source.
    pub page: &'static str,
    /// The section on that page.
    pub section: &'static str,
    /// The revision of the specification; `None` for rules from practice.
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

/// The risk of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Requests that every client sends: handshake, lists, reads.
    Passive,
    /// Also malformed and unknown messages, but no tool calls.
    Negative,
    /// Also tool calls.
    Active,
    /// Also many generated messages.
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

impl Rule {
    /// For the rest of a rule's fields: it holds for every server and reads passive evidence. A
    /// test checks that each rule sets the others.
    pub(crate) const USUAL: Self = Self {
        name: "",
        group: Group::Lifecycle,
        level: Level::Error,
        mode: Mode::Passive,
        eras: Eras::Both,
        carriers: Carriers::Any,
        summary: "",
        clause: Clause::practice("", ""),
        why: "",
        fix: "",
        needs: &[],
        check: Check::Server(|_| Ok(Vec::new())),
    };
}

impl Clause {
    /// A section of the specification of a revision.
    pub const fn of(revision: &'static str, page: &'static str, section: &'static str) -> Self {
        Self { page, section, revision: Some(revision) }
    }

    /// A rule from practice or from another source.
    pub const fn practice(page: &'static str, section: &'static str) -> Self {
        Self { page, section, revision: None }
    }

    /// The URL of the section.
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
