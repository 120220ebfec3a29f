//! How the gateway reaches its upstreams: by a command, by an address, or in this process.

use futures_util::future::{BoxFuture, FutureExt};
use std::{future, sync::Arc, time::Duration};
use tokio::sync::broadcast::error::RecvError;
use trunkline_client::{
    Behalf, ConnectOptions, Connection, Memory, State, Target, Timekeeper,
    resilience::{TimeoutOptions, Timeouts},
};
use trunkline_gateway::upstream::{Broken, Connect, Profile, Session};
use trunkline_protocol::{
    Call, Fault, FaultKind, Handler, Notification, Notify, Raw, Reply, Revision, method,
};

/// The limit on what the connection itself waits for. The gateway has its own clocks, and a subscription lasts.
const CALL_LIMIT: Duration = Duration::from_hours(24);

/// What may have been missed when notifications came faster than they were taken.
const CHANGES: [&str; 3] = [method::TOOLS_CHANGED, method::PROMPTS_CHANGED, method::RESOURCES_CHANGED];

/// Reaches a server by its command or address.
pub(crate) struct Reach {
    target: Target,
    options: ConnectOptions,
}

/// Reaches a handler in this process; it is never lost.
pub(crate) struct InProcess(pub(crate) Arc<dyn Handler>);

impl Reach {
    /// `options` say how to connect; on whose behalf is each session's matter, and how long calls may take the gateway's.
    pub(crate) fn new(target: Target, mut options: ConnectOptions) -> Self {
        let connect = options.timeouts.connect();
        let limits = TimeoutOptions { connect, call: CALL_LIMIT, ceiling: CALL_LIMIT };
        options.timeouts = Timeouts::new(limits).unwrap_or(options.timeouts);
        options.timekeeper = Timekeeper::Caller;
        // What the first session found out, the next ones need not.
        options.memory.get_or_insert_with(|| Arc::new(Memory::default()));
        Self { target, options }
    }
}

impl Connect for Reach {
    fn connect(&self, profile: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, Broken>> {
        let target = self.target.clone();
        let mut options = self.options.clone();
        options.behalf = Some(Behalf {
            capabilities: Raw::parse(profile.capabilities).unwrap_or_else(|_| Raw::empty_object()),
            client: profile.client.and_then(|client| Raw::parse(client).ok()),
        });
        async move {
            let limit = options.timeouts.connect();
            let opened = Connection::open(&target, options).await;
            let connection = opened.map_err(|fault| broken(without_target(fault, limit)))?;
            Ok(Arc::new(Open { introduction: connection.introduction(), connection }) as Arc<dyn Session>)
        }
        .boxed()
    }
}

impl Connect for InProcess {
    fn connect(&self, _profile: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, Broken>> {
        let handler = self.0.clone();
        async move {
            let introduction =
                handler.call(Call::new(method::DISCOVER, None)).outcome().await.map_err(broken)?;
            Ok(Arc::new(Inside { handler, introduction }) as Arc<dyn Session>)
        }
        .boxed()
    }
}

/// A conversation with a server elsewhere.
struct Open {
    connection: Connection,
    introduction: Raw,
}

impl Handler for Open {
    fn call(&self, call: Call) -> Reply {
        self.connection.call(call)
    }

    fn notify(&self, notice: Notify) {
        self.connection.notify(notice);
    }
}

impl Session for Open {
    fn introduction(&self) -> Raw {
        self.introduction.clone()
    }

    fn revision(&self) -> Revision {
        self.connection.server().revision
    }

    fn on_event(&self, hear: Box<dyn Fn(Notification) + Send + Sync>) {
        let mut events = self.connection.events();
        // Ends with the connection, which has the other end.
        tokio::spawn(async move {
            loop {
                match events.recv().await {
                    Ok(notification) => hear(Arc::unwrap_or_clone(notification)),
                    Err(RecvError::Lagged(missed)) => {
                        tracing::warn!(missed, "a server tells more than can be heard");
                        for change in CHANGES {
                            hear(Notification::new(change, None));
                        }
                    }
                    Err(RecvError::Closed) => return,
                }
            }
        });
    }

    fn lost(&self) -> BoxFuture<'static, Fault> {
        let mut states = self.connection.watch_state();
        let connection = self.connection.clone();
        async move {
            // An error would mean that the connection is gone, which is what is waited for.
            states.wait_for(|state| *state == State::Disconnected).await.ok();
            // A disconnected connection sends nothing, and answers with the reason.
            match connection.call(Call::new(method::PING, None)).outcome().await {
                Err(fault) => fault,
                Ok(_) => Fault::new(FaultKind::ConnectionLost, "the connection is gone"),
            }
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        let connection = self.connection.clone();
        async move { connection.close().await }.boxed()
    }
}

/// A handler in this process.
struct Inside {
    handler: Arc<dyn Handler>,
    introduction: Raw,
}

impl Handler for Inside {
    fn call(&self, call: Call) -> Reply {
        self.handler.call(call)
    }

    fn notify(&self, notice: Notify) {
        self.handler.notify(notice);
    }
}

impl Session for Inside {
    fn introduction(&self) -> Raw {
        self.introduction.clone()
    }

    fn revision(&self) -> Revision {
        Revision::NEWEST
    }

    /// What it has to say, it says to those who listen.
    fn on_event(&self, _hear: Box<dyn Fn(Notification) + Send + Sync>) {}

    fn lost(&self) -> BoxFuture<'static, Fault> {
        future::pending().boxed()
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        future::ready(()).boxed()
    }
}

/// A connection that took too long is told with its target, whose words may be secrets; whoever reads a status knows the
/// upstream by its name.
fn without_target(fault: Fault, limit: Duration) -> Fault {
    match fault.kind() {
        FaultKind::Timeout => Fault::new(FaultKind::Timeout, format!("no connection within {limit:?}")),
        _ => fault,
    }
}

/// Whether it makes sense to try again the same way.
fn broken(fault: Fault) -> Broken {
    let permanent = matches!(
        fault.kind(),
        FaultKind::CannotStart
            | FaultKind::UrlInvalid
            | FaultKind::UrlRefused
            | FaultKind::Unauthorized
            | FaultKind::Forbidden
            | FaultKind::UnsupportedRevision
            | FaultKind::InvalidRequest
    );
    Broken { fault, permanent }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_change_can_mend_is_permanent() {
        let permanent = |kind| broken(Fault::new(kind, "")).permanent;
        assert!(permanent(FaultKind::CannotStart) && permanent(FaultKind::Unauthorized));
        for kind in
            [FaultKind::Overloaded, FaultKind::CannotConnect, FaultKind::Timeout, FaultKind::ServerExited]
        {
            assert!(!permanent(kind), "{kind:?}");
        }
    }
}
