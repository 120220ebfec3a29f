//! The life of a connection, step by step.

use std::fmt;
use tokio::sync::watch;
use trunkline_protocol::{Fault, FaultKind};

/// Where a connection is in its life. The states follow each other in this order, and end where they began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Disconnected,
    /// The process starts or the address is called.
    Connecting,
    /// The two sides find out about each other.
    Initializing,
    Ready,
    ShuttingDown,
}

/// The state of one connection; anyone may watch it, only the connection moves it.
#[derive(Debug)]
pub(crate) struct Life(watch::Sender<State>);

impl Life {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(State::Disconnected))
    }

    pub(crate) fn watch(&self) -> watch::Receiver<State> {
        self.0.subscribe()
    }

    pub(crate) fn state(&self) -> State {
        *self.0.borrow()
    }

    /// Moves on. A move that the order does not have (say, from `ShuttingDown` back to `Ready`) is not made.
    pub(crate) fn enter(&self, next: State) -> Moved {
        let moved = self.0.send_if_modified(|state| {
            let allowed = follows(*state, next);
            if allowed {
                *state = next;
            }
            allowed
        });
        if moved { Moved::Yes } else { Moved::No }
    }

    /// Only a ready connection takes requests.
    pub(crate) fn check_ready(&self) -> Result<(), Fault> {
        match self.state() {
            State::Ready => Ok(()),
            other => Err(Fault::new(FaultKind::NotReady, format!("the connection is {other}, not ready"))),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moved {
    Yes,
    No,
}

fn follows(from: State, to: State) -> bool {
    use State::{Connecting, Disconnected, Initializing, Ready, ShuttingDown};
    matches!(
        (from, to),
        (Disconnected, Connecting)
            | (Connecting, Initializing | Disconnected)
            // Back to `Connecting`: a process that died on the probe is started again.
            | (Initializing, Ready | Connecting | Disconnected)
            // Back to `Initializing`: the server forgot the session, and is asked once more.
            | (Ready, Initializing | ShuttingDown | Disconnected)
            | (ShuttingDown, Disconnected)
    )
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disconnected => "disconnected",
            Self::Connecting => "connecting",
            Self::Initializing => "initializing",
            Self::Ready => "ready",
            Self::ShuttingDown => "shutting down",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_states_follow_in_order_and_no_other_way() {
        let life = Life::new();
        assert_eq!(life.enter(State::Ready), Moved::No);
        for state in
            [State::Connecting, State::Initializing, State::Ready, State::ShuttingDown, State::Disconnected]
        {
            assert_eq!(life.enter(state), Moved::Yes, "{state}");
        }
        assert_eq!(life.enter(State::ShuttingDown), Moved::No);
    }

    #[test]
    fn only_a_ready_connection_takes_requests() {
        let life = Life::new();
        for state in [State::Connecting, State::Initializing] {
            life.enter(state);
            let fault = life.check_ready().unwrap_err();
            assert_eq!(fault.entry().code, "E221");
            assert!(fault.to_string().contains(&state.to_string()));
        }
        life.enter(State::Ready);
        assert!(life.check_ready().is_ok());
        life.enter(State::ShuttingDown);
        assert!(life.check_ready().is_err());
    }
}
