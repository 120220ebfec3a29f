//! The ids of our requests, unique on a connection.

use std::sync::atomic::{AtomicU64, Ordering};
use trunkline_protocol::RequestId;

/// The form of request ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ids {
    /// UUID v4: unique everywhere, so that logs of several connections can be joined.
    #[default]
    Uuid,
    /// 1, 2, 3, …: unique on one connection, and shorter.
    Integer,
}

#[derive(Debug)]
pub(crate) struct IdSource {
    kind: Ids,
    next: AtomicU64,
}

impl IdSource {
    pub(crate) fn new(kind: Ids) -> Self {
        Self { kind, next: AtomicU64::new(1) }
    }

    pub(crate) fn next(&self) -> RequestId {
        match self.kind {
            Ids::Uuid => {
                let mut text = uuid::Uuid::encode_buffer();
                RequestId::text(uuid::Uuid::new_v4().hyphenated().encode_lower(&mut text))
            }
            Ids::Integer => RequestId::number(self.next.fetch_add(1, Ordering::Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_never_repeat() {
        for kind in [Ids::Uuid, Ids::Integer] {
            let source = IdSource::new(kind);
            let ids: HashSet<_> = (0..1000).map(|_| source.next()).collect();
            assert_eq!(ids.len(), 1000);
        }
    }
}
