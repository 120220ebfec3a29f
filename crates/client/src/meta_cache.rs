//! Cache of callers' `_meta`: parsed once, and written once in the form that this server gets.

use http::HeaderValue;
use parking_lot::Mutex;
use std::{collections::HashMap, sync::Arc};
use trunkline_protocol::{
    Era, Object, Raw,
    message::{
        Level,
        meta::{CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION},
    },
};

/// Entries per era; when there are more, all are dropped.
const MAX_ENTRIES: usize = 1024;

/// Members that a client repeats with every call. `_meta` with any other member is not cached.
const REPEATED: [&str; 4] = [PROTOCOL_VERSION, CLIENT_INFO, CLIENT_CAPABILITIES, LOG_LEVEL];

/// Every `_meta` that was seen and may come again, by its text, for callers of either era.
#[derive(Debug, Default)]
pub(crate) struct MetaCache {
    legacy: Mutex<EraCache>,
    modern: Mutex<EraCache>,
}

#[derive(Debug, Default)]
struct EraCache {
    all: HashMap<Raw, Arc<ServerMeta>>,
    /// The entry of the last lookup. Most lookups ask for it again, and comparing is faster than
    /// hashing.
    last: Option<(Raw, Arc<ServerMeta>)>,
}

/// A caller's `_meta`, parsed, and in the form that the server gets.
#[derive(Debug)]
pub(crate) struct ServerMeta {
    /// The least severe log message that the caller wants.
    pub(crate) level: Option<Level>,
    /// True if the caller polls tasks itself.
    pub(crate) follows_tasks: bool,
    /// The `_meta` for the server; `None` if it gets none.
    pub(crate) meta: Option<Raw>,
    /// The value of the version header; `None` if the server's revision has no such header.
    pub(crate) version: Option<HeaderValue>,
}

impl MetaCache {
    pub(crate) fn get(&self, caller: Era, meta: &Raw) -> Option<Arc<ServerMeta>> {
        let mut cache = self.of(caller).lock();
        if let Some((_, known)) = cache.last.as_ref().filter(|(text, _)| text == meta) {
            return Some(Arc::clone(known));
        }
        let (text, known) = cache.all.get_key_value(meta)?;
        let (text, known) = (text.clone(), Arc::clone(known));
        cache.last = Some((text, Arc::clone(&known)));
        Some(known)
    }

    /// Caches the rewritten `_meta` if it is the same for every call of this client.
    pub(crate) fn insert(&self, caller: Era, meta: &Raw, members: &Object, rewritten: &Arc<ServerMeta>) {
        if !members.iter().all(|(name, _)| REPEATED.contains(&name)) {
            return;
        }
        let mut cache = self.of(caller).lock();
        if cache.all.len() >= MAX_ENTRIES {
            cache.all.clear();
        }
        // A copy: the text may be a small slice of a large frame, which it would keep in memory.
        let key = Raw::parse(meta.as_bytes().to_vec()).unwrap_or_else(|_| meta.clone());
        cache.all.insert(key, Arc::clone(rewritten));
    }

    fn of(&self, caller: Era) -> &Mutex<EraCache> {
        match caller {
            Era::Legacy => &self.legacy,
            Era::Modern => &self.modern,
        }
    }
}
