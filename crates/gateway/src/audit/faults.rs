//! Injected disk faults, for tests.

use std::{
    collections::VecDeque,
    io,
    sync::{Mutex, mpsc},
};

/// The next faults. Writes and syncs consume their own lists; with an empty list the disk works.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) writes: Mutex<VecDeque<Trouble>>,
    pub(crate) syncs: Mutex<VecDeque<Trouble>>,
    /// Creating a segment fails while this is set.
    pub(crate) create: Mutex<Option<io::ErrorKind>>,
    /// A sync blocks until it receives a message from here.
    pub(crate) slow: Mutex<Option<mpsc::Receiver<()>>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Trouble {
    pub(crate) kind: io::ErrorKind,
    /// Number of bytes that reach the file before the write fails.
    pub(crate) written: usize,
}

impl Faults {
    pub(crate) fn next_write(&self) -> Option<Trouble> {
        self.writes.lock().unwrap().pop_front()
    }

    pub(crate) fn check_sync(&self) -> io::Result<()> {
        if let Some(leave) = &*self.slow.lock().unwrap() {
            leave.recv().map_err(io::Error::other)?;
        }
        match self.syncs.lock().unwrap().pop_front() {
            Some(trouble) => Err(trouble.kind.into()),
            None => Ok(()),
        }
    }

    pub(crate) fn check_create(&self) -> io::Result<()> {
        self.create.lock().unwrap().map_or(Ok(()), |kind| Err(kind.into()))
    }
}
