//! Writer: writes records to the trail. Callers use [`Writer::write`], which does not sync; the
//! trail's thread uses [`Writer::commit`], which may.
//!
//! Records since the last sync are also kept in memory. After a failed write or sync the state of
//! the file is unknown; then all of them are written to a new segment, which follows the last
//! synced record.

use super::{
    Durability, Options,
    disk::{Disk, Segment, Sync},
    line::{Link, hex},
    members::Members,
    record::{Need, Record, Unwritten},
    recover::Recovered,
    signing::Signer,
    status::Health,
};
use std::{
    io, mem,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// Unsynced bytes from which on the trail's thread syncs at once.
const MAX_UNSYNCED: usize = 4 * 1024 * 1024;

/// Unsynced bytes from which on all callers wait for the sync.
const FULL: usize = 2 * MAX_UNSYNCED;

/// Interval, between syncs, of the check that the segment is still the file in the directory.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Most bytes of records kept in memory while the disk fails.
const MAX_KEPT: usize = 1024 * 1024;

/// Shortest time between two attempts while the disk fails.
const RETRY: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct Writer {
    disk: Disk,
    health: Arc<Health>,
    durability: Durability,
    segment_bytes: u64,
    /// Absent while the disk fails.
    segment: Option<Segment>,
    next_number: u64,
    /// The last record that was written.
    last: Link,
    /// The last record known to be on disk, and the size of its segment at that time.
    synced: Link,
    synced_bytes: u64,
    /// The members of all records since then, written or not, one line each.
    unsynced: String,
    /// The buffer of one write, reused.
    text: Vec<u8>,
    sync_due: Option<Instant>,
    checked: Instant,
    /// The error of a caller's write, to be handled by the trail's thread.
    broken: Option<io::Error>,
    /// Callers that wait for the trail's thread: for a sync, or after a failed write.
    waiters: Vec<Waiter>,
    is_syncing: bool,
    /// The segment that failed, and its length in valid bytes.
    poisoned: Option<(Segment, u64)>,
    retry_at: Instant,
    signer: Option<Arc<Signer>>,
}

/// A caller that waits for a record.
#[derive(Debug)]
struct Waiter {
    need: Need,
    done: oneshot::Sender<Result<(), Unwritten>>,
}

/// A sync in progress. Records written meanwhile are not covered by it.
#[derive(Debug)]
pub(super) struct Syncing {
    number: u64,
    sync: Sync,
    covered: Link,
    bytes: u64,
    /// The number of bytes of `unsynced` that it covers.
    length: usize,
    waiters: Vec<Waiter>,
}

/// The reason for a new segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Begin,
    Size,
    Failure,
}

impl Writer {
    /// Continues the trail with a record of kind `opened`.
    pub(super) fn start(
        disk: Disk,
        recovered: Recovered,
        health: Arc<Health>,
        options: &Options,
    ) -> io::Result<Self> {
        let mut writer = Self {
            disk,
            health,
            durability: options.durability,
            segment_bytes: options.segment_bytes,
            synced_bytes: recovered.segment.as_ref().map_or(0, |segment| segment.bytes),
            segment: recovered.segment,
            next_number: recovered.next_number,
            last: recovered.last,
            synced: recovered.last,
            unsynced: String::new(),
            text: Vec::new(),
            sync_due: None,
            checked: Instant::now(),
            broken: None,
            waiters: Vec::new(),
            is_syncing: false,
            poisoned: None,
            retry_at: Instant::now(),
            signer: None,
        };
        if writer.segment.is_none() {
            // Written before the first record: so a trail without a head has lost it, even if its
            // writer was killed early.
            if writer.disk.head()?.is_none() {
                writer.disk.write_head(&writer.last)?;
            }
            writer.begin_segment(Cause::Begin)?;
        }
        writer.push_unsynced(&Members::new("opened").number("dropped", recovered.dropped).finish());
        writer.check_segment()?;
        writer.write_from(0)?;
        // The thread syncs at once. A record that must be on disk is not acknowledged before that.
        writer.sync_due = Some(Instant::now());
        Ok(writer)
    }

