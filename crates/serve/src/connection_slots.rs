//! Places: how many connections there may be at once, and who gives way when there is none left.

use crate::{http::Line, session::lock};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::Notify;

/// How long to wait for somebody who was asked to go, before another is asked: it may have begun to speak meanwhile.
const ASK_AGAIN: Duration = Duration::from_millis(10);

pub(crate) struct Places {
    most: usize,
    taken: Mutex<Taken>,
    freed: Notify,
}

#[derive(Default)]
struct Taken {
    lines: Vec<Option<Arc<Line>>>,
    free: Vec<usize>,
}

/// A connection's place, for as long as it is held.
pub(crate) struct Place {
    places: Arc<Places>,
    number: usize,
}

impl Places {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default(), freed: Notify::new() })
    }

    /// A place. Where there is none left, connections that wait for a request give way, the one that has waited longest first.
    pub(crate) async fn find(self: &Arc<Self>, line: &Arc<Line>) -> Place {
        loop {
            let mut freed = std::pin::pin!(self.freed.notified());
            freed.as_mut().enable();
            if let Some(place) = self.take(line) {
                return place;
            }
            self.dismiss_one(line.now());
            if tokio::time::timeout(ASK_AGAIN, freed).await.is_err() {
                tracing::debug!("a connection waits for a place");
            }
        }
    }

    fn take(self: &Arc<Self>, line: &Arc<Line>) -> Option<Place> {
        let mut taken = lock(&self.taken);
        let number = match taken.free.pop() {
            Some(number) => number,
            None if taken.lines.len() < self.most => {
                taken.lines.push(None);
                taken.lines.len() - 1
            }
            None => return None,
        };
        taken.lines[number] = Some(line.clone());
        Some(Place { places: self.clone(), number })
    }

    fn dismiss_one(&self, now: u64) {
        let taken = lock(&self.taken);
        let waiting = taken.lines.iter().flatten().filter_map(|line| Some((line.waits_since()?, line)));
        if let Some((since, line)) = waiting.min_by_key(|(since, _)| *since)
            && since <= now
        {
            line.dismiss(since);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = lock(&self.places.taken);
        taken.lines[self.number] = None;
        taken.free.push(self.number);
        drop(taken);
        self.places.freed.notify_waiters();
    }
}
