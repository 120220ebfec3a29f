//! The client as the gateway's upstream: [`Connector`] opens sessions, and each is a
//! [`Connection`].

use crate::{
    Behalf, ConnectOptions, Connection, Memory, State, Target, TimeoutOwner,
    resilience::{TimeoutOptions, Timeouts},
};
use futures_util::future::{BoxFuture, FutureExt};
use std::{fmt, sync::Arc, time::Duration};
use tokio::sync::broadcast::error::RecvError;
use tracing::Instrument;
use trunkline_protocol::{
    Call, Connect, ConnectError, Fault, FaultKind, Handler, Notification, Profile, Raw, Revision, Session,
    method,
};
use trunkline_resilience::LogThrottle;

/// Limit of a single call. The gateway has its own, shorter limits; this one must outlast
/// subscriptions.
const CALL_LIMIT: Duration = Duration::from_hours(24);

/// Reported after events were dropped, because any of these may have been among them.
const CHANGES: [&str; 3] = [method::TOOLS_CHANGED, method::PROMPTS_CHANGED, method::RESOURCES_CHANGED];

/// Opens connections to one server, by its command or URL, for callers that enforce timeouts
/// themselves.
pub struct Connector {
    target: Target,
    options: ConnectOptions,
}

impl Connector {
    /// `options` are used for every session, except for the client identity and the call timeouts:
    /// the session's profile and the caller set those.
    pub fn new(target: Target, mut options: ConnectOptions) -> Self {
        let connect = options.timeouts.connect();
        let limits = TimeoutOptions { connect, call: CALL_LIMIT, ceiling: CALL_LIMIT };
        options.timeouts = Timeouts::new(limits).unwrap_or(options.timeouts);
        options.timekeeper = TimeoutOwner::Caller;
        // Later sessions use the transport and revision that the first one found.
        options.memory.get_or_insert_with(|| Arc::new(Memory::default()));
        Self { target, options }
    }
}

impl Connect for Connector {
    fn connect(&self, profile: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, ConnectError>> {
        let target = self.target.clone();
        let mut options = self.options.clone();
        options.behalf = Some(Behalf {
            capabilities: Raw::parse(profile.capabilities).unwrap_or_else(|_| Raw::empty_object()),
            client: profile.client.and_then(|client| Raw::parse(client).ok()),
        });
        async move {
            let limit = options.timeouts.connect();
            let opened = Connection::open(&target, options).await;
            let connection = opened.map_err(|fault| without_target(fault, limit))?;
            Ok(Arc::new(connection) as Arc<dyn Session>)
        }
        .boxed()
    }
}

impl Session for Connection {
    fn introduction(&self) -> Raw {
        self.introduction()
    }

    fn revision(&self) -> Revision {
        self.server().revision
    }

    fn on_event(&self, hear: Box<dyn Fn(Notification) + Send + Sync>) {
        let mut events = self.events();
        // Ends with the connection, which owns the sender.
        let hearing = async move {
            let throttle = LogThrottle::default();
            loop {
                match events.recv().await {
                    Ok(notification) => hear(Arc::unwrap_or_clone(notification)),
                    Err(RecvError::Lagged(missed)) => {
                        if let Some(missed) = throttle.count(missed) {
                            tracing::warn!(
                                missed,
                                "the server sends notifications faster than they are read"
                            );
                        }
                        for change in CHANGES {
                            hear(Notification::new(change, None));
                        }
                    }
                    Err(RecvError::Closed) => return,
                }
            }
        };
        tokio::spawn(hearing.in_current_span());
    }

    fn lost(&self) -> BoxFuture<'static, Fault> {
        let mut states = self.watch_state();
        let connection = self.clone();
        async move {
            // An error would mean that the connection was dropped, which is a loss as well.
            states.wait_for(|state| *state == State::Disconnected).await.ok();
            // A disconnected connection sends nothing and answers with the reason.
            match connection.call(Call::new(method::PING, None)).outcome().await {
                Err(fault) => fault,
                Ok(_) => Fault::new(FaultKind::ConnectionLost, "the connection is gone"),
            }
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        let connection = self.clone();
        async move { connection.close().await }.boxed()
    }
}

/// Removes the target from a timeout error: command arguments may be secrets, and readers of a
/// status know the upstream by its name.
fn without_target(fault: Fault, limit: Duration) -> Fault {
    match fault.kind() {
        FaultKind::Timeout => Fault::new(FaultKind::Timeout, format!("no connection within {limit:?}")),
        _ => fault,
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}
