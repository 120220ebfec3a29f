//! HTTP responses: chunk boundaries must not matter, and hyper must agree on every response that
//! we accept as complete.
//!
//! The first line of an input gives the chunk lengths, see [`cutting`](super::cutting).

use super::cutting::{Pieces, cut, cutting};
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::TokioIo;
use std::{
    cell::LazyCell,
    pin::pin,
    task::{Context, Poll, Waker},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, join, sink},
    runtime::Runtime,
};
use trunkline_http1::trial::{End, ReadResponse, read_response};

thread_local! {
    static RUNTIME: LazyCell<Runtime> = LazyCell::new(|| {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be made")
    });
}

pub fn holds(data: &[u8]) {
    let (lengths, stream) = cutting(data);
    for method in [Method::POST, Method::HEAD] {
        let whole = parsed([stream.clone()], &method);
        for (pieces, how) in
            [(cut(&stream, lengths), "as the input says"), (cut(&stream, &[1]), "at every byte")]
        {
            assert_same(parsed(pieces, &method), whole.as_ref(), how);
        }
        if let Some(parsed) = whole
            && matches!(parsed.end, End::KeepAlive | End::Closed)
        {
            assert!(parsed.body.len() <= stream.len());
            means_the_same(&parsed, &stream, method);
        }
    }
}

fn parsed(pieces: impl IntoIterator<Item = Bytes>, method: &Method) -> Option<ReadResponse> {
    RUNTIME.with(|runtime| {
        let _entered = runtime.enter();
        let mut reading = pin!(read_response(join(Pieces::new(pieces), sink()), method.clone()));
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(parsed) = reading.as_mut().poll(&mut cx) {
                return parsed;
            }
        }
    })
}

/// Bytes after a response close the connection if they arrive in the same read as its end;
/// otherwise they are noticed by the next request. So the ends may differ in this way.
fn assert_same(mut cut: Option<ReadResponse>, whole: Option<&ReadResponse>, how: &str) {
    if let (Some(cut), Some(whole)) = (&mut cut, whole)
        && (cut.end, whole.end) == (End::KeepAlive, End::Closed)
    {
        cut.end = End::Closed;
    }
    assert_eq!(cut.as_ref(), whole, "cut {how}");
}

/// Two parsers must not see different responses in the same bytes: that allows response smuggling.
fn means_the_same(parsed: &ReadResponse, stream: &Bytes, method: Method) {
    let other = RUNTIME.with(|runtime| runtime.block_on(by_hyper(stream.clone(), method)));
    let (status, body) = other.expect("accepted, though hyper rejects it");
    assert_eq!((parsed.status, parsed.body.as_slice()), (status, body.as_slice()));
}

async fn by_hyper(stream: Bytes, method: Method) -> Result<(StatusCode, Vec<u8>), hyper::Error> {
    let (near, mut far) = tokio::io::duplex(1024);
    let answer = async move {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") && far.read_buf(&mut request).await.is_ok_and(|read| read > 0) {
        }
        // Fails if hyper closes the connection early, which is fine.
        drop(far.write_all(&stream).await);
    };
    let ask = async {
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(near)).await?;
        let request = Request::builder().method(method).uri("/").body(Empty::<Bytes>::new());
        let asking = async {
            let response = sender.send_request(request.expect("a plain request")).await?;
            let (head, mut body) = response.into_parts();
            let mut whole = Vec::new();
            while let Some(frame) = body.frame().await {
                whole.extend(frame?.into_data().unwrap_or_default());
            }
            Ok((head.status, whole))
        };
        let (answered, _) = tokio::join!(asking, connection);
        answered
    };
    tokio::join!(ask, answer).0
}
