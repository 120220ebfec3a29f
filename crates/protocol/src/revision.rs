//! Revision and Era: the features of each protocol revision.
//!
//! Other crates query a revision's features (`has_…`); only files named `era` compare revisions
//! with each other.

use std::{fmt, str::FromStr};

/// A published revision of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

/// The two conversation models of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// Stateful: `initialize` starts a session, and the server may send requests.
    Legacy,
    /// Stateless: every request carries its context, and the server asks questions with
    /// `input_required`.
    Modern,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a protocol revision; known ones: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28"
)]
pub struct UnknownRevision(pub String);

impl Revision {
    /// Oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    pub const NEWEST: Self = Self::V2026_07_28;
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;

    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    pub fn era(self) -> Era {
        if self >= Self::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }

    /// JSON-RPC batches exist in one revision only.
    pub fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// `MCP-Protocol-Version` is sent on every HTTP request.
    pub fn has_version_header(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Audio as a kind of content.
    pub fn has_audio(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Links to resources as a kind of content.
    pub fn has_resource_links(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Elicitation by form.
    pub fn has_elicitation(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// SSE streams that begin with an empty event and may be disconnected and resumed at any time.
    pub fn has_polling(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Elicitation by URL, and sampling with tools.
    pub fn has_url_elicitation(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Tasks as part of the core protocol, requested by the caller with `params.task`.
    pub fn has_core_tasks(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Servers declare the capability `completions`; before, a client had to try.
    pub fn declares_completions(self) -> bool {
        self >= Self::V2025_03_26
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|r| r.as_str() == text).ok_or_else(|| UnknownRevision(text.to_owned()))
    }
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_revision_reads_back_what_it_writes() {
        for revision in Revision::ALL {
            assert_eq!(revision.as_str().parse(), Ok(revision));
        }
        assert!("2026-07-29".parse::<Revision>().unwrap_err().to_string().contains("2026-07-28"));
    }

    #[test]
    fn only_the_newest_revision_is_modern() {
        let modern: Vec<_> = Revision::ALL.into_iter().filter(|r| r.era() == Era::Modern).collect();
        assert_eq!(modern, [Revision::NEWEST]);
        assert_eq!(Revision::NEWEST_LEGACY.era(), Era::Legacy);
    }
}
