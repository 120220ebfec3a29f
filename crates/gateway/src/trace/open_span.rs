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

/// A span that has not ended. It is recorded once, when it is dropped.
#[derive(Debug)]
pub(super) struct OpenSpan {
    tracer: Tracer,
    /// Present until it is recorded.
    span: Option<Span>,
    began: Instant,
}

/// Opens the next span of the call's trace and writes its id into the call. `None` if it is not
/// recorded.
pub(super) fn open(
    tracer: &Tracer,
    side: &Side,
    revision: Option<&str>,
    call: &mut Call,
) -> Option<OpenSpan> {
    let mut params = match &call.params {
        None => Object::new(),
        // Parameters that are no object cannot have `_meta`.
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
    // A subscription may run for hours: it joins the trace of its client but begins none.
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
        // A subscription normally ends by being cancelled.
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
