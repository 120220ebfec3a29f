//! A cell of the matrix: one server, over one transport, in one era, connected in one way.

use std::fmt;
use trunkline_client::{Carrier, RevisionChoice};
use trunkline_protocol::{Era, Revision};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) server: Server,
    pub(crate) carrier: Carrier,
    pub(crate) era: Era,
    pub(crate) way: Way,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    Everything,
    Filesystem,
    Memory,
    Git,
    Time,
    Fetch,
    FastMcp,
    Rmcp,
}

/// The way in which the era is determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The client detects it.
    Auto,
    /// The client's options give it.
    Forced,
}

impl Cell {
    pub(crate) fn speak(self) -> RevisionChoice {
        match self.way {
            Way::Auto => RevisionChoice::Newest,
            Way::Forced => RevisionChoice::Era(self.era),
        }
    }

    /// The revision that must be negotiated: the server's newest of the era.
    pub(crate) fn revision(self) -> Revision {
        match self.era {
            Era::Modern => Revision::NEWEST,
            Era::Legacy => Revision::NEWEST_LEGACY,
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Everything => "server-everything",
            Self::Filesystem => "server-filesystem",
            Self::Memory => "server-memory",
            Self::Git => "mcp-server-git",
            Self::Time => "mcp-server-time",
            Self::Fetch => "mcp-server-fetch",
            Self::FastMcp => "FastMCP",
            Self::Rmcp => "rmcp",
        })
    }
}
