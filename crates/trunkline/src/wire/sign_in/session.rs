//! Sessions of a server that each caller signs in to.

use super::{
    asking::{self, TOOL},
    desk::{Applicant, LoginDesk, Proof},
};
use futures_util::{
    StreamExt, future,
    future::{BoxFuture, FutureExt},
    stream,
};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Notify as Signal;
use trunkline_oauth::Account;
use trunkline_protocol::{
    Call, Caller, Connect, ConnectError, Fault, FaultKind, Handler, Notification, Notify, Part, Profile, Raw,
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

/// A session with the caller's tokens. It ends when they become invalid.
struct SignedInSession {
    desk: LoginDesk,
    applicant: Applicant,
    session: Arc<dyn Session>,
    signed_out: Arc<Signal>,
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
                    let signed_out = Arc::default();
                    Ok(Arc::new(SignedInSession { desk, applicant, session, signed_out }) as Arc<dyn Session>)
                }
                // The tokens turned out to be invalid.
                Err(_) if !applicant.account.is_signed_in() => {
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
        let (mut kept, account) = (self.desk.watch(), self.applicant.account.clone());
        async move {
            while !account.is_signed_in() {
                if kept.changed().await.is_err() {
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

impl Handler for SignedInSession {
    /// If the tokens have become invalid, the caller is asked to sign in again, and the call is
    /// repeated: the server has refused it unread.
    fn call(&self, call: Call) -> Reply {
        let mut rest = Some((self.desk.clone(), self.applicant.clone(), self.session.clone(), call.clone()));
        let signed_out = self.signed_out.clone();
        let reply = self.session.call(call);
        Reply::new(reply.flat_map(move |part| match part {
            Part::Final(Err(fault)) if is_refusal(&fault) => match rest.take() {
                Some((desk, applicant, session, call)) if !applicant.account.is_signed_in() => {
                    again((desk, applicant), session, call, signed_out.clone()).left_stream()
                }
                _ => stream::once(future::ready(Part::Final(Err(fault)))).right_stream(),
            },
            part => stream::once(future::ready(part)).right_stream(),
        }))
    }

    fn notify(&self, notice: Notify) {
        self.session.notify(notice);
    }
}

impl Session for SignedInSession {
    fn introduction(&self) -> Raw {
        self.session.introduction()
    }

    fn revision(&self) -> Revision {
        self.session.revision()
    }

    fn on_event(&self, listener: Box<dyn Fn(Notification) + Send + Sync>) {
        self.session.on_event(listener);
    }

    fn lost(&self) -> BoxFuture<'static, Fault> {
        let (lost, signed_out) = (self.session.lost(), self.signed_out.clone());
        async move {
            tokio::select! {
                fault = lost => fault,
                () = signed_out.notified() => Fault::new(FaultKind::Unauthorized, "the caller's login has ended"),
            }
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        self.session.close()
    }
}

fn is_refusal(fault: &Fault) -> bool {
    fault.peer().is_none() && fault.kind() == FaultKind::Unauthorized
}

/// Signs in, then sends the call again. If there is no login, the session ends.
fn again(
    (desk, applicant): (LoginDesk, Applicant),
    session: Arc<dyn Session>,
    call: Call,
    signed_out: Arc<Signal>,
) -> impl futures_util::Stream<Item = Part> + Send {
    let mut rest = Some((session, call.clone()));
    asking::sign_in(desk, applicant, call).flat_map(move |part| match (part, rest.take()) {
        (Part::Final(Ok(_)), Some((session, call))) => session.call(call).left_stream(),
        (Part::Final(outcome), _) => {
            signed_out.notify_one();
            stream::once(future::ready(Part::Final(outcome))).right_stream()
        }
        (part, kept) => {
            rest = kept;
            stream::once(future::ready(part)).right_stream()
        }
    })
}
