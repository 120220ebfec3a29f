//! The offer of an upstream, as last read.

use std::sync::Arc;
use trunkline_protocol::{Object, Raw, Revision};

/// The complete lists of one server. Items are as the server wrote them.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The server's description of itself, in the form of a `server/discover` result.
    pub introduction: Raw,
    pub revision: Revision,
    pub tools: Arc<[Raw]>,
    pub prompts: Arc<[Raw]>,
    pub resources: Arc<[Raw]>,
    pub templates: Arc<[Raw]>,
    /// Members of each list in addition to its items, in the order of [`Kind::ALL`].
    pub beside: [Object; 4],
    /// How often the server announced a change of each list; a burst counts once.
    pub announced: [u64; 4],
    /// True if the server is not connected and this is its previous offer.
    pub stale: bool,
}

/// The kinds of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];
}
