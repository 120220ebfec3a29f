//! Pool: the sessions with the one server behind a bridge.
//!
//! A server of the legacy era learns once what its client can do, so clients that differ in it get sessions of their own. A
//! modern server has one for all.

use futures_util::{StreamExt, stream};
use std::{collections::HashMap, sync::Arc};
use tokio::sync::{Mutex, watch};
use trunkline_client::{Behalf, ConnectOptions, Connection, State, Target};
use trunkline_gateway::upstream::Profile;
use trunkline_protocol::{
    Call, Caller, Era, Fault, FaultKind, Handler, Notify, Part, Raw, Reply, Revision, method,
};

/// Sessions with a legacy server at once.
const MAX_SESSIONS: usize = 64;
/// The caller of calls that no client made.
const OURSELVES: &str = "trunkline";

pub(crate) struct Pool(Arc<Inner>);

struct Inner {
    target: Target,
    options: ConnectOptions,
    sessions: Mutex<HashMap<Profile, Connection>>,
    /// The session that was opened last, for calls of our own.
    newest: watch::Sender<Option<Connection>>,
}

/// What a person is told of the server.
pub(crate) struct About {
    pub(crate) name: Option<String>,
    pub(crate) revision: Revision,
}

impl Pool {
    pub(crate) fn new(target: Target, options: ConnectOptions) -> Self {
        let newest = watch::Sender::new(None);
        Self(Arc::new(Inner { target, options, sessions: Mutex::default(), newest }))
    }

    /// Opens a session before there is a client.
    pub(crate) async fn open_first(&self) -> Result<About, Fault> {
        let connection = self.0.session(Profile::of(&Caller::local(), None)).await?;
        let server = connection.server();
        Ok(About { name: server.name.clone(), revision: server.revision })
    }

    pub(crate) async fn close(&self) {
        let sessions: Vec<Connection> = self.0.sessions.lock().await.drain().map(|(_, one)| one).collect();
        futures_util::future::join_all(sessions.iter().map(Connection::close)).await;
    }
}

impl Inner {
    async fn session(&self, profile: Profile) -> Result<Connection, Fault> {
        let mut sessions = self.sessions.lock().await;
        sessions.retain(|_, connection| {
            matches!(connection.state(), State::Ready | State::Initializing | State::Connecting)
        });
        let modern = sessions.values().find(|connection| connection.server().era() == Era::Modern);
        if let Some(connection) = modern.or_else(|| sessions.get(&profile)) {
            return Ok(connection.clone());
        }
        if sessions.len() >= MAX_SESSIONS {
            return Err(Fault::new(FaultKind::Overloaded, "too many clients use this server already"));
        }
        let mut options = self.options.clone();
        options.behalf = Some(behalf_of(&profile));
        let connection = Connection::open(&self.target, options).await.inspect_err(|fault| {
            tracing::error!(%fault, "the server cannot be reached");
        })?;
        sessions.insert(profile, connection.clone());
        self.newest.send_replace(Some(connection.clone()));
        Ok(connection)
    }

    async fn for_call(&self, call: &Call) -> Result<Connection, Fault> {
        if call.caller.id == OURSELVES {
            // Nothing of ours is worth another session.
            let mut newest = self.newest.subscribe();
            let ready =
                |one: &Option<Connection>| one.as_ref().is_some_and(|one| one.state() == State::Ready);
            let found = newest.wait_for(ready).await.ok().and_then(|found| found.clone());
            return found.ok_or_else(|| Fault::new(FaultKind::NotReady, "the bridge is closed"));
        }
        self.session(Profile::of(&call.caller, call.params.as_ref())).await
    }
}

fn behalf_of(profile: &Profile) -> Behalf {
    let read = |text: &str| Raw::parse(text.to_owned().into_bytes()).ok();
    Behalf {
        capabilities: read(&profile.capabilities).unwrap_or_else(Raw::empty_object),
        client: profile.client.as_deref().and_then(read),
    }
}

impl Handler for Pool {
    fn call(&self, call: Call) -> Reply {
        let inner = self.0.clone();
        let parts = stream::once(async move {
            match inner.for_call(&call).await {
                Ok(connection) => connection.call(call).left_stream(),
                Err(fault) => stream::iter([Part::Final(Err(fault))]).right_stream(),
            }
        });
        Reply::new(parts.flatten())
    }

    fn notify(&self, notice: Notify) {
        // Only what a session of the caller's own could mean something to.
        if notice.notification.method != method::ROOTS_CHANGED {
            return;
        }
        let inner = self.0.clone();
        tokio::spawn(async move {
            let sessions = inner.sessions.lock().await;
            for (_, connection) in
                sessions.iter().filter(|(profile, _)| profile.principal == notice.caller.id)
            {
                connection.notify(notice.clone());
            }
        });
    }
}
