//! A tap on the connection: a callback that gets a copy of every frame.

use std::{fmt, sync::Arc};

/// Which way a frame went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From us to the server.
    Sent,
    /// From the server to us.
    Received,
    /// From the server, and no message: a line on its standard output that is not JSON.
    Noise,
}

/// Called with every frame, in the order in which they pass.
#[derive(Clone)]
pub struct Tap(Arc<See>);

type See = dyn Fn(Direction, &[u8]) + Send + Sync;

impl Tap {
    pub fn new(see: impl Fn(Direction, &[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(see))
    }

    pub(crate) fn see(tap: Option<&Self>, direction: Direction, frame: &[u8]) {
        if let Some(Self(see)) = tap {
            see(direction, frame);
        }
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}
