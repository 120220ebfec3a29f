//! Idle client connections, kept for the next request.

use super::connection::Connection;
use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Once, Weak},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::{Handle, Id},
};

/// Idle connections by authority.
pub struct Pool<S> {
    idle: Mutex<IdleConnections<S>>,
    max_idle: usize,
    idle_timeout: Duration,
    sweeper: Once,
}

type IdleConnections<S> = BTreeMap<Arc<str>, Vec<RuntimeConnections<S>>>;

/// The idle connections of one runtime. A stream wakes the runtime that it was created in, so
/// another runtime that used it would be woken across threads.
struct RuntimeConnections<S> {
    runtime: Id,
    /// Boxed: taking and returning a connection moves a pointer, not the struct.
    connections: Vec<Box<Connection<S>>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Pool<S> {
    /// Keeps up to `max_idle` connections per authority and runtime, for `idle_timeout` each.
    pub fn new(max_idle: usize, idle_timeout: Duration) -> Arc<Self> {
        Arc::new(Self { idle: Mutex::default(), max_idle, idle_timeout, sweeper: Once::new() })
    }

    /// A connection that can take a request.
    pub fn take(&self, authority: &str) -> Option<Box<Connection<S>>> {
        let runtime = Handle::current().id();
        loop {
            // The one used last is the least likely to have been closed.
            let mut connection = self.pop(authority, runtime)?;
            if !connection.is_idle_for(self.idle_timeout) && connection.is_quiet() {
                return Some(connection);
            }
        }
    }

    pub(super) fn put(&self, mut connection: Box<Connection<S>>) {
        if self.max_idle == 0 {
            return;
        }
        connection.set_idle();
        let runtime = connection.runtime();
        let mut idle = self.idle();
        let of_authority = match idle.get_mut(connection.authority()) {
            Some(of_authority) => of_authority,
            None => idle.entry(Arc::clone(connection.authority())).or_default(),
        };
        match of_authority.iter_mut().find(|kept| kept.runtime == runtime) {
            // Beyond the limit it is closed.
            Some(kept) if kept.connections.len() >= self.max_idle => {}
            Some(kept) => kept.connections.push(connection),
            None => of_authority.push(RuntimeConnections { runtime, connections: vec![connection] }),
        }
    }

    /// Closes connections whose idle timeout has passed, from a task that runs as long as the pool.
    pub fn start_sweeper(self: &Arc<Self>)
    where
        S: Send + 'static,
    {
        self.sweeper.call_once(|| {
            tokio::spawn(sweep(Arc::downgrade(self)));
        });
    }

    /// True if no connection is kept.
    pub fn is_empty(&self) -> bool {
        self.idle().is_empty()
    }

    fn pop(&self, authority: &str, runtime: Id) -> Option<Box<Connection<S>>> {
        self.idle().get_mut(authority)?.iter_mut().find(|kept| kept.runtime == runtime)?.connections.pop()
    }

    fn idle(&self) -> MutexGuard<'_, IdleConnections<S>> {
        self.idle.lock()
    }
}

async fn sweep<S: AsyncRead + AsyncWrite + Unpin>(pool: Weak<Pool<S>>) {
    loop {
        let Some(idle_timeout) = pool.upgrade().map(|pool| pool.idle_timeout) else { return };
        tokio::time::sleep(idle_timeout).await;
        let Some(pool) = pool.upgrade() else { return };
        pool.idle().retain(|_, of_authority| {
            of_authority.retain_mut(|kept| {
                kept.connections.retain(|connection| !connection.is_idle_for(idle_timeout));
                !kept.connections.is_empty()
            });
            !of_authority.is_empty()
        });
    }
}

impl<S> fmt::Debug for Pool<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("max_idle", &self.max_idle).finish_non_exhaustive()
    }
}
