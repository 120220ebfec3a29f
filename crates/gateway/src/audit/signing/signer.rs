//! The thread that signs heads.

use super::{file, head::SignedHead, key::SigningKey};
use crate::audit::{
    disk::Disk,
    line::{Hash, Link},
    status::Health,
};
use parking_lot::{Condvar, Mutex};
use std::{
    fmt, io,
    sync::Arc,
    time::{Duration, Instant},
};

/// Receives every signed head, on the signer's thread. It must return within seconds: the end of
/// the program waits for it.
pub type HeadSink = Arc<dyn Fn(&SignedHead) + Send + Sync>;

/// Signs the head of a trail at its start and end, at each new segment, and in between.
#[derive(Clone)]
pub struct Signing {
    pub key: Arc<SigningKey>,
    /// Longest time that a record on disk stays without a signature.
    pub interval: Duration,
    /// Number of unsigned records after which a head is signed before the interval is over.
    pub records: u64,
    pub sinks: Vec<HeadSink>,
}

#[derive(Debug)]
pub(in crate::audit) struct Signer {
    signing: Signing,
    disk: Disk,
    chain: Hash,
    health: Arc<Health>,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The last synced record and its segment, if it is not signed yet.
    unsigned: Option<(Link, u64)>,
    signed: u64,
    /// True if the head must be signed at once.
    at_once: bool,
    closed: bool,
}

impl Signer {
    pub(in crate::audit) fn new(signing: Signing, disk: Disk, chain: Hash, health: Arc<Health>) -> Self {
        Self { signing, disk, chain, health, state: Mutex::default(), wake: Condvar::new() }
    }

    /// Signs the head at the start of a run. The sinks get it from the signer's thread.
    pub(in crate::audit) fn sign_first(&self, synced: &Link, segment: u64) -> io::Result<()> {
        file::write(&self.disk, &SignedHead::sign(&self.signing.key, &self.chain, synced, segment))?;
        let mut state = self.state.lock();
        state.unsigned = Some((*synced, segment));
        state.at_once = true;
        Ok(())
    }

    /// Notes the last record on disk. Cheap: callers may wait for the writer meanwhile.
    pub(in crate::audit) fn offer(&self, synced: Link, segment: u64) {
        let mut state = self.state.lock();
        let is_first = state.unsigned.replace((synced, segment)).is_none();
        if is_first || synced.seq.saturating_sub(state.signed) >= self.signing.records {
            self.wake.notify_one();
        }
    }

    /// Has the head signed without waiting for the interval.
    pub(in crate::audit) fn sign_now(&self) {
        self.state.lock().at_once = true;
        self.wake.notify_one();
    }

    pub(in crate::audit) fn close(&self) {
        self.state.lock().closed = true;
        self.wake.notify_one();
    }

    /// The main loop of the thread; returns after the last head was signed.
    pub(in crate::audit) fn run(&self) {
        let mut due = Instant::now();
        while let Some((link, segment)) = self.next(due) {
            let head = SignedHead::sign(&self.signing.key, &self.chain, &link, segment);
            // Without the file the records are still safe, and so is the head that was sent.
            if let Err(error) = file::write(&self.disk, &head) {
                tracing::error!(%error, "ALARM: the signed head of the audit trail cannot be written");
                self.health.status().failures += 1;
            }
            self.signing.sinks.iter().for_each(|sink| sink(&head));
            due = Instant::now() + self.signing.interval;
        }
    }

    /// Waits until a head must be signed; `None` at the end.
    fn next(&self, due: Instant) -> Option<(Link, u64)> {
        let mut state = self.state.lock();
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if let Some((link, segment)) = state.unsigned {
                let is_many = link.seq.saturating_sub(state.signed) >= self.signing.records;
                if state.at_once || state.closed || is_many || left.is_zero() {
                    state.unsigned = None;
                    state.at_once = false;
                    state.signed = link.seq;
                    return Some((link, segment));
                }
                self.wake.wait_for(&mut state, left);
            } else if state.closed {
                return None;
            } else {
                self.wake.wait(&mut state);
            }
        }
    }
}

impl fmt::Debug for Signing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signing")
            .field("key", &self.key)
            .field("interval", &self.interval)
            .field("records", &self.records)
            .finish_non_exhaustive()
    }
}
