//! Disk trouble on demand, for tests.

use std::{
    collections::VecDeque,
    io,
    sync::{Mutex, mpsc},
};

/// What goes wrong next. Writes and syncs each work through their own list; an empty list is a healthy disk.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) writes: Mutex<VecDeque<Trouble>>,
    pub(crate) syncs: Mutex<VecDeque<Trouble>>,
    /// Creating a segment fails while this is set.
    pub(crate) create: Mutex<Option<io::ErrorKind>>,
    /// A sync waits here for leave.
    pub(crate) slow: Mutex<Option<mpsc::Receiver<()>>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Trouble {
    pub(crate) kind: io::ErrorKind,
    /// How much of a write reaches the file before it fails.
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
