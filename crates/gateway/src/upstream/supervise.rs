//! The supervisor: one task per upstream that connects it, keeps its lists fresh and stops it when
//! idle.

use super::{
    call::is_loss,
    core::Core,
    lists::{self, ReadList, is_declared, own_call, tells_changes},
    live_session::LiveSession,
    offer::Kind,
    open::{closed, ended},
    session_pool::{Awake, Pending},
    status::State,
};
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use tokio::time::{Instant, sleep, sleep_until};
use trunkline_protocol::{Fault, FaultKind, Part, message::SubscriptionFilter, method};
use trunkline_resilience::{Deadline, Moment};

/// Backoff before a broken subscription is opened again: first and longest.
const LISTEN_PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));
/// Interval of the search for idle sessions.
const TIDY_EVERY: Duration = Duration::from_secs(30);
/// Attempts to read a list whose session the server forgot meanwhile.
const LIST_ATTEMPTS: usize = 3;
/// Bitmask of all lists.
const ALL: u8 = 0b1111;

/// The next action of the supervisor.
enum Action {
    Sleep,
    Pause(Instant),
    Await(Pending),
    Keep(Arc<LiveSession>),
}

/// The outcome of reading lists.
struct Refreshed {
    changed: bool,
    /// True if the server had announced a change.
    announced: bool,
    /// Bitmask of the lists that could not be read.
    failed: u8,
}

impl Core {
    /// Runs until the upstream is stopped.
    pub(super) async fn supervise(self: Arc<Self>) {
        let mut stop = self.stop.subscribe();
        tokio::select! {
            _ = stop.wait_for(|stopped| *stopped) => {}
            () = self.attend() => {}
        }
    }

    async fn attend(self: &Arc<Self>) {
        loop {
            match self.next_action() {
                Action::Sleep => self.attention.notified().await,
                Action::Pause(until) => tokio::select! {
                    () = sleep_until(until) => {}
                    () = self.attention.notified() => {}
                },
                // The pool knows the outcome.
                Action::Await(pending) => drop(ended(pending).await),
                Action::Keep(live) => self.keep(&live).await,
            }
        }
    }

    fn next_action(self: &Arc<Self>) -> Action {
        let mut pool = self.pool();
        if pool.awake == Awake::No || pool.state == State::Stopped {
            return Action::Sleep;
        }
        if let Some(live) = pool.lister() {
            return Action::Keep(live);
        }
        if let Some(pending) = pool.any_opening() {
            return Action::Await(pending);
        }
        if let Some(until) = pool.pause() {
            return Action::Pause(until);
        }
        let key = pool.main.clone();
        Action::Await(self.open(&mut pool, key))
    }

    /// Keeps the lists of a session fresh until it is lost or another one takes its place.
    async fn keep(self: &Arc<Self>, live: &Arc<LiveSession>) {
        let limits = &self.options.lists;
        if self.lists().from.as_ptr() != Arc::as_ptr(live) {
            self.changed.fetch_or(ALL, Ordering::AcqRel);
        }
        let mut quiet = limits.quiet;
        let mut announced_at = Instant::now();
        let mut failures = 0;
        let mut again = None;
        loop {
            let wanted = self.changed.swap(0, Ordering::AcqRel);
            if wanted != 0 {
                let Some(Refreshed { changed, announced, failed }) = self.refresh(live, wanted).await else {
                    return;
                };
                // Only announcements without a change are a reason to wait longer after the next.
                if changed {
                    quiet = limits.quiet;
                } else if announced {
                    quiet = (quiet * 2).min(limits.quiet_ceiling);
                }
                if announced {
                    announced_at = Instant::now();
                }
                failures = if failed == 0 { 0 } else { failures + 1 };
                again = (failed != 0).then(|| (Instant::now() + self.pause_after(failures), failed));
            }
            self.tidy();
            if live.is_closed() || self.compare_lists(live).await {
                return;
            }
            if self.stop_if_idle() {
                return;
            }
            let expiry = self.lists().expires(limits.least_ttl);
            tokio::select! {
                _ = live.lost() => return,
                () = self.attention.notified() => {
                    self.mark(again.map_or(0, |(_, failed)| failed));
                    return;
                }
                () = self.change.notified() => {
                    if announced_at.elapsed() >= limits.quiet_ceiling {
                        quiet = limits.quiet;
                    }
                    tokio::select! {
                        _ = live.lost() => return,
                        () = sleep(quiet) => {}
                    }
                }
                () = Deadline::at(self.next_tidying()) => {}
                () = until(expiry) => self.mark(ALL),
                () = until(again.map(|(at, _)| at)) => self.mark(again.take().map_or(0, |(_, failed)| failed)),
            }
        }
    }

