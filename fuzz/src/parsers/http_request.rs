//! Requests over plain HTTP: where the network cuts them must not matter, and what we take for whole means the same to others.
//!
//! The first line of an input says how the rest is cut, see [`cutting`](super::cutting). `hyper` is the second opinion.

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

/// No input is so long.
const LIMIT: usize = 16 * 1024 * 1024;

/// What two readers must agree on.
type Seen = (Method, String, Vec<u8>);

pub fn holds(data: &[u8]) {
    let (lengths, stream) = cutting(data);
    let whole = heard([stream.clone()]);
    assert_eq!(heard(cut(&stream, lengths)), whole, "cut as the input says");
    assert_eq!(heard(cut(&stream, &[1])), whole, "cut at every byte");
    let seen = |heard: ReadRequest| (heard.method, heard.target.to_string(), heard.body);
    let ours: Vec<Seen> = whole.0.into_iter().map(seen).collect();
    if !ours.is_empty() {
        means_the_same(&ours, &stream);
    }
}

/// A head that is wrong is refused at the end of a line at the latest, sooner if it is seen sooner.
fn heard(pieces: impl IntoIterator<Item = Bytes>) -> (Vec<ReadRequest>, End) {
    let (heard, end) = read_requests(pieces);
    (heard, if end == End::Invalid { End::Truncated } else { end })
}

/// Two readers of one connection must not see two requests: that is how requests are smuggled.
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
        // The other side closes when it has read enough.
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
    // What is wrong behind the last request is not looked at here.
    drop(tokio::join!(serve, ask, listen).0);
    Arc::into_inner(seen).and_then(|seen| seen.into_inner().ok()).unwrap_or_default()
}
