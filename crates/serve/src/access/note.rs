//! The task-local note of an HTTP request, and the record made of it when the response ends.

use super::{Access, AccessHook, AccessTransport, CallEnding};
use crate::http::Body;
use ::http::{Request, Response, header::HeaderMap};
use parking_lot::Mutex;
use ring::digest::{SHA256, digest};
use std::{
    borrow::Cow,
    fmt::Write,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Instant, SystemTime},
};
use trunkline_http1::server::Pending;
use trunkline_protocol::{Caller, method};
use trunkline_transport::headers::MCP_SESSION_ID;

/// Bytes of the session id's hash that are logged: enough to distinguish sessions.
const SHOWN: usize = 8;
/// Longer paths are truncated to this many bytes.
const MAX_PATH: usize = 512;

tokio::task_local! {
    static NOTE: Arc<Note>;
}

/// Facts about one HTTP request, collected from all layers that answer it.
#[derive(Debug, Default)]
pub(crate) struct Note(Mutex<Noted>);

#[derive(Debug, Default)]
pub(crate) struct Noted {
    pub(crate) caller: Option<Arc<Caller>>,
    pub(crate) method: Option<Cow<'static, str>>,
    pub(crate) target: Option<String>,
    pub(crate) ending: Option<CallEnding>,
    pub(crate) bytes_in: u64,
    pub(crate) trace_id: Option<[u8; 16]>,
    /// The record was already written, so a call that ends later needs its own record.
    over: bool,
}

/// Writes its record when dropped: after the last byte of the response, or on disconnect.
pub(crate) struct AccessRecord {
    hook: AccessHook,
    note: Arc<Note>,
    at: SystemTime,
    began: Instant,
    way: AccessTransport,
    session: Option<String>,
    pub(crate) bytes_out: u64,
    /// True until all of the response was sent.
    pub(crate) cut: bool,
}

/// Changes the note of the request that the current task answers, if there is one.
pub(crate) fn note(change: impl FnOnce(&mut Noted)) {
    // Without a hook there is no note.
    NOTE.try_with(|note| change(&mut note.0.lock())).unwrap_or_default();
}

/// Runs `answer` with a task-local note. The response body owns the record, so that the record is
/// written when the body ends.
pub(crate) fn logged<B>(
    hook: AccessHook,
    request: Request<B>,
    peer: SocketAddr,
    answer: impl FnOnce(Request<B>) -> Pending<Body>,
) -> Pending<Body> {
    let note = Arc::new(Note::default());
    let record = AccessRecord {
        hook,
        note: note.clone(),
        at: SystemTime::now(),
        began: Instant::now(),
        way: way(&request, peer.ip()),
        session: session(request.headers()),
        bytes_out: 0,
        cut: true,
    };
    record.attach(NOTE.sync_scope(note, || answer(request)))
}

impl AccessRecord {
    fn attach(self, pending: Pending<Body>) -> Pending<Body> {
        let note = self.note.clone();
        match pending {
            Pending::Ready(response) => {
                Pending::Ready(response.map(|response| Box::new(self.attach_to(*response))))
            }
            Pending::Running(response, half_close) => Pending::running(
                async move {
                    let response = NOTE.scope(note, response).await;
                    self.attach_to(response)
                },
                half_close,
            ),
            Pending::Preparing(next) => Pending::preparing(async move {
                let pending = NOTE.scope(note, next).await;
                self.attach(pending)
            }),
        }
    }

    fn attach_to(mut self, response: Response<Body>) -> Response<Body> {
        if let AccessTransport::Http { status, .. } = &mut self.way {
            *status = Some(response.status().as_u16());
        }
        self.session = self.session.take().or_else(|| session(response.headers()));
        response.map(|body| body.logged(self))
    }
}

fn way<B>(request: &Request<B>, peer: IpAddr) -> AccessTransport {
    // The query is left out: it may contain a session id.
    let path = request.uri().path();
    let path = path[..path.floor_char_boundary(MAX_PATH)].to_owned();
    AccessTransport::Http { verb: request.method().clone(), path, peer, status: None }
}

fn session(headers: &HeaderMap) -> Option<String> {
    let hash = digest(&SHA256, headers.get(MCP_SESSION_ID)?.as_bytes());
    let mut text = String::new();
    for byte in &hash.as_ref()[..SHOWN] {
        write!(text, "{byte:02x}").expect("writing to a String does not fail");
    }
    Some(text)
}

impl Note {
    /// Finds the origin of a call to method `asked`. While a client's request is answered, the
    /// server makes calls of its own; they differ from the request's method and are not logged.
    pub(super) fn of(asked: &str) -> CallOrigin {
        let found = NOTE.try_with(|note| {
            let noted = note.0.lock();
            let wanted = noted.method.as_deref();
            let own = wanted == Some(asked)
                || (wanted == Some(method::INITIALIZE) && asked == method::DISCOVER)
                || wanted.is_none();
            own.then(|| note.clone())
        });
        match found {
            Ok(Some(note)) => CallOrigin::Request(note),
            Ok(None) => CallOrigin::Ours,
            Err(_) => CallOrigin::Duplex,
        }
    }

    pub(super) fn begin(&self, call: &Access) {
        let mut noted = self.0.lock();
        noted.target.clone_from(&call.target);
        noted.trace_id = call.trace_id;
        if noted.method.is_none() {
            noted.method.clone_from(&call.method);
        }
    }

    pub(super) fn end(&self, ending: Option<CallEnding>) -> Result<(), TooLate> {
        let mut noted = self.0.lock();
        if noted.over {
            return Err(TooLate);
        }
        noted.ending = ending;
        Ok(())
    }
}

/// The origin of a call: an HTTP request, this server itself, or a client of stdio or HTTP+SSE.
pub(super) enum CallOrigin {
    Request(Arc<Note>),
    Ours,
    Duplex,
}

/// The request's record was already written.
#[derive(Debug)]
pub(super) struct TooLate;

impl Drop for AccessRecord {
    fn drop(&mut self) {
        let mut noted = self.note.0.lock();
        noted.over = true;
        let access = Access {
            at: self.at,
            took: self.began.elapsed(),
            way: self.way.clone(),
            caller: noted.caller.take(),
            method: noted.method.take(),
            target: noted.target.take(),
            ending: noted.ending.take(),
            bytes_in: noted.bytes_in,
            bytes_out: self.bytes_out,
            trace_id: noted.trace_id,
            session: self.session.take(),
            cut: self.cut,
        };
        drop(noted);
        (self.hook)(access);
    }
}
