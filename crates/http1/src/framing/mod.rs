//! Where the body of a message of HTTP/1.1 ends. Client and server read it in the same way.
//!
//! What two readers of one connection take differently is how requests are smuggled, so whatever could be read in two ways is refused.

mod chunked;
mod declared;
mod length;

use bytes::{Bytes, BytesMut};

pub use chunked::Chunked;
pub use declared::{Declared, Version};
pub use length::write_length;

/// How the end of a body is known.
#[derive(Debug)]
pub enum Framing {
    Length(u64),
    Chunked(Chunked),
    /// The sender closes the connection behind it.
    UntilClose,
}

/// What a body gave.
#[derive(Debug)]
pub enum Taken {
    Data(Bytes),
    /// More has to arrive first.
    Nothing,
    End,
}

/// A message whose end cannot be told, or is told in two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadFraming {
    #[error("the size of a chunk cannot be read")]
    ChunkSize,
    #[error("a chunk does not end where it says")]
    Chunk,
    #[error("the message names a length that cannot be read")]
    Length,
    #[error("the message names its length more than once")]
    Lengths,
    #[error("the message names both a length and a transfer coding")]
    LengthAndCoding,
    #[error("the message has a transfer coding other than `chunked`")]
    Coding,
    #[error("the connection was closed before the message was complete")]
    Early,
}

impl Framing {
    pub const EMPTY: Self = Self::Length(0);

    /// What of the body is there.
    pub fn take(&mut self, input: &mut BytesMut) -> Result<Taken, BadFraming> {
        let most = match self {
            Self::Chunked(chunked) => return chunked.take(input),
            Self::Length(0) => return Ok(Taken::End),
            Self::Length(left) => usize::try_from(*left).unwrap_or(usize::MAX),
            Self::UntilClose => usize::MAX,
        };
        let here = most.min(input.len());
        if here == 0 {
            return Ok(Taken::Nothing);
        }
        if let Self::Length(left) = self {
            *left -= here as u64;
        }
        Ok(Taken::Data(input.split_to(here).freeze()))
    }

    /// Whether nothing more comes, as far as that is known without reading.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Length(0))
    }

    /// The connection was closed.
    pub fn close(&mut self) -> Result<(), BadFraming> {
        match self {
            Self::UntilClose => {
                *self = Self::EMPTY;
                Ok(())
            }
            Self::Length(_) | Self::Chunked(_) => Err(BadFraming::Early),
        }
    }

    /// How much is to come, if that was said.
    pub fn announced(&self) -> Option<u64> {
        match self {
            Self::Length(left) => Some(*left),
            Self::Chunked(_) | Self::UntilClose => None,
        }
    }

    /// How much is to come at least.
    pub fn at_least(&self) -> u64 {
        match self {
            Self::Length(left) => *left,
            Self::Chunked(chunked) => chunked.left(),
            Self::UntilClose => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_kept_to_the_byte() {
        let mut framing = Framing::Length(3);
        let mut input = BytesMut::from(&b"ab"[..]);
        assert!(matches!(framing.take(&mut input), Ok(Taken::Data(data)) if data == "ab"));
        assert!(matches!(framing.take(&mut input), Ok(Taken::Nothing)));
        assert_eq!((framing.announced(), framing.is_over()), (Some(1), false));
        input.extend_from_slice(b"cd");
        assert!(matches!(framing.take(&mut input), Ok(Taken::Data(data)) if data == "c"));
        assert!(framing.is_over() && matches!(framing.take(&mut input), Ok(Taken::End)));
        assert_eq!(input, "d");
    }

    #[test]
    fn only_a_body_without_another_end_ends_with_the_connection() {
        assert_eq!(Framing::Length(1).close(), Err(BadFraming::Early));
        assert_eq!(Framing::Chunked(Chunked::default()).close(), Err(BadFraming::Early));
        let mut framing = Framing::UntilClose;
        framing.close().unwrap();
        assert!(framing.is_over());
    }
}
