//! Wardrobe: what callers say of themselves with every call, read once, and written once as this server should hear it.

use http::HeaderValue;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use trunkline_protocol::{
    Era, Object, Raw,
    message::{
        Level,
        meta::{CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION},
    },
};

/// Callers that are remembered; with one more, all are forgotten.
const MOST: usize = 1024;

/// What a client repeats with every call. With anything else in it, `_meta` belongs to one call alone.
const STANDING: [&str; 4] = [PROTOCOL_VERSION, CLIENT_INFO, CLIENT_CAPABILITIES, LOG_LEVEL];

/// Every `_meta` that was seen and may come again, by its text, for callers of either era.
#[derive(Debug, Default)]
pub(crate) struct Wardrobe {
    legacy: Mutex<Rack>,
    modern: Mutex<Rack>,
}

#[derive(Debug, Default)]
struct Rack {
    all: HashMap<Raw, Arc<Worn>>,
    /// The one that was last asked for. Mostly it is asked for again, and comparing is quicker than hashing.
    last: Option<(Raw, Arc<Worn>)>,
}

/// One `_meta`, read and written.
#[derive(Debug)]
pub(crate) struct Worn {
    /// The least severe log message that the caller wants.
    pub(crate) level: Option<Level>,
    /// Whether the caller follows tasks by itself.
    pub(crate) follows_tasks: bool,
    /// What the server hears; `None` when that is nothing.
    pub(crate) meta: Option<Raw>,
    /// The version as the server's header names it; `None` for a server that has no such header.
    pub(crate) version: Option<HeaderValue>,
}

impl Wardrobe {
    pub(crate) fn find(&self, caller: Era, meta: &Raw) -> Option<Arc<Worn>> {
        let mut rack = self.of(caller).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, worn)) = rack.last.as_ref().filter(|(known, _)| known == meta) {
            return Some(Arc::clone(worn));
        }
        let (known, worn) = rack.all.get_key_value(meta)?;
        let (known, worn) = (known.clone(), Arc::clone(worn));
        rack.last = Some((known, Arc::clone(&worn)));
        Some(worn)
    }

    /// Remembers how `meta` is worn, if it may come again.
    pub(crate) fn keep(&self, caller: Era, meta: &Raw, members: &Object, worn: &Arc<Worn>) {
        if !members.iter().all(|(name, _)| STANDING.contains(&name)) {
            return;
        }
        let mut rack = self.of(caller).lock().unwrap_or_else(PoisonError::into_inner);
        if rack.all.len() >= MOST {
            rack.all.clear();
        }
        // A copy of its own: the text may be a small part of a large frame.
        let key = Raw::parse(meta.as_bytes().to_vec()).unwrap_or_else(|_| meta.clone());
        rack.all.insert(key, Arc::clone(worn));
    }

    fn of(&self, caller: Era) -> &Mutex<Rack> {
        match caller {
            Era::Legacy => &self.legacy,
            Era::Modern => &self.modern,
        }
    }
}
