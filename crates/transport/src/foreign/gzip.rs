//! Decompression within a size limit.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;

/// Collects a body, compressed or not, up to a limit.
pub(super) enum Content {
    Plain(Bounded),
    Gzip { decoder: Box<MultiGzDecoder<Bounded>>, arrived: usize },
}

/// A buffer that refuses to grow beyond a limit.
pub(super) struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

/// The reason why content was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    TooLarge,
    Damaged,
}

/// Marks an error of [`Bounded`], to tell it from one of the decoder.
#[derive(Debug, thiserror::Error)]
#[error("the content is too large")]
struct Full;

impl Content {
    pub(super) fn plain(limit: usize) -> Self {
        Self::Plain(Bounded::new(limit))
    }

    pub(super) fn gzip(limit: usize) -> Self {
        Self::Gzip { decoder: Box::new(MultiGzDecoder::new(Bounded::new(limit))), arrived: 0 }
    }

    pub(super) fn push(&mut self, data: &[u8]) -> Result<(), Refused> {
        match self {
            Self::Plain(bytes) => bytes.write_all(data).map_err(|error| refused(&error)),
            Self::Gzip { decoder, arrived } => {
                *arrived += data.len();
                // Empty members decompress to nothing, so the arriving bytes are bounded as well.
                if *arrived > decoder.get_ref().limit {
                    return Err(Refused::TooLarge);
                }
                decoder.write_all(data).map_err(|error| refused(&error))
            }
        }
    }

    pub(super) fn end(self) -> Result<Vec<u8>, Refused> {
        match self {
            Self::Plain(bytes) => Ok(bytes.bytes),
            Self::Gzip { decoder, .. } => {
                decoder.finish().map(|bytes| bytes.bytes).map_err(|error| refused(&error))
            }
        }
    }

    /// Memory in use.
    pub(super) fn capacity(&self) -> usize {
        match self {
            Self::Plain(bytes) => bytes.bytes.capacity(),
            Self::Gzip { decoder, .. } => decoder.get_ref().bytes.capacity(),
        }
    }
}

impl Bounded {
    fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit }
    }
}

impl Write for Bounded {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if data.len() > self.limit - self.bytes.len() {
            return Err(io::Error::other(Full));
        }
        self.bytes.extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn refused(error: &io::Error) -> Refused {
    match error.get_ref() {
        Some(inner) if inner.is::<Full>() => Refused::TooLarge,
        _ => Refused::Damaged,
    }
}

#[cfg(test)]
mod tests {
    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(mut content: Content, data: &[u8]) -> Result<Vec<u8>, Refused> {
        data.chunks(7).try_for_each(|part| content.push(part))?;
        content.end()
    }

    #[test]
    fn content_is_read_up_to_the_limit() {
        assert_eq!(read(Content::plain(10), b"0123456789"), Ok(b"0123456789".to_vec()));
        assert_eq!(read(Content::plain(9), b"0123456789"), Err(Refused::TooLarge));
        let text = b"some text".repeat(9);
        assert_eq!(read(Content::gzip(100), &compressed(&text)), Ok(text.clone()));
        assert_eq!(read(Content::gzip(80), &compressed(&text)), Err(Refused::TooLarge));
    }

    #[test]
    fn damaged_content_is_refused() {
        let whole = compressed(b"some text");
        assert_eq!(read(Content::gzip(100), &whole[..whole.len() - 1]), Err(Refused::Damaged));
        assert_eq!(read(Content::gzip(100), b"not compressed"), Err(Refused::Damaged));
    }
}
