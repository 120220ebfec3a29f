//! A span that has not ended yet.

use super::{About, Ending, Side, Span, Tracer};
use std::{
    borrow::Cow,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};
use trunkline_protocol::{
    Call, Object, Outcome, Raw,
    message::{
        TraceParent,
        meta::{PROTOCOL_VERSION, TRACEPARENT, TRACESTATE},
    },
    method,
};

/// A span under way. However it goes away, it is recorded once.
#[derive(Debug)]
pub(super) struct OpenSpan {
    tracer: Tracer,
    /// Present until it is recorded.
    span: Option<Span>,
    began: Instant,
}

/// Makes the next step of the trace that a call belongs to, and tells the call so. `None` when it is not recorded.
pub(super) fn open(
    tracer: &Tracer,
    side: &Side,
    revision: Option<&str>,
    call: &mut Call,
) -> Option<OpenSpan> {
    let mut params = match &call.params {
        None => Object::new(),
        // Without a place for `_meta` it is no request of ours to complete.
        Some(params) => params.object()?,
    };
    let mut meta = match params.get("_meta") {
        None => Object::new(),
        Some(meta) => meta.object()?,
    };
    let parent = text(&meta, TRACEPARENT).and_then(|text| text.parse::<TraceParent>().ok());
    if parent.is_some_and(|parent| !parent.is_sampled()) {
        return None;
    }
    // A subscription goes on for hours: it is a step of a trace where somebody says so, and no trace by itself.
    if parent.is_none() && call.method == method::LISTEN {
        return None;
    }
    let step = tracer.next(parent);
    let span = step.is_sampled().then(|| Span {
        trace_id: step.trace_id,
        span_id: step.span_id,
        parent: parent.map(|parent| parent.span_id),
        flags: step.flags,
        trace_state: parent.and_then(|_| text(&meta, TRACESTATE)).map(Cow::into_owned),
        side: side.clone(),
        method: call.method.clone(),
        about: About::of(&call.method, &params),
        caller: Arc::clone(&call.caller),
        view: call.view.clone(),
        revision: revision.map(str::to_owned).or_else(|| text(&meta, PROTOCOL_VERSION).map(Cow::into_owned)),
        started: SystemTime::now(),
        took: Duration::ZERO,
        // A subscription has no other end than that its caller goes away.
        ending: if call.method == method::LISTEN { Ending::Fine } else { Ending::Cancelled },
    });
    meta.set(TRACEPARENT, Raw::string(&step.to_string()));
    params.set("_meta", meta.to_raw());
    call.params = Some(params.to_raw());
    Some(OpenSpan { tracer: tracer.clone(), span: Some(span?), began: Instant::now() })
}

fn text(meta: &Object, key: &str) -> Option<Cow<'static, str>> {
    meta.get(key)?.decode().ok()
}

impl OpenSpan {
    pub(super) fn end(mut self, outcome: &Outcome) {
        if let Some(span) = &mut self.span {
            span.ending = Ending::of(&span.method, outcome);
        }
    }
}

impl Drop for OpenSpan {
    fn drop(&mut self) {
        if let Some(mut span) = self.span.take() {
            span.took = self.began.elapsed();
            self.tracer.record(span);
        }
    }
}
