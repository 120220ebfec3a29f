//! Answers over plain HTTP: where the network cuts them must not matter, and what we take for whole means the same to others.
//!
//! The first line of an input says how the rest is cut, see [`cutting`](super::cutting). `hyper` is the second opinion.

use super::cutting::{cut, cutting};
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::TokioIo;
use std::cell::LazyCell;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    runtime::Runtime,
};
use trunkline_transport::http::{End, Heard, hear};

pub fn holds(data: &[u8]) {
    let (lengths, stream) = cutting(data);
    for method in [Method::POST, Method::HEAD] {
        let whole = hear([stream.clone()], &method);
        assert_eq!(hear(cut(&stream, lengths), &method), whole, "cut as the input says");
        assert_eq!(hear(cut(&stream, &[1]), &method), whole, "cut at every byte");
        if let Some(heard) = whole
            && matches!(heard.end, End::Kept | End::Closed)
        {
            assert!(heard.body.len() <= stream.len());
            means_the_same(&heard, &stream, method);
        }
    }
}

/// Two readers of one answer must not see two answers: that is how answers are smuggled.
fn means_the_same(heard: &Heard, stream: &Bytes, method: Method) {
    thread_local! {
        static RUNTIME: LazyCell<Runtime> = LazyCell::new(|| {
            tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be made")
        });
    }
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
