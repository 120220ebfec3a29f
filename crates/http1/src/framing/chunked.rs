//! Decoder of the chunked transfer coding: chunk headers byte by byte, data in whole slices.
//!
//! It is strict against request smuggling: a size is 1 to 16 hexadecimal digits, and lines end
//! with CRLF.

use bytes::{Buf as _, BytesMut};

use super::{Decoded, FramingError};

/// Longest extensions of one chunk, and longest trailers. Both are skipped.
const SKIPPED_LIMIT: usize = 16 * 1024;
const MAX_DIGITS: u8 = 16;

/// The state of decoding one chunked body.
#[derive(Debug)]
pub struct Chunked {
    state: State,
    /// Bytes of the current extension, or of the trailers, skipped so far.
    skipped: usize,
}

/// The part of the coding that comes next.
#[derive(Debug, Clone, Copy)]
enum State {
    Size {
        size: u64,
        digits: u8,
    },
    /// Whitespace after the size.
    Blank(u64),
    Extension(u64),
    /// LF of the line with the size.
    SizeLf(u64),
    Data(u64),
    DataCr,
    DataLf,
    /// The start of a line after the last chunk.
    Trailers,
    TrailerName,
    Trailer,
    TrailerLf,
    LastLf,
    Finished,
}

impl Default for Chunked {
    fn default() -> Self {
        Self { state: SIZE, skipped: 0 }
    }
}

impl Chunked {
    pub(super) fn decode(&mut self, input: &mut BytesMut) -> Result<Decoded, FramingError> {
        let mut used = 0;
        loop {
            match self.state {
                State::Finished => {
                    input.advance(used);
                    return Ok(Decoded::End);
                }
                State::Data(left) => {
                    input.advance(used);
                    let here = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
                    if here == 0 {
                        return Ok(Decoded::NeedMore);
                    }
                    let left = left - here as u64;
                    self.state = if left == 0 { State::DataCr } else { State::Data(left) };
                    return Ok(Decoded::Data(input.split_to(here).freeze()));
                }
                _ => {}
            }
            let Some(byte) = input.get(used) else {
                input.clear();
                return Ok(Decoded::NeedMore);
            };
            self.state = self.step(*byte)?;
            used += 1;
        }
    }

    /// Bytes left in the current chunk.
    pub(super) fn remaining(&self) -> u64 {
        match self.state {
            State::Data(left) => left,
            _ => 0,
        }
    }

    fn step(&mut self, byte: u8) -> Result<State, FramingError> {
        Ok(match (self.state, byte) {
            (State::Size { size, digits }, _) => return self.size(size, digits, byte),
            (State::Blank(size) | State::Extension(size), b'\r') => State::SizeLf(size),
            (State::Blank(size), b';') => State::Extension(size),
            (State::Blank(size), b' ' | b'\t') => self.skip(State::Blank(size))?,
            (State::Blank(_), _) => return Err(FramingError::ChunkSize),
            (State::SizeLf(0), b'\n') => {
                self.skipped = 0;
                State::Trailers
            }
            (State::SizeLf(size), b'\n') => State::Data(size),
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => SIZE,
            (State::Trailers, b'\r') => State::LastLf,
            (State::Trailer, b'\r') => State::TrailerLf,
            (State::TrailerLf, b'\n') => State::Trailers,
            (State::LastLf, b'\n') => State::Finished,
            (State::Extension(size), b'\t' | b' '..=b'~' | 0x80..) => self.skip(State::Extension(size))?,
            (State::Trailers | State::TrailerName, _) if is_token(byte) => self.skip(State::TrailerName)?,
            (State::TrailerName, b':') | (State::Trailer, b'\t' | b' '..=b'~' | 0x80..) => {
                self.skip(State::Trailer)?
            }
            _ => return Err(FramingError::Chunk),
        })
    }

    fn size(&mut self, size: u64, digits: u8, byte: u8) -> Result<State, FramingError> {
        match (char::from(byte).to_digit(16), byte) {
            (Some(digit), _) if digits < MAX_DIGITS => {
                Ok(State::Size { size: size << 4 | u64::from(digit), digits: digits + 1 })
            }
            (None, b'\r') if digits > 0 => Ok(State::SizeLf(size)),
            (None, b';' | b' ' | b'\t') if digits > 0 => {
                self.skipped = 0;
                Ok(if byte == b';' { State::Extension(size) } else { State::Blank(size) })
            }
            _ => Err(FramingError::ChunkSize),
        }
    }

    fn skip(&mut self, next: State) -> Result<State, FramingError> {
        self.skipped += 1;
        if self.skipped > SKIPPED_LIMIT { Err(FramingError::Chunk) } else { Ok(next) }
    }
}

/// True for the bytes of a header name (`token` in RFC 9110 §5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

