//! The thread that writes the access log.

use super::{Destination, Form, LogCommand, Shared, line};
use crate::terminal::log_lines;
use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::{Arc, atomic::Ordering, mpsc::Receiver},
};

/// Maximum number of bytes collected for one write.
const CHUNK: usize = 64 * 1024;

pub(super) struct Writer {
    destination: Destination,
    form: Form,
    shared: Arc<Shared>,
    /// `None` until the file is (re)opened; every write tries again.
    file: Option<File>,
    lines: String,
    /// Number of lines in `lines`.
    gathered: u64,
    /// Number of lost lines already reported in the log itself.
    reported: u64,
    /// True if the last write failed, so that a full disk is reported only once.
    failing: bool,
}

impl Writer {
    pub(super) fn open(destination: Destination, form: Form, shared: Arc<Shared>) -> io::Result<Self> {
        let file = match &destination {
            Destination::StandardError => None,
            Destination::File(path) => Some(open(path)?),
        };
        let lines = String::new();
        Ok(Self { destination, form, shared, file, lines, gathered: 0, reported: 0, failing: false })
    }

    /// Runs until all senders are dropped.
    pub(super) fn run(mut self, entries: &Receiver<LogCommand>) {
        while let Ok(entry) = entries.recv() {
            let mut flushed = self.take(entry);
            while self.lines.len() < CHUNK
                && flushed.is_none()
                && let Ok(entry) = entries.try_recv()
            {
                flushed = self.take(entry);
            }
            self.write();
            if let Some(tell) = flushed {
                // The receiver may have timed out.
                tell.send(()).unwrap_or_default();
            }
        }
    }

    fn take(&mut self, entry: LogCommand) -> Option<tokio::sync::oneshot::Sender<()>> {
        match entry {
            LogCommand::Record(access) => {
                line::write(&mut self.lines, self.form, &access);
                self.gathered += 1;
                None
            }
            LogCommand::Wake => None,
            LogCommand::Flush(tell) => Some(tell),
        }
    }

    fn write(&mut self) {
        if self.shared.reopen.swap(false, Ordering::AcqRel) {
            self.file = None;
        }
        let dropped = self.shared.dropped.load(Ordering::Relaxed);
        if dropped > self.reported {
            line::write_dropped(&mut self.lines, self.form, dropped - self.reported);
        }
        match self.put() {
            Ok(()) => {
                self.reported = dropped;
                self.failing = false;
            }
            Err(error) => {
                self.shared.dropped.fetch_add(self.gathered, Ordering::Relaxed);
                self.file = None;
                if !self.failing {
                    tracing::warn!(%error, "the access log cannot be written; lines are only counted");
                }
                self.failing = true;
            }
        }
        self.lines.clear();
        self.gathered = 0;
    }

    fn put(&mut self) -> io::Result<()> {
        match &self.destination {
            Destination::StandardError => log_lines(&self.lines),
            Destination::File(path) => {
                let mut file = match self.file.take() {
                    Some(file) => file,
                    None => open(path)?,
                };
                file.write_all(self.lines.as_bytes())?;
                self.file = Some(file);
                Ok(())
            }
        }
    }
}

/// Opens the file for appending, readable by its owner only: it records who calls what.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, sync::mpsc::sync_channel};
    use tokio::sync::oneshot;

    fn flush(writer: Writer, before: impl FnOnce(&std::sync::mpsc::SyncSender<LogCommand>)) {
        let (queue, entries) = sync_channel(8);
        before(&queue);
        let (tell, mut told) = oneshot::channel();
        queue.send(LogCommand::Flush(tell)).unwrap();
        drop(queue);
        writer.run(&entries);
        told.try_recv().unwrap();
    }

    #[test]
    fn a_file_that_was_moved_away_is_opened_anew_when_told() {
        let dir = tempfile::tempdir().unwrap();
        let (path, moved) = (dir.path().join("a.log"), dir.path().join("a.log.1"));
        let shared = Arc::new(Shared::default());
        let writer = Writer::open(Destination::File(path.clone()), Form::Json, shared.clone()).unwrap();
        let (queue, entries) = sync_channel(8);
        let thread = std::thread::spawn(move || writer.run(&entries));
        let tell = |note: u64| {
            let record = line::tests::record(&format!("tool-{note}"));
            queue.send(LogCommand::Record(Box::new(record))).unwrap();
            let (tell, told) = oneshot::channel();
            queue.send(LogCommand::Flush(tell)).unwrap();
            told.blocking_recv().unwrap();
        };
        tell(1);
        fs::rename(&path, &moved).unwrap();
        tell(2);
        super::super::reopen(&shared, &queue);
        tell(3);
        drop(queue);
        thread.join().unwrap();
        let (old, new) = (fs::read_to_string(&moved).unwrap(), fs::read_to_string(&path).unwrap());
        assert!(old.contains("tool-1") && old.contains("tool-2") && !old.contains("tool-3"), "{old}");
        assert!(new.contains("tool-3") && new.lines().count() == 1, "{new}");
    }

    #[test]
    fn lost_lines_are_counted_and_told_of_in_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.log");
        let shared = Arc::new(Shared::default());
        shared.dropped.store(3, Ordering::Relaxed);
        let writer = Writer::open(Destination::File(path.clone()), Form::Json, shared.clone()).unwrap();
        flush(writer, |_| {});
        assert!(fs::read_to_string(&path).unwrap().ends_with("\"dropped\":3}\n"));

        let mut writer = Writer::open(Destination::File(path), Form::Json, shared.clone()).unwrap();
        writer.destination = Destination::File(dir.path().join("gone/a.log"));
        writer.file = None;
        flush(writer, |queue| {
            queue.send(LogCommand::Record(Box::new(line::tests::record("x")))).unwrap();
        });
        assert_eq!(shared.dropped.load(Ordering::Relaxed), 4);
    }
}
