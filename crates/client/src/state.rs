//! The state machine of a connection.

use std::fmt;
use tokio::sync::watch;
use trunkline_protocol::{Fault, FaultKind};

/// The state of a connection. The states follow in this order, and `ShuttingDown` ends in
/// `Disconnected`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Disconnected,
    /// The process is being started, or the URL is being connected to.
    Connecting,
    /// The handshake is in progress.
    Initializing,
    Ready,
    ShuttingDown,
}

/// The state of one connection; anyone may watch it, only the connection changes it.
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

    /// Changes the state. An invalid transition (say, from `ShuttingDown` back to `Ready`) is
    /// ignored.
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

    /// Fails unless the connection is ready for requests.
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
            // Back to `Initializing`: the server lost the session, and a new one is opened.
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
