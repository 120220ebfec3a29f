//! A server's description of itself.

use std::fmt;
use trunkline_protocol::{Era, Raw, Revision};

/// A server's identity and capabilities, from either era's handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerInfo {
    pub name: Option<String>,
    pub title: Option<String>,
    pub version: Option<String>,
    /// The revision both sides speak.
    pub revision: Revision,
    pub transport: Carrier,
    pub instructions: Option<String>,
    /// The `capabilities` member, whole.
    pub capabilities: Raw,
    /// The whole result of `initialize` or `server/discover`; an empty object if the server has
    /// neither.
    pub introduction: Raw,
}

/// The transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    Stdio,
    StreamableHttp,
    LegacySse,
}

impl ServerInfo {
    pub fn era(&self) -> Era {
        self.revision.era()
    }

    /// True if the server declares a capability, such as `tools` or `resources.subscribe`: the
    /// member exists and is neither `false` nor `null`.
    pub fn has_capability(&self, path: &str) -> bool {
        let mut at = self.capabilities.clone();
        for name in path.split('.') {
            match at.member(name) {
                Some(inner) => at = inner,
                None => return false,
            }
        }
        !matches!(at.as_str(), "false" | "null")
    }

    pub(crate) fn read(introduction: Raw, revision: Revision, transport: Carrier) -> Self {
        let object = introduction.object().unwrap_or_default();
        // A legacy server introduces itself in the result, a modern one in the result's `_meta`.
        let identity = object
            .get("serverInfo")
            .cloned()
            .or_else(|| object.get("_meta")?.member("io.modelcontextprotocol/serverInfo"));
        let text = |name: &str| identity.as_ref().and_then(|info| info.member_as::<String>(name));
        Self {
            name: text("name"),
            title: text("title"),
            version: text("version"),
            revision,
            transport,
            instructions: object.get("instructions").and_then(|raw| raw.decode().ok()),
            capabilities: object.get("capabilities").cloned().unwrap_or_else(Raw::empty_object),
            introduction,
        }
    }
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdio => "stdio",
            Self::StreamableHttp => "Streamable HTTP",
            Self::LegacySse => "HTTP+SSE",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_introduction_are_read() {
        let legacy = r#"{"protocolVersion":"2025-11-25","serverInfo":{"name":"a","version":"1"},"capabilities":{"tools":{"listChanged":false},"resources":{"subscribe":true}}}"#;
        let info = ServerInfo::read(Raw::parse(legacy).unwrap(), Revision::V2025_11_25, Carrier::Stdio);
        assert_eq!(info.name.as_deref(), Some("a"));
        assert!(info.has_capability("tools") && info.has_capability("resources.subscribe"));
        assert!(!info.has_capability("tools.listChanged") && !info.has_capability("prompts"));
        let modern = r#"{"supportedVersions":["2026-07-28"],"capabilities":{},"instructions":"hi","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"b"}}}"#;
        let info = ServerInfo::read(Raw::parse(modern).unwrap(), Revision::NEWEST, Carrier::StreamableHttp);
        assert_eq!((info.name.as_deref(), info.version), (Some("b"), None));
        assert_eq!(info.instructions.as_deref(), Some("hi"));
    }
}
