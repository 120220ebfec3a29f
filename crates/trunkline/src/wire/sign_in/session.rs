//! Sessions of a server that each caller signs in to.

use super::{
    asking::{self, TOOL},
    desk::{Applicant, LoginDesk, Proof},
    signed_in::{SignedInSession, is_refusal},
};
use futures_util::{
    future,
    future::{BoxFuture, FutureExt},
};
use serde_json::json;
use std::sync::Arc;
use trunkline_oauth::Account;
use trunkline_protocol::{
    Call, Caller, Connect, ConnectError, Fault, FaultKind, Handler, Notification, Notify, Profile, Raw,
    Reply, Revision, ServerName, Session, message::meta, method,
};

/// Opens a session with the caller's login, or one that signs in.
pub(crate) struct LoginConnect {
    desk: LoginDesk,
    applicant: Applicant,
    /// Connects with the tokens of the applicant's account.
    inner: Arc<dyn Connect>,
}

/// Stands for the server while the caller has no login: its only tool signs in.
struct SignInSession {
    desk: LoginDesk,
    applicant: Applicant,
}

impl LoginConnect {
    pub(crate) fn new(
        desk: LoginDesk,
        caller: &Caller,
        server: &ServerName,
        account: Account,
        inner: Arc<dyn Connect>,
    ) -> Self {
        let proof = if Caller::is_local(caller) { Proof::OnlyCaller } else { Proof::Code };
        let applicant = Applicant { caller: caller.id.clone(), server: server.clone(), account, proof };
        Self { desk, applicant, inner }
    }
}

impl Connect for LoginConnect {
    fn connect(&self, profile: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, ConnectError>> {
        let (desk, applicant) = (self.desk.clone(), self.applicant.clone());
        let connecting = self.inner.connect(profile);
        async move {
            if !applicant.account.is_signed_in() {
                return Ok(Arc::new(SignInSession { desk, applicant }) as Arc<dyn Session>);
            }
            match connecting.await {
                Ok(session) => {
                    Ok(Arc::new(SignedInSession::new(desk, applicant, session)) as Arc<dyn Session>)
                }
                // The tokens turned out to be invalid, or to lack scopes that the server wants even
                // for its lists.
                Err(error) if is_refusal(&error.fault) && !applicant.is_settled() => {
                    Ok(Arc::new(SignInSession { desk, applicant }) as Arc<dyn Session>)
                }
                Err(error) => Err(error),
            }
        }
        .boxed()
    }
}

impl Handler for SignInSession {
    fn call(&self, call: Call) -> Reply {
        match call.method.as_ref() {
            method::TOOLS_LIST => {
                Reply::ready(Ok(json!({"tools": [asking::tool(self.applicant.server.as_ref())]}).into()))
            }
            method::TOOLS_CALL => asking::sign_in(self.desk.clone(), self.applicant.clone(), call),
            method::DISCOVER => Reply::ready(Ok(self.introduction())),
            method::PING => Reply::ready(Ok(Raw::empty_object())),
            method => {
                let text = format!("`{method}` needs a login; the tool `{TOOL}` signs in");
                Reply::ready(Err(Fault::new(FaultKind::NotAvailable, text)))
            }
        }
    }

    fn notify(&self, _notice: Notify) {}
}

impl Session for SignInSession {
    fn introduction(&self) -> Raw {
        json!({
            "supportedVersions": [Revision::NEWEST.as_str()],
            "capabilities": {"tools": {}},
            "_meta": {(meta::SERVER_INFO): {"name": "trunkline", "version": env!("CARGO_PKG_VERSION")}},
        })
        .into()
    }

    fn revision(&self) -> Revision {
        Revision::NEWEST
    }

    fn on_event(&self, _listener: Box<dyn Fn(Notification) + Send + Sync>) {}

    fn sign_in_tool(&self) -> Option<&'static str> {
        Some(TOOL)
    }

    fn lost(&self) -> BoxFuture<'static, Fault> {
        let (mut changes, applicant) = (self.desk.watch(), self.applicant.clone());
        async move {
            while !applicant.is_settled() {
                if changes.changed().await.is_err() {
                    return future::pending().await;
                }
            }
            Fault::new(FaultKind::NotReady, "the caller signed in")
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        future::ready(()).boxed()
    }
}
