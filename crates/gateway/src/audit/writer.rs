//! Writer: writes records to the trail. Callers use the short way ([`Writer::write`]), the trail's
//! thread the one that may wait for the disk ([`Writer::commit`]).
//!
//! Records since the last sync are kept in memory as well. When a write or a sync fails, the state
//! of the file is unknown; then they all go into a new segment, which follows the last record that
//! was synced.

use super::{
    Durability, Options,
    disk::{Disk, Segment, Sync},
    line::{Link, hex},
    members::Members,
    record::{Need, Record, Unwritten},
    recover::Recovered,
    status::Health,
};
use std::{
    io, mem,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// Bytes that are written without a sync; from here on the thread is asked for one.
const MAX_UNSYNCED: usize = 4 * 1024 * 1024;

/// Where everybody waits for the thread's sync.
const FULL: usize = 2 * MAX_UNSYNCED;

/// How often it is made sure, between syncs, that the segment is still the one in the directory.
const LOOK: Duration = Duration::from_millis(100);

/// Most bytes that are kept for a disk that fails.
const MAX_OWED: usize = 1024 * 1024;

/// Shortest time between two tries on a disk that fails.
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
    /// The last record that is known to be on disk, and the size of its segment then.
    synced: Link,
    synced_bytes: u64,
    /// The records that were written, or should have been, since then: their members, a line each.
    unsynced: String,
    /// The lines of one write; kept for its memory.
    text: Vec<u8>,
    sync_due: Option<Instant>,
    looked: Instant,
    /// A caller's write that failed. The thread goes on from here.
    broken: Option<io::Error>,
    /// Callers that wait for the thread: for a sync, or because of a failed write.
    waiters: Vec<Waiter>,
    is_syncing: bool,
    /// The segment that failed, and how much of it counts.
    poisoned: Option<(Segment, u64)>,
    retry_at: Instant,
}

/// A caller that waits for a record.
#[derive(Debug)]
struct Waiter {
    need: Need,
    done: oneshot::Sender<Result<(), Unwritten>>,
}

/// A sync under way. Meanwhile records may be written that it does not cover.
#[derive(Debug)]
pub(super) struct Syncing {
    number: u64,
    sync: Sync,
    covered: Link,
    bytes: u64,
    /// How many bytes of `unsynced` it covers.
    length: usize,
    waiters: Vec<Waiter>,
}

/// Why a segment was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Begin,
    Size,
    Failure,
}