    fn mark(&self, lists: u8) {
        self.changed.fetch_or(lists, Ordering::AcqRel);
    }

    /// Reads the lists whose bits are set and publishes them. `None` if the session was lost
    /// meanwhile.
    async fn refresh(&self, live: &Arc<LiveSession>, wanted: u8) -> Option<Refreshed> {
        let _held = live.lease()?;
        let mut changed = self.offer.load().as_ref().is_none_or(|offer| offer.stale);
        let (mut failed, mut retold) = (0, false);
        let announced = self.announced.fetch_and(!wanted, Ordering::AcqRel) & wanted;
        for kind in Kind::ALL.into_iter().filter(|kind| wanted & bit(*kind) != 0) {
            let read = tokio::select! {
                biased;
                read = self.read_again_if_forgotten(live, kind) => read,
                _ = live.lost() => return None,
            };
            let mut lists = self.lists();
            let kept = &mut lists.kept[kind as usize];
            match read {
                Ok(mut read) => {
                    read.announced = kept.announced + u64::from(announced & bit(kind) != 0);
                    changed |= kept.items != read.items;
                    retold |= kept.fault.is_some() != read.fault.is_some();
                    retold |= kept.beside != read.beside || kept.announced != read.announced;
                    *kept = read;
                }
                Err(fault) if is_loss(&fault) => {
                    drop(lists);
                    self.lost(live, &fault);
                    return None;
                }
                Err(fault) => {
                    tracing::warn!(upstream = %self.name, ?kind, %fault, "the list cannot be read");
                    kept.warning = Some(format!("it could not be read: {}", fault.message()));
                    if kept.read_at.is_none() {
                        retold |= kept.fault.is_none();
                        kept.fault = Some(fault);
                    }
                    // It is read again because of the failure and not because of its age.
                    kept.ttl = None;
                    failed |= bit(kind);
                }
            }
        }
        let mut lists = self.lists();
        changed |= lists.from.as_ptr() != Arc::as_ptr(live);
        lists.from = Arc::downgrade(live);
        if (changed || retold) && !live.is_closed() {
            self.offer.store(Some(Arc::new(lists.offer(&*live.session))));
        }
        drop(lists);
        self.unread.fetch_and(!(wanted & !failed), Ordering::AcqRel);
        self.unread.fetch_or(self.announced.load(Ordering::Acquire), Ordering::AcqRel);
        // After the offer, because calls that wait for this read the offer next.
        if self.pool().set_listed(live) || changed || retold {
            self.bump();
        }
        Some(Refreshed { changed, announced: announced != 0, failed })
    }

    /// Reads a list. A server that forgets its session while the list is on its way says nothing
    /// about the list, and a pause would leave the server without tools.
    async fn read_again_if_forgotten(&self, live: &Arc<LiveSession>, kind: Kind) -> Result<ReadList, Fault> {
        for _ in 1..LIST_ATTEMPTS {
            match self.read(live, kind).await {
                Err(fault) if fault.peer().is_none() && fault.kind() == FaultKind::ConnectionLost => {}
                read => return read,
            }
        }
        self.read(live, kind).await
    }

    pub(super) async fn read(&self, live: &Arc<LiveSession>, kind: Kind) -> Result<ReadList, Fault> {
        let introduction = live.session.introduction();
        if !is_declared(&introduction, kind) {
            return Ok(ReadList::default());
        }
        let limit = self.options.timeouts.call();
        let mut read = lists::read(&*live.session, kind, &self.options.lists, limit).await?;
        // Also for servers that announce changes: an announcement can be forgotten or lost.
        read.ttl = read.ttl.or(self.options.lists.ttl);
        if let Some(warning) = &read.warning {
            tracing::warn!(upstream = %self.name, ?kind, warning, "the list is truncated");
        }
        for broken in &read.quarantined {
            let (name, reason) = (&broken.name, &broken.reason);
            tracing::warn!(upstream = %self.name, ?kind, ?name, reason, "an item is quarantined");
        }
        Ok(read)
    }

