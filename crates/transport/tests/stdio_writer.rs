//! The writer: order, coalescing, bounds, stalls and the closing of the stream.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWrite},
    time::{Instant, timeout},
};
use trunkline_transport::stdio::{FrameWriter, QueueLimits, SendError};

fn limits(frames: usize, bytes: usize) -> QueueLimits {
    QueueLimits { frames, bytes, stall: Duration::from_secs(5) }
}

fn stalled() -> SendError {
    SendError::Stalled(Duration::from_secs(5))
}

#[derive(Default, Clone)]
struct CountingSink {
    writes: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
}

impl AsyncWrite for CountingSink {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(buffer.len(), Ordering::Relaxed);
        Poll::Ready(Ok(buffer.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn frames_of_all_sizes_arrive_in_order_and_then_the_end() {
    let (ours, mut peer) = tokio::io::duplex(1 << 16);
    let writer = FrameWriter::new(ours, QueueLimits::default());
    let mut expected = Vec::new();
    let mut frames = Vec::new();
    for size in [1, 10, 100_000, 3, 32 * 1024, 32 * 1024 - 1, 40_000, 64 * 1024, 2, 7] {
        let frame = vec![b'a' + u8::try_from(frames.len()).unwrap(); size];
        expected.extend_from_slice(&frame);
        expected.push(b'\n');
        frames.push(Bytes::from(frame));
    }
    let sending = async {
        for frame in frames {
            writer.send(frame).await.unwrap();
        }
        writer.close().await.unwrap();
    };
    let mut read = Vec::new();
    let reading = peer.read_to_end(&mut read);
    let ((), count) = tokio::join!(sending, reading);
    assert_eq!(count.unwrap(), expected.len());
    assert!(read == expected);
    assert_eq!(writer.send(Bytes::from_static(b"{}")).await, Err(SendError::Finished));
}

#[tokio::test]
async fn small_frames_are_gathered_into_few_writes() {
    let sink = CountingSink::default();
    let writer = FrameWriter::new(sink.clone(), QueueLimits::default());
    let frame = Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    for _ in 0..10_000 {
        writer.send(frame.clone()).await.unwrap();
    }
    writer.close().await.unwrap();
    assert_eq!(sink.bytes.load(Ordering::Relaxed), 10_000 * (frame.len() + 1));
    let calls = sink.writes.load(Ordering::Relaxed);
    assert!(calls < 500, "{calls} writes for 10000 frames");
}

#[tokio::test]
async fn a_frame_with_a_newline_is_refused() {
    let writer = FrameWriter::new(tokio::io::sink(), QueueLimits::default());
    assert_eq!(writer.send(Bytes::from_static(b"{\n}")).await, Err(SendError::RawNewline));
    assert_eq!(writer.send(Bytes::from_static(b"{}")).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_never_reads_fails_senders_within_the_limit() {
    let (ours, _peer) = tokio::io::duplex(8);
    let writer = FrameWriter::new(ours, limits(3, 1000));
    let start = Instant::now();
    let mut taken = 0;
    let error = loop {
        match writer.send(Bytes::from_static(b"{\"id\":12345}")).await {
            Ok(()) => taken += 1,
            Err(error) => break error,
        }
    };
    assert_eq!((taken, error), (3, stalled()));
    assert!(start.elapsed() <= Duration::from_secs(6), "{:?}", start.elapsed());
    assert_eq!(writer.stalled().await, stalled());
    assert_eq!(writer.close().await, Err(stalled()));
}

#[tokio::test(start_paused = true)]
async fn a_trickling_peer_does_not_hold_a_sender_beyond_the_limit() {
    let (ours, mut peer) = tokio::io::duplex(1);
    let writer = FrameWriter::new(ours, limits(1, 1000));
    tokio::spawn(async move {
        while peer.read_u8().await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    writer.send(Bytes::from(vec![b'x'; 100])).await.unwrap();
    let start = Instant::now();
    assert_eq!(writer.send(Bytes::from_static(b"{}")).await, Err(stalled()));
    assert!(start.elapsed() <= Duration::from_secs(6), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_reads_again_is_served_again() {
    let (ours, mut peer) = tokio::io::duplex(4);
    let writer = FrameWriter::new(ours, limits(2, 1000));
    writer.send(Bytes::from_static(b"{\"first\":1}")).await.unwrap();
    assert_eq!(writer.stalled().await, stalled());
    assert_eq!(writer.send(Bytes::from_static(b"{}")).await, Err(stalled()));
    let mut read = vec![0; 12];
    peer.read_exact(&mut read).await.unwrap();
    assert_eq!(read, b"{\"first\":1}\n");
    while writer.send(Bytes::from_static(b"{}")).await.is_err() {
        tokio::task::yield_now().await;
    }
    let mut read = vec![0; 3];
    peer.read_exact(&mut read).await.unwrap();
    assert_eq!(read, b"{}\n");
}

#[tokio::test(start_paused = true)]
async fn a_frame_larger_than_the_queue_is_taken_alone() {
    let (ours, mut peer) = tokio::io::duplex(64);
    let writer = FrameWriter::new(ours, limits(10, 100));
    writer.send(Bytes::from(vec![b'x'; 1000])).await.unwrap();
    let waiting = timeout(Duration::from_secs(1), writer.send(Bytes::from_static(b"{}"))).await;
    assert!(waiting.is_err(), "no room while the large frame waits");
    let mut read = vec![0; 1001];
    peer.read_exact(&mut read).await.unwrap();
    writer.send(Bytes::from_static(b"{}")).await.unwrap();
}

#[tokio::test]
async fn a_peer_that_closed_is_told_by_its_kind() {
    let (ours, peer) = tokio::io::duplex(64);
    let writer = FrameWriter::new(ours, QueueLimits::default());
    drop(peer);
    writer.send(Bytes::from_static(b"{}")).await.unwrap();
    assert_eq!(writer.stalled().await, SendError::Closed(io::ErrorKind::BrokenPipe));
    assert_eq!(
        writer.send(Bytes::from_static(b"{}")).await,
        Err(SendError::Closed(io::ErrorKind::BrokenPipe))
    );
}

#[tokio::test]
async fn dropping_the_last_handle_writes_what_is_queued_and_ends() {
    let (ours, mut peer) = tokio::io::duplex(64);
    let writer = FrameWriter::new(ours, QueueLimits::default());
    let other = writer.clone();
    other.send(Bytes::from_static(b"{}")).await.unwrap();
    drop((writer, other));
    let mut read = String::new();
    peer.read_to_string(&mut read).await.unwrap();
    assert_eq!(read, "{}\n");
}

#[tokio::test(start_paused = true)]
async fn aborting_closes_at_once() {
    let (ours, mut peer) = tokio::io::duplex(4);
    let writer = FrameWriter::new(ours, QueueLimits::default());
    writer.send(Bytes::from(vec![b'x'; 1000])).await.unwrap();
    // When the first byte is read, the rest that fits into the pipe was written, too.
    peer.read_u8().await.unwrap();
    writer.abort();
    let mut read = Vec::new();
    peer.read_to_end(&mut read).await.unwrap();
    assert_eq!(read.len(), 3);
    assert_eq!(writer.stalled().await, SendError::Finished);
}