const SIZE: State = State::Size { size: 0, digits: 0 };

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes these pieces: the data, and the bytes left after the end if it was reached.
    fn read(pieces: &[&[u8]]) -> Result<(Vec<u8>, Option<usize>), FramingError> {
        let (mut chunked, mut input, mut data) = (Chunked::default(), BytesMut::new(), Vec::new());
        for piece in pieces {
            input.extend_from_slice(piece);
            loop {
                match chunked.decode(&mut input)? {
                    Decoded::Data(bytes) => {
                        assert!(!bytes.is_empty());
                        data.extend_from_slice(&bytes);
                    }
                    Decoded::NeedMore => break,
                    Decoded::End => return Ok((data, Some(input.len()))),
                }
            }
            assert!(input.is_empty());
        }
        Ok((data, None))
    }

    #[test]
    fn chunks_are_joined_and_the_end_is_exact() {
        let body =
            b"5\r\nhello\r\n00b;name=\"x\"\r\n, friends..\r\n0 \t;y\tz\xff\r\nx-trailer: 1\r\n\r\nHTTP";
        assert_eq!(read(&[&body[..]]).unwrap(), (b"hello, friends..".to_vec(), Some(4)));
        assert_eq!(read(&[&b"5\r\nhel"[..]]).unwrap(), (b"hel".to_vec(), None));
    }

    #[test]
    fn an_ambiguous_size_is_refused() {
        for size in [
            "",
            "-1",
            "+1",
            "0x1",
            "1_0",
            "g",
            " 1",
            "1\n",
            "1 0",
            "1\ta",
            "00000000000000001",
            "11111111111111111",
        ] {
            let body = format!("{size}\r\nx\r\n0\r\n\r\n");
            assert!(matches!(read(&[body.as_bytes()]), Err(FramingError::ChunkSize)), "{size}");
        }
    }

    #[test]
    fn lines_without_crlf_are_refused() {
        for body in [
            "1\rx",
            "1;a\nx\r\n",
            "1;a\0\r\nx\r\n",
            "1;a\x01=b\r\nx\r\n",
            "1;a\x7f\r\nx\r\n",
            "1; \x1b[2J\r\nx\r\n",
            "1\r\nxy\r\n",
            "1\r\nx\n",
            "1\r\nx\rx",
            "0\r\na: b\n\r\n",
            "0\r\n\rx",
            "0\r\nno field\r\n\r\n",
            "0\r\n: b\r\n\r\n",
            "0\r\na : b\r\n\r\n",
            "0\r\na: \0\r\n\r\n",
        ] {
            assert!(matches!(read(&[body.as_bytes()]), Err(FramingError::Chunk)), "{body:?}");
        }
    }

    #[test]
    fn extensions_and_trailers_are_bounded() {
        let long = "a".repeat(SKIPPED_LIMIT + 1);
        for body in [
            format!("1;{long}"),
            format!("1{}", " ".repeat(SKIPPED_LIMIT + 2)),
            format!("0\r\n{long}"),
            "0\r\n".to_owned() + &"a:b\r\n".repeat(9000),
        ] {
            assert!(matches!(read(&[body.as_bytes()]), Err(FramingError::Chunk)));
        }
        let chunks = "1;a\r\nx\r\n".repeat(SKIPPED_LIMIT);
        assert_eq!(read(&[chunks.as_bytes()]).unwrap().0.len(), SKIPPED_LIMIT);
    }

    proptest! {
        #[test]
        fn the_data_does_not_depend_on_how_the_stream_is_cut(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..6),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let mut body = Vec::new();
            for (nth, chunk) in chunks.iter().enumerate() {
                let extension = if nth % 2 == 0 { "" } else { ";a=\"b\"" };
                body.extend_from_slice(format!("{:x}{extension}\r\n", chunk.len()).as_bytes());
                body.extend_from_slice(chunk);
                body.extend_from_slice(b"\r\n");
            }
            body.extend_from_slice(b"0\r\nt: u\r\n\r\n");
            let mut at: Vec<_> = cuts.iter().map(|cut| cut.index(body.len())).collect();
            at.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in at {
                pieces.push(&body[from..cut]);
                from = cut;
            }
            pieces.push(&body[from..]);
            prop_assert_eq!(read(&pieces).unwrap(), (chunks.concat(), Some(0)));
        }

        #[test]
        fn any_input_is_decoded_or_refused(body in prop::collection::vec(prop_oneof![
            Just(b'\r'), Just(b'\n'), Just(b'0'), Just(b'1'), Just(b';'), any::<u8>(),
        ], 0..60)) {
            let bytes: Vec<_> = body.chunks(1).collect();
            let outcome = |pieces: &[&[u8]]| read(pieces).map(|(data, rest)| (data, rest.is_some())).ok();
            prop_assert_eq!(outcome(&[&body]), outcome(&bytes));
        }
    }
}