    /// Closes idle sessions.
    fn tidy(&self) {
        let mut pool = self.pool();
        if pool.lister().is_some_and(|live| live.opened.elapsed() >= self.options.restart.stable) {
            pool.failures = 0;
        }
        let mut retired = pool.retire_idle(self.options.pool.idle);
        retired.extend(pool.retire_own());
        drop(pool);
        for live in retired {
            live.close_in_background(closed());
        }
    }

    /// Stops the server if it was idle for the configured time; returns true if it did.
    fn stop_if_idle(&self) -> bool {
        let Some(idle) = self.options.idle else { return false };
        let mut pool = self.pool();
        let busy = pool.is_opening() || pool.sessions().any(|(_, live)| live.users() > 0);
        if busy || self.idle_since(pool.since.0).elapsed() < idle {
            return false;
        }
        tracing::info!(upstream = %self.name, ?idle, "idle upstream stopped");
        self.everyones.store(None);
        let sessions = pool.clear(State::Idle);
        drop(pool);
        for live in sessions {
            live.close_in_background(closed());
        }
        self.bump();
        true
    }

    /// When the server was last called or started.
    fn idle_since(&self, ready: Moment) -> Moment {
        self.last_busy().max(ready)
    }

    /// When to search for idle sessions next.
    fn next_tidying(&self) -> Moment {
        let now = Moment::now();
        let usual = now + TIDY_EVERY;
        let Some(idle) = self.options.idle else { return usual };
        let due = self.idle_since(self.pool().since.0) + idle;
        // A call in flight postpones this; then check again after as much time.
        usual.min(if due > now { due } else { now + idle })
    }

    /// Subscribes to changes at a server that announces them only to subscribers.
    pub(super) async fn listen(self: Arc<Self>, live: Arc<LiveSession>) {
        tokio::select! {
            _ = live.lost() => {}
            () = self.hear_changes(&live) => {}
        }
    }

    async fn hear_changes(&self, live: &Arc<LiveSession>) {
        let introduction = live.session.introduction();
        let tells = |kind| tells_changes(&introduction, kind).then_some(true);
        let filter = SubscriptionFilter {
            tools_list_changed: tells(Kind::Tools),
            prompts_list_changed: tells(Kind::Prompts),
            resources_list_changed: tells(Kind::Resources),
            ..SubscriptionFilter::default()
        };
        let wanted = [filter.tools_list_changed, filter.prompts_list_changed, filter.resources_list_changed];
        if wanted.iter().all(Option::is_none) {
            return;
        }
        let params = serde_json::json!({"notifications": filter});
        let mut pause = LISTEN_PAUSES.0;
        loop {
            let mut reply = live.session.call(own_call(method::LISTEN, Some(params.clone().into())));
            while let Some(part) = reply.next().await {
                match part {
                    Part::Notification(notification) => {
                        pause = LISTEN_PAUSES.0;
                        self.handle_notification(&live.principal, notification);
                    }
                    Part::Final(Err(fault)) if fault.kind() == FaultKind::NotAvailable => return,
                    Part::Final(Err(fault)) if is_loss(&fault) => return self.lost(live, &fault),
                    Part::Final(Err(fault)) => {
                        tracing::debug!(upstream = %self.name, %fault, "the subscription to changes ended");
                    }
                    Part::Question(_) | Part::Detach | Part::Final(Ok(_)) => {}
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(LISTEN_PAUSES.1);
            // Changes may have been missed while the subscription was down.
            self.changed.fetch_or(ALL, Ordering::AcqRel);
            self.change.notify_one();
        }
    }

    /// Makes the supervisor start the server.
    pub(super) fn wake(&self) {
        let mut pool = self.pool();
        if pool.state != State::Stopped && pool.awake == Awake::No {
            pool.awake = Awake::Yes;
            drop(pool);
            self.attention.notify_one();
        }
    }
}

/// The bit of a list in the masks.
pub(super) fn bit(kind: Kind) -> u8 {
    1 << (kind as u8)
}

/// Waits until `at`; `None` waits for ever.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
