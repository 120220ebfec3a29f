//! The thread that writes.
//!
//! Records since the last sync are kept in memory as well. When a write or a sync fails, the state of the file is
//! unknown; then they all go into a new segment, which follows the last record that was synced.

use super::{
    Durability, Options,
    disk::{Disk, Segment},
    line::{Link, hex},
    members::Members,
    queue::{Entry, Need, Next, Queue, Unwritten},
    recover::Recovered,
};
use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

/// Most bytes that are written without a sync.
const MAX_UNSYNCED: usize = 4 * 1024 * 1024;

/// Most bytes that are kept for a disk that fails.
const MAX_OWED: usize = 1024 * 1024;

/// Shortest time between two tries on a disk that fails.
const RETRY: Duration = Duration::from_millis(500);

pub(super) struct Writer {
    disk: Disk,
    queue: Arc<Queue>,
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
    /// What was written, or should have been, since then.
    unsynced: Vec<String>,
    unsynced_bytes: usize,
    sync_due: Option<Instant>,
    /// The segment that failed, and how much of it counts.
    poisoned: Option<(Segment, u64)>,
    retry_at: Instant,
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
        queue: Arc<Queue>,
        options: &Options,
    ) -> io::Result<Self> {
        let mut writer = Self {
            disk,
            queue,
            durability: options.durability,
            segment_bytes: options.segment_bytes,
            synced_bytes: recovered.segment.as_ref().map_or(0, |segment| segment.bytes),
            segment: recovered.segment,
            next_number: recovered.next_number,
            last: recovered.last,
            synced: recovered.last,
            unsynced: Vec::new(),
            unsynced_bytes: 0,
            sync_due: None,
            poisoned: None,
            retry_at: Instant::now(),
        };
        if writer.segment.is_none() {
            writer.begin_segment(Cause::Begin)?;
        }
        writer.owe(Members::new("opened").number("dropped", recovered.dropped).finish());
        writer.write_from(0)?;
        writer.sync()?;
        Ok(writer)
    }

    /// Writes until the queue is closed and empty.
    pub(super) fn run(mut self) {
        loop {
            match self.queue.next(self.sync_due) {
                Next::Write(entries) => self.commit(entries),
                Next::Sync => self.flush(),
                Next::Stop => break,
            }
        }
        // Says what was lost since, if anything was.
        self.commit(Vec::new());
        if !self.unsynced.is_empty() {
            self.flush();
        }
        if !self.unsynced.is_empty() {
            tracing::error!(
                records = self.unsynced.len(),
                "ALARM: the audit trail ends before these records"
            );
        }
    }

    fn flush(&mut self) {
        if self.settle(Self::sync).is_err() {
            tracing::debug!("the audit trail still cannot be written");
        }
    }

    fn commit(&mut self, entries: Vec<Entry>) {
        // A disk that failed comes first: only once it works is it known what can be kept.
        if self.segment.is_none() && (Instant::now() < self.retry_at || self.settle(|_| Ok(())).is_err()) {
            for entry in entries {
                self.owe(entry.members);
                tell(entry.told, Err(Unwritten));
            }
            return;
        }
        let first = self.unsynced.len();
        self.owe_gap();
        let mut waiting = Vec::with_capacity(entries.len());
        for entry in entries {
            self.owe(entry.members);
            waiting.push((entry.need, entry.told, entry.slot));
        }
        let mut result = self.settle(|writer| writer.write_from(first));
        let sync =
            self.durability == Durability::Sync && waiting.iter().any(|(need, ..)| *need == Need::Synced);
        let (now, later): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(need, ..)| !sync || *need == Need::Written);
        for (_, told, _) in now {
            tell(told, result);
        }
        let overdue = self.sync_due.is_some_and(|due| due <= Instant::now());
        if result.is_ok() && (sync || overdue || self.unsynced_bytes >= MAX_UNSYNCED || self.is_full()) {
            result = self.settle(Self::sync);
        }
        for (_, told, _) in later {
            tell(told, result);
        }
        if result.is_ok() && self.is_full() {
            self.rotate();
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
            self.queue.status().failures += 1;
            self.poisoned = Some((poisoned, self.synced_bytes));
        }
        match self.begin_segment(Cause::Failure).and_then(|()| self.write_from(0)).and_then(|()| self.sync())
        {
            Ok(()) => {
                self.queue.status().failing = None;
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

    /// Shortens the failed segment to what counts, now that the rest stands in the next one. If that fails too, the next
    /// one says where to stop reading.
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
        self.queue.status().failing = Some(error.to_string());
        self.retry_at = Instant::now() + RETRY;
        // With something owed, the disk is tried again even if no call comes.
        self.sync_due = Some(self.retry_at);
    }

    /// Makes the next segment, which follows the last synced record.
    fn begin_segment(&mut self, cause: Cause) -> io::Result<()> {
        let segment = loop {
            match self.disk.create(self.next_number) {
                // Somebody put something there. It is left alone, and found by whoever verifies.
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
        let mut text = String::new();
        self.last.append(&members.finish(), &mut text);
        segment.append(&text)?;
        self.next_number = segment.number + 1;
        Ok(())
    }

    /// Goes on in a new segment; the old one is synced already.
    fn rotate(&mut self) {
        self.segment = None;
        if let Err(error) = self.begin_segment(Cause::Size).and_then(|()| self.sync()) {
            self.queue.status().failures += 1;
            self.give_up(&error);
        }
    }

    /// Writes what is owed from `first` on. Before, it makes sure that the file is still the one in the directory.
    fn write_from(&mut self, first: usize) -> io::Result<()> {
        let Some(segment) = &mut self.segment else { return Err(io::Error::other("there is no segment")) };
        if !self.disk.holds(segment)? {
            return Err(io::Error::other("the segment was moved or deleted"));
        }
        let mut text = String::new();
        for members in &self.unsynced[first..] {
            self.last.append(members, &mut text);
        }
        segment.append(&text)?;
        self.queue.status().records = self.last.seq;
        if !self.unsynced.is_empty() && self.sync_due.is_none() {
            self.sync_due = Some(Instant::now() + self.durability.interval());
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let Some(segment) = &self.segment else { return Err(io::Error::other("there is no segment")) };
        segment.sync()?;
        self.synced_bytes = segment.bytes;
        self.synced = self.last;
        self.unsynced.clear();
        self.unsynced_bytes = 0;
        self.sync_due = None;
        // The records are safe without it: only a trail that is cut short later would go unnoticed.
        if let Err(error) = self.disk.write_head(&self.synced) {
            tracing::error!(%error, "ALARM: the head of the audit trail cannot be written");
            self.queue.status().failures += 1;
        }
        Ok(())
    }

    fn owe(&mut self, members: String) {
        if self.segment.is_none() && self.unsynced_bytes + members.len() > MAX_OWED {
            self.queue.lose();
            return;
        }
        self.unsynced_bytes += members.len();
        self.unsynced.push(members);
    }

    fn owe_gap(&mut self) {
        let lost = self.queue.take_lost();
        if lost > 0 {
            self.owe(Members::new("gap").number("lost", lost).finish());
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

fn tell(told: Option<tokio::sync::oneshot::Sender<Result<(), Unwritten>>>, result: Result<(), Unwritten>) {
    if let Some(told) = told
        && told.send(result).is_err()
    {
        tracing::trace!("nobody waits for this record any more");
    }
}
