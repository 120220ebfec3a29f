//! Traced: a handler whose calls are recorded as spans.

use super::{
    Side, Tracer,
    open_span::{OpenSpan, open},
};
use std::sync::Arc;
use trunkline_protocol::{Call, Handler, Reply, Session};

/// A handler whose calls are recorded as spans. Without a tracer, calls are not changed.
#[derive(Debug)]
pub struct Traced<H> {
    inner: H,
    tracer: Option<Tracer>,
    side: Side,
    revision: Option<String>,
}

impl<H> Traced<H> {
    /// Records server spans.
    pub fn server(inner: H, tracer: Option<Tracer>) -> Self {
        Self { inner, tracer, side: Side::Server, revision: None }
    }

    fn begin(&self, call: &mut Call) -> Option<OpenSpan> {
        open(self.tracer.as_ref()?, &self.side, self.revision.as_deref(), call)
    }
}

impl Traced<Arc<dyn Session>> {
    /// Records client spans of a session with an upstream, with the server's name and revision.
    pub fn session(session: Arc<dyn Session>, tracer: Tracer, server: Arc<str>) -> Self {
        let revision = Some(session.revision().to_string());
        Self { inner: session, tracer: Some(tracer), side: Side::Client(server), revision }
    }
}

impl<H: Handler> Handler for Traced<H> {
    fn call(&self, mut call: Call) -> Reply {
        match self.begin(&mut call) {
            None => self.inner.call(call),
            Some(open) => self.inner.call(call).on_final(move |outcome| open.end(outcome)),
        }
    }

    fn inner(&self) -> Option<&dyn Handler> {
        Some(&self.inner)
    }
}
