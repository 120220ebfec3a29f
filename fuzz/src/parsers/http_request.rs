//! HTTP requests: chunk boundaries must not matter, and hyper must agree on every request that we
//! accept as complete.
//!
//! The first line of an input gives the chunk lengths, see [`cutting`](super::cutting).

use super::cutting::{cut, cutting};
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Empty;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use std::{
    cell::LazyCell,
    convert::Infallible,
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    runtime::Runtime,
};
use trunkline_http1::trial::{End, ReadRequest, read_requests};
use trunkline_transport::body;

/// Body limit, larger than any input.
const LIMIT: usize = 16 * 1024 * 1024;

/// The parts of a request on which both parsers must agree: method, target and body.
type Seen = (Method, String, Vec<u8>);

pub fn holds(data: &[u8]) {
    let (lengths, stream) = cutting(data);
    let whole = parsed([stream.clone()]);
    assert_eq!(parsed(cut(&stream, lengths)), whole, "cut as the input says");
    assert_eq!(parsed(cut(&stream, &[1])), whole, "cut at every byte");
    let seen = |parsed: ReadRequest| (parsed.method, parsed.target.to_string(), parsed.body);
    let ours: Vec<Seen> = whole.0.into_iter().map(seen).collect();
    if !ours.is_empty() {
        means_the_same(&ours, &stream);
    }
}

/// Treats `Invalid` as `Truncated`: how early an invalid head is detected depends on the chunks.
fn parsed(pieces: impl IntoIterator<Item = Bytes>) -> (Vec<ReadRequest>, End) {
    let (parsed, end) = read_requests(pieces);
    (parsed, if end == End::Invalid { End::Truncated } else { end })
}

/// Two parsers must not see different requests in the same bytes: that allows request smuggling.
fn means_the_same(ours: &[Seen], stream: &Bytes) {
    thread_local! {
        static RUNTIME: LazyCell<Runtime> = LazyCell::new(|| {
            tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be made")
        });
    }
    let theirs = RUNTIME.with(|runtime| runtime.block_on(by_hyper(stream.clone())));
    assert!(theirs.starts_with(ours), "we see {ours:?}, and hyper {theirs:?}");
}

async fn by_hyper(stream: Bytes) -> Vec<Seen> {
    let (near, far) = tokio::io::duplex(1024);
    let (mut answers, mut asking) = tokio::io::split(far);
    let ask = async move {
        // Fails if hyper closes the connection early, which is fine.
        drop(asking.write_all(&stream).await);
        drop(asking.shutdown().await);
    };
    let listen = async move {
        let mut buffer = [0; 1024];
        while answers.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
    };
    let seen = Arc::new(Mutex::new(Vec::new()));
    let service = service_fn(|request: Request<Incoming>| {
        let seen = seen.clone();
        async move {
            let (head, body) = request.into_parts();
            if let Ok(body) = body::read(body, LIMIT).await {
                let request = (head.method, head.uri.to_string(), body.to_vec());
                seen.lock().expect("nobody panics here").push(request);
            }
            Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
        }
    });
    let serve = http1::Builder::new().half_close(true).serve_connection(TokioIo::new(near), service);
    // Errors after the last request do not matter here.
    drop(tokio::join!(serve, ask, listen).0);
    Arc::into_inner(seen).and_then(|seen| seen.into_inner().ok()).unwrap_or_default()
}
