//! Changes: detects which lists of a caller differ between two snapshots.

use super::super::Inner;
use crate::{upstream::Kind, view::Listing};
use futures_util::{Stream, stream};
use std::{collections::VecDeque, sync::Arc};
use tokio::sync::watch;
use trunkline_protocol::{Call, Notification, Part, Raw, message::SubscriptionFilter, method};

/// Watches the lists of one caller in one view.
pub(super) struct Changes {
    inner: Arc<Inner>,
    snapshots: watch::Receiver<u64>,
    /// The request for notifications.
    call: Call,
    watched: Vec<Watched>,
    due: VecDeque<&'static str>,
}

struct Watched {
    kinds: &'static [Kind],
    tell: &'static str,
    last: Vec<Seen>,
}

/// A list as the caller last saw it.
struct Seen {
    listing: Arc<Listing>,
    /// Number of changes that the server announced; 0 if rules or policy hide anything.
    announced: u64,
}

impl Changes {
    pub(super) fn new(inner: &Arc<Inner>, call: &Call, lists: &SubscriptionFilter) -> Self {
        let mut snapshots = inner.changed.subscribe();
        snapshots.mark_unchanged();
        let wanted: [(Option<bool>, &'static [Kind], &'static str); 3] = [
            (lists.tools_list_changed, &[Kind::Tools], method::TOOLS_CHANGED),
            (lists.prompts_list_changed, &[Kind::Prompts], method::PROMPTS_CHANGED),
            (lists.resources_list_changed, &[Kind::Resources, Kind::Templates], method::RESOURCES_CHANGED),
        ];
        let mut changes = Self {
            inner: Arc::clone(inner),
            snapshots,
            call: call.clone(),
            watched: Vec::new(),
            due: VecDeque::new(),
        };
        for (_, kinds, tell) in wanted.into_iter().filter(|(wanted, ..)| *wanted == Some(true)) {
            let last = changes.look(kinds).unwrap_or_default();
            changes.watched.push(Watched { kinds, tell, last });
        }
        changes
    }

    /// One notification for each changed list; the stream ends when the view is removed.
    pub(super) fn parts(self) -> impl Stream<Item = Part> + Send {
        stream::unfold(self, |mut changes| async move {
            let part = changes.next().await;
            Some((part, changes))
        })
    }

    async fn next(&mut self) -> Part {
        loop {
            if let Some(name) = self.due.pop_front() {
                return Part::Notification(Notification::new(name, None));
            }
            if self.snapshots.changed().await.is_err() {
                return Part::Final(Ok(Raw::empty_object()));
            }
            // Several snapshots between two polls are reported as one change.
            for place in 0..self.watched.len() {
                let Some(now) = self.look(self.watched[place].kinds) else {
                    return Part::Final(Ok(Raw::empty_object()));
                };
                let watched = &mut self.watched[place];
                let same = watched.last.len() == now.len()
                    && watched.last.iter().zip(&now).all(|(last, now)| last.shows_same(now));
                if !same {
                    self.due.push_back(watched.tell);
                }
                watched.last = now;
            }
        }
    }

    /// The current lists; `None` if the view was removed.
    fn look(&self, kinds: &[Kind]) -> Option<Vec<Seen>> {
        let catalog = self.inner.now.load();
        let view = catalog.view(self.call.view.as_deref())?;
        // A caller must not learn that an item changed which is hidden from it.
        let plain = view.unruled && catalog.policy.is_open();
        let offer = view.servers.first().filter(|_| plain).and_then(|server| server.offer());
        let asker = catalog.policy.asker(&self.call);
        let seen = |kind: &Kind| Seen {
            listing: view.listing(*kind, &catalog.policy, &asker, &self.inner.shared.lists),
            announced: offer.map_or(0, |offer| offer.announced[*kind as usize]),
        };
        Some(kinds.iter().map(seen).collect())
    }
}

impl Seen {
    fn shows_same(&self, other: &Self) -> bool {
        // The counter of a restarted server begins at 0 again, which is no change.
        let silent = other.announced <= self.announced;
        silent && self.listing.shows_same(&other.listing)
    }
}
