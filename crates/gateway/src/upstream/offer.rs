//! What an upstream offers, as it was last heard.

use std::sync::Arc;
use trunkline_protocol::{Object, Raw, Revision};

/// The lists of one server, whole: pages were followed to their end. Items are as the server wrote them.
#[derive(Debug, Clone)]
pub struct Offer {
    /// What the server says about itself, as `server/discover` tells it.
    pub introduction: Raw,
    pub revision: Revision,
    pub tools: Arc<[Raw]>,
    pub prompts: Arc<[Raw]>,
    pub resources: Arc<[Raw]>,
    pub templates: Arc<[Raw]>,
    /// What the server said beside the items of each list, in the order of [`Kind::ALL`].
    pub beside: [Object; 4],
    /// How often the server said that each list has changed; many times in a row are one.
    pub announced: [u64; 4],
    /// Whether the server is away, and this is what it offered before.
    pub stale: bool,
}

/// The kinds of things that are listed.
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
