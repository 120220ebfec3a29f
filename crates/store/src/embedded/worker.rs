//! The thread that owns the database file.

use std::{
    error::Error,
    fs::{File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError},
    thread,
    time::Duration,
    vec,
};

use redb::{Builder, Database, DatabaseError, Durability, backends::InMemoryBackend};
use tracing::warn;

use super::{expiry::MAX_EXPIRED_AT_ONCE, tables::Tables};
use crate::StoreError;

/// Operations that may wait; more are refused.
const MAX_WAITING: usize = 4096;
/// Operations that share one transaction.
const MAX_BATCH: usize = 256;
/// Interval in which an idle store removes expired data.
const CLEANING: Duration = Duration::from_mins(1);
/// Pages that the database keeps in memory.
const CACHE: usize = 4 << 20;

/// The effect of an operation on the tables: a change needs a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    None,
    Made,
}

type Finish = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
/// An operation. It gets an error instead of the tables if they cannot be opened.
pub(super) type Job = Box<dyn FnOnce(Result<&mut Tables<'_>, StoreError>) -> (Change, Finish) + Send>;

#[derive(Debug)]
pub(super) struct Worker {
    jobs: SyncSender<Job>,
}

impl Worker {
    /// Opens the database, in memory without a path, and starts its thread. The thread ends when
    /// the worker is dropped.
    pub(super) fn start(path: Option<PathBuf>) -> Result<Self, StoreError> {
        let database = open(path.as_deref())?;
        let (jobs, waiting) = mpsc::sync_channel(MAX_WAITING);
        let serving = move || Serving { path, database: Some(database) }.serve(&waiting);
        let started = thread::Builder::new().name("store".to_owned()).spawn(serving);
        started.map_err(|error| StoreError::Unavailable(format!("no thread for the store: {error}")))?;
        Ok(Self { jobs })
    }

    pub(super) fn send(&self, job: Job) -> Result<(), StoreError> {
        self.jobs.try_send(job).map_err(|error| {
            StoreError::Unavailable(match error {
                TrySendError::Full(_) => format!("{MAX_WAITING} operations wait already"),
                TrySendError::Disconnected(_) => "the store's thread ended".to_owned(),
            })
        })
    }
}

struct Serving {
    path: Option<PathBuf>,
    /// `None` after a storage error: the database accepts nothing more and has to be opened again.
    database: Option<Database>,
}

impl Serving {
    fn serve(&mut self, waiting: &Receiver<Job>) {
        loop {
            let mut batch = match waiting.recv_timeout(CLEANING) {
                Ok(job) => vec![job],
                Err(RecvTimeoutError::Timeout) => Vec::new(),
                Err(RecvTimeoutError::Disconnected) => return,
            };
            batch.extend(waiting.try_iter().take(MAX_BATCH - 1));
            self.run(batch);
        }
    }

    /// Runs the jobs in one transaction and answers them when it is durable.
    fn run(&mut self, batch: Vec<Job>) {
        let (mut batch, mut finishing) = (batch.into_iter(), Vec::new());
        let result = self.transact(&mut batch, &mut finishing);
        if let Err(error) = &result {
            warn!(error = %error, "the store failed; it is opened again");
            self.database = None;
            finishing.extend(batch.map(|job| job(Err(error.clone())).1));
        }
        for finish in finishing {
            finish(result.clone());
        }
    }

    fn transact(
        &mut self,
        batch: &mut vec::IntoIter<Job>,
        finishing: &mut Vec<Finish>,
    ) -> Result<(), StoreError> {
        if self.database.is_none() {
            self.database = self.reopen(batch.len())?;
        }
        let Some(database) = &self.database else { return Ok(()) };
        let mut transaction = database.begin_write().map_err(failed)?;
        if self.path.is_none() {
            transaction.set_durability(Durability::None).map_err(failed)?;
        }
        let mut changed = false;
        {
            let mut tables = Tables::open(&transaction)?;
            for job in batch {
                let (change, finish) = job(Ok(&mut tables));
                changed |= change == Change::Made;
                finishing.push(finish);
            }
            changed |= tables.remove_expired(MAX_EXPIRED_AT_ONCE)?;
        }
        if changed { transaction.commit().map_err(failed) } else { transaction.abort().map_err(failed) }
    }

    /// A store in memory is not opened again: its data would be lost silently.
    fn reopen(&self, waiting: usize) -> Result<Option<Database>, StoreError> {
        match &self.path {
            Some(path) => open(Some(path)).map(Some),
            None if waiting == 0 => Ok(None),
            None => Err(StoreError::Damaged("the store in memory failed earlier".to_owned())),
        }
    }
}

fn open(path: Option<&Path>) -> Result<Database, StoreError> {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE);
    let Some(path) = path else {
        return builder.create_with_backend(InMemoryBackend::new()).map_err(failed);
    };
    builder.create_file(file(path)?).map_err(|error| match error {
        DatabaseError::DatabaseAlreadyOpen => StoreError::InUse(path.display().to_string()),
        other => failed(other),
    })
}

/// Opens or creates the file for its owner only: stored data may be confidential.
fn file(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(path)
        .map_err(|error| StoreError::Unavailable(format!("{} cannot be opened: {error}", path.display())))
}

/// The error of a failed read, write or commit. A transaction that fails changes nothing.
pub(super) fn failed(error: impl Into<redb::Error>) -> StoreError {
    let error = error.into();
    match &error {
        redb::Error::Io(cause) if cause.kind() == io::ErrorKind::StorageFull => {
            StoreError::Full(cause.to_string())
        }
        redb::Error::Io(cause) if is_quota(cause) => StoreError::Full(cause.to_string()),
        redb::Error::Corrupted(_) | redb::Error::UpgradeRequired(_) => StoreError::Damaged(error.to_string()),
        _ => StoreError::Unavailable(with_cause(&error)),
    }
}

fn is_quota(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

fn with_cause(error: &redb::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}
