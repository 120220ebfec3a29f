//! Comparison: some legacy servers list an item only to clients with the capability it needs.
//!
//! All callers see the lists of one session, the lister. When the first session with other
//! capabilities opens, its lists are read once; it becomes the lister if it lists everything that
//! the lister does, and more.

use super::{
    core::Core,
    item::name_of,
    live_session::LiveSession,
    offer::Kind,
    session_pool::{Choice, SessionPool},
};
use futures_util::future::{BoxFuture, FutureExt};
use std::{collections::HashSet, sync::Arc};
use trunkline_protocol::{Call, Profile};

impl Core {
    /// Opens the session of the call's client if its lists may differ from the known ones. The
    /// future ends when they were compared; it need not be polled. `None` if there is nothing to
    /// compare.
    pub(super) fn prepare(self: &Arc<Self>, call: &Call) -> Option<BoxFuture<'static, ()>> {
        if self.everyones.load().is_some() {
            return None;
        }
        let profile = Profile::of(&call.caller, call.params.as_ref());
        if !self.pool().may_list_more(&profile.capabilities) {
            return None;
        }
        let mut versions = self.versions.subscribe();
        let (Choice::Use(_) | Choice::Wait(_) | Choice::Open(..)) = self.choose(&profile).0 else {
            return None;
        };
        let core = Arc::clone(self);
        let compared = async move {
            // An error means that the upstream was dropped.
            let done = |_: &u64| !core.pool().is_comparing(&profile);
            drop(versions.wait_for(done).await);
        };
        Some(compared.boxed())
    }

    /// Compares the lists of all sessions with other capabilities; returns true if the lister
    /// changed or was lost.
    pub(super) async fn compare_lists(&self, lister: &Arc<LiveSession>) -> bool {
        loop {
            let next = self.pool().next_to_compare(lister);
            let Some((capabilities, other)) = next else { return false };
            let more = tokio::select! {
                more = self.lists_more(&other) => more,
                _ = lister.lost() => return true,
            };
            let mut pool = self.pool();
            if more {
                tracing::debug!(upstream = %self.name, capabilities, "more is listed with these capabilities");
                pool.set_lister(&other);
                return true;
            }
            pool.compared(capabilities);
            drop(pool);
            self.bump();
        }
    }

    /// True if the session lists everything that is known, and more.
    async fn lists_more(&self, other: &Arc<LiveSession>) -> bool {
        let Some(_held) = other.lease() else { return false };
        let mut more = false;
        for kind in Kind::ALL {
            let read = tokio::select! {
                read = self.read(other, kind) => read,
                _ = other.lost() => return false,
            };
            let Ok(read) = read else { return false };
            let known = self.lists().kept[kind as usize].items.clone();
            let names =
                |items: &[_]| items.iter().filter_map(|item| name_of(kind, item)).collect::<HashSet<_>>();
            let (known, listed) = (names(&known), names(&read.items));
            if !known.is_subset(&listed) {
                return false;
            }
            more |= listed.len() > known.len();
        }
        more
    }
}

impl SessionPool {
    /// True if the profile's session opens or is open, and its lists are not compared yet.
    fn is_comparing(&self, profile: &Profile) -> bool {
        self.may_list_more(&profile.capabilities) && self.has(profile)
    }
}
