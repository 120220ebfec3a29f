//! The note that an HTTP request carries while it is answered, and its end.

use super::{Access, AccessHook, CallEnding, Way};
use crate::{http::Body, session::lock};
use ::http::{Request, Response, header::HeaderMap};
use ring::digest::{SHA256, digest};
use std::{
    borrow::Cow,
    fmt::Write,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
    time::{Instant, SystemTime},
};
use trunkline_http1::server::Pending;
use trunkline_protocol::{Caller, method};
use trunkline_transport::headers::MCP_SESSION_ID;

/// Bytes of a session's hash that are shown: enough to tell sessions apart.
const SHOWN: usize = 8;
/// Longest path that is kept, in bytes.
const MAX_PATH: usize = 512;

tokio::task_local! {
    static NOTE: Arc<Note>;
}

/// What those who answer a request know of it.
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
    /// The record was made; what comes later needs one of its own.
    over: bool,
}

/// Writes its record when it is dropped: after the last byte of the response, or at a hang-up.
pub(crate) struct AccessRecord {
    hook: AccessHook,
    note: Arc<Note>,
    at: SystemTime,
    began: Instant,
    way: Way,
    session: Option<String>,
    pub(crate) bytes_out: u64,
    /// True until all of the response was sent.
    pub(crate) cut: bool,
}

/// Writes into the note of the request that this task answers, if there is one.
pub(crate) fn note(change: impl FnOnce(&mut Noted)) {
    // Without a hook there is no note.
    NOTE.try_with(|note| change(&mut lock(&note.0))).unwrap_or_default();
}

/// Answers a request with a note at hand. The body of the response carries the record.
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
        if let Way::Http { status, .. } = &mut self.way {
            *status = Some(response.status().as_u16());
        }
        self.session = self.session.take().or_else(|| session(response.headers()));
        response.map(|body| body.logged(self))
    }
}

fn way<B>(request: &Request<B>, peer: IpAddr) -> Way {
    // What stands after `?` can be a session's id.
    let path = request.uri().path();
    let path = path[..path.floor_char_boundary(MAX_PATH)].to_owned();
    Way::Http { verb: request.method().clone(), path, peer, status: None }
}

fn session(headers: &HeaderMap) -> Option<String> {
    let hash = digest(&SHA256, headers.get(MCP_SESSION_ID)?.as_bytes());
    let mut text = String::new();
    for byte in &hash.as_ref()[..SHOWN] {
        write!(text, "{byte:02x}").expect("a String takes all text");
    }
    Some(text)
}

impl Note {
    /// The note of the request whose call this is. Calls that we make ourselves while answering are none of the client's.
    pub(super) fn of(asked: &str) -> Whose {
        let found = NOTE.try_with(|note| {
            let noted = lock(&note.0);
            let wanted = noted.method.as_deref();
            let own = wanted == Some(asked)
                || (wanted == Some(method::INITIALIZE) && asked == method::DISCOVER)
                || wanted.is_none();
            own.then(|| note.clone())
        });
        match found {
            Ok(Some(note)) => Whose::Request(note),
            Ok(None) => Whose::Ours,
            Err(_) => Whose::Line,
        }
    }

    pub(super) fn begin(&self, call: &Access) {
        let mut noted = lock(&self.0);
        noted.target.clone_from(&call.target);
        noted.trace_id = call.trace_id;
        if noted.method.is_none() {
            noted.method.clone_from(&call.method);
        }
    }

    pub(super) fn end(&self, ending: Option<CallEnding>) -> Result<(), TooLate> {
        let mut noted = lock(&self.0);
        if noted.over {
            return Err(TooLate);
        }
        noted.ending = ending;
        Ok(())
    }
}

/// Whose call it is.
pub(super) enum Whose {
    Request(Arc<Note>),
    Ours,
    Line,
}

/// The record was made before.
#[derive(Debug)]
pub(super) struct TooLate;

impl Drop for AccessRecord {
    fn drop(&mut self) {
        let mut noted = lock(&self.note.0);
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
