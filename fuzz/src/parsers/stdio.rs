//! Lines over a pipe: chunk boundaries must not matter, a line beyond the limit affects no other
//! line, and frames are written exactly as they were read.
//!
//! The first line of an input gives the chunk lengths, see [`cutting`](super::cutting).

use super::cutting::{Pieces, cut, cutting};
use bytes::Bytes;
use std::{
    cell::LazyCell,
    pin::pin,
    task::{Context, Poll, Waker},
};
use tokio::{io::AsyncReadExt as _, runtime::Runtime};
use trunkline_transport::stdio::{FrameReader, FrameWriter, Line, QueueLimits, TOO_LONG_HEAD};

const LIMITS: [usize; 3] = [4, 64, 1 << 20];
/// Capacity of the pipe between writer and reader.
const PIPE: usize = 64;

pub fn holds(data: &[u8]) {
    let (lengths, stream) = cutting(data);
    for limit in LIMITS {
        let want = by_hand(&stream, limit);
        assert_eq!(read([stream.clone()], limit), want, "whole, limit {limit}");
        assert_eq!(read(cut(&stream, lengths), limit), want, "cut as the input says, limit {limit}");
        assert_eq!(read(cut(&stream, &[1]), limit), want, "cut at every byte, limit {limit}");
        if limit == LIMITS[1] {
            comes_back(&want.0);
        }
    }
}

/// The lines, and the number of discarded bytes.
type Lines = (Vec<Line>, u64);

/// The expected lines, computed with the simplest possible code.
fn by_hand(stream: &[u8], limit: usize) -> Lines {
    let (mut lines, mut discarded) = (Vec::new(), 0);
    for whole in stream.split(|byte| *byte == b'\n') {
        let line = whole.strip_suffix(b"\r").unwrap_or(whole);
        if line.len() > limit {
            discarded += whole.len() as u64;
            let head = Bytes::copy_from_slice(&line[..limit.min(TOO_LONG_HEAD)]);
            lines.push(Line::TooLong { limit, head });
        } else if let Some(first) = line.iter().find(|byte| !b" \t\r".contains(byte)) {
            let text = Bytes::copy_from_slice(line);
            lines.push(if b"{[".contains(first) { Line::Frame(text) } else { Line::Noise(text) });
        }
    }
    (lines, discarded)
}

fn read(pieces: impl IntoIterator<Item = Bytes>, limit: usize) -> Lines {
    let mut reader = FrameReader::with_limit(Pieces::new(pieces), limit);
    let mut lines = Vec::new();
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        // A pending `next` is dropped and called again, which must lose nothing (cancel safety).
        let next = pin!(reader.next()).poll(&mut cx);
        match next {
            Poll::Pending => {}
            Poll::Ready(Ok(Some(line))) => lines.push(line),
            Poll::Ready(Ok(None)) => return (lines, reader.discarded()),
            Poll::Ready(Err(error)) => panic!("memory does not fail: {error}"),
        }
    }
}

/// Checks that sent frames arrive in order, each as one line.
fn comes_back(lines: &[Line]) {
    thread_local! {
        static RUNTIME: LazyCell<Runtime> = LazyCell::new(|| {
            tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime can be made")
        });
    }
    let frames: Vec<&Bytes> = lines
        .iter()
        .filter_map(|line| if let Line::Frame(frame) = line { Some(frame) } else { None })
        .collect();
    let arrived = RUNTIME.with(|runtime| {
        runtime.block_on(async {
            let (near, mut far) = tokio::io::duplex(PIPE);
            let writer = FrameWriter::new(near, QueueLimits::default());
            for frame in &frames {
                writer.send((*frame).clone()).await.expect("the pipe is open");
            }
            drop(writer);
            let mut arrived = Vec::new();
            far.read_to_end(&mut arrived).await.expect("memory does not fail");
            arrived
        })
    });
    let want: Vec<u8> = frames.iter().flat_map(|frame| [frame, &b"\n"[..]].concat()).collect();
    assert_eq!(arrived, want, "written as it was read");
}
