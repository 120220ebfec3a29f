//! HTTP/1.1 over plain `http`, with connections kept for the next request.
//!
//! Whoever asks and reads the answer moves the connection along ([`Line`]), so that no other task has to be woken for it. It comes
//! back when the answer has been read to its exact end. Secure connections, which may speak HTTP/2, are the business of the other
//! pool.

mod asking;
mod body;
mod head;
mod line;
mod trial;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::{Handle, Id};

use super::connector::{Connecting, Connector};
use super::options::HttpOptions;
use super::target::Target;
use line::Line;

pub(super) use asking::Asking;
pub(super) use body::PlainBody;
pub use trial::{End, Heard, hear};

/// The pool of plain connections.
pub(super) struct PlainPool {
    connector: Connector,
    kept: Arc<Kept>,
    sweeping: Once,
}

/// Unused connections by the authority they lead to.
pub(super) struct Kept<S = TcpStream> {
    places: Mutex<Places<S>>,
    most: usize,
    idle: Duration,
}

type Places<S> = BTreeMap<Arc<str>, Vec<Shelf<S>>>;

/// The unused connections of one runtime. A connection wakes the runtime that it was made in, so another one that used it would
/// be woken across threads.
struct Shelf<S> {
    runtime: Id,
    /// Boxed, so that a connection comes and goes without being copied.
    lines: Vec<Box<Line<S>>>,
}

impl PlainPool {
    pub(super) fn new(connector: Connector, options: &HttpOptions) -> Self {
        let kept =
            Kept { places: Mutex::default(), most: options.pool_max_idle, idle: options.pool_idle_timeout };
        Self { connector, kept: Arc::new(kept), sweeping: Once::new() }
    }

    fn connect(&self, target: &Target) -> Connecting {
        self.sweeping.call_once(|| {
            tokio::spawn(sweep(Arc::downgrade(&self.kept)));
        });
        self.connector.plain(target.uri())
    }
}

impl Kept {
    /// A connection that can take a request.
    fn take(&self, authority: &str) -> Option<Box<Line>> {
        let here = Handle::current().id();
        loop {
            // The one used last is the least likely to have been closed.
            let line = Shelf::of(here, self.places().get_mut(authority)?)?.lines.pop()?;
            if !line.is_older_than(self.idle) && line.is_quiet() {
                return Some(line);
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Kept<S> {
    fn keep(&self, mut line: Box<Line<S>>) {
        line.rest();
        let runtime = line.runtime();
        let mut places = self.places();
        let shelves = match places.get_mut(line.authority()) {
            Some(shelves) => shelves,
            None => places.entry(Arc::clone(line.authority())).or_default(),
        };
        match Shelf::of(runtime, shelves) {
            // Beyond the limit it is closed.
            Some(shelf) if shelf.lines.len() >= self.most => {}
            Some(shelf) => shelf.lines.push(line),
            None => shelves.push(Shelf { runtime, lines: vec![line] }),
        }
    }

    fn places(&self) -> MutexGuard<'_, Places<S>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> Shelf<S> {
    fn of(runtime: Id, shelves: &mut [Self]) -> Option<&mut Self> {
        shelves.iter_mut().find(|shelf| shelf.runtime == runtime)
    }
}

/// Lets go of what nobody used for long, as long as there is a pool.
async fn sweep(kept: std::sync::Weak<Kept>) {
    loop {
        let Some(idle) = kept.upgrade().map(|kept| kept.idle) else { return };
        tokio::time::sleep(idle).await;
        let Some(kept) = kept.upgrade() else { return };
        kept.places().retain(|_, shelves| {
            shelves.retain_mut(|shelf| {
                shelf.lines.retain(|line| !line.is_older_than(kept.idle));
                !shelf.lines.is_empty()
            });
            !shelves.is_empty()
        });
    }
}
