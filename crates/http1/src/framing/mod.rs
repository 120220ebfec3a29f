//! Message framing: where the body of an HTTP/1.1 message ends, for client and server alike.
//!
//! Two readers that disagree about the end of a message are how requests are smuggled, so an
//! ambiguous message is refused.

mod chunked;
mod content_length;
mod message_headers;

use bytes::{Bytes, BytesMut};

pub use chunked::Chunked;
pub use content_length::write_content_length;
pub use message_headers::{MessageHeaders, Version};

/// The method of finding the end of a body, and the number of bytes still expected.
#[derive(Debug)]
pub enum Framing {
    Length(u64),
    Chunked(Chunked),
    /// The body ends with the connection.
    UntilClose,
}

/// One step of decoding a body.
#[derive(Debug)]
pub enum Decoded {
    Data(Bytes),
    NeedMore,
    End,
}

/// The end of a message is missing or ambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FramingError {
    #[error("the size of a chunk cannot be read")]
    ChunkSize,
    #[error("a chunk does not end where it says")]
    Chunk,
    #[error("the message names a length that cannot be read")]
    Length,
    #[error("the message names its length more than once")]
    RepeatedLength,
    #[error("the message names both a length and a transfer coding")]
    LengthAndCoding,
    #[error("the message has a transfer coding other than `chunked`")]
    TransferCoding,
    #[error("the connection was closed before the message was complete")]
    Truncated,
}

impl Framing {
    pub const EMPTY: Self = Self::Length(0);

    /// Takes the next data of the body out of `input`.
    pub fn decode(&mut self, input: &mut BytesMut) -> Result<Decoded, FramingError> {
        let most = match self {
            Self::Chunked(chunked) => return chunked.decode(input),
            Self::Length(0) => return Ok(Decoded::End),
            Self::Length(left) => usize::try_from(*left).unwrap_or(usize::MAX),
            Self::UntilClose => usize::MAX,
        };
        let here = most.min(input.len());
        if here == 0 {
            return Ok(Decoded::NeedMore);
        }
        if let Self::Length(left) = self {
            *left -= here as u64;
        }
        Ok(Decoded::Data(input.split_to(here).freeze()))
    }

    /// True if no byte of the body is left. False for every chunked body: only `decode` sees its
    /// end.
    pub fn is_finished(&self) -> bool {
        matches!(self, Self::Length(0))
    }

    /// The peer closed the connection.
    pub fn on_eof(&mut self) -> Result<(), FramingError> {
        match self {
            Self::UntilClose => {
                *self = Self::EMPTY;
                Ok(())
            }
            Self::Length(_) | Self::Chunked(_) => Err(FramingError::Truncated),
        }
    }

    /// Bytes still to come, if their number is known.
    pub fn remaining(&self) -> Option<u64> {
        match self {
            Self::Length(left) => Some(*left),
            Self::Chunked(_) | Self::UntilClose => None,
        }
    }

    /// Bytes that are certain to come: with chunks those of the current one.
    pub fn at_least(&self) -> u64 {
        match self {
            Self::Length(left) => *left,
            Self::Chunked(chunked) => chunked.remaining(),
            Self::UntilClose => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_exact() {
        let mut framing = Framing::Length(3);
        let mut input = BytesMut::from(&b"ab"[..]);
        assert!(matches!(framing.decode(&mut input), Ok(Decoded::Data(data)) if data == "ab"));
        assert!(matches!(framing.decode(&mut input), Ok(Decoded::NeedMore)));
        assert_eq!((framing.remaining(), framing.is_finished()), (Some(1), false));
        input.extend_from_slice(b"cd");
        assert!(matches!(framing.decode(&mut input), Ok(Decoded::Data(data)) if data == "c"));
        assert!(framing.is_finished() && matches!(framing.decode(&mut input), Ok(Decoded::End)));
        assert_eq!(input, "d");
    }

    #[test]
    fn only_a_body_without_other_framing_ends_with_the_connection() {
        assert_eq!(Framing::Length(1).on_eof(), Err(FramingError::Truncated));
        assert_eq!(Framing::Chunked(Chunked::default()).on_eof(), Err(FramingError::Truncated));
        let mut framing = Framing::UntilClose;
        framing.on_eof().unwrap();
        assert!(framing.is_finished());
    }
}
