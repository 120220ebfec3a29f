//! Logged: a handler whose calls stand in the access log.

use super::{
    Access, AccessHook, CallEnding, Way,
    note::{Note, Whose},
};
use futures_core::Stream;
use std::{
    borrow::Cow,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, Instant, SystemTime},
};
use trunkline_protocol::{
    Call, Caller, Handler, Notify, Part, Raw, Reply,
    message::{TraceParent, meta},
    method,
};

/// Longest name that is kept, in bytes.
const MAX_TARGET: usize = 512;

/// A handler whose calls are told to an access log. Behind a tracer, so that it sees the trace of calls that came without one.
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
        // Only this one call is ours: whoever else bears that name is told of like everybody.
        if Caller::is_ourselves(&call.caller) && call.method == method::LISTEN {
            return self.inner.call(call);
        }
        let note = match Note::of(&call.method) {
            Whose::Ours => return self.inner.call(call),
            Whose::Request(note) => Some(note),
            Whose::Line => None,
        };
        let access = access(&call);
        if let Some(note) = &note {
            // At once: the request may be over before the call is.
            note.begin(&access);
        }
        let open = Open { hook: self.hook.clone(), note, access: Some(access), began: Instant::now() };
        Reply::new(Watched { reply: self.inner.call(call), open })
    }

    fn notify(&self, notice: Notify) {
        self.inner.notify(notice);
    }

    fn has_view(&self, view: &str) -> bool {
        self.inner.has_view(view)
    }
}

/// What is known when a call begins.
fn access(call: &Call) -> Access {
    let params = call.params.as_ref();
    let target =
        method::named_by(&call.method).and_then(|member| params?.member_as::<Cow<'static, str>>(member));
    let parent = meta::get(params, meta::TRACEPARENT).and_then(|raw| raw.decode::<String>().ok());
    Access {
        at: SystemTime::now(),
        took: Duration::ZERO,
        way: Way::Line { view: call.view.clone() },
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

/// A call under way. However it goes away, it is told once: in the note of its request, or in a record of its own.
struct Open {
    hook: AccessHook,
    note: Option<Arc<Note>>,
    access: Option<Access>,
    began: Instant,
}

struct Watched {
    reply: Reply,
    open: Open,
}

impl Stream for Watched {
    type Item = Part;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Part>> {
        let part = ready!(Pin::new(&mut self.reply).poll_next(cx));
        if let (Some(Part::Final(outcome)), Some(access)) = (&part, &mut self.open.access) {
            let asked = access.method.as_deref().unwrap_or_default();
            access.ending = Some(CallEnding::of(asked, outcome));
            access.bytes_out = outcome.as_ref().map_or(0, |result: &Raw| result.as_bytes().len() as u64);
            self.open.tell();
        }
        Poll::Ready(part)
    }
}

impl Open {
    fn tell(&mut self) {
        let Some(mut access) = self.access.take() else { return };
        if self.note.as_ref().is_some_and(|note| note.end(access.ending).is_ok()) {
            return;
        }
        access.took = self.began.elapsed();
        (self.hook)(access);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.tell();
    }
}

impl<H: fmt::Debug> fmt::Debug for Logged<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logged").field("inner", &self.inner).finish_non_exhaustive()
    }
}
