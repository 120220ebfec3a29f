//! A layer around every session that a [`Connect`] opens.

use futures_util::future::BoxFuture;
use std::sync::Arc;
use trunkline_protocol::{
    Call, Connect, ConnectError, Fault, Handler, Notification, Profile, Raw, Reply, Revision, Session,
};

/// Puts a layer around each session that `inner` opens: calls go through the handler that `wrap`
/// makes of the session.
pub fn layered<H: Handler + 'static>(
    inner: Arc<dyn Connect>,
    wrap: impl Fn(Arc<dyn Session>) -> H + Send + Sync + 'static,
) -> Arc<dyn Connect> {
    Arc::new(Layered { inner, wrap: Arc::new(wrap) })
}

struct Layered<W> {
    inner: Arc<dyn Connect>,
    wrap: Arc<W>,
}

/// A session whose calls go through `handler`, which ends in the session itself.
struct Around<H> {
    session: Arc<dyn Session>,
    handler: H,
}

impl<H, W> Connect for Layered<W>
where
    H: Handler + 'static,
    W: Fn(Arc<dyn Session>) -> H + Send + Sync + 'static,
{
    fn connect(&self, profile: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, ConnectError>> {
        let (connecting, wrap) = (self.inner.connect(profile), Arc::clone(&self.wrap));
        Box::pin(async move {
            let session = connecting.await?;
            let handler = wrap(Arc::clone(&session));
            Ok(Arc::new(Around { session, handler }) as Arc<dyn Session>)
        })
    }
}

impl<H: Handler> Handler for Around<H> {
    fn call(&self, call: Call) -> Reply {
        self.handler.call(call)
    }

    fn inner(&self) -> Option<&dyn Handler> {
        Some(&self.handler)
    }
}

impl<H: Handler> Session for Around<H> {
    fn introduction(&self) -> Raw {
        self.session.introduction()
    }

    fn revision(&self) -> Revision {
        self.session.revision()
    }

    fn on_event(&self, listener: Box<dyn Fn(Notification) + Send + Sync>) {
        self.session.on_event(listener);
    }

    fn sign_in_tool(&self) -> Option<&'static str> {
        self.session.sign_in_tool()
    }

    fn own_tools(&self) -> &'static [&'static str] {
        self.session.own_tools()
    }

    fn lost(&self) -> BoxFuture<'static, Fault> {
        self.session.lost()
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        self.session.close()
    }
}
