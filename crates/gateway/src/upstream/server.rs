//! Upstream: one server as the gateway sees it.

use super::{
    Connect, Event, Offer, Status, UpstreamOptions, core::Core, flight, live::Key, open::closed,
    status::State,
};
use futures_util::future::join_all;
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{broadcast, watch},
    time::sleep,
};
use trunkline_protocol::{Call, Handler, Notify, Reply, ServerName, method};
use trunkline_resilience::within_time;

/// How often an upstream that is to go is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// One server behind the gateway: supervised, with a session for every caller that needs its own, and its lists at hand.
///
/// It runs until [`Upstream::stop`], or until it is dropped.
pub struct Upstream {
    core: Arc<Core>,
    started: AtomicBool,
}

impl Upstream {
    /// An upstream that does nothing yet. Options outside their range are replaced by the usual ones; see
    /// [`UpstreamOptions::checked`].
    pub fn new(name: ServerName, connect: Arc<dyn Connect>, options: UpstreamOptions) -> Arc<Self> {
        Arc::new(Self { core: Arc::new(Core::new(name, connect, options)), started: AtomicBool::new(false) })
    }

    /// Begins to supervise, in the background.
    pub fn start(self: &Arc<Self>) {
        if !self.started.swap(true, Ordering::AcqRel) {
            tokio::spawn(self.core.clone().supervise());
        }
    }

    /// Starts a server that waits for its first use, because somebody wants to know what it offers.
    pub fn wake(&self) {
        self.core.wake();
    }

    /// Tries to connect now, whatever failed before.
    pub fn retry(&self) {
        let mut book = self.core.book();
        book.retry_at = None;
        book.failures = 0;
        drop(book);
        self.core.wake();
        self.core.attention.notify_one();
    }

    pub fn name(&self) -> &ServerName {
        &self.core.name
    }

    /// What the server offers; `None` until it was heard for the first time.
    pub fn offer(&self) -> Option<Arc<Offer>> {
        self.core.offer.load_full()
    }

    /// Counts changes of the offer and of the state.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.core.versions.subscribe()
    }

    /// What the server says that belongs to no call. Changes of lists are not among it: they show in the offer.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.core.events()
    }

    pub fn status(&self) -> Status {
        Status::of(&self.core)
    }

    /// What the server offered when it last ran, to be shown until it does again.
    pub fn recall(&self, offer: Offer) {
        let before = self.core.offer.compare_and_swap(&None::<Arc<Offer>>, Some(Arc::new(offer)));
        if before.is_none() {
            self.core.bump();
        }
    }

    /// Lets calls under way finish, for so long, and stops then. Calls that were on their way here when the catalog changed are
    /// still taken.
    pub async fn drain(&self, limit: Duration) {
        within_time(limit, async {
            loop {
                sleep(LOOK_AGAIN).await;
                if self.core.calls().in_flight == 0 {
                    break;
                }
            }
        })
        .await;
        self.stop().await;
    }

    /// Ends all sessions and processes and waits for them. Calls under way hear that they got lost.
    pub async fn stop(&self) {
        let core = &self.core;
        core.stop.send_replace(true);
        core.everyones.store(None);
        let lives = core.book().clear(State::Stopped);
        core.bump();
        let close = lives.into_iter().map(|live| async move {
            live.end(closed());
            live.session.close().await;
        });
        join_all(close).await;
    }
}

impl Handler for Upstream {
    fn call(&self, call: Call) -> Reply {
        flight::begin(self.core.clone(), call)
    }

    /// Goes to the sessions of its sender. A session that everybody shares hears nothing that only one of them says of
    /// itself.
    fn notify(&self, notice: Notify) {
        let personal = notice.notification.method == method::ROOTS_CHANGED;
        let sessions: Vec<_> = self
            .core
            .book()
            .lives()
            .filter(|(key, _)| match key {
                Key::Common => !personal,
                Key::Of(profile) => profile.principal == notice.caller.id,
            })
            .map(|(_, live)| live.session.clone())
            .collect();
        for session in sessions {
            session.notify(notice.clone());
        }
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.core.stop.send_replace(true);
        self.core.everyones.store(None);
        let lives = self.core.book().clear(State::Stopped);
        if tokio::runtime::Handle::try_current().is_err() {
            // Without a runtime sessions cannot say goodbye; dropping them ends their processes.
            return;
        }
        for live in lives {
            live.bury(closed());
        }
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("name", &self.core.name).finish_non_exhaustive()
    }
}
