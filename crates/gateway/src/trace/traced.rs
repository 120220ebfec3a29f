//! Traced: a handler whose calls are steps of a trace.

use super::{
    Side, Tracer,
    open_span::{OpenSpan, open},
};
use futures_util::Stream;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};
use trunkline_protocol::{Call, Handler, Notify, Part, Reply, Session};

/// A handler whose calls are recorded as spans. Without a tracer, calls pass as they are.
#[derive(Debug)]
pub struct Traced<H> {
    inner: H,
    tracer: Option<Tracer>,
    side: Side,
    revision: Option<String>,
}

impl<H> Traced<H> {
    /// For what we serve: server spans.
    pub fn server(inner: H, tracer: Option<Tracer>) -> Self {
        Self { inner, tracer, side: Side::Server, revision: None }
    }

    fn begin(&self, call: &mut Call) -> Option<OpenSpan> {
        open(self.tracer.as_ref()?, &self.side, self.revision.as_deref(), call)
    }
}

impl Traced<Arc<dyn Session>> {
    /// For a session with an upstream: client spans that carry the server's name and revision.
    pub fn session(session: Arc<dyn Session>, tracer: Tracer, server: Arc<str>) -> Self {
        let revision = Some(session.revision().to_string());
        Self { inner: session, tracer: Some(tracer), side: Side::Client(server), revision }
    }
}

impl<H: Handler> Handler for Traced<H> {
    fn call(&self, mut call: Call) -> Reply {
        match self.begin(&mut call) {
            None => self.inner.call(call),
            Some(open) => Reply::new(Watched { reply: self.inner.call(call), open: Some(open) }),
        }
    }

    fn notify(&self, notice: Notify) {
        self.inner.notify(notice);
    }

    fn has_view(&self, view: &str) -> bool {
        self.inner.has_view(view)
    }
}

/// A reply whose end is recorded.
struct Watched {
    reply: Reply,
    open: Option<OpenSpan>,
}

impl Stream for Watched {
    type Item = Part;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Part>> {
        let part = ready!(Pin::new(&mut self.reply).poll_next(cx));
        if let Some(Part::Final(outcome)) = &part
            && let Some(open) = self.open.take()
        {
            open.end(outcome);
        }
        Poll::Ready(part)
    }
}