    /// Signs the head, now and from now on.
    pub(super) fn sign_with(&mut self, signer: Arc<Signer>) -> io::Result<()> {
        self.sync()?;
        if let Some(segment) = &self.segment {
            signer.sign_first(&self.synced, segment.number)?;
        }
        self.signer = Some(signer);
        Ok(())
    }

    /// Writes records without a sync. After a failure the trail's thread takes over.
    pub(super) fn write(&mut self, records: Vec<Record>) {
        let first = self.unsynced.len();
        let is_check_due = records.last().is_some_and(|last| last.at >= self.checked + CHECK_INTERVAL);
        let waiters = self.take_in(records);
        let checked = if is_check_due { self.check_segment() } else { Ok(()) };
        match checked.and_then(|()| self.write_from(first)) {
            Ok(()) => self.answer_written(waiters),
            Err(error) => {
                self.broken = Some(error);
                self.waiters.extend(waiters);
            }
        }
    }

    /// True if only the trail's thread may write now.
    pub(super) fn needs_thread(&self) -> bool {
        self.segment.is_none() || self.broken.is_some() || self.is_full() || self.unsynced.len() >= FULL
    }

    /// True if the trail's thread must run at once.
    pub(super) fn wants_thread(&self) -> bool {
        let is_long = self.unsynced.len() >= MAX_UNSYNCED && self.segment.is_some();
        let has_work = self.broken.is_some() || !self.waiters.is_empty() || is_long || self.is_full();
        has_work && !self.is_syncing
    }

    /// Writes the records, in a new segment if the disk failed. Returns the sync that must follow,
    /// if one must.
    pub(super) fn commit(&mut self, records: Vec<Record>) -> Option<Syncing> {
        // First retry a failed disk: only if it works again can the records be kept.
        if self.segment.is_none()
            && (Instant::now() < self.retry_at || self.with_recovery(|_| Ok(())).is_err())
        {
            let waiters = self.take_in(records);
            self.waiters.extend(waiters);
            answer(mem::take(&mut self.waiters), Err(Unwritten));
            return None;
        }
        let first = self.unsynced.len();
        let mut waiters = mem::take(&mut self.waiters);
        waiters.extend(self.take_in(records));
        let result = match self.broken.take() {
            Some(error) => self.with_recovery(|_| Err(error)),
            None => {
                self.with_recovery(|writer| writer.check_segment().and_then(|()| writer.write_from(first)))
            }
        };
        if result.is_err() {
            answer(waiters, result);
            return None;
        }
        self.answer_written(waiters);
        let is_overdue = self.sync_due.is_some_and(|due| due <= Instant::now());
        if !is_overdue && !self.wants_thread() {
            return None;
        }
        let waiters = mem::take(&mut self.waiters);
        let syncing = Syncing::new(self.segment.as_ref()?, self, waiters);
        self.is_syncing = true;
        Some(syncing)
    }

    /// Handles the result of a sync.
    pub(super) fn end_sync(&mut self, syncing: Syncing, result: io::Result<()>) {
        self.is_syncing = false;
        let is_current = self.segment.as_ref().is_some_and(|segment| segment.number == syncing.number);
        let result = match result {
            Ok(()) if is_current => {
                self.note_sync(syncing.covered, syncing.bytes, syncing.length);
                Ok(())
            }
            Err(error) if is_current => self.with_recovery(|_| Err(error)),
            // The segment was replaced after a write error. Its records are on disk if the next
            // segment,
            // which contains them, was synced.
            _ if self.synced.seq >= syncing.covered.seq => Ok(()),
            _ => Err(Unwritten),
        };
        answer(syncing.waiters, result);
        // Records written during the sync are in the old segment, so sync it before rotating.
        if result.is_ok() && self.is_full() && self.with_recovery(Self::sync).is_ok() && self.is_full() {
            self.rotate();
        }
    }

