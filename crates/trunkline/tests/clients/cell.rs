//! A cell of the matrix: one client, over one transport, in one era.

use std::fmt;
use trunkline_protocol::{Era, Revision};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) client: Client,
    pub(crate) carrier: Carrier,
    pub(crate) era: Era,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    TypeScript1,
    TypeScript2,
    Python,
    FastMcp,
    Rmcp,
    Inspector,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    Stdio,
    Http,
    Sse,
}

impl Cell {
    /// The revision that both sides must negotiate.
    pub(crate) fn revision(self) -> Revision {
        match self.era {
            Era::Modern => Revision::NEWEST,
            Era::Legacy => Revision::NEWEST_LEGACY,
        }
    }

    /// True if the client is also asked a question during a call; the Inspector's command line
    /// cannot answer.
    pub(crate) fn answers(self) -> bool {
        self.client != Client::Inspector
    }

    pub(crate) fn era_word(self) -> &'static str {
        match self.era {
            Era::Modern => "modern",
            Era::Legacy => "legacy",
        }
    }
}

impl Carrier {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Stdio => "stdio",
            Self::Http => "Streamable HTTP",
            Self::Sse => "HTTP+SSE",
        })
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::TypeScript1 => "TypeScript SDK 1",
            Self::TypeScript2 => "TypeScript SDK 2",
            Self::Python => "Python SDK 2",
            Self::FastMcp => "FastMCP 4",
            Self::Rmcp => "rmcp 3",
            Self::Inspector => "Inspector CLI",
        })
    }
}
