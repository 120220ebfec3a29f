//! Framing of the reader: any chunking of any lines yields the same lines.
#![expect(clippy::unwrap_used, reason = "a helper of a test may stop at the first surprise")]

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use proptest::prelude::*;
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
use trunkline_transport::stdio::{FrameReader, Line};

const LIMIT: usize = 40;

/// Hands out prepared chunks, one per read.
struct Chunks(std::vec::IntoIter<Vec<u8>>);

impl AsyncRead for Chunks {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if let Some(chunk) = self.0.next() {
            into.put_slice(&chunk);
        }
        Poll::Ready(Ok(()))
    }
}

async fn read_all(source: impl AsyncRead + Unpin) -> Vec<Line> {
    let mut reader = FrameReader::with_limit(source, LIMIT);
    let mut lines = Vec::new();
    while let Some(line) = reader.next().await.unwrap() {
        lines.push(line);
    }
    lines
}

/// The expected lines of a whole input; a simple reference implementation without streaming.
fn expected(input: &[u8]) -> Vec<Line> {
    let mut lines = Vec::new();
    for line in input.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let first = line.iter().find(|byte| !b" \t\r".contains(byte));
        lines.push(match first {
            _ if line.len() > LIMIT => {
                Line::TooLong { limit: LIMIT, head: Bytes::copy_from_slice(&line[..LIMIT]) }
            }
            None => continue,
            Some(b'{' | b'[') => Line::Frame(Bytes::copy_from_slice(line)),
            Some(_) => Line::Noise(Bytes::copy_from_slice(line)),
        });
    }
    lines
}

fn cut(input: &[u8], sizes: &[usize]) -> Vec<Vec<u8>> {
    let mut rest = input;
    let mut chunks = Vec::new();
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, tail) = rest.split_at((*size).min(rest.len()));
        chunks.push(chunk.to_vec());
        rest = tail;
    }
    chunks
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "\\{[a-z\": ]{0,50}\\}?".prop_map(String::into_bytes),
        "[ \t\r]{0,3}\\[[0-9,]{0,8}\\]".prop_map(String::into_bytes),
        "[ \t\r]{0,4}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..60),
        // Around the limit, with and without a carriage return.
        (LIMIT - 2..LIMIT + 4).prop_map(|length| vec![b'{'; length]),
        (LIMIT - 2..LIMIT + 4).prop_map(|length| [vec![b'{'; length], vec![b'\r']].concat()),
    ]
}

proptest! {
    #[test]
    fn any_chunking_yields_the_same_lines(
        lines in proptest::collection::vec(line(), 0..12),
        sizes in proptest::collection::vec(1_usize..90, 1..8),
    ) {
        let input = lines.join(&b'\n');
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let read = runtime.block_on(read_all(Chunks(cut(&input, &sizes).into_iter())));
        prop_assert_eq!(read, expected(&input));
    }
}

#[tokio::test]
async fn crlf_blank_lines_and_noise_are_told_apart() {
    let input = b"\n\r\n  \t\nListening on stdio\r\n{\"a\":1}\r\n [1]\n\xef\xbb\xbf{}\n";
    let read = read_all(&input[..]).await;
    let frame = |text: &'static str| Line::Frame(Bytes::from_static(text.as_bytes()));
    let noise = |text: &'static [u8]| Line::Noise(Bytes::from_static(text));
    assert_eq!(
        read,
        [noise(b"Listening on stdio"), frame("{\"a\":1}"), frame(" [1]"), noise(b"\xef\xbb\xbf{}")]
    );
}

#[tokio::test]
async fn a_fragment_before_the_end_is_the_last_frame() {
    assert_eq!(read_all(&b"{}\n{\"cut"[..]).await.last(), Some(&Line::Frame(Bytes::from_static(b"{\"cut"))));
}

#[tokio::test]
async fn a_line_at_the_limit_is_a_frame_and_one_beyond_is_not() {
    let fits = "{".repeat(LIMIT);
    let read = read_all(format!("{fits}\r\n{fits}{{\n{{}}\n").as_bytes()).await;
    assert!(matches!(&read[..], [Line::Frame(_), Line::TooLong { .. }, Line::Frame(last)] if last == "{}"));
}

#[tokio::test]
async fn an_endless_line_is_reported_before_it_ends() {
    let (mut peer, ours) = tokio::io::duplex(1024);
    peer.write_all(&[b'{'; LIMIT + 2]).await.unwrap();
    let mut reader = FrameReader::with_limit(ours, LIMIT);
    assert!(matches!(reader.next().await.unwrap(), Some(Line::TooLong { .. })));
    peer.write_all(b"still the same line\n{}\n").await.unwrap();
    assert_eq!(reader.next().await.unwrap(), Some(Line::Frame(Bytes::from_static(b"{}"))));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_read_loses_nothing() {
    let (mut peer, ours) = tokio::io::duplex(1024);
    let mut reader = FrameReader::new(ours);
    for byte in b"{\"id\":1}" {
        peer.write_all(&[*byte]).await.unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(1), reader.next()).await.is_err());
    }
    peer.write_all(b"\n").await.unwrap();
    assert_eq!(reader.next().await.unwrap(), Some(Line::Frame(Bytes::from_static(b"{\"id\":1}"))));
}

#[tokio::test]
async fn frames_kept_by_the_caller_stay_intact_while_reading_on() {
    let mut input = Vec::new();
    for number in 0..50_000 {
        input.extend_from_slice(format!("{{\"id\":{number}}}\n").as_bytes());
    }
    let mut reader = FrameReader::new(input.as_slice());
    let mut kept = Vec::new();
    while let Some(line) = reader.next().await.unwrap() {
        kept.push(line);
    }
    assert_eq!(kept.len(), 50_000);
    for (number, line) in kept.iter().enumerate() {
        assert_eq!(*line, Line::Frame(Bytes::from(format!("{{\"id\":{number}}}"))));
    }
}
