//! A tap on the connection: a callback that gets a copy of every frame.

use std::{fmt, sync::Arc};

/// The direction of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From us to the server.
    Sent,
    /// From the server to us.
    Received,
    /// From the server, but not a message: a line on its standard output that is not JSON.
    Noise,
}

/// Called with every frame, in the order in which they are sent and received.
#[derive(Clone)]
pub struct FrameTap(Arc<Callback>);

type Callback = dyn Fn(Direction, &[u8]) + Send + Sync;

impl FrameTap {
    pub fn new(callback: impl Fn(Direction, &[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(callback))
    }

    pub(crate) fn observe(tap: Option<&Self>, direction: Direction, frame: &[u8]) {
        if let Some(Self(callback)) = tap {
            callback(direction, frame);
        }
    }
}

impl fmt::Debug for FrameTap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FrameTap")
    }
}
