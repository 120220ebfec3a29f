//! In-process upstreams: a handler of this process, such as a built-in pack, as a server.

use futures_util::future::{BoxFuture, FutureExt};
use std::{fmt, future, sync::Arc};
use trunkline_protocol::{
    Call, Connect, ConnectError, Fault, FaultKind, Handler, Notification, Notify, Profile, Raw, Reply,
    Revision, Session, method,
};

/// Opens sessions with a handler in this process. They are never lost.
pub struct InProcess(pub Arc<dyn Handler>);

struct InProcessSession {
    handler: Arc<dyn Handler>,
    introduction: Raw,
}

impl Connect for InProcess {
    fn connect(&self, _profile: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, ConnectError>> {
        let handler = self.0.clone();
        async move {
            let introduction = handler.call(Call::new(method::DISCOVER, None)).outcome().await?;
            Ok(Arc::new(InProcessSession { handler, introduction }) as Arc<dyn Session>)
        }
        .boxed()
    }
}

/// Opens no session: the server has one for each caller's identity.
pub(super) struct NoSession;

impl Connect for NoSession {
    fn connect(&self, _profile: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, ConnectError>> {
        let fault = Fault::new(FaultKind::NotReady, "this server is reached only on behalf of a caller");
        future::ready(Err(ConnectError { fault, permanent: true })).boxed()
    }
}

impl Handler for InProcessSession {
    fn call(&self, call: Call) -> Reply {
        self.handler.call(call)
    }

    fn notify(&self, notice: Notify) {
        self.handler.notify(notice);
    }
}

impl Session for InProcessSession {
    fn introduction(&self) -> Raw {
        self.introduction.clone()
    }

    fn revision(&self) -> Revision {
        Revision::NEWEST
    }

    /// Never called: the handler sends notifications only in replies to subscriptions.
    fn on_event(&self, _listener: Box<dyn Fn(Notification) + Send + Sync>) {}

    fn lost(&self) -> BoxFuture<'static, Fault> {
        future::pending().boxed()
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        future::ready(()).boxed()
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InProcess")
    }
}
