//! Connections to an upstream whose calls are client spans.

use super::{Traced, Tracer};
use crate::{
    around::Around,
    upstream::{Broken, Connect, Profile, Session},
};
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// The same way to reach a server, with a client span for each call that goes there. Without a tracer, the way itself.
pub fn connect(
    inner: Arc<dyn Connect>,
    tracer: Option<Tracer>,
    server: impl Into<Arc<str>>,
) -> Arc<dyn Connect> {
    match tracer {
        None => inner,
        Some(tracer) => Arc::new(TracedConnect { inner, tracer, server: server.into() }),
    }
}

struct TracedConnect {
    inner: Arc<dyn Connect>,
    tracer: Tracer,
    server: Arc<str>,
}

impl Connect for TracedConnect {
    fn connect(&self, profile: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, Broken>> {
        let connecting = self.inner.connect(profile);
        let (tracer, server) = (self.tracer.clone(), Arc::clone(&self.server));
        Box::pin(async move {
            let session = connecting.await?;
            let revision = session.revision().to_string();
            let handler = Traced::client(Arc::clone(&session), Some(tracer), server, Some(revision));
            Ok(Arc::new(Around { session, handler }) as Arc<dyn Session>)
        })
    }
}