    /// When the next sync is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.sync_due
    }

    /// Writes and syncs the last records, and logs how many could not be written.
    pub(super) fn finish(&mut self) {
        if let Some(syncing) = self.commit(Vec::new()) {
            let result = syncing.run();
            self.end_sync(syncing, result);
        }
        if !self.unsynced.is_empty() && self.with_recovery(Self::sync).is_err() {
            tracing::error!(
                records = self.unsynced.lines().count(),
                "ALARM: the last records of the audit trail could not be written"
            );
        }
    }

    fn take_in(&mut self, records: Vec<Record>) -> Vec<Waiter> {
        // While the disk fails, more records may be lost, so the gap is recorded later.
        if self.segment.is_some() {
            self.push_gap();
        }
        let mut waiters = Vec::with_capacity(records.len());
        for Record { members, need, done, slot, .. } in records {
            self.push_unsynced(&members);
            waiters.extend(done.map(|done| Waiter { need, done }));
            drop(slot);
        }
        waiters
    }

    /// Acknowledges written records; callers that need a sync keep waiting.
    fn answer_written(&mut self, waiters: Vec<Waiter>) {
        for waiter in waiters {
            match waiter.need {
                Need::Written => waiter.answer(Ok(())),
                Need::Synced => self.waiters.push(waiter),
            }
        }
    }

    /// Runs `work`; if the disk fails, writes all unsynced records to a new segment instead.
    fn with_recovery(&mut self, work: impl FnOnce(&mut Self) -> io::Result<()>) -> Result<(), Unwritten> {
        let failed = match &self.segment {
            Some(_) => work(self).err(),
            None => Some(io::Error::other("an earlier write failed")),
        };
        let Some(error) = failed else { return Ok(()) };
        if let Some(poisoned) = self.segment.take() {
            tracing::error!(%error, segment = poisoned.number, "ALARM: the audit trail could not be written; trying a new segment");
            self.health.status().failures += 1;
            self.poisoned = Some((poisoned, self.synced_bytes));
        }
        match self
            .begin_segment(Cause::Failure)
            .and_then(|()| self.check_segment())
            .and_then(|()| self.write_from(0))
            .and_then(|()| self.sync())
        {
            Ok(()) => {
                self.health.status().failing = None;
                tracing::warn!("the audit trail continues in a new segment");
                self.cut_poisoned();
                Ok(())
            }
            Err(error) => {
                self.give_up(&error);
                Err(Unwritten)
            }
        }
    }

    /// Truncates the failed segment to its valid part, now that the rest is in the next one. If
    /// that fails too, the next segment tells readers where this one ends.
    fn cut_poisoned(&mut self) {
        if let Some((poisoned, bytes)) = self.poisoned.take()
            && let Err(error) = poisoned.cut(bytes)
        {
            tracing::debug!(%error, "the failed segment could not be truncated to its valid records");
        }
    }

    fn give_up(&mut self, error: &io::Error) {
        if let Some(segment) = self.segment.take() {
            self.next_number = segment.number;
            if let Err(error) = self.disk.remove(segment.number) {
                tracing::debug!(%error, "an empty segment could not be removed");
                self.next_number += 1;
            }
        }
        tracing::error!(%error, "ALARM: the audit trail cannot be written");
        self.health.status().failing = Some(error.to_string());
        self.retry_at = Instant::now() + RETRY;
        // Unwritten records are retried even if no call comes.
        self.sync_due = Some(self.retry_at);
    }

    /// Creates the next segment, which follows the last synced record.
    fn begin_segment(&mut self, cause: Cause) -> io::Result<()> {
        let segment = loop {
            match self.disk.create(self.next_number) {
                // A foreign file has this name. It is left alone; `verify` reports it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.next_number += 1,
                made => break made?,
            }
        };
        let members = Members::new("segment")
            .number("segment", segment.number)
            .text("prev", &hex(&self.synced.hash))
            .text("cause", cause.word());
        self.last = self.synced;
        self.synced_bytes = 0;
        let segment = self.segment.insert(segment);
        let mut text = Vec::new();
        self.last.append(&members.finish(), &mut text);
        segment.append(&text)?;
        self.next_number = segment.number + 1;
        Ok(())
    }

    /// Begins a new segment; the old one is already synced.
    fn rotate(&mut self) {
        if let Some(signer) = &self.signer {
            signer.sign_now();
        }
        self.segment = None;
        if let Err(error) = self.begin_segment(Cause::Size).and_then(|()| self.sync()) {
            self.health.status().failures += 1;
            self.give_up(&error);
        }
    }

    /// Checks that the segment is still the file in the directory.
    fn check_segment(&mut self) -> io::Result<()> {
        let Some(segment) = &self.segment else { return Err(io::Error::other("there is no segment")) };
        self.checked = Instant::now();
        if self.disk.holds(segment)? {
            Ok(())
        } else {
            Err(io::Error::other("the segment was moved or deleted"))
        }
    }

    /// Writes the records of `unsynced` from byte `first` on.
    fn write_from(&mut self, first: usize) -> io::Result<()> {
        let Some(segment) = &mut self.segment else { return Err(io::Error::other("there is no segment")) };
        self.text.clear();
        let unwritten = &self.unsynced[first..];
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', unwritten.as_bytes()) {
            self.last.append(&unwritten[start..end], &mut self.text);
            start = end + 1;
        }
        segment.append(&self.text)?;
        self.health.status().records = self.last.seq;
        if !self.unsynced.is_empty() && self.sync_due.is_none() {
            self.sync_due = Some(Instant::now() + self.durability.interval());
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let Some(segment) = &self.segment else { return Err(io::Error::other("there is no segment")) };
        segment.sync().run()?;
        let bytes = segment.bytes;
        self.note_sync(self.last, bytes, self.unsynced.len());
        Ok(())
    }

    fn note_sync(&mut self, covered: Link, bytes: u64, length: usize) {
        if let Some(segment) = &mut self.segment {
            segment.is_synced();
            if let Some(signer) = &self.signer {
                signer.offer(covered, segment.number);
            }
        }
        self.synced_bytes = bytes;
        self.synced = covered;
        self.unsynced.drain(..length);
        if self.unsynced.is_empty() {
            // Nothing was written meanwhile: free the memory of a busy period.
            self.unsynced = String::new();
        }
        self.sync_due = (!self.unsynced.is_empty()).then(|| Instant::now() + self.durability.interval());
        // The records are safe without a head; only a later truncation would go undetected.
        if let Err(error) = self.disk.write_head(&self.synced) {
            tracing::error!(%error, "ALARM: the head of the audit trail cannot be written");
            self.health.status().failures += 1;
        }
    }

    fn push_unsynced(&mut self, members: &str) {
        if self.segment.is_none() && self.unsynced.len() + members.len() > MAX_KEPT {
            self.health.lose();
            return;
        }
        self.unsynced.push_str(members);
        self.unsynced.push('\n');
    }

    fn push_gap(&mut self) {
        let lost = self.health.take_lost();
        if lost > 0 {
            self.push_unsynced(&Members::new("gap").number("lost", lost).finish());
        }
    }

    fn is_full(&self) -> bool {
        self.segment.as_ref().is_some_and(|segment| segment.bytes >= self.segment_bytes)
    }
}

impl Cause {
    fn word(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Size => "size",
            Self::Failure => super::verify::FAILURE,
        }
    }
}

impl Syncing {
    fn new(segment: &Segment, writer: &Writer, waiters: Vec<Waiter>) -> Self {
        Self {
            number: segment.number,
            sync: segment.sync(),
            covered: writer.last,
            bytes: segment.bytes,
            length: writer.unsynced.len(),
            waiters,
        }
    }

    /// Syncs; blocks until the data is on disk.
    pub(super) fn run(&self) -> io::Result<()> {
        self.sync.run()
    }
}

impl Waiter {
    fn answer(self, result: Result<(), Unwritten>) {
        if self.done.send(result).is_err() {
            tracing::trace!("the caller does not wait for this record any more");
        }
    }
}

fn answer(waiters: Vec<Waiter>, result: Result<(), Unwritten>) {
    for waiter in waiters {
        waiter.answer(result);
    }
}
