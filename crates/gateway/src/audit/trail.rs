//! Trail: the handle to a trail that is open for writing.

use super::{
    OpenError, Options, Status,
    disk::Disk,
    journal::Journal,
    members::{CallId, Members},
    record::Record,
    recover::{self, Recovered},
    redact::mask,
    signing::{self, PublicKey, SignedHead, Signer, Signing, SigningKey},
    status::Health,
    writer::Writer,
};
use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Instant,
};
use tokio::sync::OwnedSemaphorePermit;
use trunkline_protocol::{Fault, FaultKind};

/// A trail that is open for writing. Clones share it; dropping the last one blocks until
/// everything is on disk.
#[derive(Debug, Clone)]
pub struct Trail(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    journal: Arc<Journal>,
    health: Arc<Health>,
    options: Options,
    /// Prefix of call ids, unique to this process.
    process: String,
    calls: AtomicU64,
    writer: Option<JoinHandle<()>>,
    signer: Option<(Arc<Signer>, JoinHandle<()>)>,
}

impl Trail {
    /// Opens the trail in `dir` and continues after its last record. Creates the directory if it
    /// does not exist.
    pub fn open(dir: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let dir = dir.as_ref();
        let failed = |error| OpenError::Io(dir.to_owned(), error);
        let disk = Disk::open(dir)?;
        #[cfg(test)]
        let disk = disk.with_faults(&options.faults);
        let mut recovered = recover::recover(&disk, dir)?;
        if let Some(signing) = &options.signing {
            check_signed(&disk, dir, signing, recovered.last.seq)?;
        }
        let endings = std::mem::take(&mut recovered.endings);
        let health = Arc::new(Health::default());
        let shared = disk.share();
        let mut writer = Writer::start(disk, recovered, Arc::clone(&health), &options).map_err(failed)?;
        let signer = options.signing.clone().map(|signing| start_signer(signing, shared, &health));
        let signer = signer.transpose().map_err(failed)?;
        if let Some((signer, _)) = &signer {
            // Signed before the first call is recorded, so that a trail with calls has a head even
            // if its writer is killed early.
            writer.sign_with(Arc::clone(signer)).map_err(failed)?;
        }
        let journal = Arc::new(Journal::new(writer, &options));
        for members in endings {
            journal.put(Record::new(members, Instant::now()));
        }
        let shared = Arc::clone(&journal);
        let writer =
            thread::Builder::new().name("audit".to_owned()).spawn(move || shared.run()).map_err(failed)?;
        let process = uuid::Uuid::new_v4().simple().to_string()[..8].to_owned();
        let calls = AtomicU64::new(0);
        Ok(Self(Arc::new(Inner { journal, health, options, process, calls, writer: Some(writer), signer })))
    }

    /// Records an event that is not a call, such as a refused token. `what` is a machine-readable
    /// word.
    pub fn event(&self, what: &str, caller: &str, detail: &str) {
        let Some(slot) = self.slot() else { return self.0.health.lose() };
        let members = Members::new("event")
            .text("what", what)
            .text("caller", caller)
            .text("detail", &mask(detail))
            .finish();
        self.0.journal.put(Record::new(members, Instant::now()).holding(slot));
    }

    /// The health of the trail, for health checks and metrics.
    pub fn status(&self) -> Status {
        self.0.health.status().clone()
    }

    pub(super) fn options(&self) -> &Options {
        &self.0.options
    }

    pub(super) fn journal(&self) -> &Arc<Journal> {
        &self.0.journal
    }

    /// Returns a slot if one is free.
    pub(super) fn slot(&self) -> Option<OwnedSemaphorePermit> {
        self.0.journal.try_slot()
    }

    /// Waits for a slot.
    pub(super) async fn next_slot(self) -> Result<OwnedSemaphorePermit, Fault> {
        let slot = self.0.journal.slot(self.0.options.patience).await;
        slot.ok_or_else(|| {
            self.0.health.lose();
            Fault::new(FaultKind::Overloaded, "the audit trail cannot keep up; try again later")
        })
    }

    /// A unique id for a new call.
    pub(super) fn next_id(&self) -> CallId<'_> {
        CallId::Made { process: &self.0.process, number: self.0.calls.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.journal.close();
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("ALARM: the writer of the audit trail panicked");
        }
        // After the writer, so that the last record is signed.
        if let Some((signer, thread)) = self.signer.take() {
            signer.close();
            if thread.join().is_err() {
                tracing::error!("ALARM: the signer of the audit trail panicked");
            }
        }
    }
}

fn start_signer(
    signing: Signing,
    disk: Disk,
    health: &Arc<Health>,
) -> io::Result<(Arc<Signer>, JoinHandle<()>)> {
    let chain = disk.first_hash()?;
    let signer = Arc::new(Signer::new(signing, disk, chain, Arc::clone(health)));
    let shared = Arc::clone(&signer);
    let thread = thread::Builder::new().name("audit-signer".to_owned()).spawn(move || shared.run())?;
    Ok((signer, thread))
}

/// Signs the head of a trail that has records and no signed head, as it is. No process may be
/// writing it. Its records have to be verified before.
pub fn sign_existing(dir: &Path, key: &SigningKey) -> Result<SignedHead, OpenError> {
    let failed = |error| OpenError::Io(dir.to_owned(), error);
    let disk = Disk::open(dir)?;
    if signing::read(&disk).map_err(failed)?.is_some() {
        return Err(failed(io::Error::other("it has a signed head already")));
    }
    let Recovered { last, segment, .. } = recover::recover(&disk, dir)?;
    let segment = segment.ok_or_else(|| failed(io::Error::other("it has no records")))?;
    let head = SignedHead::sign(key, &disk.first_hash().map_err(failed)?, &last, segment.number);
    signing::write(&disk, &head).map_err(failed)?;
    Ok(head)
}

/// The records that begin a trail. They are written before the first head is signed.
const BEGINNING: u64 = 2;

/// Refuses a trail that differs from its own signed head, or that has lost it: a new head would
/// approve the change.
fn check_signed(disk: &Disk, dir: &Path, signing: &Signing, last: u64) -> Result<(), OpenError> {
    let damaged = |text: String| OpenError::Damaged(dir.to_owned(), text);
    let text = signing::read(disk).map_err(|error| OpenError::Io(dir.to_owned(), error))?;
    let Some(text) = text else {
        return if last > BEGINNING { Err(OpenError::Unsigned(dir.to_owned())) } else { Ok(()) };
    };
    let public: PublicKey = signing.key.public();
    let head = SignedHead::read(&text, &public)
        .map_err(|error| damaged(format!("its signed head does not count: {error}")))?;
    match signing::continues(disk, &head) {
        Ok(true) => Ok(()),
        _ => Err(damaged(format!("its record {} is not the one that was signed", head.seq))),
    }
}
