//! [`Logged`]: a handler layer that writes calls to the access log.

use super::{
    Access, AccessHook, AccessTransport, CallEnding,
    note::{CallOrigin, Note},
};
use std::{
    borrow::Cow,
    fmt,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};
use trunkline_protocol::{
    Call, Caller, Handler, Outcome, Raw, Reply,
    message::{TraceParent, meta},
    method,
};

/// Longer target names are truncated to this many bytes.
const MAX_TARGET: usize = 512;

/// A layer that writes calls to the access log.
pub struct Logged<H> {
    inner: H,
    hook: AccessHook,
}

impl<H> Logged<H> {
    pub fn new(inner: H, hook: AccessHook) -> Self {
        Self { inner, hook }
    }
}

impl<H: Handler> Handler for Logged<H> {
    fn call(&self, call: Call) -> Reply {
        // The server's own subscription is not logged.
        if Caller::is_ourselves(&call.caller) && call.method == method::LISTEN {
            return self.inner.call(call);
        }
        let note = match Note::of(&call.method) {
            CallOrigin::Ours => return self.inner.call(call),
            CallOrigin::Request(note) => Some(note),
            CallOrigin::Duplex => None,
        };
        let access = access(&call);
        if let Some(note) = &note {
            // Filled in now, because the request may end before the call does.
            note.begin(&access);
        }
        let open = OpenCall { hook: self.hook.clone(), note, access: Some(access), began: Instant::now() };
        self.inner.call(call).on_final(move |outcome| open.end(outcome))
    }

    fn inner(&self) -> Option<&dyn Handler> {
        Some(&self.inner)
    }
}

/// A record with everything known at the start. A call dropped before its outcome is cancelled.
fn access(call: &Call) -> Access {
    let params = call.params.as_ref();
    let target =
        method::named_by(&call.method).and_then(|member| params?.member_as::<Cow<'static, str>>(member));
    let parent = meta::get(params, meta::TRACEPARENT).and_then(|raw| raw.decode::<String>().ok());
    Access {
        at: SystemTime::now(),
        took: Duration::ZERO,
        way: AccessTransport::Stream { view: call.view.clone() },
        caller: Some(call.caller.clone()),
        method: Some(call.method.clone()),
        target: target.map(|target| target[..target.floor_char_boundary(MAX_TARGET)].to_owned()),
        ending: Some(CallEnding::Cancelled),
        bytes_in: params.map_or(0, |params| params.as_bytes().len() as u64),
        bytes_out: 0,
        trace_id: parent.and_then(|text| text.parse::<TraceParent>().ok()).map(|parent| parent.trace_id),
        session: None,
        cut: false,
    }
}

/// A call in flight. When it is dropped, it is recorded: in the note of its request, or in a
/// record of its own.
struct OpenCall {
    hook: AccessHook,
    note: Option<Arc<Note>>,
    access: Option<Access>,
    began: Instant,
}

impl OpenCall {
    fn end(mut self, outcome: &Outcome) {
        if let Some(access) = &mut self.access {
            let asked = access.method.as_deref().unwrap_or_default();
            access.ending = Some(CallEnding::of(asked, outcome));
            access.bytes_out = outcome.as_ref().map_or(0, |result: &Raw| result.as_bytes().len() as u64);
        }
    }

    fn record(&mut self) {
        let Some(mut access) = self.access.take() else { return };
        if self.note.as_ref().is_some_and(|note| note.end(access.ending).is_ok()) {
            return;
        }
        access.took = self.began.elapsed();
        (self.hook)(access);
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.record();
    }
}

impl<H: fmt::Debug> fmt::Debug for Logged<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logged").field("inner", &self.inner).finish_non_exhaustive()
    }
}
