//! Reads whole bodies, with a size limit. No other code collects bodies.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hyper::body::Body;
use trunkline_resilience::{OutOfMemory, Reservation, hold_reserved, timeout};

/// Default size limit of a body that is read whole.
pub const DEFAULT_BODY_LIMIT: usize = 16 * 1024 * 1024;

/// Most bytes that are reserved for a `Content-Length` before the data arrives.
const MAX_RESERVED: usize = 1024 * 1024;

/// An error of the body's transport.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The reason why a body could not be read whole.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("the body is larger than {limit} bytes")]
    TooLarge { limit: usize },
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    #[error("the body ended early or could not be read")]
    Broken(#[source] BoxError),
}

/// The beginning of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beginning {
    /// The body is no longer than this.
    Whole(Bytes),
    /// The body exceeds the limit, or could not be read further.
    Cut(Bytes),
}

/// Reads a body to its end. If its declared length exceeds `limit`, it is refused before any of it
/// is read. A body of one frame is not copied.
pub async fn read<B>(mut body: B, limit: usize) -> Result<Bytes, BodyError>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let mut collector = Collector::new(limit);
    std::future::poll_fn(|cx| collector.poll(Pin::new(&mut body), cx)).await
}

/// The next data frame of a body; `None` at its end or after an error.
pub async fn next_data<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> Option<Bytes> {
    loop {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
        if let Ok(data) = frame.ok()?.into_data() {
            return Some(data);
        }
    }
}

/// Reads up to `limit` bytes of a body, as far as they arrive `within` this time, and drops the
/// rest.
pub async fn read_beginning<B>(mut body: B, limit: usize, within: Duration) -> Beginning
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let mut collector = Collector::new(limit);
    collector.announced_may_exceed = true;
    let reading = std::future::poll_fn(|cx| collector.poll(Pin::new(&mut body), cx));
    match timeout(within, reading).await {
        Some(Ok(whole)) => Beginning::Whole(whole),
        Some(Err(_)) | None => Beginning::Cut(collector.take()),
    }
}

/// Collects a body. It holds everything read so far, so a dropped `poll` loop can be resumed.
#[derive(Debug)]
pub(crate) struct Collector {
    limit: usize,
    announced_may_exceed: bool,
    first: Bytes,
    joined: BytesMut,
    memory: Reservation,
}

impl Collector {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            announced_may_exceed: false,
            first: Bytes::new(),
            joined: BytesMut::new(),
            memory: Reservation::default(),
        }
    }

    pub(crate) fn poll<B>(
        &mut self,
        mut body: Pin<&mut B>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Bytes, BodyError>>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        loop {
            let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
            if announced.saturating_add(self.len()) > self.limit && !self.announced_may_exceed {
                return Poll::Ready(Err(BodyError::TooLarge { limit: self.limit }));
            }
            match ready!(body.as_mut().poll_frame(cx)) {
                None => return Poll::Ready(Ok(self.take())),
                Some(Err(error)) => return Poll::Ready(Err(BodyError::Broken(error.into()))),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.add(data, announced)?;
                    }
                }
            }
        }
    }

    fn len(&self) -> usize {
        self.first.len() + self.joined.len()
    }

    fn add(&mut self, mut data: Bytes, announced: usize) -> Result<(), BodyError> {
        let room = self.limit - self.len();
        let fits = data.len() <= room;
        data.truncate(room);
        if self.len() == 0 {
            self.first = data;
        } else {
            if self.joined.is_empty() {
                self.joined.reserve((self.first.len() + announced.max(data.len())).min(MAX_RESERVED));
                self.joined.extend_from_slice(&std::mem::take(&mut self.first));
            }
            self.joined.extend_from_slice(&data);
        }
        self.memory.grow_to(self.joined.capacity().max(self.first.len()))?;
        fits.then_some(()).ok_or(BodyError::TooLarge { limit: self.limit })
    }

    fn take(&mut self) -> Bytes {
        let first = std::mem::take(&mut self.first);
        let joined = std::mem::take(&mut self.joined);
        let whole = if joined.is_empty() { first } else { joined.freeze() };
        hold_reserved(whole, std::mem::take(&mut self.memory))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::{StreamExt as _, stream};
    use http_body_util::{Full, StreamBody};
    use hyper::body::Frame;

    use super::*;

    fn frames(frames: &[&'static str]) -> impl Body<Data = Bytes, Error = Infallible> + Unpin + use<> {
        let frames: Vec<_> =
            frames.iter().map(|text| Ok(Frame::data(Bytes::from_static(text.as_bytes())))).collect();
        StreamBody::new(stream::iter(frames))
    }

    #[tokio::test]
    async fn a_body_of_one_frame_is_not_copied() {
        let bytes = Bytes::from(vec![b'x'; 100]);
        let read = read(Full::new(bytes.clone()), 100).await.unwrap();
        assert_eq!(read.as_ptr(), bytes.as_ptr());
    }

    #[tokio::test]
    async fn frames_are_joined_in_order() {
        assert_eq!(read(frames(&["a", "", "bc", "d"]), 4).await.unwrap(), "abcd");
        assert_eq!(read(frames(&[]), 0).await.unwrap(), "");
    }

    #[tokio::test]
    async fn a_body_beyond_the_limit_is_refused() {
        let error = read(frames(&["ab", "cd"]), 3).await.unwrap_err();
        assert!(matches!(error, BodyError::TooLarge { limit: 3 }));
    }

    #[tokio::test]
    async fn an_announced_length_beyond_the_limit_is_refused_unread() {
        struct Announced;
        impl Body for Announced {
            type Data = Bytes;
            type Error = Infallible;
            fn poll_frame(
                self: Pin<&mut Self>,
                _: &mut Context<'_>,
            ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
                panic!("read although too large")
            }
            fn size_hint(&self) -> hyper::body::SizeHint {
                hyper::body::SizeHint::with_exact(u64::MAX)
            }
        }
        assert!(matches!(read(Announced, 10).await, Err(BodyError::TooLarge { limit: 10 })));
    }

    const SOON: Duration = Duration::from_secs(5);

    fn cut(text: &'static str) -> Beginning {
        Beginning::Cut(Bytes::from_static(text.as_bytes()))
    }

    #[tokio::test]
    async fn the_beginning_of_a_long_body_is_cut_at_the_limit() {
        assert_eq!(read_beginning(frames(&["ab", "cd"]), 3, SOON).await, cut("abc"));
        assert_eq!(read_beginning(frames(&["abcd"]), 3, SOON).await, cut("abc"));
        let whole = read_beginning(frames(&["ab", "c"]), 3, SOON).await;
        assert_eq!(whole, Beginning::Whole(Bytes::from_static(b"abc")));
        let announced = Full::new(Bytes::from_static(b"abcdef"));
        assert_eq!(read_beginning(announced, 2, SOON).await, cut("ab"));
    }

    #[tokio::test(start_paused = true)]
    async fn the_beginning_of_a_stalled_body_is_cut_in_time() {
        let start: Result<_, Infallible> = Ok(Frame::data(Bytes::from_static(b"ab")));
        let stalled = StreamBody::new(stream::iter([start]).chain(stream::pending()));
        assert_eq!(read_beginning(stalled, 100, SOON).await, cut("ab"));
    }
}
