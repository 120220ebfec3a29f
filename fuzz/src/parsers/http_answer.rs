//! Answers over plain HTTP: where the network cuts them must not matter, and what we take for whole means the same to others.
//!
//! The first line of an input says how the rest is cut, see [`cutting`](super::cutting). `hyper` is the second opinion.

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
        let whole = heard([stream.clone()], &method);
        for (pieces, how) in
            [(cut(&stream, lengths), "as the input says"), (cut(&stream, &[1]), "at every byte")]
        {
            is_heard_alike(heard(pieces, &method), whole.as_ref(), how);
        }
        if let Some(heard) = whole
            && matches!(heard.end, End::KeepAlive | End::Closed)
        {
            assert!(heard.body.len() <= stream.len());
            means_the_same(&heard, &stream, method);
        }
    }
}

fn heard(pieces: impl IntoIterator<Item = Bytes>, method: &Method) -> Option<ReadResponse> {
    RUNTIME.with(|runtime| {
        let _entered = runtime.enter();
        let mut hearing = pin!(read_response(join(Pieces::new(pieces), sink()), method.clone()));
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(heard) = hearing.as_mut().poll(&mut cx) {
                return heard;
            }
        }
    })
}

/// What stands behind an answer closes the connection if it came along with the end, and else is noticed by whoever asks next.
fn is_heard_alike(mut cut: Option<ReadResponse>, whole: Option<&ReadResponse>, how: &str) {
    if let (Some(cut), Some(whole)) = (&mut cut, whole)
        && (cut.end, whole.end) == (End::KeepAlive, End::Closed)
    {
        cut.end = End::Closed;
    }
    assert_eq!(cut.as_ref(), whole, "cut {how}");
}

/// Two readers of one answer must not see two answers: that is how answers are smuggled.
fn means_the_same(heard: &ReadResponse, stream: &Bytes, method: Method) {
    let other = RUNTIME.with(|runtime| runtime.block_on(by_hyper(stream.clone(), method)));
    let (status, body) = other.expect("taken, though hyper refuses it");
    assert_eq!((heard.status, heard.body.as_slice()), (status, body.as_slice()));
}

async fn by_hyper(stream: Bytes, method: Method) -> Result<(StatusCode, Vec<u8>), hyper::Error> {
    let (near, mut far) = tokio::io::duplex(1024);
    let answer = async move {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") && far.read_buf(&mut request).await.is_ok_and(|read| read > 0) {
        }
        // The other side closes when it has read enough.
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