impl Writer {
    /// Opens the trail again; the first record says so.
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
            looked: Instant::now(),
            broken: None,
            waiters: Vec::new(),
            is_syncing: false,
            poisoned: None,
            retry_at: Instant::now(),
        };
        if writer.segment.is_none() {
            // Written before the first record: so a trail without a head has lost it, however early
            // the process was killed.
            if writer.disk.head()?.is_none() {
                writer.disk.write_head(&writer.last)?;
            }
            writer.begin_segment(Cause::Begin)?;
        }
        writer.owe(&Members::new("opened").number("dropped", recovered.dropped).finish());
        writer.look()?;
        writer.write_from(0)?;
        // The thread syncs at once, before any caller is told that its record is on disk.
        writer.sync_due = Some(Instant::now());
        Ok(writer)
    }

    /// Writes records without waiting for the disk. If that fails, the thread has to go on.
    pub(super) fn write(&mut self, records: Vec<Record>) {
        let first = self.unsynced.len();
        let is_look_due = records.last().is_some_and(|last| last.at >= self.looked + LOOK);
        let waiters = self.take_in(records);
        let looked = if is_look_due { self.look() } else { Ok(()) };
        match looked.and_then(|()| self.write_from(first)) {
            Ok(()) => self.answer_written(waiters),
            Err(error) => {
                self.broken = Some(error);
                self.waiters.extend(waiters);
            }
        }
    }

    /// True if only the thread may write now.
    pub(super) fn needs_thread(&self) -> bool {
        self.segment.is_none() || self.broken.is_some() || self.is_full() || self.unsynced.len() >= FULL
    }

    /// True if the thread has to run at once.
    pub(super) fn wants_thread(&self) -> bool {
        let is_long = self.unsynced.len() >= MAX_UNSYNCED && self.segment.is_some();
        let has_work = self.broken.is_some() || !self.waiters.is_empty() || is_long || self.is_full();
        has_work && !self.is_syncing
    }

    /// Writes, whatever it takes, up to the sync that may have to follow.
    pub(super) fn commit(&mut self, records: Vec<Record>) -> Option<Syncing> {
        // A failed disk comes first: which records can be kept is known only once it works.
        if self.segment.is_none() && (Instant::now() < self.retry_at || self.settle(|_| Ok(())).is_err()) {
            let waiters = self.take_in(records);
            self.waiters.extend(waiters);
            answer(mem::take(&mut self.waiters), Err(Unwritten));
            return None;
        }
        let first = self.unsynced.len();
        let mut waiters = mem::take(&mut self.waiters);
        waiters.extend(self.take_in(records));
        let result = match self.broken.take() {
            Some(error) => self.settle(|_| Err(error)),
            None => self.settle(|writer| writer.look().and_then(|()| writer.write_from(first))),
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

    /// Takes note of how a sync went.
    pub(super) fn end_sync(&mut self, syncing: Syncing, result: io::Result<()>) {
        self.is_syncing = false;
        let is_current = self.segment.as_ref().is_some_and(|segment| segment.number == syncing.number);
        let result = match result {
            Ok(()) if is_current => {
                self.note_sync(syncing.covered, syncing.bytes, syncing.length);
                Ok(())
            }
            Err(error) if is_current => self.settle(|_| Err(error)),
            // The segment failed meanwhile; the next one has all of this, if there is one.
            _ if self.synced.seq >= syncing.covered.seq => Ok(()),
            _ => Err(Unwritten),
        };
        answer(syncing.waiters, result);
        // Records written meanwhile belong to the old segment and are synced with it.
        if result.is_ok() && self.is_full() && self.settle(Self::sync).is_ok() && self.is_full() {
            self.rotate();
        }
    }

    /// When the next sync is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.sync_due
    }

    /// Writes and syncs the last records, and logs how many could not be.
    pub(super) fn finish(&mut self) {
        if let Some(syncing) = self.commit(Vec::new()) {
            let result = syncing.run();
            self.end_sync(syncing, result);
        }
        if !self.unsynced.is_empty() && self.settle(Self::sync).is_err() {
            tracing::error!(
                records = self.unsynced.lines().count(),
                "ALARM: the audit trail ends before these records"
            );
        }
    }

    fn take_in(&mut self, records: Vec<Record>) -> Vec<Waiter> {
        // While nothing can be written, the gap is still growing.
        if self.segment.is_some() {
            self.owe_gap();
        }
        let mut waiters = Vec::with_capacity(records.len());
        for Record { members, need, done, slot, .. } in records {
            self.owe(&members);
            waiters.extend(done.map(|done| Waiter { need, done }));
            drop(slot);
        }
        waiters
    }

    /// Tells callers whose records are written; those that need a sync wait on.
    fn answer_written(&mut self, waiters: Vec<Waiter>) {
        for waiter in waiters {
            match waiter.need {
                Need::Written => waiter.answer(Ok(())),
                Need::Synced => self.waiters.push(waiter),
            }
        }
    }

    /// Does `work`; if the disk fails, does it in a new segment instead.
    fn settle(&mut self, work: impl FnOnce(&mut Self) -> io::Result<()>) -> Result<(), Unwritten> {
        let failed = match &self.segment {
            Some(_) => work(self).err(),
            None => Some(io::Error::other("the disk failed before")),
        };
        let Some(error) = failed else { return Ok(()) };
        if let Some(poisoned) = self.segment.take() {
            tracing::error!(%error, segment = poisoned.number, "ALARM: the audit trail failed; a new segment is tried");
            self.health.status().failures += 1;
            self.poisoned = Some((poisoned, self.synced_bytes));
        }
        match self
            .begin_segment(Cause::Failure)
            .and_then(|()| self.look())
            .and_then(|()| self.write_from(0))
            .and_then(|()| self.sync())
        {
            Ok(()) => {
                self.health.status().failing = None;
                tracing::warn!("the audit trail goes on in a new segment");
                self.cut_poisoned();
                Ok(())
            }
            Err(error) => {
                self.give_up(&error);
                Err(Unwritten)
            }
        }
    }

    /// Truncates the failed segment to its synced part; the rest is in the next segment. If that
    /// fails too, the next one says where to stop reading.
    fn cut_poisoned(&mut self) {
        if let Some((poisoned, bytes)) = self.poisoned.take()
            && let Err(error) = poisoned.cut(bytes)
        {
            tracing::debug!(%error, "the failed segment keeps an end that does not count");
        }
    }

    fn give_up(&mut self, error: &io::Error) {
        if let Some(segment) = self.segment.take() {
            self.next_number = segment.number;
            if let Err(error) = self.disk.remove(segment.number) {
                tracing::debug!(%error, "a segment without records stays");
                self.next_number += 1;
            }
        }
        tracing::error!(%error, "ALARM: the audit trail cannot be written");
        self.health.status().failing = Some(error.to_string());
        self.retry_at = Instant::now() + RETRY;
        // With something owed, the disk is tried again even if no call comes.
        self.sync_due = Some(self.retry_at);
    }

    /// Makes the next segment, which follows the last synced record.
    fn begin_segment(&mut self, cause: Cause) -> io::Result<()> {
        let segment = loop {
            match self.disk.create(self.next_number) {
                // A foreign file. It is left alone, and `verify` reports it.
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

    /// Goes on in a new segment; the old one is synced already.
    fn rotate(&mut self) {
        self.segment = None;
        if let Err(error) = self.begin_segment(Cause::Size).and_then(|()| self.sync()) {
            self.health.status().failures += 1;
            self.give_up(&error);
        }
    }

    /// Makes sure that the segment is still the one in the directory.
    fn look(&mut self) -> io::Result<()> {
        let Some(segment) = &self.segment else { return Err(io::Error::other("there is no segment")) };
        self.looked = Instant::now();
        if self.disk.holds(segment)? {
            Ok(())
        } else {
            Err(io::Error::other("the segment was moved or deleted"))
        }
    }

    /// Writes the records of `unsynced` from the byte `first` on.
    fn write_from(&mut self, first: usize) -> io::Result<()> {
        let Some(segment) = &mut self.segment else { return Err(io::Error::other("there is no segment")) };
        self.text.clear();
        let owed = &self.unsynced[first..];
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', owed.as_bytes()) {
            self.last.append(&owed[start..end], &mut self.text);
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
        }
        self.synced_bytes = bytes;
        self.synced = covered;
        self.unsynced.drain(..length);
        if self.unsynced.is_empty() {
            // Nothing came meanwhile: release the memory of a busy time.
            self.unsynced = String::new();
        }
        self.sync_due = (!self.unsynced.is_empty()).then(|| Instant::now() + self.durability.interval());
        // The records are safe without it: only a trail that is cut short later would go unnoticed.
        if let Err(error) = self.disk.write_head(&self.synced) {
            tracing::error!(%error, "ALARM: the head of the audit trail cannot be written");
            self.health.status().failures += 1;
        }
    }

    fn owe(&mut self, members: &str) {
        if self.segment.is_none() && self.unsynced.len() + members.len() > MAX_OWED {
            self.health.lose();
            return;
        }
        self.unsynced.push_str(members);
        self.unsynced.push('\n');
    }

    fn owe_gap(&mut self) {
        let lost = self.health.take_lost();
        if lost > 0 {
            self.owe(&Members::new("gap").number("lost", lost).finish());
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

    /// Waits for the disk.
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
